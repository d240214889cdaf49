//===- FormEmitter.cpp - Forms as ops of a step ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "FormEmitter.h"
#include "MatchFactors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace prism;
using namespace prism::scan;
using namespace prism::analysis;

FormEmitter::FormEmitter(StateFlow &flow, Operation *before, Type element)
    : builder(before), flow(flow), before(before), element(element) {
  for (const FlowNode *state : llvm::concat<const FlowNode *const>(
           ArrayRef(flow.states), ArrayRef(flow.entries)))
    fromState.insert(state->value);
  for (Operation &op : *before->getBlock()) {
    bool reads = false;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        reads |= fromState.contains(operand);
    });
    if (reads)
      fromState.insert(op.result_begin(), op.result_end());
  }
}

Type FormEmitter::typeOf(ShapeRef shape) {
  return shape.empty() ? element : Type(RankedTensorType::get(shape, element));
}

/// A value of the step that was computed before and is the form.
Value FormEmitter::find(const Form &form) {
  auto holds = [&](Value value) {
    const FlowNode *node = flow.nodeOf(value);
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    bool fits = isa<FloatType>(getElementTypeOrSelf(value.getType())) &&
                (tensor ? tensor.getShape() == ShapeRef(form.shape)
                        : form.shape.empty());
    return fits && node && !fromState.contains(value) &&
           isEqual(node->form, form);
  };
  for (BlockArgument argument : before->getBlock()->getArguments())
    if (holds(argument))
      return argument;
  for (Operation &op : *before->getBlock()) {
    if (&op == before)
      return {};
    for (Value result : op.getResults())
      if (holds(result))
        return result;
  }
  return {};
}

Value FormEmitter::constant(double value, ShapeRef shape) {
  Type type = typeOf(shape);
  TypedAttr attr = builder.getFloatAttr(element, value);
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    attr = DenseElementsAttr::get(tensor, Attribute(attr));
  return arith::ConstantOp::create(builder, before->getLoc(), attr);
}

/// In the type of the state, in which all is computed.
Value FormEmitter::widen(Value value) {
  if (!value)
    return {};
  Type from = getElementTypeOrSelf(value.getType());
  if (from == element)
    return value;
  Type to = element;
  if (auto tensor = dyn_cast<RankedTensorType>(value.getType()))
    to = tensor.clone(element);
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, before->getLoc(), to, value);
  return arith::TruncFOp::create(builder, before->getLoc(), to, value);
}

Value FormEmitter::emit(const Form &form) {
  if (std::optional<double> number = constantOf(form))
    return constant(*number, form.shape);
  if (Value held = find(form))
    return held;
  Value sum;
  for (const Term &term : form.terms) {
    Value product = widen(emitProduct(term, form.shape));
    if (!product)
      return {};
    sum = sum ? Value(arith::AddFOp::create(builder, before->getLoc(), sum,
                                            product))
              : product;
  }
  return sum;
}

Value FormEmitter::emitProduct(const Term &term, ShapeRef shape) {
  Location loc = before->getLoc();
  Value product;
  if (term.coefficient != 1.0 && !term.factors.empty()) {
    // What it is a multiple of may be held by a value.
    Form bare{Shape(shape), {Term{term.factors, 1.0}}};
    product = widen(emit(bare));
    if (!product)
      return {};
    if (term.coefficient == -1.0)
      return arith::NegFOp::create(builder, loc, product);
    return arith::MulFOp::create(builder, loc, product,
                                 constant(term.coefficient, shape));
  }
  if (term.factors.empty())
    return constant(term.coefficient, shape);
  for (auto [atom, power] : term.factors) {
    Value factor = widen(emitAtom(atom));
    if (!factor)
      return {};
    for (int i = 0; i < std::abs(power); ++i) {
      if (power > 0 && !product)
        product = factor;
      else if (power > 0)
        product = arith::MulFOp::create(builder, loc, product, factor);
      else
        product = arith::DivFOp::create(
            builder, loc, product ? product : constant(1.0, shape), factor);
    }
  }
  return product;
}

Value FormEmitter::emitAtom(const Atom *atom) {
  if (Value held = find(formOf(atom)))
    return held;
  if (atom->kind == AtomKind::view)
    return emitView(atom);
  if (isFunction(atom, kSumName))
    return emit(atom->arguments[0]);
  auto name = atom->kind == AtomKind::function ? dyn_cast<ArrayAttr>(atom->name)
                                               : ArrayAttr();
  if (!name)
    return {};
  // The op that the function was, on operands of the state's type.
  SmallVector<Value> operands;
  for (const Form &argument : atom->arguments) {
    operands.push_back(widen(emit(argument)));
    if (!operands.back())
      return {};
  }
  Type result = cast<TypeAttr>(name[2]).getValue();
  if (!isa<FloatType>(result))
    return {};
  OperationState state(before->getLoc(), cast<StringAttr>(name[0]).getValue(),
                       operands, {typeOf(atom->shape)},
                       llvm::to_vector(cast<DictionaryAttr>(name[1])));
  return builder.create(state)->getResult(0);
}

/// A scalar repeated, a matrix turned, or a row at a constant place.
Value FormEmitter::emitView(const Atom *atom) {
  Location loc = before->getLoc();
  if (atom->map == AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0},
                                                atom->map.getContext())) {
    Value matrix = widen(emitAtom(atom->operand));
    Value empty = tensor::EmptyOp::create(builder, loc, atom->shape, element);
    return matrix ? linalg::TransposeOp::create(builder, loc, matrix, empty,
                                                ArrayRef<int64_t>{1, 0})
                        ->getResult(0)
                  : Value();
  }
  if (atom->operand->shape.empty()) {
    Value scalar = widen(emitAtom(atom->operand));
    return scalar ? Value(tensor::SplatOp::create(builder, loc,
                                                  typeOf(atom->shape), scalar))
                  : Value();
  }
  if (atom->operand->shape.size() != atom->shape.size() + 1)
    return {};
  auto row = dyn_cast<AffineConstantExpr>(atom->map.getResult(0));
  for (unsigned axis = 0; axis < atom->shape.size(); ++axis) {
    AffineExpr at = atom->map.getResult(axis + 1);
    bool whole =
        atom->shape[axis] == atom->operand->shape[axis + 1] &&
        (at == builder.getAffineDimExpr(axis) ||
         (atom->shape[axis] == 1 && at == builder.getAffineConstantExpr(0)));
    if (!whole)
      return {};
  }
  Value source = row ? widen(emitAtom(atom->operand)) : Value();
  if (!source)
    return {};
  if (atom->shape.empty()) {
    Value index = arith::ConstantIndexOp::create(builder, loc, row.getValue());
    return tensor::ExtractOp::create(builder, loc, source, index);
  }
  SmallVector<OpFoldResult> offsets(atom->operand->shape.size(),
                                    builder.getIndexAttr(0)),
      sizes, steps(offsets.size(), builder.getIndexAttr(1));
  offsets[0] = builder.getIndexAttr(row.getValue());
  for (int64_t extent : atom->operand->shape)
    sizes.push_back(builder.getIndexAttr(sizes.empty() ? 1 : extent));
  return tensor::ExtractSliceOp::create(
      builder, loc, cast<RankedTensorType>(typeOf(atom->shape)), source,
      offsets, sizes, steps);
}

Value FormEmitter::emitLog(const Form &form) {
  Value factor = widen(emit(form));
  return factor ? Value(math::LogOp::create(builder, before->getLoc(), factor))
                : Value();
}
