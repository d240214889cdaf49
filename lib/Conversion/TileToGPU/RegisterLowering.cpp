//===- RegisterLowering.cpp - A value column per group of lanes -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RegisterLowering.h"
#include "ElementOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

void RegisterLowering::placeThread() {
  Value warp = b.divide(kernel.thread(), warpSize),
        lane = b.remainder(kernel.thread(), warpSize);
  int64_t columnLanes = warpSize / plan.lanesOfWarp();
  Value warpInItem = b.remainder(warp, plan.warpsPerItem);
  keyLane = b.divide(lane, columnLanes);
  if (plan.keyWarps > 1)
    keyLane = b.add(b.mul(warpInItem, b.i32(plan.lanesOfWarp())), keyLane);
  firstKey = b.mul(keyLane, b.i32(plan.rowsInTurn));
  column = b.mul(b.remainder(lane, columnLanes), b.i32(plan.columnsPerThread));
  if (plan.keyWarps == 1)
    column = b.add(b.mul(warpInItem, b.i32(plan.columnsPerWarp)), column);
}

void RegisterLowering::enterGroups() {
  if (plan.columnGroups == 1)
    return;
  auto loop =
      scf::ForOp::create(b, b.i32(0), b.i32(plan.columnGroups), b.i32(1));
  b.setInsertionPointToStart(loop.getBody());
  column = b.add(column,
                 b.mul(loop.getInductionVar(), b.i32(plan.columnsPerGroup())));
}

void RegisterLowering::emit(llvm::function_ref<Value()> memory) {
  memoryOfBlock = memory;
  Value item = kernel.block();
  OpBuilder::InsertionGuard guard(b);
  if (plan.itemsPerBlock > 1) {
    // Whole warps beyond the last item stay out: no shuffle misses a lane.
    Value warp = b.divide(kernel.thread(), warpSize);
    item = b.add(b.mul(item, b.i64(plan.itemsPerBlock)),
                 b.wide(b.divide(warp, plan.warpsPerItem)));
    auto choice = scf::IfOp::create(b, b.below(item, kernel.countItems()),
                                    /*withElseRegion=*/false);
    b.setInsertionPointToStart(choice.thenBlock());
  }
  kernel.enterItem(item);
  placeThread();
  enterGroups();
  emitVersions();
}

void RegisterLowering::emitVersion(Block &body, bool isWide) {
  wide = isWide;
  held.clear();
  emitOps(body);
}

/// The program with wide accesses where the call's arrays are aligned so, and
/// with single elements where they are not. With wide ones again for one step.
void RegisterLowering::emitVersions() {
  Block &body = kernel.getProgram().getBody().front();
  Value aligned = allAligned();
  if (!aligned) // with accesses of one element each
    return emitVersion(body, /*isWide=*/true);
  OpBuilder::InsertionGuard guard(b);
  if (hasOneStep()) {
    auto rest = scf::IfOp::create(b, emitOneStep(body, aligned),
                                  /*withElseRegion=*/false);
    b.setInsertionPointToStart(rest.thenBlock());
  }
  auto choice = scf::IfOp::create(b, aligned, /*withElseRegion=*/true);
  b.setInsertionPointToStart(choice.thenBlock());
  emitVersion(body, /*isWide=*/true);
  b.setInsertionPointToStart(choice.elseBlock());
  emitVersion(body, /*isWide=*/false);
}

Value RegisterLowering::localIndex(AxisKind kind, int64_t i) {
  auto from = [&](Value first, int64_t offset) {
    return offset ? b.add(first, b.i32(offset)) : first;
  };
  if (kind == AxisKind::Value)
    return from(column, i);
  if (kind == AxisKind::Key)
    return from(firstKey, plan.rowOffset(i));
  return b.i32(i);
}

bool RegisterLowering::isInside(AxisKind kind, int64_t extent, int64_t i) {
  if (kind == AxisKind::Value)
    return plan.columnsPerGroup() * plan.columnGroups <= extent;
  int64_t last = (plan.lanesPerColumn - 1) * plan.rowsInTurn;
  return kind != AxisKind::Key || plan.rowOffset(i) + last < extent;
}

