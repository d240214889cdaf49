//===- ElementwiseState.h - Steps that keep elements apart ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Where a step multiplies each element of the state by a factor of its own and
// adds something, so does a segment of steps: S -> M * S + B, and M has the
// state's shape.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_DIALECT_TILE_TRANSFORMS_ELEMENTWISESTATE_H
#define PRISM_LIB_DIALECT_TILE_TRANSFORMS_ELEMENTWISESTATE_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace prism::tile {

/// Whether the one tile that a loop carries is mapped so by each iteration.
bool isElementwise(mlir::scf::ForOp loop);

/// Has such a loop carry M beside the state, from `ones` on. The loop is
/// replaced by the result.
mlir::scf::ForOp carryFactors(mlir::scf::ForOp loop, mlir::Value ones);

} // namespace prism::tile

#endif // PRISM_LIB_DIALECT_TILE_TRANSFORMS_ELEMENTWISESTATE_H
