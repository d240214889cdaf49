//===- RolesPlan.cpp - Warps, registers and shared memory of roles --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RolesPlan.h"
#include "../TileOpKinds.h"
#include "Prism/Conversion/TileToGPU/TileToGPU.h"
#include "RolesChecks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

int64_t prism::tiletogpu::teamsOf(RoleOp role) {
  // Of the chain each warp group has value columns of its own, all the time.
  return role.getName() == "prepare" ? role.getWarps() / kWarpsOfGroup : 1;
}

Turns prism::tiletogpu::turnsOf(ScalarBuilder &b, Value lower, Value step,
                                Value team, int64_t teams) {
  if (teams == 1)
    return {lower, step};
  Type index = b.getIndexType();
  Value ahead = b.mul(arith::IndexCastOp::create(b, index, team), step);
  return {b.add(lower, ahead), b.mul(step, b.integer(index, teams))};
}

void prism::tiletogpu::keepRolled(scf::ForOp loop) {
  Builder builder(loop.getContext());
  auto unroll = LLVM::LoopUnrollAttr::get(
      loop.getContext(), builder.getBoolAttr(true), {}, {}, {}, {}, {}, {});
  loop->setAttr("llvm.loop_annotation",
                LLVM::LoopAnnotationAttr::get(loop.getContext(), {}, {}, {},
                                              unroll, {}, {}, {}, {}, {}, {},
                                              {}, {}, {}, {}, {}));
}

scf::ForOp prism::tiletogpu::loopOf(RoleOp role) {
  auto loops = role.getBody().getOps<scf::ForOp>();
  return loops.empty() ? scf::ForOp() : *loops.begin();
}

Destination prism::tiletogpu::destinationOf(Value tile) {
  if (!tile.hasOneUse())
    return {};
  OpOperand &use = *tile.use_begin();
  if (isa<arith::TruncFOp>(use.getOwner()))
    return destinationOf(use.getOwner()->getResult(0));
  if (auto send = dyn_cast<SendOp>(use.getOwner()))
    return {send, use.getOperandNumber()};
  return {};
}

int64_t RolesPlan::allocate(int64_t bytes, int64_t alignment, bool isApart) {
  int64_t &end = used[isApart];
  int64_t at = llvm::alignTo(end, alignment);
  end = at + bytes;
  return at;
}

