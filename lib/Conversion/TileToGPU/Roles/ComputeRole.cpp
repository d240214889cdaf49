//===- ComputeRole.cpp - The frame of a role that computes ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ComputeRole.h"
#include "../ElementOps.h"
#include "../TileOpKinds.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

ComputeRole::ComputeRole(KernelBuilder &kernel, ScalarBuilder &b,
                         Instructions &in, Ports &ports, RolesPlan &plan,
                         const RolePlan &role, Value memory, Value warp,
                         Value lane, Value rank)
    : kernel(kernel), b(b), in(in), ports(ports), plan(plan), role(role),
      memory(memory), warp(warp), lane(lane), rank(rank),
      chain(RoleOp(role.role).getName() == "chain") {
  if (teamsOf(role.role) > 1) {
    team = b.divide(this->warp, kWarpsOfGroup);
    this->warp = b.remainder(this->warp, kWarpsOfGroup);
  }
  // Constants stand before the roles.
  auto program = RoleOp(role.role)->getParentOfType<ProgramOp>();
  for (Operation &op : program.getBody().getOps())
    if (isSplat(op.getNumResults() ? op.getResult(0) : Value()))
      emitOp(&op);
}

void ComputeRole::roleBarrier() {
  int64_t teams = teamsOf(role.role);
  in.syncThreads(teams > 1 ? b.add(team, b.i32(role.barrier))
                           : b.i32(role.barrier),
                 RoleOp(role.role).getWarps() / teams * 32);
}

/// Before a warp writes what others read: they have read what it held in the
/// last iteration.
void ComputeRole::claimScratch() {
  if (!scratchIsFree)
    roleBarrier();
  scratchIsFree = true;
}

/// Scratch of this team.
Value ComputeRole::scratch(int64_t bytes, int64_t alignment) {
  int64_t teams = teamsOf(role.role);
  bytes = llvm::alignTo(bytes, alignment);
  Value first =
      in.advance(memory, plan.allocate(bytes * teams, alignment, isApart()));
  return teams > 1 ? in.advance(first, b.mul(team, b.i32(bytes))) : first;
}

void ComputeRole::emit() {
  for (Operation &op : RoleOp(role.role).getBody().getOps())
    if (auto loop = dyn_cast<scf::ForOp>(op))
      emitLoop(loop);
    else
      emitOp(&op);
  // Shared memory lasts until the engine has read it.
  if (hasStoredBoxes)
    in.waitForReads();
}

/// The registers of carried tiles, as the loop carries them.
SmallVector<Value> ComputeRole::structsOf(ValueRange tiles) {
  SmallVector<Value> structs;
  for (Value tile : tiles) {
    Matrix &matrix = materialize(tile);
    for (int64_t block = 0; block < matrix.shape.blocks; ++block)
      structs.push_back(toStruct(matrix, block));
  }
  return structs;
}

void ComputeRole::defineFrom(ValueRange structs, ValueRange tiles) {
  for (Value tile : tiles) {
    SmallVector<Value> registers;
    for (int64_t block = 0; block < shapeOf(tile).blocks; ++block) {
      registers.append(in.unpack(structs.front()));
      structs = structs.drop_front();
    }
    define(tile, registers);
  }
}

void ComputeRole::emitLoop(scf::ForOp loop) {
  Value lower = kernel.scalars.lookup(loop.getLowerBound()),
        step = kernel.scalars.lookup(loop.getStep());
  Turns own = ports.turnsOfBlock(lower, step);
  auto [first, stride] =
      isShared() ? turnsOf(b, lower, step, rank, plan.valueBlocks)
                 : turnsOf(b, own.first, own.stride, team, teamsOf(role.role));
  SmallVector<Value> start = structsOf(loop.getInitArgs());
  size_t carried = start.size();
  delayed.store = storeToDelay(loop);
  delayed.lower = lower;
  if (delayed.store)
    start.push_back(b.sub(lower, step));
  auto made = scf::ForOp::create(
      b, first, kernel.scalars.lookup(loop.getUpperBound()), stride, start);
  Value laneBefore = lane;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(made.getBody());
    Value at = made.getInductionVar();
    kernel.scalars.map(loop.getInductionVar(), at);
    Value n =
        arith::DivUIOp::create(b, arith::SubIOp::create(b, at, lower), step);
    n = arith::IndexCastOp::create(b, b.getI32Type(), n);
    ports.beginIteration(n, ports.ownNumber(n));
    lane = in.opaque(lane);
    if (isShared())
      passOthersTurns(loop, n);
    scratchIsFree = false;
    ValueRange arguments = made.getRegionIterArgs();
    defineFrom(arguments.take_front(carried), loop.getRegionIterArgs());
    if (delayed.store)
      delayed.isStaged = true, delayed.index = arguments[carried];
    emitBody(loop);
    scratchIsFree = false;
    // A loop that carries nothing was made with its end.
    if (made.getNumRegionIterArgs()) {
      SmallVector<Value> next =
          structsOf(loop.getBody()->getTerminator()->getOperands());
      if (delayed.store)
        next.push_back(at);
      scf::YieldOp::create(b, next);
    }
  }
  lane = laneBefore;
  ValueRange results = made.getResults();
  defineFrom(results.take_front(carried), loop.getResults());
  if (delayed.store) {
    delayed.index = results[carried];
    storeDelayed();
  }
}

