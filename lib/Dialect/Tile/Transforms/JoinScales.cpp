//===- JoinScales.cpp - Scales of scales are one vector -------------------===//
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
#define GEN_PASS_DEF_TILEJOINSCALES
#include "Prism/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace prism::tile

namespace {

class Joining {
public:
  explicit Joining(ProgramOp program) : program(program), state(program) {}

  void run() {
    // An inner one comes before the outer one that may erase it.
    SmallVector<Operation *> outer;
    program.walk([&](Operation *op) {
      if (isScale(op) || isa<arith::MulFOp>(op))
        outer.push_back(op);
    });
    for (Operation *op : outer)
      if (isScale(op))
        join(op);
      else
        joinNumber(cast<arith::MulFOp>(op));
    SmallVector<arith::MulFOp> products;
    program.walk([&](arith::MulFOp product) { products.push_back(product); });
    for (arith::MulFOp product : products)
      moveToDecay(product);
  }

private:
  static bool isScale(Operation *op) {
    return isa_and_nonnull<ScaleRowsOp, ScaleColumnsOp>(op);
  }

  /// A scale that `tile` has and nothing else, by what does not depend on the
  /// state: of rows, of columns (or of either, where `kind` is null). Scales of
  /// both kinds and products element by element stand in any order.
  Operation *findScale(Value tile, std::optional<OperationName> kind) const {
    Operation *op = tile.getDefiningOp();
    if (!op || !tile.hasOneUse())
      return nullptr;
    if (isScale(op)) {
      if ((!kind || op->getName() == *kind) &&
          !state.contains(op->getOperand(1)))
        return op;
      return findScale(op->getOperand(0), kind);
    }
    if (!isa<arith::MulFOp>(op))
      return nullptr;
    for (Value operand : op->getOperands())
      if (Operation *found = findScale(operand, kind))
        return found;
    return nullptr;
  }

  Value multiply(Operation *at, Value one, Value other) {
    OpBuilder builder(at);
    return arith::MulFOp::create(builder, at->getLoc(), one, other);
  }

  /// The outer scale takes the inner one's vector.
  void join(Operation *outer) {
    if (state.contains(outer->getOperand(1)))
      return;
    while (Operation *inner =
               findScale(outer->getOperand(0), outer->getName())) {
      outer->setOperand(
          1, multiply(outer, inner->getOperand(1), outer->getOperand(1)));
      inner->getResult(0).replaceAllUsesWith(inner->getOperand(0));
      inner->erase();
    }
  }

  /// A number goes to a vector: 64 elements instead of a tile.
  void joinNumber(arith::MulFOp product) {
    DenseFPElementsAttr numbers;
    if (!matchPattern(product.getRhs(), m_Constant(&numbers)) ||
        !numbers.isSplat() || numbers.getType().getRank() != 2)
      return;
    Operation *inner = findScale(product.getLhs(), std::nullopt);
    if (!inner)
      return;
    OpBuilder builder(inner);
    auto vector = cast<RankedTensorType>(inner->getOperand(1).getType());
    Value all = arith::ConstantOp::create(
        builder, product.getLoc(),
        DenseElementsAttr::get(vector, numbers.getSplatValue<APFloat>()));
    inner->setOperand(1, multiply(inner, inner->getOperand(1), all));
    product.replaceAllUsesWith(product.getLhs());
    product.erase();
  }

  /// Scores that have their decays in common have the scale of columns in
  /// common: it goes to the decays.
  void moveToDecay(arith::MulFOp product) {
    OperationName columns(ScaleColumnsOp::getOperationName(),
                          product.getContext());
    for (unsigned i : {0, 1}) {
      Value decay = product->getOperand(i);
      Operation *scale = decay.getDefiningOp<DecayMatrixOp>()
                             ? findScale(product->getOperand(1 - i), columns)
                             : nullptr;
      if (!scale)
        continue;
      OpBuilder builder(product);
      product->setOperand(i,
                          ScaleColumnsOp::create(builder, scale->getLoc(),
                                                 decay, scale->getOperand(1)));
      scale->getResult(0).replaceAllUsesWith(scale->getOperand(0));
      scale->erase();
      return;
    }
  }

  ProgramOp program;
  StateDependence state;
};

struct JoinScalesPass : prism::tile::impl::TileJoinScalesBase<JoinScalesPass> {
  void runOnOperation() override {
    if (comesAfterRoles(getOperation(), "JoinScales", "scales are joined"))
      return;
    Joining(getOperation()).run();
  }
};

} // namespace
