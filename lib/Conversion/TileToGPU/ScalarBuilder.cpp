//===- ScalarBuilder.cpp - Scalars as they are computed with --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"

using namespace mlir;
using namespace prism::tiletogpu;

Value ScalarBuilder::integer(Type type, int64_t value) {
  return arith::ConstantOp::create(*this, getIntegerAttr(type, value));
}
Value ScalarBuilder::real(Type type, double value) {
  return arith::ConstantOp::create(*this, getFloatAttr(type, value));
}
Value ScalarBuilder::add(Value a, Value b) {
  if (isa<FloatType>(a.getType()))
    return arith::AddFOp::create(*this, a, b);
  return arith::AddIOp::create(*this, a, b);
}
Value ScalarBuilder::sub(Value a, Value b) {
  if (isa<FloatType>(a.getType()))
    return arith::SubFOp::create(*this, a, b);
  return arith::SubIOp::create(*this, a, b);
}
Value ScalarBuilder::mul(Value a, Value b) {
  if (isa<FloatType>(a.getType()))
    return arith::MulFOp::create(*this, a, b);
  return arith::MulIOp::create(*this, a, b);
}
Value ScalarBuilder::divide(Value a, int64_t b) {
  return b == 1 ? a
                : arith::DivUIOp::create(*this, a, integer(a.getType(), b))
                      .getResult();
}
Value ScalarBuilder::remainder(Value a, int64_t b) {
  return b == 1 ? integer(a.getType(), 0)
                : arith::RemUIOp::create(*this, a, integer(a.getType(), b))
                      .getResult();
}
Value ScalarBuilder::below(Value a, Value b) {
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::ult, a, b);
}
Value ScalarBuilder::minimum(Value a, Value b) {
  return arith::MinUIOp::create(*this, a, b);
}
Value ScalarBuilder::both(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::AndIOp::create(*this, a, b);
}
Value ScalarBuilder::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(*this, condition, a, b);
}
Value ScalarBuilder::wide(Value a) {
  if (a.getType().isIndex())
    return arith::IndexCastOp::create(*this, getI64Type(), a);
  return a.getType().isInteger(64)
             ? a
             : arith::ExtSIOp::create(*this, getI64Type(), a).getResult();
}
Value ScalarBuilder::castReal(Value a, Type type) {
  unsigned from = a.getType().getIntOrFloatBitWidth(),
           to = type.getIntOrFloatBitWidth();
  if (from == to)
    return a;
  if (from < to)
    return arith::ExtFOp::create(*this, type, a);
  return arith::TruncFOp::create(*this, type, a);
}
