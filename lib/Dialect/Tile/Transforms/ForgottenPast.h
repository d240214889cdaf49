//===- ForgottenPast.h - What decays leave of the past ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_DIALECT_TILE_TRANSFORMS_FORGOTTENPAST_H
#define PRISM_LIB_DIALECT_TILE_TRANSFORMS_FORGOTTENPAST_H

#include "Prism/Dialect/Tile/IR/Tile.h"

namespace prism::tile {

/// A log-gate of each step: the product of the numbers of these views.
using SummedGate = llvm::SmallVector<mlir::Value, 2>;

/// The log-gates whose sum over the steps bounds the map M of a chunk loop's
/// state: |M| <= exp(sum). Empty where no such bound is seen.
///
/// It holds if all that happens to a state is one scalar decay and erases of a
/// single key that they read and write, I - strength key key^T: these do not
/// amplify as long as strength |key|^2 lies in [0, 2], outside of which their
/// triangular system has no stable inverse either.
llvm::SmallVector<SummedGate> gatesThatBound(mlir::scf::ForOp loop);

/// The log-gates whose sum over the steps is all of the map of a chunk
/// loop's state: M = exp(sum), one number. Empty where more than one scalar
/// decay happens to a state, or gates are not products of what is loaded.
llvm::SmallVector<SummedGate> gatesThatDecide(mlir::scf::ForOp loop);

} // namespace prism::tile

#endif // PRISM_LIB_DIALECT_TILE_TRANSFORMS_FORGOTTENPAST_H
