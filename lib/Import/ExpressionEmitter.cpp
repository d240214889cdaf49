//===- ExpressionEmitter.cpp - `let` expressions as arith and math --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ExpressionEmitter.h"
#include "Prism/Dialect/Scan/IR/Scan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;
using namespace prism::spec;

/// `shapeLike` with elements of `element`.
static Type withElement(Type shapeLike, FloatType element) {
  if (auto tensor = dyn_cast<RankedTensorType>(shapeLike))
    return tensor.clone(element);
  return element;
}

Value ExpressionEmitter::extend(Value value, Location loc) {
  if (getElementTypeOrSelf(value) == type)
    return value;
  return arith::ExtFOp::create(builder, loc, withElement(value.getType(), type),
                               value);
}

Value ExpressionEmitter::spread(Value value, Type shapeLike, Location loc) {
  auto tensor = dyn_cast<RankedTensorType>(shapeLike);
  if (!tensor || isa<RankedTensorType>(value.getType()))
    return value;
  return tensor::SplatOp::create(builder, loc, value,
                                 tensor.clone(value.getType()));
}

Value ExpressionEmitter::constant(double value, Type like, Location loc) {
  TypedAttr attr = builder.getFloatAttr(type, value);
  if (auto tensor = dyn_cast<RankedTensorType>(like))
    attr = DenseElementsAttr::get(cast<ShapedType>(tensor.clone(type)),
                                  cast<Attribute>(attr));
  return arith::ConstantOp::create(builder, loc, attr);
}

template <typename Op>
Value ExpressionEmitter::binary(Value a, Value b, Location loc) {
  Type shape = isa<RankedTensorType>(a.getType()) ? a.getType() : b.getType();
  return Op::create(builder, loc, spread(a, shape, loc), spread(b, shape, loc));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

Value ExpressionEmitter::expOfMinusAbs(Value x, Location loc) {
  Value magnitude = math::AbsFOp::create(builder, loc, x);
  return math::ExpOp::create(builder, loc,
                             arith::NegFOp::create(builder, loc, magnitude));
}

/// 1 / (1 + e) or e / (1 + e) with e = exp(-|x|), by the sign of x.
Value ExpressionEmitter::sigmoid(Value x, Location loc) {
  Value e = expOfMinusAbs(x, loc);
  Value one = constant(1.0, x.getType(), loc),
        zero = constant(0.0, x.getType(), loc);
  Value isNegative =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, x, zero);
  Value numerator = arith::SelectOp::create(builder, loc, isNegative, e, one);
  Value denominator = arith::AddFOp::create(builder, loc, one, e);
  return arith::DivFOp::create(builder, loc, numerator, denominator);
}

/// max(x, 0) + log1p(exp(-|x|)).
Value ExpressionEmitter::softplus(Value x, Location loc) {
  Value zero = constant(0.0, x.getType(), loc);
  Value linear = arith::MaximumFOp::create(builder, loc, x, zero);
  Value rest = math::Log1pOp::create(builder, loc, expOfMinusAbs(x, loc));
  return arith::AddFOp::create(builder, loc, linear, rest);
}

Value ExpressionEmitter::emitUnary(Function function, Value x, Location loc) {
  switch (function) {
  case Function::Abs:
    return math::AbsFOp::create(builder, loc, x);
  case Function::Erf:
    return math::ErfOp::create(builder, loc, x);
  case Function::Exp:
    return math::ExpOp::create(builder, loc, x);
  case Function::Expm1:
    return math::ExpM1Op::create(builder, loc, x);
  case Function::Log:
    return math::LogOp::create(builder, loc, x);
  case Function::Log1p:
    return math::Log1pOp::create(builder, loc, x);
  case Function::Rsqrt:
    return math::RsqrtOp::create(builder, loc, x);
  case Function::Sqrt:
    return math::SqrtOp::create(builder, loc, x);
  case Function::Tanh:
    return math::TanhOp::create(builder, loc, x);
  case Function::Relu:
    return arith::MaximumFOp::create(builder, loc, x,
                                     constant(0.0, x.getType(), loc));
  case Function::Sigmoid:
    return sigmoid(x, loc);
  case Function::Silu:
    return arith::MulFOp::create(builder, loc, x, sigmoid(x, loc));
  case Function::Softplus:
    return softplus(x, loc);
  case Function::LogSigmoid: { // -softplus(-x)
    Value negative = arith::NegFOp::create(builder, loc, x);
    return arith::NegFOp::create(builder, loc, softplus(negative, loc));
  }
  case Function::Gelu: { // x/2 (1 + erf(x / sqrt 2))
    Value scaled = arith::MulFOp::create(
        builder, loc, x, constant(0.70710678118654752440, x.getType(), loc));
    Value erf = math::ErfOp::create(builder, loc, scaled);
    Value sum = arith::AddFOp::create(builder, loc, erf,
                                      constant(1.0, x.getType(), loc));
    Value half =
        arith::MulFOp::create(builder, loc, x, constant(0.5, x.getType(), loc));
    return arith::MulFOp::create(builder, loc, half, sum);
  }
  default:
    llvm_unreachable("a function of two arguments");
  }
}

