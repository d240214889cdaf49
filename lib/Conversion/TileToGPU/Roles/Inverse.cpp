//===- Inverse.cpp - (I + A)^-1 of a unit lower triangular matrix ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// 64 rows as 4 x 4 blocks of 16, one warpgroup:
//  1. warp w writes its row of blocks of A to shared memory, f32;
//  2. inverts the diagonal block by substitution in f32, lane = column;
//  3. warp j makes block column j of the inverse from the top down,
//         T_ij = -T_ii (A_ij T_jj + ... + A_i,i-1 T_i-1,j),
//     transposed and in tf32: the accumulator of one product is, as it lies,
//     the A operand of the next, so that a column needs no other warp.
// The result is rounded to bf16 where it is sent.
//
// As it lies: of a product that contracts 8 elements, lane l gives columns l %
// 4 and l % 4 + 4 of A (and these rows of B), but holds columns 2 (l % 4) and
// the next of an accumulator. It gives these; so does every other operand, and
// a sum does not mind the order of its terms.
//
//===----------------------------------------------------------------------===//

#include "../TileOpKinds.h"
#include "ComputeRole.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

namespace {

constexpr int64_t kBlock = 16, kBlocks = 4;
/// Rows in shared memory are 16 bytes longer than their elements, which spreads
/// them over the banks.
constexpr int64_t kSystemRowBytes = (kBlock * kBlocks + 4) * 4;
constexpr int64_t kSystemBytes = kBlock * kBlocks * kSystemRowBytes;
constexpr int64_t kDiagonalRowBytes = (kBlock + 4) * 4;
constexpr int64_t kDiagonalBytes = kBlock * kDiagonalRowBytes;

/// A 16 x 16 block, as an accumulator: 8 registers.
using Block = SmallVector<Value, 8>;

class Inverter {
public:
  Inverter(ScalarBuilder &b, Instructions &in, Value warp, Value lane,
           Value result)
      : b(b), in(in), warp(warp), lane(lane), result(result) {
    row = b.divide(lane, 4);
    column = b.mul(b.remainder(lane, 4), b.i32(2));
    Value within = b.remainder(lane, 8),
          side = b.remainder(b.divide(lane, 8), 2);
    tileRow = b.add(b.mul(b.divide(lane, 16), b.i32(8)), within);
    permutation = in.bitXor(side, within);
  }

  Value system;    ///< scratch: A
  Value diagonals; ///< scratch: T_ii', one after the other

  void writeSystem(ArrayRef<Value> registers);
  void substitute();
  void writeDiagonal();
  void zeroAbove();
  void makeColumn(int64_t j);

private:
  Block readBlock(Value at, int64_t rowBytes);
  Block readSystem(int64_t i, int64_t k);
  Block readDiagonal(Value i);
  Block readDiagonalAsRight(int64_t i);
  Block multiply(const Block &a, const Block &c);
  void writeResult(const Block &block, Value i, Value j);

