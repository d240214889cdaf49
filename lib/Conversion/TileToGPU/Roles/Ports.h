//===- Ports.h - A role's ends of its channels ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Iteration n of a role's loop uses slot n mod slots of every channel. Each
// slot has two barriers: `full`, on which every sending warp arrives once it
// has written (of `load` the warps of the team whose turn it is), and `empty`,
// on which every receiving warp arrives once it has read. The wait for
// round r = n / slots of a slot is for parity r mod 2 of `full`, and for the
// other parity of `empty`, which passes at once in round 0.
//
// Of a role that the blocks of a cluster share, iteration n is done by block n
// mod cluster, and what it sends is copied into the same slot of all others. As
// the number of slots is a multiple of the blocks', a slot has one sender,
// which waits on its own `empty`, where the receivers of all blocks arrive.
//
// Where blocks of their own run that role, iteration n is done by the n mod
// p-th of these p, whose message is copied to the blocks of values. Channels
// within a block that only prepares count its own iterations alone.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOGPU_ROLES_PORTS_H
#define PRISM_LIB_CONVERSION_TILETOGPU_ROLES_PORTS_H

#include "Instructions.h"
#include "RolesPlan.h"

namespace prism::tiletogpu {

class Ports {
public:
  /// `apart`: number, i32, of the block among those that only prepare, of a
  /// role that runs there; else null.
  Ports(ScalarBuilder &b, Instructions &in, const RolesPlan &plan,
        mlir::Value memory, mlir::Value lane, mlir::Value apart)
      : b(b), in(in), plan(plan), memory(memory), lane(lane), apart(apart) {}

  /// Which iterations of a loop are this block's.
  Turns turnsOfBlock(mlir::Value lower, mlir::Value step);
  /// `n`: number of the iteration, i32; `own`: among the block's own.
  void beginIteration(mlir::Value n, mlir::Value own);
  /// Of iteration n among all, its number among the block's own.
  mlir::Value ownNumber(mlir::Value n);
  /// Sender: waits once an iteration for an empty slot.
  void acquire(mlir::Value channel);
  /// Receiver: waits for a full slot.
  void receive(mlir::Value channel);
  /// Sender: what this warp wrote is there, also for wgmma.
  void publish(mlir::Value channel);
  /// Sender: the same for what no product reads, or the copy engine writes.
  void publishWithoutFence(mlir::Value channel);
  /// Sender: on which this iteration's slot becomes full.
  mlir::Value full(mlir::Value channel) { return turnOf(channel).barrier; }
  /// Sender of a shared role, one thread: what its block wrote, and fenced, is
  /// there if anybody reads it there, and on its way to the other blocks.
  void publishToCluster(mlir::Value channel, mlir::Value rank);
  /// Receiver of a shared role, one thread for `warps` warps: the message of
  /// iteration `n` is another block's, and is given back unread.
  void pass(mlir::Value channel, mlir::Value n, int64_t warps);
  /// Receiver: this warp reads the slots no more.
  void release(llvm::ArrayRef<mlir::Value> channels);
  /// Whether it is the turn of the block of a rank to use a channel that is
  /// each block's own; null: it always is.
  mlir::Value isTurnOf(mlir::Value channel, mlir::Value rank);
  int64_t slotsOf(mlir::Value channel) const {
    return plan.channels.at(channel).slots;
  }
  /// Address of a part of this iteration's slot.
  mlir::Value part(mlir::Value channel, unsigned index);
  /// Of the powers of a part of it; null where it has none.
  mlir::Value powersOf(mlir::Value channel, unsigned index);

private:
  struct Turn {
    mlir::Value slot, parity, base, barrier;
    bool acquired = false;
  };
  Turn &turnOf(mlir::Value channel);
  Turn makeTurn(mlir::Value channel, mlir::Value n);
  void copyTo(mlir::Value channel, mlir::Value rank);
  void arriveOnce(mlir::Value barrier);

  ScalarBuilder &b;
  Instructions &in;
  const RolesPlan &plan;
  mlir::Value memory, lane, apart, iteration, ownIteration;
  llvm::DenseMap<mlir::Value, Turn> turns;
};

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_ROLES_PORTS_H
