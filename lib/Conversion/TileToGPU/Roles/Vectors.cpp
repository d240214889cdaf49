//===- Vectors.cpp - Log-gates, strengths and what is made of them --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
    vector.mine = elements.ofSplat(op, kernel.scalars);
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
    vector.mine = elements.of(op, operands);
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
    return elements.select(operands, b.remainder(index, count));
  }
  for (Value operand : vector.op->getOperands())
    operands.push_back(isTensor(operand)
                           ? elementAt(operand, index)
                           : Element{kernel.scalars.lookup(operand)});
  return elements.of(vector.op, operands);
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
    SmallVector<Element> ofRanks;
    for (Value input : op.getInputs().take_front(isRepeated ? 1 : count)) {
      Element mine = vectors.lookup(input).mine;
      ofRanks.push_back({in.shuffleFrom(mine.value, token),
                         mine.low ? in.shuffleFrom(mine.low, token) : Value()});
    }
    return elements.select(ofRanks, b.remainder(index, count));
  };
  vector.kind = Vector::Kind::Spread;
  int64_t parts = llvm::divideCeil(vector.length, 32);
  if (vector.element.isF64()) {
    for (int64_t p = 0; p < parts; ++p)
      vector.neighbours.push_back(
          at(b.add(b.mul(lane, b.i32(parts)), b.i32(p))));
    vector.mine = elements.select(vector.neighbours, b.remainder(warp, parts));
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

/// Every warp has all of the sums: a lane its neighbours. No thread waits for
/// another warp.
void ComputeRole::defineSums(Value tile, SmallVector<Element> neighbours) {
  Vector vector;
  vector.kind = Vector::Kind::Spread;
  vector.element = b.getF64Type();
  vector.length = tensorType(tile).getDimSize(0);
  vector.mine =
      elements.select(neighbours, b.remainder(warp, neighbours.size()));
  vector.neighbours = std::move(neighbours);
  vectors[tile] = vector;
}

void ComputeRole::emitGateSum(GateSumOp op) {
  Value tile = op.getGates(), result = op.getResult();
  defineSums(result, elements.sumGates(
                         lane, tensorType(tile).getDimSize(0),
                         [&](Value index) { return elementAt(tile, index); }));
  // Behind the last gate lanes have the same sum.
  Element last = vectors[result].neighbours.back();
  Value lastLane = b.i32(31);
  vectors[result].last = {in.shuffleFrom(last.value, lastLane),
                          in.shuffleFrom(last.low, lastLane)};
}

/// Sums that were made where the gates were loaded: all that decays will need
/// of them at once, before a product runs, beside which a load takes long.
void ComputeRole::receiveSums(Value tile, Value from) {
  int64_t length = tensorType(tile).getDimSize(0);
  defineSums(tile, elements.loadNeighbours(lane, length, from));
  auto [high, low] = in.loadPair(in.advance(from, (length - 1) * 8));
  Vector &vector = vectors[tile];
  vector.last = {high, low};
  if (length == kRowsOfGroup)
    vector.own = readOwnSums(in.advance(from, b.mul(warp, b.i32(16 * 8))));
}