/// The whole number that an exponent writes out, a sign before it included.
static std::optional<int64_t> wholeNumber(const Expr &exponent) {
  bool isNegative = exponent.kind == ExprKind::Negate;
  const Expr &digits = isNegative ? exponent.operands[0] : exponent;
  if (digits.kind != ExprKind::Number || digits.number > 64.0 ||
      digits.number != std::floor(digits.number))
    return std::nullopt;
  int64_t number = static_cast<int64_t>(digits.number);
  return isNegative ? -number : number;
}

/// x to a whole power as products, so that x may be negative or 0: the lowered
/// math.powf goes by logarithms.
Value ExpressionEmitter::power(Value x, int64_t exponent, Location loc) {
  Value one = constant(1.0, x.getType(), loc), result, square = x;
  for (int64_t rest = std::abs(exponent); rest > 0; rest /= 2) {
    if (rest % 2)
      result = result
                   ? Value(arith::MulFOp::create(builder, loc, result, square))
                   : square;
    if (rest > 1)
      square = arith::MulFOp::create(builder, loc, square, square);
  }
  if (!result)
    return one;
  if (exponent < 0)
    return arith::DivFOp::create(builder, loc, one, result);
  return result;
}

/// Row `row` of the first axis: a vector of a matrix, a scalar of a vector.
Value ExpressionEmitter::emitRow(Value x, int64_t row, Location loc) {
  auto tensor = cast<RankedTensorType>(x.getType());
  if (tensor.getRank() == 1) {
    Value index = arith::ConstantIndexOp::create(builder, loc, row);
    return tensor::ExtractOp::create(builder, loc, x, index);
  }
  SmallVector<OpFoldResult> offsets(tensor.getRank(), builder.getIndexAttr(0)),
      sizes, strides(tensor.getRank(), builder.getIndexAttr(1));
  offsets[0] = builder.getIndexAttr(row);
  for (int64_t extent : tensor.getShape())
    sizes.push_back(builder.getIndexAttr(extent));
  sizes[0] = builder.getIndexAttr(1);
  auto result = RankedTensorType::get(tensor.getShape().drop_front(),
                                      tensor.getElementType());
  return tensor::ExtractSliceOp::create(builder, loc, result, x, offsets, sizes,
                                        strides);
}

Value ExpressionEmitter::emitCall(const Expr &expr, Location loc) {
  // A name alone keeps its own type where the op extends by itself.
  auto raw = [&](const Expr &operand) {
    return operand.kind == ExprKind::Name ? find(operand.name)
                                          : emit(operand, loc);
  };
  switch (expr.function) {
  case Function::L2Norm: {
    Value x = raw(expr.operands[0]);
    return prism::scan::L2NormOp::create(builder, loc,
                                         withElement(x.getType(), type), x,
                                         APFloat(expr.operands[1].number));
  }
  case Function::Row:
    return emitRow(raw(expr.operands[0]),
                   static_cast<int64_t>(expr.operands[1].number), loc);
  case Function::Max:
    return binary<arith::MaximumFOp>(emit(expr.operands[0], loc),
                                     emit(expr.operands[1], loc), loc);
  case Function::Min:
    return binary<arith::MinimumFOp>(emit(expr.operands[0], loc),
                                     emit(expr.operands[1], loc), loc);
  case Function::Pow:
    if (std::optional<int64_t> exponent = wholeNumber(expr.operands[1]))
      return power(emit(expr.operands[0], loc), *exponent, loc);
    return binary<math::PowFOp>(emit(expr.operands[0], loc),
                                emit(expr.operands[1], loc), loc);
  default:
    return emitUnary(expr.function, emit(expr.operands[0], loc), loc);
  }
}

Value ExpressionEmitter::emit(const Expr &expr, Location loc) {
  auto operand = [&](unsigned i) { return emit(expr.operands[i], loc); };
  switch (expr.kind) {
  case ExprKind::Number:
    return constant(expr.number, type, loc);
  case ExprKind::Name:
    return extend(find(expr.name), loc);
  case ExprKind::Negate:
    return arith::NegFOp::create(builder, loc, operand(0));
  case ExprKind::Add:
  case ExprKind::Subtract:
  case ExprKind::Multiply:
  case ExprKind::Divide:
    break;
  case ExprKind::Call:
    return emitCall(expr, loc);
  }
  Value left = operand(0),
        right = operand(1); // in this order, so that IR is stable
  if (expr.kind == ExprKind::Add)
    return binary<arith::AddFOp>(left, right, loc);
  if (expr.kind == ExprKind::Subtract)
    return binary<arith::SubFOp>(left, right, loc);
  if (expr.kind == ExprKind::Multiply)
    return binary<arith::MulFOp>(left, right, loc);
  return binary<arith::DivFOp>(left, right, loc);
}
