//===- Slices.cpp - How tiles lie on their views --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

static Slice makeSlice(Value view, ValueRange indices, RankedTensorType type,
                       bool oneStep) {
  Slice slice;
  slice.view = cast<BlockArgument>(view);
  slice.offsets.assign(indices.begin(), indices.end());
  slice.extents.assign(type.getShape().begin(), type.getShape().end());
  auto viewType = cast<ViewType>(view.getType());
  int64_t rank = type.getRank(), skip = viewType.getRank() - rank;
  bool time = viewType.hasTime() && !oneStep;
  for (int64_t i = 0; i < rank; ++i)
    slice.axisOfTile.push_back(time && i == 0 ? 0 : skip + i);
  return slice;
}

Slice Slice::of(LoadOp op) {
  return makeSlice(op.getView(), op.getIndices(),
                   cast<RankedTensorType>(op.getResult().getType()),
                   op.getOneStep());
}
Slice Slice::of(StoreOp op) {
  return makeSlice(op.getView(), op.getIndices(),
                   cast<RankedTensorType>(op.getValue().getType()),
                   op.getOneStep());
}

/// The axis in which two loads of one view differ, and no other; null if there
/// is none.
static std::optional<int64_t> differingAxis(LoadOp a, LoadOp b) {
  if (a.getView() != b.getView() ||
      a.getResult().getType() != b.getResult().getType())
    return std::nullopt;
  std::optional<int64_t> found;
  for (auto [axis, x, y] : llvm::enumerate(a.getIndices(), b.getIndices()))
    if (x != y) {
      if (found)
        return std::nullopt;
      found = axis;
    }
  return found;
}

std::optional<Slice> Slice::of(InterleaveOp op) {
  auto first = op.getInputs().front().getDefiningOp<LoadOp>();
  if (!first || !first.getView().getType().hasTime() || first.getOneStep())
    return std::nullopt;
  Slice slice = of(first);
  slice.ranks = op.getInputs().size();
  slice.extents[0] *= slice.ranks;
  for (auto [rank, input] : llvm::enumerate(op.getInputs())) {
    auto load = input.getDefiningOp<LoadOp>();
    if (!load)
      return std::nullopt;
    if (rank == 1)
      slice.rankAxis = differingAxis(first, load).value_or(0);
    if (rank > 0 && differingAxis(first, load) != slice.rankAxis)
      return std::nullopt;
  }
  if (llvm::is_contained(slice.axisOfTile, slice.rankAxis))
    return std::nullopt;
  for (auto [rank, input] : llvm::enumerate(op.getInputs())) {
    APInt index;
    Value at = input.getDefiningOp<LoadOp>().getIndices()[slice.rankAxis];
    if (!matchPattern(at, m_ConstantInt(&index)) || index != rank)
      return std::nullopt;
  }
  return slice;
}

std::optional<Slice> Slice::ofLoaded(Value tile) {
  if (auto load = tile.getDefiningOp<LoadOp>())
    return of(load);
  auto stack = tile.getDefiningOp<InterleaveOp>();
  return stack ? of(stack) : std::nullopt;
}

/// By a constant offset, or in whole blocks of values.
bool Slice::isWhole(int64_t axis, ProgramOp program) const {
  auto type = cast<ViewType>(view.getType());
  if (axis == 0 && type.hasTime())
    return false;
  int64_t bound = type.getShape()[axis], extent = axis == rankAxis ? ranks : 1;
  for (auto [tileAxis, viewAxis] : llvm::enumerate(axisOfTile))
    if (viewAxis == axis)
      extent = extents[tileAxis];
  APInt constant;
  if (matchPattern(offsets[axis], m_ConstantInt(&constant)) &&
      !constant.isNegative() && constant.getSExtValue() + extent <= bound)
    return true;
  bool wholeBlocks = program.getValues() % program.getValueBlock() == 0;
  return offsets[axis].getDefiningOp<ValueOffsetOp>() && wholeBlocks &&
         extent <= int64_t(program.getValueBlock()) &&
         bound >= int64_t(program.getValues());
}
