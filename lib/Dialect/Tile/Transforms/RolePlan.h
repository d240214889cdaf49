//===- RolePlan.h - Which role does what, and what they exchange *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_DIALECT_TILE_TRANSFORMS_ROLEPLAN_H
#define PRISM_LIB_DIALECT_TILE_TRANSFORMS_ROLEPLAN_H

#include "Prism/Dialect/Tile/Transforms/Roles.h"
#include "TileAxes.h"
#include "llvm/ADT/SetVector.h"

namespace prism::tile {

/// Who does an op of the loop. Anyone: constants and arithmetic on indices,
/// which every role does for itself.
enum class RoleKind { Anyone, Load, Prepare, Chain };

/// Is this op one that any role may do for itself, at no cost?
bool isForAnyone(mlir::Operation *op);

/// What one role does in an iteration.
struct RoleWork {
  /// In the order of the loop.
  llvm::SetVector<mlir::Operation *> ops;
  /// What other roles send it.
  llvm::SetVector<mlir::Value> received;
};

/// Values that one role sends to the same others in one message.
struct ChannelPlan {
  RoleKind from = RoleKind::Load;
  bool toPrepare = false, toChain = false;
  llvm::SmallVector<mlir::Value> values;
  int64_t slots = 1;
  /// Which matrices the message holds; a message of vectors holds none.
  TileAxis matrices = TileAxis::Unknown;

  bool isReceivedBy(RoleKind role) const {
    return role == RoleKind::Prepare ? toPrepare
                                     : role == RoleKind::Chain && toChain;
  }
  int64_t messageBytes() const;
  bool isPrepared() const { return from == RoleKind::Prepare; }
};

class RolePlan {
public:
  /// The loop of a program that can be split, else the reason why not.
  static llvm::FailureOr<mlir::scf::ForOp> findLoop(ProgramOp program,
                                                    std::string &reason);

  static llvm::FailureOr<RolePlan>
  make(ProgramOp program, const RoleOptions &options, std::string &reason);

  mlir::scf::ForOp loop;
  RoleWork prepare, chain;
  llvm::SmallVector<ChannelPlan> channels; ///< in the order in which they fill
  /// Warp groups of the role prepare, blocks that share it, and blocks of their
  /// own that run it.
  int64_t prepareTeams = 1, cluster = 1, prepareBlocks = 0;

  /// The number of the channel by which a role receives a value, if it does.
  std::optional<unsigned> channelOf(mlir::Value value, RoleKind role) const;

private:
  void assign(const TileAxes &axes, bool sumsByLoad);
  RoleKind roleOf(mlir::Value value) const;
  bool isMadeByLoad(mlir::Operation *op) const;
  bool isSummedByLoad(mlir::Operation *op) const;
  bool isRemade(mlir::Value value, RoleKind role) const;
  bool isAvailable(mlir::Value value, const RoleWork &work) const;
  void need(mlir::Value value, RoleKind role, RoleWork &work);
  void remakeCheapVectors();
  void gather();
  llvm::LogicalResult checkMessages(std::string &reason) const;
  void makeChannels(const TileAxes &axes);
  void joinVectors();
  void takeIntoChannel(mlir::Value value, const ChannelPlan &wanted);
  int64_t sendersOf(const ChannelPlan &channel) const;
  bool liesIn(const ChannelPlan &channel, bool preparing) const;
  int64_t fitSlots(int64_t wanted, int64_t available, bool preparing);
  void fitTeams();
  llvm::LogicalResult chooseSlots(const RoleOptions &options,
                                  std::string &reason);

  llvm::DenseMap<mlir::Operation *, RoleKind> roles;
};

} // namespace prism::tile

#endif // PRISM_LIB_DIALECT_TILE_TRANSFORMS_ROLEPLAN_H
