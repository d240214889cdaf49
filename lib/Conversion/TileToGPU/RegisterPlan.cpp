//===- RegisterPlan.cpp - Which axes lie across threads -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RegisterPlan.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// Largest axis that every thread may hold whole, and most scalars of a tile.
static constexpr int64_t kMaxReplicated = 16, kMaxScalars = 160;
/// Elements of a state that a thread holds at most, and warps of an item.
static constexpr int64_t kElementsPerThread = 64, kMaxWarps = 8;
/// Warps of an item that are enough to keep a multiprocessor's schedulers busy.
static constexpr int64_t kFewWarps = 4;
/// The widest access of a thread, and neighbouring rows that it holds at most:
/// that much of a vector of keys in 16 bits.
static constexpr int64_t kAccessBits = 128, kRowsInTurn = 8;

static StringRef nameOf(AxisKind kind) {
  return kind == AxisKind::Key     ? "key"
         : kind == AxisKind::Value ? "value"
                                   : "replicated";
}

unsigned RegisterPlan::nodeOf(Value tile, unsigned axis) {
  auto [it, inserted] = nodes.try_emplace({tile, axis}, parent.size());
  if (inserted) {
    parent.push_back(parent.size());
    kinds.push_back(AxisKind::Unknown);
    extents.push_back(tensorType(tile).getDimSize(axis));
  }
  return it->second;
}

unsigned RegisterPlan::find(unsigned node) const {
  while (parent[node] != node)
    node = parent[node];
  return node;
}

void RegisterPlan::tie(Value a, unsigned axisA, Value b, unsigned axisB) {
  if (isSplat(a) || isSplat(b))
    return;
  unsigned x = find(nodeOf(a, axisA)), y = find(nodeOf(b, axisB));
  if (x == y)
    return;
  AxisKind other = kinds[y];
  parent[y] = x;
  if (other != AxisKind::Unknown)
    fix(a, axisA, other);
}

void RegisterPlan::fix(Value tile, unsigned axis, AxisKind kind) {
  if (isSplat(tile))
    return;
  AxisKind &known = kinds[find(nodeOf(tile, axis))];
  if (known != AxisKind::Unknown && known != kind && !conflict) {
    conflict = true;
    conflictText = ("an axis of " + Twine(tensorType(tile).getDimSize(axis)) +
                    " elements is both a " + nameOf(known) + " and a " +
                    nameOf(kind) + " axis")
                       .str();
  }
  known = kind;
}

void RegisterPlan::constrainSlice(const Slice &slice, ProgramOp program,
                                  Value tile) {
  auto view = cast<ViewType>(slice.view.getType());
  for (auto [tileAxis, viewAxis] : llvm::enumerate(slice.axisOfTile)) {
    if (viewAxis == 0 && view.hasTime())
      fix(tile, tileAxis, AxisKind::Replicated);
    else if (slice.offsets[viewAxis].getDefiningOp<ValueOffsetOp>())
      fix(tile, tileAxis, AxisKind::Value);
  }
}

