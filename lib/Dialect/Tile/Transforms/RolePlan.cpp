//===- RolePlan.cpp - Which role does what, and what they exchange --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RolePlan.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace prism::tile;

/// Barriers, and what the kernel keeps beside the messages.
static constexpr int64_t kReservedBytes = 2048;
/// A matrix, and a slot, starts where a swizzle of 128 bytes repeats.
static constexpr int64_t kMatrixAlignment = 1024, kVectorAlignment = 16;

static bool isTile(Value value) {
  return isa<RankedTensorType>(value.getType());
}

static bool isVector(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank() == 1;
}

bool prism::tile::isForAnyone(Operation *op) {
  if (op->getNumRegions() || op->getNumResults() == 0 ||
      !isMemoryEffectFree(op))
    return false;
  bool isConstant = matchPattern(op, m_Constant()) || isa<tensor::SplatOp>(op);
  return isConstant || (llvm::none_of(op->getOperands(), isTile) &&
                        llvm::none_of(op->getResults(), isTile));
}

static bool isExtensionOfRounded(Operation *op) {
  auto extension = dyn_cast_or_null<arith::ExtFOp>(op);
  return extension && getElementTypeOrSelf(extension.getIn().getType())
                              .getIntOrFloatBitWidth() == 16;
}

/// Work on a vector that costs less than a message: no functions, no sums.
static bool isCheapVectorOp(Operation *op) {
  if (op->getNumResults() != 1 || !isTile(op->getResult(0)) ||
      !isVector(op->getResult(0)))
    return false;
  bool isArithmetic = isa<arith::ArithDialect>(op->getDialect()) &&
                      OpTrait::hasElementwiseMappableTraits(op) &&
                      !isa<arith::DivFOp>(op);
  return isArithmetic || isa<SplatLastOp>(op);
}

/// The last element of a vector that a message can hold.
static bool isElementOfPrepared(Operation *op) {
  auto last = dyn_cast<SplatLastOp>(op);
  return last && getElementTypeOrSelf(last.getInput().getType()).isF32();
}

/// Bytes of a row of a slab: what a 128-byte swizzle permutes.
static constexpr int64_t kSlabRowBytes = 128;

int64_t ChannelPlan::messageBytes() const {
  int64_t bytes = 0;
  for (Value value : values) {
    auto type = cast<RankedTensorType>(value.getType());
    int64_t elementBytes = type.getElementTypeBitWidth() / 8;
    if (isVector(value))
      bytes +=
          llvm::alignTo(type.getNumElements() * elementBytes, kVectorAlignment);
    else // whole rows of the swizzle, in slabs
      bytes += llvm::alignTo(
          type.getDimSize(0) *
              llvm::alignTo(type.getDimSize(1) * elementBytes, kSlabRowBytes),
          kMatrixAlignment);
    // What is computed in f16 has a power of two for each 16 rows, an f32.
    if (!isVector(value) && from == RoleKind::Prepare &&
        type.getElementType().isF16())
      bytes += llvm::alignTo(type.getDimSize(0) / 16 * 4, kVectorAlignment);
  }
  return llvm::alignTo(bytes, kMatrixAlignment);
}

//===----------------------------------------------------------------------===//
// Who does what
//===----------------------------------------------------------------------===//

FailureOr<scf::ForOp> RolePlan::findLoop(ProgramOp program,
                                         std::string &reason) {
  if (!program.getBody().getOps<RoleOp>().empty()) {
    reason = "it has roles already";
    return failure();
  }
  if (program.getChunk() == 1) {
    reason = "it steps token by token: a chunk of 1 has nothing to prepare";
    return failure();
  }
  SmallVector<scf::ForOp> loops(program.getBody().getOps<scf::ForOp>());
  if (loops.size() != 1) {
    reason = "it has " + std::to_string(loops.size()) + " loops, expected one";
    return failure();
  }
  for (Operation &op : loops.front().getBody()->without_terminator())
    if (op.getNumRegions() ||
        (!isMemoryEffectFree(&op) && !isa<LoadOp, StoreOp>(op))) {
      reason = ("its loop holds '" + op.getName().getStringRef() + "'").str();
      return failure();
    }
  return loops.front();
}

