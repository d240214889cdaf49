//===- LoadedTiles.h - Tiles that lie as they were loaded -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_DIALECT_TILE_TRANSFORMS_LOADEDTILES_H
#define PRISM_LIB_DIALECT_TILE_TRANSFORMS_LOADEDTILES_H

#include "Prism/Dialect/Tile/IR/Tile.h"

namespace prism::tile {

/// A load or an interleave of loads: a copy fills it, no register need be
/// passed.
inline bool isLoaded(mlir::Value tile) {
  mlir::Operation *op = tile.getDefiningOp();
  if (auto interleave = mlir::dyn_cast_or_null<InterleaveOp>(op))
    return llvm::all_of(interleave.getInputs(), isLoaded);
  return mlir::isa_and_nonnull<LoadOp>(op);
}

} // namespace prism::tile

#endif // PRISM_LIB_DIALECT_TILE_TRANSFORMS_LOADEDTILES_H
