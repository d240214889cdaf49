//===- StepTensor.cpp - tensor ops on forms -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Ops that move elements. Where they go is a view, a reshape or a pad if it is
// known now; else the result is linear in what is moved, as long as the places
// do not depend on the state.
//
//===----------------------------------------------------------------------===//

#include "StepEvaluator.h"

using namespace mlir;
using namespace prism;
using namespace prism::analysis;

static bool isStatic(ArrayRef<int64_t> xs) {
  return llvm::none_of(xs, ShapedType::isDynamic);
}

/// result[d] = source[offset + step * d], axes of `dropped` left out of d.
static AffineMap sliceMap(ArrayRef<int64_t> offsets, ArrayRef<int64_t> steps,
                          const llvm::SmallBitVector &dropped,
                          MLIRContext *context) {
  SmallVector<AffineExpr> results;
  unsigned axis = 0;
  for (auto [i, offset, step] : llvm::enumerate(offsets, steps)) {
    AffineExpr at = getAffineConstantExpr(offset, context);
    if (!dropped.test(i))
      at = getAffineDimExpr(axis++, context) * step + at;
    results.push_back(at);
  }
  return AffineMap::get(axis, 0, results, context);
}

std::optional<Form> StepEvaluator::sliceOf(tensor::ExtractSliceOp op,
                                           const Form &in) {
  if (!isStatic(op.getStaticOffsets()) || !isStatic(op.getStaticStrides()) ||
      !isStatic(op.getStaticSizes()))
    return std::nullopt;
  return forms.view(in,
                    sliceMap(op.getStaticOffsets(), op.getStaticStrides(),
                             op.getDroppedDims(), op.getContext()),
                    op.getType().getShape());
}

/// The constant indices, if all are.
static std::optional<Shape> constantIndices(ArrayRef<const FlowNode *> indices,
                                            ShapeRef shape) {
  Shape result;
  for (auto [index, extent] : llvm::zip_equal(indices, shape)) {
    std::optional<double> value = constantOf(index->form);
    if (!value || *value < 0.0 || *value >= double(extent))
      return std::nullopt;
    result.push_back(int64_t(*value));
  }
  return result;
}

/// Replaces the part of `into` that `source` covers.
static Form replacePart(FormContext &forms, const Form &into,
                        const Form &source, ShapeRef offsets,
                        MLIRContext *context) {
  SmallVector<int64_t> steps(offsets.size(), 1);
  llvm::SmallBitVector none(offsets.size());
  Form part =
      forms.view(into, sliceMap(offsets, steps, none, context), source.shape);
  return forms.add(
      into, forms.pad(forms.add(source, part, -1.0), offsets, into.shape));
}

/// The form whose consecutive slices along `dim` the parts are, if there is
/// one.
static std::optional<Form> joinedSlices(FormContext &forms,
                                        ArrayRef<const FlowNode *> parts,
                                        unsigned dim, ShapeRef shape,
                                        MLIRContext *context) {
  // The first part tells which form it may be.
  Form whole{Shape(shape), {}};
  for (const Term &term : parts[0]->form.terms) {
    Form product = forms.constant(term.coefficient, shape);
    for (auto [atom, power] : term.factors) {
      if (atom->kind != AtomKind::view || atom->operand->shape != shape ||
          power != 1)
        return std::nullopt;
      product = forms.multiply(product, formOf(atom->operand));
    }
    whole = forms.add(whole, product);
  }
  SmallVector<int64_t> offsets(shape.size(), 0), steps(shape.size(), 1);
  llvm::SmallBitVector none(shape.size());
  for (const FlowNode *part : parts) {
    Form slice = forms.view(whole, sliceMap(offsets, steps, none, context),
                            part->form.shape);
    if (!isEqual(slice, part->form))
      return std::nullopt;
    offsets[dim] += part->form.shape[dim];
  }
  return whole;
}

