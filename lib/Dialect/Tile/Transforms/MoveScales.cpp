//===- MoveScales.cpp - Scales go where nothing waits for them ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "AfterRoles.h"
#include "LoadedTiles.h"
#include "Prism/Dialect/Tile/Transforms/Passes.h"
#include "StateDependence.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace prism::tile;

namespace prism::tile {
#define GEN_PASS_DEF_TILEMOVESCALES
#include "Prism/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace prism::tile

namespace {

/// One side of a dot: what is scaled along the contracted axis, and by what.
struct Side : ScaledTile {
  OpOperand *operand;
  bool contractsRows;

  Side(OpOperand &operand, bool contractsRows)
      : ScaledTile(operand.get(), /*ofRows=*/contractsRows), operand(&operand),
        contractsRows(contractsRows) {}
};

void move(const Side &from, const Side &to) {
  Operation *dot = from.operand->getOwner();
  OpBuilder builder(dot);
  from.operand->set(from.base);
  Value scaled = to.operand->get();
  for (Value scale : llvm::reverse(from.scales))
    scaled =
        to.contractsRows
            ? Value(ScaleRowsOp::create(builder, dot->getLoc(), scaled, scale))
            : Value(ScaleColumnsOp::create(builder, dot->getLoc(), scaled,
                                           scale));
  to.operand->set(scaled);
}

void remarkWhatStays(DotOp dot, const Side &left, const Side &right) {
  if (left.scales.empty() && right.scales.empty())
    return;
  auto options = remark::RemarkOpts::name("MoveScale").category("tile");
  if (right.isScaledLoad())
    remark::missed(dot.getLoc(), options)
        << "both operands are loaded: the right one is scaled";
  else
    remark::missed(dot.getLoc(), options)
        << "what is scaled is computed, not loaded: the scale stays";
}

/// What a system is solved for, which depends on the state, is scaled by what
/// does not: an inverse, used for nothing else, is scaled ahead of the state.
bool belongsToInverse(const Side &left, const Side &right,
                      const StateDependence &state) {
  return left.base.getDefiningOp<InvertOp>() && left.base.hasOneUse() &&
         left.scales.empty() && !right.scales.empty() &&
         state.contains(right.base) &&
         llvm::none_of(right.scales,
                       [&](Value scale) { return state.contains(scale); });
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// A sum of products with the state, each of what is computed without it, times
/// one number: the number goes to what is computed without the state.
class NumberMover {
public:
  NumberMover(arith::MulFOp product, FloatAttr number,
              const StateDependence &state)
      : builder(product), loc(product.getLoc()), number(number), state(state) {}

  bool canMove(Value tile) const {
    if (matchPattern(tile, m_AnyZeroFloat()))
      return true;
    if (!tile.hasOneUse())
      return false;
    if (auto scale = tile.getDefiningOp<ScaleRowsOp>())
      return !state.contains(scale.getScale());
    auto dot = tile.getDefiningOp<DotOp>();
    return dot && !isLoaded(dot.getLhs()) && !state.contains(dot.getLhs()) &&
           canMove(dot.getAcc());
  }

  /// Where canMove().
  Value move(Value tile) {
    Operation *op = tile.getDefiningOp();
    if (matchPattern(tile, m_AnyZeroFloat()))
      return tile;
    if (auto scale = dyn_cast<ScaleRowsOp>(op)) {
      scale.getScaleMutable().set(times(scale.getScale(), op));
      return tile;
    }
    auto dot = cast<DotOp>(op);
    dot.getLhsMutable().set(times(dot.getLhs(), op));
    dot.getAccMutable().set(move(dot.getAcc()));
    return tile;
  }

private:
  Value times(Value value, Operation *before) {
    builder.setInsertionPoint(before);
    auto type = cast<RankedTensorType>(value.getType());
    Value all = arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(type, number.getValue()));
    return arith::MulFOp::create(builder, loc, value, all);
  }

  OpBuilder builder;
  Location loc;
  FloatAttr number;
  const StateDependence &state;
};

void moveNumber(arith::MulFOp product, const StateDependence &state) {
  DenseFPElementsAttr numbers;
  if (!state.contains(product.getLhs()) ||
      !matchPattern(product.getRhs(), m_Constant(&numbers)) ||
      !numbers.isSplat())
    return;
  NumberMover mover(product, numbers.getSplatValue<FloatAttr>(), state);
  if (!product.getLhs().getDefiningOp<DotOp>() ||
      !mover.canMove(product.getLhs()))
    return;
  product.replaceAllUsesWith(mover.move(product.getLhs()));
  product.erase();
}

/// Whether the state waits for a product with an inverse. Where it does not,
/// what is computed without the state takes longer, and numbers stay off it:
/// RetNet on an H200, 8192 steps of 64 sequences and heads, 0.163 and 0.183 ms.
bool invertsSystem(ProgramOp program) {
  WalkResult found =
      program.walk([](InvertOp) { return WalkResult::interrupt(); });
  return found.wasInterrupted();
}

struct MoveScalesPass : prism::tile::impl::TileMoveScalesBase<MoveScalesPass> {
  void runOnOperation() override {
    if (comesAfterRoles(getOperation(), "MoveScale", "scales are moved"))
      return;
    StateDependence state(getOperation());
    if (invertsSystem(getOperation())) {
      SmallVector<arith::MulFOp> products;
      getOperation().walk(
          [&](arith::MulFOp product) { products.push_back(product); });
      for (arith::MulFOp product : products)
        moveNumber(product, state);
    }
    SmallVector<Operation *> scales;
    getOperation().walk([&](Operation *op) {
      if (isa<ScaleRowsOp, ScaleColumnsOp>(op))
        scales.push_back(op);
      auto dot = dyn_cast<DotOp>(op);
      if (!dot)
        return;
      Side left(dot.getLhsMutable(), dot.getTransposeLhs()),
          right(dot.getRhsMutable(), !dot.getTransposeRhs());
      if (left.isScaledLoad())
        move(left, right);
      else if ((right.isScaledLoad() && !isLoaded(left.base)) ||
               belongsToInverse(left, right, state))
        move(right, left);
      else
        remarkWhatStays(dot, left, right);
    });
    // A scale may stand on another one: last first.
    for (Operation *op : llvm::reverse(scales))
      if (op->use_empty())
        op->erase();
  }
};

} // namespace
