//===- RoleSchedule.cpp - In which order a role works ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RoleSchedule.h"
#include "Prism/Dialect/Tile/IR/RoleLimits.h"

using namespace mlir;
using namespace prism::tile;

/// A message's part, behind all that it is made of in the loop.
static void scheduleMade(const RolePlan &plan, Operation *made,
                         llvm::DenseSet<Operation *> &done,
                         RoleSchedule &schedule) {
  if (!made || made->getBlock() != scf::ForOp(plan.loop).getBody() ||
      isForAnyone(made) || !done.insert(made).second)
    return;
  for (Value input : made->getOperands())
    scheduleMade(plan, input.getDefiningOp(), done, schedule);
  schedule.push_back({RoleStep::Compute, made});
}

/// Channel by channel: its loads, and what is made of them, then the send.
static RoleSchedule
scheduleLoads(const RolePlan &plan,
              llvm::function_ref<bool(const ChannelPlan &)> isOurs) {
  RoleSchedule schedule;
  llvm::DenseSet<Operation *> done;
  for (auto [number, channel] : llvm::enumerate(plan.channels)) {
    if (channel.from != RoleKind::Load || !isOurs(channel))
      continue;
    for (Value value : channel.values)
      scheduleMade(plan, value.getDefiningOp(), done, schedule);
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

static bool isVectorOp(Operation *op) {
  auto type = op->getNumResults() == 1
                  ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                  : RankedTensorType();
  return type && type.getRank() == 1;
}

/// What leads to an inverse, or is one.
static llvm::DenseSet<Operation *>
findTowardsInverse(ArrayRef<Operation *> ops) {
  llvm::DenseSet<Operation *> found;
  auto isFound = [&](Operation *op) { return found.contains(op); };
  for (Operation *op : llvm::reverse(ops))
    if (isa<InvertOp, SolveOp>(op) || llvm::any_of(op->getUsers(), isFound))
      found.insert(op);
  return found;
}

/// Products of messages that are begun before their results are needed: those
/// of the systems, then others, as many as a role holds sums of beside its
/// gates (64 x 64 of them take 32 registers of a thread).
static SmallVector<Operation *>
findProductsAhead(const RolePlan &plan, ArrayRef<Operation *> ops,
                  const llvm::DenseSet<Operation *> &towardsInverse) {
  constexpr unsigned kMost = 2;
  SmallVector<Operation *> ahead;
  for (bool forSystem : {true, false})
    for (Operation *op : ops) {
      auto dot = dyn_cast<DotOp>(op);
      if (dot && ahead.size() < kMost &&
          towardsInverse.contains(op) == forSystem &&
          plan.channelOf(dot.getLhs(), RoleKind::Prepare) &&
          plan.channelOf(dot.getRhs(), RoleKind::Prepare) &&
          isForAnyone(dot.getAcc().getDefiningOp()))
        ahead.push_back(op);
    }
  return ahead;
}

/// A product first, gates and decays while it runs; another then, since a warp
/// that has begun eight steps of products waits to begin the next. It runs
/// while systems are made of the first. The other products with what masks them
/// come last; an inverse is finished where it is sent.
static void sortPreparation(const RolePlan &plan,
                            SmallVectorImpl<Operation *> &ops) {
  enum Phase : unsigned { First, Gates, Second, Inverse, Products };
  auto towardsInverse = findTowardsInverse(ops);
  auto ahead = findProductsAhead(plan, ops, towardsInverse);
  llvm::DenseMap<Operation *, Phase> phases;
  for (Operation *op : ops) {
    bool followsProduct = isa<DotOp>(op);
    for (Value operand : op->getOperands())
      if (auto it = phases.find(operand.getDefiningOp()); it != phases.end())
        followsProduct |= it->second != Gates;
    auto found = llvm::find(ahead, op);
    phases[op] = found != ahead.end()
                     ? (found == ahead.begin() ? First : Second)
                 : !followsProduct             ? Gates
                 : towardsInverse.contains(op) ? Inverse
                                               : Products;
  }
  sortBy([&](Operation *op) { return phases.lookup(op); }, ops);
}

/// Which of the tokens' own decays the columns of a dot see.
static SmallVector<bool> decaysOfColumns(DecayedDotOp dot) {
  SmallVector<bool> sees;
  for (int64_t decay : dot.getDecayOrder())
    for (int64_t column : dot.getColumnOrder())
      sees.push_back(decay > column);
  return sees;
}

/// Whether dots multiply the same decayed columns, which are made at once.
static bool shareColumns(DecayedDotOp a, DecayedDotOp b) {
  return a.getRhs() == b.getRhs() && a.getDecays() == b.getDecays() &&
         decaysOfColumns(a) == decaysOfColumns(b);
}

/// Moves op number `from`, with all that leads to it, up to place `to`; behind
/// them is the place that it returns.
static size_t moveUp(SmallVectorImpl<Operation *> &ops, size_t to,
                     size_t from) {
  llvm::SmallPtrSet<Operation *, 16> moving = {ops[from]};
  SmallVector<Operation *> moved, others;
  for (size_t i = from + 1; i-- > to;) {
    if (llvm::any_of(ops[i]->getUsers(),
                     [&](Operation *user) { return moving.contains(user); }))
      moving.insert(ops[i]);
    (moving.contains(ops[i]) ? moved : others).push_back(ops[i]);
  }
  std::reverse_copy(moved.begin(), moved.end(), ops.begin() + to);
  std::reverse_copy(others.begin(), others.end(),
                    ops.begin() + to + moved.size());
  return to + moved.size();
}

/// The same of what is made of an op's result; `place` is behind the op.
static size_t moveFollowersUp(SmallVectorImpl<Operation *> &ops, size_t place) {
  llvm::SmallPtrSet<Operation *, 8> followed = {ops[place - 1]};
  for (size_t i = place; i < ops.size(); ++i)
    if (Operation *op = ops[i];
        llvm::any_of(op->getOperands(), [&](Value operand) {
          return followed.contains(operand.getDefiningOp());
        })) {
      followed.insert(op);
      place = moveUp(ops, place, i);
    }
  return place;
}

/// Vectors that no decay leads to, such as norms of keys, and what leads to
/// them.
static llvm::DenseSet<Operation *> findVectors(ArrayRef<Operation *> ops) {
  llvm::DenseSet<Operation *> decayed, found;
  for (Operation *op : ops)
    if (isa<DecayProductOp, DecayedDotOp, LastRowOp>(op) ||
        llvm::any_of(op->getOperands(), [&](Value operand) {
          return decayed.contains(operand.getDefiningOp());
        }))
      decayed.insert(op);
  for (Operation *op : llvm::reverse(ops))
    if (!decayed.contains(op) &&
        (isVectorOp(op) || llvm::any_of(op->getUsers(), [&](Operation *user) {
           return found.contains(user);
         })))
      found.insert(op);
  return found;
}

/// Decays per key: vectors first, so that all that is rounded of keys can be
/// made at once; and dots of the same columns one after the other, of which
/// each result is rounded before the next is computed.
static void gatherKeyDecays(SmallVectorImpl<Operation *> &ops) {
  if (llvm::none_of(ops, llvm::IsaPred<DecayedDotOp>))
    return;
  auto vectors = findVectors(ops);
  sortBy([&](Operation *op) { return vectors.contains(op) ? 0 : 1; }, ops);
  for (size_t i = 0; i < ops.size(); ++i) {
    auto dot = dyn_cast<DecayedDotOp>(ops[i]);
    if (!dot)
      continue;
    size_t next = moveFollowersUp(ops, i + 1);
    auto *other =
        std::find_if(ops.begin() + next, ops.end(), [&](Operation *op) {
          auto later = dyn_cast<DecayedDotOp>(op);
          return later && shareColumns(dot, later);
        });
    if (other != ops.end())
      moveUp(ops, next, other - ops.begin());
  }
}

/// Widens what is received right before the first use: until then it is half as
/// large, and others may have to wait for less.
static void sinkWidening(const RolePlan &plan, RoleKind role,
                         SmallVectorImpl<Operation *> &ops) {
  llvm::SetVector<Operation *> waiting;
  SmallVector<Operation *> sunk;
  for (Operation *op : ops) {
    if (isa<arith::ExtFOp>(op) && plan.channelOf(op->getOperand(0), role)) {
      waiting.insert(op);
      continue;
    }
    for (Value operand : op->getOperands())
      if (Operation *widening = operand.getDefiningOp();
          widening && waiting.remove(widening))
        sunk.push_back(widening);
    sunk.push_back(op);
  }
  llvm::append_range(sunk, waiting); // used by the next iteration alone
  ops.assign(sunk);
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
    if (isa<StoreOp>(op) || llvm::all_of(op->getUsers(), isOutput))
      outputs.insert(op);
  return outputs;
}

/// What a product is added to, and nothing else is.
static bool isStart(Operation *op) {
  if (op->getNumResults() != 1 || !op->getResult(0).hasOneUse())
    return false;
  auto dot = dyn_cast<DotOp>(*op->user_begin());
  return dot && dot.getAcc() == op->getResult(0);
}

static bool readsResultOf(Operation *op, Operation *maker) {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return operand.getDefiningOp() == maker;
  });
}

