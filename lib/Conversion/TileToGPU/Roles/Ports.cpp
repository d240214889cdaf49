//===- Ports.cpp - A role's ends of its channels --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Ports.h"

using namespace mlir;
using namespace prism::tiletogpu;

/// Of so many parts addresses are made in every iteration. In a single slot
/// they are always the same, and would be kept through the loop, and spilled.
static constexpr size_t kManyParts = 8;

Turns Ports::turnsOfBlock(Value lower, Value step) {
  return apart ? turnsOf(b, lower, step, apart, plan.prepareBlocks)
               : Turns{lower, step};
}

Value Ports::ownNumber(Value n) {
  return apart ? b.divide(n, plan.prepareBlocks) : n;
}

void Ports::beginIteration(Value n, Value own) {
  iteration = n;
  ownIteration = own;
  turns.clear();
}

Ports::Turn &Ports::turnOf(Value channel) {
  Turn &turn = turns[channel];
  if (!turn.base)
    turn = makeTurn(channel, plan.channels.at(channel).isApart ? ownIteration
                                                               : iteration);
  return turn;
}

Ports::Turn Ports::makeTurn(Value channel, Value n) {
  const ChannelPlan &c = plan.channels.at(channel);
  if (c.turns > 1)
    n = b.divide(n, c.turns);
  Turn turn;
  turn.slot = b.remainder(n, c.slots);
  if (c.slots == 1 && c.parts.size() > kManyParts)
    turn.slot = in.opaque(turn.slot);
  turn.parity = in.bitAnd(b.divide(n, c.slots), 1);
  turn.base = in.advance(in.advance(memory, c.offset),
                         b.mul(turn.slot, b.i32(c.slotBytes)));
  turn.barrier =
      in.advance(in.advance(memory, c.barriers), b.mul(turn.slot, b.i32(8)));
  return turn;
}

Value Ports::isTurnOf(Value channel, Value rank) {
  int64_t turns = plan.channels.at(channel).turns;
  if (turns == 1)
    return {};
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                               b.remainder(iteration, turns), rank);
}

void Ports::acquire(Value channel) {
  Turn &turn = turnOf(channel);
  if (turn.acquired)
    return;
  turn.acquired = true;
  Value empty = in.advance(turn.barrier, plan.channels.at(channel).slots * 8);
  in.wait(empty, in.bitXor(turn.parity, b.i32(1)));
}

void Ports::receive(Value channel) {
  Turn &turn = turnOf(channel);
  in.wait(turn.barrier, turn.parity);
}

/// The rest of the scope is for one lane, after all of the warp came here.
static void enterOneLane(ScalarBuilder &b, Instructions &in, Value lane) {
  in.syncWarp();
  auto first = scf::IfOp::create(b, in.equals(lane, 0));
  b.setInsertionPointToStart(first.thenBlock());
}

void Ports::arriveOnce(Value barrier) {
  OpBuilder::InsertionGuard guard(b);
  enterOneLane(b, in, lane);
  in.arrive(barrier);
}

void Ports::publish(Value channel) {
  in.fenceForAsync();
  publishWithoutFence(channel);
}

void Ports::publishWithoutFence(Value channel) {
  arriveOnce(turnOf(channel).barrier);
}

void Ports::publishToCluster(Value channel, Value rank) {
  const ChannelPlan &c = plan.channels.at(channel);
  if (c.firstSender > 0) {
    for (int64_t other = 0; other < c.receivers; ++other)
      copyTo(channel, b.i32(other));
    return;
  }
  in.arrive(turnOf(channel).barrier);
  for (int64_t ahead = 1; ahead < c.receivers; ++ahead)
    copyTo(channel, b.remainder(b.add(rank, b.i32(ahead)), c.receivers));
}

void Ports::copyTo(Value channel, Value rank) {
  int64_t bytes = plan.channels.at(channel).messageBytes;
  Turn &turn = turnOf(channel);
  in.announceAt(turn.barrier, rank, bytes);
  in.copyTo(rank, turn.base, bytes, turn.barrier);
}

void Ports::pass(Value channel, Value n, int64_t warps) {
  Turn turn = makeTurn(channel, n);
  in.wait(turn.barrier, turn.parity);
  Value empty = in.advance(turn.barrier, plan.channels.at(channel).slots * 8);
  in.arrive(empty, warps);
}

void Ports::release(ArrayRef<Value> channels) {
  if (channels.empty())
    return;
  SmallVector<std::pair<Value, Value>> arrivals; // barrier, rank
  for (Value channel : channels) {
    const ChannelPlan &c = plan.channels.at(channel);
    Value empty = in.advance(turnOf(channel).barrier, c.slots * 8);
    Value sender;
    if (c.isShared())
      sender = b.add(b.remainder(iteration, c.senders), b.i32(c.firstSender));
    arrivals.push_back({empty, sender});
  }
  OpBuilder::InsertionGuard guard(b);
  enterOneLane(b, in, lane);
  for (auto [barrier, rank] : arrivals)
    if (rank)
      in.arriveAt(barrier, rank);
    else
      in.arrive(barrier);
}

Value Ports::part(Value channel, unsigned index) {
  return in.advance(turnOf(channel).base,
                    plan.channels.at(channel).parts[index]);
}

Value Ports::powersOf(Value channel, unsigned index) {
  int64_t offset = plan.channels.at(channel).powers[index];
  return offset < 0 ? Value() : in.advance(turnOf(channel).base, offset);
}