Value RegisterLowering::localInside(AxisKind kind, int64_t extent, int64_t i) {
  return isInside(kind, extent, i)
             ? Value()
             : b.below(localIndex(kind, i), b.i32(extent));
}

Value RegisterLowering::sumOver(
    AxisKind kind, int64_t extent, Type type, int64_t sums,
    function_ref<std::pair<Value, Value>(int64_t)> factors) {
  int64_t count =
      kind == AxisKind::Key ? plan.elementsOf(kind, extent) : extent;
  // Four independent chains hide the latency of the multiply-adds.
  SmallVector<Value> chains(
      std::clamp<int64_t>(4 / sums, 1, std::max<int64_t>(1, count)));
  for (int64_t i = 0; i < count; ++i) {
    auto [left, right] = factors(i);
    // Rows past the last key hold whatever elementwise ops made of zeros.
    if (Value inside = localInside(kind, extent, i)) {
      left = b.select(inside, left, b.real(type, 0.0));
      if (right)
        right = b.select(inside, right, b.real(type, 0.0));
    }
    Value &chain = chains[i % chains.size()];
    if (!chain)
      chain = right ? b.mul(left, right) : left;
    else if (right)
      chain = math::FmaOp::create(b, left, right, chain);
    else
      chain = b.add(chain, left);
  }
  while (chains.size() > 1) {
    Value last = chains.pop_back_val();
    size_t partner = chains.size() / 2;
    chains[partner] = b.add(chains[partner], last);
  }
  return kind == AxisKind::Key
             ? sumOverLanes(b, chains.front(), plan.lanesPerColumn,
                            warpSize / plan.lanesPerColumn)
             : chains.front();
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

std::pair<int64_t, int64_t> RegisterLowering::shapeOf(Value tile) {
  if (tensorType(tile).getRank() == 1)
    return {1, plan.perThread(tile, 0)};
  return {plan.perThread(tile, 0), plan.perThread(tile, 1)};
}

Value RegisterLowering::get(Value tile, int64_t i, int64_t j) {
  if (!isTensor(tile))
    return kernel.scalars.lookup(tile);
  if (isSplat(tile))
    return splatScalar(b, tile.getDefiningOp(), kernel.scalars);
  if (isRecomputed(tile))
    return recompute(tile, i, j);
  auto [rows, columns] = shapeOf(tile);
  const Scalars &scalars = held.find(tile)->second;
  return scalars[rows == 1 ? j : i * columns + j];
}

std::pair<Value, Value> RegisterLowering::factorsOf(DotOp op, int64_t i,
                                                    int64_t j, int64_t k) {
  Value left = op.getTransposeLhs() ? get(op.getLhs(), k, i)
                                    : get(op.getLhs(), i, k),
        right = op.getTransposeRhs() ? get(op.getRhs(), j, k)
                                     : get(op.getRhs(), k, j);
  return {left, right};
}

Value RegisterLowering::elementOfDot(DotOp op, int64_t i, int64_t j) {
  auto [rows, columns] = shapeOf(op.getResult());
  AxisKind kind = plan.contractionKind(op);
  Type type = tensorType(op.getResult()).getElementType();
  // Nothing is added to a zero.
  bool isZero = matchPattern(op.getAcc(), m_AnyZeroFloat());
  Value result = isZero ? Value() : get(op.getAcc(), i, j);
  auto factors = [&](int64_t k) { return factorsOf(op, i, j, k); };
  if (kind == AxisKind::Key) {
    Value sum = sumOver(kind, op.getK(), type, rows * columns, factors);
    return result ? b.add(result, sum) : sum;
  }
  for (int64_t k = 0, e = op.getK(); k < e; ++k) {
    auto [left, right] = factors(k);
    result = result ? math::FmaOp::create(b, left, right, result).getResult()
                    : b.mul(left, right);
  }
  return result;
}

void RegisterLowering::emitDot(DotOp op) {
  auto [rows, columns] = shapeOf(op.getResult());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      Value element = elementOfDot(op, i, j);
      held[op.getResult()].push_back(element);
    }
}

