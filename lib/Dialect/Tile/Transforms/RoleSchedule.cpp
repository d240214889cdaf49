//===- RoleSchedule.cpp - In which order a role works ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RoleSchedule.h"

using namespace mlir;
using namespace prism::tile;

/// Channel by channel: its loads, then the send. An interleave fetches what it
/// stacks itself.
static RoleSchedule scheduleLoads(const RolePlan &plan) {
  RoleSchedule schedule;
  llvm::DenseSet<Operation *> done;
  for (auto [number, channel] : llvm::enumerate(plan.channels)) {
    if (channel.from != RoleKind::Load)
      continue;
    for (Value value : channel.values) {
      Operation *made = value.getDefiningOp();
      for (Value input : made->getOperands())
        if (Operation *load = input.getDefiningOp<LoadOp>())
          if (done.insert(load).second)
            schedule.push_back({RoleStep::Compute, load});
      if (done.insert(made).second)
        schedule.push_back({RoleStep::Compute, made});
    }
    schedule.push_back({RoleStep::Send, nullptr, unsigned(number)});
  }
  return schedule;
}

/// Sorts by a key; ops of equal keys keep their order.
static void sortBy(llvm::function_ref<unsigned(Operation *)> key,
                   SmallVectorImpl<Operation *> &ops) {
  SmallVector<std::tuple<unsigned, size_t, Operation *>> keyed;
  for (auto [place, op] : llvm::enumerate(ops))
    keyed.emplace_back(key(op), place, op);
  llvm::sort(keyed);
  for (auto [op, entry] : llvm::zip_equal(ops, keyed))
    op = std::get<2>(entry);
}

/// Gates and decays come first, then products with what masks them, so that the
/// keys are soon released; what inverts a system comes last, since it takes
/// longest and holds nothing that another role waits for.
static void sortPreparation(SmallVectorImpl<Operation *> &ops) {
  llvm::DenseSet<Operation *> towardsInverse;
  for (Operation *op : llvm::reverse(ops))
    if (isa<InvertOp, SolveOp>(op) ||
        llvm::any_of(op->getUsers(), [&](Operation *user) {
          return towardsInverse.contains(user);
        }))
      towardsInverse.insert(op);
  llvm::DenseMap<Operation *, unsigned> phases;
  for (Operation *op : ops) {
    unsigned phase = isa<DotOp>(op) ? 1 : 0;
    for (Value operand : op->getOperands())
      phase = std::max(phase, phases.lookup(operand.getDefiningOp()));
    if (phase == 1 && !isa<DotOp>(op) && towardsInverse.contains(op))
      phase = 2;
    phases[op] = phase;
  }
  sortBy([&](Operation *op) { return phases.lookup(op); }, ops);
}

/// For each op of the chain the last channel that it needs, over all that leads
/// to it: 0 for what needs only the state.
static llvm::DenseMap<Operation *, unsigned>
findRanks(const RolePlan &plan, ArrayRef<Operation *> ops) {
  llvm::DenseMap<Operation *, unsigned> ranks;
  for (Operation *op : ops) {
    unsigned rank = 0;
    for (Value operand : op->getOperands()) {
      if (auto channel = plan.channelOf(operand, RoleKind::Chain))
        rank = std::max(rank, *channel + 1);
      else if (auto it = ranks.find(operand.getDefiningOp()); it != ranks.end())
        rank = std::max(rank, it->second);
    }
    ranks[op] = rank;
  }
  return ranks;
}

/// Stores, and what only they wait for.
static llvm::DenseSet<Operation *> findOutputs(ArrayRef<Operation *> ops) {
  llvm::DenseSet<Operation *> outputs;
  auto isOutput = [&](Operation *op) { return outputs.contains(op); };
  for (Operation *op : llvm::reverse(ops))
    if (isa<StoreOp>(op) ||
        (!isa<DotOp, SolveOp>(op) && llvm::all_of(op->getUsers(), isOutput)))
      outputs.insert(op);
  return outputs;
}

/// What can start first stands first: products of keys with the state run while
/// the preparation finishes. Outputs come last: no other op waits for them.
static void sortChain(const RolePlan &plan, SmallVectorImpl<Operation *> &ops) {
  auto ranks = findRanks(plan, ops);
  llvm::DenseSet<Operation *> outputs = findOutputs(ops);
  unsigned last = plan.channels.size() + 1;
  sortBy(
      [&](Operation *op) {
        return outputs.contains(op) ? last : ranks.lookup(op);
      },
      ops);
}

namespace {
/// Where a role meets its channels: the first and the last op that read a
/// message, and the op that makes the last part of one. No op: none does.
struct Meetings {
  Meetings(const RolePlan &plan, RoleKind role, ArrayRef<Operation *> ops)
      : first(plan.channels.size()), last(first), made(first) {
    for (Operation *op : ops) {
      for (Value operand : op->getOperands())
        if (auto channel = plan.channelOf(operand, role)) {
          if (!first[*channel])
            first[*channel] = op;
          last[*channel] = op;
        }
      for (unsigned number = 0; number < plan.channels.size(); ++number)
        for (Value result : op->getResults())
          if (plan.channels[number].from == role &&
              llvm::is_contained(plan.channels[number].values, result))
            made[number] = op;
    }
  }
  SmallVector<Operation *> first, last, made; // by channel
};
} // namespace

/// Receives right before the first use, releases right after the last, sends
/// as soon as the message is whole.
static RoleSchedule addChannels(const RolePlan &plan, RoleKind role,
                                ArrayRef<Operation *> ops) {
  Meetings meetings(plan, role, ops);
  RoleSchedule schedule;
  auto add = [&](RoleStep::Kind kind, ArrayRef<Operation *> at, Operation *op) {
    for (unsigned number = 0; number < at.size(); ++number)
      if (at[number] == op)
        schedule.push_back({kind, nullptr, number});
  };
  for (Operation *op : ops) {
    add(RoleStep::Receive, meetings.first, op);
    schedule.push_back({RoleStep::Compute, op});
    add(RoleStep::Release, meetings.last, op);
    add(RoleStep::Send, meetings.made, op);
  }
  return schedule;
}

RoleSchedule prism::tile::scheduleRole(const RolePlan &plan, RoleKind role) {
  if (role == RoleKind::Load)
    return scheduleLoads(plan);
  const RoleWork &work = role == RoleKind::Chain ? plan.chain : plan.prepare;
  SmallVector<Operation *> ops(work.ops.begin(), work.ops.end());
  if (role == RoleKind::Chain)
    sortChain(plan, ops);
  else
    sortPreparation(ops);
  return addChannels(plan, role, ops);
}
