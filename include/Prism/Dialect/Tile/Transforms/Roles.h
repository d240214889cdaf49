//===- Roles.h - Splitting a program into roles, and back -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_TILE_TRANSFORMS_ROLES_H
#define PRISM_DIALECT_TILE_TRANSFORMS_ROLES_H

#include "Prism/Dialect/Tile/IR/Tile.h"

namespace prism::tile {

struct RoleOptions {
  /// Slots of a channel, where shared memory suffices.
  int64_t slots = 2;
  /// Warp groups that take turns in preparing, where every channel that they
  /// receive has so many slots.
  int64_t prepareTeams = 1;
  /// Blocks of values that run as one cluster and take turns in preparing, each
  /// with one warp group.
  int64_t cluster = 1;
  /// Further blocks of the cluster that do nothing but prepare: then no other
  /// block does.
  int64_t prepareBlocks = 0;
  /// Whoever loads log-gates sums them, where the preparation is what the chain
  /// waits for.
  bool sumsByLoad = false;
  /// Bytes of a block's shared memory.
  int64_t sharedMemory = 232448;
  /// The same of a block that only prepares.
  int64_t preparingMemory = 232448;
};

/// Splits the chunk loop of a program into the roles load, prepare and chain,
/// which meet in channels. On failure the program is as it was, and `whyNot`
/// says why.
llvm::LogicalResult specializeRoles(ProgramOp program,
                                    const RoleOptions &options,
                                    std::string *whyNot = nullptr);

/// Turns a program of roles back into one loop: what is sent is what is
/// received. Fails with a diagnostic where roles do not run the same loop.
llvm::LogicalResult mergeRoles(ProgramOp program);

/// Plays the channel ops of all roles for so many iterations, each role going
/// on as long as it may. Fails with a diagnostic if a channel is not sent,
/// received and released once an iteration, or if all roles wait.
llvm::LogicalResult checkChannels(ProgramOp program, int64_t iterations = 5);

} // namespace prism::tile

#endif // PRISM_DIALECT_TILE_TRANSFORMS_ROLES_H
