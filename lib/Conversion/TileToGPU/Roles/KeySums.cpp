//===- KeySums.cpp - Log-gates of keys, summed up -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A thread has a channel and walks down its rows, so that neighbours read
// neighbours and no sum crosses lanes. Sums replace the gates where these lie,
// if nothing else reads them.
//
//===----------------------------------------------------------------------===//

#include "../TileOpKinds.h"
#include "ComputeRole.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// Rows of a block, which is a warp's.
static constexpr int64_t kRowsOfBlock = 16;
/// log2 of what must be left of a channel for its reciprocal to be multiplied
/// with.
static constexpr double kLeast = -64.0;
/// A log-gate whose exponential is 0 in f32, as those of all below.
static constexpr double kVanishing = -104.0;

/// Whether gates are read as what their exponentials make of products alone.
static bool areOnlySummed(Value gates) {
  return gates.hasOneUse() &&
         llvm::all_of(gates.user_begin()->getUsers(), [&](Operation *user) {
           return isa<DecayProductOp, DecayedDotOp>(user);
         });
}

/// Of what every sum of decays is made: once for each tile. All warps meet.
const ComputeRole::KeySums &ComputeRole::keySumsOf(Value decays) {
  KeySums &made = keySums[decays];
  if (made.sums)
    return made;
  Value gates = decays.getDefiningOp()->getOperand(0);
  settleLeaves(gates);
  int64_t columns = tensorType(decays).getDimSize(1);
  Wide layout{kRowsOfGroup, columns};
  Value memory;
  made.before = scratch((kWarpsOfGroup + 1) * columns * 4, 16);
  Value flags = scratch(kWarpsOfGroup * 4, 16);
  Matrix matrix = matrixOf(gates);
  if (matrix.kind == Matrix::Kind::Shared && areOnlySummed(gates)) {
    memory = matrix.memory;
    claimScratch();
  } else {
    memory = scratch(layout.bytes(), kSlabRowBytes);
    claimScratch();
    forEachSlab(columns, {}, [&](ValueRange) {
      for (int64_t r = 0; r < kRegistersOfSlab; r += 2)
        in.storePair(registerOf(gates, r), registerOf(gates, r + 1),
                     in.advance(memory, byteOfSlab(layout, r, false)));
      return SmallVector<Value>();
    });
    roleBarrier();
  }
  made.sums = memory;
  sumGates(made, layout, flags);
  return made;
}

/// What `body` gives where a condition (null: everywhere) holds, else 0.
static Value whereHolds(ScalarBuilder &b, Value condition,
                        llvm::function_ref<Value()> body) {
  if (!condition)
    return body();
  auto choice =
      scf::IfOp::create(b, TypeRange(b.getF32Type()), condition, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, body());
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, b.real(b.getF32Type(), 0.0));
  return choice.getResult(0);
}

/// Threads have a channel each; of up to 64 two each, of half the rows.
void ComputeRole::sumGates(KeySums &made, Wide layout, Value flags) {
  int64_t columns = layout.columns, width = columns > 64 ? 128 : 64,
          blocks = columns > 64 ? kWarpsOfGroup : kWarpsOfGroup / 2;
  Value thread = b.add(b.mul(warp, b.i32(32)), lane);
  Value column = b.remainder(thread, width);
  Value first = b.mul(b.divide(thread, width),
                      b.i32(blocks * kRowsOfBlock * layout.rowBytes()));
  Value at[4]; // of rows whose numbers leave the same rest
  for (int64_t rest = 0; rest < 4; ++rest) {
    Value piece = in.bitXor(b.divide(column, 8), b.i32(rest));
    Value byte = b.add(first, b.add(b.mul(piece, b.i32(32)),
                                    b.mul(b.remainder(column, 8), b.i32(4))));
    at[rest] = in.advance(made.sums, byte);
  }
  auto place = [&](int64_t row) {
    return in.advance(at[row % 4], row * layout.rowBytes());
  };
  Type f32 = b.getF32Type();
  Value vanishing = b.real(f32, kVanishing), unit = b.real(f32, kLog2E);
  Value isThere = columns < width ? b.below(column, b.i32(columns)) : Value();
  Value left = whereHolds(b, isThere, [&] {
    SmallVector<Value> rows, totals;
    for (int64_t row = 0; row < blocks * kRowsOfBlock; ++row)
      rows.push_back(in.load(f32, place(row), 4));
    for (int64_t row = 0; row < blocks * kRowsOfBlock; ++row) {
      Value gate = arith::MaximumFOp::create(b, rows[row], vanishing);
      rows[row] = row % kRowsOfBlock
                      ? Value(math::FmaOp::create(b, gate, unit, rows[row - 1]))
                      : b.mul(gate, unit);
      if (row % kRowsOfBlock == kRowsOfBlock - 1)
        totals.push_back(rows[row]);
    }
    for (int64_t row = 0; row < blocks * kRowsOfBlock; ++row)
      in.store(rows[row], place(row), 4);
    return blocks == kWarpsOfGroup ? writeBlocks(made, column, columns, totals)
                                   : totals.back();
  });
  if (blocks < kWarpsOfGroup) {
    roleBarrier();
    left = whereHolds(b, b.below(thread, b.i32(columns)), [&] {
      SmallVector<Value> totals;
      for (int64_t block = 0; block < kWarpsOfGroup; ++block)
        totals.push_back(
            in.load(f32, place((block + 1) * kRowsOfBlock - 1), 4));
      return writeBlocks(made, column, columns, totals);
    });
  }
  made.isMild = isNoneBelow(left, flags);
}

