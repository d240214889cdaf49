//===- RolesLowering.cpp - A block of roles to a kernel -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RolesLowering.h"
#include "ComputeRole.h"
#include "LoadRole.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

namespace {

class BlockEmitter {
public:
  BlockEmitter(KernelBuilder &kernel, ScalarBuilder &b, RolesPlan &plan,
               Value memory)
      : kernel(kernel), b(b), in(b, plan.operands), plan(plan), memory(memory) {
  }
  void emit();

private:
  void initialise(const ChannelPlan &channel);
  void initialiseBarriers();
  void placeBlocks();
  Value itemOfBlock();
  Value isOfKind(bool isApart);
  void emitRole(const RolePlan &role);
  void emitIdle(bool isApart);

  KernelBuilder &kernel;
  ScalarBuilder &b;
  Instructions in;
  RolesPlan &plan;
  Value memory, warp, lane, rank;
};

void BlockEmitter::initialise(const ChannelPlan &channel) {
  for (int64_t slot = 0; slot < channel.slots; ++slot) {
    in.initialise(in.advance(memory, channel.full(slot)), channel.arrivals);
    in.initialise(in.advance(memory, channel.empty(slot)),
                  channel.receiverWarps);
  }
}

void BlockEmitter::initialiseBarriers() {
  auto first = scf::IfOp::create(b, in.equals(kernel.thread(), 0));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(first.thenBlock());
    for (auto channel : kernel.getProgram().getBody().getOps<ChannelOp>()) {
      const ChannelPlan &c = plan.channels.at(channel.getResult());
      OpBuilder::InsertionGuard guard(b);
      // One between the two kinds of block lies in both.
      if (Value there = c.firstSender > 0 ? Value() : isOfKind(c.isApart)) {
        auto branch = scf::IfOp::create(b, there);
        b.setInsertionPointToStart(branch.thenBlock());
      }
      initialise(c);
    }
    NVVM::FenceMbarrierInitOp::create(b);
  }
  // Others may arrive here as soon as they have begun.
  if (plan.cluster() > 1)
    in.syncCluster();
  else
    NVVM::Barrier0Op::create(b);
}

/// Multiprocessors 2n and 2n + 1 are a pair, in which a chain is slower beside
/// a block that prepares than beside another chain. A cluster of three blocks
/// begins with a pair, or with the second of one whose first the cluster before
/// has:
///
///     multiprocessors    6 7   22 23   38 39
///     ranks, as given    0 1 |  2|0     1  2       the chain beside others
///     turned by one      0 1 |  2|2     0  1
///
/// So where the first block's multiprocessor is odd the ranks are turned by
/// one. Any other placement is as right, and may be slower.
void BlockEmitter::placeBlocks() {
  auto isBetweenKinds = [&](ChannelOp channel) {
    return plan.channels.at(channel.getResult()).firstSender > 0;
  };
  auto channels = kernel.getProgram().getBody().getOps<ChannelOp>();
  // No message comes before all blocks have begun; and it lies in the same
  // place in all of them.
  ChannelOp between = *llvm::find_if(channels, isBetweenKinds);
  Value place =
      in.advance(memory, plan.channels.at(between.getResult()).offset);
  {
    OpBuilder::InsertionGuard guard(b);
    auto one = scf::IfOp::create(b, in.equals(kernel.thread(), 0));
    b.setInsertionPointToStart(one.thenBlock());
    in.store(in.multiprocessor(), place, 4);
  }
  in.syncCluster();
  Value turn = in.bitAnd(in.loadFrom(place, b.i32(0)), 1);
  in.fenceForAsync(); // the copy engine writes there next
  turn = NVVM::ShflOp::create(b, b.getI32Type(), b.i32(-1), turn, b.i32(0),
                              b.i32(31), NVVM::ShflKind::idx, UnitAttr());
  int64_t blocks = plan.cluster();
  rank = b.remainder(b.sub(b.add(in.rank(), b.i32(blocks)), turn), blocks);
  in.turnRanks(turn, blocks);
}

