//===- TileAxes.h - What the axes of a program's tiles are ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_DIALECT_TILE_TRANSFORMS_TILEAXES_H
#define PRISM_LIB_DIALECT_TILE_TRANSFORMS_TILEAXES_H

#include "Prism/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/DenseMap.h"

namespace prism::tile {

/// What an axis counts: rows of the chunk (steps, or several rows a step), key
/// features (the state's other axis, and what meets it in a dot), or columns of
/// the block of values. Unknown: an axis of a constant, which suits any.
enum class TileAxis { Unknown, Row, Key, Value };

/// The kind of every axis of every tile, by union-find: ops tie axes together,
/// loads and stores, solves, gates and decays say what some of them are, and
/// what nothing has decided counts keys.
class TileAxes {
public:
  /// Fails, with the reason, where an axis would be of two kinds.
  static llvm::FailureOr<TileAxes> analyze(ProgramOp program,
                                           std::string &reason);

  TileAxis kind(mlir::Value tile, unsigned axis) const;
  bool has(mlir::Value tile, TileAxis kind) const;

private:
  unsigned nodeOf(mlir::Value tile, unsigned axis);
  unsigned find(unsigned node) const;
  void tie(mlir::Value a, unsigned axisA, mlir::Value b, unsigned axisB);
  void tieAll(mlir::Value a, mlir::Value b);
  void fix(mlir::Value tile, unsigned axis, TileAxis kind);
  void join(TileAxis &known, TileAxis kind, int64_t extent);
  void constrainSlice(mlir::Value tile, ViewType view, mlir::ValueRange offsets,
                      bool oneStep);
  void constrainRows(mlir::Operation *op);
  void constrainLoop(mlir::scf::ForOp loop);
  void constrain(mlir::Operation *op);
  void settle(ProgramOp program);

  llvm::DenseMap<std::pair<mlir::Value, unsigned>, unsigned> nodes;
  llvm::SmallVector<unsigned> parent;
  llvm::SmallVector<TileAxis> kinds; // of roots
  std::string conflict;
};

} // namespace prism::tile

#endif // PRISM_LIB_DIALECT_TILE_TRANSFORMS_TILEAXES_H
