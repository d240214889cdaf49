//===- RegisterCopies.cpp - One step beside bulk copies of its state ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A step of a large state is a copy of it, and of 16 bits a warp's accesses of
// few bytes of many rows keep the L2 cache busier than memory. Here the copy
// engine moves each warp's rows as one piece. A warp waits for its own alone;
// where sums over keys are known, it changes its rows in place and sends them
// off, and one warp computes the outputs meanwhile.
//
//   threads   load inputs: what is asked for behind a copy waits for it
//   lane 0    asks for its warp's rows
//   threads   ask the L2 cache for the state of a block that starts later
//             compute what follows from the inputs
//             wait for the warp's rows; sum up over keys, share the sums
//             barrier
//             write their rows
//   lane 0    sends the warp's rows off
//
//===----------------------------------------------------------------------===//

#include "ElementOps.h"
#include "RegisterLowering.h"
#include "Roles/Instructions.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

Instructions RegisterLowering::instructions() {
  return Instructions(b, b.getBF16Type());
}

//===----------------------------------------------------------------------===//
// Tiles of keys by values
//===----------------------------------------------------------------------===//

bool RegisterLowering::isRecomputed(Value tile) const {
  return copied && CopiedStep::isStateShaped(plan, tile);
}

/// Row `i` is the one at which this thread is.
Value RegisterLowering::recompute(Value tile, int64_t i, int64_t j) {
  scf::ForOp loop = copied->loop;
  LoadOp load = copied->load;
  if (tile == loop.getRegionIterArg(0))
    tile = load.getResult();
  Operation *op = tile.getDefiningOp();
  if (op == load)
    return kernel.unpackWords(Slice::of(load), rowWords[j / 2],
                              tensorType(tile).getElementType())[j % 2];
  if (auto dot = dyn_cast<DotOp>(op))
    return elementOfDot(dot, i, j);
  return elementOf(op, i, j);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void RegisterLowering::startCopies() {
  Instructions in = instructions();
  Value warp = b.divide(kernel.thread(), warpSize),
        lane = b.remainder(kernel.thread(), warpSize);
  copiedPart = in.advance(copies, b.mul(warp, b.i32(copied->bytesOfWarp())));
  copiedRows =
      in.advance(copies, b.add(b.mul(firstKey, b.i32(copied->rowBytes())),
                               b.mul(column, b.i32(2))));
  copiedBarrier = in.advance(
      copies, b.add(b.mul(warp, b.i32(8)), b.i32(copied->firstBarrier())));
  Slice slice = Slice::of(copied->load);
  emitIf(b, in.equals(lane, 0), [&] {
    Value first = b.mul(warp, b.i32(copied->rowsOfWarp()));
    in.initialise(copiedBarrier, 1);
    NVVM::FenceMbarrierInitOp::create(b);
    in.expectBytes(copiedBarrier, copied->bytesOfWarp(), /*arrives=*/true);
    in.copyFromGlobal(
        copiedPart,
        kernel.safeAddress(slice, kernel.viewIndices(slice, {first, b.i32(0)}),
                           /*inside=*/Value()),
        copied->bytesOfWarp(), copiedBarrier);
  });
}

/// Memory has the next states to read while threads compute, and the copies
/// find them in the L2 cache: each thread asks for one line, which is as much
/// as it has of a state.
void RegisterLowering::prefetchLater() {
  Slice slice = Slice::of(copied->load);
  Value item = b.add(kernel.block(), b.i64(copied->blocksAhead)),
        isThere = b.below(item, kernel.countItems());
  kernel.withItem(slice, item, [&] {
    Value first = kernel.safeAddress(
        slice, kernel.viewIndices(slice, {b.i32(0), b.i32(0)}),
        /*inside=*/Value());
    int64_t elements = plan.rowsInTurn * plan.columnsPerThread;
    kernel.prefetch(
        kernel.advance(slice, first,
                       b.mul(b.wide(kernel.thread()), b.i64(elements))),
        isThere);
  });
}

void RegisterLowering::sendState() {
  Instructions in = instructions();
  in.fenceForAsync();
  in.syncWarp();
  Slice slice = Slice::of(copied->store);
  emitIf(b, in.equals(b.remainder(kernel.thread(), warpSize), 0), [&] {
    Value first =
        b.mul(b.divide(kernel.thread(), warpSize), b.i32(copied->rowsOfWarp()));
    in.copyToGlobal(
        kernel.safeAddress(slice, kernel.viewIndices(slice, {first, b.i32(0)}),
                           /*inside=*/Value()),
        copiedPart, copied->bytesOfWarp());
  });
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

void RegisterLowering::storeCopiedRow(int64_t row) {
  scf::ForOp loop = copied->loop;
  StoreOp store = copied->store;
  Value next = loop.getBody()->getTerminator()->getOperand(0);
  Scalars values;
  for (int64_t j = 0; j < plan.columnsPerThread; ++j)
    values.push_back(get(next, row, j));
  kernel.storeWords(
      Slice::of(store),
      instructions().advance(copiedRows, row * copied->rowBytes()), values);
}

/// The parts of the next level's sums, and on the last level the next state.
void RegisterLowering::passOverRows(int64_t level) {
  SmallVector<const KeySum *> sums;
  for (const KeySum &sum : copied->sums)
    if (sum.level == level + 1)
      sums.push_back(&sum);
  bool stores = level == copied->storeLevel;
  SmallVector<Scalars> parts(sums.size());
  for (int64_t row = 0; row < plan.rowsInTurn; ++row) {
    rowWords = kernel.loadWords(
        Slice::of(copied->load),
        instructions().advance(copiedRows, row * copied->rowBytes()),
        /*offset=*/0, plan.columnsPerThread);
    for (auto [sum, part] : llvm::zip_equal(sums, parts))
      addRow(*sum, row, part);
    if (stores)
      storeCopiedRow(row);
  }
  if (stores)
    sendState();
  if (sums.empty())
    return;
  for (auto [turn, sum] : llvm::enumerate(sums))
    shareSum(*sum, parts[turn], turn);
  NVVM::Barrier0Op::create(b);
}

void RegisterLowering::emitLevel(int64_t level) {
  scf::ForOp loop = copied->loop;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (isScalarOp(&op)) {
      if (level == 0)
        emitOp(&op);
      continue;
    }
    if (isa<StoreOp>(op) || copied->isForOutputs(&op) ||
        copied->levelOf(op.getResult(0)) != level)
      continue;
    if (const KeySum *sum = copied->sumOf(&op))
      takeSum(*sum);
    else
      emitOp(&op);
  }
}

void RegisterLowering::emitOutputs() {
  scf::ForOp loop = copied->loop;
  Value warp = b.divide(kernel.thread(), warpSize);
  emitIf(b, instructions().equals(warp, 0), [&] {
    for (Operation &op : loop.getBody()->without_terminator()) {
      const KeySum *sum = copied->sumOf(&op);
      if (isScalarOp(&op) || !copied->isForOutputs(&op))
        continue;
      if (sum)
        takeSum(*sum);
      else
        emitOp(&op);
    }
  });
}

void RegisterLowering::emitCopiedStep() {
  Instructions in = instructions();
  scf::ForOp loop = copied->loop;
  for (Operation &op : loop->getBlock()->without_terminator())
    if (isScalarOp(&op) || isa<LengthOp, ValueOffsetOp>(op))
      emitOp(&op);
  kernel.scalars.map(loop.getInductionVar(), b.i64(0));
  for (LoadOp input : loop.getBody()->getOps<LoadOp>())
    loadAt(input, addressOfFirst(input), ahead[input]);
  startCopies();
  prefetchLater();
  emitLevel(0);
  in.syncWarp(); // the barrier is one
  in.wait(copiedBarrier, b.i32(0));
  int64_t last = copied->storeLevel;
  for (const KeySum &sum : copied->sums)
    last = std::max(last, sum.level - 1);
  for (int64_t level = 0; level <= last; ++level) {
    if (level > 0)
      emitLevel(level);
    passOverRows(level);
  }
  emitOutputs();
  // What is read from this block's memory is read before it ends.
  emitIf(b, in.equals(b.remainder(kernel.thread(), warpSize), 0),
         [&] { in.waitForReads(); });
}

/// A call of one step, whose states and inputs lie as copies and wide accesses
/// need them.
Value RegisterLowering::isCopiedCall() {
  Value all = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                    kernel.length(), b.i64(1));
  all = b.both(all, statesThere("initial_state"));
  all = b.both(all, statesThere("final_state"));
  for (const Slice &slice :
       {Slice::of(copied->load), Slice::of(copied->store)}) {
    Value isDense =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                              kernel.rowStride(slice), b.i64(copied->values));
    all = b.both(all, isDense);
  }
  return b.both(all, allAligned());
}

