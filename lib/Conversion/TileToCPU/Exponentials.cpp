//===- Exponentials.cpp - exp and expm1 that share their parts ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A state that decays by exp(g) and takes 1 - exp(g) of its input needs both.
// x = k log 2 + r with |r| <= log(2) / 2, exp(x) = 2^k + 2^k (exp(r) - 1): what
// is small is never the difference of what is large. LLVM sees that both
// functions have k, r and the polynomial in common.
//
// Within 1.1 units in the last place; above 88.37, where 2^k would overflow,
// within 1e-5; below -87.68 exp is 0.
//
//===----------------------------------------------------------------------===//

#include "Exponentials.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace prism;

namespace {
/// Arithmetic on f32 scalars or vectors like `x`.
class Exponential {
public:
  Exponential(OpBuilder &b, Location loc, Value x)
      : b(b), loc(loc), type(x.getType()) {
    // Comparisons that are false for NaN keep it in r and out of k.
    Value low = number(-88.0f), high = number(127.0f);
    x = arith::SelectOp::create(b, loc, less(x, low), low, x);
    Value k = math::RoundEvenOp::create(
        b, loc, arith::MulFOp::create(b, loc, x, number(1.44269504f)));
    k = arith::SelectOp::create(b, loc, less(k, high), k, high);
    // log 2 in two parts, the first of so few bits that k times it is exact.
    Value r = fma(k, number(-0.693145752f), x);
    r = fma(k, number(-1.42860677e-6f), r);
    Value series = number(0.00139338837f);
    for (float coefficient : {0.00836333539f, 0.041666463f, 0.166665763f, 0.5f})
      series = fma(series, r, number(coefficient));
    rest = fma(arith::MulFOp::create(b, loc, r, r), series, r);
    power = powerOfTwo(k);
  }

  Value exp() { return fma(power, rest, power); }
  Value expm1() {
    return fma(power, rest, arith::SubFOp::create(b, loc, power, number(1.0f)));
  }

private:
  Value constant(Type like, Attribute value) {
    if (auto vector = dyn_cast<VectorType>(like))
      return arith::ConstantOp::create(b, loc,
                                       DenseElementsAttr::get(vector, value));
    return arith::ConstantOp::create(b, loc, cast<TypedAttr>(value));
  }
  Value number(float value) { return constant(type, b.getF32FloatAttr(value)); }
  Value less(Value left, Value right) {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, left,
                                 right);
  }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, loc, x, y, z);
  }
  /// From the exponent's bits, for whole k of -127 to 127; 2^-127 becomes 0.
  Value powerOfTwo(Value k) {
    Type integers = b.getI32Type();
    if (auto vector = dyn_cast<VectorType>(type))
      integers = VectorType::get(vector.getShape(), integers);
    Value exponent = arith::AddIOp::create(
        b, loc, arith::FPToSIOp::create(b, loc, integers, k),
        constant(integers, b.getI32IntegerAttr(127)));
    Value bits = arith::ShLIOp::create(
        b, loc, exponent, constant(integers, b.getI32IntegerAttr(23)));
    return arith::BitcastOp::create(b, loc, type, bits);
  }

  OpBuilder &b;
  Location loc;
  Type type;
  Value rest, power; // exp(r) - 1, 2^k
};
} // namespace

void tiletocpu::lowerExponentials(ModuleOp module) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    SmallVector<Operation *> ops;
    bool needed = false;
    function.walk([&](Operation *op) {
      if (!isa<math::ExpOp, math::ExpM1Op>(op) ||
          !getElementTypeOrSelf(op->getResult(0).getType()).isF32())
        return;
      needed |= isa<math::ExpM1Op>(op);
      ops.push_back(op);
    });
    for (Operation *op : needed ? ops : SmallVector<Operation *>()) {
      OpBuilder b(op);
      Exponential parts(b, op->getLoc(), op->getOperand(0));
      op->replaceAllUsesWith(
          ValueRange{isa<math::ExpOp>(op) ? parts.exp() : parts.expm1()});
      op->erase();
    }
  }
}
