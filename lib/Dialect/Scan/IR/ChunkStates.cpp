//===- ChunkStates.cpp - In which order a chunk takes states --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Scan/IR/ChunkStates.h"
#include "Prism/Dialect/Scan/IR/StepOps.h"
#include "mlir/Interfaces/CallInterfaces.h"

using namespace mlir;
using namespace prism::scan;

//===----------------------------------------------------------------------===//
// What values are made of
//===----------------------------------------------------------------------===//

/// Operands, and what nested regions take from outside the op.
static SmallVector<Value> inputsOf(Operation *op) {
  SmallVector<Value> inputs(op->getOperands());
  op->walk([&](Operation *nested) {
    if (nested == op)
      return;
    for (Value operand : nested->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
        inputs.push_back(operand);
  });
  return inputs;
}

llvm::SetVector<Value>
prism::scan::sourcesOf(RecurrenceOp op, ValueRange values,
                       llvm::function_ref<bool(Value)> isKnown) {
  llvm::SetVector<Value> found;
  // A value is added when all that it is made of has been.
  SmallVector<std::pair<Value, bool>> pending;
  for (Value value : llvm::reverse(values))
    pending.push_back({value, false});
  while (!pending.empty()) {
    auto [value, isDone] = pending.pop_back_val();
    if (isDone) {
      found.insert(value);
      continue;
    }
    bool isInside = value.getParentRegion() == &op.getBody();
    if (!isInside || found.contains(value) || isKnown(value))
      continue;
    pending.push_back({value, true});
    if (Operation *producer = value.getDefiningOp()) {
      auto inputs = inputsOf(producer);
      for (Value input : llvm::reverse(inputs))
        pending.push_back({input, false});
    }
  }
  return found;
}

SmallVector<Value> prism::scan::coefficientsOf(StateOpInterface factor) {
  auto erase = dyn_cast<EraseOp>(factor.getOperation());
  SmallVector<Value> coefficients;
  for (OpOperand &operand : factor->getOpOperands())
    if (&operand != &factor.getStateOperand() &&
        !(erase && erase.getOf() && operand.get() == erase.getOf()))
      coefficients.push_back(operand.get());
  return coefficients;
}

bool prism::scan::outputsAreReads(RecurrenceOp op) {
  return llvm::all_of(
      op.getYield().getValues().drop_front(op.getNumStates()),
      [](Value output) { return bool(output.getDefiningOp<ReadOp>()); });
}

SmallVector<Value> prism::scan::readsAmong(RecurrenceOp op, Value output) {
  SmallVector<Value> reads;
  (void)sourcesOf(op, output, [&](Value value) {
    bool isRead = bool(value.getDefiningOp<ReadOp>());
    if (isRead && !llvm::is_contained(reads, value))
      reads.push_back(value);
    return isRead;
  });
  return reads;
}

static bool nothing(Value) { return false; }

/// The states, as they enter the step or the mini-batch, among values.
static llvm::SmallDenseSet<unsigned>
statesAmong(RecurrenceOp op, const llvm::SetVector<Value> &values) {
  llvm::SmallDenseSet<unsigned> states;
  for (Value value : values)
    if (auto argument = dyn_cast<BlockArgument>(value))
      if (argument.getArgNumber() < op.getNumStates() + op.getNumEntryStates())
        states.insert(argument.getArgNumber() % op.getNumStates());
  return states;
}

//===----------------------------------------------------------------------===//
// Strata
//===----------------------------------------------------------------------===//

/// Can tiles stand for all that a value is made of? Calls are looked at when
/// their ops are in their place.
static bool isMadeOfTiles(const llvm::SetVector<Value> &sources) {
  return llvm::all_of(sources, [](Value value) {
    Operation *producer = value.getDefiningOp();
    return !producer || isa<CallOpInterface>(producer) || isTileOp(*producer);
  });
}

/// All states of one number that no state of another kind flows into, stepped
/// by ops that tiles stand for.
static llvm::SmallDenseSet<unsigned> numbersKnownFirst(RecurrenceOp op) {
  llvm::SmallDenseSet<unsigned> numbers;
  for (unsigned i = 0; i < op.getNumStates(); ++i) {
    auto type = cast<RankedTensorType>(op.getStateArgument(i).getType());
    if (type.getRank() == 2 && type.getNumElements() == 1)
      numbers.insert(i);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned i = 0; i < op.getNumStates(); ++i) {
      if (!numbers.contains(i))
        continue;
      auto sources = sourcesOf(op, op.getYield().getValues()[i], nothing);
      auto among = statesAmong(op, sources);
      if (isMadeOfTiles(sources) &&
          llvm::all_of(among, [&](unsigned s) { return numbers.contains(s); }))
        continue;
      numbers.erase(i);
      changed = true;
    }
  }
  return numbers;
}

