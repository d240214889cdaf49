//===- TensorMaps.h - Which loads the copy engine may do --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The copy engine (TMA) moves a box of an array into a slab of a swizzled tile,
// with zeros for what lies outside the array, on the word of one thread. It
// knows an array by a tensor map, which the caller makes for each launch
// (docs/Bundle.md). This file says which arguments are worth one: those whose
// tiles are rows of time by whole slabs of 64 columns, forward in time.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOGPU_ROLES_TENSORMAPS_H
#define PRISM_LIB_CONVERSION_TILETOGPU_ROLES_TENSORMAPS_H

#include "../KernelBuilder.h"
#include <optional>

namespace prism::tiletogpu {

/// A box of `rows` steps, of `ranks` rows each, by the columns of a slab.
struct TensorMap {
  unsigned argument = 0;
  int64_t rows = 0, ranks = 1;
};

class TensorMaps {
public:
  TensorMaps() = default;
  /// Those that the role `load` of a program has use for.
  explicit TensorMaps(tile::ProgramOp program);

  llvm::ArrayRef<TensorMap> all() const { return maps; }
  /// The number of the map by which a part of a message can be loaded, if by
  /// any.
  std::optional<int64_t> numberOf(const Slice &slice,
                                  tile::ProgramOp program) const;

private:
  llvm::SmallVector<TensorMap> maps;
};

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_ROLES_TENSORMAPS_H