LogicalResult RegisterLowering::checkCopied(std::string &reason) {
  scf::ForOp loop = copied->loop;
  for (LoadOp input : loop.getBody()->getOps<LoadOp>())
    if (!canLoadAhead(input, loop)) {
      reason = "a step reads what cannot be asked for with its state";
      return failure();
    }
  LoadOp load = copied->load;
  StoreOp store = copied->store;
  if (widthOf(Slice::of(load), load.getResult()) == plan.columnsPerThread &&
      widthOf(Slice::of(store), store.getValue()) == plan.columnsPerThread)
    return success();
  reason = "its states are not of rows of values in memory";
  return failure();
}

/// The step, if the call is one; returns whether it is another one, i1. Where
/// inputs lie follows from offsets in memory, if there are any: a version
/// without them has what it reads sooner.
Value RegisterLowering::emitCopiedCall(bool isUnpacked) {
  kernel.enterItem(kernel.block(), isUnpacked);
  return emitUnder(b, isCopiedCall(), [&] {
    wide = oneStep = true;
    held.clear();
    emitCopiedStep();
    ahead.clear();
    wide = oneStep = false;
    return b.integer(b.getI1Type(), 0);
  });
}

LogicalResult RegisterLowering::emitCopied(const CopiedStep &step, Value memory,
                                           std::string &reason) {
  Block &body = kernel.getProgram().getBody().front();
  copied = &step;
  copies = memory;
  plan = step.rows;
  if (failed(checkCopied(reason)))
    return failure();
  placeThread();
  Value isPacked = kernel.hasOffsets(), isOther;
  if (isPacked) {
    auto choice = scf::IfOp::create(b, b.getI1Type(), isPacked,
                                    /*withElseRegion=*/true);
    for (Block *block : {choice.thenBlock(), choice.elseBlock()}) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(block);
      scf::YieldOp::create(b, emitCopiedCall(block == choice.elseBlock()));
    }
    isOther = choice.getResult(0);
  } else {
    isOther = emitCopiedCall(/*isUnpacked=*/true);
  }
  auto rest = scf::IfOp::create(b, isOther, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(rest.thenBlock());
  copied = nullptr;
  plan = step.small;
  // Its places are computed here, not before the branch.
  kernel.enterItem(
      b.add(kernel.block(), b.wide(instructions().opaque(b.i32(0)))));
  placeThread();
  enterGroups();
  emitVersion(body, /*isWide=*/false);
  return success();
}