/// The item of a block: those of a cluster's blocks of values follow each
/// other, and blocks behind them, which only prepare, have no columns: they
/// take the first of these for their own.
Value BlockEmitter::itemOfBlock() {
  Value block = kernel.block();
  if (plan.prepareBlocks == 0)
    return block;
  Value column =
      b.wide(b.select(b.below(rank, b.i32(plan.valueBlocks)), rank, b.i32(0)));
  return b.add(b.mul(b.divide(block, plan.cluster()), b.i64(plan.valueBlocks)),
               column);
}

/// Whether this block only prepares, or has values; null where all have.
Value BlockEmitter::isOfKind(bool isApart) {
  if (plan.prepareBlocks == 0)
    return {};
  return arith::CmpIOp::create(
      b, isApart ? arith::CmpIPredicate::uge : arith::CmpIPredicate::ult, rank,
      b.i32(plan.valueBlocks));
}

void BlockEmitter::emitRole(const RolePlan &plan) {
  RoleOp role = plan.role;
  Value mine = b.below(b.sub(warp, b.i32(plan.firstWarp)),
                       b.i32(int64_t(role.getWarps())));
  auto branch = scf::IfOp::create(b, b.both(mine, isOfKind(role.isApart())));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  // Equal shares at the start: more, or fewer, from here on.
  in.setRegisters(plan.registers, plan.registers > this->plan.initialRegisters);
  Value ownWarp = b.sub(warp, b.i32(plan.firstWarp)), apart;
  if (role.isApart())
    apart = b.sub(rank, b.i32(this->plan.valueBlocks));
  Ports ports(b, in, this->plan, memory, lane, apart);
  if (role.getName() == "load")
    LoadRole(kernel, b, in, ports, this->plan.maps, role, ownWarp, lane, rank)
        .emit();
  else
    ComputeRole(kernel, b, in, ports, this->plan, plan, memory, ownWarp, lane,
                rank)
        .emit();
}

/// Blocks of one kind have fewer warps with a role: the others leave their
/// registers to them.
void BlockEmitter::emitIdle(bool isApart) {
  int64_t busy = plan.warpsOf(isApart);
  if (busy * 32 == plan.threads)
    return;
  Value isIdle =
      arith::CmpIOp::create(b, arith::CmpIPredicate::uge, warp, b.i32(busy));
  auto branch = scf::IfOp::create(b, b.both(isIdle, isOfKind(isApart)));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  in.setRegisters(kIdleRegisters, /*more=*/false);
}

void BlockEmitter::emit() {
  if (plan.prepareBlocks > 0)
    placeBlocks();
  kernel.enterItem(itemOfBlock());
  lane = b.remainder(kernel.thread(), 32);
  // Where the chain waits for the preparation: itself, but kept. ptxas would
  // read the thread's number anew in every stretch of code, which takes long
  // beside products.
  if (llvm::any_of(kernel.getProgram().getBody().getOps<RoleOp>(), sumsByLoad))
    lane = NVVM::ShflOp::create(b, b.getI32Type(), b.i32(-1), lane, lane,
                                b.i32(31), NVVM::ShflKind::idx, UnitAttr());
  // The same for all lanes, and known to be so.
  warp = NVVM::ShflOp::create(b, b.getI32Type(), b.i32(-1),
                              b.divide(kernel.thread(), 32), b.i32(0),
                              b.i32(31), NVVM::ShflKind::idx, UnitAttr());
  for (Operation &op : kernel.getProgram().getBody().getOps())
    kernel.cloneScalarOp(&op);
  // The copy engine may write next where they were added up.
  if (!kernel.getProgram().getBody().getOps<SumStepsOp>().empty())
    in.fenceForAsync();
  initialiseBarriers();
  if (plan.cluster() > 1 && !rank)
    rank = in.rank();
  for (const RolePlan &role : plan.roles)
    emitRole(role);
  if (plan.prepareBlocks > 0)
    for (bool isApart : {false, true})
      emitIdle(isApart);
  // Shared memory lasts until nobody will copy to it or arrive in it.
  if (plan.cluster() > 1)
    in.syncCluster();
}

} // namespace

void prism::tiletogpu::emitRoles(KernelBuilder &kernel, ScalarBuilder &b,
                                 RolesPlan &plan, Value memory) {
  BlockEmitter(kernel, b, plan, memory).emit();
}
