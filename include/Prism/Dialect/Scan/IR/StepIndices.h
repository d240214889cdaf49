//===- StepIndices.h - Places in tensors that a step names ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A step may take elements and slices of tensors at places that are numbers or
// values. A number beyond its axis is an error; a value beyond it takes the
// nearest place that exists.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_SCAN_IR_STEPINDICES_H
#define PRISM_DIALECT_SCAN_IR_STEPINDICES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace prism::scan {

/// An operand that is a place on an axis, or an axis: from 0 to `last`.
struct StepIndex {
  mlir::OpOperand *operand;
  int64_t axis, last;
};

/// Of an op that takes or writes a part of a tensor of static shape, or asks
/// for an extent.
llvm::SmallVector<StepIndex> indicesOf(mlir::Operation *op);

/// Fails, with an error at the op, where below `root` a constant lies beyond
/// its axis.
llvm::LogicalResult checkIndices(mlir::Operation *root);

} // namespace prism::scan

#endif // PRISM_DIALECT_SCAN_IR_STEPINDICES_H
