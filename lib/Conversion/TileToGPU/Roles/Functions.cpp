//===- Functions.cpp - Functions of matrices by the chip's own ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What they yield is rounded to 16 bits, and they stand between products: as
// polynomials in pieces and divisions of IEEE they would be some hundred
// instructions an element. Errors are absolute, below 1e-6 beside the 1 that a
// gate multiplies or adds.
//
//===----------------------------------------------------------------------===//

#include "ComputeRole.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// 1 - (a1 t + ... + a5 t^5) exp(-x^2) with t = 1 / (1 + p |x|), and the sign
/// of x; off by 1.5e-7 at most. Source: Abramowitz and Stegun, 7.1.26.
static Value errorFunction(ScalarBuilder &b, Instructions &in, Value x) {
  auto number = [&](double value) { return b.real(b.getF32Type(), value); };
  Value magnitude = math::AbsFOp::create(b, x);
  Value t = in.reciprocal(
      math::FmaOp::create(b, magnitude, number(0.3275911), number(1.0)));
  Value sum = number(1.061405429);
  for (double coefficient :
       {-1.453152027, 1.421413741, -0.284496736, 0.254829592})
    sum = math::FmaOp::create(b, sum, t, number(coefficient));
  Value square = b.mul(b.mul(x, number(-kLog2E)), x);
  Value rest = b.mul(b.mul(sum, t), in.exp2(square));
  return math::CopySignOp::create(b, b.sub(number(1.0), rest), x);
}

/// 1 - 2 / (1 + exp(2 x)).
static Value hyperbolicTangent(ScalarBuilder &b, Instructions &in, Value x) {
  auto number = [&](double value) { return b.real(b.getF32Type(), value); };
  Value power = in.exp2(b.mul(x, number(2 * kLog2E)));
  Value inverse = in.reciprocal(b.add(power, number(1.0)));
  return math::FmaOp::create(b, inverse, number(-2.0), number(1.0));
}

/// A function of one element, if the chip has a shorter way for it; else null.
Value ComputeRole::functionOf(Operation *op, ArrayRef<Value> operands) {
  if (!operands.front().getType().isF32())
    return {};
  if (isa<math::ErfOp>(op))
    return errorFunction(b, in, operands[0]);
  if (isa<math::TanhOp>(op))
    return hyperbolicTangent(b, in, operands[0]);
  if (isa<math::ExpOp>(op))
    return in.exp2(b.mul(operands[0], b.real(b.getF32Type(), kLog2E)));
  if (isa<arith::DivFOp>(op))
    return b.mul(operands[0], in.reciprocal(operands[1]));
  return {};
}
