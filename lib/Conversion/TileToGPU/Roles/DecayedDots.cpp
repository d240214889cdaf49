//===- DecayedDots.cpp - Dots whose channels decay on the way -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
//     result[r, c] = sum over d of lhs[r, d] rhs[c, d] w[r, c, d]
//
// for rows and columns of tokens, w the product of the decays between the two.
// Warp w has rows 16 w and the next 15. At each rung of the ladder
// (KeyDecays.cpp) rows of an upper group see columns of the lower one beside
// it; the rows times the decays since their group began, and the columns times
// those until theirs ends, multiply as they are:
//
//   a token itself      products in f32
//   groups of 1         the neighbour's, by a shuffle, in f32
//   groups of 2, 4, 8   mma.sync on rounded pairs: accumulators as they lie are
//                       the A operand, and, transposed, the B operand
//   blocks of 16        the same, columns from shared memory, rows also times
//                       the totals of the blocks between the two
//
// No factor but products of consecutive decays: nothing overflows, and what
// vanishes does so because the decay does. A group of four accumulators has 16
// x 8 elements, of which a rung uses the upper or the lower 8: rungs that use
// different halves share them, the others' rows being zero.
//
//===----------------------------------------------------------------------===//

#include "../TileOpKinds.h"
#include "ComputeRole.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// Registers of a slab, and of the sums of one 16 x 8.
static constexpr int64_t kRegisters = 8, kSums = 4;
/// Of the slab that warps exchange: a row's bytes, and all of it.
static constexpr int64_t kRowBytes = 32,
                         kExchangeBytes = kRowsOfGroup * kRowBytes;

/// What the loop over slabs carries.
struct ComputeRole::PairSums {
  using Four = SmallVector<Value, kSums>;
  /// Of a lane's two rows with themselves, and with the row before.
  SmallVector<Value, 2> same, next;
  /// Near the diagonal: upper rows | lower rows of
  ///   0: groups of 4 in columns 0-7 | groups of 8
  ///   1: groups of 2 in columns 0-7 | groups of 4 in columns 8-15
  ///   2: not used                   | groups of 2 in columns 8-15
  Four near[3];
  /// Of the blocks 1, 2 and 3 to the left, columns 0-7 and 8-15.
  Four left[3][2];

  explicit PairSums(ValueRange all) {
    auto take = [&](auto &to, int64_t count) {
      to.assign(all.begin(), all.begin() + count);
      all = all.drop_front(count);
    };
    take(same, 2);
    take(next, 2);
    for (Four &four : near)
      take(four, kSums);
    for (auto &block : left)
      for (Four &four : block)
        take(four, kSums);
  }
  static constexpr int64_t kCount = 4 + 9 * kSums;
  SmallVector<Value> all() const {
    SmallVector<Value> values(same.begin(), same.end());
    values.append(next.begin(), next.end());
    for (const Four &four : near)
      values.append(four.begin(), four.end());
    for (const auto &block : left)
      for (const Four &four : block)
        values.append(four.begin(), four.end());
    return values;
  }
};

SmallVector<Value, 4> ComputeRole::packSlab(const SlabRegisters &slab) {
  SmallVector<Value, 4> pairs;
  for (int64_t r = 0; r < kRegisters; r += 2)
    pairs.push_back(in.packPair(slab[r], slab[r + 1]));
  return pairs;
}

//===----------------------------------------------------------------------===//
// Rows of one warp
//===----------------------------------------------------------------------===//

/// Leaves `since` and `until` as they are for the block of 16.
void ComputeRole::dotWithinWarp(SlabRegisters totals, SlabRegisters &since,
                                SlabRegisters &until, PairSums &sums) {
  Value none = b.i32(0);
  auto multiply = [&](PairSums::Four &to, ArrayRef<Value> rows, bool upper,
                      bool lower, ArrayRef<Value> columns, int64_t half) {
    to = PairSums::Four(
        in.multiplyWarp(to,
                        {upper ? rows[0] : none, lower ? rows[1] : none,
                         upper ? rows[2] : none, lower ? rows[3] : none},
                        {columns[half], columns[half + 2]}));
  };
  for (int64_t r = 0; r < kRegisters; ++r) {
    Value &sum = sums.next[r / 2 % 2];
    sum = math::FmaOp::create(b, since[r], in.shuffleAcross(until[r], 4), sum);
  }
  climb(1, totals, &since, &until);
  SmallVector<Value, 4> rows = packSlab(since), columns = packSlab(until);
  multiply(sums.near[1], rows, true, false, columns, 0);
  multiply(sums.near[2], rows, false, true, columns, 1);
  climb(2, totals, &since, &until);
  rows = packSlab(since), columns = packSlab(until);
  multiply(sums.near[0], rows, true, false, columns, 0);
  multiply(sums.near[1], rows, false, true, columns, 1);
  climb(4, totals, &since, &until);
  rows = packSlab(since), columns = packSlab(until);
  multiply(sums.near[0], rows, false, true, columns, 0);
  climb(8, totals, &since, &until);
}