static bool isChain(RecurrenceOp op, unsigned state) {
  FailureOr<SmallVector<StateOpInterface>> chain = getFactorChain(op, state);
  std::string reason;
  return succeeded(chain) && !isValueFirst(op, state) &&
         llvm::all_of(*chain, [&](StateOpInterface factor) {
           return factor.hasChunkForm(reason);
         });
}

ChunkStates::ChunkStates(RecurrenceOp op) {
  llvm::SmallDenseSet<unsigned> numbers, isStepped;
  if (op.getNumStates() > 1)
    numbers = numbersKnownFirst(op);
  // What has to be known before the chains, or is seen as it is.
  SmallVector<Value> first;
  auto addFirst = [&](unsigned state) {
    if (numbers.contains(state) && isStepped.insert(state).second)
      first.push_back(op.getYield().getValues()[state]);
  };
  for (unsigned i = 0; i < op.getNumStates(); ++i)
    if (!isChain(op, i)) {
      addFirst(i);
    } else {
      auto chain = getFactorChain(op, i);
      for (StateOpInterface factor : *chain)
        llvm::append_range(first, coefficientsOf(factor));
    }
  auto isRead = [](Value value) { return bool(value.getDefiningOp<ReadOp>()); };
  auto outputs = op.getYield().getValues().drop_front(op.getNumStates());
  for (unsigned state : statesAmong(op, sourcesOf(op, outputs, isRead)))
    addFirst(state);
  for (Value output : outputs)
    for (Value read : readsAmong(op, output))
      first.push_back(read.getDefiningOp<ReadOp>().getQuery());
  while (!first.empty())
    for (unsigned state :
         statesAmong(op, sourcesOf(op, first.pop_back_val(), nothing)))
      addFirst(state);
  for (unsigned i = 0; i < op.getNumStates(); ++i)
    (isStepped.contains(i) ? stepped : chained).push_back(i);
}

/// Do two factors put the same place between the same keys?
static bool haveSameKeys(Operation *a, Operation *b) {
  if (a->getName() != b->getName())
    return false;
  if (auto decay = dyn_cast<DecayOp>(a))
    return decay.getLogGate() == cast<DecayOp>(b).getLogGate() &&
           decay.getAlong() == cast<DecayOp>(b).getAlong();
  if (auto inject = dyn_cast<InjectOp>(a))
    return inject.getKey() == cast<InjectOp>(b).getKey();
  if (auto erase = dyn_cast<EraseOp>(a))
    return !erase.getOf() && !cast<EraseOp>(b).getOf() &&
           erase.getRead() == cast<EraseOp>(b).getRead() &&
           erase.getWrite() == cast<EraseOp>(b).getWrite();
  return false;
}

/// Queries of a chain, each with the place where it stands.
static llvm::SmallDenseSet<std::pair<Value, int64_t>>
queriesOf(ArrayRef<StateOpInterface> chain, Value start) {
  llvm::SmallDenseSet<std::pair<Value, int64_t>> queries;
  auto add = [&](Value state, int64_t place) {
    for (Operation *user : state.getUsers())
      if (auto read = dyn_cast<ReadOp>(user))
        queries.insert({read.getQuery(), place});
  };
  add(start, 0);
  for (auto [i, factor] : llvm::enumerate(chain))
    add(StateOpInterface(factor).getStateResult(), i + 1);
  return queries;
}

bool prism::scan::haveSameScores(RecurrenceOp op, unsigned a, unsigned b) {
  auto first = getFactorChain(op, a), second = getFactorChain(op, b);
  if (failed(first) || failed(second) || first->size() != second->size())
    return false;
  for (auto [one, other] : llvm::zip(*first, *second))
    if (!haveSameKeys(one, other))
      return false;
  return queriesOf(*first, op.getStateArgument(a)) ==
         queriesOf(*second, op.getStateArgument(b));
}

//===----------------------------------------------------------------------===//
// What has no chunk form
//===----------------------------------------------------------------------===//

static std::string nameOf(RecurrenceOp op, unsigned state) {
  return op.getNumStates() == 1 ? std::string("the state")
                                : "state " + std::to_string(state + 1);
}

namespace {
/// Looks for what keeps a recurrence from being taken chunk by chunk.
class Obstacles {
public:
  Obstacles(RecurrenceOp op, std::string &reason)
      : op(op), states(op), reason(reason) {
    for (unsigned state : states.stepped)
      known.insert(op.getStateArgument(state));
  }

  Operation *find();

private:
  Operation *ofChain(unsigned state);
  Operation *ofOutput(Value output);
  Operation *ofRead(ReadOp read);
  std::optional<unsigned> unknownIn(Value value);

  RecurrenceOp op;
  ChunkStates states;
  std::string &reason;
  llvm::SmallDenseSet<Value> known; // the stepped states as they enter
};
} // namespace

