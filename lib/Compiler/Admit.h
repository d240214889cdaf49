//===- Admit.h - Which recurrences are compiled, and how --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_COMPILER_ADMIT_H
#define PRISM_LIB_COMPILER_ADMIT_H

#include "Prism/Compiler/Compiler.h"

namespace prism {

/// Brings the recurrence of an entry (null: it has none) into the form that
/// plans are made for: plain ops are raised to factors. Fails, with an error,
/// for what the target does not take; else whether it is taken serially.
mlir::FailureOr<bool> admit(mlir::func::FuncOp entry, scan::RecurrenceOp op,
                            const targetinfo::Target &target,
                            const CompileOptions &options,
                            std::vector<Remark> &remarks);

} // namespace prism

#endif // PRISM_LIB_COMPILER_ADMIT_H