/// Several loads stacked where they land, or with zeros.
bool RolePlan::isMadeByLoad(Operation *op) const {
  if (isa<LoadOp>(op))
    return true;
  auto stack = dyn_cast<InterleaveOp>(op);
  return stack &&
         llvm::any_of(
             stack.getInputs(),
             [](Value input) { return bool(input.getDefiningOp<LoadOp>()); }) &&
         llvm::all_of(stack.getInputs(), [&](Value input) {
           return matchPattern(input, m_AnyZeroFloat()) ||
                  input.getDefiningOp<LoadOp>();
         });
}

/// Numbers of tokens alone that an element is made of, one at a time: loaded
/// ones, and elementwise work on them.
static bool isMadeOfLoadedVectors(Value tile) {
  Operation *op = tile.getDefiningOp();
  if (!op || (isTile(tile) && !isVector(tile)))
    return false;
  if (isa<LoadOp>(op) || isForAnyone(op))
    return true;
  return OpTrait::hasElementwiseMappableTraits(op) &&
         llvm::all_of(op->getOperands(), isMadeOfLoadedVectors);
}

/// Sums of gates, which all else of a preparation waits for, can be made by
/// whoever loads the gates, several chunks ahead. What gates are computed of is
/// loaded and computed there too.
bool RolePlan::isSummedByLoad(Operation *op) const {
  auto sum = dyn_cast<GateSumOp>(op);
  return sum && isMadeOfLoadedVectors(sum.getGates());
}

RoleKind RolePlan::roleOf(Value value) const {
  auto it = roles.find(value.getDefiningOp());
  return it == roles.end() ? RoleKind::Anyone : it->second;
}

void RolePlan::assign(const TileAxes &axes, bool sumsByLoad) {
  for (Operation &op : loop.getBody()->without_terminator()) {
    bool onChain = isa<StoreOp>(op) ||
                   llvm::any_of(op.getOperands(),
                                [&](Value operand) {
                                  return roleOf(operand) == RoleKind::Chain ||
                                         llvm::is_contained(
                                             loop.getRegionIterArgs(), operand);
                                }) ||
                   llvm::any_of(op.getResults(), [&](Value result) {
                     return axes.has(result, TileAxis::Value);
                   });
    bool isOfLoad = isMadeByLoad(&op) || (sumsByLoad && isSummedByLoad(&op));
    roles[&op] = isForAnyone(&op) ? RoleKind::Anyone
                 : isOfLoad       ? RoleKind::Load
                 : onChain        ? RoleKind::Chain
                                  : RoleKind::Prepare;
  }
}

//===----------------------------------------------------------------------===//
// What crosses
//===----------------------------------------------------------------------===//

/// Widened tiles are widened where they are used; the message stays small.
bool RolePlan::isRemade(Value value, RoleKind role) const {
  return isExtensionOfRounded(value.getDefiningOp()) && roleOf(value) != role;
}

/// Takes what a role needs for a value into its work.
void RolePlan::need(Value value, RoleKind role, RoleWork &work) {
  RoleKind maker = roleOf(value);
  if (maker == RoleKind::Anyone)
    return;
  if (maker != role && !isRemade(value, role)) {
    work.received.insert(value);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (work.ops.insert(op))
    for (Value operand : op->getOperands())
      need(operand, role, work);
}

bool RolePlan::isAvailable(Value value, const RoleWork &work) const {
  Operation *op = value.getDefiningOp();
  return roleOf(value) == RoleKind::Anyone || work.received.contains(value) ||
         (isExtensionOfRounded(op) &&
          work.received.contains(op->getOperand(0)));
}

/// The chain computes cheap vectors from vectors that it receives anyway; and a
/// repeated element, which is one read there, from the vector that it is of.
void RolePlan::remakeCheapVectors() {
  SmallVector<Value> remade;
  for (Value value : chain.received) {
    Operation *op = value.getDefiningOp();
    if (roleOf(value) == RoleKind::Prepare && isCheapVectorOp(op) &&
        (isElementOfPrepared(op) ||
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isAvailable(operand, chain);
         })))
      remade.push_back(value);
  }
  for (Value value : remade) {
    chain.received.remove(value);
    chain.ops.insert(value.getDefiningOp());
  }
  // What is remade from another remade vector finds it among the ops; a
  // rounded one is widened here too.
  for (Value value : remade)
    for (Value operand : value.getDefiningOp()->getOperands())
      if (!chain.ops.contains(operand.getDefiningOp()))
        need(operand, RoleKind::Chain, chain);
}

