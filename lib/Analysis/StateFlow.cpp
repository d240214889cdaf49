//===- StateFlow.cpp - How the states flow through a step -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Analysis/StateFlow.h"
#include "StepEvaluator.h"

using namespace mlir;
using namespace prism;
using namespace prism::analysis;

static Shape shapeOfArgument(BlockArgument argument) {
  auto tensor = dyn_cast<RankedTensorType>(argument.getType());
  return tensor ? Shape(tensor.getShape()) : Shape();
}

StateFlow::StateFlow(scan::RecurrenceOp op, Value cut, ArrayRef<unsigned> given)
    : op(op), forms(op.getContext()) {
  StepEvaluator evaluator(op.getBody(), forms, nodes, cut);
  auto bindAll = [&](unsigned first, unsigned count, bool isState,
                     bool readsEntry) {
    SmallVector<const FlowNode *> bound;
    for (unsigned i = 0; i < count; ++i) {
      BlockArgument argument = op.getStepBlock()->getArgument(first + i);
      Dependence dependence = isState && !llvm::is_contained(given, i)
                                  ? Dependence::affine
                                  : Dependence::none;
      bound.push_back(
          evaluator.bind(argument, forms.leaf(shapeOfArgument(argument),
                                              dependence, readsEntry)));
    }
    return bound;
  };
  unsigned count = op.getNumStates(), entered = op.getNumEntryStates();
  states = bindAll(0, count, true, false);
  entries = bindAll(count, entered, true, true);
  inputs = bindAll(count + entered, op.getInputs().size(), false, false);
  evaluator.evaluateBlock(*op.getStepBlock());
  for (auto [i, value] : llvm::enumerate(op.getYield().getValues()))
    (i < count ? nextStates : outputs).push_back(evaluator.get(value));
  values = evaluator.takeValues();
}

std::optional<unsigned> StateFlow::notAffine() const {
  for (unsigned i = 0; i < states.size(); ++i)
    if (!isGiven(i) && nextStates[i]->dependence() == Dependence::other)
      return i;
  return std::nullopt;
}

StringRef analysis::stringify(Granularity granularity) {
  switch (granularity) {
  case Granularity::token:
    return "token";
  case Granularity::miniBatch:
    return "mini_batch";
  case Granularity::none:
    return "none";
  }
  llvm_unreachable("unknown granularity");
}

Granularity StateFlow::granularity() const {
  if (notAffine())
    return Granularity::none;
  for (unsigned i = 0; i < states.size(); ++i)
    if (!isGiven(i) && readsEntry(nextStates[i]->form))
      return Granularity::miniBatch;
  return Granularity::token;
}
