//===- DecayLadder.cpp - Pairs of rows that decay strongly ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// THE LADDER. Rows of a block of 16 in groups of h = 1, 2, 4, 8: of each group
// a lane holds the product of all its rows (total), the product of the rows
// before its own (since), and of those after its own (until). A pair of groups
// becomes one of twice the size by one exchange: the upper group's rows have
// the lower one's total before them, the lower group's rows the upper one's
// behind them.
//
//     since *= upper ? other : 1    until *= upper ? 1 : other
//     total *= other
//
// Rows of a warp lie in eight groups of four lanes, and in two registers: three
// steps by shuffles and one without. At each rung rows of an upper group see
// columns of the lower one beside it:
//
//   a token itself      products in f32
//   groups of 1         the neighbour's, by a shuffle, in f32
//   groups of 2, 4, 8   mma.sync on rounded pairs: accumulators as they lie are
//                       the A operand, and, transposed, the B operand
//
// A group of four accumulators has 16 x 8 elements, of which a rung uses the
// upper or the lower 8: rungs that use different halves share them, the others'
// rows being zero.
//
//===----------------------------------------------------------------------===//

#include "../TileOpKinds.h"
#include "DecayedDots.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// From groups of `size` rows to groups of twice as many.
void ComputeRole::climb(int64_t size, SlabRegisters &totals,
                        SlabRegisters &since, SlabRegisters &until) {
  constexpr int64_t kLanesOfRow = 4;
  Value one = b.real(b.getF32Type(), 1.0);
  Value isUpper =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                            in.bitAnd(lane, size * kLanesOfRow), b.i32(0));
  for (int64_t r = 0; r < kRegistersOfSlab; ++r) {
    Value other = in.shuffleAcross(totals[r], size * kLanesOfRow);
    since[r] = b.mul(since[r], b.select(isUpper, other, one));
    until[r] = b.mul(until[r], b.select(isUpper, one, other));
    totals[r] = b.mul(totals[r], other);
  }
}

/// Adds a slab's pairs of different rows, of factors as they are for groups of
/// one.
void ComputeRole::climbLadder(SlabRegisters totals, SlabRegisters since,
                              SlabRegisters until, PairSums &sums) {
  Value none = b.i32(0);
  auto multiply = [&](PairSums::Four &to, ArrayRef<Value> rows, bool upper,
                      bool lower, ArrayRef<Value> columns, int64_t half) {
    to = PairSums::Four(
        in.multiplyWarp(to,
                        {upper ? rows[0] : none, lower ? rows[1] : none,
                         upper ? rows[2] : none, lower ? rows[3] : none},
                        {columns[half], columns[half + 2]}));
  };
  for (int64_t r = 0; r < kRegistersOfSlab; ++r) {
    Value &sum = sums.next[r / 2 % 2];
    sum = math::FmaOp::create(b, since[r], in.shuffleAcross(until[r], 4), sum);
  }
  climb(1, totals, since, until);
  SmallVector<Value, 4> rows = packSlab(since), columns = packSlab(until);
  multiply(sums.near[1], rows, true, false, columns, 0);
  multiply(sums.near[2], rows, false, true, columns, 1);
  climb(2, totals, since, until);
  rows = packSlab(since), columns = packSlab(until);
  multiply(sums.near[0], rows, true, false, columns, 0);
  multiply(sums.near[1], rows, false, true, columns, 1);
  climb(4, totals, since, until);
  rows = packSlab(since), columns = packSlab(until);
  multiply(sums.near[0], rows, false, true, columns, 0);
}

/// The sums of a block, where they belong in its registers.
SmallVector<Value> ComputeRole::sumsOfLadder(const PairSums &sums,
                                             bool seesItself) {
  Value zero = b.real(b.getF32Type(), 0.0), row = b.divide(lane, 4);
  // Sums of four lanes, which have a row's channels.
  auto ofRow = [&](Value sum) {
    for (int64_t lanes : {1, 2})
      sum = b.add(sum, in.shuffleAcross(sum, lanes));
    return sum;
  };
  SmallVector<Value> registers(kRegistersOfSlab, zero);
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
