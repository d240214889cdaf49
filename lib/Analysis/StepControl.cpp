//===- StepControl.cpp - Loops, conditions and calls on forms -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Short loops of known length are followed turn by turn, calls into the
// function. Other loops are followed until what they carry depends no more on
// the state than it did at the turn before.
//
//===----------------------------------------------------------------------===//

#include "StepEvaluator.h"
#include "mlir/IR/RegionGraphTraits.h"
#include "llvm/ADT/PostOrderIterator.h"
#include <cmath>

using namespace mlir;
using namespace prism;
using namespace prism::analysis;

static constexpr int64_t kMaxTurns = 64;
static constexpr unsigned kMaxCalls = 32;

bool StepEvaluator::evaluateControl(Operation &op) {
  // Scalars of a linalg body have no control flow of their own here.
  if (!space.empty())
    return false;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    evaluateFor(loop);
  else if (auto loop = dyn_cast<scf::WhileOp>(op))
    evaluateWhile(loop);
  else if (auto branch = dyn_cast<scf::IfOp>(op))
    evaluateIf(branch);
  else if (auto branch = dyn_cast<scf::IndexSwitchOp>(op))
    evaluateSwitch(branch);
  else if (auto call = dyn_cast<func::CallOp>(op))
    evaluateCall(call);
  else if (auto inner = dyn_cast<scf::ExecuteRegionOp>(op)) {
    std::optional<Nodes> left = evaluateRegion(inner.getRegion());
    if (!left)
      return false;
    for (auto [result, node] : llvm::zip_equal(inner.getResults(), *left))
      set(result, node->form, {node});
  } else
    return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Values that may be one or another
//===----------------------------------------------------------------------===//

Form StepEvaluator::join(const Form &a, const Form &b) {
  if (isEqual(a, b))
    return a;
  return forms.leaf(a.shape, std::max(dependenceOf(a), dependenceOf(b)),
                    readsEntry(a) || readsEntry(b),
                    isPartial(a) || isPartial(b));
}

Form StepEvaluator::choose(Node condition, const Form &a, const Form &b) {
  if (isEqual(a, b))
    return a;
  if (condition->dependence() != Dependence::none)
    return forms.leaf(
        a.shape, Dependence::other,
        readsEntry(a) || readsEntry(b) || readsEntry(condition->form), true);
  // A known shape: the two can be told apart by the condition.
  const Atom *atom = onlyAtom(condition->form);
  if (atom && atom->boolean && !ShapedType::isDynamicShape(a.shape) &&
      (a.shape == b.shape))
    return forms.select(forms.broadcast(condition->form, a.shape), a, b);
  return join(a, b);
}

/// Makes `carried` cover `next` too; true if it had to change.
bool StepEvaluator::widen(SmallVectorImpl<Form> &carried, ArrayRef<Node> next) {
  bool changed = false;
  for (auto [form, node] : llvm::zip_equal(carried, next)) {
    const Form &now = node->form;
    bool covered = dependenceOf(now) <= dependenceOf(form) &&
                   (readsEntry(form) || !readsEntry(now)) &&
                   (isPartial(form) || !isPartial(now));
    if (covered && onlyAtom(form) && onlyAtom(form)->kind == AtomKind::leaf)
      continue;
    Form wider = forms.leaf(
        form.shape, std::max(dependenceOf(now), dependenceOf(form)),
        readsEntry(form) || readsEntry(now), isPartial(form) || isPartial(now));
    changed = true;
    form = wider;
  }
  return changed;
}

//===----------------------------------------------------------------------===//
// Regions and calls
//===----------------------------------------------------------------------===//

std::optional<StepEvaluator::Nodes>
StepEvaluator::evaluateRegion(Region &region) {
  if (!region.hasOneBlock())
    return evaluateGraph(region);
  evaluateBlock(region.front());
  return nodesOf(region.front().getTerminator()->getOperands());
}

/// Blocks and branches: what a block argument may be is the join of what is
/// passed to it, until nothing changes. Which way is taken must not depend on
/// the state.
std::optional<StepEvaluator::Nodes>
StepEvaluator::evaluateGraph(Region &region) {
  Operation *exit = nullptr;
  bool decided = false; // by the state
  for (Block &block : llvm::drop_begin(region))
    for (BlockArgument argument : block.getArguments())
      bind(argument, unknownOf(argument.getType(), Dependence::none, false));
  // In this order every value is defined before it is used.
  llvm::ReversePostOrderTraversal<Region *> order(&region);
  for (int turn = 0; turn < 16; ++turn) {
    bool changed = false;
    for (Block *block : order) {
      if (!spend())
        return std::nullopt;
      evaluateBlock(*block);
      Operation *end = block->getTerminator();
      if (auto branch = dyn_cast<cf::CondBranchOp>(end))
        decided |= get(branch.getCondition())->dependence() != Dependence::none;
      else if (auto branch = dyn_cast<cf::SwitchOp>(end))
        decided |= get(branch.getFlag())->dependence() != Dependence::none;
      else if (end->getNumSuccessors() > 1)
        return std::nullopt;
      if (end->getNumSuccessors() == 0) {
        if (exit && exit != end)
          return std::nullopt;
        exit = end;
      }
      auto branch = dyn_cast<BranchOpInterface>(end);
      if (end->getNumSuccessors() && !branch)
        return std::nullopt;
      for (unsigned i = 0; i < end->getNumSuccessors(); ++i) {
        SuccessorOperands operands = branch.getSuccessorOperands(i);
        for (auto [n, argument] :
             llvm::enumerate(end->getSuccessor(i)->getArguments())) {
          if (operands.isOperandProduced(n))
            return std::nullopt;
          Node now = get(argument), next = get(operands[n]);
          SmallVector<Form> form = {now->form};
          if (widen(form, {next})) {
            bind(argument, form[0], {next, now});
            changed = true;
          }
        }
      }
    }
    if (!changed) {
      if (!exit || decided)
        return std::nullopt;
      return nodesOf(exit->getOperands());
    }
  }
  return std::nullopt;
}

void StepEvaluator::evaluateCall(func::CallOp op) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      op, op.getCalleeAttr());
  bool recursive = callee && llvm::is_contained(calls, callee);
  if (!callee || callee.isExternal() || recursive ||
      calls.size() >= kMaxCalls ||
      callee.getNumArguments() != op.getNumOperands() ||
      callee.getNumResults() != op.getNumResults())
    return evaluateUnknown(*op);
  calls.push_back(callee);
  for (auto [argument, operand] :
       llvm::zip_equal(callee.getArguments(), op.getOperands()))
    bind(argument, get(operand)->form, {get(operand)});
  std::optional<Nodes> left = evaluateRegion(callee.getBody());
  calls.pop_back();
  if (!left)
    return evaluateUnknown(*op);
  for (auto [result, node] : llvm::zip_equal(op.getResults(), *left))
    set(result, node->form, {node});
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

