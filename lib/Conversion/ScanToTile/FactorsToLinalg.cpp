//===- FactorsToLinalg.cpp - State factors as linalg ops ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One step of what a factor says, in ops that upstream lowers. A rank axis is
// one more axis of a contraction.
//
//===----------------------------------------------------------------------===//

#include "PlainForm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <cmath>

using namespace mlir;
using namespace prism;

namespace {
/// Writes scan ops in linalg, in front of them.
class FactorWriter final : public scan::ChunkAssembler {
public:
  explicit FactorWriter(Operation *at) : b(at->getLoc(), at) {}

  Value apply(scan::StateOpInterface factor);
  Value read(scan::ReadOp op);
  Value normalise(scan::L2NormOp op);
  Value refine(scan::RefineOp op);

  void addDecay(Value logGate, scan::DecayAlong along) override;
  void addErase(Value of, Value read, Value write, Value strength) override;
  void addInject(Value key, Value value, Value scale) override;

private:
  RankedTensorType typeOf(Value v) {
    return cast<RankedTensorType>(v.getType());
  }
  Value number(RankedTensorType type, double value);
  Value widen(Value v, Type element);
  Value broadcast(Value v, RankedTensorType type, ArrayRef<int64_t> axes);
  Value contract(Value left, StringRef leftAxes, Value right,
                 StringRef rightAxes, RankedTensorType type, StringRef axes,
                 Value into = {});
  Value scaleRows(Value values, Value scale);
  Value activate(scan::Activation activation, Value x);

  ImplicitLocOpBuilder b;
  Value current; // the factor's state
};
} // namespace

Value FactorWriter::number(RankedTensorType type, double value) {
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(
             type, Attribute(b.getFloatAttr(type.getElementType(), value))));
}

/// To the state's element type.
Value FactorWriter::widen(Value v, Type element) {
  Type type = v.getType(), from = getElementTypeOrSelf(type);
  if (from == element)
    return v;
  Type wide = element;
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    wide = tensor.clone(element);
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, wide, v);
  return arith::TruncFOp::create(b, wide, v);
}

/// Repeats a number, or a vector along `axes`, the axes that it lacks.
Value FactorWriter::broadcast(Value v, RankedTensorType type,
                              ArrayRef<int64_t> axes) {
  if (v.getType() == type)
    return v;
  if (!isa<RankedTensorType>(v.getType()))
    return tensor::SplatOp::create(b, type, v);
  Value empty =
      tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  return linalg::BroadcastOp::create(b, v, empty, axes)->getResult(0);
}

/// The sum of products over the axes (letters) that the result has not.
Value FactorWriter::contract(Value left, StringRef leftAxes, Value right,
                             StringRef rightAxes, RankedTensorType type,
                             StringRef axes, Value into) {
  std::string all = axes.str();
  for (char letter : (leftAxes + rightAxes).str())
    if (!StringRef(all).contains(letter))
      all += letter;
  auto mapOf = [&](StringRef letters) {
    SmallVector<AffineExpr> results;
    for (char letter : letters)
      results.push_back(b.getAffineDimExpr(StringRef(all).find(letter)));
    return AffineMap::get(all.size(), 0, results, b.getContext());
  };
  SmallVector<utils::IteratorType> iterators(all.size(),
                                             utils::IteratorType::reduction);
  std::fill_n(iterators.begin(), axes.size(), utils::IteratorType::parallel);
  if (!into)
    into = number(type, 0.0);
  return linalg::GenericOp::create(
             b, TypeRange{type}, ValueRange{left, right}, ValueRange{into},
             ArrayRef<AffineMap>{mapOf(leftAxes), mapOf(rightAxes),
                                 mapOf(axes)},
             iterators,
             [](OpBuilder &inner, Location loc, ValueRange values) {
               Value product =
                   arith::MulFOp::create(inner, loc, values[0], values[1]);
               Value sum =
                   arith::AddFOp::create(inner, loc, values[2], product);
               linalg::YieldOp::create(inner, loc, sum);
             })
      .getResult(0);
}

/// One factor for each row of values, or one for all.
Value FactorWriter::scaleRows(Value values, Value scale) {
  RankedTensorType type = typeOf(values);
  scale = broadcast(widen(scale, type.getElementType()), type, {1});
  return arith::MulFOp::create(b, scale, values);
}

void FactorWriter::addDecay(Value logGate, scan::DecayAlong along) {
  RankedTensorType type = typeOf(current);
  Value gate = math::ExpOp::create(b, widen(logGate, type.getElementType()));
  int64_t missing = along == scan::DecayAlong::key ? 1 : 0;
  current = arith::MulFOp::create(b, current, broadcast(gate, type, missing));
}

void FactorWriter::addErase(Value of, Value read, Value write, Value strength) {
  RankedTensorType state = typeOf(current);
  Type element = state.getElementType();
  bool ranked = typeOf(read).getRank() == 2;
  SmallVector<int64_t> shape = {state.getDimSize(1)};
  if (ranked)
    shape.insert(shape.begin(), typeOf(read).getDimSize(0));
  auto seenType = RankedTensorType::get(shape, element);
  StringRef key = ranked ? "rk" : "k", value = ranked ? "rv" : "v";
  Value seen = contract(widen(read, element), key, of, "kv", seenType, value);
  Value erased = arith::NegFOp::create(b, scaleRows(seen, strength));
  current =
      contract(widen(write, element), key, erased, value, state, "kv", current);
}