void RolePlan::gather() {
  for (Operation &op : loop.getBody()->without_terminator())
    if (roles[&op] == RoleKind::Chain) {
      chain.ops.insert(&op);
      for (Value operand : op.getOperands())
        need(operand, RoleKind::Chain, chain);
    }
  for (Value next : loop.getBody()->getTerminator()->getOperands())
    need(next, RoleKind::Chain, chain);
  remakeCheapVectors();
  for (Value value : chain.received)
    if (roleOf(value) == RoleKind::Prepare)
      need(value, RoleKind::Prepare, prepare);
  auto inOrder = [](RoleWork &work) {
    SmallVector<Operation *> ops = work.ops.takeVector();
    llvm::sort(
        ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    work.ops.insert(ops.begin(), ops.end());
  };
  inOrder(prepare);
  inOrder(chain);
}

/// Can every value that crosses be a message, and everything else be reached?
LogicalResult RolePlan::checkMessages(std::string &reason) const {
  for (const RoleWork *work : {&prepare, &chain})
    for (Value value : work->received) {
      Type element = getElementTypeOrSelf(value.getType());
      if (isTile(value) && isa<FloatType>(element) &&
          element.getIntOrFloatBitWidth() <= 32)
        continue;
      if (work == &prepare && roleOf(value) == RoleKind::Load &&
          isVector(value))
        continue; // sums of gates, f64
      llvm::raw_string_ostream(reason)
          << "'" << value.getDefiningOp()->getName() << "' would send "
          << value.getType() << " to " << (work == &chain ? "chain" : "prepare")
          << "; messages hold 16-bit and f32 tiles";
      return failure();
    }
  Block *body = scf::ForOp(loop).getBody();
  for (Value next : body->getTerminator()->getOperands())
    if (chain.received.contains(next)) {
      reason = "its loop carries on a tile as it was received";
      return failure();
    }
  for (Operation *op : prepare.ops)
    for (Value operand : op->getOperands()) {
      Operation *maker = operand.getDefiningOp();
      if (maker && maker->getBlock() != body && !isForAnyone(maker)) {
        reason = ("its loop prepares with what '" +
                  maker->getName().getStringRef() + "' made before it")
                     .str();
        return failure();
      }
    }
  return success();
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

std::optional<unsigned> RolePlan::channelOf(Value value, RoleKind role) const {
  for (auto [number, channel] : llvm::enumerate(channels))
    if (channel.isReceivedBy(role) && llvm::is_contained(channel.values, value))
      return number;
  return std::nullopt;
}

/// Keys and vectors first, since most work starts with them, then values; what
/// is prepared comes last.
static auto orderOfFilling(const ChannelPlan &channel) {
  int matrices = channel.matrices == TileAxis::Key       ? 0
                 : channel.matrices == TileAxis::Unknown ? 1
                                                         : 2;
  return std::tuple(channel.from == RoleKind::Prepare, matrices,
                    !channel.toPrepare, channel.toChain);
}

/// Vectors are small and come with the keys: each message less is a wait less
/// in every iteration of its receivers. Not so where the chain would receive
/// keys for a vector's sake, and hold them. Blocks that only prepare have keys
/// of their own.
void RolePlan::joinVectors() {
  for (ChannelPlan &channel : channels) {
    if (channel.from != RoleKind::Load || channel.matrices != TileAxis::Unknown)
      continue;
    auto keys = llvm::find_if(channels, [&](const ChannelPlan &other) {
      return other.from == RoleKind::Load && other.matrices == TileAxis::Key &&
             (prepareBlocks == 0 || other.toPrepare == channel.toPrepare);
    });
    if (keys == channels.end() || (channel.toChain && !keys->toChain))
      continue;
    keys->toPrepare |= channel.toPrepare;
    keys->toChain |= channel.toChain;
    llvm::append_range(keys->values, channel.values);
    channel.values.clear();
  }
  llvm::erase_if(channels, [](const ChannelPlan &channel) {
    return channel.values.empty();
  });
}

/// Among the values that come and go as `wanted` says.
void RolePlan::takeIntoChannel(Value value, const ChannelPlan &wanted) {
  auto channel = llvm::find_if(channels, [&](const ChannelPlan &other) {
    return orderOfFilling(other) == orderOfFilling(wanted);
  });
  if (channel == channels.end()) {
    channels.push_back(wanted);
    channel = &channels.back();
  }
  channel->values.push_back(value);
}

void RolePlan::makeChannels(const TileAxes &axes) {
  for (Operation &op : loop.getBody()->without_terminator())
    for (Value value : op.getResults()) {
      ChannelPlan wanted;
      wanted.from = roles[&op];
      wanted.toPrepare = prepare.received.contains(value);
      wanted.toChain = chain.received.contains(value);
      if (!wanted.toPrepare && !wanted.toChain)
        continue;
      if (wanted.from == RoleKind::Load && !isVector(value))
        wanted.matrices =
            axes.has(value, TileAxis::Value) ? TileAxis::Value : TileAxis::Key;
      if (prepareBlocks > 0 && wanted.toPrepare && wanted.toChain) {
        // In different blocks: once for each.
        wanted.toChain = false;
        takeIntoChannel(value, wanted);
        std::swap(wanted.toPrepare, wanted.toChain);
      }
      takeIntoChannel(value, wanted);
    }
  llvm::sort(channels, [](const ChannelPlan &a, const ChannelPlan &b) {
    return orderOfFilling(a) < orderOfFilling(b);
  });
  joinVectors();
  // Matrices first: no vector stands between two of them.
  for (ChannelPlan &channel : channels) {
    SmallVector<Value> vectors;
    llvm::copy_if(channel.values, std::back_inserter(vectors), isVector);
    llvm::erase_if(channel.values, isVector);
    llvm::append_range(channel.values, vectors);
  }
}

/// Which channels lose their slots first: values, which nothing prepares with;
/// then what is prepared, since with one slot of it the chain still finds the
/// next message made when it comes back; then keys, which the chain holds until
/// its iteration ends, so that with one slot of them nothing overlaps. Vectors
/// go with keys; a channel of them alone, where no keys are loaded, gives last.
static auto orderOfGiving(const ChannelPlan &channel) {
  int kind = channel.from == RoleKind::Prepare     ? 1
             : channel.matrices == TileAxis::Value ? 0
             : channel.matrices == TileAxis::Key   ? 2
                                                   : 3;
  return std::tuple(kind, channel.toPrepare, channel.toChain);
}

/// Blocks that take turns in sending: blocks and slots go evenly, as a block
/// fills the same ones every time.
int64_t RolePlan::sendersOf(const ChannelPlan &channel) const {
  return !channel.isPrepared() ? 1
         : prepareBlocks > 0   ? prepareBlocks
                               : cluster;
}

/// Whether a channel takes memory of a block of values, or of one that only
/// prepares.
bool RolePlan::liesIn(const ChannelPlan &channel, bool preparing) const {
  return prepareBlocks == 0 || channel.isPrepared() ||
         channel.toPrepare == preparing;
}

/// Takes slots away, of as many as are wanted, until those of one kind of block
/// fit in `available` bytes; gives the bytes that they need.
int64_t RolePlan::fitSlots(int64_t wanted, int64_t available, bool preparing) {
  int64_t needed = 0, most = 0;
  SmallVector<ChannelPlan *> giving;
  for (ChannelPlan &channel : channels)
    if (liesIn(channel, preparing)) {
      needed += channel.slots * channel.messageBytes();
      most = std::max(most, channel.slots);
      giving.push_back(&channel);
    }
  // What goes to other blocks is long on its way, and its slot long in coming
  // back, so it gives last; but where it is prepared keys have two slots before
  // it has.
  auto order = [&](const ChannelPlan *channel, int64_t slots) {
    bool isLast =
        prepareBlocks > 0 && channel->isPrepared() && (!preparing || slots > 2);
    return std::pair(isLast, orderOfGiving(*channel));
  };
  // Each gives one before any gives another.
  for (int64_t slots = most; slots > 1; --slots) {
    llvm::sort(giving, [&](ChannelPlan *a, ChannelPlan *b) {
      return order(a, slots) < order(b, slots);
    });
    for (ChannelPlan *channel : giving)
      if (int64_t share = sendersOf(*channel);
          needed > available && channel->slots == slots && slots > share) {
        channel->slots -= share;
        needed -= share * channel->messageBytes();
      }
  }
  // Values take back what the others' giving left: with one slot of them the
  // chain's and the next iteration's loads would wait for each other.
  for (ChannelPlan *channel : giving)
    if (channel->slots == 1 && wanted > 1 &&
        channel->matrices == TileAxis::Value &&
        needed + channel->messageBytes() <= available) {
      ++channel->slots;
      needed += channel->messageBytes();
    }
  return needed;
}

/// A team must meet every round of a slot that it reads, teams and slots go
/// evenly, and must not be two rounds ahead where it writes.
void RolePlan::fitTeams() {
  for (ChannelPlan &channel : channels)
    if (channel.toPrepare)
      prepareTeams = std::min(prepareTeams, channel.slots);
    else if (channel.isPrepared())
      prepareTeams = std::min(prepareTeams, channel.slots / sendersOf(channel));
  if (cluster > 1 && prepareBlocks == 0)
    prepareTeams = 1;
  for (ChannelPlan &channel : channels)
    if (channel.toPrepare)
      channel.slots = channel.slots / prepareTeams * prepareTeams;
}

LogicalResult RolePlan::chooseSlots(const RoleOptions &options,
                                    std::string &reason) {
  for (ChannelPlan &channel : channels)
    channel.slots = llvm::alignTo(options.slots, sendersOf(channel));
  auto fit = [&](int64_t memory, bool preparing) {
    int64_t available = memory - kReservedBytes,
            needed = fitSlots(options.slots, available, preparing);
    if (needed <= available)
      return success();
    reason = "its channels need " + std::to_string(needed) +
             " bytes of shared memory with one slot each" +
             (preparing ? " in a block that only prepares" : "") +
             (prepareBlocks == 0 && cluster > 1
                  ? ", " + std::to_string(cluster) +
                        " for what the blocks of a cluster prepare"
                  : std::string()) +
             ", of " + std::to_string(available) +
             "; fewer arrays or keys a token need less";
    return failure();
  };
  if (prepareBlocks > 0 && failed(fit(options.preparingMemory, true)))
    return failure();
  if (failed(fit(options.sharedMemory, false)))
    return failure();
  fitTeams();
  return success();
}

FailureOr<RolePlan> RolePlan::make(ProgramOp program,
                                   const RoleOptions &options,
                                   std::string &reason) {
  FailureOr<scf::ForOp> loop = findLoop(program, reason);
  if (failed(loop))
    return failure();
  FailureOr<TileAxes> axes = TileAxes::analyze(program, reason);
  if (failed(axes))
    return failure();
  RolePlan plan;
  plan.loop = *loop;
  plan.prepareTeams = options.prepareTeams;
  plan.cluster = options.cluster;
  plan.prepareBlocks = options.prepareBlocks;
  plan.assign(*axes, options.sumsByLoad);
  plan.gather();
  if (failed(plan.checkMessages(reason)))
    return failure();
  plan.makeChannels(*axes);
  if (plan.channels.empty()) {
    reason = "nothing in its loop can be done beside the state";
    return failure();
  }
  if (plan.prepareBlocks > 0 && plan.prepare.ops.empty()) {
    reason = "nothing is prepared that blocks of their own could do";
    return failure();
  }
  if (failed(plan.chooseSlots(options, reason)))
    return failure();
  return plan;
}
