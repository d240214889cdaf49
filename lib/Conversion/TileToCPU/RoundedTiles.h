//===- RoundedTiles.h - Tiles of 16 bits are kept in f32 --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOCPU_ROUNDEDTILES_H
#define PRISM_LIB_CONVERSION_TILETOCPU_ROUNDEDTILES_H

#include "Prism/Dialect/Tile/IR/Tile.h"

namespace prism::tiletocpu {

/// Is it a tile of 16-bit elements?
bool isRounded(mlir::Type type);

/// Rewrites a program so that no tile of 16 bits is left, but for those between
/// a rounding and the widening behind it; fails with a diagnostic at an op that
/// computes in 16 bits.
llvm::LogicalResult keepRoundedTilesInF32(tile::ProgramOp program);

} // namespace prism::tiletocpu

#endif // PRISM_LIB_CONVERSION_TILETOCPU_ROUNDEDTILES_H