/// Of the ops from `first` to `from`, the last product that the one which
/// starts from op `from` waits for; null if it waits for none.
static Operation *findAwaited(ArrayRef<Operation *> ops, size_t first,
                              size_t from) {
  llvm::SmallPtrSet<Operation *, 16> awaited = {*ops[from]->user_begin()};
  for (size_t i = ops.size(); i-- > first;) {
    if (i == from || llvm::none_of(ops[i]->getUsers(), [&](Operation *reader) {
          return awaited.contains(reader);
        }))
      continue;
    if (i < from && isa<DotOp>(ops[i]))
      return ops[i];
    awaited.insert(ops[i]);
  }
  return nullptr;
}

/// Is it scaled by what is left of each key?
static bool isScaledByKeys(Operation *op) {
  return isa<ScaleRowsOp>(op) && op->getOperand(1).getDefiningOp<LastRowOp>();
}

static bool isOfManyKeys(Value tile) {
  return cast<RankedTensorType>(tile.getType()).getDimSize(0) >
         kMostKeysReadTwice;
}

/// The state of many keys that a product reads, or null.
static Value largeStateOf(Operation *op) {
  auto dot = dyn_cast<DotOp>(op);
  auto round =
      dot ? dot.getRhs().getDefiningOp<arith::TruncFOp>() : arith::TruncFOp();
  return round && isOfManyKeys(round.getIn()) ? round.getIn() : Value();
}

