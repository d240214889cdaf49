//===- RoundFloats.cpp - Roundings to 16 bits -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RoundFloats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace prism;

/// The type of a value with other elements.
static Type likeOf(Value value, Type element) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector ? Type(vector.cloneWith(std::nullopt, element)) : element;
}

static Value numberLike(ImplicitLocOpBuilder &b, Value value, int32_t n) {
  TypedAttr number = b.getI32IntegerAttr(n);
  if (auto type = dyn_cast<VectorType>(likeOf(value, b.getI32Type())))
    number = DenseElementsAttr::get(type, Attribute(number));
  return arith::ConstantOp::create(b, number);
}

/// f64 values as the f32 values that round to 16 bits as they do themselves:
/// towards zero and to an odd last bit, unless they are of f32 exactly.
static Value roundToOdd(ImplicitLocOpBuilder &b, Value wide) {
  Type integers = likeOf(wide, b.getI32Type()),
       floats = likeOf(wide, b.getF32Type());
  Value near = arith::TruncFOp::create(b, floats, wide);
  Value back = arith::ExtFOp::create(b, wide.getType(), near);
  Value isInexact =
      arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back, wide);
  Value isAbove = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT,
                                        math::AbsFOp::create(b, back),
                                        math::AbsFOp::create(b, wide));
  // Floats of a sign are ordered as their bits are.
  Value bits = arith::BitcastOp::create(b, integers, near);
  Value below = arith::SubIOp::create(
      b, bits, arith::ExtUIOp::create(b, integers, isAbove));
  Value odd = arith::OrIOp::create(b, below, numberLike(b, wide, 1));
  Value chosen = arith::SelectOp::create(b, isInexact, odd, bits);
  return arith::BitcastOp::create(b, floats, chosen);
}

/// In f32, from where it is rounded once all the same.
static Value inF32(ImplicitLocOpBuilder &b, Value value) {
  return getElementTypeOrSelf(value.getType()).isF64() ? roundToOdd(b, value)
                                                       : value;
}

Value tiletocpu::roundToBFloat(ImplicitLocOpBuilder &b, Value value) {
  value = inF32(b, value);
  auto number = [&](int32_t n) { return numberLike(b, value, n); };
  Value bits =
      arith::BitcastOp::create(b, likeOf(value, b.getI32Type()), value);
  Value high = arith::ShRUIOp::create(b, bits, number(16));
  Value odd = arith::AndIOp::create(b, high, number(1));
  Value rounded = arith::AddIOp::create(
      b, arith::AddIOp::create(b, bits, number(0x7fff)), odd);
  rounded = arith::ShRUIOp::create(b, rounded, number(16));
  Value quiet = arith::OrIOp::create(b, high, number(0x40));
  Value isNan =
      arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
  Value chosen = arith::SelectOp::create(b, isNan, quiet, rounded);
  return arith::TruncIOp::create(b, likeOf(value, b.getI16Type()), chosen);
}

Value tiletocpu::roundToHalf(ImplicitLocOpBuilder &b, Value value) {
  value = inF32(b, value);
  return arith::TruncFOp::create(b, likeOf(value, b.getF16Type()), value);
}
