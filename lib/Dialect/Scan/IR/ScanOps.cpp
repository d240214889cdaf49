//===- ScanOps.cpp - Verifiers of the scan ops outside the recurrence -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Messages cite the numbered constraints of docs/Dialects/Scan.md.
//
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Scan/IR/Scan.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace prism::scan;

#define GET_OP_CLASSES
#include "Prism/Dialect/Scan/IR/ScanOps.cpp.inc"

/// The terminator that a step without one is given.
void YieldOp::build(OpBuilder &, OperationState &) {}

static RankedTensorType tensorOf(Value v) {
  return dyn_cast<RankedTensorType>(v.getType());
}
static int64_t lastExtent(Value v) { return tensorOf(v).getShape().back(); }
/// Ranks along a leading axis; 0 when there is no such axis.
static int64_t rankExtent(Value v) {
  RankedTensorType type = tensorOf(v);
  return type && type.getRank() == 2 ? type.getDimSize(0) : 0;
}

/// [F1] Every extent inside a step is static and positive; only a rank axis
/// (the only axis of a strength or scale, the first of two elsewhere) may be 0.
static LogicalResult verifyExtents(Operation *op) {
  auto check = [&](Type type, StringRef what) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || (tensor.hasStaticShape() &&
                    (tensor.getRank() == 1 || tensor.getShape().back() > 0)))
      return success();
    return op->emitOpError("[F1] expects static, positive extents, found ")
           << what << " " << tensor;
  };
  for (Value operand : op->getOperands())
    if (failed(check(operand.getType(), "operand")))
      return failure();
  for (Value result : op->getResults())
    if (failed(check(result.getType(), "result")))
      return failure();
  return success();
}

/// [F1] for a factor or a read: a state has no rank axis.
static LogicalResult verifyExtentsWithState(Operation *op, Value state) {
  if (failed(verifyExtents(op)))
    return failure();
  if (llvm::is_contained(tensorOf(state).getShape(), 0))
    return op->emitOpError(
               "[F1] expects static, positive extents, found state ")
           << state.getType();
  return success();
}

LogicalResult DecayOp::verify() {
  if (failed(verifyExtentsWithState(*this, getState())))
    return failure();
  RankedTensorType state = tensorOf(getState()), gate = tensorOf(getLogGate());
  SmallVector<int64_t> want;
  switch (getAlong()) {
  case DecayAlong::scalar:
    break;
  case DecayAlong::key:
    want = {state.getDimSize(0)};
    break;
  case DecayAlong::value:
    want = {state.getDimSize(1)};
    break;
  case DecayAlong::element:
    want.assign(state.getShape().begin(), state.getShape().end());
    break;
  }
  bool matches =
      gate ? gate.getShape() == ArrayRef<int64_t>(want) : want.empty();
  if (matches)
    return success();
  InFlightDiagnostic diag = emitOpError("[F2] a decay along ")
                            << stringifyDecayAlong(getAlong()) << " of a state "
                            << state << " expects a log-gate of ";
  if (want.empty())
    diag << "scalar type";
  else
    llvm::interleave(want, diag, [&](int64_t extent) { diag << extent; }, "x");
  return diag << (want.empty() ? "" : " elements") << ", found "
              << getLogGate().getType();
}

LogicalResult EraseOp::verify() {
  if (failed(verifyExtentsWithState(*this, getState())))
    return failure();
  int64_t keys = tensorOf(getState()).getDimSize(0);
  if (getOf() && getOf().getType() != getState().getType())
    return emitOpError("[F3] reads a state ")
           << getOf().getType() << " but maps a state " << getState().getType();
  if (lastExtent(getRead()) != keys)
    return emitOpError("[F4] read key has ")
           << lastExtent(getRead()) << " elements, the state has " << keys
           << " keys";
  if (lastExtent(getWrite()) != keys)
    return emitOpError("[F4] write key has ")
           << lastExtent(getWrite()) << " elements, the state has " << keys
           << " keys";
  RankedTensorType read = tensorOf(getRead()), write = tensorOf(getWrite()),
                   strength = tensorOf(getStrength());
  if (read.getRank() != write.getRank() ||
      rankExtent(getRead()) != rankExtent(getWrite()))
    return emitOpError(
               "[F5] read and write keys must have the same ranks, found ")
           << read << " and " << write;
  bool ranked = read.getRank() == 2;
  if (ranked != bool(strength) ||
      (ranked && strength.getDimSize(0) != read.getDimSize(0)))
    return emitOpError("[F5] expects ")
           << (ranked ? "one strength per rank of " : "a scalar strength for ")
           << read << ", found " << getStrength().getType();
  return success();
}

