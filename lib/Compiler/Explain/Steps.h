//===- Steps.h - The steps of a state, for people ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_COMPILER_EXPLAIN_STEPS_H
#define PRISM_LIB_COMPILER_EXPLAIN_STEPS_H

#include "Prism/Compiler/Explain.h"

namespace prism::explain {

/// The states of an entry's recurrence, each with its factors and reads.
std::vector<State> describeStates(mlir::func::FuncOp entry,
                                  scan::RecurrenceOp op);

} // namespace prism::explain

#endif // PRISM_LIB_COMPILER_EXPLAIN_STEPS_H
