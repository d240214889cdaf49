//===- SpecializeRoles.cpp - Load, prepare and chain side by side ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Tile/Transforms/Passes.h"
#include "RolePlan.h"
#include "RoleSchedule.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace prism::tile;

namespace prism::tile {
#define GEN_PASS_DEF_TILESPECIALIZEROLES
#include "Prism/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace prism::tile

/// Warps of a warp group, and how many value columns one of them holds.
static constexpr int64_t kGroupWarps = 4, kGroupColumns = 64;

namespace {

/// Writes the roles of a plan before its loop, then erases the loop.
class RoleBuilder {
public:
  RoleBuilder(ProgramOp program, const RolePlan &plan)
      : program(program), plan(plan), loop(plan.loop), builder(loop) {}
  void build();

private:
  void hoistCommon();
  void createChannels();
  void createRole(StringRef name, int64_t warps, RoleKind kind,
                  const RoleSchedule &schedule, bool isApart);
  scf::ForOp createLoop(ValueRange start);
  void createStep(const RoleStep &step);
  Operation *copy(Operation *op);
  void createReceive(unsigned number);
  void createSend(unsigned number);
  void eraseOld();

  ProgramOp program;
  const RolePlan &plan;
  scf::ForOp loop;
  OpBuilder builder;
  SmallVector<ChannelOp> channels;
  SmallVector<Operation *> before, after; // ops beside the loop, for the chain
  IRMapping mapping;                      // of the role being written
};

} // namespace

/// Constants and scalars serve every role and stay in front of them.
void RoleBuilder::hoistCommon() {
  for (Operation &op : llvm::make_early_inc_range(*loop.getBody()))
    if (isForAnyone(&op) && op.getNumOperands() == 0)
      op.moveBefore(loop);
  SmallVector<Operation *> common;
  for (Operation &op : program.getBody().front().without_terminator())
    if (isForAnyone(&op))
      common.push_back(&op);
    else if (&op != loop)
      (op.isBeforeInBlock(loop) ? before : after).push_back(&op);
  for (Operation *op : common)
    op->moveBefore(loop);
}

void RoleBuilder::createChannels() {
  for (const ChannelPlan &channel : plan.channels) {
    SmallVector<Type> message = llvm::map_to_vector(
        channel.values, [](Value value) { return value.getType(); });
    channels.push_back(ChannelOp::create(
        builder, loop.getLoc(),
        ChannelType::get(builder.getContext(), channel.slots, message)));
  }
}

/// Clones an op of the loop, with the scalars that it is the first to need.
Operation *RoleBuilder::copy(Operation *op) {
  for (Value operand : op->getOperands()) {
    Operation *maker = operand.getDefiningOp();
    if (maker && maker->getBlock() == loop.getBody() &&
        !mapping.contains(operand))
      copy(maker);
  }
  return builder.clone(*op, mapping);
}

void RoleBuilder::createReceive(unsigned number) {
  const ChannelPlan &channel = plan.channels[number];
  auto receive = ReceiveOp::create(builder, channel.values.front().getLoc(),
                                   channels[number]);
  for (auto [value, part] :
       llvm::zip_equal(channel.values, receive.getResults()))
    mapping.map(value, part);
}

void RoleBuilder::createSend(unsigned number) {
  const ChannelPlan &channel = plan.channels[number];
  SmallVector<Value> parts = llvm::map_to_vector(
      channel.values, [&](Value value) { return mapping.lookup(value); });
  SendOp::create(builder, channel.values.back().getLoc(), parts,
                 channels[number]);
}

void RoleBuilder::createStep(const RoleStep &step) {
  switch (step.kind) {
  case RoleStep::Compute:
    copy(step.op);
    break;
  case RoleStep::Receive:
    createReceive(step.channel);
    break;
  case RoleStep::Release:
    ReleaseOp::create(builder, loop.getLoc(), channels[step.channel]);
    break;
  case RoleStep::Send:
    createSend(step.channel);
    break;
  }
}

scf::ForOp RoleBuilder::createLoop(ValueRange start) {
  auto copied = scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(),
                                   loop.getUpperBound(), loop.getStep(), start);
  copied->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  mapping.map(loop.getInductionVar(), copied.getInductionVar());
  return copied;
}

