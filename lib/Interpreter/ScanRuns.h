//===- ScanRuns.h - Ops over time on bound arrays ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_INTERPRETER_SCANRUNS_H
#define PRISM_LIB_INTERPRETER_SCANRUNS_H

#include "Prism/Dialect/Scan/IR/Scan.h"
#include "ScanCall.h"

namespace prism::interpreter {

/// Evaluates `op`: its outputs, then its final states.
mlir::FailureOr<std::vector<Array>> runRecurrence(scan::RecurrenceOp op,
                                                  const Bindings &bindings);

/// Evaluates `op`: its result, then its final window.
mlir::FailureOr<std::vector<Array>>
runShortConvolution(scan::ShortConvolutionOp op, const Bindings &bindings);

/// Evaluates `op`: its outputs, then its final elements.
mlir::FailureOr<std::vector<Array>>
runPrefix(scan::PrefixOp op, const Bindings &bindings, JoinOrder order);

} // namespace prism::interpreter

#endif // PRISM_LIB_INTERPRETER_SCANRUNS_H
