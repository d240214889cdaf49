//===- RolesPlan.h - Warps, registers, shared memory -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What a block of roles needs before a line of it is emitted: which warps run
// which role, how many registers each of their threads gets, where the slots
// and barriers of every channel lie.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOGPU_ROLES_ROLESPLAN_H
#define PRISM_LIB_CONVERSION_TILETOGPU_ROLES_ROLESPLAN_H

#include "../KernelBuilder.h"
#include "Layouts.h"
#include "TensorMaps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace prism::tiletogpu {

struct ChannelPlan {
  int64_t slots = 0;
  int64_t offset = 0;               ///< bytes, of slot 0
  int64_t slotBytes = 0;            ///< a multiple of the swizzle's period
  llvm::SmallVector<int64_t> parts; ///< byte offsets within a slot
  /// Of each part, byte offset of its powers (Powers.cpp), or -1.
  llvm::SmallVector<int64_t> powers;
  int64_t barriers = 0; ///< offset of full[slots], empty[slots], 8 bytes each
  int64_t arrivals = 0; ///< on `full`, of a message
  int64_t receiverWarps = 0; ///< of all receiving roles
  int64_t messageBytes = 0;  ///< without what pads a slot
  /// Blocks that take turns in sending, which rank the first of them has, and
  /// blocks that receive, from rank 0 on. A slot is filled by the same one
  /// every time, and given back to it.
  int64_t senders = 1, firstSender = 0, receivers = 1;
  /// Within blocks that only prepare: it counts their own iterations.
  bool isApart = false;
  /// Blocks that take turns in preparing with what each loads for itself: no
  /// block loads for another's turn. 1: all load all.
  int64_t turns = 1;

  /// Whether messages go to other blocks.
  bool isShared() const { return receivers > 1 || firstSender > 0; }
  int64_t full(int64_t slot) const { return barriers + slot * 8; }
  int64_t empty(int64_t slot) const { return barriers + (slots + slot) * 8; }
};

struct RolePlan {
  tile::RoleOp role;
  int64_t firstWarp = 0;
  int64_t registers = 0; ///< of a thread
  int64_t barrier = 0;   ///< number of its first team's named barrier
};

class RolesPlan {
public:
  /// Fails with `reason` set; emits nothing.
  static llvm::FailureOr<RolesPlan> make(tile::ProgramOp program,
                                         std::string &reason);

  llvm::SmallVector<RolePlan> roles;
  llvm::DenseMap<mlir::Value, ChannelPlan> channels;
  TensorMaps maps;
  mlir::Type operands; ///< of products: bf16 or f16
  int64_t threads = 0;
  int64_t initialRegisters = 0; ///< of a thread, when the kernel starts
  /// Blocks of values in a cluster, and behind them those that only prepare.
  int64_t valueBlocks = 1, prepareBlocks = 0;

  int64_t cluster() const { return valueBlocks + prepareBlocks; }
  /// Warps that have a role.
  int64_t warpsOf(bool isApart) const;
  /// Scratch, for as long as the kernel runs, in blocks of values or in those
  /// that only prepare.
  int64_t allocate(int64_t bytes, int64_t alignment, bool isApart = false);
  int64_t bytes() const { return std::max(used[0], used[1]); }

private:
  llvm::LogicalResult placeChannels(tile::ProgramOp program,
                                    std::string &reason);
  llvm::LogicalResult placeMessage(tile::ChannelOp channel, ChannelPlan &plan,
                                   std::string &reason);
  void placeChannel(ChannelPlan &plan, bool isApart);
  void placeWarps(tile::ProgramOp program);
  void placeRegisters(bool isApart);
  int64_t used[2] = {0, 0};
};

/// Registers of a thread that has no role.
inline constexpr int64_t kIdleRegisters = 24;

/// Scratch that a team that prepares allocates beyond the channels, at most: of
/// the inverse, factors of decays, copies of vectors.
inline constexpr int64_t kScratchOfPreparation = 16 * 1024,
                         kLeastScratchOfPreparation = 45 * 256;

/// The same of a team for decays per key: columns of dots, in bf16, and sums of
/// log-gates.
inline int64_t scratchOfKeyDecays(int64_t keys, bool isLeast) {
  return (isLeast ? 0 : Swizzled{kRowsOfGroup, keys}.bytes()) +
         (kWarpsOfGroup + 1) * keys * 4;
}

/// Warp groups of a role that take turns, each with iterations of its own.
int64_t teamsOf(tile::RoleOp role);

/// A team's share of a loop: its first iteration, and from one to the next.
struct Turns {
  mlir::Value first, stride;
};
Turns turnsOf(ScalarBuilder &b, mlir::Value lower, mlir::Value step,
              mlir::Value team, int64_t teams);

/// Whether an op is computed by slabs of keys (KeyDecays.cpp).
bool isOfKeyDecays(mlir::Operation *op);

/// The received tile whose squares are summed; null if it is something else.
mlir::Value squaredTile(tile::SumColumnsOp sum);

/// Whether a tile is computed of products of decays per key.
bool isMadeOfProducts(mlir::Value tile);

/// A type as it is printed.
inline std::string textOf(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Whether a part of a message is an f32 matrix that was loaded and goes to the
/// preparation alone.
bool isWideMessage(tile::ChannelOp channel, unsigned part);

/// Keeps a loop from being unrolled.
void keepRolled(mlir::scf::ForOp loop);

/// The one loop of a role.
mlir::scf::ForOp loopOf(tile::RoleOp role);

/// Whether gates are summed by this role, which loads them.
bool sumsByLoad(tile::RoleOp role);

/// Teams of the role `load` that take turns.
int64_t loadTeamsOf(tile::RoleOp role);

/// Blocks of a cluster that take turns in using a channel, each what it loaded
/// for itself; 1: all use all.
int64_t turnsOfLoads(mlir::Value channel);

/// The send into which `tile` goes as a part, rounded or as it is; null unless
/// there is exactly one and no other use.
struct Destination {
  tile::SendOp send;
  unsigned part = 0;
};
Destination destinationOf(mlir::Value tile);

/// What an inverse's columns are scaled by on their way; null if by nothing.
tile::ScaleColumnsOp scaleOf(tile::InvertOp invert);

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_ROLES_ROLESPLAN_H
