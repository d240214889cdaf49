//===- CopiedStep.cpp - One step beside bulk copies of its state ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CopiedStep.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// What a thread has of the state, and of a row of it: one access.
static constexpr int64_t kRows = 8, kColumns = 8;
/// Warps of a block, and of a multiprocessor: 80 registers for a thread, and no
/// spill. With 32, and 64 registers, a step takes 1 % longer. Of more inputs in
/// a thread (decays of keys) 80 are too few.
static constexpr int64_t kFewestWarps = 4, kMostWarps = 8, kWarpsAtOnce = 24,
                         kWarpsOfManyInputs = 16, kManyInputs = 28;
/// Elements that a thread sums up at once, beside their factors.
static constexpr int64_t kMostSums = 20;
static constexpr int64_t kBarrierBytes = 8, kWordBytes = 4, kAlignment = 16;
/// Columns of a thread where the call is another one.
static constexpr int64_t kFewColumns = 2;

int64_t CopiedStep::blocksAtOnce() const {
  int64_t inputs = 0;
  scf::ForOp steps = loop;
  for (LoadOp input : steps.getBody()->getOps<LoadOp>()) {
    int64_t elements = 1;
    for (unsigned axis = 0, e = input.getType().getRank(); axis < e; ++axis)
      elements *= rows.perThread(input.getResult(), axis);
    inputs += elements;
  }
  return (inputs > kManyInputs ? kWarpsOfManyInputs : kWarpsAtOnce) / warps();
}

bool CopiedStep::isStateShaped(const RegisterPlan &plan, Value tile) {
  if (!isTensor(tile) || isSplat(tile) || tensorType(tile).getRank() != 2)
    return false;
  AxisKind first = plan.kind(tile, 0), second = plan.kind(tile, 1);
  return (first == AxisKind::Key && second == AxisKind::Value) ||
         (first == AxisKind::Value && second == AxisKind::Key);
}

//===----------------------------------------------------------------------===//
// The state
//===----------------------------------------------------------------------===//

static StringRef roleOf(Value view, ProgramOp program) {
  return program.getArgument_(cast<BlockArgument>(view).getArgNumber())
      .getRole()
      .getValue();
}

static bool isStep(scf::ForOp loop) {
  return loop.getUpperBound().getDefiningOp<LengthOp>() &&
         matchPattern(loop.getLowerBound(), m_Zero()) &&
         matchPattern(loop.getStep(), m_One());
}

/// One state, which a loop over steps is given and yields, and nothing else.
LogicalResult CopiedStep::findStates(ProgramOp program, std::string &reason) {
  auto refuse = [&](const char *why) {
    reason = why;
    return failure();
  };
  for (Operation &op : program.getBody().front().without_terminator()) {
    if (auto found = dyn_cast<LoadOp>(op)) {
      if (load)
        return refuse("it reads more than one state");
      load = found;
    } else if (auto found = dyn_cast<StoreOp>(op)) {
      if (store)
        return refuse("it writes more than one state");
      store = found;
    } else if (auto found = dyn_cast<scf::ForOp>(op)) {
      if (loop || !isStep(found) || found.getNumRegionIterArgs() != 1)
        return refuse("it is no loop over the steps of one state");
      loop = found;
    } else if (!isScalarOp(&op) && !isSplatConstant(&op) &&
               !isa<LengthOp, ValueOffsetOp>(op)) {
      return refuse("it computes tiles outside its steps");
    }
  }
  if (!load || !store || !loop || loop.getInitArgs()[0] != load.getResult() ||
      store.getValue() != loop.getResult(0) ||
      roleOf(load.getView(), program) != "initial_state" ||
      roleOf(store.getView(), program) != "final_state")
    return refuse("its steps do not lead from an initial to a final state");
  for (Value view : {load.getView(), store.getView()})
    if (cast<ViewType>(view.getType())
            .getElementType()
            .getIntOrFloatBitWidth() != 16)
      return refuse("its state is not of 16 bits");
  return success();
}

