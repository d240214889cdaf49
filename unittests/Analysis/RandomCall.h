//===- RandomCall.h - Random arrays for an entry ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_ANALYSIS_RANDOMCALL_H
#define PRISM_UNITTESTS_ANALYSIS_RANDOMCALL_H

#include "Prism/Interpreter/Interpreter.h"
#include <random>

namespace prism::analysis {

/// Arrays of values in -1 to 1 for all arguments of an entry, whose first
/// dynamic extent is of rows and the second of steps. Those that may be absent
/// are there or not; offsets never are.
interpreter::Arrays makeArguments(mlir::func::FuncOp entry, int64_t rows,
                                  int64_t steps, bool withOptional,
                                  std::mt19937_64 &random);

} // namespace prism::analysis

#endif // PRISM_UNITTESTS_ANALYSIS_RANDOMCALL_H
