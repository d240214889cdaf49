//===- Programs.h - Tile programs for the GPU tests -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_TILETOGPU_PROGRAMS_H
#define PRISM_UNITTESTS_TILETOGPU_PROGRAMS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>

namespace prism::test {

/// The delta rule with a scalar decay: S' = exp(g) S + beta k (v - exp(g) k
/// S)^T, o = q S', as a program in chunks (chunk > 1) or step by step (chunk
/// 1).
struct Shape {
  int64_t keys = 64, values = 60, block = 60, chunk = 16;
  int64_t valueHeads = 4, keyHeads = 2;
  bool reverse = false;
  std::string type = "f32"; ///< of q, k, v and o
};
std::string deltaProgram(const Shape &shape);

/// A context with everything the tests parse and lower.
void prepare(mlir::MLIRContext &context);

} // namespace prism::test

#endif // PRISM_UNITTESTS_TILETOGPU_PROGRAMS_H
