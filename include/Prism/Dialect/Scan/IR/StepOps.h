//===- StepOps.h - Which ops of a step are taken as tiles -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_SCAN_IR_STEPOPS_H
#define PRISM_DIALECT_SCAN_IR_STEPOPS_H

#include "Prism/Dialect/Scan/IR/Scan.h"
#include <optional>

namespace prism::scan {

/// On a recurrence that is taken token by token, its ops as they are, whatever
/// they are.
inline constexpr llvm::StringLiteral kPlainStepsAttr = "scan.plain_steps";

/// Which row of its source's first axis a tensor.extract or
/// tensor.extract_slice takes; none if it is no row.
std::optional<int64_t> rowOf(mlir::Operation *producer);

/// May an op of a step be taken for a tile of tokens: is it a factor, a read, a
/// row, a repetition, a constant, or elementwise?
bool isTileOp(mlir::Operation &op);

} // namespace prism::scan

#endif // PRISM_DIALECT_SCAN_IR_STEPOPS_H
