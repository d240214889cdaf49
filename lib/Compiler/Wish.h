//===- Wish.h - What is asked for of an entry's plan ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_COMPILER_WISH_H
#define PRISM_LIB_COMPILER_WISH_H

#include "Prism/Compiler/Compiler.h"

namespace prism {

/// What the spec, the command line and the entry itself say about schedules.
struct Wish {
  PlanOverride given;
  std::vector<scan::Schedule> schedules;
};

/// Fails, with an error at the plan's key, where a plan does not suit the
/// recurrence or the target.
mlir::FailureOr<Wish> wishFor(mlir::func::FuncOp entry, scan::RecurrenceOp op,
                              const targetinfo::Target &target,
                              const CompileOptions &options,
                              std::vector<Remark> &remarks);

/// The plan that holds for an entry: the one given for it, for all, or written
/// in the spec or the IR. Nothing where there is none.
std::optional<PlanOverride> planFor(mlir::func::FuncOp entry,
                                    scan::RecurrenceOp op,
                                    const CompileOptions &options);

/// An error at a key of a plan where it was written, else at the recurrence;
/// without a key, at the plan.
mlir::InFlightDiagnostic emitPlanError(scan::RecurrenceOp op,
                                       const PlanOverride &given,
                                       llvm::StringRef key = "");

} // namespace prism

#endif // PRISM_LIB_COMPILER_WISH_H
