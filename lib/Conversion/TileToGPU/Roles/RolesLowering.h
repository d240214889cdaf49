//===- RolesLowering.h - A block of roles to a kernel -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOGPU_ROLES_ROLESLOWERING_H
#define PRISM_LIB_CONVERSION_TILETOGPU_ROLES_ROLESLOWERING_H

#include "RolesPlan.h"

namespace prism::tiletogpu {

/// Emits the body of the kernel that `kernel` has begun; `memory` is the
/// block's shared memory, aligned to the swizzle's period. The plan knows
/// afterwards how many bytes of it are used.
void emitRoles(KernelBuilder &kernel, ScalarBuilder &b, RolesPlan &plan,
               mlir::Value memory);

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_ROLES_ROLESLOWERING_H
