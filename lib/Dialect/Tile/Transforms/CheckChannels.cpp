//===- CheckChannels.cpp - Do roles that wait for each other get on? ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Tile/Transforms/Roles.h"

using namespace mlir;
using namespace prism::tile;

namespace {

/// A role's channel ops in the order in which they run, and how far it is.
struct Actor {
  RoleOp role;
  SmallVector<Operation *> ops;
  size_t place = 0;

  bool isDone() const { return place == ops.size(); }
};

/// How many messages of one channel were sent, and released by each receiver.
struct Ring {
  Operation *sender = nullptr; // the role
  int64_t sent = 0;
  llvm::DenseMap<Operation *, int64_t> received, released; // by role
};

/// Plays the roles of a program beside each other. A role changes hands only
/// where it must wait: since an op once allowed stays allowed, whether all get
/// to their end does not depend on who goes first.
class Play {
public:
  Play(ProgramOp program, int64_t iterations)
      : program(program), iterations(iterations) {}
  LogicalResult run();

private:
  void collect(RoleOp role);
  LogicalResult findSenders();
  LogicalResult checkCounts(scf::ForOp loop);
  bool step(Actor &actor);
  LogicalResult reportWait();

  ProgramOp program;
  int64_t iterations;
  SmallVector<Actor> actors;
  llvm::DenseMap<Value, Ring> rings;
};

} // namespace

static Value channelOf(Operation *op) {
  if (auto send = dyn_cast<SendOp>(op))
    return send.getChannel();
  if (auto receive = dyn_cast<ReceiveOp>(op))
    return receive.getChannel();
  if (auto release = dyn_cast<ReleaseOp>(op))
    return release.getChannel();
  return {};
}

/// The role's channel ops, those in a loop as often as it runs.
void Play::collect(RoleOp role) {
  Actor &actor = actors.emplace_back();
  actor.role = role;
  auto append = [&](Block &block) {
    for (Operation &op : block)
      if (channelOf(&op))
        actor.ops.push_back(&op);
  };
  for (Operation &op : role.getBody().front()) {
    if (channelOf(&op))
      actor.ops.push_back(&op);
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      for (int64_t i = 0; i < iterations; ++i)
        append(*loop.getBody());
  }
  for (Operation *op : actor.ops) {
    Ring &ring = rings[channelOf(op)];
    if (isa<SendOp>(op))
      ring.sender = role;
    else
      ring.received[role] = ring.released[role] = 0;
  }
}

/// One role sends, and at least one other receives.
LogicalResult Play::findSenders() {
  for (auto channel : program.getBody().getOps<ChannelOp>()) {
    Ring &ring = rings[channel.getResult()];
    if (!ring.sender || ring.received.empty())
      return channel.emitOpError("is never ")
             << (ring.sender ? "received" : "sent");
    for (Operation *user : channel->getUsers()) {
      Operation *role = user->getParentOfType<RoleOp>();
      if (isa<SendOp>(user) && role != ring.sender)
        return user->emitOpError("fills a channel that another role fills");
      if (!isa<SendOp>(user) && role == ring.sender)
        return user->emitOpError("receives what its own role sends");
    }
  }
  return success();
}

/// Once an iteration: the iteration is the slot.
LogicalResult Play::checkCounts(scf::ForOp loop) {
  llvm::DenseSet<std::pair<Value, OperationName>> seen;
  for (Operation &op : *loop.getBody())
    if (Value channel = channelOf(&op))
      if (!seen.insert({channel, op.getName()}).second)
        return op.emitOpError("uses a slot a second time in one iteration");
  return success();
}

/// Does the role's next op if it need not wait.
bool Play::step(Actor &actor) {
  Operation *op = actor.ops[actor.place], *role = actor.role;
  Value channel = channelOf(op);
  Ring &ring = rings[channel];
  if (isa<SendOp>(op)) {
    int64_t slots = cast<ChannelType>(channel.getType()).getSlots();
    for (auto [receiver, released] : ring.released)
      if (ring.sent - released >= slots)
        return false;
    ++ring.sent;
  } else if (isa<ReceiveOp>(op)) {
    if (ring.received[role] == ring.sent)
      return false;
    ++ring.received[role];
  } else {
    ++ring.released[role];
  }
  ++actor.place;
  return true;
}

LogicalResult Play::reportWait() {
  InFlightDiagnostic error = program.emitOpError("comes to a halt: ");
  bool first = true;
  for (Actor &actor : actors) {
    if (actor.isDone())
      continue;
    Operation *op = actor.ops[actor.place];
    error << (first ? "" : ", ") << actor.role.getName() << " waits for "
          << (isa<SendOp>(op) ? "an empty slot" : "a message");
    error.attachNote(op->getLoc()) << actor.role.getName() << " waits here";
    first = false;
  }
  return error;
}

LogicalResult Play::run() {
  for (auto role : program.getBody().getOps<RoleOp>()) {
    for (auto loop : role.getBody().getOps<scf::ForOp>())
      if (failed(checkCounts(loop)))
        return failure();
    collect(role);
  }
  if (failed(findSenders()))
    return failure();
  for (bool moved = true; moved;) {
    moved = false;
    for (Actor &actor : actors)
      while (!actor.isDone() && step(actor))
        moved = true;
  }
  if (!llvm::all_of(actors, [](const Actor &a) { return a.isDone(); }))
    return reportWait();
  for (auto &[channel, ring] : rings)
    for (auto [role, received] : ring.received)
      if (received != ring.sent)
        return cast<RoleOp>(role).emitOpError("leaves messages unread: ")
               << ring.sent << " were sent, it receives " << received;
  return success();
}

LogicalResult prism::tile::checkChannels(ProgramOp program,
                                         int64_t iterations) {
  return Play(program, iterations).run();
}
