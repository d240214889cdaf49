//===- ElementOps.h - Elementwise ops on scalars ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOGPU_ELEMENTOPS_H
#define PRISM_LIB_CONVERSION_TILETOGPU_ELEMENTOPS_H

#include "KernelBuilder.h"

namespace prism::tiletogpu {

/// The scalar that a splat constant or tensor.splat repeats; null for others.
mlir::Value splatScalar(ScalarBuilder &b, mlir::Operation *op,
                        const mlir::IRMapping &scalars);

/// An elementwise tensor op, on one element each.
mlir::Value cloneElementwise(ScalarBuilder &b, mlir::Operation *op,
                             llvm::ArrayRef<mlir::Value> operands);

/// exp(row - column) in the type of the decay matrix.
mlir::Value decayBetween(ScalarBuilder &b, mlir::Value row, mlir::Value column,
                         mlir::Type type);

/// Sum over the lanes of aligned groups of `lanes`, by butterfly shuffles: the
/// same bits in every lane.
mlir::Value sumOverLanes(ScalarBuilder &b, mlir::Value value, int64_t lanes);

/// An element of tile.unit_columns at a row and a column, i32.
mlir::Value unitAt(ScalarBuilder &b, tile::UnitColumnsOp op, mlir::Value row,
                   mlir::Value column, const mlir::IRMapping &scalars);

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_ELEMENTOPS_H