void RegisterLowering::emitSolve(SolveOp op) {
  auto [rows, columns] = shapeOf(op.getResult());
  Scalars &x = held[op.getResult()];
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      Value value = get(op.getRhs(), i, j);
      for (int64_t k = 0; k < i; ++k) {
        Value factor = arith::NegFOp::create(b, get(op.getMatrix(), i, k));
        value = math::FmaOp::create(b, factor, x[k * columns + j], value);
      }
      x.push_back(value);
    }
}

void RegisterLowering::emitSumColumns(SumColumnsOp op) {
  Value input = op.getInput();
  Type type = tensorType(input).getElementType();
  AxisKind kind = isSplat(input) ? AxisKind::Replicated : plan.kind(input, 1);
  int64_t sums = shapeOf(op.getResult()).second;
  for (int64_t i = 0; i < sums; ++i)
    held[op.getResult()].push_back(sumOver(
        kind, tensorType(input).getDimSize(1), type, sums,
        [&](int64_t j) { return std::pair(get(input, i, j), Value()); }));
}

Value RegisterLowering::decayOf(DecayMatrixOp op, int64_t i, int64_t j) {
  ArrayRef<int64_t> rowOrder = op.getRowOrder(),
                    columnOrder = op.getColumnOrder();
  if (op.getTransposed())
    std::swap(i, j);
  int64_t perRow = rowOrder.size(), perColumn = columnOrder.size();
  bool seen = j / perColumn < i / perRow ||
              (j / perColumn == i / perRow &&
               columnOrder[j % perColumn] < rowOrder[i % perRow]);
  Type type = tensorType(op.getResult()).getElementType();
  if (!seen)
    return b.real(type, 0.0);
  return decayBetween(b, get(op.getRows(), 0, i), get(op.getColumns(), 0, j),
                      type);
}