  ScalarBuilder &b;
  Instructions &in;
  Value warp, lane, result;
  Value row, column;          ///< of an accumulator's first register
  Value tileRow, permutation; ///< of the matrices of stmatrix
};

/// An accumulator's pairs of columns, for `row` and `column` from `at` on.
Block Inverter::readBlock(Value at, int64_t rowBytes) {
  auto pair = VectorType::get({2}, b.getF32Type());
  Value first = in.advance(
      at, b.add(b.mul(row, b.i32(rowBytes)), b.mul(column, b.i32(4))));
  Block block;
  for (int64_t r = 0; r < 8; r += 2) {
    Accumulator shape{kBlock};
    Value two = in.load(
        pair,
        in.advance(first, shape.rowOf(r) * rowBytes + shape.columnOf(r) * 4),
        8);
    for (int64_t e : {0, 1})
      block.push_back(LLVM::ExtractElementOp::create(b, two, b.i32(e)));
  }
  return block;
}

void Inverter::writeSystem(ArrayRef<Value> registers) {
  Value mine = b.add(b.mul(warp, b.i32(kBlock)), row);
  Value first = in.advance(system, b.add(b.mul(mine, b.i32(kSystemRowBytes)),
                                         b.mul(column, b.i32(4))));
  auto pair = VectorType::get({2}, b.getF32Type());
  Accumulator shape{kBlock * kBlocks};
  for (int64_t r = 0; r < shape.registers(); r += 2) {
    Value two = LLVM::UndefOp::create(b, pair);
    for (int64_t e : {0, 1})
      two = LLVM::InsertElementOp::create(b, two, registers[r + e], b.i32(e));
    in.store(two,
             in.advance(first, shape.rowOf(r) * kSystemRowBytes +
                                   shape.columnOf(r) * 4),
             8);
  }
}

/// Column lane % 16 of the inverse of this warp's diagonal block, written as a
/// row of the transposed one.
void Inverter::substitute() {
  Value mine = in.advance(
      system, b.mul(warp, b.i32(kBlock * kSystemRowBytes + kBlock * 4)));
  Value which = b.remainder(lane, kBlock);
  Type f32 = b.getF32Type();
  auto quad = VectorType::get({4}, f32);
  SmallVector<Value> x;
  for (int64_t i = 0; i < kBlock; ++i) {
    Value sum =
        b.select(in.equals(which, i), b.real(f32, 1.0), b.real(f32, 0.0));
    for (int64_t j = 0; j < i; j += 4) {
      Value four =
          in.load(quad, in.advance(mine, i * kSystemRowBytes + j * 4), 16);
      for (int64_t e = 0; e < 4 && j + e < i; ++e) {
        Value a = LLVM::ExtractElementOp::create(b, four, b.i32(e));
        Value minus = arith::NegFOp::create(b, a);
        sum = LLVM::FMAOp::create(b, minus, x[j + e], sum);
      }
    }
    x.push_back(sum);
  }
  // Both halves of the warp have the same: each writes one half of it.
  Value isUpper = in.equals(b.divide(lane, kBlock), 1);
  Value at = in.advance(diagonals,
                        b.add(b.mul(warp, b.i32(kDiagonalBytes)),
                              b.add(b.mul(which, b.i32(kDiagonalRowBytes)),
                                    b.mul(b.divide(lane, kBlock), b.i32(32)))));
  for (int64_t i = 0; i < 8; i += 4) {
    Value four = LLVM::UndefOp::create(b, quad);
    for (int64_t e = 0; e < 4; ++e)
      four = LLVM::InsertElementOp::create(
          b, four, b.select(isUpper, x[i + e + 8], x[i + e]), b.i32(e));
    in.store(four, in.advance(at, i * 4), 16);
  }
}

/// T_ii' as it was written.
Block Inverter::readDiagonal(Value i) {
  return readBlock(in.advance(diagonals, b.mul(i, b.i32(kDiagonalBytes))),
                   kDiagonalRowBytes);
}

/// T_ii' as the right operand: for the pairs of rows that others have as
/// columns.
Block Inverter::readDiagonalAsRight(int64_t i) {
  Value first = in.advance(
      in.advance(diagonals, i * kDiagonalBytes),
      b.add(b.mul(column, b.i32(kDiagonalRowBytes)), b.mul(row, b.i32(4))));
  Block block;
  for (int64_t r = 0; r < 8; ++r) {
    Accumulator shape{kBlock};
    block.push_back(
        in.load(b.getF32Type(),
                in.advance(first, shape.columnOf(r) * kDiagonalRowBytes +
                                      shape.rowOf(r) * 4),
                4));
  }
  return block;
}

/// A_ik' as the right operand: A_ik as an accumulator.
Block Inverter::readSystem(int64_t i, int64_t k) {
  return readBlock(
      in.advance(system, i * kBlock * kSystemRowBytes + k * kBlock * 4),
      kSystemRowBytes);
}

/// A C for C given by its transpose's accumulator registers: of these, 0 1 are
/// for columns 0-7 of the transpose and its rows 0-7, 2 3 for rows 8-15; 4-7
/// likewise for columns 8-15. Two products of 8 contracted elements each have
/// sums of their own: the time of a product is what the inverse waits for.
Block Inverter::multiply(const Block &a, const Block &c) {
  Block result;
  Value zero = b.real(b.getF32Type(), 0.0);
  SmallVector<Value> zeros(4, zero);
  for (int64_t half : {0, 1}) {
    SmallVector<Value> sums[2];
    for (int64_t step : {0, 1})
      // Rows and columns of A: (0, 0), (8, 0), (0, 1), (8, 1).
      sums[step] = in.multiplyWarpTf32(
          zeros,
          {a[4 * step], a[4 * step + 2], a[4 * step + 1], a[4 * step + 3]},
          {c[4 * step + 2 * half], c[4 * step + 2 * half + 1]});
    for (int64_t r = 0; r < 4; ++r)
      result.push_back(b.add(sums[0][r], sums[1][r]));
  }
  return result;
}

/// Rounds a transposed block to where it belongs.
void Inverter::writeResult(const Block &block, Value i, Value j) {
  SmallVector<Value> pairs;
  for (int64_t r = 0; r < 8; r += 2)
    pairs.push_back(in.packPair(block[r], block[r + 1]));
  Value piece = in.bitXor(permutation, b.mul(j, b.i32(2)));
  Value tile = b.add(b.mul(i, b.i32(kBlock)), tileRow);
  in.storeMatrices(in.advance(result, b.add(b.mul(tile, b.i32(kSlabRowBytes)),
                                            b.mul(piece, b.i32(16)))),
                   pairs, /*transposed=*/true);
}

void Inverter::writeDiagonal() { writeResult(readDiagonal(warp), warp, warp); }

/// The blocks above the diagonal of this warp's block column.
void Inverter::zeroAbove() {
  auto quad = VectorType::get({4}, b.getI32Type());
  Value zero = LLVM::ZeroOp::create(b, quad);
  Value own = b.divide(lane, 2);
  Value piece = b.add(b.mul(warp, b.i32(2)), b.remainder(lane, 2));
  Value byte = b.add(b.mul(own, b.i32(kSlabRowBytes)),
                     b.mul(in.bitXor(piece, b.remainder(own, 8)), b.i32(16)));
  for (int64_t i = 0; i + 1 < kBlocks; ++i) {
    auto above = scf::IfOp::create(b, b.below(b.i32(i), warp));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(above.thenBlock());
    in.store(zero,
             in.advance(in.advance(result, i * kBlock * kSlabRowBytes), byte),
             16);
  }
}

/// What block (k, j) contributes to those below it is added to their sums at
/// once: the sum for block i is complete but for one term when T_i-1,j is
/// known.
void Inverter::makeColumn(int64_t j) {
  Block above = readDiagonal(b.i32(j));
  SmallVector<Block> sums(kBlocks);
  for (int64_t k = j; k + 1 < kBlocks; ++k) {
    for (int64_t i = k + 1; i < kBlocks; ++i) {
      Block term = multiply(above, readSystem(i, k));
      if (sums[i].empty()) {
        sums[i] = term;
        continue;
      }
      for (auto [sum, more] : llvm::zip_equal(sums[i], term))
        sum = b.add(sum, more);
    }
    int64_t i = k + 1;
    above = multiply(sums[i], readDiagonalAsRight(i));
    for (Value &value : above)
      value = arith::NegFOp::create(b, value);
    writeResult(above, b.i32(i), b.i32(j));
  }
}

} // namespace