void RegisterPlan::constrain(Operation *op) {
  auto tieAll = [&](Value a, Value b) {
    for (unsigned axis = 0, e = tensorType(a).getRank(); axis < e; ++axis)
      tie(a, axis, b, axis);
  };
  auto program = op->getParentOfType<ProgramOp>();
  if (auto load = dyn_cast<LoadOp>(op))
    return constrainSlice(Slice::of(load), program, load.getResult());
  if (auto store = dyn_cast<StoreOp>(op))
    return constrainSlice(Slice::of(store), program, store.getValue());
  if (auto dot = dyn_cast<DotOp>(op)) {
    unsigned left = dot.getTransposeLhs() ? 1 : 0,
             right = dot.getTransposeRhs() ? 0 : 1;
    tie(dot.getResult(), 0, dot.getLhs(), left);
    tie(dot.getResult(), 1, dot.getRhs(), right);
    tie(dot.getLhs(), 1 - left, dot.getRhs(), 1 - right);
    return tieAll(dot.getResult(), dot.getAcc());
  }
  if (auto solve = dyn_cast<SolveOp>(op)) {
    fix(solve.getMatrix(), 0, AxisKind::Replicated);
    fix(solve.getMatrix(), 1, AxisKind::Replicated);
    fix(solve.getResult(), 0, AxisKind::Replicated);
    return tieAll(solve.getResult(), solve.getRhs());
  }
  if (auto sum = dyn_cast<GateSumOp>(op)) {
    fix(sum.getResult(), 0, AxisKind::Replicated);
    return tieAll(sum.getResult(), sum.getGates());
  }
  if (auto decay = dyn_cast<DecayMatrixOp>(op)) {
    fix(decay.getRows(), 0, AxisKind::Replicated);
    fix(decay.getColumns(), 0, AxisKind::Replicated);
    fix(decay.getResult(), 0, AxisKind::Replicated);
    return fix(decay.getResult(), 1, AxisKind::Replicated);
  }
  if (auto scale = dyn_cast<ScaleRowsOp>(op)) {
    tie(scale.getResult(), 0, scale.getScale(), 0);
    return tieAll(scale.getResult(), scale.getInput());
  }
  if (auto scale = dyn_cast<ScaleColumnsOp>(op)) {
    tie(scale.getResult(), 1, scale.getScale(), 0);
    return tieAll(scale.getResult(), scale.getInput());
  }
  if (auto sum = dyn_cast<SumColumnsOp>(op))
    return tie(sum.getResult(), 0, sum.getInput(), 0);
  if (auto last = dyn_cast<SplatLastOp>(op))
    return fix(last.getInput(), 0, AxisKind::Replicated);
  if (auto repeat = dyn_cast<BroadcastOp>(op))
    return tie(repeat.getResult(), repeat.getAlongRows() ? 1 : 0,
               repeat.getInput(), 0);
  if (auto stack = dyn_cast<InterleaveOp>(op)) {
    fix(stack.getResult(), 0, AxisKind::Replicated);
    for (Value input : stack.getInputs()) {
      fix(input, 0, AxisKind::Replicated);
      if (tensorType(input).getRank() == 2)
        tie(stack.getResult(), 1, input, 1);
    }
    return;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    auto yielded = loop.getBody()->getTerminator()->getOperands();
    for (auto [init, carried, next, result] :
         llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), yielded,
                   loop.getResults()))
      if (isTensor(carried)) {
        tieAll(carried, init);
        tieAll(carried, next);
        tieAll(carried, result);
      }
    return;
  }
  if (isElementwise(op) || isa<MaskRowsOp>(op))
    for (Value operand : op->getOperands())
      if (isTensor(operand))
        tieAll(op->getResult(0), operand);
}

/// What nothing has decided: small axes are replicated, others hold keys.
LogicalResult RegisterPlan::settle(ProgramOp program, std::string &reason) {
  if (conflict) {
    reason = conflictText;
    return failure();
  }
  program.getBody().walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (isTensor(result) && !isSplat(result))
        for (unsigned axis = 0, e = tensorType(result).getRank(); axis < e;
             ++axis)
          nodeOf(result, axis);
  });
  // A state's other axis holds keys, whatever its extent.
  program.getBody().walk([&](scf::ForOp loop) {
    for (Value carried : loop.getRegionIterArgs())
      if (isTensor(carried) && tensorType(carried).getRank() == 2)
        for (unsigned axis : {0u, 1u})
          if (kind(carried, 1 - axis) == AxisKind::Value &&
              kind(carried, axis) == AxisKind::Unknown)
            fix(carried, axis, AxisKind::Key);
  });
  for (unsigned node = 0; node < parent.size(); ++node) {
    AxisKind &known = kinds[find(node)];
    if (known == AxisKind::Unknown)
      known = extents[node] <= kMaxReplicated ? AxisKind::Replicated
                                              : AxisKind::Key;
    if (known == AxisKind::Replicated && extents[node] > kMaxReplicated) {
      reason = "an axis of " + std::to_string(extents[node]) +
               " elements would be whole in every thread (at most " +
               std::to_string(kMaxReplicated) + ")";
      return failure();
    }
  }
  return success();
}