/// Computes what products are added to beside the first product that can run
/// meanwhile, and not between the last one and the product itself.
static void computeStartsEarly(const RolePlan &plan,
                               SmallVectorImpl<Operation *> &ops) {
  auto ranks = findRanks(plan, ops);
  for (size_t from = 0; from < ops.size(); ++from) {
    Operation *op = ops[from];
    if (!isStart(op) && !isVectorOp(op))
      continue;
    // As far up as its operands and its messages allow, then below a product.
    // What it is scaled by, which costs nothing, goes before it.
    size_t first = from;
    auto isBound = [&](Operation *before) {
      Value state = largeStateOf(before);
      return readsResultOf(op, before) ||
             (state && llvm::is_contained(op->getOperands(), state));
    };
    while (first > 0 && ranks.lookup(ops[first - 1]) >= ranks.lookup(op) &&
           !isBound(ops[first - 1]))
      --first;
    if (isVectorOp(op)) {
      std::rotate(ops.begin() + first, ops.begin() + from,
                  ops.begin() + from + 1);
      continue;
    }
    auto isProduct = [](Operation *other) { return isa<DotOp>(other); };
    auto product =
        std::find_if(ops.begin() + first, ops.begin() + from, isProduct);
    if (product == ops.begin() + from)
      continue;
    auto place = product + 1;
    // Beside an iteration's first product, before any was waited for, ptxas
    // would wait for it (C7517).
    if (isScaledByKeys(op) && product == llvm::find_if(ops, isProduct)) {
      Operation *awaited = findAwaited(ops, product - ops.begin(), from);
      place = awaited ? llvm::find(ops, awaited) + 1 : product;
    }
    std::rotate(place, ops.begin() + from, ops.begin() + from + 1);
  }
}

/// Outputs' products with a state of many keys wait until all that the next
/// state is made of has been rounded; and what becomes of the state waits for
/// them.
static void readLargeStatesLate(const llvm::DenseSet<Operation *> &outputs,
                                SmallVectorImpl<Operation *> &ops) {
  for (size_t from = ops.size(); from-- > 0;) {
    Operation *read = ops[from];
    Value state = largeStateOf(read);
    if (!state || !outputs.contains(read))
      continue;
    bool follows = false; // another product
    size_t to = from;
    for (size_t i = from + 1; i < ops.size(); ++i) {
      auto dot = dyn_cast<DotOp>(ops[i]);
      if (dot && isOfManyKeys(dot.getResult()))
        break;
      follows |= dot && !outputs.contains(dot);
      if (follows && isa<arith::TruncFOp>(ops[i]))
        to = i;
    }
    llvm::SmallPtrSet<Operation *, 8> behind = {read};
    for (Operation *op : ArrayRef(ops).slice(from, to + 1 - from))
      if (llvm::is_contained(op->getOperands(), state) ||
          llvm::any_of(op->getOperands(), [&](Value operand) {
            return behind.contains(operand.getDefiningOp());
          }))
        behind.insert(op);
    SmallVector<Operation *> moved(ops.begin() + from, ops.begin() + to + 1);
    sortBy([&](Operation *op) { return behind.contains(op); }, moved);
    llvm::copy(moved, ops.begin() + from);
  }
}

