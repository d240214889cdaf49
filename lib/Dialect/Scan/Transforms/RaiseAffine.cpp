//===- RaiseAffine.cpp - Plain ops of a step become state factors ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every value of the step that has the state's type is a candidate for a state
// on the chain. A hop leads from one to a later one if the later one, written
// as a form of the earlier one, is a decay, erases and injections. The way from
// the state to its next value with the fewest hops left plain, and then the
// most hops, is raised.
//
//===----------------------------------------------------------------------===//

#include "FormEmitter.h"
#include "MatchFactors.h"
#include "Prism/Dialect/Scan/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace prism;
using namespace prism::scan;
using namespace prism::analysis;
using llvm::formatv;

namespace prism::scan {
#define GEN_PASS_DEF_SCANRAISEAFFINE
#include "Prism/Dialect/Scan/Transforms/Passes.h.inc"
} // namespace prism::scan

// Longer steps are raised in parts.
static constexpr size_t kMaxCandidates = 48;

namespace {
/// One hop, found; `chain` is empty for a factor that is there already.
struct Hop {
  std::optional<MatchedChain> chain;
};

/// Raises one state of a recurrence, taken as keys by values or, turned, as
/// values by keys.
class StateRaiser {
public:
  StateRaiser(RecurrenceOp op, unsigned state, bool isTurned,
              bool assumeNonNegative)
      : op(op), state(state), isTurned(isTurned),
        assumeNonNegative(assumeNonNegative) {}

  /// Finds the way: how many hops stay plain, and the negative number of
  /// vectors that are read from the state.
  std::pair<int, int> match();
  void raise();

private:
  Form turned(FormContext &forms, const Form &form);
  Value turnedAt(Value value, Operation *place);
  SmallVector<OtherState> otherStates(StateFlow &flow);
  void collectCandidates();
  void findHops();
  std::pair<int, int> findWay();
  bool emitHop(size_t from, size_t to, const Hop &hop);
  void raiseReads();
  FactorMatcher matcherFrom(size_t from);
  void sayWhy(size_t to);

  RecurrenceOp op;
  unsigned state;
  bool isTurned, assumeNonNegative;
  SmallVector<size_t> way;
  SmallVector<Value> candidates; // the state first, its next value last
  SmallVector<Value> raised;     // what now stands for each, keys by values
  SmallVector<std::unique_ptr<StateFlow>> flows;
  std::map<std::pair<size_t, size_t>, Hop> hops;
  std::map<size_t, std::string> reasons; // by the later end
};
} // namespace

void StateRaiser::collectCandidates() {
  Value first = op.getStateArgument(state);
  Value last = op.getYield().getValues()[state];
  candidates.push_back(first);
  for (Operation &inner : op.getStepBlock()->without_terminator())
    for (Value result : inner.getResults())
      if (result.getType() == first.getType() && result != last &&
          candidates.size() + 1 < kMaxCandidates &&
          inner.isBeforeInBlock(last.getDefiningOp()))
        candidates.push_back(result);
  candidates.push_back(last);
  raised = candidates;
  if (isTurned)
    raised.assign(candidates.size(), Value());
}

/// A state value's form, keys by values.
Form StateRaiser::turned(FormContext &forms, const Form &form) {
  if (!isTurned)
    return form;
  return forms.view(
      form,
      AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0}, op.getContext()),
      {form.shape[1], form.shape[0]});
}

/// A state value, keys by values, or one that is so, as the step has it.
Value StateRaiser::turnedAt(Value value, Operation *place) {
  if (!isTurned)
    return value;
  OpBuilder builder(place);
  auto type = cast<RankedTensorType>(value.getType());
  Value empty = tensor::EmptyOp::create(
      builder, place->getLoc(),
      ArrayRef{type.getDimSize(1), type.getDimSize(0)}, type.getElementType());
  return linalg::TransposeOp::create(builder, place->getLoc(), value, empty,
                                     ArrayRef<int64_t>{1, 0})
      ->getResult(0);
}

/// Other states of the step and, with mini-batches, all at the entry.
SmallVector<OtherState> StateRaiser::otherStates(StateFlow &flow) {
  SmallVector<OtherState> others;
  Type type = op.getStateArgument(state).getType();
  auto add = [&](const FlowNode *node) {
    if (node->value.getType() == type)
      if (const Atom *atom = onlyAtom(turned(flow.forms, node->form)))
        others.push_back({atom, node->value});
  };
  for (auto [i, node] : llvm::enumerate(flow.states))
    if (i != state)
      add(node);
  llvm::for_each(flow.entries, add);
  return others;
}

FactorMatcher StateRaiser::matcherFrom(size_t from) {
  StateFlow &flow = *flows[from];
  return FactorMatcher(
      flow.forms,
      onlyAtom(turned(flow.forms, flow.nodeOf(candidates[from])->form)),
      otherStates(flow), op.getContext(), assumeNonNegative);
}

