//===- Vectors.cpp - Log-gates, strengths and what is made of them --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// f64 elements (sums of log-gates) are pairs of f32 that add up to them, about
// 48 bits: in a profile additions in f64 waited for their unit, beside running
// products, for a sixth of the preparation's time.
//
//===----------------------------------------------------------------------===//

#include "../ElementOps.h"
#include "../TileOpKinds.h"
#include "ComputeRole.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

static int64_t bytesOf(Type element) {
  return element.getIntOrFloatBitWidth() / 8;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// The pair of an f64 constant.
Element ComputeRole::splitConstant(Value f64) {
  Value high = b.castReal(f64, b.getF32Type());
  Value low =
      b.castReal(b.sub(f64, b.castReal(high, b.getF64Type())), b.getF32Type());
  return {high, low};
}

/// Knuth's sum of two f32 with its rounding error, and the low parts.
Element ComputeRole::addPairs(Element x, Element y) {
  Value sum = b.add(x.value, y.value);
  Value part = b.sub(sum, x.value);
  Value error = b.add(b.sub(x.value, b.sub(sum, part)), b.sub(y.value, part));
  error = b.add(error, b.add(x.low, y.low));
  Value high = b.add(sum, error);
  return {high, b.sub(error, b.sub(high, sum))};
}

Element ComputeRole::maximumOfPairs(Element x, Element y) {
  Value zero = b.real(b.getF32Type(), 0.0);
  Value difference = b.add(b.sub(x.value, y.value), b.sub(x.low, y.low));
  Value first =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, difference, zero);
  return {arith::MaximumFOp::create(b, x.value, y.value),
          b.select(first, x.low, y.low)};
}

/// An elementwise op on one element; exp and rsqrt by the chip's functions.
Element ComputeRole::elementOf(Operation *op, ArrayRef<Element> operands) {
  Type f32 = b.getF32Type();
  Type result = tensorType(op->getResult(0)).getElementType();
  if (isa<math::ExpOp>(op) && result.isF32())
    return {in.exp2(b.mul(operands[0].value, b.real(f32, kLog2E)))};
  if (isa<math::RsqrtOp>(op) && result.isF32())
    return {in.reciprocalRoot(operands[0].value)};
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
  Value value = cloneElementwise(b, op, values);
  return value.getType().isF64() ? splitConstant(value) : Element{value};
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

void ComputeRole::emitVectorOp(Operation *op) {
  Value result = op->getResult(0);
  if (auto sum = dyn_cast<GateSumOp>(op))
    return emitGateSum(sum);
  if (auto stack = dyn_cast<InterleaveOp>(op))
    return emitInterleave(stack);
  Vector vector;
  vector.element = tensorType(result).getElementType();
  vector.length = tensorType(result).getDimSize(0);
  if (isSplat(result)) {
    Value scalar = splatScalar(b, op, kernel.scalars);
    vector.mine =
        vector.element.isF64() ? splitConstant(scalar) : Element{scalar};
  } else if (auto sum = dyn_cast<SumColumnsOp>(op)) {
    return emitRowSums(sum);
  } else if (chain || isCheap(op) || isa<MaskRowsOp>(op)) {
    vector.kind = Vector::Kind::Lazy;
    vector.op = op;
  } else if (auto last = dyn_cast<SplatLastOp>(op)) {
    vector.mine = lastOf(last.getInput());
  } else if (auto last = dyn_cast<LastRowOp>(op)) {
    vector.kind = Vector::Kind::Spread;
    vector.mine =
        lastOfProduct(last.getInput().getDefiningOp<DecayProductOp>());
  } else {
    SmallVector<Element> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isTensor(operand)
                             ? spread(operand)
                             : Element{kernel.scalars.lookup(operand)});
    vector.kind = Vector::Kind::Spread;
    vector.mine = elementOf(op, operands);
    if (isHeld(result)) {
      vector.held = scratch(vector.length * bytesOf(vector.element), 16);
      writeElement(vector.mine, vector.held, vector.length);
    }
  }
  vectors[result] = vector;
}

