//===- ExpressionEmitter.cpp - `let` expressions as arith and math --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ExpressionEmitter.h"
#include "Prism/Dialect/Scan/IR/Scan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
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

Value ExpressionEmitter::repeat(Value value, ArrayRef<std::string> from,
                                ArrayRef<std::string> to,
                                ArrayRef<int64_t> shape, Location loc) {
  auto result = RankedTensorType::get(shape, type);
  if (from.empty() || from == to)
    return spread(value, result, loc);
  SmallVector<int64_t> added;
  for (auto [i, axis] : llvm::enumerate(to))
    if (!llvm::is_contained(from, axis))
      added.push_back(i);
  Value empty = tensor::EmptyOp::create(builder, loc, shape, type);
  return linalg::BroadcastOp::create(builder, loc, value, empty, added)
      ->getResult(0);
}

template <typename Op>
Value ExpressionEmitter::binary(const Expr &expr, Location loc) {
  // One after the other, so that IR is stable.
  Value left = emit(expr.operands[0], loc);
  Value right = emit(expr.operands[1], loc);
  if (expr.axes.empty())
    return Op::create(builder, loc, left, right);
  SmallVector<int64_t> shape(expr.axes.size(), 0);
  for (auto [i, axis] : llvm::enumerate(expr.axes))
    for (auto [operand, value] :
         {std::pair(&expr.operands[0], left), {&expr.operands[1], right}}) {
      auto at = llvm::find(operand->axes, axis);
      if (at != operand->axes.end())
        shape[i] = cast<RankedTensorType>(value.getType())
                       .getDimSize(at - operand->axes.begin());
    }
  left = repeat(left, expr.operands[0].axes, expr.axes, shape, loc);
  right = repeat(right, expr.operands[1].axes, expr.axes, shape, loc);
  return Op::create(builder, loc, left, right);
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
    return binary<arith::MaximumFOp>(expr, loc);
  case Function::Min:
    return binary<arith::MinimumFOp>(expr, loc);
  case Function::Pow:
    if (std::optional<int64_t> exponent = wholeNumber(expr.operands[1]))
      return power(emit(expr.operands[0], loc), *exponent, loc);
    return binary<math::PowFOp>(expr, loc);
  default:
    return emitUnary(expr.function, emit(expr.operands[0], loc), loc);
  }
}

Value ExpressionEmitter::emit(const Expr &expr, Location loc) {
  switch (expr.kind) {
  case ExprKind::Number:
    return constant(expr.number, type, loc);
  case ExprKind::Name:
    return extend(find(expr.name), loc);
  case ExprKind::Negate:
    return arith::NegFOp::create(builder, loc, emit(expr.operands[0], loc));
  case ExprKind::Add:
    return binary<arith::AddFOp>(expr, loc);
  case ExprKind::Subtract:
    return binary<arith::SubFOp>(expr, loc);
  case ExprKind::Multiply:
    return binary<arith::MulFOp>(expr, loc);
  case ExprKind::Divide:
    return binary<arith::DivFOp>(expr, loc);
  case ExprKind::Call:
    return emitCall(expr, loc);
  }
  llvm_unreachable("unknown kind of expression");
}
