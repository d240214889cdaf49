//===- RoleSchedule.h - In which order a role works -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_DIALECT_TILE_TRANSFORMS_ROLESCHEDULE_H
#define PRISM_LIB_DIALECT_TILE_TRANSFORMS_ROLESCHEDULE_H

#include "RolePlan.h"

namespace prism::tile {

/// One op of a role's iteration: an op of the old loop, or one on a channel.
struct RoleStep {
  enum Kind { Compute, Receive, Release, Send } kind;
  mlir::Operation *op = nullptr;
  unsigned channel = 0;
};

using RoleSchedule = llvm::SmallVector<RoleStep>;

/// What a role does in an iteration, in order. Empty if it has nothing to do.
RoleSchedule scheduleRole(const RolePlan &plan, RoleKind role);

/// The loads of one receiver, where it has its own.
RoleSchedule scheduleLoadsOf(const RolePlan &plan, RoleKind receiver);

} // namespace prism::tile

#endif // PRISM_LIB_DIALECT_TILE_TRANSFORMS_ROLESCHEDULE_H
