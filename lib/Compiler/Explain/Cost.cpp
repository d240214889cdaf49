//===- Cost.cpp - What a recurrence costs, by its factors -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Cost.h"
#include "Prism/Conversion/ScanToTile/ScanToTile.h"
#include "Prism/Dialect/Scan/IR/ChunkStates.h"
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

namespace {
/// Which state a value is, on its way through the step. What is done with a
/// state of one element is not counted, and not followed.
class StateValues {
public:
  explicit StateValues(scan::RecurrenceOp op) {
    for (unsigned i = 0; i < op.getNumStates(); ++i) {
      Value state = op.getStateArgument(i);
      if (cast<RankedTensorType>(state.getType()).getNumElements() > 1)
        states[state] = i;
    }
  }
  /// Follows an operation on a state; that state, or nothing.
  std::optional<unsigned> follow(Operation *op) {
    for (Value operand : op->getOperands())
      if (auto found = states.find(operand); found != states.end()) {
        unsigned state = found->second;
        for (Value result : op->getResults())
          if (result.getType() == operand.getType())
            states[result] = state;
        return state;
      }
    return std::nullopt;
  }

private:
  llvm::SmallDenseMap<Value, unsigned> states;
};
} // namespace

static int64_t ranksOf(Value key) {
  auto type = cast<RankedTensorType>(key.getType());
  return type.getRank() == 2 ? type.getDimSize(0) : 1;
}

void explain::Cost::describeStates(scan::RecurrenceOp op) {
  for (unsigned i = 0; i < op.getNumStates(); ++i) {
    ChainCost &chain = states.emplace_back();
    std::tie(chain.keys, chain.values) = scan::getKeysAndValues(op, i);
    for (unsigned before = 0; before < i && !op.getMiniBatch(); ++before)
      chain.sharesScores |= scan::haveSameScores(op, before, i);
  }
}

explain::Cost::Cost(scan::RecurrenceOp op) {
  bool isPlain = op->hasAttr(scan::kSerialAttr) && hasPlainSteps(op);
  if (isPlain)
    stepped = plainWork(op);
  describeStates(op);
  StateValues stateValues(op);
  llvm::SmallDenseSet<std::pair<unsigned, Value>> eraseKeys;
  llvm::SmallDenseSet<unsigned> decayed;
  op.getBody().walk([&](Operation *nested) {
    std::optional<unsigned> state = stateValues.follow(nested);
    if (!state)
      return;
    int64_t elements =
        cast<RankedTensorType>(op.getStateArgument(*state).getType())
            .getNumElements();
    // In mini-batches states meet: the first stands for all.
    ChainCost &chain = states[op.getMiniBatch() ? 0 : *state];
    if (auto erase = dyn_cast<scan::EraseOp>(nested)) {
      chain.erases += ranksOf(erase.getWrite());
      stepped += 4 * elements * ranksOf(erase.getWrite());
      eraseKeys.insert({*state, erase.getWrite()});
    } else if (auto inject = dyn_cast<scan::InjectOp>(nested)) {
      // One that writes along an erased key is part of what the erase writes.
      if (eraseKeys.contains({*state, inject.getKey()}))
        return;
      chain.injects += ranksOf(inject.getKey());
      stepped += 2 * elements * ranksOf(inject.getKey());
    } else if (isa<scan::ReadOp>(nested)) {
      ++chain.reads;
      stepped += 2 * elements;
    } else if (isa<scan::DecayOp>(nested)) {
      stepped += decayed.insert(*state).second ? elements : 0;
    } else if (!isPlain && nested->hasTrait<OpTrait::Elementwise>()) {
      stepped += elements;
    }
  });
}

int64_t explain::ChainCost::chunked(scan::PlanAttr plan) const {
  int64_t chunk = plan.getChunk(), width = plan.getValueBlock(),
          blocks = width ? llvm::divideCeil(values, width) : 1;
  int64_t writers = erases + injects;
  int64_t scores =
      blocks * 2 * keys * chunk * (erases * writers + reads * writers);
  int64_t applied = 2 * values * chunk * (erases * injects + reads * writers) +
                    values * chunk * erases * erases;
  return (sharesScores ? 0 : scores) + applied +
         2 * keys * values * (erases + reads + writers);
}

int64_t explain::Cost::chunked(scan::PlanAttr plan) const {
  int64_t sum = 0;
  for (const ChainCost &state : states)
    sum += state.chunked(plan);
  return sum;
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
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    auto convolution = input.getDefiningOp<scan::ShortConvolutionOp>();
    add(convolution ? convolution.getInput().getType() : input.getType(),
        op.getInputAxes(i));
  }
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