/// f16 if any dot has operands of it; all others must then.
Type prism::tiletogpu::operandTypeOf(ProgramOp program) {
  bool isHalf = false;
  program.walk([&](DotOp dot) {
    isHalf |= dot.getLhs().getType().getElementType().isF16();
  });
  Builder builder(program.getContext());
  return isHalf ? Type(builder.getF16Type()) : Type(builder.getBF16Type());
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

/// Fills in a channel's place and who meets in it.
static void countWarps(Value channel, ChannelPlan &plan) {
  for (Operation *user : channel.getUsers()) {
    auto role = user->getParentOfType<RoleOp>();
    int64_t warps = role.getWarps() / teamsOf(role);
    if (isa<SendOp>(user)) {
      // The teams of `load` take turns.
      plan.arrivals =
          role.getName() == "load" ? warps / loadTeamsOf(role) : warps;
      plan.senders =
          role.isApart() ? role.getApart() : uint64_t(role.getCluster());
      plan.firstSender = role.isApart() ? int64_t(role.getCluster()) : 0;
      plan.receivers = role.getCluster();
    } else if (isa<ReceiveOp>(user)) {
      plan.receiverWarps += warps;
      plan.isApart = role.isApart();
    }
  }
  plan.turns = turnsOfLoads(channel);
  if (plan.isApart) { // within one of them
    plan.senders = plan.receivers = 1;
    plan.firstSender = 0;
  }
  if (!plan.isShared())
    return;
  // One thread sends, to all blocks; receivers of all blocks give back.
  plan.arrivals = 1;
  plan.receiverWarps *= plan.receivers;
}

/// Whether a part of a message, if it is a matrix, has powers: it is f16 and
/// was computed.
static bool hasPowers(ChannelOp channel, RankedTensorType tile) {
  return tile.getRank() == 2 && tile.getElementType().isF16() &&
         llvm::any_of(channel->getUsers(), [](Operation *user) {
           return isa<SendOp>(user) &&
                  user->getParentOfType<RoleOp>().getName() == "prepare";
         });
}

/// Powers of rows suit products whose rows these are.
static LogicalResult checkPowers(ChannelOp channel, unsigned part,
                                 std::string &reason) {
  for (Operation *user : channel->getUsers()) {
    auto receive = dyn_cast<ReceiveOp>(user);
    if (!receive)
      continue;
    Value tile = receive.getValues()[part];
    bool isChain = receive->getParentOfType<RoleOp>().getName() == "chain";
    if (isChain && tensorType(tile).getDimSize(0) % kRowsOfGroup == 0 &&
        llvm::all_of(tile.getUses(), [&](OpOperand &use) {
          auto dot = dyn_cast<DotOp>(use.getOwner());
          return dot && &use == &dot.getLhsMutable() && !dot.getTransposeLhs();
        }))
      continue;
    reason = "what is prepared in f16 (" + textOf(tile.getType()) +
             ") is used otherwise than as the left operand of products of the "
             "chain";
    return failure();
  }
  return success();
}

/// Where the parts of a message lie. Matrices first: they want the swizzle's
/// alignment. Powers last.
LogicalResult RolesPlan::placeMessage(ChannelOp channel, ChannelPlan &plan,
                                      std::string &reason) {
  ArrayRef<Type> message = channel.getType().getMessage();
  plan.parts.resize(message.size());
  plan.powers.assign(message.size(), -1);
  int64_t at = 0;
  for (int64_t rank : {2, 1})
    for (auto [i, part] : llvm::enumerate(message)) {
      auto tile = cast<RankedTensorType>(part);
      if (tile.getRank() != rank)
        continue;
      plan.parts[i] = at;
      if (rank == 2) {
        bool isWide = isWideMessage(channel, i);
        if (tile.getDimSize(0) % 8 ||
            (tile.getElementType() != operands && !isWide)) {
          reason = "a message holds " + textOf(tile);
          return failure();
        }
        int64_t rows = tile.getDimSize(0), columns = tile.getDimSize(1);
        at += isWide ? Wide{rows, columns}.bytes()
                     : Swizzled{rows, columns}.bytes();
      } else {
        at += llvm::alignTo(
            tile.getDimSize(0) * tile.getElementTypeBitWidth() / 8, 16);
      }
    }
  for (auto [i, part] : llvm::enumerate(message)) {
    auto tile = cast<RankedTensorType>(part);
    if (!hasPowers(channel, tile))
      continue;
    if (failed(checkPowers(channel, i, reason)))
      return failure();
    plan.powers[i] = at;
    at += tile.getDimSize(0) / kRowsOfGroup * kWarpsOfGroup * 4;
  }
  plan.messageBytes = at;
  plan.slotBytes = llvm::alignTo(at, kSwizzleBytes);
  return success();
}

void RolesPlan::placeChannel(ChannelPlan &plan, bool isApart) {
  plan.offset = allocate(plan.slotBytes * plan.slots, kSwizzleBytes, isApart);
  plan.barriers = allocate(plan.slots * 16, 8, isApart);
}

LogicalResult RolesPlan::placeChannels(ProgramOp program, std::string &reason) {
  for (auto channel : program.getBody().getOps<ChannelOp>()) {
    ChannelPlan &plan = channels[channel.getResult()];
    plan.slots = channel.getType().getSlots();
    countWarps(channel.getResult(), plan);
    if (plan.arrivals == 0 || plan.receiverWarps == 0) {
      reason = "a channel has no sender or no receiver";
      return failure();
    }
    if (failed(placeMessage(channel, plan, reason)))
      return failure();
    if (plan.slots % plan.senders) {
      reason = "a channel of " + std::to_string(plan.slots) +
               " slots is filled by " + std::to_string(plan.senders) +
               " blocks";
      return failure();
    }
    // Between the two kinds of block: in the same place in both.
    if (plan.firstSender > 0)
      placeChannel(plan, /*isApart=*/false);
  }
  used[1] = used[0];
  for (auto channel : program.getBody().getOps<ChannelOp>())
    if (ChannelPlan &plan = channels[channel.getResult()];
        plan.firstSender == 0)
      placeChannel(plan, plan.isApart);
  return success();
}

//===----------------------------------------------------------------------===//
// Warps and registers
//===----------------------------------------------------------------------===//

/// Registers of a block, and what a thread may have of them.
static constexpr int64_t kRegistersOfBlock = 65536, kMostRegisters = 240;
/// Of a thread that only copies, at least; with more matrices, or wider ones,
/// its addresses need more, which two teams that prepare can spare.
static constexpr int64_t kLoadRegisters = 32, kLoadRegistersOfMany = 48,
                         kFewMatrices = 5, kFewColumns = 128;
/// What the preparation gets beside two warpgroups of the chain, beside one as
/// two teams, and as one.
static constexpr int64_t kPrepareRegisters = 96, kPrepareRegistersOfTwo = 120,
                         kPrepareRegistersBesideMany = 112,
                         kPrepareRegistersOfOne = 168;
/// The same of two teams that decay keys of systems, which the chain then has
/// less of.
static constexpr int64_t kPrepareRegistersOfSlabs = 136,
                         kPrepareRegistersOfSlabsBesideMany = 128;

/// The chain first; the loads last, with the fewest registers.
static int rankOf(RoleOp role) {
  return role.getName() == "chain" ? 0 : role.getName() == "load" ? 2 : 1;
}

void RolesPlan::placeWarps(ProgramOp program) {
  for (bool isApart : {false, true}) {
    int64_t barrier = 1; // 0 is the whole block's
    for (int rank : {0, 1, 2})
      for (auto role : program.getBody().getOps<RoleOp>())
        if (rankOf(role) == rank && role.isApart() == isApart) {
          roles.push_back({role, warpsOf(isApart), 0, barrier});
          barrier += teamsOf(role);
        }
  }
  threads = std::max(warpsOf(false), warpsOf(true)) * 32;
  initialRegisters = kRegistersOfBlock / threads / 8 * 8;
  placeRegisters(/*isApart=*/false);
  if (prepareBlocks > 0)
    placeRegisters(/*isApart=*/true);
}

int64_t RolesPlan::warpsOf(bool isApart) const {
  int64_t warps = 0;
  for (const RolePlan &plan : roles)
    if (RoleOp role = plan.role; role.isApart() == isApart)
      warps += role.getWarps();
  return warps;
}

/// Many matrices, or such of many slabs.
static bool loadsMany(ArrayRef<RolePlan> roles) {
  int64_t matrices = 0, columns = 0;
  for (const RolePlan &plan : roles)
    if (RoleOp role = plan.role; role.getName() == "load")
      for (auto send : loopOf(role).getOps<SendOp>())
        for (Value part : send.getValues())
          if (RankedTensorType tile = tensorType(part); tile.getRank() == 2) {
            ++matrices;
            columns = std::max(columns, tile.getDimSize(1));
          }
  return matrices > kFewMatrices || columns > kFewColumns;
}

static bool decaysKeysOfSystems(ArrayRef<RolePlan> roles) {
  bool decays = false, inverts = false;
  for (const RolePlan &plan : roles)
    RoleOp(plan.role)->walk([&](Operation *op) {
      decays |= isa<DecayedDotOp>(op);
      inverts |= isa<InvertOp>(op);
    });
  return decays && inverts;
}

/// Threads start with an equal share each. The preparation gets what it needs,
/// the chain what it can use of the rest, the loads what is left.
void RolesPlan::placeRegisters(bool isApart) {
  int64_t perRole[3] = {0, 0, 0};
  for (RolePlan &plan : roles)
    if (plan.role.isApart() == isApart)
      perRole[rankOf(plan.role)] += plan.role.getWarps() * 32;
  auto [chain, prepare, load] = perRole;
  int64_t left = initialRegisters * threads -
                 kIdleRegisters * (threads - warpsOf(isApart) * 32);
  bool isOfMany = chain <= 128 && prepare > 128 && loadsMany(roles);
  int64_t leastForLoad = isOfMany ? kLoadRegistersOfMany : kLoadRegisters;
  int64_t forPrepare = chain > 128     ? kPrepareRegisters
                       : isOfMany      ? kPrepareRegistersBesideMany
                       : prepare > 128 ? kPrepareRegistersOfTwo
                                       : kPrepareRegistersOfOne;
  if (chain <= 128 && prepare > 128 && decaysKeysOfSystems(roles))
    forPrepare = isOfMany ? kPrepareRegistersOfSlabsBesideMany
                          : kPrepareRegistersOfSlabs;
  if (isApart) // beside nothing but loads
    forPrepare = std::min(kMostRegisters, (left - kLoadRegistersOfMany * load) /
                                              prepare / 8 * 8);
  left -= forPrepare * prepare;
  auto share = [&](int64_t most, int64_t kept, int64_t count) {
    if (count == 0)
      return int64_t(0);
    int64_t each = std::min(most, (left - kept) / count / 8 * 8);
    left -= each * count;
    return each;
  };
  int64_t forChain = share(kMostRegisters, leastForLoad * load, chain),
          forLoad = share(2 * kLoadRegisters, 0, load);
  for (RolePlan &plan : roles) {
    if (plan.role.isApart() != isApart)
      continue;
    int rank = rankOf(plan.role);
    plan.registers = rank == 0 ? forChain : rank == 1 ? forPrepare : forLoad;
  }
}

FailureOr<RolesPlan> RolesPlan::make(ProgramOp program, std::string &reason) {
  RolesPlan plan;
  if (program.getBody().getOps<RoleOp>().empty()) {
    reason = "it has no roles";
    return failure();
  }
  plan.operands = operandTypeOf(program);
  for (auto role : program.getBody().getOps<RoleOp>()) {
    if (failed(checkRole(role, plan.operands, reason)))
      return failure();
    plan.valueBlocks = std::max<int64_t>(plan.valueBlocks, role.getCluster());
    plan.prepareBlocks = std::max<int64_t>(plan.prepareBlocks, role.getApart());
  }
  if (failed(plan.placeChannels(program, reason)))
    return failure();
  plan.placeWarps(program);
  plan.maps = TensorMaps(program, plan.operands);
  if (plan.threads > 640) {
    reason = "its roles need " + std::to_string(plan.threads) +
             " threads, more than registers suffice for";
    return failure();
  }
  return plan;
}
