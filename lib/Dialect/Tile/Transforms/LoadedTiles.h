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

/// A tile, and what its rows or columns are scaled by.
struct ScaledTile {
  mlir::Value base;
  llvm::SmallVector<mlir::Value> scales; // outermost first

  ScaledTile(mlir::Value tile, bool ofRows) : base(tile) {
    while (mlir::Operation *op = base.getDefiningOp()) {
      if (!(ofRows ? mlir::isa<ScaleRowsOp>(op)
                   : mlir::isa<ScaleColumnsOp>(op)))
        break;
      scales.push_back(op->getOperand(1));
      base = op->getOperand(0);
    }
  }
  bool isScaledLoad() const { return !scales.empty() && isLoaded(base); }
};

} // namespace prism::tile

#endif // PRISM_LIB_DIALECT_TILE_TRANSFORMS_LOADEDTILES_H
