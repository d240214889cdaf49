//===- ElementwiseState.cpp - Steps that keep elements apart --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ElementwiseState.h"
#include "Prism/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace prism::tile;

/// Values of the loop's body that depend on the carried tile.
static llvm::DenseSet<Value> dependents(scf::ForOp loop) {
  llvm::DenseSet<Value> found{loop.getRegionIterArgs().front()};
  for (Operation &op : loop.getBody()->without_terminator())
    if (llvm::any_of(op.getOperands(),
                     [&](Value v) { return found.contains(v); }))
      found.insert(op.result_begin(), op.result_end());
  return found;
}

/// The operands that an op's result is, each element times a factor or plus a
/// term that is none of them, elementwise; none for other ops.
static SmallVector<Value> elementwiseOperands(Operation *op) {
  return llvm::TypeSwitch<Operation *, SmallVector<Value>>(op)
      .Case<arith::MulFOp, arith::AddFOp, arith::SubFOp>([](Operation *both) {
        return SmallVector<Value>(both->getOperands());
      })
      .Case<arith::NegFOp, arith::DivFOp, ScaleRowsOp, ScaleColumnsOp>(
          [](Operation *one) { return SmallVector<Value>{one->getOperand(0)}; })
      .Case([](DotOp dot) { return SmallVector<Value>{dot.getAcc()}; })
      .Default({});
}

bool prism::tile::isElementwise(scf::ForOp loop) {
  auto hasRegions = [](Operation &op) { return op.getNumRegions() > 0; };
  if (loop.getNumRegionIterArgs() != 1 ||
      llvm::any_of(loop.getBody()->without_terminator(), hasRegions))
    return false;
  llvm::DenseSet<Value> state = dependents(loop), seen;
  Value next = loop.getBody()->getTerminator()->getOperand(0);
  if (!state.contains(next))
    return false;
  SmallVector<Value> pending = {next};
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op)
      continue; // the carried tile
    SmallVector<Value> allowed = elementwiseOperands(op);
    int64_t carried = 0;
    for (Value operand : op->getOperands()) {
      if (!state.contains(operand))
        continue;
      if (!llvm::is_contained(allowed, operand))
        return false;
      ++carried;
      if (seen.insert(operand).second)
        pending.push_back(operand);
    }
    // A product of two would be no map of one.
    if (carried > 1 && !isa<arith::AddFOp, arith::SubFOp>(op))
      return false;
  }
  return true;
}

namespace {
/// Makes, of what depends on the state, what is left without added terms.
class Linear {
public:
  Linear(OpBuilder &b, scf::ForOp loop, Value factors)
      : b(b), state(dependents(loop)) {
    made.map(loop.getRegionIterArgs().front(), factors);
  }
  Value of(Value value) {
    if (Value known = made.lookupOrNull(value))
      return known;
    Value result = make(value.getDefiningOp());
    made.map(value, result);
    return result;
  }

private:
  Value make(Operation *op) {
    if (auto dot = dyn_cast<DotOp>(op))
      return of(dot.getAcc());
    if (isa<arith::AddFOp, arith::SubFOp>(op)) {
      Value left = op->getOperand(0), right = op->getOperand(1);
      if (!state.contains(right))
        return of(left);
      if (!state.contains(left))
        return isa<arith::AddFOp>(op)
                   ? of(right)
                   : arith::NegFOp::create(b, op->getLoc(), of(right));
    }
    IRMapping operands;
    for (Value operand : op->getOperands())
      if (state.contains(operand))
        operands.map(operand, of(operand));
    return b.clone(*op, operands)->getResult(0);
  }

  OpBuilder &b;
  llvm::DenseSet<Value> state;
  IRMapping made;
};
} // namespace

scf::ForOp prism::tile::carryFactors(scf::ForOp loop, Value ones) {
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  auto made = loop.replaceWithAdditionalYields(
      rewriter, ones, /*replaceInitOperandUsesInLoop=*/false,
      // The body is still the old loop's.
      [&](OpBuilder &b, Location, ArrayRef<BlockArgument> added) {
        Value next = loop.getBody()->getTerminator()->getOperand(0);
        return SmallVector<Value>{Linear(b, loop, added.front()).of(next)};
      });
  return cast<scf::ForOp>(made->getOperation());
}
