//===- RegisterTransfers.cpp - Loads and stores of the register strategy --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RegisterLowering.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

static constexpr int64_t kAccessBytes = 16;

//===----------------------------------------------------------------------===//
// Width
//===----------------------------------------------------------------------===//

/// Does an offset leave elements on a multiple of the width?
static bool startsAligned(Value offset, ProgramOp program, int64_t width) {
  APInt constant;
  if (matchPattern(offset, m_ConstantInt(&constant)))
    return constant.getSExtValue() % width == 0;
  return offset.getDefiningOp<ValueOffsetOp>() &&
         int64_t(program.getValueBlock()) % width == 0;
}

int64_t RegisterLowering::widthOf(const Slice &slice, Value tile) {
  unsigned last = slice.extents.size() - 1;
  AxisKind kind = plan.kind(tile, last);
  int64_t extent = slice.extents[last], axis = slice.axisOfTile[last];
  auto view = cast<ViewType>(slice.view.getType());
  int64_t bytes = view.getElementType().getIntOrFloatBitWidth() / 8;
  int64_t width = std::min(kind == AxisKind::Value ? plan.columnsPerThread
                           : kind == AxisKind::Key ? plan.rowsInTurn
                                                   : 1,
                           kAccessBytes / bytes);
  bool isWhole = isInside(kind, extent, plan.perThread(tile, last) - 1) &&
                 slice.isWhole(axis, kernel.getProgram());
  if (width == 1 || !isWhole || !kernel.isContiguous(slice) ||
      !startsAligned(slice.offsets[axis], kernel.getProgram(), width))
    return 1;
  return width;
}

Value RegisterLowering::allAligned() {
  llvm::MapVector<unsigned, int64_t> bytes; // of an argument's widest access
  auto note = [&](const Slice &slice, Value tile) {
    auto view = cast<ViewType>(slice.view.getType());
    int64_t width = widthOf(slice, tile);
    if (width == 1)
      return;
    int64_t &most = bytes[slice.view.getArgNumber()];
    most = std::max(
        most,
        width * int64_t(view.getElementType().getIntOrFloatBitWidth()) / 8);
  };
  kernel.getProgram().getBody().walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op))
      note(Slice::of(load), load.getResult());
    else if (auto store = dyn_cast<StoreOp>(op))
      note(Slice::of(store), store.getValue());
  });
  Value all;
  for (auto [argument, most] : bytes) {
    Value bits = kernel.misalignment(argument, most);
    all = all ? arith::OrIOp::create(b, all, bits).getResult() : bits;
  }
  return all ? arith::CmpIOp::create(b, arith::CmpIPredicate::eq, all, b.i64(0))
                   .getResult()
             : Value();
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

SmallVector<Value> RegisterLowering::localIndices(const Slice &slice,
                                                  Value tile, int64_t row,
                                                  int64_t column) {
  SmallVector<Value> local;
  if (slice.extents.size() == 2)
    local.push_back(localIndex(plan.kind(tile, 0), row));
  local.push_back(
      localIndex(plan.kind(tile, slice.extents.size() - 1), column));
  return local;
}

/// Condition that an element lies in its tile; null when known.
Value RegisterLowering::localCondition(const Slice &slice, Value tile,
                                       int64_t row, int64_t column) {
  Value inside;
  unsigned last = slice.extents.size() - 1;
  if (last == 1)
    inside = localInside(plan.kind(tile, 0), slice.extents[0], row);
  return b.both(
      inside, localInside(plan.kind(tile, last), slice.extents[last], column));
}

/// How much an index is below the number of steps, if that is a constant.
static std::optional<int64_t> belowLength(Value index) {
  if (index.getDefiningOp<LengthOp>())
    return 0;
  APInt offset;
  Operation *op = index.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op) ||
      !matchPattern(op->getOperand(1), m_ConstantInt(&offset)))
    return std::nullopt;
  std::optional<int64_t> below = belowLength(op->getOperand(0));
  if (!below)
    return std::nullopt;
  int64_t by = offset.getSExtValue();
  return *below + (isa<arith::SubIOp>(op) ? by : -by);
}

