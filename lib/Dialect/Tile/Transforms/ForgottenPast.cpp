//===- ForgottenPast.cpp - What decays leave of the past ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ForgottenPast.h"
#include "StateDependence.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace prism::tile;

/// The keys that are scaled, rounded or masked.
static Value keysBelow(Value keys) {
  while (Operation *op = keys.getDefiningOp()) {
    if (!isa<ScaleRowsOp, MaskRowsOp, arith::ExtFOp, arith::TruncFOp>(op))
      break;
    keys = op->getOperand(0);
  }
  return keys;
}

/// The sum that a factor is the exponential of the last element of.
static GateSumOp sumBelow(Value factor) {
  bool isExponential = false;
  while (Operation *op = factor.getDefiningOp()) {
    if (auto sum = dyn_cast<GateSumOp>(op))
      return isExponential ? sum : GateSumOp();
    if (!isa<math::ExpOp, SplatLastOp, arith::TruncFOp>(op))
      break;
    isExponential |= isa<math::ExpOp>(op);
    factor = op->getOperand(0);
  }
  return {};
}

/// The views whose numbers a gate is the product of; fails on anything else.
static LogicalResult collectViews(Value number, scf::ForOp loop,
                                  SmallVectorImpl<Value> &views) {
  if (auto extension = number.getDefiningOp<arith::ExtFOp>())
    number = extension.getIn();
  if (auto product = number.getDefiningOp<arith::MulFOp>())
    return success(succeeded(collectViews(product.getLhs(), loop, views)) &&
                   succeeded(collectViews(product.getRhs(), loop, views)));
  auto load = number.getDefiningOp<LoadOp>();
  if (!load || load.getIndices().size() != 1 ||
      load.getIndices().front() != loop.getInductionVar() ||
      !load.getView().getType().hasTime())
    return failure();
  views.push_back(load.getView());
  return success();
}

/// The gates that are summed, floored each.
static LogicalResult collectGates(Value sum, scf::ForOp loop,
                                  SmallVectorImpl<SummedGate> &gates) {
  Operation *op = sum.getDefiningOp();
  if (auto both = dyn_cast_or_null<arith::AddFOp>(op))
    return success(succeeded(collectGates(both.getLhs(), loop, gates)) &&
                   succeeded(collectGates(both.getRhs(), loop, gates)));
  auto floor = dyn_cast_or_null<arith::MaximumFOp>(op);
  if (!floor || !matchPattern(floor.getRhs(), m_Constant()))
    return failure();
  return collectViews(floor.getLhs(), loop, gates.emplace_back());
}

/// Whether the only key that the state is read with, on the way to `value`, is
/// `key`.
static bool readsWith(Value value, Value key, scf::ForOp loop) {
  SmallVector<Value> pending = {value};
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!seen.insert(next).second || !op || op->getBlock() != loop.getBody())
      continue;
    auto dot = dyn_cast<DotOp>(op);
    if (dot && dot.getRhs() == loop.getRegionIterArgs().front() &&
        (keysBelow(dot.getLhs()) != key || dot.getTransposeLhs()))
      return false;
    llvm::append_range(pending, op->getOperands());
  }
  return true;
}

/// The gates of the one decay that a carried tile goes through.
static SmallVector<SummedGate> gatesOf(Value decayed, scf::ForOp loop) {
  auto decay = decayed.getDefiningOp<ScaleRowsOp>();
  if (!decay || decay.getInput() != loop.getRegionIterArgs().front())
    return {};
  GateSumOp sum = sumBelow(decay.getScale());
  SmallVector<SummedGate> gates;
  if (!sum || failed(collectGates(sum.getGates(), loop, gates)))
    return {};
  return gates;
}

SmallVector<SummedGate> prism::tile::gatesThatDecide(scf::ForOp loop) {
  StateDependence dependence(loop->getParentOfType<ProgramOp>());
  Value next = loop.getBody()->getTerminator()->getOperand(0);
  while (auto write = next.getDefiningOp<DotOp>()) {
    if (dependence.contains(write.getLhs()) ||
        dependence.contains(write.getRhs()))
      return {};
    next = write.getAcc();
  }
  return gatesOf(next, loop);
}

SmallVector<SummedGate> prism::tile::gatesThatBound(scf::ForOp loop) {
  StateDependence dependence(loop->getParentOfType<ProgramOp>());
  Value next = loop.getBody()->getTerminator()->getOperand(0), key;
  // What is written, the last first: known values, and those of erases.
  while (auto write = next.getDefiningOp<DotOp>()) {
    if (dependence.contains(write.getRhs())) {
      Value written = keysBelow(write.getLhs());
      bool isOne = write.getTransposeLhs() && !key &&
                   !written.getDefiningOp<InterleaveOp>();
      if (!isOne || !readsWith(write.getRhs(), written, loop))
        return {};
      key = written;
    }
    next = write.getAcc();
  }
  return key ? gatesOf(next, loop) : SmallVector<SummedGate>();
}