void FactorWriter::addInject(Value key, Value value, Value scale) {
  RankedTensorType state = typeOf(current);
  Type element = state.getElementType();
  bool ranked = typeOf(key).getRank() == 2;
  Value values = widen(value, element);
  if (scale)
    values = scaleRows(values, scale);
  current = contract(widen(key, element), ranked ? "rk" : "k", values,
                     ranked ? "rv" : "v", state, "kv", current);
}

Value FactorWriter::apply(scan::StateOpInterface factor) {
  current = factor.getStateOperand().get();
  factor.contributeToChunk(*this);
  return current;
}

Value FactorWriter::read(scan::ReadOp op) {
  RankedTensorType state = typeOf(op.getState());
  Type element = state.getElementType();
  auto type = RankedTensorType::get({state.getDimSize(1)}, element);
  Value result = contract(widen(op.getQuery(), element), "k", op.getState(),
                          "kv", type, "v");
  double scale = op.getScale().convertToDouble();
  if (scale != 1.0)
    result = arith::MulFOp::create(b, result, number(type, scale));
  return widen(result, typeOf(op.getResult()).getElementType());
}

Value FactorWriter::normalise(scan::L2NormOp op) {
  RankedTensorType given = typeOf(op.getInput());
  Type element = given.getElementTypeBitWidth() == 16 ? b.getF32Type()
                                                      : given.getElementType();
  Value x = widen(op.getInput(), element);
  RankedTensorType type = typeOf(x);
  bool ranked = type.getRank() == 2;
  auto sums = RankedTensorType::get(type.getShape().drop_back(), element);
  Value squares = contract(x, ranked ? "rk" : "k", x, ranked ? "rk" : "k", sums,
                           ranked ? "r" : "");
  Value shifted = arith::AddFOp::create(
      b, squares, number(sums, op.getEpsilon().convertToDouble()));
  Value factor = math::RsqrtOp::create(b, shifted);
  Value spread = broadcast(factor, type, {ranked ? 1 : 0});
  return widen(arith::MulFOp::create(b, x, spread),
               typeOf(op.getResult()).getElementType());
}

Value FactorWriter::activate(scan::Activation activation, Value x) {
  RankedTensorType type = typeOf(x);
  switch (activation) {
  case scan::Activation::identity:
    return x;
  case scan::Activation::gelu: {
    Value erf = math::ErfOp::create(
        b, arith::MulFOp::create(b, x, number(type, std::sqrt(0.5))));
    return arith::MulFOp::create(
        b, arith::MulFOp::create(b, x, number(type, 0.5)),
        arith::AddFOp::create(b, erf, number(type, 1.0)));
  }
  case scan::Activation::silu: {
    // x sigmoid(x) with an exponential that cannot overflow.
    Value e = math::ExpOp::create(
        b, arith::NegFOp::create(b, math::AbsFOp::create(b, x)));
    Value isNegative = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x,
                                             number(type, 0.0));
    Value numerator =
        arith::SelectOp::create(b, isNegative, e, number(type, 1.0));
    Value denominator = arith::AddFOp::create(b, e, number(type, 1.0));
    return arith::MulFOp::create(
        b, x, arith::DivFOp::create(b, numerator, denominator));
  }
  case scan::Activation::tanh:
    return math::TanhOp::create(b, x);
  case scan::Activation::relu:
    return arith::MaximumFOp::create(b, x, number(type, 0.0));
  }
  llvm_unreachable("unknown activation");
}

Value FactorWriter::refine(scan::RefineOp op) {
  RankedTensorType type = typeOf(op.getResult());
  Type given = type.getElementType(),
       element = type.getElementTypeBitWidth() == 16 ? b.getF32Type() : given;
  int64_t ranks = type.getDimSize(0), columns = type.getDimSize(1);
  auto row = RankedTensorType::get({columns}, element);
  Value residual = arith::SubFOp::create(b, widen(op.getValue(), element),
                                         widen(op.getAnchor(), element));
  Value gains = widen(op.getGain(), element);
  Value all = tensor::EmptyOp::create(b, type.getShape(), element);
  for (int64_t l = 0; l < ranks; ++l) {
    SmallVector<OpFoldResult> offsets = {b.getIndexAttr(l), b.getIndexAttr(0)},
                              sizes = {b.getIndexAttr(1),
                                       b.getIndexAttr(columns)},
                              strides(2, b.getIndexAttr(1));
    Value gain =
        tensor::ExtractSliceOp::create(b, row, gains, offsets, sizes, strides);
    Value delta =
        activate(op.getActivation(), arith::MulFOp::create(b, gain, residual));
    all = tensor::InsertSliceOp::create(b, delta, all, offsets, sizes, strides);
    residual = arith::SubFOp::create(b, residual, delta);
  }
  return widen(all, given);
}

void prism::lowerFactorsToLinalg(Operation *root) {
  root->walk([](Operation *op) {
    FactorWriter writer(op);
    Value result;
    if (auto factor = dyn_cast<scan::StateOpInterface>(op))
      result = writer.apply(factor);
    else if (auto read = dyn_cast<scan::ReadOp>(op))
      result = writer.read(read);
    else if (auto norm = dyn_cast<scan::L2NormOp>(op))
      result = writer.normalise(norm);
    else if (auto loop = dyn_cast<scan::RefineOp>(op))
      result = writer.refine(loop);
    else
      return;
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  });
}