LogicalResult InjectOp::verify() {
  if (failed(verifyExtentsWithState(*this, getState())))
    return failure();
  RankedTensorType state = tensorOf(getState()), key = tensorOf(getKey()),
                   value = tensorOf(getValue());
  if (lastExtent(getKey()) != state.getDimSize(0))
    return emitOpError("[F4] key has ")
           << lastExtent(getKey()) << " elements, the state has "
           << state.getDimSize(0) << " keys";
  if (lastExtent(getValue()) != state.getDimSize(1))
    return emitOpError("[F4] value has ")
           << lastExtent(getValue()) << " elements, the state has "
           << state.getDimSize(1) << " values";
  if (key.getRank() != value.getRank() ||
      rankExtent(getKey()) != rankExtent(getValue()))
    return emitOpError("[F5] key and value must have the same ranks, found ")
           << key << " and " << value;
  if (!getScale())
    return success();
  RankedTensorType scale = tensorOf(getScale());
  bool ranked = key.getRank() == 2;
  if (ranked != bool(scale) ||
      (ranked && scale.getDimSize(0) != key.getDimSize(0)))
    return emitOpError("[F5] expects ")
           << (ranked ? "one scale per rank of " : "a scalar scale for ") << key
           << ", found " << getScale().getType();
  return success();
}

LogicalResult ReadOp::verify() {
  if (failed(verifyExtentsWithState(*this, getState())))
    return failure();
  RankedTensorType state = tensorOf(getState());
  if (lastExtent(getQuery()) != state.getDimSize(0))
    return emitOpError("[F4] query has ")
           << lastExtent(getQuery()) << " elements, the state has "
           << state.getDimSize(0) << " keys";
  if (lastExtent(getResult()) != state.getDimSize(1))
    return emitOpError("[F4] result has ")
           << lastExtent(getResult()) << " elements, the state has "
           << state.getDimSize(1) << " values";
  return success();
}

LogicalResult RefineOp::verify() {
  if (failed(verifyExtents(*this)))
    return failure();
  RankedTensorType gain = tensorOf(getGain()), result = tensorOf(getResult());
  int64_t values = lastExtent(getValue());
  if (lastExtent(getAnchor()) != values)
    return emitOpError("[R1] anchor has ")
           << lastExtent(getAnchor()) << " elements, value has " << values;
  if (gain.getDimSize(1) != values)
    return emitOpError("[R1] gain has ")
           << gain.getDimSize(1) << " values a step, value has " << values;
  if (gain.getShape() != result.getShape())
    return emitOpError("[R2] result must have one row per step of the gain ")
           << gain << ", found " << result;
  return success();
}

LogicalResult L2NormOp::verify() {
  if (failed(verifyExtents(*this)))
    return failure();
  if (lastExtent(getInput()) == 0)
    return emitOpError("[F1] expects static, positive extents, found operand ")
           << getInput().getType();
  if (!(getEpsilon().convertToDouble() >= 0.0))
    return emitOpError("[N1] epsilon must not be negative, found ")
           << getEpsilon().convertToDouble();
  // Chips flush what is below to 0, and 0 times its root's inverse is no 0.
  bool isF64 = getElementTypeOrSelf(getInput()).isF64();
  APFloat least = APFloat::getSmallestNormalized(isF64 ? APFloat::IEEEdouble()
                                                       : APFloat::IEEEsingle());
  double epsilon = getEpsilon().convertToDouble();
  if (epsilon > 0.0 && epsilon < least.convertToDouble()) {
    SmallString<32> text;
    least.toString(text);
    return emitOpError("[N1] epsilon must be 0 or at least ")
           << text << ", the least normal " << (isF64 ? "f64" : "f32")
           << ", found " << epsilon;
  }
  return success();
}
