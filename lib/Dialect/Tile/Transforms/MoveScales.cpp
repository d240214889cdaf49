//===- MoveScales.cpp - Loaded operands of dots stay as loaded ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "LoadedTiles.h"
#include "Prism/Dialect/Tile/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace prism::tile;

namespace prism::tile {
#define GEN_PASS_DEF_TILEMOVESCALES
#include "Prism/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace prism::tile

namespace {

/// One side of a dot: what is scaled along the contracted axis, and by what.
struct Side {
  OpOperand *operand;
  bool contractsRows;
  Value base;
  SmallVector<Value> scales; // outermost first

  Side(OpOperand &operand, bool contractsRows)
      : operand(&operand), contractsRows(contractsRows), base(operand.get()) {
    while (Operation *op = base.getDefiningOp()) {
      if (!(contractsRows ? isa<ScaleRowsOp>(op) : isa<ScaleColumnsOp>(op)))
        break;
      scales.push_back(op->getOperand(1));
      base = op->getOperand(0);
    }
  }
  bool isScaledLoad() const { return !scales.empty() && isLoaded(base); }
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

struct MoveScalesPass : prism::tile::impl::TileMoveScalesBase<MoveScalesPass> {
  void runOnOperation() override {
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
      else if (right.isScaledLoad() && !isLoaded(left.base))
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
