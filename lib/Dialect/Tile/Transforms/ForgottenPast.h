//===- ForgottenPast.h - What decays leave of the past ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_DIALECT_TILE_TRANSFORMS_FORGOTTENPAST_H
#define PRISM_LIB_DIALECT_TILE_TRANSFORMS_FORGOTTENPAST_H

#include "Prism/Dialect/Tile/IR/Tile.h"

namespace prism::tile {

/// Views of the log-gates, one number a step, whose sum over the steps bounds
/// the map M of a chunk loop's state: |M| <= exp(sum). Empty where no such
/// bound is seen.
///
/// It holds if all that happens to a state is one scalar decay and erases of a
/// single key that they read and write, I - strength key key^T: these do not
/// amplify as long as strength |key|^2 lies in [0, 2], outside of which their
/// triangular system has no stable inverse either.
llvm::SmallVector<mlir::Value> gatesThatBound(mlir::scf::ForOp loop);

/// Views of the log-gates whose sum over the steps is all of the map of a chunk
/// loop's state: M = exp(sum), one number. Empty where more than one scalar
/// decay happens to a state, or gates are not loaded from one view each.
llvm::SmallVector<mlir::Value> gatesThatDecide(mlir::scf::ForOp loop);

} // namespace prism::tile

#endif // PRISM_LIB_DIALECT_TILE_TRANSFORMS_FORGOTTENPAST_H
