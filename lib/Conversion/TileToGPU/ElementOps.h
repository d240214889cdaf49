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

/// exp of an f32 by the chip's power of two, to about two units in the last
/// place: half the instructions of the polynomial that math.exp becomes.
mlir::Value approximateExp(ScalarBuilder &b, mlir::Value value);

/// exp - 1 of an f32, to about two units in the last place, near zero too: a
/// quarter of the instructions of what math.expm1 becomes.
mlir::Value approximateExpM1(ScalarBuilder &b, mlir::Value value);

/// log(1 + x) of an f32, to about two units in the last place, near zero too,
/// without a division.
mlir::Value approximateLog1p(ScalarBuilder &b, mlir::Value value);

/// exp(row - column) in the type of the decay matrix.
mlir::Value decayBetween(ScalarBuilder &b, mlir::Value row, mlir::Value column,
                         mlir::Type type);

/// Sum over `lanes` lanes whose numbers differ by multiples of `stride`, by
/// butterfly shuffles: the same bits in each of them.
mlir::Value sumOverLanes(ScalarBuilder &b, mlir::Value value, int64_t lanes,
                         int64_t stride = 1);

/// An element of tile.unit_columns at a row and a column, i32.
mlir::Value unitAt(ScalarBuilder &b, tile::UnitColumnsOp op, mlir::Value row,
                   mlir::Value column, const mlir::IRMapping &scalars);

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_ELEMENTOPS_H