AxisKind RegisterPlan::kind(Value tile, unsigned axis) const {
  auto it = nodes.find({tile, axis});
  return it == nodes.end() ? AxisKind::Unknown : kinds[find(it->second)];
}

int64_t RegisterPlan::elementsOf(AxisKind kind, int64_t extent) const {
  switch (kind) {
  case AxisKind::Value:
    return columnsPerThread;
  case AxisKind::Key:
    return llvm::divideCeil(extent, lanesPerColumn * rowsInTurn) * rowsInTurn;
  default:
    return extent;
  }
}

AxisKind RegisterPlan::contractionKind(DotOp dot) const {
  if (!isSplat(dot.getLhs()))
    return kind(dot.getLhs(), dot.getTransposeLhs() ? 0 : 1);
  return kind(dot.getRhs(), dot.getTransposeRhs() ? 1 : 0);
}

int64_t RegisterPlan::scalarsOf(Value tile) const {
  int64_t count = 1;
  for (unsigned axis = 0, e = tensorType(tile).getRank(); axis < e; ++axis)
    count *= perThread(tile, axis);
  return count;
}

/// Sums over value columns would cross threads that share nothing.
LogicalResult RegisterPlan::checkReductions(ProgramOp program,
                                            std::string &reason) const {
  auto result = program.getBody().walk([&](Operation *op) -> WalkResult {
    if (auto store = dyn_cast<StoreOp>(op);
        store && isSplat(store.getValue())) {
      reason = "it stores a constant";
      return WalkResult::interrupt();
    }
    auto dot = dyn_cast<DotOp>(op);
    if (dot && contractionKind(dot) == AxisKind::Unknown) {
      reason = "it multiplies two constants";
      return WalkResult::interrupt();
    }
    auto sum = dyn_cast<SumColumnsOp>(op);
    if ((dot && contractionKind(dot) == AxisKind::Value) ||
        (sum && !isSplat(sum.getInput()) &&
         kind(sum.getInput(), 1) == AxisKind::Value)) {
      reason = "a sum runs over value columns";
      return WalkResult::interrupt();
    }
    for (Value tile : op->getResults())
      if (isTensor(tile) && !isSplat(tile) && scalarsOf(tile) > kMaxScalars) {
        reason = "a thread would hold " + std::to_string(scalarsOf(tile)) +
                 " elements of one tile (at most " +
                 std::to_string(kMaxScalars) + ")";
        return WalkResult::interrupt();
      }
    for (Value tile : op->getResults())
      if (isTensor(tile) && !isSplat(tile) && tensorType(tile).getRank() == 2 &&
          kind(tile, 0) == kind(tile, 1) &&
          kind(tile, 0) != AxisKind::Replicated) {
        reason =
            "both axes of a tile are " + nameOf(kind(tile, 0)).str() + " axes";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Elements of the program's arrays of states that are one wide access; 1 where
/// a block of values is no multiple of so many.
static int64_t columnsOfAccess(ProgramOp program) {
  int64_t columns = 4;
  for (Type type : program.getArgumentTypes()) {
    auto view = cast<ViewType>(type);
    if (view.getRank() == 2 && !view.hasTime())
      columns = kAccessBits / view.getElementType().getIntOrFloatBitWidth();
  }
  while (columns > 1 && (int64_t(program.getValueBlock()) % columns ||
                         int64_t(program.getValues()) % columns))
    columns /= 2;
  return columns;
}

/// Whether a loop over steps has functions of value columns alone, which every
/// lane of a column would compute for itself.
bool RegisterPlan::hasFunctionsOfColumns(ProgramOp program) const {
  auto result = program.getBody().walk([&](Operation *op) {
    if (!isa<math::MathDialect>(op->getDialect()) || !isElementwise(op) ||
        !op->getParentOfType<scf::ForOp>())
      return WalkResult::advance();
    Value tile = op->getResult(0);
    bool hasKeys = false, hasValues = false;
    for (unsigned axis = 0, e = tensorType(tile).getRank(); axis < e; ++axis) {
      hasKeys |= kind(tile, axis) == AxisKind::Key;
      hasValues |= kind(tile, axis) == AxisKind::Value;
    }
    return hasValues && !hasKeys ? WalkResult::interrupt()
                                 : WalkResult::advance();
  });
  return result.wasInterrupted();
}

void RegisterPlan::chooseLanes(ProgramOp program, int64_t warpSize) {
  int64_t keys = 1, columns = program.getValueBlock();
  for (unsigned node = 0; node < parent.size(); ++node)
    if (kinds[find(node)] == AxisKind::Key)
      keys = std::max(keys, extents[node]);
  columnsPerThread = columnsOfAccess(program);
  auto rows = [&]() -> int64_t {
    return llvm::divideCeil(keys, lanesPerColumn);
  };
  // Elementwise maps are a tile beside the state.
  int64_t most = kElementsPerThread;
  program.getBody().walk([&](scf::ForOp loop) {
    if (program.getSegmentItems() == SegmentItems::Inner &&
        loop.getNumRegionIterArgs() == 2)
      most = kElementsPerThread / 2;
  });
  // Few columns: more lanes each, rather than fewer warps, unless one has room
  // for all keys and they would do the same.
  bool wantsOneLane = keys <= kMaxReplicated && hasFunctionsOfColumns(program);
  while (wantsOneLane && columnsPerThread > 1 &&
         columns < warpSize * columnsPerThread)
    columnsPerThread /= 2;
  while (lanesPerColumn < warpSize && rows() * columnsPerThread > most)
    lanesPerColumn *= 2;
  while (!wantsOneLane && lanesPerColumn < warpSize &&
         lanesPerColumn * 2 <= keys &&
         columns * lanesPerColumn * 2 <=
             warpSize * columnsPerThread * kFewWarps)
    lanesPerColumn *= 2;
  while (columnsPerThread > 1 &&
         columns * lanesPerColumn < warpSize * columnsPerThread)
    columnsPerThread /= 2;
  while (rowsInTurn < kRowsInTurn && rows() % (rowsInTurn * 2) == 0 &&
         keys % (lanesPerColumn * rowsInTurn * 2) == 0)
    rowsInTurn *= 2;
  columnsPerWarp = warpSize / lanesPerColumn * columnsPerThread;
  int64_t warps = llvm::divideCeil(columns, columnsPerWarp);
  warpsPerItem = std::min(warps, kMaxWarps);
  columnGroups = llvm::divideCeil(warps, warpsPerItem);
  itemsPerBlock = std::max<int64_t>(1, kFewWarps / warpsPerItem);
}

FailureOr<RegisterPlan> RegisterPlan::make(ProgramOp program, int64_t warpSize,
                                           std::string &reason) {
  RegisterPlan plan;
  if (program.getChunk() != 1) {
    reason = "the chunk is " + std::to_string(program.getChunk()) + ", not 1";
    return failure();
  }
  auto result = program.getBody().walk([&](Operation *op) -> WalkResult {
    if (isRounded(op)) {
      reason = "it holds a tile of 16 bits";
      return WalkResult::interrupt();
    }
    bool known = isVirtual(op) || isComputedOnce(op) || isStructural(op) ||
                 isScalarOp(op);
    if (known && !decaysChannels(op)) {
      plan.constrain(op);
      return WalkResult::advance();
    }
    reason = ("it holds '" + op->getName().getStringRef() + "'").str();
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted() || failed(plan.settle(program, reason)))
    return failure();
  plan.chooseLanes(program, warpSize);
  if (failed(plan.checkReductions(program, reason)))
    return failure();
  return plan;
}
