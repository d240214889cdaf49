//===- StepEvaluator.cpp - Evaluates a step on forms ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "StepEvaluator.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace prism;
using namespace prism::analysis;

// Deeper nests are not looked into.
static constexpr unsigned kMaxNesting = 64;

Attribute analysis::functionName(Operation &op) {
  Builder builder(op.getContext());
  return builder.getArrayAttr(
      {op.getName().getIdentifier(), op.getAttrDictionary(),
       TypeAttr::get(getElementTypeOrSelf(op.getResult(0).getType()))});
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<Shape> StepEvaluator::shapeOf(Type type) {
  if (isa<RankedTensorType, VectorType>(type)) {
    auto shaped = cast<ShapedType>(type);
    // A tensor inside a linalg body varies over its space as well.
    if (!shaped.hasStaticShape() || !space.empty())
      return std::nullopt;
    return Shape(shaped.getShape());
  }
  if (type.isIntOrIndexOrFloat())
    return space;
  return std::nullopt;
}

Form StepEvaluator::unknownOf(Type type, Dependence dependence,
                              bool readsEntry) {
  std::optional<Shape> shape = shapeOf(type);
  // No form of this shape is computed with.
  return forms.leaf(shape ? *shape : Shape{ShapedType::kDynamic}, dependence,
                    readsEntry, /*partial=*/true);
}

StepEvaluator::Node StepEvaluator::bind(Value value, Form form,
                                        ArrayRef<Node> inputs) {
  if (value == cut)
    form = forms.leaf(form.shape, Dependence::affine);
  Node node = &nodes.emplace_back(
      FlowNode{value, std::move(form), {inputs.begin(), inputs.end()}});
  values[value] = node;
  return node;
}

void StepEvaluator::set(Value value, Form form, ArrayRef<Node> inputs) {
  bind(value, std::move(form), inputs);
}

StepEvaluator::Node StepEvaluator::get(Value value) {
  auto found = values.find(value);
  if (found != values.end())
    return found->second;
  // It stands outside of what is evaluated, so outside of any linalg body.
  Shape inside;
  std::swap(inside, space);
  Attribute attr;
  std::optional<Form> form;
  if (matchPattern(value, m_Constant(&attr)))
    form = constantForm(attr, value.getType());
  if (!form) {
    // What is captured from outside is the same at every step.
    bool captured = value.getParentRegion()->isProperAncestor(&region);
    form = unknownOf(value.getType(),
                     captured ? Dependence::none : Dependence::other,
                     /*readsEntry=*/false);
  }
  std::swap(inside, space);
  return bind(value, *form);
}

StepEvaluator::Nodes StepEvaluator::nodesOf(ValueRange operands) {
  Nodes result;
  for (Value value : operands)
    result.push_back(get(value));
  return result;
}

bool StepEvaluator::spend(int64_t ops) {
  budget -= ops;
  return budget > 0;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void StepEvaluator::evaluateBlock(Block &block) {
  ++nesting;
  for (Operation &op : block.without_terminator())
    evaluate(op);
  --nesting;
}

void StepEvaluator::evaluate(Operation &op) {
  if (nesting > kMaxNesting || !spend())
    return evaluateUnknown(op);
  if (evaluateConstant(op) || evaluateElementwise(op) || evaluateTensor(op) ||
      evaluateScan(op) || evaluateLinalg(op) || evaluateControl(op))
    return;
  evaluateUnknown(op);
}

void StepEvaluator::setUnknown(Operation &op, Dependence dependence,
                               ArrayRef<Node> inputs) {
  bool entry =
      llvm::any_of(inputs, [](Node input) { return readsEntry(input->form); });
  for (Value result : op.getResults())
    set(result, unknownOf(result.getType(), dependence, entry), inputs);
}

void StepEvaluator::evaluateUnknown(Operation &op) {
  if (op.getNumResults() == 0)
    return;
  Nodes inputs = nodesOf(op.getOperands());
  // Values that nested regions use from above count as operands. Values made
  // further inside have not been evaluated and count as unknown.
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.getRegions(), captured);
  for (Value value : captured)
    inputs.push_back(get(value));
  bool dependent = llvm::any_of(inputs, [](Node input) {
    return input->dependence() != Dependence::none;
  });
  // Memory may hold what an earlier op or an earlier step wrote.
  if (!isMemoryEffectFree(&op))
    dependent = true;
  setUnknown(op, dependent ? Dependence::other : Dependence::none, inputs);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static bool isIdentity(DenseElementsAttr dense) {
  ArrayRef<int64_t> shape = dense.getType().getShape();
  if (!isa<FloatType>(dense.getElementType()) || shape.size() != 2 ||
      shape[0] != shape[1])
    return false;
  return llvm::all_of(llvm::enumerate(dense.getValues<APFloat>()), [&](auto x) {
    bool diagonal = x.index() / shape[1] == x.index() % shape[1];
    return diagonal ? x.value().isExactlyValue(1.0) : x.value().isZero();
  });
}

std::optional<Form> StepEvaluator::constantForm(Attribute attr, Type type) {
  std::optional<Shape> shape = shapeOf(type);
  if (!shape)
    return std::nullopt;
  Type element = getElementTypeOrSelf(type);
  if (auto dense = dyn_cast<DenseElementsAttr>(attr)) {
    if (!dense.isSplat())
      return isIdentity(dense) ? forms.identity((*shape)[0])
                               : forms.keyedLeaf(attr, *shape);
    attr = isa<FloatType, IntegerType, IndexType>(element)
               ? dense.getSplatValue<Attribute>()
               : Attribute();
  }
  if (auto number = dyn_cast_if_present<FloatAttr>(attr))
    return forms.constant(number.getValueAsDouble(), *shape);
  if (auto number = dyn_cast_if_present<IntegerAttr>(attr)) {
    const APInt &value = number.getValue();
    if (element.isInteger(1))
      return forms.constant(value.isZero() ? 0.0 : 1.0, *shape);
    // Larger ones are no double.
    if (value.getSignificantBits() <= 53)
      return forms.constant(double(value.getSExtValue()), *shape);
  }
  return std::nullopt;
}

bool StepEvaluator::evaluateConstant(Operation &op) {
  Attribute attr;
  if (op.getNumResults() != 1 || !matchPattern(&op, m_Constant(&attr)))
    return false;
  std::optional<Form> form = constantForm(attr, op.getResult(0).getType());
  if (form)
    set(op.getResult(0), *form, {});
  return form.has_value();
}

//===----------------------------------------------------------------------===//
// State factors and the loader slice
//===----------------------------------------------------------------------===//

/// sum over the axes from `keep` on of a b, both over `space`.
Form StepEvaluator::contract(const Form &a, const Form &b, ShapeRef space,
                             unsigned keep) {
  return forms.sumTrailing(
      forms.multiply(forms.broadcast(a, space), forms.broadcast(b, space)),
      keep);
}

bool StepEvaluator::evaluateScan(Operation &op) {
  if (!space.empty())
    return false;
  MLIRContext *context = op.getContext();
  Nodes inputs = nodesOf(op.getOperands());
  auto formOf = [&](Value value) -> const Form & { return get(value)->form; };
  auto dims = [&](ArrayRef<unsigned> axes, unsigned rank) {
    SmallVector<AffineExpr> results;
    for (unsigned axis : axes)
      results.push_back(getAffineDimExpr(axis, context));
    return AffineMap::get(rank, 0, results, context);
  };
  // Keys and values of a factor with their rank axis, also of rank 1.
  auto ranked = [&](Value value) {
    Shape shape(cast<RankedTensorType>(value.getType()).getShape());
    if (shape.size() == 2)
      return formOf(value);
    shape.insert(shape.begin(), 1);
    return forms.reshape(formOf(value), shape);
  };
  auto rankedScale = [&](Value value) {
    if (isa<RankedTensorType>(value.getType()))
      return formOf(value);
    return forms.broadcast(formOf(value), {1});
  };
  if (auto decay = dyn_cast<scan::DecayOp>(op)) {
    Shape shape(decay.getState().getType().getShape());
    AffineMap map = decay.getAlong() == scan::DecayAlong::key     ? dims({0}, 2)
                    : decay.getAlong() == scan::DecayAlong::value ? dims({1}, 2)
                    : decay.getAlong() == scan::DecayAlong::scalar
                        ? dims({}, 2)
                        : dims({0, 1}, 2);
    Form gate = forms.view(formOf(decay.getLogGate()), map, shape);
    Builder builder(context);
    Form factor = forms.function(
        builder.getArrayAttr(
            {builder.getStringAttr(math::ExpOp::getOperationName()),
             builder.getDictionaryAttr({}),
             TypeAttr::get(getElementTypeOrSelf(decay.getLogGate()))}),
        {gate}, shape, /*total=*/true);
    set(decay.getResult(), forms.multiply(formOf(decay.getState()), factor),
        inputs);
    return true;
  }
  if (auto erase = dyn_cast<scan::EraseOp>(op)) {
    Shape state(erase.getState().getType().getShape());
    Form read = ranked(erase.getRead()), write = ranked(erase.getWrite());
    int64_t ranks = read.shape[0], keys = state[0], columns = state[1];
    // gone[r, v] = sum_k read[r, k] P[k, v]
    Shape readSpace = {ranks, columns, keys},
          writeSpace = {keys, columns, ranks};
    const Form &source =
        formOf(erase.getOf() ? erase.getOf() : erase.getState());
    Form gone =
        contract(forms.view(read, dims({0, 2}, 3), readSpace),
                 forms.view(source, dims({2, 1}, 3), readSpace), readSpace, 2);
    Form strength = rankedScale(erase.getStrength());
    Form written =
        forms.multiply(forms.view(write, dims({2, 0}, 3), writeSpace),
                       forms.view(strength, dims({2}, 3), writeSpace));
    Form change = contract(
        written, forms.view(gone, dims({2, 1}, 3), writeSpace), writeSpace, 2);
    set(erase.getResult(), forms.add(formOf(erase.getState()), change, -1.0),
        inputs);
    return true;
  }
  if (auto inject = dyn_cast<scan::InjectOp>(op)) {
    Shape state(inject.getState().getType().getShape());
    Form key = ranked(inject.getKey()), value = ranked(inject.getValue());
    Shape writeSpace = {state[0], state[1], key.shape[0]};
    Form written = forms.view(key, dims({2, 0}, 3), writeSpace);
    if (inject.getScale())
      written =
          forms.multiply(written, forms.view(rankedScale(inject.getScale()),
                                             dims({2}, 3), writeSpace));
    Form change = contract(
        written, forms.view(value, dims({2, 1}, 3), writeSpace), writeSpace, 2);
    set(inject.getResult(), forms.add(formOf(inject.getState()), change),
        inputs);
    return true;
  }
  if (auto read = dyn_cast<scan::ReadOp>(op)) {
    Shape state(read.getState().getType().getShape());
    Shape readSpace = {state[1], state[0]};
    Form y = contract(
        forms.view(formOf(read.getQuery()), dims({1}, 2), readSpace),
        forms.view(formOf(read.getState()), dims({1, 0}, 2), readSpace),
        readSpace, 1);
    set(read.getResult(), forms.scale(y, read.getScale().convertToDouble()),
        inputs);
    return true;
  }
  return false;
}
