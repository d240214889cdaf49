//===- Machine.h - What plans are made for ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_COMPILER_MACHINE_H
#define PRISM_COMPILER_MACHINE_H

#include "Prism/Compiler/Compiler.h"
#include "Prism/Dialect/Scan/Transforms/Passes.h"

namespace prism {

/// A target as the choice of plans sees it: of a CPU the costs at its levels,
/// by the calibration if there is one (admit checks that it fits).
scan::PlanMachine planMachine(const targetinfo::Target &target,
                              const CompileOptions &options);

/// Its chip, or its levels: what files of a bundle are named after, and rows of
/// the decision table.
llvm::ArrayRef<std::string> machinesOf(const targetinfo::Target &target);

} // namespace prism

#endif // PRISM_COMPILER_MACHINE_H