LogicalResult CopiedStep::placeThreads(const RegisterPlan &plan,
                                       int64_t warpSize, std::string &reason) {
  auto view = cast<ViewType>(load.getView().getType());
  keys = view.getShape()[0];
  values = view.getShape()[1];
  Value tile = load.getResult();
  RankedTensorType type = tensorType(tile);
  if (!type.getElementType().isF32() || type.getRank() != 2 ||
      plan.kind(tile, 0) != AxisKind::Key || type.getDimSize(0) != keys ||
      type.getDimSize(1) != values) {
    reason = "its rows of values are not whole in a block";
    return failure();
  }
  int64_t lanes = values / kColumns, ofWarp = warpSize * kRows * kColumns,
          warps = keys * values / ofWarp;
  if (values % kColumns || lanes == 0 || warpSize % lanes ||
      keys * values % ofWarp || warps < kFewestWarps || warps > kMostWarps) {
    reason = "a state of " + std::to_string(keys) + " keys x " +
             std::to_string(values) + " values is not " +
             std::to_string(kFewestWarps) + " to " +
             std::to_string(kMostWarps) + " warps of " + std::to_string(kRows) +
             " rows x " + std::to_string(kColumns) + " columns a thread";
    return failure();
  }
  rows = small = plan;
  rows.columnsPerThread = kColumns;
  rows.lanesPerColumn = keys / kRows;
  rows.rowsInTurn = kRows;
  rows.columnsPerWarp = values;
  rows.keyWarps = rows.warpsPerItem = warps;
  small.columnsPerThread = small.columnsPerWarp = kFewColumns;
  small.lanesPerColumn = warpSize;
  small.rowsInTurn = 1;
  small.warpsPerItem = warps;
  small.columnGroups = llvm::divideCeil(values, small.columnsPerGroup());
  rows.columnGroups = rows.itemsPerBlock = small.itemsPerBlock = 1;
  return success();
}

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

bool CopiedStep::isKeySum(Operation *op) const {
  if (auto dot = dyn_cast<DotOp>(op))
    return rows.contractionKind(dot) == AxisKind::Key;
  auto sum = dyn_cast<SumColumnsOp>(op);
  return sum && !isSplat(sum.getInput()) &&
         rows.kind(sum.getInput(), 1) == AxisKind::Key;
}

const KeySum *CopiedStep::sumOf(Operation *op) const {
  auto sum =
      llvm::find_if(sums, [&](const KeySum &sum) { return sum.op == op; });
  return sum == sums.end() ? nullptr : sum;
}

int64_t CopiedStep::levelOfOperands(Operation *op) const {
  int64_t level = 0;
  for (Value operand : op->getOperands())
    level = std::max(level, levelOf(operand));
  return level;
}

/// What is computed at each use must be cheap, and of one row of the state.
LogicalResult CopiedStep::checkOp(Operation *op, std::string &reason) const {
  auto refuse = [&](const Twine &why) {
    reason = why.str();
    return failure();
  };
  bool isKnown = isVirtual(op) || isScalarOp(op) ||
                 isa<LoadOp, StoreOp, DotOp, SumColumnsOp>(op);
  if (!isKnown)
    return refuse("a step has '" + op->getName().getStringRef() + "'");
  for (Value tile : op->getResults()) {
    if (!isTensor(tile) || isSplat(tile))
      continue;
    bool isState = isStateShaped(rows, tile);
    if (isState &&
        (isa<LoadOp>(op) || isa<math::MathDialect>(op->getDialect())))
      return refuse("a step has '" + op->getName().getStringRef() +
                    "' of keys x values");
    if (isState && rows.kind(tile, 0) != AxisKind::Key)
      return refuse("a step has a tile of values x keys");
    for (unsigned axis = 0, e = tensorType(tile).getRank(); axis < e; ++axis)
      if (rows.kind(tile, axis) == AxisKind::Key &&
          tensorType(tile).getDimSize(axis) != keys)
        return refuse("a step has keys of two numbers");
  }
  return success();
}

