//===- RegisterAhead.cpp - The next step's inputs, while this one runs ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A loop over steps waits for memory in each of them, unless its inputs have
// been asked for before: here a step ahead into registers, as the words that
// they are in memory, and some steps ahead into the L2 cache.
//
//===----------------------------------------------------------------------===//

#include "RegisterLowering.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// Registers that a loop carries from step to step, at most, with the words on
/// their way.
static constexpr int64_t kMostCarried = 96;
/// Steps from memory to the L2 cache, of which few wait in it.
static constexpr int64_t kStepsToCache = 8;

/// Inputs that every step has whole. What a kernel writes is not read early.
bool RegisterLowering::canLoadAhead(LoadOp op, scf::ForOp loop) {
  if (op->getBlock() != loop.getBody() || invariants.contains(op))
    return false;
  Slice slice = Slice::of(op);
  ArgumentAttr argument =
      kernel.getProgram().getArgument_(slice.view.getArgNumber());
  auto view = cast<ViewType>(slice.view.getType());
  if (argument.getRole().getValue() != "input" || argument.getOptional() ||
      !view.hasTime() || !isStep(slice.offsets[0]) ||
      slice.offsets[0] != loop.getInductionVar())
    return false;
  for (auto [axis, offset] : llvm::enumerate(slice.offsets))
    if (axis && (!slice.isWhole(axis, kernel.getProgram()) ||
                 !loop.isDefinedOutsideOfLoop(offset)))
      return false;
  Value tile = op.getResult();
  auto [rows, columns] = shapeOf(tile);
  if (rows != 1 || (columns != 1 && !kernel.isContiguous(slice)))
    return false;
  for (auto [axis, extent] : llvm::enumerate(slice.extents)) {
    bool isTime = slice.axisOfTile[axis] == 0;
    if (isTime ? extent != 1
               : !isInside(plan.kind(tile, axis), extent,
                           plan.perThread(tile, axis) - 1))
      return false;
  }
  return true;
}

int64_t RegisterLowering::wordsOf(LoadOp op) {
  Slice slice = Slice::of(op);
  int64_t columns = shapeOf(op.getResult()).second;
  bool isHalf = cast<ViewType>(slice.view.getType())
                    .getElementType()
                    .getIntOrFloatBitWidth() == 16;
  bool packed = isHalf && widthOf(slice, op.getResult()) > 1;
  return columns / (packed ? 2 : 1);
}

/// All of them or none: a step waits as long for one as for all.
RegisterLowering::StepsAhead RegisterLowering::loadsAhead(scf::ForOp loop) {
  StepsAhead loads;
  int64_t registers = 0;
  for (Value carried : loop.getRegionIterArgs())
    if (isTensor(carried))
      registers += shapeOf(carried).first * shapeOf(carried).second;
  for (LoadOp op : loop.getBody()->getOps<LoadOp>())
    if (canLoadAhead(op, loop)) {
      registers += wordsOf(op);
      loads.push_back(op);
    }
  return registers <= kMostCarried ? loads : StepsAhead();
}

void RegisterLowering::loadAt(LoadOp op, Value address, Scalars &to) {
  Slice slice = Slice::of(op);
  Value tile = op.getResult();
  AxisKind kind = plan.kind(tile, slice.extents.size() - 1);
  int64_t width = widthOf(slice, tile);
  for (int64_t j = 0, e = shapeOf(tile).second; j < e; j += width)
    to.append(kernel.loadWords(
        slice, address, kind == AxisKind::Key ? plan.rowOffset(j) : j, width));
}

Value RegisterLowering::addressOfFirst(LoadOp op) {
  Slice slice = Slice::of(op);
  return kernel.safeAddress(
      slice,
      kernel.viewIndices(slice, localIndices(slice, op.getResult(), 0, 0)),
      /*inside=*/Value());
}

/// The first step's words, if there is one.
RegisterLowering::StepsAhead RegisterLowering::loadFirst(scf::ForOp loop,
                                                         Scalars &inits) {
  StepsAhead loads = loadsAhead(loop);
  if (loads.empty())
    return loads;
  Value first = b.wide(kernel.scalars.lookup(loop.getLowerBound()));
  kernel.scalars.map(loop.getInductionVar(), first);
  Scalars addresses;
  SmallVector<Type> types;
  for (LoadOp op : loads) {
    Slice slice = Slice::of(op);
    addresses.push_back(addressOfFirst(op));
    types.append(wordsOf(op),
                 kernel.wordType(slice, widthOf(slice, op.getResult())));
  }
  auto choice = scf::IfOp::create(b, types, b.below(first, kernel.length()),
                                  /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    Scalars words, zeros;
    for (auto [op, address] : llvm::zip(loads, addresses))
      loadAt(op, address, words);
    scf::YieldOp::create(b, words);
    b.setInsertionPointToStart(choice.elseBlock());
    for (Type type : types)
      zeros.push_back(arith::ConstantOp::create(b, b.getZeroAttr(type)));
    scf::YieldOp::create(b, zeros);
  }
  inits.append(choice.getResults().begin(), choice.getResults().end());
  inits.append(addresses);
  return loads;
}

/// After the last step comes the last one again: what is read is there.
RegisterLowering::Scalars RegisterLowering::loadNext(scf::ForOp loop,
                                                     const StepsAhead &loads,
                                                     ValueRange carried) {
  Scalars next, addresses;
  if (loads.empty())
    return next;
  for (LoadOp op : loads) {
    int64_t count = wordsOf(op);
    ahead[op] = Scalars(carried.take_front(count));
    carried = carried.drop_front(count);
  }
  Value step = b.wide(kernel.scalars.lookup(loop.getInductionVar())),
        stride = b.wide(kernel.scalars.lookup(loop.getStep()));
  auto isThere = [&](int64_t steps) {
    return b.below(b.add(step, b.mul(stride, b.i64(steps))), kernel.length());
  };
  Value hasNext = isThere(1), hasLater = isThere(kStepsToCache + 1);
  for (auto [op, address] : llvm::zip(loads, carried)) {
    Slice slice = Slice::of(op);
    Value elements = b.mul(kernel.stepStride(slice), stride);
    Value place =
        kernel.advance(slice, address, b.select(hasNext, elements, b.i64(0)));
    kernel.prefetch(
        kernel.advance(slice, place, b.mul(elements, b.i64(kStepsToCache))),
        hasLater);
    loadAt(op, place, next);
    addresses.push_back(place);
  }
  next.append(addresses);
  return next;
}