/// Of a channel: the sums of all blocks before each, and of all. Gives the
/// least.
Value ComputeRole::writeBlocks(const KeySums &made, Value column,
                               int64_t columns, ArrayRef<Value> totals) {
  Value at = in.advance(made.before, b.mul(column, b.i32(4)));
  Value sum = b.real(b.getF32Type(), 0.0), least = sum;
  for (int64_t block = 0; block <= kWarpsOfGroup; ++block) {
    in.store(sum, in.advance(at, block * columns * 4), 4);
    if (block == kWarpsOfGroup)
      break;
    sum = block ? b.add(sum, totals[block]) : totals[block];
    least = arith::MinimumFOp::create(b, least, sum);
  }
  return least;
}

/// Whether no thread's sum is too small for its reciprocal. All warps meet, and
/// see what was written before.
Value ComputeRole::isNoneBelow(Value sum, Value flags) {
  Type f32 = b.getF32Type();
  Value zero = b.real(f32, 0.0);
  Value isBelow = in.anyLane(arith::CmpFOp::create(b, arith::CmpFPredicate::OLT,
                                                   sum, b.real(f32, kLeast)));
  {
    auto first = scf::IfOp::create(b, in.equals(lane, 0));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(first.thenBlock());
    in.store(b.select(isBelow, b.real(f32, 1.0), zero),
             in.advance(flags, b.mul(warp, b.i32(4))), 4);
  }
  roleBarrier();
  Value found;
  for (int64_t pair : {0, 8}) {
    auto [low, high] = in.loadPair(in.advance(flags, pair));
    Value both = b.add(low, high);
    found = found ? b.add(found, both) : both;
  }
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, found, zero);
}

//===----------------------------------------------------------------------===//
// Of a slab
//===----------------------------------------------------------------------===//

/// Of a register's pair in the present slab; of the row before it, or of its
/// own where that is another block's.
Value ComputeRole::byteOfSlab(Wide layout, int64_t r, bool ofRowBefore) {
  Accumulator slab{kColumnsOfSlab};
  Value row = b.add(firstRow(), b.i32(slab.rowOf(r)));
  if (ofRowBefore) {
    Value one = b.i32(1);
    row = b.sub(row, slab.rowOf(r)
                         ? one
                         : b.select(b.below(lane, b.i32(4)), b.i32(0), one));
  }
  Value piece = b.add(b.divide(slabColumn, 8), b.i32(slab.columnOf(r) / 8));
  piece = in.bitXor(piece, b.remainder(row, 4));
  return b.add(
      b.mul(row, b.i32(layout.rowBytes())),
      b.add(b.mul(piece, b.i32(32)), b.mul(b.remainder(lane, 4), b.i32(8))));
}

/// What `known` has of decays, with the register.
enum Known {
  kSum,
  kSumBefore,
  kSince,
  kSinceBefore,
  kUntil,
  kUntilBefore,
  kTotal,
  kLeft,
  kLeftBefore,
  kInverse,
  kInverseBefore
};
static int64_t keyOf(int known, int64_t r) {
  return known * kRegistersOfSlab + r;
}

