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

/// Raises one state of a recurrence.
class StateRaiser {
public:
  StateRaiser(RecurrenceOp op, unsigned state, bool assumeNonNegative)
      : op(op), state(state), assumeNonNegative(assumeNonNegative) {}

  void raise();

private:
  void collectCandidates();
  void findHops();
  SmallVector<size_t> findWay();
  bool emitHop(size_t from, size_t to, const Hop &hop);
  void raiseReads(ArrayRef<size_t> way);
  FactorMatcher matcherFrom(size_t from);
  void sayWhy(size_t to);

  RecurrenceOp op;
  unsigned state;
  bool assumeNonNegative;
  SmallVector<Value> candidates; // the state first, its next value last
  SmallVector<Value> raised;     // what now stands for each candidate
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
}

FactorMatcher StateRaiser::matcherFrom(size_t from) {
  StateFlow &flow = *flows[from];
  return FactorMatcher(flow.forms,
                       onlyAtom(flow.nodeOf(candidates[from])->form),
                       op.getContext(), assumeNonNegative);
}

void StateRaiser::findHops() {
  for (size_t from = 0; from + 1 < candidates.size(); ++from) {
    flows.push_back(std::make_unique<StateFlow>(op, candidates[from]));
    FactorMatcher matcher = matcherFrom(from);
    for (size_t to = from + 1; to < candidates.size(); ++to) {
      auto factor = candidates[to].getDefiningOp<StateOpInterface>();
      if (factor && factor.getStateOperand().get() == candidates[from]) {
        hops[{from, to}] = Hop();
        continue;
      }
      const Form &form = flows[from]->nodeOf(candidates[to])->form;
      std::string reason;
      std::optional<MatchedChain> chain = matcher.matchChain(form, reason);
      if (chain)
        hops[{from, to}] = Hop{std::move(chain)};
      else if (dependenceOf(form) == Dependence::affine)
        reasons[to] = reason;
    }
  }
}

/// The candidates on the best way; hops between them may be missing.
SmallVector<size_t> StateRaiser::findWay() {
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
  SmallVector<size_t> way = {count - 1};
  while (way.back() != 0)
    way.push_back(before[way.back()]);
  std::reverse(way.begin(), way.end());
  return way;
}

bool StateRaiser::emitHop(size_t from, size_t to, const Hop &hop) {
  if (!hop.chain)
    return true;
  Operation *place = candidates[to].getDefiningOp();
  Type element = getElementTypeOrSelf(candidates[to].getType());
  FormEmitter emitter(*flows[from], place, element);
  OpBuilder &builder = emitter.builder;
  Location loc = place->getLoc();
  Value start = raised[from], current = start, undecayed = start;
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
    Value seen = erase.beforeDecay ? undecayed : decayed;
    current =
        EraseOp::create(builder, loc, current, seen == current ? Value() : seen,
                        read, write, strength);
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
  candidates[to].replaceAllUsesWith(current);
  raised[to] = current;
  return true;
}

/// Vectors that are read from a state of the chain become scan.read.
void StateRaiser::raiseReads(ArrayRef<size_t> way) {
  for (Operation &inner :
       llvm::make_early_inc_range(op.getStepBlock()->without_terminator())) {
    if (inner.getNumResults() != 1 || isa<ReadOp>(inner))
      continue;
    Value value = inner.getResult(0);
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getRank() != 1 || !isa<FloatType>(type.getElementType()))
      continue;
    for (size_t at : llvm::reverse(way)) {
      Operation *made = raised[at].getDefiningOp();
      const FlowNode *node = flows[at]->nodeOf(value);
      if ((made && !made->isBeforeInBlock(&inner)) || !node)
        continue;
      std::optional<MatchedRead> read = matcherFrom(at).matchRead(node->form);
      if (!read)
        continue;
      FormEmitter emitter(*flows[at], &inner,
                          getElementTypeOrSelf(raised[at].getType()));
      if (Value query = emitter.emit(read->query))
        value.replaceAllUsesWith(ReadOp::create(
            emitter.builder, inner.getLoc(), type, raised[at], query,
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

void StateRaiser::raise() {
  auto type = dyn_cast<RankedTensorType>(op.getStateArgument(state).getType());
  Value next = op.getYield().getValues()[state];
  if (!next.getDefiningOp() ||
      next.getDefiningOp()->getBlock() != op.getStepBlock())
    return; // the state itself, or a value from outside
  if (!type || type.getRank() != 2) {
    remark::missed(op.getLoc(),
                   remark::RemarkOpts::name("NotRaised").category("scan"))
        << formatv("state {0} is not raised: factors act on matrices of keys "
                   "and values",
                   state)
               .str();
    return;
  }
  collectCandidates();
  findHops();
  // The last flow serves the reads of the next state.
  flows.push_back(std::make_unique<StateFlow>(op, candidates.back()));
  SmallVector<size_t> way = findWay();
  for (auto [from, to] : llvm::zip(way, ArrayRef(way).drop_front())) {
    auto hop = hops.find({from, to});
    if (hop == hops.end() || !emitHop(from, to, hop->second)) {
      if (hop != hops.end())
        reasons[to] = "a coefficient is held by no value of the step";
      sayWhy(to);
    }
  }
  raiseReads(way);
}

void prism::scan::raiseAffine(RecurrenceOp op, bool assumeNonNegativeGates) {
  for (unsigned i = 0; i < op.getNumStates(); ++i) {
    StateRaiser(op, i, assumeNonNegativeGates).raise();
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
