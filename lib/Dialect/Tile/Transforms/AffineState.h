//===- AffineState.h - Is a step's map of the state affine? -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_DIALECT_TILE_TRANSFORMS_AFFINESTATE_H
#define PRISM_LIB_DIALECT_TILE_TRANSFORMS_AFFINESTATE_H

#include "Prism/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/DenseSet.h"
#include <string>

namespace prism::tile {

/// What one iteration of a chunk loop does to the tile that it carries, as far
/// as splitting a sequence needs to know:
///
///  * it is affine in it, one value column like another: S -> M S + B, and
///  * B is zero in columns where the loaded values are.
class AffineState {
public:
  /// Fails, with `reason` set, where one of the two is not seen to hold.
  static llvm::FailureOr<AffineState> analyze(mlir::scf::ForOp loop,
                                              std::string &reason);

  /// Whether M is diagonal: no key of the next state depends on another one.
  bool isDiagonal() const { return diagonal; }

private:
  llvm::LogicalResult visit(mlir::Operation *op, std::string &reason);
  bool isLinear(mlir::Operation *op) const;
  bool vanishes(mlir::Operation *op) const;
  bool findDiagonal(mlir::scf::ForOp loop) const;

  bool onState(mlir::Value v) const { return state.contains(v); }
  bool isZero(mlir::Value v) const;

  /// Tiles that depend on the carried one, that depend on value columns, and
  /// that are zero if the carried tile and all loaded values are.
  llvm::DenseSet<mlir::Value> state, columns, zeros;
  bool diagonal = false;
};

} // namespace prism::tile

#endif // PRISM_LIB_DIALECT_TILE_TRANSFORMS_AFFINESTATE_H
