//===- Cost.cpp - What a recurrence costs, by its factors -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Cost.h"
#include "Prism/Conversion/ScanToTile/ScanToTile.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace prism;

static int64_t elementsOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getNumElements() : 1;
}

static bool isArithmetic(Operation *op) {
  return isa_and_present<arith::ArithDialect, math::MathDialect>(
             op->getDialect()) &&
         op->getNumResults() == 1 && !op->hasTrait<OpTrait::ConstantLike>() &&
         isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
}

/// Work of a step's plain ops, bodies of loops and branches taken once.
static int64_t plainWork(scan::RecurrenceOp op) {
  int64_t work = 0;
  op.getBody().walk<WalkOrder::PreOrder>([&](Operation *nested) {
    if (auto structured = dyn_cast<linalg::LinalgOp>(nested)) {
      int64_t points = 1;
      for (int64_t range : structured.getStaticLoopRanges())
        points *= range;
      for (Operation &inner : *structured.getBlock())
        work += isArithmetic(&inner) ? points : 0;
      return WalkResult::skip();
    }
    if (isArithmetic(nested))
      work += elementsOf(nested->getResult(0).getType());
    return WalkResult::advance();
  });
  return work;
}

explain::Cost::Cost(scan::RecurrenceOp op) {
  if (op->hasAttr(scan::kSerialAttr) && hasPlainSteps(op))
    plain = plainWork(op);
  std::tie(keys, values) = scan::getKeysAndValues(op, 0);
  llvm::SmallDenseSet<Value> eraseKeys;
  auto ranks = [](Value key) {
    auto type = cast<RankedTensorType>(key.getType());
    return type.getRank() == 2 ? type.getDimSize(0) : 1;
  };
  op.getBody().walk([&](Operation *nested) {
    if (auto erase = dyn_cast<scan::EraseOp>(nested)) {
      erases += ranks(erase.getWrite());
      eraseKeys.insert(erase.getWrite());
    } else if (auto inject = dyn_cast<scan::InjectOp>(nested)) {
      if (eraseKeys.contains(inject.getKey()))
        ++ties;
      else
        injects += ranks(inject.getKey());
    } else if (isa<scan::ReadOp>(nested)) {
      ++reads;
    } else if (isa<scan::DecayOp>(nested)) {
      ++decays;
    }
  });
}

int64_t explain::Cost::recurrent() const {
  return plain + keys * values *
                     ((decays ? 1 : 0) + 4 * erases + 2 * injects + 2 * reads);
}

int64_t explain::Cost::chunked(scan::PlanAttr plan) const {
  int64_t chunk = plan.getChunk(), width = plan.getValueBlock(),
          blocks = width ? llvm::divideCeil(values, width) : 1;
  int64_t writers = erases + injects;
  int64_t scores =
      blocks * 2 * keys * chunk * (erases * writers + reads * writers);
  int64_t applied = 2 * values * chunk * (erases * injects + reads * writers) +
                    values * chunk * erases * erases;
  return scores + applied + 2 * keys * values * (erases + reads + writers);
}

int64_t explain::bytesPerToken(scan::RecurrenceOp op) {
  int64_t bytes = 0;
  auto add = [&](Type type, StringRef axes) {
    auto tensor = cast<RankedTensorType>(type);
    if (!axes.contains('t'))
      return;
    int64_t elements = 1;
    for (auto [letter, extent] : llvm::zip(axes, tensor.getShape()))
      if (letter != 'b' && letter != 't')
        elements *= extent;
    bytes += elements * tensor.getElementTypeBitWidth() / 8;
  };
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    add(input.getType(), op.getInputAxes(i));
  for (auto [i, output] : llvm::enumerate(op.getOutputs()))
    add(output.getType(), cast<StringAttr>(op.getOutputAxes()[i]).getValue());
  return bytes;
}

int64_t explain::stateBytesPerToken(func::FuncOp entry, scan::RecurrenceOp op) {
  auto kind = entry->getAttrOfType<StringAttr>(scan::kEntryAttr);
  if (!kind || kind.getValue() != "decode")
    return 0;
  int64_t bits = 0;
  for (unsigned i = 0; i < op.getNumStates(); ++i) {
    auto state = cast<RankedTensorType>(op.getStateArgument(i).getType());
    bits += state.getNumElements() * state.getElementTypeBitWidth();
  }
  return 2 * op.getNumValueHeads() * bits / 8;
}
