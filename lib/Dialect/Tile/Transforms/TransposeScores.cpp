//===- TransposeScores.cpp - Few readers, many writers: transposed --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "AfterRoles.h"
#include "Prism/Dialect/Tile/Transforms/Passes.h"
#include "StateDependence.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace prism::tile;

namespace prism::tile {
#define GEN_PASS_DEF_TILETRANSPOSESCORES
#include "Prism/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace prism::tile

/// Rows of a warpgroup's product.
static constexpr int64_t kRowsOfGroup = 64;

static RankedTensorType typeOf(Value tile) {
  return cast<RankedTensorType>(tile.getType());
}

static bool isSplat(Value tile) {
  SplatElementsAttr value;
  return matchPattern(tile, m_Constant(&value));
}

//===----------------------------------------------------------------------===//
// Decays
//===----------------------------------------------------------------------===//

/// Whether a token's rows see its columns as rows of a triangle see those of
/// its own, with its diagonal or without.
static bool isTriangle(DecayMatrixOp decay, bool diagonal) {
  ArrayRef<int64_t> rows = decay.getRowOrder(),
                    columns = decay.getColumnOrder();
  if (rows.size() != columns.size() || decay.getRows() != decay.getColumns())
    return false;
  for (size_t r = 0; r < rows.size(); ++r)
    for (size_t c = 0; c < columns.size(); ++c)
      if ((columns[c] < rows[r]) != (diagonal ? c <= r : c < r))
        return false;
  return true;
}

/// Several rows a token in the chain's order are rows of as many tokens.
static void flatten(DecayMatrixOp decay) {
  if (decay.getRowOrder().size() == 1)
    return;
  for (bool diagonal : {false, true})
    if (isTriangle(decay, diagonal)) {
      decay.setRowOrder({diagonal ? 1 : 0});
      decay.setColumnOrder({0});
      return;
    }
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// Made of products, decays and scales alone.
static bool canTranspose(Value tile) {
  Operation *op = tile.getDefiningOp();
  if (!op)
    return false;
  if (auto dot = dyn_cast<DotOp>(op))
    return matchPattern(dot.getAcc(), m_AnyZeroFloat());
  if (isa<ScaleRowsOp, ScaleColumnsOp>(op))
    return canTranspose(op->getOperand(0));
  if (isa<arith::MulFOp>(op))
    return llvm::all_of(op->getOperands(), canTranspose);
  return isa<DecayMatrixOp>(op) || isSplat(tile);
}

static bool holdsProduct(Value tile) {
  Operation *op = tile.getDefiningOp();
  return isa<DotOp>(op) ||
         (isa<ScaleRowsOp, ScaleColumnsOp>(op) &&
          holdsProduct(op->getOperand(0))) ||
         (isa<arith::MulFOp>(op) &&
          llvm::any_of(op->getOperands(), holdsProduct));
}

static Value transposed(OpBuilder &b, Value tile) {
  Operation *op = tile.getDefiningOp();
  Location loc = op->getLoc();
  auto type = RankedTensorType::get(
      {typeOf(tile).getDimSize(1), typeOf(tile).getDimSize(0)},
      typeOf(tile).getElementType());
  if (auto dot = dyn_cast<DotOp>(op))
    return DotOp::create(b, loc, dot.getRhs(), dot.getLhs(),
                         arith::ConstantOp::create(b, loc, b.getZeroAttr(type)),
                         !dot.getTransposeRhs(), !dot.getTransposeLhs());
  if (auto scale = dyn_cast<ScaleRowsOp>(op))
    return ScaleColumnsOp::create(b, loc, transposed(b, scale.getInput()),
                                  scale.getScale());
  if (auto scale = dyn_cast<ScaleColumnsOp>(op))
    return ScaleRowsOp::create(b, loc, transposed(b, scale.getInput()),
                               scale.getScale());
  if (isa<arith::MulFOp>(op)) {
    Value left = transposed(b, op->getOperand(0)),
          right = transposed(b, op->getOperand(1));
    return arith::MulFOp::create(b, loc, left, right);
  }
  if (auto decay = dyn_cast<DecayMatrixOp>(op))
    return DecayMatrixOp::create(
        b, loc, type, decay.getRows(), decay.getColumns(), decay.getRowOrder(),
        decay.getColumnOrder(), !decay.getTransposed());
  SplatElementsAttr value;
  matchPattern(tile, m_Constant(&value));
  return arith::ConstantOp::create(b, loc, value.resizeSplat(type));
}

namespace {

struct TransposeScoresPass
    : prism::tile::impl::TileTransposeScoresBase<TransposeScoresPass> {
  void runOnOperation() override {
    if (comesAfterRoles(getOperation(), "TransposeScores",
                        "scores are transposed"))
      return;
    StateDependence state(getOperation());
    SmallVector<DotOp> dots;
    getOperation().walk([&](DotOp dot) {
      Value scores = dot.getLhs();
      if (!dot.getTransposeLhs() &&
          typeOf(scores).getDimSize(0) % kRowsOfGroup &&
          typeOf(scores).getDimSize(1) % kRowsOfGroup == 0 &&
          !state.contains(scores) && canTranspose(scores) &&
          holdsProduct(scores))
        dots.push_back(dot);
    });
    for (DotOp dot : dots) {
      OpBuilder builder(dot);
      dot.getLhsMutable().assign(transposed(builder, dot.getLhs()));
      dot.setTransposeLhs(true);
    }
    getOperation().walk(flatten);
  }
};

} // namespace
