//===- PlainForm.cpp - A step of any ops, one token at a time -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "PlainForm.h"
#include "Prism/Conversion/ScanToTile/ScanToTile.h"
#include "Prism/Dialect/Scan/IR/StepIndices.h"
#include "Prism/Dialect/Scan/IR/StepOps.h"
#include "Prism/Dialect/Tile/IR/StepPrograms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace prism;

//===----------------------------------------------------------------------===//
// Which steps
//===----------------------------------------------------------------------===//

bool prism::hasPlainSteps(scan::RecurrenceOp op) {
  if (op->hasAttr(scan::kPlainStepsAttr))
    return true;
  Type first = op.getStateArgument(0).getType();
  for (unsigned i = 0; i < op.getNumStates(); ++i) {
    auto state = cast<RankedTensorType>(op.getStateArgument(i).getType());
    if (state.getRank() != 2 || (op.getMiniBatch() && state != first))
      return true;
  }
  bool isTurned = op.getNumStates() == 1 && scan::isValueFirst(op, 0);
  return llvm::any_of(op.getStepBlock()->without_terminator(),
                      [&](Operation &nested) {
                        return !scan::isTileOp(nested) &&
                               !(isTurned && isa<linalg::TransposeOp>(nested));
                      });
}

/// Ops that upstream's bufferization and our loops take.
static bool isTaken(Operation *op) {
  if (isa<scan::ScanDialect, arith::ArithDialect, math::MathDialect>(
          op->getDialect()))
    return !isa<scan::RecurrenceOp, scan::PrefixOp>(op);
  if (isa<linalg::LinalgDialect>(op->getDialect()))
    return isa<linalg::LinalgOp, linalg::YieldOp, linalg::IndexOp>(op);
  return isa<scf::IfOp, scf::ForOp, scf::YieldOp, tensor::EmptyOp,
             tensor::SplatOp, tensor::FromElementsOp, tensor::ExtractOp,
             tensor::InsertOp, tensor::ExtractSliceOp, tensor::InsertSliceOp,
             tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
             tensor::DimOp>(op);
}

/// Types that memory has, an element in bytes of its own.
static bool isElement(Type type) {
  if (type.isInteger())
    return llvm::is_contained({1, 8, 16, 32, 64}, type.getIntOrFloatBitWidth());
  return isa<IndexType, BFloat16Type, Float16Type, Float32Type, Float64Type>(
      type);
}

static LogicalResult checkType(Operation *at, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!isElement(isa<TensorType>(type) ? getElementTypeOrSelf(type) : type))
    return at->emitError("expected bf16, f16, f32, f64, index and integers of "
                         "1, 8, 16, 32 or 64 bits in a step that is taken "
                         "token by token, found ")
           << type;
  if (isa<TensorType>(type) && (!tensor || !tensor.hasStaticShape()))
    return at->emitError("expected tensors of static shape in a step that is "
                         "taken token by token, found ")
           << type;
  return success();
}

/// Of an op's results, and of the arguments of its blocks.
static LogicalResult checkTypes(Operation *op) {
  for (Type type : op->getResultTypes())
    if (failed(checkType(op, type)))
      return failure();
  for (Region &region : op->getRegions())
    for (Type type : region.getArgumentTypes())
      if (failed(checkType(op, type)))
        return failure();
  return success();
}

/// States, inputs and outputs of a token have two axes at most.
static LogicalResult checkRanks(scan::RecurrenceOp op) {
  auto check = [&](Type type, StringRef what) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getRank() <= 2)
      return success();
    return op.emitError("expected ")
           << what << " of at most two axes besides batch, time and heads, "
           << "found " << type;
  };
  for (unsigned i = 0; i < op.getNumStates(); ++i) {
    Type state = op.getStateArgument(i).getType();
    if (cast<RankedTensorType>(state).getRank() == 0)
      return op.emitError("expected states with an axis besides sequence and "
                          "head, found ")
             << state;
    if (failed(check(state, "states")))
      return failure();
  }
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    if (failed(check(op.getInputArgument(i).getType(), "inputs")))
      return failure();
  for (Value output : op.getYield().getValues().drop_front(op.getNumStates()))
    if (failed(check(output.getType(), "outputs")))
      return failure();
  return success();
}