void StateRaiser::findHops() {
  for (size_t from = 0; from + 1 < candidates.size(); ++from) {
    flows.push_back(std::make_unique<StateFlow>(op, candidates[from]));
    FactorMatcher matcher = matcherFrom(from);
    for (size_t to = from + 1; to < candidates.size(); ++to) {
      auto factor = candidates[to].getDefiningOp<StateOpInterface>();
      if (factor && !isTurned &&
          factor.getStateOperand().get() == candidates[from]) {
        hops[{from, to}] = Hop();
        continue;
      }
      Form form =
          turned(flows[from]->forms, flows[from]->nodeOf(candidates[to])->form);
      std::string reason;
      std::optional<MatchedChain> chain = matcher.matchChain(form, reason);
      if (chain)
        hops[{from, to}] = Hop{std::move(chain)};
      else if (dependenceOf(form) == Dependence::affine)
        reasons[to] = reason;
    }
  }
}

/// The candidates on the best way; hops between them may be missing. How many
/// are, and the negative number of those that are not.
std::pair<int, int> StateRaiser::findWay() {
  size_t count = candidates.size();
  // Plain hops, then the negative number of raised ones.
  std::vector<std::pair<int, int>> cost(count, {INT_MAX, 0});
  std::vector<size_t> before(count, 0);
  cost[0] = {0, 0};
  for (size_t to = 1; to < count; ++to)
    for (size_t from = 0; from < to; ++from) {
      bool found = hops.count({from, to});
      std::pair<int, int> through = {cost[from].first + (found ? 0 : 1),
                                     cost[from].second - (found ? 1 : 0)};
      if (through < cost[to])
        cost[to] = through, before[to] = from;
    }
  way = {count - 1};
  while (way.back() != 0)
    way.push_back(before[way.back()]);
  std::reverse(way.begin(), way.end());
  return cost.back();
}

bool StateRaiser::emitHop(size_t from, size_t to, const Hop &hop) {
  if (!hop.chain)
    return true;
  Operation *place = candidates[to].getDefiningOp();
  Type element = getElementTypeOrSelf(candidates[to].getType());
  FormEmitter emitter(*flows[from], place, element);
  OpBuilder &builder = emitter.builder;
  Location loc = place->getLoc();
  Value &start = raised[from];
  if (!start)
    start = turnedAt(candidates[from], place);
  Value current = start, undecayed = start;
  const MatchedChain &chain = *hop.chain;
  if (chain.decay) {
    Value gate = chain.decay->isLog ? emitter.emit(chain.decay->gate)
                                    : emitter.emitLog(chain.decay->gate);
    if (!gate)
      return false;
    current = DecayOp::create(builder, loc, current, gate, chain.decay->along);
  }
  Value decayed = current;
  for (const MatchedErase &erase : chain.erases) {
    Value read = emitter.emit(erase.read), write = emitter.emit(erase.write),
          strength = emitter.emit(erase.strength);
    if (!read || !write || !strength)
      return false;
    // Erases of one hop do not see each other.
    Value seen = erase.of            ? turnedAt(erase.of, place)
                 : erase.beforeDecay ? undecayed
                                     : decayed;
    current =
        EraseOp::create(builder, loc, current, seen == current ? Value() : seen,
                        read, write, strength);
  }
  for (const MatchedAdd &add : chain.adds) {
    Value other = turnedAt(add.state, place), scale = emitter.emit(add.scale);
    if (!scale)
      return false;
    if (constantOf(add.scale) != 1.0) {
      Value all =
          tensor::SplatOp::create(builder, loc, scale, current.getType());
      other = arith::MulFOp::create(builder, loc, other, all);
    }
    current = arith::AddFOp::create(builder, loc, current, other);
  }
  for (const MatchedInject &inject : chain.injects) {
    Value key = emitter.emit(inject.key), value = emitter.emit(inject.value);
    std::optional<double> one = constantOf(inject.scale);
    bool scaled = !one || *one != 1.0;
    Value scale = scaled ? emitter.emit(inject.scale) : Value();
    if (!key || !value || (scaled && !scale))
      return false;
    current = InjectOp::create(builder, loc, current, key, value, scale);
  }
  candidates[to].replaceAllUsesWith(turnedAt(current, place));
  raised[to] = current;
  return true;
}

