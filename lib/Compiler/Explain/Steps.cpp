//===- Steps.cpp - The steps of a state, for people -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace prism;
using namespace prism::explain;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {
/// Says where values of a step come from, in the names of the entry's
/// arguments and results.
class Names {
public:
  Names(func::FuncOp entry, scan::RecurrenceOp op) : entry(entry), op(op) {}

  /// "beta", "f(u, v)" for what is computed from several, "a constant".
  std::string of(Value value) const {
    std::vector<std::string> names;
    bool isArgument = collect(value, names);
    if (names.empty())
      return "a constant";
    if (isArgument)
      return names.front();
    return "f(" + llvm::join(names, ", ") + ")";
  }

  /// The output that a read is, or "" if it is computed on.
  std::string ofOutput(scan::ReadOp read) const {
    for (auto [i, output] : llvm::enumerate(
             op.getYield().getValues().drop_front(op.getNumStates())))
      if (output == read.getResult())
        return resultName(op.getOutputs()[i]);
    return "";
  }

private:
  std::string resultName(Value output) const {
    for (OpOperand &use : output.getUses())
      if (isa<func::ReturnOp>(use.getOwner()))
        if (auto name = entry.getResultAttrOfType<StringAttr>(
                use.getOperandNumber(), scan::kNameAttr))
          return name.str();
    return "an output";
  }

  /// Adds the names of what the value is computed from; true if it is one of
  /// them as it is.
  bool collect(Value value, std::vector<std::string> &names) const {
    SmallVector<Value> pending = {value};
    llvm::SmallDenseSet<Value> seen;
    bool isArgument = true;
    while (!pending.empty()) {
      Value next = pending.pop_back_val();
      if (!seen.insert(next).second)
        continue;
      if (Operation *definition = next.getDefiningOp()) {
        isArgument = false;
        // In order: the last one pushed is looked at first.
        definition->walk([&](Operation *nested) {
          llvm::append_range(pending, llvm::reverse(nested->getOperands()));
        });
        continue;
      }
      auto argument = cast<BlockArgument>(next);
      if (argument.getOwner() == op.getStepBlock())
        addStepArgument(argument, pending, names);
      else if (argument.getOwner() == &entry.getBody().front())
        add(nameOf(argument), names);
    }
    return isArgument;
  }

  void addStepArgument(BlockArgument argument, SmallVector<Value> &pending,
                       std::vector<std::string> &names) const {
    unsigned number = argument.getArgNumber(), states = op.getNumStates(),
             first = states + op.getNumEntryStates();
    if (number >= first)
      pending.push_back(op.getInputs()[number - first]);
    else
      add(states == 1 ? std::string("S")
                      : "state " + std::to_string(number % states + 1),
          names);
  }

  static void add(std::string name, std::vector<std::string> &names) {
    if (!llvm::is_contained(names, name))
      names.push_back(std::move(name));
  }

  std::string nameOf(BlockArgument argument) const {
    auto name = entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                   scan::kNameAttr);
    return name ? name.str() : "an unnamed input";
  }

  // Accessors of ops are not const.
  mutable func::FuncOp entry;
  mutable scan::RecurrenceOp op;
};
} // namespace

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

static int64_t ranksOf(Value key) {
  auto type = cast<RankedTensorType>(key.getType());
  return type.getRank() == 2 ? type.getDimSize(0) : 1;
}

static Step describeDecay(scan::DecayOp decay, const Names &names) {
  static constexpr StringRef formulas[] = {"S ← exp(g) S", "S ← diag(exp g) S",
                                           "S ← S diag(exp g)",
                                           "S ← exp(g) ∘ S"};
  return {Step::decay,
          "decay along " + scan::stringifyDecayAlong(decay.getAlong()).str(),
          formulas[unsigned(decay.getAlong())].str(),
          {{"g", names.of(decay.getLogGate())}}};
}

/// The state before the factor's own, of which an erase reads.
static std::string earlierState(scan::EraseOp erase) {
  auto op = erase->getParentOfType<scan::RecurrenceOp>();
  for (unsigned i = 0; op.getMiniBatch() && i < op.getNumStates(); ++i)
    if (erase.getOf() == op.getEntryStateArgument(i))
      return (op.getNumStates() > 1 ? "state " + std::to_string(i + 1)
                                    : std::string("the state")) +
             " at the mini-batch's entry";
  return "an earlier state";
}