/// A number from 0 on, and below the bound of a loop around it.
static scf::ForOp loopOfInduction(Value index) {
  auto argument = dyn_cast<BlockArgument>(index);
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : scf::ForOp();
  APInt first;
  bool isFromZero = loop && argument == loop.getInductionVar() &&
                    matchPattern(loop.getLowerBound(), m_ConstantInt(&first)) &&
                    first.isZero();
  return isFromZero ? loop : scf::ForOp();
}

/// A step so many further on, but at most one that there is wherever the loop
/// runs at all.
static bool isClampedStep(Value index) {
  auto least = index.getDefiningOp<arith::MinSIOp>();
  auto ahead =
      least ? least.getLhs().getDefiningOp<arith::AddIOp>() : arith::AddIOp();
  APInt offset;
  if (!ahead || !matchPattern(ahead.getRhs(), m_ConstantInt(&offset)) ||
      offset.isNegative())
    return false;
  scf::ForOp loop = loopOfInduction(ahead.getLhs());
  std::optional<int64_t> bound = loop ? belowLength(loop.getUpperBound())
                                      : std::nullopt,
                         most = belowLength(least.getRhs());
  return bound && most && *most >= 1 && *most <= *bound + 1;
}

bool RegisterLowering::isStep(Value index) {
  scf::ForOp loop = loopOfInduction(index);
  if (!loop)
    return isClampedStep(index);
  std::optional<int64_t> bound = belowLength(loop.getUpperBound());
  return bound && *bound >= 0;
}

/// The argument is there, and so is the step, where that is no axis along which
/// a thread's elements of the row lie.
Value RegisterLowering::rowCondition(const Slice &slice, int64_t row) {
  auto view = cast<ViewType>(slice.view.getType());
  Value condition = isKnownThere(slice) ? Value() : kernel.present(slice);
  if (!view.hasTime())
    return condition;
  bool isVector = slice.extents.size() == 1;
  if (slice.axisOfTile[0] != 0) {
    if (isStep(slice.offsets[0]))
      return condition;
    Value step = b.wide(kernel.scalars.lookup(slice.offsets[0]));
    return b.both(condition, kernel.axisInside(slice, 0, step));
  }
  // With no step at all, row 0 is not there to be read.
  if (isVector && slice.extents[0] > 1)
    return b.both(condition, b.below(b.i64(0), kernel.length()));
  if (slice.extents[0] == 1 && isStep(slice.offsets[0]))
    return condition;
  Value step =
      b.add(b.wide(kernel.scalars.lookup(slice.offsets[0])), b.i64(row));
  return b.both(condition, kernel.axisInside(slice, 0, step));
}

/// Condition that an element lies in the view, on the axes that a row's
/// condition says nothing of; null when known.
static Value viewCondition(KernelBuilder &kernel, ScalarBuilder &b,
                           const Slice &slice, ValueRange indices) {
  auto view = cast<ViewType>(slice.view.getType());
  bool alongTime = slice.extents.size() == 1 && slice.axisOfTile[0] == 0 &&
                   slice.extents[0] > 1;
  unsigned first = view.hasTime() && !alongTime ? 1 : 0;
  return kernel.indicesInside(slice, indices, first);
}