LogicalResult PlainForm::check(scan::RecurrenceOp op) {
  if (failed(checkRanks(op)))
    return failure();
  WalkResult result =
      op.getBody().walk<WalkOrder::PreOrder>([&](Operation *nested) {
        if (!isTaken(nested)) {
          nested->emitError("'")
              << nested->getName()
              << "' has no serial form: inside a step that is taken token by "
                 "token, expected state factors, arith, math, linalg, scf.if, "
                 "scf.for and tensor ops of static shape";
          return WalkResult::interrupt();
        }
        if (failed(checkTypes(nested)))
          return WalkResult::interrupt();
        for (Value operand : nested->getOperands()) {
          Operation *producer = operand.getDefiningOp();
          bool isInside = op.getBody().isAncestor(operand.getParentRegion());
          if (isInside ||
              (producer && producer->hasTrait<OpTrait::ConstantLike>()))
            continue;
          nested->emitError(
              "takes a value from outside the step, expected one of "
              "the recurrence's inputs");
          return WalkResult::interrupt();
        }
        return WalkResult::advance();
      });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

static RankedTensorType tensorOf(Type step) {
  auto tensor = dyn_cast<RankedTensorType>(step);
  if (tensor && tensor.getRank() > 0)
    return tensor;
  return RankedTensorType::get({1}, getElementTypeOrSelf(step));
}

static bool isNumber(Type step) {
  auto tensor = dyn_cast<RankedTensorType>(step);
  return !tensor || tensor.getRank() == 0;
}

/// The first element of the step's part of a view.
SmallVector<Value> PlainForm::indices(Value view, Value step) {
  auto type = cast<tile::ViewType>(view.getType());
  Value zero = arith::ConstantIndexOp::create(b, op.getLoc(), 0);
  SmallVector<Value> at(type.getRank(), zero);
  if (type.hasTime())
    at.front() = step;
  return at;
}

Value PlainForm::loadState(unsigned i) {
  auto type = cast<RankedTensorType>(op.getStateArgument(i).getType());
  if (!initialViews.empty())
    return tile::LoadOp::create(b, op.getLoc(), type, initialViews[i],
                                indices(initialViews[i], {}),
                                /*one_step=*/false);
  Value zero = arith::ConstantOp::create(
      b, op.getLoc(), b.getFloatAttr(type.getElementType(), 0.0));
  return tensor::SplatOp::create(b, op.getLoc(), type, zero);
}

Value PlainForm::loadInput(unsigned i, Value step) {
  Type type = op.getInputArgument(i).getType();
  Location loc = op.getLoc();
  Value loaded = tile::LoadOp::create(b, loc, tensorOf(type), inputViews[i],
                                      indices(inputViews[i], step),
                                      /*one_step=*/!isNumber(type));
  if (!isNumber(type))
    return loaded;
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value number = tensor::ExtractOp::create(b, loc, loaded, zero);
  if (!isa<RankedTensorType>(type))
    return number;
  return tensor::FromElementsOp::create(b, loc, type, number);
}

void PlainForm::storeOutput(unsigned i, Value value, Value step) {
  Location loc = op.getLoc();
  Type type = value.getType();
  if (isNumber(type)) {
    if (isa<RankedTensorType>(type))
      value = tensor::ExtractOp::create(b, loc, value, ValueRange());
    value = tensor::FromElementsOp::create(b, loc, tensorOf(type), value);
  }
  auto tensor = cast<RankedTensorType>(value.getType());
  if (tensor.getElementTypeBitWidth() == 16)
    value = arith::ExtFOp::create(b, loc, tensor.clone(b.getF32Type()), value);
  tile::StoreOp::create(b, loc, value, outputViews[i],
                        indices(outputViews[i], step),
                        /*one_step=*/!isNumber(type));
}

/// The state itself on the first step of a mini-batch, else what it was then.
Value PlainForm::enterMiniBatch(Value step, Value state, Value entry) {
  Location loc = op.getLoc();
  Value size = arith::ConstantIndexOp::create(b, loc, *op.getMiniBatch());
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value place = arith::RemUIOp::create(b, loc, step, size);
  Value isFirst =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, place, zero);
  return scf::IfOp::create(
             b, loc, isFirst,
             [&](OpBuilder &then, Location) {
               Value copy =
                   linalg::CopyOp::create(then, loc, state, entry).getResult(0);
               scf::YieldOp::create(then, loc, copy);
             },
             [&](OpBuilder &otherwise, Location) {
               scf::YieldOp::create(otherwise, loc, entry);
             })
      .getResult(0);
}

