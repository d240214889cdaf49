//===- StepOps.cpp - Which ops of a step are taken as tiles ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Scan/IR/StepOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace prism::scan;

std::optional<int64_t> prism::scan::rowOf(Operation *producer) {
  if (auto extract = dyn_cast<tensor::ExtractOp>(producer)) {
    APInt index;
    if (extract.getIndices().size() != 1 ||
        !matchPattern(extract.getIndices().front(), m_ConstantInt(&index)))
      return std::nullopt;
    return index.getSExtValue();
  }
  auto slice = cast<tensor::ExtractSliceOp>(producer);
  ArrayRef<int64_t> source = slice.getSourceType().getShape(),
                    sizes = slice.getStaticSizes();
  ArrayRef<int64_t> offsets = slice.getStaticOffsets();
  bool whole = sizes.drop_front() == source.drop_front() &&
               llvm::all_of(offsets.drop_front(),
                            [](int64_t offset) { return offset == 0; });
  bool dropsFirst = slice.getType().getShape() == source.drop_front();
  if (!whole || !dropsFirst || sizes[0] != 1 ||
      ShapedType::isDynamic(offsets[0]) || !slice.hasUnitStride())
    return std::nullopt;
  return offsets[0];
}

bool prism::scan::isTileOp(Operation &op) {
  if (isa<StateOpInterface, ReadOp, L2NormOp, RefineOp, tensor::SplatOp,
          linalg::BroadcastOp>(op))
    return true;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    return !dense || dense.isSplat();
  }
  if (auto elements = dyn_cast<tensor::FromElementsOp>(op))
    return elements.getElements().size() == 1;
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return extract.getTensor().getType().getNumElements() == 1 ||
           rowOf(&op).has_value();
  if (isa<tensor::ExtractSliceOp>(op))
    return rowOf(&op).has_value();
  return op.getNumRegions() == 0 && OpTrait::hasElementwiseMappableTraits(&op);
}