/// Whether a thread's element of a vector waits in its scratch until it is
/// sent. Of more than a few each would take a register, or two of the sums that
/// it is made of, in which systems and scores are made.
bool ComputeRole::isHeld(Value tile) const {
  constexpr int64_t kFew = 3;
  if (chain || !tensorType(tile).getElementType().isF32())
    return false;
  return llvm::any_of(tile.getUsers(), [](Operation *user) {
    auto send = dyn_cast<SendOp>(user);
    return send && llvm::count_if(send.getValues(), [](Value part) {
                     return tensorType(part).getRank() == 1;
                   }) > kFew;
  });
}

/// Conversions, bounds and their like of what lies in shared memory: whoever
/// needs an element computes it from there.
bool ComputeRole::isCheap(Operation *op) const {
  if (isa<math::MathDialect>(op->getDialect()) || !isElementwise(op))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return !isTensor(operand) ||
           vectors.lookup(operand).kind != Vector::Kind::Spread;
  });
}

/// Which element a thread of the preparation holds: lane l of warp w number
/// parts * l + w % parts, for parts = length / 32, rounded up. So a lane's
/// elements in all warps are neighbours.
Value ComputeRole::spreadIndex(int64_t length) {
  int64_t parts = llvm::divideCeil(length, 32);
  return b.add(b.mul(lane, b.i32(parts)), b.remainder(warp, parts));
}

/// Whether this thread is the one that writes its element.
Value ComputeRole::isWriter(int64_t length) {
  Value first = b.below(warp, b.i32(llvm::divideCeil(length, 32)));
  if (length % 32 == 0)
    return first;
  return b.both(first, b.below(spreadIndex(length), b.i32(length)));
}

/// This thread's element.
Element ComputeRole::spread(Value tile) {
  Vector vector = vectors.lookup(tile);
  if (vector.kind == Vector::Kind::Splat || vector.kind == Vector::Kind::Spread)
    return vector.mine;
  // Beyond the end a thread has the last element once more.
  Value index = spreadIndex(vector.length);
  if (vector.length % 32)
    index = b.minimum(index, b.i32(vector.length - 1));
  return elementAt(tile, index);
}

Element ComputeRole::lastOf(Value tile) {
  Vector vector = vectors.lookup(tile);
  if (vector.last.value)
    return vector.last;
  return elementAt(tile, b.i32(vector.length - 1));
}

Element ComputeRole::elementAt(Value tile, Value index) {
  Vector vector = vectors.lookup(tile);
  switch (vector.kind) {
  case Vector::Kind::Splat:
    return vector.mine;
  case Vector::Kind::Shared: {
    int64_t bytes = bytesOf(vector.element);
    return {in.load(vector.element,
                    in.advance(vector.memory, b.mul(index, b.i32(bytes))),
                    bytes)};
  }
  case Vector::Kind::Spread: {
    Value copy = copyOf(tile);
    if (!vector.element.isF64())
      return {
          in.load(vector.element, in.advance(copy, b.mul(index, b.i32(4))), 4)};
    auto [high, low] = in.loadPair(in.advance(copy, b.mul(index, b.i32(8))));
    return {high, low};
  }
  case Vector::Kind::Lazy:
    break;
  }
  if (auto last = dyn_cast<SplatLastOp>(vector.op))
    return lastOf(last.getInput());
  if (auto mask = dyn_cast<MaskRowsOp>(vector.op)) {
    Value step =
        b.add(b.wide(kernel.scalars.lookup(mask.getFirst())), b.wide(index));
    return {b.select(b.below(step, kernel.length()),
                     elementAt(mask.getInput(), index).value,
                     b.real(vector.element, 0.0))};
  }
  SmallVector<Element> operands;
  if (auto stack = dyn_cast<InterleaveOp>(vector.op)) {
    int64_t count = stack.getInputs().size();
    for (Value input : stack.getInputs())
      operands.push_back(elementAt(input, b.divide(index, count)));
    return selectOf(operands, b.remainder(index, count));
  }
  for (Value operand : vector.op->getOperands())
    operands.push_back(isTensor(operand)
                           ? elementAt(operand, index)
                           : Element{kernel.scalars.lookup(operand)});
  return elementOf(vector.op, operands);
}