/// Vectors that are read from a state of the chain become scan.read.
void StateRaiser::raiseReads() {
  for (Operation &inner :
       llvm::make_early_inc_range(op.getStepBlock()->without_terminator())) {
    if (inner.getNumResults() != 1 || isa<ReadOp>(inner))
      continue;
    Value value = inner.getResult(0);
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getRank() != 1 || !isa<FloatType>(type.getElementType()))
      continue;
    for (size_t at : llvm::reverse(way)) {
      Value &from = raised[at];
      Operation *made = from ? from.getDefiningOp() : nullptr;
      const FlowNode *node = flows[at]->nodeOf(value);
      if ((made && !made->isBeforeInBlock(&inner)) || !node)
        continue;
      std::optional<MatchedRead> read = matcherFrom(at).matchRead(node->form);
      if (!read)
        continue;
      FormEmitter emitter(*flows[at], &inner,
                          getElementTypeOrSelf(candidates[at].getType()));
      Value query = emitter.emit(read->query);
      if (query && !from)
        from = turnedAt(candidates[at], &inner);
      if (query)
        value.replaceAllUsesWith(
            ReadOp::create(emitter.builder, inner.getLoc(), type, from, query,
                           emitter.builder.getF64FloatAttr(read->scale)));
      break;
    }
  }
}

void StateRaiser::sayWhy(size_t to) {
  Operation *place = candidates[to].getDefiningOp();
  auto reason = reasons.find(to);
  std::string text = formatv(
      "the chain of state {0} stops at '{1}': {2}", state, place->getName(),
      reason == reasons.end() ? "it does not depend on the state"
                              : reason->second);
  remark::missed(place->getLoc(),
                 remark::RemarkOpts::name("NotRaised").category("scan"))
      << text;
}

std::pair<int, int> StateRaiser::match() {
  collectCandidates();
  findHops();
  // The last flow serves the reads of the next state.
  flows.push_back(std::make_unique<StateFlow>(op, candidates.back()));
  int plain = findWay().first, reads = 0;
  for (Operation &inner : op.getStepBlock()->without_terminator())
    for (Value result : inner.getResults())
      reads += llvm::any_of(way, [&](size_t at) {
        const FlowNode *node = flows[at]->nodeOf(result);
        return node && matcherFrom(at).matchRead(node->form);
      });
  return {plain, -reads};
}

void StateRaiser::raise() {
  if (isTurned)
    raised[0] = turnedAt(candidates[0], &op.getStepBlock()->front());
  for (auto [from, to] : llvm::zip(way, ArrayRef(way).drop_front())) {
    auto hop = hops.find({from, to});
    if (hop == hops.end() || !emitHop(from, to, hop->second)) {
      if (hop != hops.end())
        reasons[to] = "a coefficient is held by no value of the step";
      sayWhy(to);
    }
  }
  raiseReads();
}

/// Is there a next state to raise?
static bool canRaise(RecurrenceOp op, unsigned state) {
  auto type = dyn_cast<RankedTensorType>(op.getStateArgument(state).getType());
  Value next = op.getYield().getValues()[state];
  if (!next.getDefiningOp() ||
      next.getDefiningOp()->getBlock() != op.getStepBlock())
    return false; // the state itself, or a value from outside
  if (type && type.getRank() == 2)
    return true;
  remark::missed(op.getLoc(),
                 remark::RemarkOpts::name("NotRaised").category("scan"))
      << formatv("state {0} is not raised: factors act on matrices of keys "
                 "and values",
                 state)
             .str();
  return false;
}

static void raiseState(RecurrenceOp op, unsigned state,
                       bool assumeNonNegative) {
  StateRaiser straight(op, state, /*isTurned=*/false, assumeNonNegative);
  std::pair<int, int> found = straight.match();
  Block &step = *op.getStepBlock();
  bool hasFactors = !step.getOps<StateOpInterface>().empty() ||
                    !step.getOps<ReadOp>().empty();
  if (hasFactors || (found.first == 0 && found.second < 0))
    return straight.raise();
  // Values by keys, if more of it is recognised so.
  StateRaiser turned(op, state, /*isTurned=*/true, assumeNonNegative);
  (turned.match() < found ? turned : straight).raise();
}

void prism::scan::raiseAffine(RecurrenceOp op, bool assumeNonNegativeGates) {
  for (unsigned i = 0; i < op.getNumStates(); ++i) {
    if (canRaise(op, i))
      raiseState(op, i, assumeNonNegativeGates);
    // What nobody uses any more.
    for (Operation &inner :
         llvm::make_early_inc_range(llvm::reverse(*op.getStepBlock())))
      if (isOpTriviallyDead(&inner))
        inner.erase();
  }
}

namespace {
struct RaiseAffinePass
    : prism::scan::impl::ScanRaiseAffineBase<RaiseAffinePass> {
  using ScanRaiseAffineBase::ScanRaiseAffineBase;

  void runOnOperation() override {
    getOperation().walk(
        [&](RecurrenceOp op) { raiseAffine(op, assumeNonnegativeGates); });
  }
};
} // namespace
