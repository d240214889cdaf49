//===- Vectors.cpp - Log-gates, strengths and what is made of them --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../ElementOps.h"
#include "../TileOpKinds.h"
#include "ComputeRole.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

static int64_t bytesOf(Type element) {
  return element.getIntOrFloatBitWidth() / 8;
}

void ComputeRole::emitVectorOp(Operation *op) {
  Value result = op->getResult(0);
  if (auto sum = dyn_cast<GateSumOp>(op))
    return emitGateSum(sum);
  Vector vector;
  vector.element = tensorType(result).getElementType();
  vector.length = tensorType(result).getDimSize(0);
  if (isSplat(result)) {
    vector.value = splatScalar(b, op, kernel.scalars);
  } else if (chain || isCheap(op)) {
    vector.kind = Vector::Kind::Lazy;
    vector.op = op;
  } else if (auto last = dyn_cast<SplatLastOp>(op)) {
    vector.value = lastOf(last.getInput());
  } else {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isTensor(operand) ? spread(operand)
                                           : kernel.scalars.lookup(operand));
    vector.kind = Vector::Kind::Spread;
    vector.value = elementOf(op, operands);
  }
  vectors[result] = vector;
}

/// Conversions, bounds and their like of what lies in shared memory: whoever
/// needs an element computes it from there.
bool ComputeRole::isCheap(Operation *op) const {
  if (isa<math::MathDialect>(op->getDialect()) || !isElementwise(op))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    if (!isTensor(operand))
      return true;
    Vector::Kind kind = vectors.lookup(operand).kind;
    return kind != Vector::Kind::Spread;
  });
}

/// An elementwise op on one element; exp by the chip's exp2.
Value ComputeRole::elementOf(Operation *op, ArrayRef<Value> operands) {
  if (isa<math::ExpOp>(op) && operands[0].getType().isF32())
    return in.exp2(
        b.mul(operands[0], b.real(b.getF32Type(), 1.4426950408889634)));
  return cloneElementwise(b, op, operands);
}

/// Which element a thread of the preparation holds: lane l of warp w number
/// parts * l + w % parts, for parts = length / 32. So a lane's elements in all
/// warps are neighbours.
Value ComputeRole::spreadIndex(int64_t length) {
  int64_t parts = std::max<int64_t>(1, length / 32);
  return b.add(b.mul(lane, b.i32(parts)), b.remainder(warp, parts));
}
/// Whether this thread is the one that writes its element.
Value ComputeRole::isWriter(int64_t length) {
  int64_t parts = std::max<int64_t>(1, length / 32);
  return b.both(b.below(warp, b.i32(parts)),
                b.below(spreadIndex(length), b.i32(length)));
}

/// This thread's element.
Value ComputeRole::spread(Value tile) {
  Vector vector = vectors.lookup(tile);
  if (vector.kind == Vector::Kind::Splat || vector.kind == Vector::Kind::Spread)
    return vector.value;
  return elementAt(tile, spreadIndex(vector.length));
}

Value ComputeRole::lastOf(Value tile) {
  Vector vector = vectors.lookup(tile);
  if (vector.last)
    return vector.last;
  return elementAt(tile, b.i32(vector.length - 1));
}

Value ComputeRole::elementAt(Value tile, Value index) {
  Vector vector = vectors.lookup(tile);
  switch (vector.kind) {
  case Vector::Kind::Splat:
    return vector.value;
  case Vector::Kind::Shared:
  case Vector::Kind::Spread: {
    Value base = vector.kind == Vector::Kind::Shared ? vector.memory
                                                     : plainCopy(vectors[tile]);
    int64_t bytes = bytesOf(vector.element);
    return in.load(vector.element, in.advance(base, b.mul(index, b.i32(bytes))),
                   bytes);
  }
  case Vector::Kind::Lazy:
    break;
  }
  if (auto last = dyn_cast<SplatLastOp>(vector.op))
    return lastOf(last.getInput());
  SmallVector<Value> operands;
  for (Value operand : vector.op->getOperands())
    operands.push_back(isTensor(operand) ? elementAt(operand, index)
                                         : kernel.scalars.lookup(operand));
  return elementOf(vector.op, operands);
}

/// Puts a spread vector where every thread can read it.
Value ComputeRole::plainCopy(Vector &vector) {
  if (vector.plain)
    return vector.plain;
  int64_t bytes = bytesOf(vector.element);
  vector.plain = in.advance(memory, plan.allocate(vector.length * bytes, 16));
  auto mine = scf::IfOp::create(b, isWriter(vector.length));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(mine.thenBlock());
    in.store(vector.value,
             in.advance(vector.plain,
                        b.mul(spreadIndex(vector.length), b.i32(bytes))),
             bytes);
  }
  roleBarrier();
  return vector.plain;
}

/// An f64 vector times log2(e), each element as two f32 that add up to it.
Value ComputeRole::pairedCopy(Value tile) {
  Value mineValue = spread(tile);
  Vector &vector = vectors[tile];
  if (vector.paired)
    return vector.paired;
  vector.paired = in.advance(memory, plan.allocate(vector.length * 8, 16));
  Type f32 = b.getF32Type(), f64 = b.getF64Type();
  Value scaled = b.mul(mineValue, b.real(f64, 1.4426950408889634));
  Value high = b.castReal(scaled, f32);
  Value low = b.castReal(b.sub(scaled, b.castReal(high, f64)), f32);
  auto mine = scf::IfOp::create(b, isWriter(vector.length));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(mine.thenBlock());
    Value at =
        in.advance(vector.paired, b.mul(spreadIndex(vector.length), b.i32(8)));
    in.store(high, at, 8);
    in.store(low, in.advance(at, 4), 4);
  }
  roleBarrier();
  return vector.paired;
}

void ComputeRole::writeSpread(Value tile, Value to) {
  Vector vector = vectors.lookup(tile);
  int64_t bytes = bytesOf(vector.element);
  Value value = spread(tile);
  auto mine = scf::IfOp::create(b, isWriter(vector.length));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(mine.thenBlock());
  in.store(value,
           in.advance(to, b.mul(spreadIndex(vector.length), b.i32(bytes))),
           bytes);
}

/// Every warp sums all of the gates: a lane its neighbours, the lanes by
/// shuffles. No thread waits for another warp.
void ComputeRole::emitGateSum(GateSumOp op) {
  Value tile = op.getGates();
  int64_t length = tensorType(tile).getDimSize(0), parts = length / 32;
  SmallVector<Value> sums;
  for (int64_t p = 0; p < parts; ++p) {
    Value gate = elementAt(tile, b.add(b.mul(lane, b.i32(parts)), b.i32(p)));
    sums.push_back(p ? b.add(sums.back(), gate) : gate);
  }
  Value total = sums.back();
  for (int64_t distance = 1; distance < 32; distance *= 2) {
    Value more = b.add(total, in.shuffleUp(total, distance));
    total = b.select(b.below(lane, b.i32(distance)), total, more);
  }
  // What the lanes before have, without the rounding of a difference.
  Value before = b.select(in.equals(lane, 0), b.real(b.getF64Type(), 0.0),
                          in.shuffleUp(total, 1));
  Value mine, part = b.remainder(warp, parts);
  for (auto [p, sum] : llvm::enumerate(sums)) {
    Value all = b.add(before, sum);
    mine = mine ? b.select(in.equals(part, p), all, mine) : all;
  }
  Vector vector;
  vector.kind = Vector::Kind::Spread;
  vector.element = b.getF64Type();
  vector.length = length;
  vector.value = mine;
  vector.last = in.shuffleFrom(total, 31);
  vectors[op.getResult()] = vector;
}