/// Of a role that blocks share: gives back what came for the iterations of the
/// others. One thread does so for the team.
void ComputeRole::passOthersTurns(scf::ForOp loop, Value n) {
  auto passes = [&](ReceiveOp receive) {
    return plan.channels.at(receive.getChannel()).turns == 1;
  };
  if (llvm::none_of(loop.getOps<ReceiveOp>(), passes))
    return;
  Value leads = b.both(in.equals(warp, 0), in.equals(lane, 0));
  for (int64_t back = plan.valueBlocks - 1; back > 0; --back) {
    // Before the first iteration there are none.
    Value there =
        arith::CmpIOp::create(b, arith::CmpIPredicate::uge, n, b.i32(back));
    auto mine = scf::IfOp::create(b, b.both(leads, there));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(mine.thenBlock());
    for (auto receive : loop.getOps<ReceiveOp>())
      if (passes(receive))
        ports.pass(receive.getChannel(), b.sub(n, b.i32(back)),
                   RoleOp(role.role).getWarps());
  }
  // A barrier tells only odd rounds of a slot from even ones: before a warp
  // waits for a round, somebody must have seen the one before, and have met the
  // warp since. For a slot's iteration before the last turn that was then.
  bool isSeenNow =
      llvm::any_of(loop.getOps<ReceiveOp>(), [&](ReceiveOp receive) {
        int64_t slots = receive.getChannel().getType().getSlots();
        return passes(receive) && slots % plan.valueBlocks &&
               slots <= plan.valueBlocks;
      });
  if (isSeenNow)
    roleBarrier();
}

void ComputeRole::emitBody(scf::ForOp loop) {
  int64_t groupsBefore = groupsIssued;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (emitted.contains(&op)) // with others of its kind
      continue;
    if (!emitRoundings(&op))
      emitOp(&op);
    emitted.insert(&op);
    releaseFree();
    // Beside the first product, before the queue of products is full: a warp
    // group that issues more of them then waits there.
    if (isa<DotOp>(op) && groupsIssued == groupsBefore + 1)
      storeDelayed();
  }
  settleAll();
}

void ComputeRole::emitOp(Operation *op) {
  if (auto dot = dyn_cast<DotOp>(op))
    return emitDot(dot);
  if (auto send = dyn_cast<SendOp>(op))
    return emitSend(send);
  if (auto receive = dyn_cast<ReceiveOp>(op))
    return emitReceive(receive);
  if (auto release = dyn_cast<ReleaseOp>(op))
    return emitRelease(release);
  if (auto load = dyn_cast<LoadOp>(op))
    return emitLoad(load);
  if (auto store = dyn_cast<StoreOp>(op))
    return emitStore(store);
  if (auto store = dyn_cast<StoreMapOp>(op))
    return emitStoreMap(store);
  if (auto fold = dyn_cast<FoldMapsOp>(op))
    return emitFoldMaps(fold);
  if (auto invert = dyn_cast<InvertOp>(op))
    return emitInvert(invert);
  if (auto dot = dyn_cast<DecayedDotOp>(op))
    return emitDecayedDot(dot);
  if (op->getNumResults() == 1 && isTensor(op->getResult(0))) {
    if (tensorType(op->getResult(0)).getRank() == 1)
      return emitVectorOp(op);
    return emitMatrixOp(op);
  }
  kernel.cloneScalarOp(op);
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

void ComputeRole::emitReceive(ReceiveOp receive) {
  Value channel = receive.getChannel();
  ports.receive(channel);
  for (auto [i, value] : llvm::enumerate(receive.getValues())) {
    auto type = tensorType(value);
    Value at = ports.part(channel, i);
    if (type.getRank() == 2) {
      Matrix &matrix = matrices[value];
      matrix = {};
      matrix.kind = Matrix::Kind::Shared;
      matrix.memory = at;
      matrix.powersInMemory = ports.powersOf(channel, i);
      matrix.layout = {type.getDimSize(0), type.getDimSize(1)};
      matrix.shape = shapeOf(value);
      matrix.channel = channel;
    } else if (type.getElementType().isF64()) {
      if (!value.use_empty()) // the chain gets them with the keys
        receiveSums(value, at);
    } else {
      Vector &vector = vectors[value];
      vector = {};
      vector.kind = Vector::Kind::Shared;
      vector.memory = at;
      vector.channel = channel;
      vector.element = type.getElementType();
      vector.length = type.getDimSize(0);
    }
  }
}

void ComputeRole::emitRelease(ReleaseOp release) {
  toRelease.push_back(release.getChannel());
}

void ComputeRole::emitSend(SendOp send) {
  Value channel = send.getChannel();
  ports.acquire(channel);
  leaveMessage();
  for (auto [i, value] : llvm::enumerate(send.getValues())) {
    auto type = tensorType(value);
    Value to = ports.part(channel, i);
    if (type.getRank() == 1) {
      writeSpread(value, to);
      continue;
    }
    Matrix &matrix = matrixOf(value);
    if (matrix.kind == Matrix::Kind::Shared) // made in place
      continue;
    writePacked(matrix, to, {type.getDimSize(0), type.getDimSize(1)});
    writePowers(matrix.powers, ports.powersOf(channel, i));
  }
  finishInversions(send);
  if (!plan.channels.at(channel).isShared())
    return ports.publish(channel);
  in.fenceForAsync();
  roleBarrier();
  auto leads =
      scf::IfOp::create(b, b.both(in.equals(warp, 0), in.equals(lane, 0)));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(leads.thenBlock());
  ports.publishToCluster(channel, rank);
}