/// Constants that stand before the recurrence.
void PlainForm::cloneConstants() {
  llvm::SetVector<Value> outside;
  getUsedValuesDefinedAbove(op.getBody(), outside);
  for (Value value : outside)
    map.map(value, b.clone(*value.getDefiningOp())->getResult(0));
}

SmallVector<Value> PlainForm::emitStep(Value step, ValueRange carried) {
  unsigned count = op.getNumStates();
  SmallVector<Value> next(carried);
  for (unsigned i = 0; i < count; ++i)
    map.map(op.getStateArgument(i), carried[i]);
  for (unsigned i = 0; i < op.getNumEntryStates(); ++i) {
    next[count + i] = enterMiniBatch(step, carried[i], carried[count + i]);
    map.map(op.getEntryStateArgument(i), next[count + i]);
  }
  for (unsigned i = 0; i < op.getInputs().size(); ++i)
    if (!op.getInputArgument(i).use_empty())
      map.map(op.getInputArgument(i), loadInput(i, step));
  for (Operation &nested : op.getStepBlock()->without_terminator())
    b.clone(nested, map);
  for (auto [i, value] : llvm::enumerate(op.getYield().getValues()))
    if (i < count)
      next[i] = map.lookup(value);
    else
      storeOutput(i - count, map.lookup(value), step);
  return next;
}

/// Whether a value is a place from 0 to `last` for certain.
static bool isInside(Value place, int64_t last) {
  if (std::optional<int64_t> number = getConstantIntValue(place))
    return *number >= 0 && *number <= last;
  auto argument = dyn_cast<BlockArgument>(place);
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : scf::ForOp();
  if (!loop || place != loop.getInductionVar())
    return false;
  std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound()),
                         to = getConstantIntValue(loop.getUpperBound());
  return from && to && *from >= 0 && *to <= last + 1;
}

/// A step's places lie where memory is, whatever its values are.
void PlainForm::keepInside(Operation *nested) {
  for (scan::StepIndex index : scan::indicesOf(nested)) {
    Value place = index.operand->get();
    if (isInside(place, index.last))
      continue;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(nested);
    Location loc = nested->getLoc();
    Value first = arith::ConstantIndexOp::create(b, loc, 0),
          last = arith::ConstantIndexOp::create(b, loc, index.last);
    index.operand->set(arith::MinSIOp::create(
        b, loc, arith::MaxSIOp::create(b, loc, place, first), last));
  }
}

void PlainForm::emit() {
  Location loc = op.getLoc();
  b.setInsertionPointToStart(&program.getBody().front());
  Value zero = arith::ConstantIndexOp::create(b, loc, 0),
        one = arith::ConstantIndexOp::create(b, loc, 1),
        length = tile::LengthOp::create(b, loc, b.getIndexType());
  cloneConstants();
  SmallVector<Value> carried;
  for (unsigned i = 0; i < op.getNumStates(); ++i)
    carried.push_back(loadState(i));
  if (op.getMiniBatch())
    llvm::append_range(carried, SmallVector<Value>(carried));
  auto loop = scf::ForOp::create(b, loc, zero, length, one, carried);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    SmallVector<Value> next =
        emitStep(loop.getInductionVar(), loop.getRegionIterArgs());
    scf::YieldOp::create(b, loc, next);
  }
  for (unsigned i = 0; i < op.getNumStates(); ++i)
    tile::StoreOp::create(b, loc, loop.getResult(i), finalViews[i],
                          indices(finalViews[i], {}), /*one_step=*/false);
  tile::ReturnOp::create(b, loc);
  lowerFactorsToLinalg(program);
  program.walk([&](Operation *nested) { keepInside(nested); });
  program->setAttr(tile::kStepsAttr, b.getUnitAttr());
}