void StepEvaluator::evaluateIf(scf::IfOp op) {
  Node condition = get(op.getCondition());
  std::optional<double> known = constantOf(condition->form);
  std::optional<Nodes> then, otherwise;
  if (!known || *known != 0.0)
    then = evaluateRegion(op.getThenRegion());
  if ((!known || *known == 0.0) && !op.getElseRegion().empty())
    otherwise = evaluateRegion(op.getElseRegion());
  if (op.getNumResults() == 0)
    return;
  if (!then && !otherwise)
    return evaluateUnknown(*op);
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    if (!then || !otherwise) {
      Node taken = (then ? *then : *otherwise)[i];
      set(result, taken->form, {taken});
      continue;
    }
    Node a = (*then)[i], b = (*otherwise)[i];
    set(result, choose(condition, a->form, b->form), {condition, a, b});
  }
}

void StepEvaluator::evaluateSwitch(scf::IndexSwitchOp op) {
  Node flag = get(op.getArg());
  std::optional<double> known = constantOf(flag->form);
  SmallVector<Nodes> cases;
  auto follow = [&](Region &region, bool chosen) {
    if (known && !chosen)
      return true;
    std::optional<Nodes> left = evaluateRegion(region);
    if (left)
      cases.push_back(*left);
    return left.has_value();
  };
  bool matched = false, understood = true;
  for (auto [value, region] : llvm::zip(op.getCases(), op.getCaseRegions())) {
    bool chosen = known && *known == double(value);
    matched |= chosen;
    understood &= follow(region, chosen);
  }
  understood &= follow(op.getDefaultRegion(), !matched);
  if (!understood || cases.empty())
    return evaluateUnknown(*op);
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    Form form = cases[0][i]->form;
    Nodes from = {flag};
    for (const Nodes &one : cases) {
      from.push_back(one[i]);
      form = choose(flag, form, one[i]->form);
    }
    set(result, form, from);
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void StepEvaluator::evaluateFor(scf::ForOp op) {
  Nodes bounds =
      nodesOf({op.getLowerBound(), op.getUpperBound(), op.getStep()});
  Nodes carried = nodesOf(op.getInitArgs());
  auto constantBound = [&](unsigned i) { return constantOf(bounds[i]->form); };
  bool known = constantBound(0) && constantBound(1) && constantBound(2) &&
               *constantBound(2) > 0.0;
  double turns = known ? std::ceil((*constantBound(1) - *constantBound(0)) /
                                   *constantBound(2))
                       : 0.0;
  int64_t ops = std::distance(op.getBody()->begin(), op.getBody()->end());
  if (known && turns <= double(kMaxTurns) && turns * double(ops) * 4 < budget) {
    for (int64_t turn = 0; double(turn) < turns; ++turn) {
      bind(op.getInductionVar(),
           forms.constant(*constantBound(0) + double(turn) * *constantBound(2),
                          {}));
      for (auto [argument, node] :
           llvm::zip_equal(op.getRegionIterArgs(), carried))
        bind(argument, node->form, {node});
      evaluateBlock(*op.getBody());
      carried = nodesOf(op.getBody()->getTerminator()->getOperands());
    }
    for (auto [result, node] : llvm::zip_equal(op.getResults(), carried))
      set(result, node->form, {node});
    return;
  }
  // How many turns there are must not depend on the state.
  for (Node bound : bounds)
    if (bound->dependence() != Dependence::none)
      return evaluateUnknown(*op);
  SmallVector<Form> covers;
  for (Node node : carried)
    covers.push_back(forms.forget(node->form));
  Nodes from = carried;
  while (spend()) {
    bind(op.getInductionVar(), forms.leaf({}, Dependence::none));
    for (auto [argument, form, node] :
         llvm::zip_equal(op.getRegionIterArgs(), covers, from))
      bind(argument, form, {node});
    evaluateBlock(*op.getBody());
    Nodes next = nodesOf(op.getBody()->getTerminator()->getOperands());
    bool changed = widen(covers, next);
    from = next;
    if (changed)
      continue;
    for (auto [result, form, last, init] :
         llvm::zip_equal(op.getResults(), covers, next, carried))
      set(result, form, {last, init});
    return;
  }
  evaluateUnknown(*op);
}

void StepEvaluator::evaluateWhile(scf::WhileOp op) {
  Nodes carried = nodesOf(op.getInits());
  SmallVector<Form> covers;
  for (Node node : carried)
    covers.push_back(forms.forget(node->form));
  Nodes from = carried;
  while (spend()) {
    for (auto [argument, form, node] :
         llvm::zip_equal(op.getBeforeArguments(), covers, from))
      bind(argument, form, {node});
    evaluateBlock(*op.getBeforeBody());
    scf::ConditionOp condition = op.getConditionOp();
    if (get(condition.getCondition())->dependence() != Dependence::none)
      return evaluateUnknown(*op);
    Nodes passed = nodesOf(condition.getArgs());
    for (auto [argument, node] :
         llvm::zip_equal(op.getAfterArguments(), passed))
      bind(argument, node->form, {node});
    evaluateBlock(*op.getAfterBody());
    Nodes next = nodesOf(op.getYieldOp().getOperands());
    bool changed = widen(covers, next);
    from = next;
    if (changed)
      continue;
    // The last test has seen the carried values once more.
    for (auto [argument, form, node] :
         llvm::zip_equal(op.getBeforeArguments(), covers, from))
      bind(argument, form, {node});
    for (auto [result, node] : llvm::zip_equal(op.getResults(), passed))
      set(result, node->form, {node});
    return;
  }
  evaluateUnknown(*op);
}