static Step describeErase(scan::EraseOp erase, const Names &names) {
  int64_t ranks = ranksOf(erase.getWrite());
  bool tied = erase.getRead() == erase.getWrite();
  Step step;
  step.kind = Step::erase;
  step.text = "erase, rank " + std::to_string(ranks) +
              (tied ? ", tied keys (delta rule)" : ", free keys") +
              (erase.getOf() ? ", reading " + earlierState(erase) : "");
  step.formula = std::string("S ← S − ") + (ranks > 1 ? "Σ " : "") + "β " +
                 (tied ? "k (kᵀ " : "w (rᵀ ") + (erase.getOf() ? "P)" : "S)");
  step.symbols = {{"β", names.of(erase.getStrength())}};
  if (tied) {
    step.symbols.push_back({"k", names.of(erase.getWrite())});
  } else {
    step.symbols.push_back({"w", names.of(erase.getWrite())});
    step.symbols.push_back({"r", names.of(erase.getRead())});
  }
  if (erase.getOf())
    step.symbols.push_back({"P", earlierState(erase)});
  return step;
}

static Step describeInject(scan::InjectOp inject, const Names &names) {
  int64_t ranks = ranksOf(inject.getKey());
  Step step;
  step.kind = Step::inject;
  step.text = "injection, rank " + std::to_string(ranks) +
              (inject.getValue().getDefiningOp<scan::RefineOp>()
                   ? ", values from the refinement loop"
                   : "");
  step.formula = std::string("S ← S + ") + (ranks > 1 ? "Σ " : "") +
                 (inject.getScale() ? "c " : "") + "k vᵀ";
  if (inject.getScale())
    step.symbols.push_back({"c", names.of(inject.getScale())});
  step.symbols.push_back({"k", names.of(inject.getKey())});
  step.symbols.push_back({"v", names.of(inject.getValue())});
  return step;
}

static Step describeRead(scan::ReadOp read, const Names &names) {
  Step step;
  step.kind = Step::read;
  step.text = "read (output)";
  double scale = read.getScale().convertToDouble();
  step.formula = scale == 1 ? "y = Sᵀ q" : "y = c Sᵀ q";
  step.symbols = {{"q", names.of(read.getQuery())}};
  if (scale != 1)
    step.symbols.push_back({"c", llvm::formatv("{0:F4}", scale)});
  if (std::string output = names.ofOutput(read); !output.empty())
    step.symbols.push_back({"y", output});
  return step;
}

static Step describeFactor(Operation *factor, const Names &names) {
  if (auto decay = dyn_cast<scan::DecayOp>(factor))
    return describeDecay(decay, names);
  if (auto erase = dyn_cast<scan::EraseOp>(factor))
    return describeErase(erase, names);
  if (auto inject = dyn_cast<scan::InjectOp>(factor))
    return describeInject(inject, names);
  return {Step::other, factor->getName().getStringRef().str(), "", {}};
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

static std::string shapeOf(Type type) {
  std::string text;
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    for (int64_t extent : tensor.getShape())
      text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text.empty() ? "a scalar" : text;
}

/// Of a state that is no chain of factors: what makes its values, and what is
/// read of them, in order. Nothing for a number.
static void describeUses(scan::RecurrenceOp op, unsigned index,
                         const Names &names, std::vector<Step> &steps) {
  Value start = op.getStateArgument(index);
  auto type = cast<RankedTensorType>(start.getType());
  if (type.getNumElements() == 1)
    return;
  llvm::SmallDenseSet<Value> made = {start};
  auto isMade = [&](Value value) { return made.contains(value); };
  for (Operation &inner : op.getStepBlock()->without_terminator()) {
    if (auto read = dyn_cast<scan::ReadOp>(inner)) {
      if (isMade(read.getState()))
        steps.push_back(describeRead(read, names));
      continue;
    }
    auto factor = dyn_cast<scan::StateOpInterface>(inner);
    bool uses = factor ? isMade(factor.getStateOperand().get())
                       : llvm::any_of(inner.getOperands(), isMade);
    if (!uses || inner.getNumResults() != 1 ||
        inner.getResult(0).getType() != type)
      continue;
    made.insert(inner.getResult(0));
    steps.push_back(describeFactor(&inner, names));
  }
}

std::vector<State> explain::describeStates(func::FuncOp entry,
                                           scan::RecurrenceOp op) {
  Names names(entry, op);
  SmallVector<scan::ReadOp> reads;
  op.getBody().walk([&](scan::ReadOp read) { reads.push_back(read); });
  std::vector<State> states;
  for (unsigned i = 0; i < op.getNumStates(); ++i) {
    State &state = states.emplace_back();
    state.shape = shapeOf(op.getStateArgument(i).getType());
    auto addReads = [&](Value of) {
      for (scan::ReadOp read : reads)
        if (read.getState() == of)
          state.steps.push_back(describeRead(read, names));
    };
    auto chain = scan::getFactorChain(op, i);
    state.isChain = succeeded(chain);
    if (failed(chain)) {
      describeUses(op, i, names, state.steps);
      continue;
    }
    addReads(chain->empty() ? op.getStateArgument(i)
                            : chain->front().getStateOperand().get());
    for (scan::StateOpInterface factor : *chain) {
      state.steps.push_back(describeFactor(factor, names));
      addReads(factor.getStateResult());
    }
  }
  return states;
}
