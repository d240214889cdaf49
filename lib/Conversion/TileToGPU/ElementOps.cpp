//===- ElementOps.cpp - Elementwise ops on scalars ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ElementOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include <cmath>

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

/// exp(r) - 1 of the rest r of a power of two, |r| <= ln(2) / 2, from the sixth
/// term on.
static Value expM1OfRest(ScalarBuilder &b, Value rest) {
  Type f32 = b.getF32Type();
  Value sum = b.real(f32, 1.0 / 5040);
  for (double factor : {1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5})
    sum = math::FmaOp::create(b, sum, rest, b.real(f32, factor));
  return math::FmaOp::create(b, sum, b.mul(rest, rest), rest);
}

/// x = n ln(2) + r, and exp(x) - 1 = 2^n (exp(r) - 1) + (2^n - 1), in halves:
/// 2^128 is no number of f32, and half of it is.
Value prism::tiletogpu::approximateExpM1(ScalarBuilder &b, Value value) {
  Type f32 = b.getF32Type();
  constexpr double kLog2E = 1.4426950408889634, kLn2High = 0.693145751953125,
                   kLn2Low = 1.42860682030941723212e-6;
  // Added, it leaves a rounded integer in the last bits.
  constexpr double kRound = 12582912.0;
  constexpr int32_t kHalf = 0x3f000000;
  // Below is -1, above is infinite.
  value = arith::MaximumFOp::create(b, value, b.real(f32, -80.0));
  value = arith::MinimumFOp::create(b, value, b.real(f32, 89.0));
  Value rounded =
      math::FmaOp::create(b, value, b.real(f32, kLog2E), b.real(f32, kRound));
  Value power = b.add(rounded, b.real(f32, -kRound));
  Value rest = math::FmaOp::create(b, power, b.real(f32, -kLn2High), value);
  rest = math::FmaOp::create(b, power, b.real(f32, -kLn2Low), rest);
  Value bits = arith::BitcastOp::create(b, b.getI32Type(), rounded);
  bits = arith::AddIOp::create(
      b, arith::ShLIOp::create(b, bits, b.i32(23)).getResult(), b.i32(kHalf));
  Value half = arith::BitcastOp::create(b, f32, bits);
  Value sum = math::FmaOp::create(b, expM1OfRest(b, rest), half,
                                  b.add(half, b.real(f32, -0.5)));
  return b.add(sum, sum);
}

/// log(1 + m) for m from -0.25 to 0.5: m - m^2 / 2 + m^3 times a polynomial of
/// least relative error.
static Value log1pOfRest(ScalarBuilder &b, Value rest) {
  Type f32 = b.getF32Type();
  Value sum = b.real(f32, -0.0455947183072567);
  for (double factor :
       {0.10596059262752533, -0.13250744342803955, 0.14488904178142548,
        -0.16640090942382812, 0.1998925507068634, -0.2500022351741791,
        0.3333348333835602, -0.5})
    sum = math::FmaOp::create(b, sum, rest, b.real(f32, factor));
  return math::FmaOp::create(b, sum, b.mul(rest, rest), rest);
}

/// 1 + x = 2^e (1 + m). Of x itself the power is taken too, so that its last
/// bits stay: m = 2^-e x + (2^-e - 1).
Value prism::tiletogpu::approximateLog1p(ScalarBuilder &b, Value value) {
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  constexpr double kLn2 = 0.6931471805599453, kInfinity = HUGE_VAL;
  constexpr int32_t kThreeQuarters = 0x3f400000, kFour = 0x40800000,
                    kExponent = -8388608;
  auto bitsOf = [&](Value real) -> Value {
    return arith::BitcastOp::create(b, i32, real);
  };
  auto realOf = [&](Value bits) -> Value {
    return arith::BitcastOp::create(b, f32, bits);
  };
  Value power = arith::AndIOp::create(
      b, b.sub(bitsOf(b.add(value, b.real(f32, 1.0))), b.i32(kThreeQuarters)),
      b.i32(kExponent));
  Value scaled = realOf(b.sub(bitsOf(value), power)),
        scale = realOf(b.sub(b.i32(kFour), power));
  Value rest = b.add(scaled, math::FmaOp::create(b, b.real(f32, 0.25), scale,
                                                 b.real(f32, -1.0)));
  Value exponent = arith::SIToFPOp::create(b, f32, power);
  Value result = math::FmaOp::create(
      b, exponent, b.real(f32, kLn2 / double(1 << 23)), log1pOfRest(b, rest));
  auto compare = [&](arith::CmpFPredicate predicate, double to) -> Value {
    return arith::CmpFOp::create(b, predicate, value, b.real(f32, to));
  };
  Value isUsual = b.both(compare(arith::CmpFPredicate::OGT, -1.0),
                         compare(arith::CmpFPredicate::OLT, kInfinity));
  Value other =
      b.select(compare(arith::CmpFPredicate::OLT, -1.0),
               b.real(f32, std::nan("")), b.mul(value, b.real(f32, kInfinity)));
  return b.select(isUsual, result, other);
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
