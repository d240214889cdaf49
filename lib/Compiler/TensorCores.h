//===- TensorCores.h - Chunk forms for tensor cores -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_COMPILER_TENSORCORES_H
#define PRISM_LIB_COMPILER_TENSORCORES_H

#include "Prism/Compiler/Compiler.h"

namespace prism {

/// Plans that tensor cores may take, the one for the fewest heads first; none,
/// with `whyNot` set, where the chip, the types or the sizes rule them out or
/// the user fixed others.
llvm::SmallVector<scan::PlanAttr>
tensorCorePlans(scan::RecurrenceOp op, const targetinfo::GPUInfo &gpu,
                const PlanOverride &given, std::string &whyNot);

/// The program of `module` rounded, split into roles and checked, with so many
/// blocks in a cluster that only prepare; null, with `whyNot` set, where there
/// is no code for it.
mlir::OwningOpRef<mlir::ModuleOp> buildRoles(mlir::ModuleOp module,
                                             const targetinfo::GPUInfo &gpu,
                                             int64_t prepareBlocks,
                                             std::string &whyNot);

} // namespace prism

#endif // PRISM_LIB_COMPILER_TENSORCORES_H