void ComputeRole::emitInvert(InvertOp op) {
  settleLeaves(op.getMatrix());
  Destination to = destinationOf(op.getResult());
  Value channel = to.send.getChannel();
  ports.acquire(channel);
  Matrix inverse;
  inverse.kind = Matrix::Kind::Shared;
  inverse.memory = ports.part(channel, to.part);
  inverse.layout = {kRowsOfGroup, kRowsOfGroup};

  Inverter inverter(b, in, warp, lane, inverse.memory);
  inverter.system = scratch(kSystemBytes, 16);
  inverter.diagonals = scratch(kBlocks * kDiagonalBytes, 16);
  SmallVector<Value> registers;
  for (int64_t r = 0, e = shapeOf(op.getMatrix()).registers(); r < e; ++r)
    registers.push_back(registerOf(op.getMatrix(), r));
  inverter.writeSystem(registers);
  in.syncWarp();
  inverter.substitute();
  inverter.zeroAbove();
  in.syncWarp();
  inverter.writeDiagonal();
  roleBarrier();
  for (int64_t j = 0; j + 1 < kBlocks; ++j) {
    auto mine = scf::IfOp::create(b, in.equals(warp, j));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(mine.thenBlock());
    inverter.makeColumn(j);
  }
  matrices[op.getResult()] = inverse;
}
