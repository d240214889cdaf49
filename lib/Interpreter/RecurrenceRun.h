//===- RecurrenceRun.h - One recurrence on bound arrays -----------*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_INTERPRETER_RECURRENCERUN_H
#define PRISM_LIB_INTERPRETER_RECURRENCERUN_H

#include "Prism/Dialect/Scan/IR/Scan.h"
#include "Prism/Interpreter/Interpreter.h"
#include "llvm/ADT/DenseMap.h"
#include <deque>

namespace prism::interpreter {

/// The arrays of the entry's tensors; null: an optional argument left out.
using Bindings = llvm::DenseMap<mlir::Value, const Array *>;

/// Evaluates `op`: its outputs, then its final states.
mlir::FailureOr<std::vector<Array>> runRecurrence(scan::RecurrenceOp op,
                                                  const Bindings &bindings);

} // namespace prism::interpreter

#endif // PRISM_LIB_INTERPRETER_RECURRENCERUN_H
