//===- ScaleResults.cpp - Results are scaled, not what was loaded ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A scale of loaded rows (a norm of keys or queries) commutes with all that
// only copies rows and with every product. It goes out of masks and interleaves
// first, then from an operand's kept axis to the result.
//
//===----------------------------------------------------------------------===//

#include "AfterRoles.h"
#include "LoadedTiles.h"
#include "Prism/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace prism::tile;

namespace prism::tile {
#define GEN_PASS_DEF_TILESCALERESULTS
#include "Prism/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace prism::tile

static RankedTensorType typeOf(Value tile) {
  return cast<RankedTensorType>(tile.getType());
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// Rows past the end are zeros where they were loaded: a mask of them is one of
/// what they are scaled by, which need not be finite there.
static void maskScales(MaskRowsOp mask) {
  ScaledTile scaled(mask.getInput(), /*ofRows=*/true);
  auto load = scaled.base.getDefiningOp<LoadOp>();
  if (!scaled.isScaledLoad() || !load || !load.getView().getType().hasTime() ||
      load.getOneStep() || load.getIndices().front() != mask.getFirst())
    return;
  OpBuilder b(mask);
  Value tile = scaled.base;
  for (Value scale : llvm::reverse(scaled.scales)) {
    Value inside = MaskRowsOp::create(b, mask.getLoc(), scale, mask.getFirst());
    tile = ScaleRowsOp::create(b, mask.getLoc(), tile, inside);
  }
  mask.replaceAllUsesWith(tile);
  mask.erase();
}

//===----------------------------------------------------------------------===//
// Interleaves
//===----------------------------------------------------------------------===//

namespace {

/// Stacks rows of a token: what was computed of each rank alike is computed of
/// the stacked loads, which are one message, and not of each rank's.
class Stacking {
public:
  explicit Stacking(InterleaveOp op)
      : builder(op), loc(op.getLoc()), count(op.getInputs().size()) {}

  void run(InterleaveOp op) {
    SmallVector<ScaledTile> ranks;
    for (Value input : op.getInputs())
      ranks.emplace_back(input, /*ofRows=*/true);
    size_t scales = ranks.front().scales.size();
    if (!llvm::all_of(ranks, [&](const ScaledTile &rank) {
          return rank.isScaledLoad() && rank.scales.size() == scales;
        }))
      return;
    Value tile = interleave(
        llvm::map_to_vector(ranks, [](const ScaledTile &r) { return r.base; }));
    for (size_t i = scales; i-- > 0;) {
      auto each = llvm::map_to_vector(
          ranks, [&](const ScaledTile &rank) { return rank.scales[i]; });
      Value stacked = isStackable(each) ? stack(each) : interleave(each);
      tile = ScaleRowsOp::create(builder, loc, tile, stacked);
    }
    op.replaceAllUsesWith(tile);
    op.erase();
  }

private:
  using Values = ArrayRef<Value>;

  /// Operand `i` of the op that makes each.
  static SmallVector<Value> operands(Values tiles, unsigned i) {
    return llvm::map_to_vector(
        tiles, [&](Value tile) { return tile.getDefiningOp()->getOperand(i); });
  }

  static bool isSameConstant(Values tiles) {
    DenseElementsAttr first, other;
    return matchPattern(tiles.front(), m_Constant(&first)) && first.isSplat() &&
           llvm::all_of(tiles, [&](Value tile) {
             return matchPattern(tile, m_Constant(&other)) && other == first;
           });
  }

  /// Whether the same ops make each of loaded matrices and constants alone.
  static bool isStackable(Values tiles) {
    Operation *first = tiles.front().getDefiningOp();
    if (!first || isSameConstant(tiles))
      return first;
    if (isLoaded(tiles.front()) && typeOf(tiles.front()).getRank() == 2)
      return llvm::all_of(tiles, isLoaded);
    if (!isa<SumColumnsOp>(first) &&
        !OpTrait::hasElementwiseMappableTraits(first))
      return false;
    for (Value tile : tiles) {
      Operation *op = tile.getDefiningOp();
      if (!op || op->getName() != first->getName() ||
          op->getAttrDictionary() != first->getAttrDictionary() ||
          op->getNumResults() != 1)
        return false;
    }
    for (unsigned i = 0; i < first->getNumOperands(); ++i)
      if (!isa<RankedTensorType>(first->getOperand(i).getType()) ||
          !isStackable(operands(tiles, i)))
        return false;
    return true;
  }

  /// Where isStackable().
  Value stack(Values tiles) {
    Operation *first = tiles.front().getDefiningOp();
    DenseElementsAttr constant;
    if (matchPattern(tiles.front(), m_Constant(&constant)))
      return arith::ConstantOp::create(
          builder, loc, constant.resizeSplat(stackedType(tiles.front())));
    if (isLoaded(tiles.front()))
      return interleave(tiles);
    SmallVector<Value> stacked;
    for (unsigned i = 0; i < first->getNumOperands(); ++i)
      stacked.push_back(stack(operands(tiles, i)));
    OperationState state(loc, first->getName(), stacked,
                         {stackedType(tiles.front())}, first->getAttrs());
    return builder.create(state)->getResult(0);
  }

  Value interleave(Values tiles) {
    return InterleaveOp::create(builder, loc, stackedType(tiles.front()),
                                tiles);
  }

  RankedTensorType stackedType(Value tile) const {
    SmallVector<int64_t> shape(typeOf(tile).getShape());
    shape.front() *= count;
    return typeOf(tile).clone(shape);
  }

  OpBuilder builder;
  Location loc;
  int64_t count;
};

} // namespace

//===----------------------------------------------------------------------===//
// Dots
//===----------------------------------------------------------------------===//

/// Takes the scales of kept axes from the operands and applies them to the
/// product, before it is added to anything.
static void scaleResult(DotOp dot) {
  ScaledTile left(dot.getLhs(), /*ofRows=*/!dot.getTransposeLhs()),
      right(dot.getRhs(), /*ofRows=*/dot.getTransposeRhs());
  if (!left.isScaledLoad() && !right.isScaledLoad())
    return;
  OpBuilder b(dot);
  Location loc = dot.getLoc();
  Value acc = dot.getAcc(),
        zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(acc.getType()));
  auto product =
      DotOp::create(b, loc, left.isScaledLoad() ? left.base : dot.getLhs(),
                    right.isScaledLoad() ? right.base : dot.getRhs(), zero,
                    dot.getTransposeLhs(), dot.getTransposeRhs());
  Value result = product.getResult();
  if (right.isScaledLoad())
    for (Value scale : llvm::reverse(right.scales))
      result = ScaleColumnsOp::create(b, loc, result, scale);
  if (left.isScaledLoad())
    for (Value scale : llvm::reverse(left.scales))
      result = ScaleRowsOp::create(b, loc, result, scale);
  if (!matchPattern(acc, m_AnyZeroFloat()))
    result = arith::AddFOp::create(b, loc, acc, result);
  dot.replaceAllUsesWith(result);
  dot.erase();
}

namespace {

struct ScaleResultsPass
    : prism::tile::impl::TileScaleResultsBase<ScaleResultsPass> {
  void runOnOperation() override {
    if (comesAfterRoles(getOperation(), "ScaleResults", "results are scaled"))
      return;
    SmallVector<MaskRowsOp> masks;
    SmallVector<InterleaveOp> interleaves;
    SmallVector<DotOp> dots;
    SmallVector<Operation *> others;
    getOperation().walk([&](Operation *op) {
      if (auto mask = dyn_cast<MaskRowsOp>(op))
        masks.push_back(mask);
      else if (auto interleave = dyn_cast<InterleaveOp>(op))
        interleaves.push_back(interleave);
      else if (auto dot = dyn_cast<DotOp>(op))
        dots.push_back(dot);
      else if (isa<ScaleRowsOp, ScaleColumnsOp, SumColumnsOp>(op) ||
               OpTrait::hasElementwiseMappableTraits(op))
        others.push_back(op);
    });
    for (MaskRowsOp mask : masks)
      maskScales(mask);
    for (InterleaveOp interleave : interleaves)
      Stacking(interleave).run(interleave);
    for (DotOp dot : dots)
      scaleResult(dot);
    for (Operation *op : llvm::reverse(others))
      if (isOpTriviallyDead(op))
        op->erase();
  }
};

} // namespace
