//===- RoleLimits.h - What a role's registers hold --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Who orders the ops of roles, who emits them, and who plans with them must
// mean the same.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_TILE_IR_ROLELIMITS_H
#define PRISM_DIALECT_TILE_IR_ROLELIMITS_H

#include <cstdint>

namespace prism::tile {

/// Keys of a state that the chain rounds all at once. One of more keys leaves
/// no registers for its copy and is rounded piece by piece; beside one of more
/// than `kMostKeysReadTwice` there are no registers for the sums of two
/// products with it, which then follow each other, each with pieces of its own.
inline constexpr int64_t kKeysRoundedAtOnce = 128, kMostKeysReadTwice = 192;

} // namespace prism::tile

#endif // PRISM_DIALECT_TILE_IR_ROLELIMITS_H
