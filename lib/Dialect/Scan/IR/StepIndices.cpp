//===- StepIndices.cpp - Places in tensors that a step names --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Scan/IR/StepIndices.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace prism::scan;

/// What an op takes a part of, or writes a part of.
static RankedTensorType wholeOf(Operation *op) {
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return dyn_cast<RankedTensorType>(extract.getTensor().getType());
  if (auto insert = dyn_cast<tensor::InsertOp>(op))
    return insert.getType();
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return slice.getSourceType();
  if (auto slice = dyn_cast<tensor::InsertSliceOp>(op))
    return slice.getType();
  return {};
}

/// Of offsets that are values; upstream's verifiers hold numbers in place.
static void addOffsets(OffsetSizeAndStrideOpInterface slice,
                       RankedTensorType whole,
                       SmallVectorImpl<StepIndex> &found) {
  unsigned operand = slice.getOffsetSizeAndStrideStartOperandIndex();
  for (int64_t axis = 0; axis < whole.getRank(); ++axis) {
    if (!ShapedType::isDynamic(slice.getStaticOffsets()[axis]))
      continue;
    OpOperand &offset = slice->getOpOperand(operand++);
    int64_t size = slice.getStaticSizes()[axis],
            step = slice.getStaticStrides()[axis];
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(step))
      continue;
    int64_t span = size > 0 ? (size - 1) * step + 1 : 0;
    found.push_back({&offset, axis, whole.getDimSize(axis) - span});
  }
}

SmallVector<StepIndex> prism::scan::indicesOf(Operation *op) {
  SmallVector<StepIndex> found;
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    auto shaped = dyn_cast<RankedTensorType>(dim.getSource().getType());
    if (shaped && shaped.getRank() > 0)
      found.push_back({&dim.getIndexMutable(), 0, shaped.getRank() - 1});
    return found;
  }
  RankedTensorType whole = wholeOf(op);
  if (!whole || !whole.hasStaticShape())
    return found;
  if (auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(op)) {
    addOffsets(slice, whole, found);
    return found;
  }
  unsigned first = op->getNumOperands() - whole.getRank();
  for (int64_t axis = 0; axis < whole.getRank(); ++axis)
    found.push_back(
        {&op->getOpOperand(first + axis), axis, whole.getDimSize(axis) - 1});
  return found;
}

static LogicalResult refuse(Operation *op, const StepIndex &index,
                            std::optional<int64_t> found) {
  if (isa<tensor::DimOp>(op))
    return op->emitError("expected an axis from 0 to ")
           << index.last << ", found " << *found;
  RankedTensorType whole = wholeOf(op);
  if (index.last < 0)
    return op->emitError("axis ")
           << index.axis << " of " << whole << " is too short for it";
  return op->emitError("expected a place from 0 to ")
         << index.last << " on axis " << index.axis << " of " << whole
         << ", found " << *found;
}

LogicalResult prism::scan::checkIndices(Operation *root) {
  WalkResult result = root->walk([](Operation *op) {
    for (const StepIndex &index : indicesOf(op)) {
      std::optional<int64_t> found = getConstantIntValue(index.operand->get());
      bool isInside = !found || (*found >= 0 && *found <= index.last);
      if ((index.last < 0 || !isInside) && failed(refuse(op, index, found)))
        return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
