//===- StateDependence.h - What depends on the carried state ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_DIALECT_TILE_TRANSFORMS_STATEDEPENDENCE_H
#define PRISM_LIB_DIALECT_TILE_TRANSFORMS_STATEDEPENDENCE_H

#include "Prism/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/DenseSet.h"

namespace prism::tile {

/// The values of a program that depend on what a loop carries from iteration
/// to iteration: the chain that no two chunks can walk at the same time. All
/// other values of a loop can be prepared ahead of it.
class StateDependence {
public:
  explicit StateDependence(ProgramOp program);

  bool contains(mlir::Value value) const { return values.contains(value); }

private:
  llvm::DenseSet<mlir::Value> values;
};

} // namespace prism::tile

#endif // PRISM_LIB_DIALECT_TILE_TRANSFORMS_STATEDEPENDENCE_H
