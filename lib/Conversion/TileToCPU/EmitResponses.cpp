//===- EmitResponses.cpp - Responses of small systems of numbers ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Both walk down the tokens as the steps do and keep the system's numbers in
// registers. For impulses lanes are the tokens of the impulse: a vector holds
// what became of each.
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace prism;
using namespace prism::tiletocpu;

/// Coefficients of a token times numbers; `lanes` 1: scalars. A coefficient
/// that is 0 throughout costs nothing.
Value Emitter::sumOfProducts(ArrayRef<Value> coefficients, ValueRange numbers,
                             Value token, int64_t lanes) {
  Value sum;
  for (auto [coefficient, number] : llvm::zip_equal(coefficients, numbers)) {
    if (matchPattern(coefficient, m_AnyZeroFloat()))
      continue;
    Value factor = rowScalar(coefficient, token, 0);
    if (lanes > 1)
      factor = broadcast(factor, lanes);
    Value product = arith::MulFOp::create(b, factor, number);
    sum = sum ? Value(arith::AddFOp::create(b, sum, product)) : product;
  }
  if (sum)
    return sum;
  Type element = tileType(coefficients.front()).getElementType();
  return lanes > 1 ? zeros(element, lanes)
                   : Value(arith::ConstantOp::create(
                         b, b.getFloatAttr(element, 0.0)));
}

/// x_t of x_(t-1), without input.
Vectors Emitter::advance(OperandRange transition, const Vectors &numbers,
                         Value token, int64_t lanes) {
  SmallVector<Value> all(transition);
  Vectors next;
  for (size_t i = 0; i < numbers.size(); ++i)
    next.push_back(
        sumOfProducts(ArrayRef(all).slice(i * numbers.size(), numbers.size()),
                      numbers, token, lanes));
  return next;
}

void Emitter::emitImpulseResponse(tile::ImpulseResponseOp op, const Place &to) {
  RankedTensorType type = tileType(op.getResult());
  Type element = type.getElementType();
  int64_t tokens = rowsOf(type),
          n = options.lanes(element.getIntOrFloatBitWidth());
  SmallVector<Value> output(op.getOutput());
  auto spread = [&](Value vector, Value token) {
    return broadcast(rowScalar(vector, token, 0), n);
  };
  loop(0, tokens, n, [&](Value column) {
    Value impulse = laneIndices(column, n);
    Vectors numbers(output.size(), zeros(element, n));
    loopCarrying(c(0), c(tokens), 1, numbers, [&](Value token, Vectors before) {
      Value now = broadcast(token, n);
      Value isNow =
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, impulse, now);
      Value isPast = less(impulse, now);
      // An impulse that is still to come is not seen, whatever the numbers.
      auto choose = [&](Value past, Value atOnce) -> Value {
        Value seen =
            arith::SelectOp::create(b, isPast, past, zeros(element, n));
        return arith::SelectOp::create(b, isNow, atOnce, seen);
      };
      Value out = sumOfProducts(output, before, token, n);
      storeValue(choose(out, spread(op.getDirect(), token)),
                 at(to, token, column), element);
      Vectors next = advance(op.getTransition(), before, token, n);
      for (auto [number, input] : llvm::zip_equal(next, op.getInput()))
        number = choose(number, spread(input, token));
      return next;
    });
  });
}

void Emitter::emitInitialResponse(tile::InitialResponseOp op, const Place &to) {
  Type element = tileType(op.getResult()).getElementType();
  SmallVector<Value> output(op.getOutput());
  Vectors numbers;
  for (size_t i = 0; i < output.size(); ++i)
    numbers.push_back(arith::ConstantOp::create(
        b, b.getFloatAttr(element, i == op.getState() ? 1.0 : 0.0)));
  loopCarrying(c(0), c(columnsOf(tileType(op.getResult()))), 1, numbers,
               [&](Value token, Vectors before) {
                 storeValue(sumOfProducts(output, before, token, 1),
                            gep(to.pointer, element, token), element);
                 return advance(op.getTransition(), before, token, 1);
               });
}