/// Rows that have their condition in common: all, if they are not steps.
static int64_t rowsTogether(const Slice &slice, int64_t rows) {
  bool areSteps = slice.extents.size() == 2 && slice.axisOfTile[0] == 0 &&
                  cast<ViewType>(slice.view.getType()).hasTime();
  return areSteps ? 1 : rows;
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// What lies outside reads as zero: by a clamped index, so that the load itself
/// is unconditional.
void RegisterLowering::loadRow(const Slice &slice, Value tile, int64_t row,
                               Scalars &to) {
  Type type = tensorType(tile).getElementType();
  int64_t columns = shapeOf(tile).second,
          width = wide ? widthOf(slice, tile) : 1;
  for (int64_t j = 0; j < columns; j += width) {
    SmallVector<Value, 3> indices =
        kernel.viewIndices(slice, localIndices(slice, tile, row, j));
    if (width > 1) {
      to.append(kernel.unpackWords(
          slice,
          kernel.loadWords(slice, kernel.safeAddress(slice, indices, Value()),
                           /*offset=*/0, width),
          type));
      continue;
    }
    Value inside = b.both(localCondition(slice, tile, row, j),
                          viewCondition(kernel, b, slice, indices));
    if (inside)
      for (Value &index : indices)
        index = b.select(inside, index, b.i64(0));
    Value value = kernel.loadElement(slice, indices, type);
    to.push_back(inside ? b.select(inside, value, b.real(type, 0.0)) : value);
  }
}

/// Conditions that are the same for all threads of an item become a branch,
/// one for all rows where they have it in common.
void RegisterLowering::emitLoad(LoadOp op) {
  Slice slice = Slice::of(op);
  Value tile = op.getResult();
  Type type = tensorType(tile).getElementType();
  if (auto words = ahead.find(op); words != ahead.end()) {
    held[tile] = kernel.unpackWords(slice, words->second, type);
    ahead.erase(words);
    return;
  }
  auto [rows, columns] = shapeOf(tile);
  int64_t together = rowsTogether(slice, rows);
  for (int64_t first = 0; first < rows; first += together) {
    auto loadRows = [&] {
      Scalars loaded;
      for (int64_t i = first; i < first + together; ++i)
        loadRow(slice, tile, i, loaded);
      return loaded;
    };
    Value condition = rowCondition(slice, first);
    if (!condition) {
      held[tile].append(loadRows());
      continue;
    }
    auto choice = scf::IfOp::create(
        b, SmallVector<Type>(together * columns, type), condition,
        /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    scf::YieldOp::create(b, loadRows());
    b.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(b, Scalars(together * columns, b.real(type, 0.0)));
    held[tile].append(choice.getResults().begin(), choice.getResults().end());
  }
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

void RegisterLowering::storeRow(const Slice &slice, Value tile, int64_t row) {
  int64_t columns = shapeOf(tile).second,
          width = wide ? widthOf(slice, tile) : 1;
  for (int64_t j = 0; j < columns; j += width) {
    SmallVector<Value, 3> indices =
        kernel.viewIndices(slice, localIndices(slice, tile, row, j));
    if (width > 1) {
      Scalars values;
      for (int64_t i = 0; i < width; ++i)
        values.push_back(get(tile, row, j + i));
      kernel.storeElements(slice, indices, values);
      continue;
    }
    Value inside = b.both(localCondition(slice, tile, row, j),
                          viewCondition(kernel, b, slice, indices));
    OpBuilder::InsertionGuard guard(b);
    if (inside) {
      auto choice = scf::IfOp::create(b, inside, /*withElseRegion=*/false);
      b.setInsertionPointToStart(choice.thenBlock());
    }
    kernel.storeElement(slice, indices, get(tile, row, j));
  }
}

/// Of threads that hold the same element, the first one stores it.
void RegisterLowering::emitStore(StoreOp op) {
  Slice slice = Slice::of(op);
  Value tile = op.getValue();
  bool hasKey = false, hasValue = false;
  for (unsigned axis = 0; axis < slice.extents.size(); ++axis) {
    hasKey |= plan.kind(tile, axis) == AxisKind::Key;
    hasValue |= plan.kind(tile, axis) == AxisKind::Value;
  }
  auto isFirst = [&](Value index) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, index, b.i32(0));
  };
  Value writer;
  if (!hasKey && plan.lanesPerColumn > 1)
    writer = isFirst(keyLane);
  if (!hasValue)
    writer = b.both(writer, isFirst(column));
  int64_t rows = shapeOf(tile).first, together = rowsTogether(slice, rows);
  for (int64_t first = 0; first < rows; first += together) {
    OpBuilder::InsertionGuard guard(b);
    if (Value condition = b.both(writer, rowCondition(slice, first))) {
      auto choice = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
      b.setInsertionPointToStart(choice.thenBlock());
    }
    for (int64_t i = first; i < first + together; ++i)
      storeRow(slice, tile, i);
  }
}
