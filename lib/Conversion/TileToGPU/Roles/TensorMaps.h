//===- TensorMaps.h - What the copy engine may move -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The copy engine (TMA) moves a box of an array into a slab of a swizzled tile,
// with zeros for what lies outside the array, or a warp's columns of a tile
// into an array, without what lies outside, on the word of one thread. It knows
// an array by a tensor map, which the caller makes for each launch
// (docs/Bundle.md). This file says which arguments are worth one: those whose
// tiles are rows of time, forward in time, loaded by whole slabs of 64 columns
// or stored by way of shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOGPU_ROLES_TENSORMAPS_H
#define PRISM_LIB_CONVERSION_TILETOGPU_ROLES_TENSORMAPS_H

#include "../KernelBuilder.h"
#include <optional>

namespace prism::tiletogpu {

/// A box of `rows` steps, of `ranks` rows each, by the columns of a slab or of
/// a warp.
struct TensorMap {
  unsigned argument = 0;
  int64_t rows = 0, columns = 0, ranks = 1;

  bool operator==(const TensorMap &other) const {
    return argument == other.argument && rows == other.rows &&
           columns == other.columns && ranks == other.ranks;
  }
};

/// Whether the chain turns a tile around in shared memory: its rows go to the
/// array in whole pieces of 16 bytes.
bool isStaged(tile::StoreOp store, mlir::Type operands);

class TensorMaps {
public:
  TensorMaps() = default;
  /// Those that the roles `load` and `chain` of a program, whose products are
  /// of `operands`, have use for.
  TensorMaps(tile::ProgramOp program, mlir::Type operands);

  llvm::ArrayRef<TensorMap> all() const { return maps; }
  /// The number of the map by which a part of a message can be loaded, if by
  /// any.
  std::optional<int64_t> numberOf(const Slice &slice,
                                  tile::ProgramOp program) const;
  /// The same for a staged tile that is stored.
  std::optional<int64_t> numberOf(tile::StoreOp store) const;

private:
  void add(std::optional<TensorMap> map);
  std::optional<int64_t> find(std::optional<TensorMap> map) const;
  llvm::SmallVector<TensorMap> maps;
};

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_ROLES_TENSORMAPS_H