/// The sum of a block's log-gates up to a register's row, or the one before it.
Value ComputeRole::sumOfGates(Value decays, int64_t r, bool before) {
  int64_t first = r / 2 * 2, key = keyOf(before ? kSumBefore : kSum, first);
  if (!known.contains({decays, key})) {
    Wide layout{kRowsOfGroup, tensorType(decays).getDimSize(1)};
    auto [low, high] = in.loadPair(
        in.advance(keySumsOf(decays).sums, byteOfSlab(layout, r, before)));
    if (before && Accumulator{kColumnsOfSlab}.rowOf(r) == 0) {
      Value isFirst = b.below(lane, b.i32(4)),
            zero = b.real(b.getF32Type(), 0.0);
      low = b.select(isFirst, zero, low);
      high = b.select(isFirst, zero, high);
    }
    known[{decays, key}] = low;
    known[{decays, key + 1}] = high;
  }
  return known.lookup({decays, key + r % 2});
}

Value ComputeRole::sinceAt(Value decays, int64_t r, bool before) {
  std::pair<Value, int64_t> key{decays,
                                keyOf(before ? kSinceBefore : kSince, r)};
  if (Value made = known.lookup(key))
    return made;
  Value value = in.exp2(sumOfGates(decays, r, before));
  return known[key] = value;
}

Value ComputeRole::untilAt(Value decays, int64_t r, bool before) {
  std::pair<Value, int64_t> key{decays,
                                keyOf(before ? kUntilBefore : kUntil, r)};
  if (Value made = known.lookup(key))
    return made;
  Value value =
      in.exp2(b.sub(totalOfGates(decays, r), sumOfGates(decays, r, before)));
  return known[key] = value;
}

/// What is left since the chunk's beginning, or its reciprocal.
Value ComputeRole::leftAt(Value decays, int64_t r, bool before, bool inverse) {
  int known = (inverse ? kInverse : kLeft) + (before ? 1 : 0);
  std::pair<Value, int64_t> key{decays, keyOf(known, r)};
  if (Value made = this->known.lookup(key))
    return made;
  Value sum = b.add(sumOfGates(decays, r, before), sumBefore(decays, r, 0));
  if (inverse)
    sum = arith::NegFOp::create(b, sum);
  Value value = in.exp2(sum);
  return this->known[key] = value;
}

/// The sum of a register's channel in the warp's block.
Value ComputeRole::totalOfGates(Value decays, int64_t r) {
  int64_t first = r / 4 * 4, key = keyOf(kTotal, first);
  if (!known.contains({decays, key})) {
    Wide layout{kRowsOfGroup, tensorType(decays).getDimSize(1)};
    Value row =
        b.add(b.mul(warp, b.i32(kRowsOfBlock)), b.i32(kRowsOfBlock - 1));
    Value piece =
        in.bitXor(b.add(b.divide(slabColumn, 8), b.i32(first / 4)), b.i32(3));
    Value byte = b.add(
        b.mul(row, b.i32(layout.rowBytes())),
        b.add(b.mul(piece, b.i32(32)), b.mul(b.remainder(lane, 4), b.i32(8))));
    auto [low, high] = in.loadPair(in.advance(keySumsOf(decays).sums, byte));
    known[{decays, key}] = low;
    known[{decays, key + 1}] = high;
  }
  return known.lookup({decays, key + r % 2});
}

/// The sum of a register's channel in all blocks before the warp's, or before
/// the one so many later (before all: in the whole chunk).
Value ComputeRole::sumBefore(Value decays, int64_t r,
                             std::optional<int64_t> later) {
  Value memory = keySumsOf(decays).before;
  int64_t first = r / 4 * 2, place = later ? *later + kWarpsOfGroup : 15;
  std::pair<Value, int64_t> key{memory, 4 * place + first};
  if (!known.contains(key)) {
    int64_t columns = tensorType(decays).getDimSize(1);
    Value column = firstColumn();
    Value at = later ? b.add(b.mul(warp, b.i32(columns)), column)
                     : b.add(column, b.i32(kWarpsOfGroup * columns));
    at = in.advance(memory, b.mul(at, b.i32(4)));
    auto [low, high] = in.loadPair(
        in.advance(at, first / 2 * 8 * 4 + (later ? *later * columns * 4 : 0)));
    known[key] = low;
    known[{memory, key.second + 1}] = high;
  }
  return known.lookup({memory, key.second + r % 2});
}