/// Element `which` of a few.
Element ComputeRole::selectOf(ArrayRef<Element> elements, Value which) {
  Element found = elements.front();
  for (int64_t i = 1, e = elements.size(); i < e; ++i) {
    Value isThis = in.equals(which, i);
    found.value = b.select(isThis, elements[i].value, found.value);
    if (found.low)
      found.low = b.select(isThis, elements[i].low, found.low);
  }
  return found;
}

/// Several elements a token, of vectors of one for each lane of every warp.
void ComputeRole::emitInterleave(InterleaveOp op) {
  int64_t count = op.getInputs().size();
  auto type = tensorType(op.getResult());
  Vector vector;
  vector.element = type.getElementType();
  vector.length = type.getDimSize(0);
  bool isSpread = !chain && llvm::all_of(op.getInputs(), [&](Value input) {
    return vectors.lookup(input).kind == Vector::Kind::Spread;
  });
  if (!isSpread) {
    vector.kind = Vector::Kind::Lazy;
    vector.op = op;
    vectors[op.getResult()] = vector;
    return;
  }
  bool isRepeated = llvm::all_equal(op.getInputs());
  auto at = [&](Value index) {
    Value token = b.divide(index, count);
    SmallVector<Element> elements;
    for (Value input : op.getInputs().take_front(isRepeated ? 1 : count)) {
      Element mine = vectors.lookup(input).mine;
      elements.push_back(
          {in.shuffleFrom(mine.value, token),
           mine.low ? in.shuffleFrom(mine.low, token) : Value()});
    }
    return selectOf(elements, b.remainder(index, count));
  };
  vector.kind = Vector::Kind::Spread;
  int64_t parts = llvm::divideCeil(vector.length, 32);
  if (vector.element.isF64()) {
    for (int64_t p = 0; p < parts; ++p)
      vector.neighbours.push_back(
          at(b.add(b.mul(lane, b.i32(parts)), b.i32(p))));
    vector.mine = selectOf(vector.neighbours, b.remainder(warp, parts));
    vector.last = lastOf(op.getInputs().back());
  } else {
    vector.mine = at(spreadIndex(vector.length));
  }
  vectors[op.getResult()] = vector;
}

//===----------------------------------------------------------------------===//
// To shared memory
//===----------------------------------------------------------------------===//

void ComputeRole::writeElement(const Element &element, Value to,
                               int64_t length) {
  auto mine = scf::IfOp::create(b, isWriter(length));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(mine.thenBlock());
  int64_t bytes = element.low ? 8 : bytesOf(element.value.getType());
  Value at = in.advance(to, b.mul(spreadIndex(length), b.i32(bytes)));
  if (!element.low)
    return in.store(element.value, at, bytes);
  in.storePair(element.value, element.low, at);
}

/// Puts a spread vector where every thread can read it.
Value ComputeRole::copyOf(Value tile) {
  Vector &vector = vectors[tile];
  if (vector.copy)
    return vector.copy;
  int64_t bytes = vector.mine.low ? 8 : bytesOf(vector.element);
  vector.copy = scratch(vector.length * bytes, 16);
  claimScratch();
  writeElement(vector.mine, vector.copy, vector.length);
  roleBarrier();
  return vector.copy;
}

/// Copies what elementAt will read of a vector, for which all warps meet.
void ComputeRole::copyLeaves(Value tile) {
  Vector vector = vectors.lookup(tile);
  if (vector.kind == Vector::Kind::Spread) {
    copyOf(tile);
  } else if (vector.kind == Vector::Kind::Lazy) {
    auto last = dyn_cast<SplatLastOp>(vector.op);
    if (last && vectors.lookup(last.getInput()).last.value)
      return;
    for (Value operand : vector.op->getOperands())
      if (isTensor(operand))
        copyLeaves(operand);
  }
}