/// What can start first stands first: products of keys with the state run while
/// the preparation finishes. Of what can start together, the next state is
/// waited for by the next iteration, outputs by nobody; stores come last.
static void sortChain(const RolePlan &plan, SmallVectorImpl<Operation *> &ops) {
  auto ranks = findRanks(plan, ops);
  llvm::DenseSet<Operation *> outputs = findOutputs(ops);
  llvm::DenseMap<Operation *, unsigned> keys;
  unsigned last = 2 * plan.channels.size() + 2;
  for (Operation *op : llvm::reverse(ops)) {
    bool isOutput = outputs.contains(op);
    // Behind the last product there is only the way out.
    bool isLast = isOutput && !isa<DotOp>(op) &&
                  llvm::all_of(op->getUsers(), [&](Operation *user) {
                    return keys.lookup(user) == last;
                  });
    // Rounding halves the registers that a result takes: at once.
    bool isLater = isOutput && !isa<arith::TruncFOp>(op);
    keys[op] = isLast ? last : 2 * ranks.lookup(op) + isLater;
  }
  sortBy([&](Operation *op) { return keys.lookup(op); }, ops);
  readLargeStatesLate(outputs, ops);
  computeStartsEarly(plan, ops);
}

namespace {
/// Where a role meets its channels: the ops before which it receives and
/// releases, and those after which it releases and sends. No op: nowhere.
struct Meetings {
  Meetings(const RolePlan &plan, RoleKind role, ArrayRef<Operation *> ops)
      : receiveBefore(plan.channels.size()), releaseBefore(receiveBefore),
        releaseAfter(receiveBefore), sendAfter(receiveBefore) {
    for (Operation *op : ops) {
      for (Value operand : op->getOperands())
        if (auto channel = plan.channelOf(operand, role)) {
          if (!receiveBefore[*channel])
            receiveBefore[*channel] = op;
          releaseAfter[*channel] = op;
        }
      for (unsigned number = 0; number < plan.channels.size(); ++number)
        for (Value result : op->getResults())
          if (plan.channels[number].from == role &&
              llvm::is_contained(plan.channels[number].values, result))
            sendAfter[number] = op;
    }
    // A product reads while it runs. To release what it reads is to wait for
    // it, which is done when somebody needs its result anyway.
    for (auto [before, after] : llvm::zip_equal(releaseBefore, releaseAfter)) {
      Operation *last = after;
      auto user = llvm::find_if(ops, [&](Operation *op) {
        return isa_and_nonnull<DotOp>(last) &&
               llvm::is_contained(op->getOperands(), last->getResult(0));
      });
      if (user == ops.end())
        continue;
      before = *user;
      after = nullptr;
    }
  }
  SmallVector<Operation *> receiveBefore, releaseBefore, releaseAfter,
      sendAfter; // by channel
};
} // namespace

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
    add(RoleStep::Release, meetings.releaseBefore, op);
    add(RoleStep::Receive, meetings.receiveBefore, op);
    schedule.push_back({RoleStep::Compute, op});
    add(RoleStep::Release, meetings.releaseAfter, op);
    add(RoleStep::Send, meetings.sendAfter, op);
  }
  return schedule;
}

RoleSchedule prism::tile::scheduleRole(const RolePlan &plan, RoleKind role) {
  if (role == RoleKind::Load)
    return scheduleLoads(plan, [](const ChannelPlan &) { return true; });
  const RoleWork &work = role == RoleKind::Chain ? plan.chain : plan.prepare;
  SmallVector<Operation *> ops(work.ops.begin(), work.ops.end());
  if (role == RoleKind::Chain) {
    sortChain(plan, ops);
  } else {
    sortPreparation(plan, ops);
    gatherKeyDecays(ops);
  }
  sinkWidening(plan, role, ops);
  return addChannels(plan, role, ops);
}

RoleSchedule prism::tile::scheduleLoadsOf(const RolePlan &plan,
                                          RoleKind receiver) {
  return scheduleLoads(plan, [&](const ChannelPlan &channel) {
    return channel.isReceivedBy(receiver);
  });
}
