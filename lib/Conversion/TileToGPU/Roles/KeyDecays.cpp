//===- KeyDecays.cpp - Decays that differ from key to key -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Factors of a token and a key, never sums or quotients of them. Work goes by
// SLABS of 16 columns in a loop: of a slab a warp holds its 16 rows in 8
// registers a thread (Layouts.h), all else lies in shared memory.
//
// THE LADDER. Rows in groups of h = 1, 2, 4, 8, 16: of each group a lane holds
// the product of all its rows (total), the product of the rows before its own
// (since), and of those after its own (until). A pair of groups becomes one of
// twice the size by one exchange: the upper group's rows have the lower one's
// total before them, the lower group's rows the upper one's behind them.
//
//     since *= upper ? other : 1    until *= upper ? 1 : other
//     total *= other
//
// Rows of one warp lie in eight groups of four lanes, and in two registers:
// three steps by shuffles and one without. Between warps totals go through
// shared memory, once for each tile of decays.
//
//===----------------------------------------------------------------------===//

#include "../TileOpKinds.h"
#include "ComputeRole.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// Columns of a slab, and registers of a thread for it.
static constexpr int64_t kColumns = 16, kRegisters = 8;

//===----------------------------------------------------------------------===//
// Slabs
//===----------------------------------------------------------------------===//

/// Emits `body` as a loop over slabs that carries values.
SmallVector<Value> ComputeRole::forEachSlab(
    int64_t columns, ValueRange start,
    llvm::function_ref<SmallVector<Value>(ValueRange)> body) {
  auto loop =
      scf::ForOp::create(b, b.i32(0), b.i32(columns), b.i32(kColumns), start);
  keepRolled(loop);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  slabColumn = loop.getInductionVar();
  Value laneBefore = lane;
  lane = in.opaque(lane); // no addresses are kept through the loop
  known.clear();          // what was read is of other columns
  SmallVector<Value> next = body(loop.getRegionIterArgs());
  known.clear();
  lane = laneBefore;
  slabColumn = {};
  if (!start.empty())
    scf::YieldOp::create(b, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

ComputeRole::SlabRegisters ComputeRole::slabOf(Value tile) {
  SlabRegisters registers;
  for (int64_t r = 0; r < kRegisters; ++r)
    registers.push_back(registerOf(tile, r));
  return registers;
}

/// Whether a tile is computed of products of decays.
bool ComputeRole::isMadeBySlabs(Value tile) {
  Matrix &matrix = matrixOf(tile);
  if (matrix.kind != Matrix::Kind::Lazy)
    return false;
  Operation *op = matrix.op;
  return isa<DecayProductOp>(op) ||
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return isTensor(operand) && tensorType(operand).getRank() == 2 &&
                  isMadeBySlabs(operand);
         });
}

/// Rounds a tile to where it is sent.
void ComputeRole::roundBySlabs(Value tile, Matrix &packed) {
  forEachSlab(packed.layout.columns, {}, [&](ValueRange) {
    SlabRegisters registers = slabOf(tile);
    SmallVector<Value> pairs;
    for (int64_t r = 0; r < kRegisters; r += 2)
      pairs.push_back(in.packPair(registers[r], registers[r + 1]));
    Value row = b.add(b.mul(warp, b.i32(16)), b.remainder(lane, 16));
    Value piece = in.bitXor(b.add(b.divide(lane, 16), pieceOfSlab()),
                            b.remainder(lane, 8));
    Value before = b.mul(b.divide(slabColumn, kSlabColumns),
                         b.i32(packed.layout.slabBytes()));
    Value byte = b.add(b.add(before, b.mul(row, b.i32(kSlabRowBytes))),
                       b.mul(piece, b.i32(16)));
    in.storeMatrices(in.advance(packed.memory, byte), pairs,
                     /*transposed=*/false);
    return SmallVector<Value>();
  });
  packed.kind = Matrix::Kind::Shared;
}

/// Sums along rows, in f32, to where every thread can read them.
void ComputeRole::emitSumColumns(SumColumnsOp op) {
  settleLeaves(op.getInput());
  Vector vector;
  vector.kind = Vector::Kind::Shared;
  vector.element = b.getF32Type();
  vector.length = kRowsOfGroup;
  vector.memory = scratch(kRowsOfGroup * 4, 16);
  claimScratch();
  Value zero = b.real(b.getF32Type(), 0.0);
  int64_t columns = tensorType(op.getInput()).getDimSize(1);
  SmallVector<Value> sums =
      forEachSlab(columns, {zero, zero}, [&](ValueRange carried) {
        SmallVector<Value> next(carried.begin(), carried.end());
        SlabRegisters slab = slabOf(op.getInput());
        for (int64_t r = 0; r < kRegisters; ++r)
          next[r / 2 % 2] = b.add(next[r / 2 % 2], slab[r]);
        return next;
      });
  // Four lanes have a row's columns.
  for (Value &sum : sums)
    for (int64_t lanes : {1, 2})
      sum = b.add(sum, in.shuffleAcross(sum, lanes));
  {
    auto first = scf::IfOp::create(b, in.equals(b.remainder(lane, 4), 0));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(first.thenBlock());
    Value at = in.advance(vector.memory, b.mul(firstRow(), b.i32(4)));
    in.store(sums[0], at, 4);
    in.store(sums[1], in.advance(at, 8 * 4), 4);
  }
  roleBarrier();
  vectors[op.getResult()] = vector;
}

//===----------------------------------------------------------------------===//
// The ladder
//===----------------------------------------------------------------------===//