bool StepEvaluator::evaluateTensor(Operation &op) {
  if (!isa<tensor::TensorDialect>(op.getDialect()))
    return false;
  if (isa<tensor::EmptyOp, tensor::DimOp, tensor::RankOp>(op)) {
    // Extents do not depend on elements.
    setUnknown(op, Dependence::none, nodesOf(op.getOperands()));
    return true;
  }
  if (op.getNumResults() != 1)
    return false;
  MLIRContext *context = op.getContext();
  Value result = op.getResult(0);
  Nodes inputs = nodesOf(op.getOperands());
  std::optional<Shape> shape = shapeOf(result.getType());
  auto isShaped = [&](Value v) { return shapeOf(v.getType()).has_value(); };
  bool shaped = shape && llvm::all_of(op.getOperands(), isShaped);
  std::optional<Form> form;
  if (!shaped) {
    // Linear in its elements below.
  } else if (isa<tensor::CastOp>(op)) {
    form = inputs[0]->form;
  } else if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                 tensor::ReshapeOp>(op)) {
    form = forms.reshape(inputs[0]->form, *shape);
  } else if (isa<tensor::SplatOp>(op)) {
    form = forms.broadcast(inputs[0]->form, *shape);
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    form = sliceOf(slice, inputs[0]->form);
  } else if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    const Form &from = inputs[0]->form;
    if (std::optional<Shape> at =
            constantIndices(ArrayRef(inputs).drop_front(), from.shape)) {
      SmallVector<AffineExpr> results;
      for (int64_t index : *at)
        results.push_back(getAffineConstantExpr(index, context));
      form = forms.view(from, AffineMap::get(0, 0, results, context), {});
    }
  } else if (auto insert = dyn_cast<tensor::InsertOp>(op)) {
    if (std::optional<Shape> at =
            constantIndices(ArrayRef(inputs).drop_front(2), *shape)) {
      Shape units(shape->size(), 1);
      form = replacePart(forms, inputs[1]->form,
                         forms.broadcast(inputs[0]->form, units), *at, context);
    }
  } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    bool dense = llvm::all_of(insert.getStaticStrides(),
                              [](int64_t step) { return step == 1; });
    if (dense && isStatic(insert.getStaticOffsets()) &&
        isStatic(insert.getStaticSizes()))
      form =
          replacePart(forms, inputs[1]->form,
                      forms.reshape(inputs[0]->form, insert.getStaticSizes()),
                      insert.getStaticOffsets(), context);
  } else if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    form = joinedSlices(forms, inputs, concat.getDim(), *shape, context);
    if (!form) {
      Form sum = forms.constant(0.0, *shape);
      Shape offsets(shape->size(), 0);
      for (Node input : inputs) {
        sum = forms.add(sum, forms.pad(input->form, offsets, *shape));
        offsets[concat.getDim()] += input->form.shape[concat.getDim()];
      }
      form = sum;
    }
  } else if (isa<tensor::FromElementsOp>(op)) {
    Form sum = forms.constant(0.0, *shape);
    Shape units(shape->size(), 1), offsets(shape->size(), 0);
    for (Node input : inputs) {
      sum = forms.add(
          sum, forms.pad(forms.broadcast(input->form, units), offsets, *shape));
      for (int axis = int(shape->size()) - 1; axis >= 0; --axis) {
        if (++offsets[axis] < (*shape)[axis])
          break;
        offsets[axis] = 0;
      }
    }
    form = sum;
  }
  if (form) {
    set(result, *form, inputs);
    return true;
  }
  // Places that are not known now, but do not depend on the state.
  if (!isa<tensor::ExtractOp, tensor::ExtractSliceOp, tensor::InsertOp,
           tensor::InsertSliceOp, tensor::CastOp, tensor::ExpandShapeOp,
           tensor::CollapseShapeOp, tensor::ConcatOp, tensor::GatherOp,
           tensor::ReshapeOp, tensor::SplatOp, tensor::FromElementsOp>(op))
    return false;
  Dependence dependence = Dependence::none;
  for (Node input : inputs) {
    bool isElement =
        isa<FloatType>(getElementTypeOrSelf(input->value.getType()));
    Dependence of = input->dependence();
    dependence =
        std::max(dependence,
                 of == Dependence::none || isElement ? of : Dependence::other);
  }
  bool entry =
      llvm::any_of(inputs, [](Node input) { return readsEntry(input->form); });
  bool partial =
      llvm::any_of(inputs, [](Node input) { return isPartial(input->form); });
  set(result,
      forms.leaf(shape ? *shape : Shape{ShapedType::kDynamic}, dependence,
                 entry, partial),
      inputs);
  return true;
}
