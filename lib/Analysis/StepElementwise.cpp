//===- StepElementwise.cpp - arith and math on forms ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "StepEvaluator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace prism;
using namespace prism::analysis;

/// Elementwise ops whose result depends on the elements of their operands only.
static bool isElementwise(Operation &op) {
  return op.getNumResults() == 1 && op.getNumRegions() == 0 &&
         op.getNumOperands() > 0 && isMemoryEffectFree(&op) &&
         (isa<math::MathDialect>(op.getDialect()) ||
          isa<arith::ArithDialect>(op.getDialect())) &&
         !isa<arith::BitcastOp>(op);
}

/// Functions that are finite for every finite operand.
static bool isTotal(Operation &op) {
  return isa<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::TanhOp,
             math::ErfOp, math::ErfcOp, math::SinOp, math::CosOp, math::AbsFOp,
             math::FloorOp, math::CeilOp, math::RoundOp, math::RoundEvenOp,
             math::TruncOp, math::AtanOp, math::SinhOp, math::CoshOp,
             math::AsinhOp, math::CbrtOp, math::CopySignOp, arith::MaximumFOp,
             arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
             arith::CmpFOp, arith::CmpIOp, arith::SelectOp, arith::AddFOp,
             arith::SubFOp, arith::MulFOp, arith::NegFOp>(op);
}

/// Integers on which + and * are those of the reals, as far as they can matter.
static bool isCounting(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIndex() || element.isInteger(32) || element.isInteger(64);
}

static bool compare(arith::CmpIPredicate predicate, int64_t a, int64_t b) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
    return a == b;
  case P::ne:
    return a != b;
  case P::slt:
    return a < b;
  case P::sle:
    return a <= b;
  case P::sgt:
    return a > b;
  case P::sge:
    return a >= b;
  case P::ult:
    return uint64_t(a) < uint64_t(b);
  case P::ule:
    return uint64_t(a) <= uint64_t(b);
  case P::ugt:
    return uint64_t(a) > uint64_t(b);
  case P::uge:
    return uint64_t(a) >= uint64_t(b);
  }
  llvm_unreachable("unknown predicate");
}

/// Comparisons and casts of known integers, which loops and conditions use.
static std::optional<double> foldInteger(Operation &op, ArrayRef<Form> in) {
  SmallVector<double, 2> known;
  for (const Form &operand : in) {
    std::optional<double> value = constantOf(operand);
    if (!value || std::abs(*value) > 9.0e15)
      return std::nullopt;
    known.push_back(*value);
  }
  auto isIndexLike = [](Value v) { return isCounting(v.getType()); };
  if (auto cmp = dyn_cast<arith::CmpIOp>(op))
    if (isIndexLike(cmp.getLhs()))
      return compare(cmp.getPredicate(), known[0], known[1]);
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op) &&
      isIndexLike(op.getOperand(0)))
    return known[0];
  if (isa<arith::SIToFPOp>(op) && isIndexLike(op.getOperand(0)))
    return known[0];
  return std::nullopt;
}

/// x to a small whole power, as a product.
static std::optional<int64_t> wholePower(Operation &op, ArrayRef<Form> in) {
  if (!isa<math::PowFOp, math::FPowIOp>(op))
    return std::nullopt;
  std::optional<double> power = constantOf(in[1]);
  if (!power || *power < 0.0 || *power > 4.0 || *power != std::floor(*power))
    return std::nullopt;
  return int64_t(*power);
}

std::optional<Form> StepEvaluator::elementwise(Operation &op, ArrayRef<Form> in,
                                               ShapeRef shape) {
  auto counting = [&] { return isCounting(op.getResult(0).getType()); };
  if (isa<arith::AddFOp>(op) || (isa<arith::AddIOp>(op) && counting()))
    return forms.add(in[0], in[1]);
  if (isa<arith::SubFOp>(op) || (isa<arith::SubIOp>(op) && counting()))
    return forms.add(in[0], in[1], -1.0);
  if (isa<arith::MulFOp>(op) || (isa<arith::MulIOp>(op) && counting()))
    return forms.multiply(in[0], in[1]);
  if (isa<arith::NegFOp>(op))
    return forms.scale(in[0], -1.0);
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return in[0];
  if (isa<math::FmaOp>(op))
    return forms.add(forms.multiply(in[0], in[1]), in[2]);
  if (isa<arith::DivFOp>(op))
    if (std::optional<Form> quotient = forms.divide(in[0], in[1]))
      return quotient;
  if (std::optional<int64_t> power = wholePower(op, in)) {
    Form result = forms.constant(1.0, shape);
    for (int64_t i = 0; i < *power; ++i)
      result = forms.multiply(result, in[0]);
    return result;
  }
  if (isa<arith::SelectOp>(op)) {
    if (std::optional<double> known = constantOf(in[0]))
      return *known != 0.0 ? in[1] : in[2];
    if (isEqual(in[1], in[2]))
      return in[1];
    if (dependenceOf(in[0]) == Dependence::none &&
        getElementTypeOrSelf(op.getResult(0)).isFloat())
      return forms.select(forms.broadcast(in[0], shape), in[1], in[2]);
  }
  if (isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
          arith::MinNumFOp>(op) &&
      isEqual(in[0], in[1]))
    return in[0];
  if (std::optional<double> known = foldInteger(op, in))
    return forms.constant(*known, shape);
  return std::nullopt;
}

bool StepEvaluator::evaluateElementwise(Operation &op) {
  if (!isElementwise(op))
    return false;
  std::optional<Shape> shape = shapeOf(op.getResult(0).getType());
  if (!shape)
    return false;
  Nodes inputs = nodesOf(op.getOperands());
  SmallVector<Form, 3> in;
  for (Node input : inputs) {
    // Scalars captured from outside a linalg body are the same all over it.
    in.push_back(forms.broadcast(input->form, *shape));
    if (in.back().shape != *shape)
      return false;
  }
  std::optional<Form> form = elementwise(op, in, *shape);
  if (!form)
    form = forms.function(
        functionName(op), in, *shape, isTotal(op),
        getElementTypeOrSelf(op.getResult(0).getType()).isInteger(1));
  set(op.getResult(0), *form, inputs);
  return true;
}