void RoleBuilder::createRole(StringRef name, int64_t warps, RoleKind kind,
                             const RoleSchedule &schedule, bool isApart) {
  if (schedule.empty())
    return;
  mapping.clear();
  bool isShared = isApart || kind == RoleKind::Prepare;
  auto role = RoleOp::create(builder, loop.getLoc(), name, warps,
                             isShared ? plan.cluster : 1,
                             isApart ? plan.prepareBlocks : 0);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&role.getBody().emplaceBlock());
  bool isChain = kind == RoleKind::Chain;
  SmallVector<Value> start;
  if (isChain) {
    for (Operation *op : before)
      builder.clone(*op, mapping);
    for (Value init : loop.getInitArgs())
      start.push_back(mapping.lookupOrDefault(init));
  }
  scf::ForOp copied = createLoop(start);
  if (isChain) {
    mapping.map(loop.getRegionIterArgs(), copied.getRegionIterArgs());
    mapping.map(loop.getResults(), copied.getResults());
  }
  builder.setInsertionPointToStart(copied.getBody());
  for (const RoleStep &step : schedule)
    createStep(step);
  if (!isChain)
    return;
  // A loop that carries nothing has its yield already.
  if (copied.getBody()->empty() ||
      !copied.getBody()->back().hasTrait<OpTrait::IsTerminator>())
    copy(loop.getBody()->getTerminator());
  builder.setInsertionPointAfter(copied);
  for (Operation *op : after)
    builder.clone(*op, mapping);
}

void RoleBuilder::eraseOld() {
  for (Operation *op : llvm::reverse(after))
    op->erase();
  loop.erase();
  for (Operation *op : llvm::reverse(before))
    op->erase();
}

void RoleBuilder::build() {
  hoistCommon();
  createChannels();
  int64_t groups = llvm::divideCeil(program.getValueBlock(), kGroupColumns);
  bool isApart = plan.prepareBlocks > 0;
  auto createLoads = [&](const RoleSchedule &schedule, bool isApart) {
    createRole("load", kGroupWarps, RoleKind::Load, schedule, isApart);
  };
  createLoads(isApart ? scheduleLoadsOf(plan, RoleKind::Prepare)
                      : scheduleRole(plan, RoleKind::Load),
              isApart);
  createRole("prepare", kGroupWarps * plan.prepareTeams, RoleKind::Prepare,
             scheduleRole(plan, RoleKind::Prepare), isApart);
  if (isApart)
    createLoads(scheduleLoadsOf(plan, RoleKind::Chain), false);
  createRole("chain", kGroupWarps * std::min<int64_t>(groups, 2),
             RoleKind::Chain, scheduleRole(plan, RoleKind::Chain), false);
  eraseOld();
}

//===----------------------------------------------------------------------===//
// Messages hold what was loaded
//===----------------------------------------------------------------------===//

/// A load that widens becomes one that copies, and a widening.
static void splitWidening(LoadOp load) {
  auto wide = cast<RankedTensorType>(load.getResult().getType());
  Type element = load.getView().getType().getElementType();
  if (element.getIntOrFloatBitWidth() != 16 || wide.getElementType() == element)
    return;
  OpBuilder builder(load);
  builder.setInsertionPointAfter(load);
  load.getResult().setType(wide.clone(element));
  auto extension =
      arith::ExtFOp::create(builder, load.getLoc(), wide, load.getResult());
  load.getResult().replaceAllUsesExcept(extension.getResult(), extension);
}

/// The loaded tile that `value` widens, or a zero of its type; else null.
static Value narrowed(Value value, Type element, OpBuilder &builder) {
  auto extension = value.getDefiningOp<arith::ExtFOp>();
  if (extension && extension.getIn().getDefiningOp<LoadOp>() &&
      getElementTypeOrSelf(extension.getIn().getType()) == element)
    return extension.getIn();
  if (!matchPattern(value, m_AnyZeroFloat()))
    return {};
  auto type = cast<RankedTensorType>(value.getType()).clone(element);
  return arith::ConstantOp::create(builder, value.getLoc(),
                                   builder.getZeroAttr(type));
}

