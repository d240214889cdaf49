//===- CoefficientSources.cpp - What coefficients are computed from -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CoefficientSources.h"
#include "Prism/Conversion/ScanToTile/ScanToTile.h"

using namespace mlir;
using namespace prism;

/// Is one of the values computed by way of an `OpT`? What is read of a state is
/// as wide as the state, however its query was made.
template <typename OpT> static bool comesFrom(SmallVector<Value> pending) {
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    Operation *producer = value.getDefiningOp();
    if (!seen.insert(value).second || !producer)
      continue;
    if (isa<OpT>(producer))
      return true;
    if (isa<scan::ReadOp>(producer))
      continue;
    llvm::append_range(pending, producer->getOperands());
  }
  return false;
}

bool prism::readState(ArrayRef<scan::StateOpInterface> chain) {
  SmallVector<Value> pending;
  for (scan::StateOpInterface factor : chain)
    for (OpOperand &operand : factor->getOpOperands()) {
      auto erase = dyn_cast<scan::EraseOp>(factor.getOperation());
      bool isState = operand.get() == factor.getStateOperand().get() ||
                     (erase && operand.get() == erase.getOf());
      if (!isState)
        pending.push_back(operand.get());
    }
  return comesFrom<scan::ReadOp>(std::move(pending));
}

bool prism::canSplitValues(scan::RecurrenceOp op) {
  // States that meet are stepped together, each once.
  if (op.getNumStates() > 1 ||
      (op->hasAttr(scan::kSerialAttr) && hasPlainSteps(op)))
    return false;
  // What lies along values may be cut, unless an l2norm needs whole rows; what
  // does not is the same in all blocks, unless it is made of what was read,
  // which is as wide as the block.
  SmallVector<Value> alongValues(
      op.getYield().getValues().drop_front(op.getNumStates()));
  SmallVector<Value> others;
  auto add = [&](Value operand, bool isAlongValues) {
    if (operand)
      (isAlongValues ? alongValues : others).push_back(operand);
  };
  op.getBody().walk([&](Operation *nested) {
    if (auto inject = dyn_cast<scan::InjectOp>(nested)) {
      add(inject.getValue(), true);
      add(inject.getKey(), false);
      add(inject.getScale(), false);
    } else if (auto erase = dyn_cast<scan::EraseOp>(nested)) {
      add(erase.getRead(), false);
      add(erase.getWrite(), false);
      add(erase.getStrength(), false);
    } else if (auto read = dyn_cast<scan::ReadOp>(nested)) {
      add(read.getQuery(), false);
    } else if (auto decay = dyn_cast<scan::DecayOp>(nested)) {
      add(decay.getLogGate(),
          decay.getAlong() == scan::DecayAlong::value ||
              decay.getAlong() == scan::DecayAlong::element);
    }
  });
  return !comesFrom<scan::L2NormOp>(std::move(alongValues)) &&
         !comesFrom<scan::ReadOp>(std::move(others));
}
