//===- Elements.cpp - Numbers of vectors, one at a time -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Elements.h"
#include "../ElementOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

/// The pair of an f64 constant.
Element Elements::splitConstant(Value f64) {
  Value high = b.castReal(f64, b.getF32Type());
  Value low =
      b.castReal(b.sub(f64, b.castReal(high, b.getF64Type())), b.getF32Type());
  return {high, low};
}

Element Elements::ofSplat(Operation *op, const IRMapping &scalars) {
  Value scalar = splatScalar(b, op, scalars);
  return scalar.getType().isF64() ? splitConstant(scalar) : Element{scalar};
}

/// Knuth's sum of two f32 with its rounding error, and the low parts.
Element Elements::addPairs(Element x, Element y) {
  Value sum = b.add(x.value, y.value);
  Value part = b.sub(sum, x.value);
  Value error = b.add(b.sub(x.value, b.sub(sum, part)), b.sub(y.value, part));
  error = b.add(error, b.add(x.low, y.low));
  Value high = b.add(sum, error);
  return {high, b.sub(error, b.sub(high, sum))};
}

Element Elements::maximumOfPairs(Element x, Element y) {
  Value zero = b.real(b.getF32Type(), 0.0);
  Value difference = b.add(b.sub(x.value, y.value), b.sub(x.low, y.low));
  Value first =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, difference, zero);
  return {arith::MaximumFOp::create(b, x.value, y.value),
          b.select(first, x.low, y.low)};
}

/// A function of f32 by the chip's own, or a short polynomial; null for others.
Value Elements::functionOf(Operation *op, ValueRange operands) {
  if (!operands.front() || !operands.front().getType().isF32())
    return {};
  if (isa<math::ExpOp>(op))
    return in.exp2(b.mul(operands[0], b.real(b.getF32Type(), kLog2E)));
  if (isa<math::RsqrtOp>(op))
    return in.reciprocalRoot(operands[0]);
  if (isa<math::Log1pOp>(op))
    return approximateLog1p(b, operands[0]);
  if (isa<math::ExpM1Op>(op))
    return approximateExpM1(b, operands[0]);
  return {};
}

Element Elements::of(Operation *op, ArrayRef<Element> operands) {
  Type f32 = b.getF32Type();
  Type result = getElementTypeOrSelf(op->getResult(0).getType());
  if (isa<arith::ExtFOp>(op) && result.isF64())
    return {b.castReal(operands[0].value, f32), b.real(f32, 0.0)};
  if (isa<arith::TruncFOp>(op) && operands[0].low)
    return {b.castReal(b.add(operands[0].value, operands[0].low), result)};
  if (isa<arith::AddFOp>(op) && result.isF64())
    return addPairs(operands[0], operands[1]);
  if (isa<arith::SubFOp>(op) && result.isF64()) {
    Value high = arith::NegFOp::create(b, operands[1].value),
          low = arith::NegFOp::create(b, operands[1].low);
    return addPairs(operands[0], {high, low});
  }
  if (isa<arith::MaximumFOp>(op) && result.isF64())
    return maximumOfPairs(operands[0], operands[1]);
  // The rest in f64 proper.
  SmallVector<Value> values;
  for (const Element &operand : operands)
    values.push_back(operand.low
                         ? b.add(b.castReal(operand.value, b.getF64Type()),
                                 b.castReal(operand.low, b.getF64Type()))
                         : operand.value);
  if (Value function = result.isF32() ? functionOf(op, values) : Value())
    return {function};
  Value value = cloneElementwise(b, op, values);
  return value.getType().isF64() ? splitConstant(value) : Element{value};
}

Element Elements::select(Value condition, Element x, Element y) {
  return {b.select(condition, x.value, y.value),
          x.low ? b.select(condition, x.low, y.low) : Value()};
}

Element Elements::select(ArrayRef<Element> elements, Value which) {
  Element found = elements.front();
  for (int64_t i = 1, e = elements.size(); i < e; ++i)
    found = select(in.equals(which, i), elements[i], found);
  return found;
}

//===----------------------------------------------------------------------===//
// Sums of gates
//===----------------------------------------------------------------------===//