/// Stacking what was widened becomes widening what was stacked, so that loads
/// can do it.
static void stackBeforeWidening(InterleaveOp stack) {
  auto isExtension = [](Value input) {
    return bool(input.getDefiningOp<arith::ExtFOp>());
  };
  auto first = llvm::find_if(stack.getInputs(), isExtension);
  if (first == stack.getInputs().end())
    return;
  Type element = getElementTypeOrSelf(
      (*first).getDefiningOp<arith::ExtFOp>().getIn().getType());
  OpBuilder builder(stack);
  SmallVector<Value> inputs;
  for (Value input : stack.getInputs())
    inputs.push_back(narrowed(input, element, builder));
  if (llvm::is_contained(inputs, Value()))
    return;
  auto wide = cast<RankedTensorType>(stack.getResult().getType());
  Value narrow = InterleaveOp::create(builder, stack.getLoc(),
                                      wide.clone(element), inputs);
  Value widened = arith::ExtFOp::create(builder, stack.getLoc(), wide, narrow);
  stack.getResult().replaceAllUsesWith(widened);
  stack.erase();
}

static void narrowMessages(scf::ForOp loop) {
  for (auto load : loop.getOps<LoadOp>())
    splitWidening(load);
  for (auto stack : llvm::make_early_inc_range(loop.getOps<InterleaveOp>()))
    stackBeforeWidening(stack);
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

LogicalResult prism::tile::specializeRoles(ProgramOp program,
                                           const RoleOptions &options,
                                           std::string *whyNot) {
  std::string reason;
  auto decline = [&] {
    if (whyNot)
      *whyNot = reason;
    return failure();
  };
  // On a copy: whoever declines leaves no trace.
  OwningOpRef<ProgramOp> copy = program.clone();
  FailureOr<scf::ForOp> loop = RolePlan::findLoop(*copy, reason);
  if (failed(loop))
    return decline();
  narrowMessages(*loop);
  FailureOr<RolePlan> plan = RolePlan::make(*copy, options, reason);
  if (failed(plan))
    return decline();
  RoleBuilder(*copy, *plan).build();
  program.getBody().takeBody(copy->getBody());
  return success();
}

namespace {
struct SpecializeRolesPass
    : prism::tile::impl::TileSpecializeRolesBase<SpecializeRolesPass> {
  using TileSpecializeRolesBase::TileSpecializeRolesBase;
  void runOnOperation() override {
    if (prepareTeams < 1) {
      getOperation().emitError(
          "tile-specialize-roles: prepare-teams must be at least 1, found ")
          << prepareTeams.getValue();
      return signalPassFailure();
    }
    int64_t blocks = getOperation().getValueBlocks();
    if (cluster < 1 || blocks % cluster) {
      getOperation().emitError(
          "tile-specialize-roles: cluster must divide the blocks of values, ")
          << blocks << ", found " << cluster.getValue();
      return signalPassFailure();
    }
    if (prepareBlocks < 0) {
      getOperation().emitError(
          "tile-specialize-roles: prepare-blocks must be at least 0, found ")
          << prepareBlocks.getValue();
      return signalPassFailure();
    }
    if (slots < 1) {
      getOperation().emitError(
          "tile-specialize-roles: slots must be at least 1, found ")
          << slots.getValue();
      return signalPassFailure();
    }
    std::string whyNot;
    if (failed(specializeRoles(getOperation(),
                               {slots, prepareTeams, cluster, prepareBlocks,
                                sumsByLoad, sharedMemory, sharedMemory},
                               &whyNot)))
      remark::missed(
          getOperation().getLoc(),
          remark::RemarkOpts::name("SpecializeRoles").category("tile"))
          << whyNot;
  }
};
} // namespace