/// The registers of the warp's diagonal block.
SmallVector<Value> ComputeRole::diagonalOf(const PairSums &sums,
                                           bool seesItself) {
  Value zero = b.real(b.getF32Type(), 0.0), row = b.divide(lane, 4);
  // Sums of four lanes, which have a row's channels.
  auto ofRow = [&](Value sum) {
    for (int64_t lanes : {1, 2})
      sum = b.add(sum, in.shuffleAcross(sum, lanes));
    return sum;
  };
  SmallVector<Value> registers(kRegisters, zero);
  for (int64_t p : {0, 1})
    registers[2 + p] = sums.near[0][2 + p]; // rows 8-15, columns 0-7
  for (int64_t i : {0, 1}) {
    Value same = seesItself ? ofRow(sums.same[i]) : zero,
          next = ofRow(sums.next[i]);
    for (int64_t p : {0, 1}) {
      Value four = i ? sums.near[1][2 + p] : sums.near[0][p],
            two = i ? sums.near[2][2 + p] : sums.near[1][p];
      Value column = b.add(b.mul(b.remainder(lane, 4), b.i32(2)), b.i32(p));
      // The highest bit in which they differ is the groups' size.
      Value apart = in.bitXor(row, column);
      Value seen = b.select(b.below(apart, b.i32(4)), two, four);
      seen = b.select(b.below(apart, b.i32(2)), next, seen);
      seen = b.select(b.below(column, row), seen, zero);
      registers[6 * i + p] = b.select(in.equals(apart, 0), same, seen);
    }
  }
  return registers;
}

//===----------------------------------------------------------------------===//
// Rows of different warps
//===----------------------------------------------------------------------===//

/// Of the slab that warps exchange, 16 bytes of a row. The halves of every
/// other four rows are swapped: eight rows lie in different banks. Two slabs
/// take turns, so that one barrier stands between a slab's writes and its
/// reads, and one between these and the next writes to the same place.
Value ComputeRole::exchangeAt(Value row, Value half) {
  Value turn = b.remainder(b.divide(slabColumn, 16), 2);
  Value swapped = in.bitXor(half, b.remainder(b.divide(row, 4), 2));
  Value byte =
      b.add(b.mul(turn, b.i32(kExchangeBytes)),
            b.add(b.mul(row, b.i32(kRowBytes)), b.mul(swapped, b.i32(16))));
  return in.advance(exchange, byte);
}

void ComputeRole::dotWithEarlierWarps(Value decays, const SlabRegisters &since,
                                      const SlabRegisters &until,
                                      PairSums &sums) {
  // Four 8 x 8 matrices, rows first: lane l gives row l % 8 of matrix l / 8.
  Value ownRow = b.remainder(lane, 16), half = b.divide(lane, 16);
  Value first = b.mul(warp, b.i32(16));
  in.storeMatrices(exchangeAt(b.add(first, ownRow), half), packSlab(until),
                   /*transposed=*/false);
  roleBarrier();
  for (int64_t back = 1; back < kWarpsOfGroup; ++back) {
    auto &left = sums.left[back - 1];
    SmallVector<Value> unchanged(left[0].begin(), left[0].end());
    unchanged.append(left[1].begin(), left[1].end());
    SmallVector<Type> types(unchanged.size(), b.getF32Type());
    auto choice = scf::IfOp::create(b, types, b.below(b.i32(back - 1), warp),
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    SlabRegisters rows = since;
    for (int64_t between = 1; between < back; ++between)
      multiplyByTotal(decays, b.sub(warp, b.i32(between)), Value(), rows);
    SmallVector<Value, 4> a = packSlab(rows);
    Value from = b.add(b.sub(first, b.i32(16 * back)), ownRow);
    SmallVector<Value> columns = in.loadMatrices(exchangeAt(from, half), false);
    SmallVector<Value> sum;
    for (int64_t i : {0, 1})
      sum.append(in.multiplyWarp(left[i], a, {columns[i], columns[i + 2]}));
    scf::YieldOp::create(b, sum);
    b.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(b, unchanged);
    ValueRange results = choice.getResults();
    left[0].assign(results.begin(), results.begin() + kSums);
    left[1].assign(results.begin() + kSums, results.end());
  }
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

void ComputeRole::emitDecayedDot(DecayedDotOp op) {
  int64_t rowPlace = op.getRowOrder()[0], columnPlace = op.getColumnOrder()[0],
          decayPlace = op.getDecayOrder()[0];
  Value decays = op.getDecays().front();
  totalsOf(decays);
  for (Value operand : {op.getLhs(), op.getRhs()})
    settleLeaves(operand);
  if (exchange)
    roleBarrier(); // the dot before has read it
  else
    exchange = scratch(2 * kExchangeBytes, 16);
  claimScratch();
  Value zero = b.real(b.getF32Type(), 0.0);
  SmallVector<Value> start(PairSums::kCount, zero);
  bool seesItself = columnPlace < rowPlace;
  SmallVector<Value> carried =
      forEachSlab(op.getChannels(), start, [&](ValueRange arguments) {
        PairSums sums(arguments);
        SlabRegisters since = slabOf(op.getLhs()), until = slabOf(op.getRhs()),
                      own = slabOf(decays);
        for (int64_t r = 0; r < kRegisters; ++r) {
          Value decayed =
              decayPlace < rowPlace ? b.mul(since[r], own[r]) : since[r];
          if (seesItself) {
            Value &sum = sums.same[r / 2 % 2];
            sum = math::FmaOp::create(
                b, decayPlace > columnPlace ? decayed : since[r], until[r],
                sum);
          }
          since[r] = decayed;
          if (decayPlace > columnPlace)
            until[r] = b.mul(until[r], own[r]);
        }
        dotWithinWarp(own, since, until, sums);
        dotWithEarlierWarps(decays, since, until, sums);
        return sums.all();
      });
  PairSums sums(carried);
  SmallVector<Value> diagonal = diagonalOf(sums, seesItself), registers;
  for (int64_t block = 0; block < kWarpsOfGroup; ++block)
    for (int64_t r = 0; r < kRegisters; ++r) {
      Value value = b.select(in.equals(warp, block), diagonal[r], zero);
      for (int64_t other = block + 1; other < kWarpsOfGroup; ++other)
        value =
            b.select(in.equals(warp, other),
                     sums.left[other - block - 1][r / kSums][r % kSums], value);
      registers.push_back(value);
    }
  define(op.getResult(), registers);
}
