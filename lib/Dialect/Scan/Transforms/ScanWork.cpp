//===- ScanWork.cpp - What a step of a recurrence does --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

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

/// Erases, writers, reads and decays of the chain; false for a decay that has
/// no chunk form.
static bool addChain(RecurrenceOp op, ArrayRef<StateOpInterface> chain,
                     ScanWork &work) {
  llvm::SmallDenseSet<Value> erased; // keys of rank 1
  for (StateOpInterface element : chain) {
    Operation *factor = element;
    if (auto decay = dyn_cast<DecayOp>(factor)) {
      if (decay.getAlong() == DecayAlong::key)
        work.decay = ScanWork::Decay::key;
      else if (decay.getAlong() != DecayAlong::scalar)
        return false;
      else if (work.decay == ScanWork::Decay::none)
        work.decay = ScanWork::Decay::scalar;
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
  op.getBody().walk([&](ReadOp) { ++work.reads; });
  return true;
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
  if (op.getNumStates() != 1)
    return std::nullopt;
  FailureOr<SmallVector<StateOpInterface>> chain = getFactorChain(op, 0);
  if (failed(chain) || chain->empty())
    return std::nullopt;
  ScanWork work;
  auto state = cast<RankedTensorType>(op.getStateArgument(0).getType());
  std::tie(work.keys, work.values) = getKeysAndValues(op, 0);
  work.valueHeads = op.getNumValueHeads();
  work.elementBits = state.getElementType().isF64() ? 64 : 32;
  work.steps = kAssumedSteps;
  if (!addChain(op, *chain, work))
    return std::nullopt;
  addFunctions(op, work);
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    addArray(input.getType(), op.getInputAxes(i), work);
  for (auto [i, output] : llvm::enumerate(op.getOutputs()))
    addArray(output.getType(),
             cast<StringAttr>(op.getOutputAxes()[i]).getValue(), work);
  work.steps = std::max<int64_t>(work.steps, 1);
  return work;
}