LogicalResult CopiedStep::addSum(Operation *op, std::string &reason) {
  Value tile = op->getResult(0);
  RankedTensorType type = tensorType(tile);
  KeySum sum{op, levelOfOperands(op) + 1, endOfSums, 1, 1, false};
  for (unsigned axis = 0, e = type.getRank(); axis < e; ++axis) {
    if (rows.kind(tile, axis) == AxisKind::Key) {
      reason = "a sum over keys has keys";
      return failure();
    }
    sum.hasValues |= rows.kind(tile, axis) == AxisKind::Value;
  }
  if (!type.getElementType().isF32() ||
      (sum.hasValues &&
       rows.kind(tile, type.getRank() - 1) != AxisKind::Value)) {
    reason = "a sum over keys is not of rows of f32";
    return failure();
  }
  if (type.getRank() == 2)
    sum.rows = rows.perThread(tile, 0);
  sum.columns = rows.perThread(tile, type.getRank() - 1);
  int64_t each = sum.hasValues ? values : sum.columns;
  endOfSums +=
      llvm::alignTo(sum.rows * each * warps() * kWordBytes, kAlignment);
  sums.push_back(sum);
  int64_t together = 0;
  for (const KeySum &other : sums)
    if (other.level == sum.level)
      together += other.rows * other.columns;
  if (together > kMostSums) {
    reason = "a thread would sum up " + std::to_string(together) +
             " elements at once (at most " + std::to_string(kMostSums) + ")";
    return failure();
  }
  return success();
}

bool CopiedStep::readsState(const KeySum &sum) const {
  return llvm::any_of(sum.op->getOperands(), [&](Value operand) {
    return isStateShaped(rows, operand);
  });
}

LogicalResult CopiedStep::findLevels(std::string &reason) {
  endOfSums =
      llvm::alignTo(firstBarrier() + warps() * kBarrierBytes, kAlignment);
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (failed(checkOp(&op, reason)))
      return failure();
    if (isKeySum(&op) && failed(addSum(&op, reason)))
      return failure();
    const KeySum *sum = sumOf(&op);
    for (Value result : op.getResults())
      levels[result] = sum ? sum->level : levelOfOperands(&op);
  }
  Value next = loop.getBody()->getTerminator()->getOperand(0);
  if (!isStateShaped(rows, next)) {
    reason = "a step yields no tile of keys x values";
    return failure();
  }
  // In place: behind the last sum that reads the words.
  storeLevel = levelOf(next);
  for (const KeySum &sum : sums)
    if (readsState(sum))
      storeLevel = std::max(storeLevel, sum.level - 1);
  return success();
}

/// What the next state and the parts of sums follow from, in every thread.
void CopiedStep::findNeeded() {
  SmallVector<Value> open = {loop.getBody()->getTerminator()->getOperand(0)};
  for (const KeySum &sum : sums)
    for (Value operand : sum.op->getOperands().take_front(2))
      open.push_back(operand);
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (op && op->getBlock() == loop.getBody() && needed.insert(op).second)
      llvm::append_range(open, op->getOperands());
  }
}

FailureOr<CopiedStep> CopiedStep::make(ProgramOp program,
                                       const RegisterPlan &plan,
                                       const targetinfo::GPUInfo &gpu,
                                       std::string &reason) {
  CopiedStep step;
  step.blocksAhead = gpu.multiprocessors;
  if (!gpu.hasBulkCopies()) {
    reason = gpu.chip + " has no bulk copies";
    return failure();
  }
  if (program.getSegments() || program.getReverse()) {
    reason = "its steps are cut into segments or go backwards";
    return failure();
  }
  if (failed(step.findStates(program, reason)) ||
      failed(step.placeThreads(plan, gpu.warpSize, reason)) ||
      failed(step.findLevels(reason)))
    return failure();
  step.findNeeded();
  return step;
}