/// A gate's multiple of `unit` and the rest. Sums of multiples are exact, and
/// those of the rests, which are small, as good as f64 would make the
/// difference of two: without the rounding errors that addPairs carries along.
Element Elements::splitAt(Element gate, double unit) {
  // 1.5 * 2^23 units: there an f32 has steps of one.
  Value large = b.real(b.getF32Type(), 1.5 * 8388608.0 * unit);
  Value high = b.sub(b.add(gate.value, large), large);
  Value low = b.sub(gate.value, high);
  return {high, gate.low ? b.add(low, gate.low) : low};
}

Value Elements::neighbour(Value lane, int64_t length, int64_t p) {
  Value index = b.add(b.mul(lane, b.i32(neighboursOf(length))), b.i32(p));
  return length < 32 ? b.minimum(index, b.i32(length - 1)) : index;
}

SmallVector<Element>
Elements::sumGates(Value lane, int64_t length,
                   llvm::function_ref<Element(Value)> gateAt) {
  int64_t count = neighboursOf(length);
  // A power of two, of which an f32 holds 2^24: gates down to -1024, `length`
  // of them.
  double unit = double(llvm::PowerOf2Ceil(length)) / 16384.0;
  auto sum = [&](Element x, Element y) {
    return Element{b.add(x.value, y.value), b.add(x.low, y.low)};
  };
  auto up = [&](Element x, int64_t lanes) {
    return Element{in.shuffleUp(x.value, lanes), in.shuffleUp(x.low, lanes)};
  };
  Value zero = b.real(b.getF32Type(), 0.0);
  SmallVector<Element> sums;
  for (int64_t p = 0; p < count; ++p) {
    Element gate = splitAt(gateAt(neighbour(lane, length, p)), unit);
    if (length < 32) // further lanes add nothing
      gate = select(b.below(lane, b.i32(length)), gate, {zero, zero});
    sums.push_back(p ? sum(sums.back(), gate) : gate);
  }
  Element total = sums.back();
  for (int64_t distance = 1; distance < 32; distance *= 2)
    total = select(b.below(lane, b.i32(distance)), total,
                   sum(total, up(total, distance)));
  Element before = select(in.equals(lane, 0), {zero, zero}, up(total, 1));
  for (Element &own : sums)
    own = sum(before, own);
  return sums;
}

void Elements::storeNeighbours(ArrayRef<Element> neighbours, Value lane,
                               int64_t length, Value to) {
  OpBuilder::InsertionGuard guard(b);
  if (length < 32) {
    auto own = scf::IfOp::create(b, b.below(lane, b.i32(length)));
    b.setInsertionPointToStart(own.thenBlock());
  }
  int64_t bytes = int64_t(neighbours.size()) * 8;
  Value at = in.advance(to, b.mul(lane, b.i32(bytes)));
  auto four = VectorType::get({4}, b.getF32Type());
  for (; neighbours.size() > 1; neighbours = neighbours.drop_front(2)) {
    Value pairs = LLVM::UndefOp::create(b, four);
    for (int64_t i : {0, 1}) {
      auto [high, low] = neighbours[i];
      pairs = LLVM::InsertElementOp::create(b, pairs, high, b.i32(2 * i));
      pairs = LLVM::InsertElementOp::create(b, pairs, low, b.i32(2 * i + 1));
    }
    in.store(pairs, at, 16);
    at = in.advance(at, 16);
  }
  if (!neighbours.empty())
    in.storePair(neighbours[0].value, neighbours[0].low, at);
}

SmallVector<Element> Elements::loadNeighbours(Value lane, int64_t length,
                                              Value from) {
  int64_t count = neighboursOf(length);
  Value own = length < 32 ? b.minimum(lane, b.i32(length - 1)) : lane;
  Value at = in.advance(from, b.mul(own, b.i32(count * 8)));
  SmallVector<Element> neighbours;
  auto four = VectorType::get({4}, b.getF32Type());
  for (; count > 1; count -= 2) {
    Value pairs = in.load(four, at, 16);
    for (int64_t i : {0, 1})
      neighbours.push_back(
          {LLVM::ExtractElementOp::create(b, pairs, b.i32(2 * i)),
           LLVM::ExtractElementOp::create(b, pairs, b.i32(2 * i + 1))});
    at = in.advance(at, 16);
  }
  if (count == 1) {
    auto [high, low] = in.loadPair(at);
    neighbours.push_back({high, low});
  }
  return neighbours;
}