/// A state that `value` is made of and that is not known before the chains.
std::optional<unsigned> Obstacles::unknownIn(Value value) {
  for (unsigned state : statesAmong(op, sourcesOf(op, value, nothing)))
    if (!known.contains(op.getStateArgument(state)))
      return state;
  return std::nullopt;
}

Operation *Obstacles::ofChain(unsigned state) {
  FailureOr<SmallVector<StateOpInterface>> chain = getFactorChain(op, state);
  if (failed(chain)) {
    if (op.getNumStates() == 1 && outputsAreReads(op))
      return nullptr; // reported by the lowering
    reason = nameOf(op, state) +
             " is no chain of factors, nor a number made of inputs alone";
    return op;
  }
  if (op.getNumStates() > 1 && isValueFirst(op, state)) {
    reason = nameOf(op, state) +
             " has values first, which chunks of several states do not take";
    return op;
  }
  SmallVector<Value> own = {op.getStateArgument(state)};
  for (StateOpInterface factor : *chain)
    own.push_back(factor.getStateResult());
  for (StateOpInterface factor : *chain) {
    if (!factor.hasChunkForm(reason))
      return factor;
    // A single state's coefficients are the lowering's to report.
    if (op.getNumStates() == 1)
      continue;
    for (Value coefficient : coefficientsOf(factor))
      if (std::optional<unsigned> other = unknownIn(coefficient)) {
        reason = "a coefficient of " + nameOf(op, state) + " is made of " +
                 nameOf(op, *other) +
                 ", which is not known before the chunk is computed";
        return factor;
      }
    auto erase = dyn_cast<EraseOp>(factor.getOperation());
    if (erase && erase.getOf() && !llvm::is_contained(own, erase.getOf())) {
      reason = nameOf(op, state) + " reads another state than itself";
      return factor;
    }
  }
  return nullptr;
}

/// What is asked for is known before the chunk, and of a state on a chain.
Operation *Obstacles::ofRead(ReadOp read) {
  if (std::optional<unsigned> other = unknownIn(read.getQuery())) {
    reason = "a query is made of " + nameOf(op, *other) +
             ", which is not known before the chunk is computed";
    return read;
  }
  for (unsigned state = 0; state < op.getNumStates(); ++state)
    if (auto chain = getFactorChain(op, state); succeeded(chain))
      if (read.getState() == op.getStateArgument(state) ||
          (isValueFirst(op, state) &&
           read.getState() == chain->front().getStateOperand().get()) ||
          llvm::is_contained(llvm::map_range(*chain,
                                             [](StateOpInterface factor) {
                                               return factor.getStateResult();
                                             }),
                             read.getState()))
        return nullptr;
  if (llvm::all_of(statesAmong(op, sourcesOf(op, read.getState(), nothing)),
                   [&](unsigned state) {
                     return known.contains(op.getStateArgument(state));
                   }))
    return nullptr;
  if (op.getNumStates() == 1 && outputsAreReads(op))
    return nullptr; // reported by the lowering
  reason = "a read is of a state that no next state is made of";
  return read;
}

/// Outputs are made of inputs, numbers that were stepped and reads of chains.
Operation *Obstacles::ofOutput(Value output) {
  auto isRead = [](Value value) { return bool(value.getDefiningOp<ReadOp>()); };
  for (Value read : readsAmong(op, output))
    if (Operation *obstacle = ofRead(read.getDefiningOp<ReadOp>()))
      return obstacle;
  for (Value source : sourcesOf(op, output, isRead)) {
    auto argument = dyn_cast<BlockArgument>(source);
    if (!argument || argument.getArgNumber() >= op.getNumStates() ||
        known.contains(argument))
      continue;
    reason = "an output is made of " + nameOf(op, argument.getArgNumber()) +
             " itself, not of what is read of it";
    return output.getDefiningOp() ? output.getDefiningOp() : op;
  }
  return nullptr;
}

Operation *Obstacles::find() {
  if (states.chained.empty()) {
    reason = "no state is a chain of factors";
    return op;
  }
  for (unsigned state : states.chained)
    if (Operation *obstacle = ofChain(state))
      return obstacle;
  for (Value output : op.getYield().getValues().drop_front(op.getNumStates()))
    if (Operation *obstacle = ofOutput(output))
      return obstacle;
  return nullptr;
}

bool prism::scan::decaysValuesOrElements(RecurrenceOp op) {
  return llvm::any_of(op.getBody().getOps<DecayOp>(), [](DecayOp decay) {
    return decay.getAlong() == DecayAlong::value ||
           decay.getAlong() == DecayAlong::element;
  });
}

Operation *prism::scan::findFactorWithoutChunkForm(RecurrenceOp op,
                                                   std::string &reason) {
  // Mini-batches are chunks; what they do not take is the lowering's to say.
  if (op.getMiniBatch())
    return nullptr;
  Operation *obstacle = Obstacles(op, reason).find();
  if (obstacle)
    reason += "; the recurrent schedule takes it";
  return obstacle;
}