Value RegisterLowering::elementOf(Operation *op, int64_t i, int64_t j) {
  bool isVector = tensorType(op->getResult(0)).getRank() == 1;
  if (auto scale = dyn_cast<ScaleRowsOp>(op))
    return b.mul(get(scale.getScale(), 0, i), get(scale.getInput(), i, j));
  if (auto scale = dyn_cast<ScaleColumnsOp>(op))
    return b.mul(get(scale.getScale(), 0, j), get(scale.getInput(), i, j));
  if (auto last = dyn_cast<SplatLastOp>(op))
    return get(last.getInput(), 0,
               tensorType(last.getInput()).getDimSize(0) - 1);
  if (auto repeat = dyn_cast<BroadcastOp>(op))
    return get(repeat.getInput(), 0, repeat.getAlongRows() ? j : i);
  if (auto decay = dyn_cast<DecayMatrixOp>(op))
    return decayOf(decay, i, j);
  if (auto units = dyn_cast<UnitColumnsOp>(op))
    return unitAt(b, units, localIndex(plan.kind(op->getResult(0), 0), i),
                  localIndex(plan.kind(op->getResult(0), 1), j),
                  kernel.scalars);
  if (auto stack = dyn_cast<InterleaveOp>(op)) {
    int64_t count = stack.getInputs().size(), position = isVector ? j : i;
    Value input = stack.getInputs()[position % count];
    return isVector ? get(input, 0, position / count)
                    : get(input, position / count, j);
  }
  if (auto mask = dyn_cast<MaskRowsOp>(op)) {
    AxisKind kind = plan.kind(op->getResult(0), 0);
    Value step = b.add(b.wide(kernel.scalars.lookup(mask.getFirst())),
                       b.wide(localIndex(kind, isVector ? j : i)));
    Value value = get(mask.getInput(), i, j);
    return b.select(b.below(step, kernel.length()), value,
                    b.real(value.getType(), 0.0));
  }
  if (auto sum = dyn_cast<GateSumOp>(op)) {
    Value gate = get(sum.getGates(), 0, j);
    return j == 0 ? gate : b.add(held[op->getResult(0)][j - 1], gate);
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(get(operand, i, j));
  if (isa<math::ExpOp>(op) && operands.front().getType().isF32())
    return approximateExp(b, operands.front());
  if (isa<math::ExpM1Op>(op) && operands.front().getType().isF32())
    return approximateExpM1(b, operands.front());
  if (isa<math::Log1pOp>(op) && operands.front().getType().isF32())
    return approximateLog1p(b, operands.front());
  return cloneElementwise(b, op, operands);
}

void RegisterLowering::emitElements(Operation *op) {
  auto [rows, columns] = shapeOf(op->getResult(0));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      Value element = elementOf(op, i, j);
      held[op->getResult(0)].push_back(element);
    }
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// Carried tiles become as many carried scalars.
void RegisterLowering::emitFor(scf::ForOp loop) {
  auto flatten = [&](Value tile, Value like, Scalars &out) {
    if (!isTensor(tile)) {
      out.push_back(kernel.scalars.lookup(tile));
      return;
    }
    auto [rows, columns] = shapeOf(like);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        out.push_back(get(tile, i, j));
  };
  auto unflatten = [&](Value tile, ValueRange &from) {
    if (!isTensor(tile)) {
      kernel.scalars.map(tile, from.front());
      from = from.drop_front();
      return;
    }
    auto [rows, columns] = shapeOf(tile);
    held[tile].assign(from.begin(), from.begin() + rows * columns);
    from = from.drop_front(rows * columns);
  };
  auto at = [&](Value v) { return kernel.scalars.lookup(v); };
  Scalars inits, next;
  for (auto [init, carried] :
       llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs()))
    flatten(init, carried, inits);
  auto ofOuterLoop = invariants;
  emitInvariants(loop);
  Ring ring;
  StepsAhead early;
  if (wide)
    ring = startRing(loop, inits);
  if (wide && !ring)
    early = loadFirst(loop, inits);
  auto made =
      scf::ForOp::create(b, at(loop.getLowerBound()), at(loop.getUpperBound()),
                         at(loop.getStep()), inits);
  kernel.scalars.map(loop.getInductionVar(), made.getInductionVar());
  ValueRange carriedScalars = made.getRegionIterArgs();
  for (Value carried : loop.getRegionIterArgs())
    unflatten(carried, carriedScalars);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(made.getBody());
    Scalars later = ring ? turnRing(loop, ring, carriedScalars)
                         : loadNext(loop, early, carriedScalars);
    emitOps(*loop.getBody());
    for (auto [operand, carried] :
         llvm::zip(loop.getBody()->getTerminator()->getOperands(),
                   loop.getRegionIterArgs()))
      flatten(operand, carried, next);
    next.append(later);
    if (!inits.empty())
      scf::YieldOp::create(b, next);
  }
  invariants = ofOuterLoop;
  if (ring)
    NVVM::CpAsyncWaitGroupOp::create(b, uint32_t(0));
  ValueRange results = made.getResults();
  for (Value result : loop.getResults())
    unflatten(result, results);
}

void RegisterLowering::emitOps(Block &block) {
  for (Operation &op : block.without_terminator())
    if (!invariants.contains(&op))
      emitOp(&op);
}

void RegisterLowering::emitOp(Operation *op) {
  b.setLoc(op->getLoc());
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitLoop(loop);
  if (op->getNumResults() == 1 && isRecomputed(op->getResult(0)))
    return;
  if (auto store = dyn_cast<StoreOp>(op))
    return emitStore(store);
  if (auto load = dyn_cast<LoadOp>(op))
    return emitLoad(load);
  if (auto dot = dyn_cast<DotOp>(op))
    return emitDot(dot);
  if (auto solve = dyn_cast<SolveOp>(op))
    return emitSolve(solve);
  if (auto sum = dyn_cast<SumColumnsOp>(op))
    return emitSumColumns(sum);
  if (op->getNumResults() == 1 && isTensor(op->getResult(0))) {
    if (!isSplat(op->getResult(0)))
      emitElements(op);
    return;
  }
  kernel.cloneScalarOp(op);
}
