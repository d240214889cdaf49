//===- ElementOps.cpp - Elementwise ops on scalars ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ElementOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace prism::tiletogpu;

Value prism::tiletogpu::splatScalar(ScalarBuilder &b, Operation *op,
                                    const IRMapping &scalars) {
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return scalars.lookup(splat.getInput());
  auto constant = dyn_cast<arith::ConstantOp>(op);
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                        : DenseElementsAttr();
  if (!dense)
    return {};
  return arith::ConstantOp::create(
      b, cast<TypedAttr>(dense.getSplatValue<Attribute>()));
}

/// arith.maximumf and minimumf hold on to NaN. f64 has no instruction for that,
/// so it is spelled out.
static Value f64Extremum(ScalarBuilder &b, Value x, Value y,
                         arith::CmpFPredicate keepsX) {
  Value larger = b.select(arith::CmpFOp::create(b, keepsX, x, y), x, y);
  Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, y, y);
  return b.select(isNaN, y, larger);
}

Value prism::tiletogpu::cloneElementwise(ScalarBuilder &b, Operation *op,
                                         ArrayRef<Value> operands) {
  Type type =
      cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  if (type.isF64() && isa<arith::MaximumFOp>(op))
    return f64Extremum(b, operands[0], operands[1], arith::CmpFPredicate::UGT);
  if (type.isF64() && isa<arith::MinimumFOp>(op))
    return f64Extremum(b, operands[0], operands[1], arith::CmpFPredicate::ULT);
  OperationState state(b.getLoc(), op->getName(), operands, {type},
                       op->getAttrs());
  return b.create(state)->getResult(0);
}

/// The exponent is rounded; what is lost of it scales the power.
Value prism::tiletogpu::approximateExp(ScalarBuilder &b, Value value) {
  Type f32 = b.getF32Type();
  constexpr double kLog2E = 1.4426950408889634, kLn2 = 0.6931471805599453;
  float high = float(kLog2E);
  // Beyond these the power is 0 or infinite, and the rest no number.
  value = arith::MaximumFOp::create(b, value, b.real(f32, -128.0));
  value = arith::MinimumFOp::create(b, value, b.real(f32, 128.0));
  Value exponent = b.mul(value, b.real(f32, high));
  Value rest =
      math::FmaOp::create(b, value, b.real(f32, high),
                          arith::NegFOp::create(b, exponent).getResult());
  rest = math::FmaOp::create(b, value, b.real(f32, kLog2E - high), rest);
  Value power = LLVM::CallIntrinsicOp::create(
                    b, f32, b.getStringAttr("llvm.nvvm.ex2.approx.ftz"),
                    ValueRange(exponent))
                    .getResult(0);
  Value scale =
      math::FmaOp::create(b, rest, b.real(f32, kLn2), b.real(f32, 1.0));
  return b.mul(power, scale);
}

Value prism::tiletogpu::decayBetween(ScalarBuilder &b, Value row, Value column,
                                     Type type) {
  return math::ExpOp::create(b, b.castReal(b.sub(row, column), type));
}

Value prism::tiletogpu::sumOverLanes(ScalarBuilder &b, Value value,
                                     int64_t lanes, int64_t stride) {
  Value all = b.i32(-1), clamp = b.i32(31);
  auto exchange = [&](Value word, int64_t distance) -> Value {
    return NVVM::ShflOp::create(b, word.getType(), all, word, b.i32(distance),
                                clamp, NVVM::ShflKind::bfly, UnitAttr());
  };
  for (int64_t distance = stride; distance < lanes * stride; distance *= 2) {
    if (value.getType().isF32()) {
      value = b.add(value, exchange(value, distance));
      continue;
    }
    // f64 goes in two words.
    Value bits = arith::BitcastOp::create(b, b.getI64Type(), value);
    Value low = arith::TruncIOp::create(b, b.getI32Type(), bits);
    Value high = arith::TruncIOp::create(
        b, b.getI32Type(), arith::ShRUIOp::create(b, bits, b.i64(32)));
    low = arith::ExtUIOp::create(b, b.getI64Type(), exchange(low, distance));
    high = arith::ExtUIOp::create(b, b.getI64Type(), exchange(high, distance));
    Value other =
        arith::OrIOp::create(b, arith::ShLIOp::create(b, high, b.i64(32)), low);
    value = b.add(value, arith::BitcastOp::create(b, value.getType(), other));
  }
  return value;
}

Value prism::tiletogpu::unitAt(ScalarBuilder &b, tile::UnitColumnsOp op,
                               Value row, Value column,
                               const IRMapping &scalars) {
  Type type = op.getResult().getType().getElementType();
  Value at = b.add(b.wide(scalars.lookup(op.getFirst())), b.wide(column));
  Value isUnit = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, at,
                                       op.getOnes() ? b.i64(0) : b.wide(row));
  return b.select(isUnit, b.real(type, 1.0), b.real(type, 0.0));
}
