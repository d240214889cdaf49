//===- AffineState.cpp - Is a step's map of the state affine? -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "AffineState.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace prism::tile;

bool AffineState::isZero(Value v) const {
  return zeros.contains(v) || matchPattern(v, m_AnyZeroFloat());
}

/// Is the result zero where the operands that vanish are?
bool AffineState::vanishes(Operation *op) const {
  auto zero = [&](Value v) { return isZero(v); };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](LoadOp load) {
        return llvm::any_of(load.getIndices(), [](Value index) {
          return bool(index.getDefiningOp<ValueOffsetOp>());
        });
      })
      .Case([&](DotOp dot) {
        return zero(dot.getAcc()) && (zero(dot.getLhs()) || zero(dot.getRhs()));
      })
      .Case<arith::MulFOp, ScaleRowsOp, ScaleColumnsOp>(
          [&](Operation *) { return llvm::any_of(op->getOperands(), zero); })
      .Case<arith::DivFOp, MaskRowsOp>(
          [&](Operation *) { return zero(op->getOperand(0)); })
      .Case([&](SolveOp solve) { return zero(solve.getRhs()); })
      .Case([&](arith::SelectOp select) {
        return zero(select.getTrueValue()) && zero(select.getFalseValue());
      })
      .Case<arith::AddFOp, arith::SubFOp, arith::NegFOp, arith::MaximumFOp,
            arith::MinimumFOp, arith::ExtFOp, arith::TruncFOp, math::AbsFOp,
            math::ErfOp, math::TanhOp, math::SqrtOp, InterleaveOp, SumColumnsOp,
            SplatLastOp, BroadcastOp>(
          [&](Operation *) { return llvm::all_of(op->getOperands(), zero); })
      .Default(false);
}

/// Is an op with a state-dependent operand linear in it, and the same in every
/// value column?
bool AffineState::isLinear(Operation *op) const {
  auto isFactor = [&](Value v) { return !onState(v) && !columns.contains(v); };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](DotOp dot) {
        // On the right, not transposed: its value columns are the result's.
        return !onState(dot.getLhs()) &&
               (!onState(dot.getRhs()) ||
                (isFactor(dot.getLhs()) && !dot.getTransposeRhs()));
      })
      .Case([&](arith::MulFOp mul) {
        return isFactor(mul.getLhs()) || isFactor(mul.getRhs());
      })
      .Case<ScaleRowsOp, ScaleColumnsOp>(
          [&](Operation *) { return isFactor(op->getOperand(1)); })
      .Case([&](arith::DivFOp div) { return isFactor(div.getRhs()); })
      .Case([&](SolveOp solve) { return isFactor(solve.getMatrix()); })
      .Case<arith::AddFOp, arith::SubFOp, arith::NegFOp, arith::ExtFOp,
            arith::TruncFOp, MaskRowsOp, InterleaveOp>(
          [&](Operation *) { return true; })
      .Default(false);
}

LogicalResult AffineState::visit(Operation *op, std::string &reason) {
  bool dependsOnState =
      llvm::any_of(op->getOperands(), [&](Value v) { return onState(v); });
  if (dependsOnState && !isLinear(op)) {
    reason = ("'" + op->getName().getStringRef() +
              "' is not seen to be linear in the state, with the same factor "
              "for every value column")
                 .str();
    return failure();
  }
  bool dependsOnColumns =
      isa<ValueOffsetOp>(op) || llvm::any_of(op->getOperands(), [&](Value v) {
        return columns.contains(v) || v.getDefiningOp<ValueOffsetOp>();
      });
  bool zero = vanishes(op);
  for (Value result : op->getResults()) {
    if (dependsOnState)
      state.insert(result);
    if (dependsOnColumns)
      columns.insert(result);
    if (zero)
      zeros.insert(result);
  }
  return success();
}

/// Follows the next state back to the carried one: products and solves mix
/// keys, an accumulator and a scale do not.
bool AffineState::findDiagonal(scf::ForOp loop) const {
  SmallVector<Value> pending(loop.getBody()->getTerminator()->getOperands());
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!onState(value) || !seen.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    if (!op)
      continue;
    if (auto dot = dyn_cast<DotOp>(op);
        dot && (onState(dot.getLhs()) || onState(dot.getRhs())))
      return false;
    if (isa<SolveOp>(op))
      return false;
    llvm::append_range(pending, op->getOperands());
  }
  return true;
}

/// The ops of the loop that the next state is made by, in order: what is only
/// read does not matter.
static SmallVector<Operation *> opsOfNextState(scf::ForOp loop) {
  llvm::DenseSet<Operation *> needed{loop.getBody()->getTerminator()};
  SmallVector<Operation *> ops;
  for (Operation &op : llvm::reverse(*loop.getBody())) {
    if (!needed.contains(&op))
      continue;
    for (Value operand : op.getOperands())
      if (Operation *maker = operand.getDefiningOp();
          maker && maker->getBlock() == loop.getBody())
        needed.insert(maker);
    if (!op.hasTrait<OpTrait::IsTerminator>())
      ops.push_back(&op);
  }
  return {ops.rbegin(), ops.rend()};
}

FailureOr<AffineState> AffineState::analyze(scf::ForOp loop,
                                            std::string &reason) {
  AffineState affine;
  Value carried = loop.getRegionIterArgs().front();
  affine.state.insert(carried);
  affine.zeros.insert(carried);
  for (Operation *op : opsOfNextState(loop))
    if (failed(affine.visit(op, reason)))
      return failure();
  if (!affine.isZero(loop.getBody()->getTerminator()->getOperand(0))) {
    reason = "what a step writes is not seen to be zero where the values are";
    return failure();
  }
  affine.diagonal = affine.findDiagonal(loop);
  return affine;
}