/// An f64 vector times log2(e), for powers of two.
Value ComputeRole::copyForPowers(Value tile) {
  Element mine = spread(tile);
  Vector &vector = vectors[tile];
  if (vector.copyForPowers)
    return vector.copyForPowers;
  vector.copyForPowers = scratch(vector.length * 8, 16);
  Type f32 = b.getF32Type();
  // log2(e) as a pair of f32 itself.
  Value factor = b.real(f32, 1.44269502162933349609375),
        rest = b.real(f32, 1.925963033500011e-8);
  Value high = b.mul(mine.value, factor);
  Value minus = arith::NegFOp::create(b, high);
  Value low = LLVM::FMAOp::create(b, mine.value, factor, minus);
  low = LLVM::FMAOp::create(b, mine.value, rest, low);
  low = LLVM::FMAOp::create(b, mine.low, factor, low);
  claimScratch();
  writeElement({high, low}, vector.copyForPowers, vector.length);
  roleBarrier();
  return vector.copyForPowers;
}

void ComputeRole::writeSpread(Value tile, Value to) {
  Vector vector = vectors.lookup(tile);
  if (!vector.held)
    return writeElement(spread(tile), to, vector.length);
  auto mine = scf::IfOp::create(b, isWriter(vector.length));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(mine.thenBlock());
  Value byte = b.mul(spreadIndex(vector.length), b.i32(4));
  in.store(in.load(vector.element, in.advance(vector.held, byte), 4),
           in.advance(to, byte), 4);
}

//===----------------------------------------------------------------------===//
// Sums of gates
//===----------------------------------------------------------------------===//

/// A gate's multiple of `unit` and the rest. Sums of multiples are exact, and
/// those of the rests, which are small, as good as f64 would make the
/// difference of two: without the rounding errors that addPairs carries along.
Element ComputeRole::splitAt(Element gate, double unit) {
  // 1.5 * 2^23 units: there an f32 has steps of one.
  Value large = b.real(b.getF32Type(), 1.5 * 8388608.0 * unit);
  Value high = b.sub(b.add(gate.value, large), large);
  Value low = b.sub(gate.value, high);
  return {high, gate.low ? b.add(low, gate.low) : low};
}

/// Every warp sums all of the gates: a lane its neighbours, the lanes by
/// shuffles. No thread waits for another warp.
void ComputeRole::emitGateSum(GateSumOp op) {
  Value tile = op.getGates();
  int64_t length = tensorType(tile).getDimSize(0),
          parts = llvm::divideCeil(length, 32);
  // A power of two, of which an f32 holds 2^24: gates down to -1024, `length`
  // of them.
  double unit = double(llvm::PowerOf2Ceil(length)) / 16384.0;
  auto sum = [&](Element x, Element y) {
    return Element{b.add(x.value, y.value), b.add(x.low, y.low)};
  };
  auto select = [&](Value condition, Element x, Element y) {
    return Element{b.select(condition, x.value, y.value),
                   b.select(condition, x.low, y.low)};
  };
  auto up = [&](Element x, int64_t lanes) {
    return Element{in.shuffleUp(x.value, lanes), in.shuffleUp(x.low, lanes)};
  };
  Value zero = b.real(b.getF32Type(), 0.0);
  SmallVector<Element> sums;
  for (int64_t p = 0; p < parts; ++p) {
    Value index = b.add(b.mul(lane, b.i32(parts)), b.i32(p));
    if (length < 32)
      index = b.minimum(index, b.i32(length - 1));
    Element gate = splitAt(elementAt(tile, index), unit);
    if (length < 32) // further lanes add nothing
      gate = select(b.below(lane, b.i32(length)), gate, {zero, zero});
    sums.push_back(p ? sum(sums.back(), gate) : gate);
  }
  Element total = sums.back();
  for (int64_t distance = 1; distance < 32; distance *= 2)
    total = select(b.below(lane, b.i32(distance)), total,
                   sum(total, up(total, distance)));
  Element before = select(in.equals(lane, 0), {zero, zero}, up(total, 1));
  Vector vector;
  vector.kind = Vector::Kind::Spread;
  vector.element = b.getF64Type();
  vector.length = length;
  Value part = b.remainder(warp, parts);
  for (auto [p, own] : llvm::enumerate(sums)) {
    Element all = sum(before, own);
    vector.neighbours.push_back(all);
    vector.mine = p ? select(in.equals(part, p), all, vector.mine) : all;
  }
  Value lastLane = b.i32(31);
  vector.last = {in.shuffleFrom(total.value, lastLane),
                 in.shuffleFrom(total.low, lastLane)};
  vectors[op.getResult()] = vector;
}
