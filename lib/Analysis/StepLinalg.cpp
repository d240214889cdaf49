//===- StepLinalg.cpp - linalg ops on forms -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every structured op, named or generic, is its body over an iteration space:
// operands are views of their tensors over it, and results are views or sums
// of what the body yields.
//
//===----------------------------------------------------------------------===//

#include "StepEvaluator.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace prism;
using namespace prism::analysis;

/// Loop dims in the order of an output's axes, then the others: the map from
/// that order to the op's, or nothing if an output axis is no loop of its own.
static AffineMap outputFirst(AffineMap map, unsigned loops) {
  SmallVector<AffineExpr> place(loops);
  unsigned next = 0;
  for (AffineExpr result : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (!dim || place[dim.getPosition()])
      return {};
    place[dim.getPosition()] = getAffineDimExpr(next++, map.getContext());
  }
  for (AffineExpr &expr : place)
    if (!expr)
      expr = getAffineDimExpr(next++, map.getContext());
  return AffineMap::get(loops, 0, place, map.getContext());
}

/// May several iterations meet at one element of an output? Each then sees what
/// the one before it yielded, whatever the iterators are called.
static bool isRevisited(AffineMap map, unsigned loops) {
  for (unsigned loop = 0; loop < loops; ++loop)
    if (!llvm::is_contained(map.getResults(),
                            getAffineDimExpr(loop, map.getContext())))
      return true;
  return false;
}

/// One output of an op that sums; nothing if it does anything else.
std::optional<Form> StepEvaluator::reduce(linalg::LinalgOp op,
                                          const Form &yielded,
                                          const Form &accumulator,
                                          const Form &init, AffineMap map) {
  AffineMap order = outputFirst(map, op.getNumLoops());
  if (!order)
    return std::nullopt;
  // As many loops as the output has axes come first.
  Shape ordered(op.getNumLoops());
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (auto [i, expr] : llvm::enumerate(order.getResults()))
    ordered[cast<AffineDimExpr>(expr).getPosition()] = extents[i];
  unsigned keep = map.getNumResults();
  if (op.getNumReductionLoops() == 0)
    return keep == op.getNumLoops()
               ? std::optional(forms.view(yielded, order, ordered))
               : std::nullopt;
  Form rest = forms.add(yielded, accumulator, -1.0);
  if (mentions(rest, onlyAtom(accumulator)) ||
      keep + op.getNumReductionLoops() != op.getNumLoops())
    return std::nullopt;
  return forms.add(init,
                   forms.sumTrailing(forms.view(rest, order, ordered), keep));
}

bool StepEvaluator::evaluateLinalg(Operation &operation) {
  auto op = dyn_cast<linalg::LinalgOp>(operation);
  if (!op || !op.hasPureTensorSemantics() || !space.empty() || nesting > 8)
    return false;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (Value operand : op->getOperands())
    if (!shapeOf(operand.getType()))
      return false;
  if (llvm::any_of(extents, ShapedType::isDynamic))
    return false;

  // Bind the body's arguments over the iteration space. A sum's accumulator is
  // a leaf of its own: affine, so that a body that is not affine in it shows.
  Nodes inputs = nodesOf(op->getOperands());
  bool named = !isa<linalg::GenericOp, linalg::MapOp, linalg::ReduceOp>(op);
  Block *body = op.getBlock();
  Shape outer = space;
  space.assign(extents.begin(), extents.end());
  SmallVector<std::optional<Form>> accumulators;
  bool sums = op.getNumReductionLoops() > 0;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    Node input = get(operand.get());
    if (op.isDpsInit(&operand)) {
      accumulators.emplace_back();
      AffineMap map = op.getMatchingIndexingMap(&operand);
      if (sums || isRevisited(map, extents.size())) {
        accumulators.back() = forms.leaf(space, Dependence::affine);
        bind(argument, *accumulators.back(), {input});
        continue;
      }
    }
    bind(argument,
         forms.view(input->form, op.getMatchingIndexingMap(&operand), space),
         {input});
  }
  Shape over = space;
  body->walk([&](linalg::IndexOp index) {
    // One leaf for each axis of each space.
    Builder builder(index.getContext());
    SmallVector<int64_t> key(over.begin(), over.end());
    key.push_back(index.getDim());
    bind(index.getResult(),
         forms.keyedLeaf(builder.getDenseI64ArrayAttr(key), over));
  });
  ++nesting;
  for (Operation &inner : body->without_terminator())
    if (!isa<linalg::IndexOp>(inner))
      evaluate(inner);
  --nesting;
  Nodes yielded = nodesOf(body->getTerminator()->getOperands());
  space = outer;

  // Does anything that the op reads depend on the state?
  Nodes reading = inputs;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    reading.push_back(get(value));
  bool reads = llvm::any_of(reading, [](Node input) {
    return input->dependence() != Dependence::none;
  });
  bool entry =
      llvm::any_of(reading, [](Node input) { return readsEntry(input->form); });
  // Where the body is not understood as a sum it is applied again and again to
  // what it yielded: affine if every output is, in all accumulators.
  Dependence repeated = reads ? Dependence::affine : Dependence::none;
  for (Node value : yielded)
    repeated = reads ? std::max(repeated, value->dependence()) : repeated;
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    OpOperand *init = op.getDpsInitOperand(i);
    Node before = get(init->get());
    const Form &value = yielded[i]->form;
    // A sum may not read the accumulator of another output.
    bool crossed = false;
    for (auto [j, other] : llvm::enumerate(accumulators))
      crossed |= j != i && other && mentions(value, onlyAtom(*other));
    std::optional<Form> form;
    if (!crossed)
      form = reduce(op, value, accumulators[i].value_or(value), before->form,
                    op.getMatchingIndexingMap(init));
    // What was there before is where the body begins, and stays where nothing
    // is written.
    if (!form)
      form = forms.leaf(cast<RankedTensorType>(result.getType()).getShape(),
                        std::max(repeated, before->dependence()), entry,
                        /*partial=*/true);
    set(result, *form, named ? inputs : Nodes{yielded[i], before});
  }
  return true;
}
