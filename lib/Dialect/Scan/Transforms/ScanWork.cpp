//===- ScanWork.cpp - What a step of a recurrence does --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Scan/IR/ChunkStates.h"
#include "Prism/Dialect/Scan/Transforms/CostModel.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace prism::scan;

static int64_t ranksOf(Value key) {
  auto type = cast<RankedTensorType>(key.getType());
  return type.getRank() == 2 ? type.getDimSize(0) : 1;
}

static int64_t elementsOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getNumElements() : 1;
}

/// Erases, writers and decays of the chain; false for a decay that has
/// no chunk form.
static bool addChain(ArrayRef<StateOpInterface> chain, ChainWork &work) {
  llvm::SmallDenseSet<Value> erased; // keys of rank 1
  for (StateOpInterface element : chain) {
    Operation *factor = element;
    if (auto decay = dyn_cast<DecayOp>(factor)) {
      if (decay.getAlong() == DecayAlong::key)
        work.decay = ChainWork::Decay::key;
      else if (decay.getAlong() != DecayAlong::scalar)
        return false;
      else if (work.decay == ChainWork::Decay::none)
        work.decay = ChainWork::Decay::scalar;
    } else if (auto erase = dyn_cast<EraseOp>(factor)) {
      work.erases += ranksOf(erase.getWrite());
      if (ranksOf(erase.getWrite()) == 1)
        erased.insert(erase.getWrite());
    } else if (auto inject = dyn_cast<InjectOp>(factor)) {
      // Along an erase's own key it is one writer with it.
      if (!erased.erase(inject.getKey()))
        work.writers += ranksOf(inject.getKey());
    }
  }
  return true;
}

/// Reads of the chain's states.
static int64_t countReads(Value start, ArrayRef<StateOpInterface> chain) {
  SmallVector<Value> states = {start};
  for (StateOpInterface factor : chain)
    states.push_back(factor.getStateResult());
  int64_t reads = 0;
  for (Value state : states)
    reads += llvm::count_if(state.getUsers(), llvm::IsaPred<ReadOp>);
  return reads;
}

/// Elementwise ops of outputs on what was read, and those that states of one
/// number are made of.
static void addComputed(RecurrenceOp op, const ChunkStates &states,
                        ScanWork &work) {
  auto isMath = [](Operation *op) {
    return isa<math::MathDialect>(op->getDialect()) &&
           !isa<math::AbsFOp, math::FmaOp>(op);
  };
  auto visit = [&](ValueRange values, llvm::function_ref<bool(Value)> isKnown,
                   llvm::function_ref<void(Operation *)> add) {
    for (Value value : sourcesOf(op, values, isKnown))
      if (Operation *producer = value.getDefiningOp();
          producer && OpTrait::hasElementwiseMappableTraits(producer) &&
          !isa<arith::ExtFOp, arith::TruncFOp, arith::ConstantOp>(producer))
        add(producer);
  };
  auto outputs = op.getYield().getValues().drop_front(op.getNumStates());
  visit(
      outputs, [](Value v) { return bool(v.getDefiningOp<ReadOp>()); },
      [&](Operation *producer) {
        if (!isMath(producer))
          work.conversions.push_back(
              elementsOf(producer->getResult(0).getType()));
      });
  SmallVector<Value> numbers;
  for (unsigned state : states.stepped)
    numbers.push_back(op.getYield().getValues()[state]);
  visit(
      numbers, [](Value) { return false; },
      [&](Operation *producer) {
        ++(isMath(producer) ? work.numberFunctions : work.numberOps);
      });
}

/// Functions that a step takes of its inputs. The decays' own exponentials are
/// counted with the form they have.
static void addFunctions(RecurrenceOp op, ScanWork &work) {
  op.getBody().walk([&](Operation *nested) {
    if (auto refine = dyn_cast<RefineOp>(nested)) {
      auto type = cast<RankedTensorType>(refine.getResult().getType());
      bool plain = refine.getActivation() == Activation::identity ||
                   refine.getActivation() == Activation::relu;
      for (int64_t l = 0; l < type.getDimSize(0); ++l)
        (plain ? work.conversions : work.functions)
            .push_back(type.getDimSize(1));
    } else if (isa<L2NormOp>(nested)) {
      work.conversions.append(2, elementsOf(nested->getResult(0).getType()));
      work.functions.push_back(1);
    } else if (isa_and_present<math::MathDialect>(nested->getDialect()) &&
               !isa<math::AbsFOp, math::FmaOp>(nested)) {
      work.functions.push_back(elementsOf(nested->getResult(0).getType()));
    }
  });
}

/// Bytes of a step, the inputs of key heads shared among value heads; extents
/// of batch and time where they are known.
static void addArray(Type type, StringRef axes, ScanWork &work) {
  auto tensor = cast<RankedTensorType>(type);
  int64_t elements = 1, own = 1;
  for (auto [letter, extent] : llvm::zip(axes, tensor.getShape())) {
    bool isStatic = !ShapedType::isDynamic(extent);
    if (letter == 't') {
      if (isStatic)
        work.steps = extent;
    } else if (letter == 'b') {
      if (isStatic)
        work.batch = extent;
    } else {
      elements *= extent;
      if (letter != 'h')
        own *= extent;
    }
  }
  if (!axes.contains('t'))
    return; // once a sequence
  unsigned bits = tensor.getElementTypeBitWidth();
  work.bytes += double(elements) * bits / 8 / work.valueHeads;
  if (bits == 16)
    work.conversions.push_back(own);
}

std::optional<ScanWork> ScanWork::of(RecurrenceOp op) {
  ChunkStates states(op);
  std::string reason;
  if (op.getNumStates() > 1 &&
      (op.getMiniBatch() || findFactorWithoutChunkForm(op, reason)))
    return std::nullopt;
  SmallVector<ChainWork> chains;
  for (unsigned state : states.chained) {
    FailureOr<SmallVector<StateOpInterface>> chain = getFactorChain(op, state);
    if (failed(chain) || chain->empty())
      return std::nullopt;
    ChainWork &work = chains.emplace_back();
    std::tie(work.keys, work.values) = getKeysAndValues(op, state);
    work.reads = countReads(chain->front().getStateOperand().get(), *chain);
    if (!addChain(*chain, work))
      return std::nullopt;
    for (unsigned before : states.chained)
      work.sharesScores |= before < state && haveSameScores(op, before, state);
  }
  ScanWork work;
  static_cast<ChainWork &>(work) = chains.front();
  work.others.assign(chains.begin() + 1, chains.end());
  auto state = cast<RankedTensorType>(op.getStateArgument(0).getType());
  work.valueHeads = op.getNumValueHeads();
  work.elementBits = state.getElementType().isF64() ? 64 : 32;
  work.steps = kAssumedSteps;
  addComputed(op, states, work);
  addFunctions(op, work);
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    addArray(input.getType(), op.getInputAxes(i), work);
  for (auto [i, output] : llvm::enumerate(op.getOutputs()))
    addArray(output.getType(),
             cast<StringAttr>(op.getOutputAxes()[i]).getValue(), work);
  work.steps = std::max<int64_t>(work.steps, 1);
  return work;
}
