//===- Models.h - Specs that tensor cores take ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_TILETOGPU_ROLES_MODELS_H
#define PRISM_UNITTESTS_TILETOGPU_ROLES_MODELS_H

#include <cstdint>
#include <string>

namespace prism::test {

struct Model {
  /// linear_attention, retnet, gated_deltanet, prism_l0, prism_l1, prism_l2,
  /// mamba2; deltaproduct_2 and deltaproduct_4, of so many erases a token.
  /// After normed_, a family with norms of keys and queries; gates_, with the
  /// gates of Gated DeltaNet's layer as well.
  std::string name = "gated_deltanet";
  int64_t keys = 64, values = 64;
  int64_t keyHeads = 1, valueHeads = 1;
  bool reverse = false, headFirst = false;
  std::string io = "bf16";
  std::string state = "f32"; ///< of the arrays of states
  std::string activation;    ///< of prism, if another than its own
};

/// The spec of the forward entry.
std::string specOf(const Model &model);

/// A spec with other dims K and V.
std::string withSizes(const std::string &spec, int64_t keys, int64_t values);

} // namespace prism::test

#endif // PRISM_UNITTESTS_TILETOGPU_ROLES_MODELS_H