/// From groups of `size` rows to groups of twice as many; `since` and `until`
/// may be null.
void ComputeRole::climb(int64_t size, SlabRegisters &totals,
                        SlabRegisters *since, SlabRegisters *until) {
  constexpr int64_t kHalf = 8, kLanesOfRow = 4;
  SlabRegisters others;
  for (int64_t r = 0; r < kRegisters; ++r)
    others.push_back(size == kHalf
                         ? totals[r ^ 2]
                         : in.shuffleAcross(totals[r], size * kLanesOfRow));
  Value isUpper, one = b.real(b.getF32Type(), 1.0);
  if (size < kHalf)
    isUpper =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                              in.bitAnd(lane, size * kLanesOfRow), b.i32(0));
  auto include = [&](SlabRegisters *products, int64_t r, bool inUpper) {
    if (!products)
      return;
    Value &product = (*products)[r];
    if (isUpper) {
      product = b.mul(product, inUpper ? b.select(isUpper, others[r], one)
                                       : b.select(isUpper, one, others[r]));
    } else if ((r / 2 % 2 == 1) == inUpper) {
      product = b.mul(product, others[r]);
    }
  };
  for (int64_t r = 0; r < kRegisters; ++r) {
    include(since, r, /*inUpper=*/true);
    include(until, r, /*inUpper=*/false);
    totals[r] = b.mul(totals[r], others[r]);
  }
}

//===----------------------------------------------------------------------===//
// Between warps
//===----------------------------------------------------------------------===//

/// What the rows of each warp leave of a channel: f32, a row for each warp.
/// All warps meet.
Value ComputeRole::totalsOf(Value decays) {
  if (Value made = totals.lookup(decays))
    return made;
  settleLeaves(decays);
  int64_t columns = tensorType(decays).getDimSize(1);
  Value memory = scratch(kWarpsOfGroup * columns * 4, 16);
  claimScratch();
  forEachSlab(columns, {}, [&](ValueRange) {
    SlabRegisters products = slabOf(decays);
    for (int64_t size : {1, 2, 4, 8})
      climb(size, products, nullptr, nullptr);
    auto first = scf::IfOp::create(b, b.below(lane, b.i32(4)));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(first.thenBlock());
    Value at = b.add(b.mul(warp, b.i32(columns)), firstColumn());
    at = in.advance(memory, b.mul(at, b.i32(4)));
    in.storePair(products[0], products[1], at);
    in.storePair(products[4], products[5], in.advance(at, 8 * 4));
    return SmallVector<Value>();
  });
  roleBarrier();
  return totals[decays] = memory;
}

/// Multiplies a slab by what the rows of warp `number` leave, where it counts
/// (null: everywhere).
void ComputeRole::multiplyByTotal(Value decays, Value number, Value counts,
                                  SlabRegisters &slab) {
  int64_t columns = tensorType(decays).getDimSize(1);
  Value at = b.add(b.mul(number, b.i32(columns)), firstColumn());
  at = in.advance(totals.lookup(decays), b.mul(at, b.i32(4)));
  Value one = b.real(b.getF32Type(), 1.0);
  for (int64_t half : {0, 1}) {
    auto [first, second] = in.loadPair(in.advance(at, half * 8 * 4));
    Value pair[] = {first, second};
    for (int64_t p : {0, 1}) {
      Value total = counts ? b.select(counts, pair[p], one) : pair[p];
      for (int64_t r : {4 * half + p, 4 * half + 2 + p})
        slab[r] = b.mul(slab[r], total);
    }
  }
}

/// The product of the decays before a row in its chunk (or behind it), and with
/// its own unless the op excludes it.
Value ComputeRole::productAt(DecayProductOp op, int64_t r) {
  Value result = op.getResult();
  if (Value made = known.lookup({result, r}))
    return made;
  SlabRegisters own = slabOf(op.getDecays()), totals = own;
  Value one = b.real(b.getF32Type(), 1.0);
  SlabRegisters products(kRegisters, one);
  for (int64_t size : {1, 2, 4, 8})
    climb(size, totals, op.getReverse() ? nullptr : &products,
          op.getReverse() ? &products : nullptr);
  if (!op.getExclusive())
    for (auto [product, factor] : llvm::zip_equal(products, own))
      product = b.mul(product, factor);
  for (int64_t other = 0; other < kWarpsOfGroup; ++other) {
    if (other == (op.getReverse() ? 0 : kWarpsOfGroup - 1))
      continue; // before none, or behind none
    Value counts = op.getReverse() ? b.below(warp, b.i32(other))
                                   : b.below(b.i32(other), warp);
    multiplyByTotal(op.getDecays(), b.i32(other), counts, products);
  }
  for (int64_t i = 0; i < kRegisters; ++i)
    known[{result, i}] = products[i];
  return products[r];
}

/// This thread's element of what is left of each channel.
Element ComputeRole::lastOfProduct(DecayProductOp op) {
  Value memory = totalsOf(op.getDecays());
  int64_t columns = tensorType(op.getResult()).getDimSize(1);
  Value index = spreadIndex(columns);
  if (columns % 32)
    index = b.minimum(index, b.i32(columns - 1));
  Value at = in.advance(memory, b.mul(index, b.i32(4))), product;
  for (int64_t number = 0; number < kWarpsOfGroup; ++number) {
    Value total =
        in.load(b.getF32Type(), in.advance(at, number * columns * 4), 4);
    product = product ? b.mul(product, total) : total;
  }
  return {product};
}
