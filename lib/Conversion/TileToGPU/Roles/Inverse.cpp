//===- Inverse.cpp - (I + A)^-1 of a unit lower triangular matrix ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// 64 rows as 4 x 4 blocks of 16, one warpgroup:
//  1. warp w writes its row of blocks of -A to shared memory, f32;
//  2. inverts the two 8 x 8 blocks on the diagonal of its diagonal block by
//     substitution in f32, lane = column, and merges them by products;
//  3. warp j makes block column j of the inverse from the top down,
//         T_ij = -T_ii (A_ij T_jj + ... + A_i,i-1 T_i-1,j),
//     transposed and in tf32: the accumulator of one product is, as it lies,
//     the A operand of the next, so that a column needs no other warp.
// The result is rounded to 16 bits where it is sent.
//
// The first step stands where the op does, the others where the inverse is
// sent: what stands between them hides how long the writes take.
//
// As it lies: of a product that contracts 8 elements, lane l gives columns l %
// 4 and l % 4 + 4 of A (and these rows of B), but holds columns 2 (l % 4) and
// the next of an accumulator. It gives these; so does every other operand, and
// a sum does not mind the order of its terms.
//
//===----------------------------------------------------------------------===//

#include "Inverse.h"
#include "../TileOpKinds.h"
#include "ComputeRole.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

Inverter::Inverter(ScalarBuilder &b, Instructions &in, Value warp, Value lane,
                   Value system)
    : b(b), in(in), warp(warp), lane(lane), system(system) {
  row = b.divide(lane, 4);
  column = b.mul(b.remainder(lane, 4), b.i32(2));
  turned = b.mul(b.remainder(b.divide(row, 2), 2), b.i32(kHalfRowBytes));
}

//===----------------------------------------------------------------------===//
// Blocks in shared memory
//===----------------------------------------------------------------------===//

/// Block (i, k), i >= k.
Value Inverter::blockAt(int64_t i, int64_t k) {
  return in.advance(system, (i * (i + 1) / 2 + k) * kBlockBytes);
}

/// This warp's diagonal block.
Value Inverter::ownBlock() {
  Value above = b.mul(warp, b.add(warp, b.i32(3))); // twice the blocks before
  return in.advance(system, b.mul(above, b.i32(kBlockBytes / 2)));
}

/// Where in a block a lane's pair of columns begins, for rows 8 `i` and columns
/// 8 `j` further than `row` and `column`.
Value Inverter::pairIn(Value block, int64_t i, int64_t j) {
  Value half = j ? in.bitXor(turned, b.i32(kHalfRowBytes)) : turned;
  Value byte =
      b.add(b.add(b.mul(row, b.i32(kRowBytes)), half), b.mul(column, b.i32(4)));
  return in.advance(in.advance(block, byte), i * 8 * kRowBytes);
}

std::array<Value, 2> Inverter::readPair(Value block, int64_t i, int64_t j) {
  auto [low, high] = in.loadPair(pairIn(block, i, j));
  return {low, high};
}

void Inverter::writePair(Value low, Value high, Value block, int64_t i,
                         int64_t j) {
  in.storePair(low, high, pairIn(block, i, j));
}

/// Where a lane's pair of rows begins, for the same of the transposed block: of
/// rows `column` and the next, column `row`. The next row's is kRowBytes
/// further: rows turn in pairs.
Value Inverter::transposedPairIn(Value block, int64_t i, int64_t j) {
  Value turns = b.remainder(lane, 2); // (column / 2) % 2
  if (j)
    turns = in.bitXor(turns, b.i32(1));
  Value byte = b.add(b.add(b.mul(column, b.i32(kRowBytes)),
                           b.mul(turns, b.i32(kHalfRowBytes))),
                     b.mul(row, b.i32(4)));
  return in.advance(in.advance(block, byte), i * 8 * kRowBytes);
}

std::array<Value, 2> Inverter::readTransposedPair(Value block, int64_t i,
                                                  int64_t j) {
  Value at = transposedPairIn(block, i, j);
  return {in.load(b.getF32Type(), at, 4),
          in.load(b.getF32Type(), in.advance(at, kRowBytes), 4)};
}

//===----------------------------------------------------------------------===//
// The system
//===----------------------------------------------------------------------===//

void Inverter::writeSystem(int64_t i, int64_t k, ArrayRef<Value> registers) {
  for (int64_t r = 0; r < 8; r += 2)
    writePair(registers[r], registers[r + 1], blockAt(i, k), r / 2 % 2, r / 4);
}

//===----------------------------------------------------------------------===//
// The diagonal
//===----------------------------------------------------------------------===//

/// Inverts blocks h = 0, 1 of 8 on the diagonal: lane 8 h + c has column c of
/// block h, as have those 16 lanes further.
void Inverter::substitute() {
  constexpr int64_t kHalf = kBlock / 2;
  Value block = ownBlock();
  Value half = b.remainder(b.divide(lane, kHalf), 2),
        which = b.remainder(lane, kHalf);
  // A row's own half, where its rows are turned and where they are not.
  Value first = in.advance(block, b.mul(half, b.i32(kHalf * kRowBytes)));
  Value places[] = {in.advance(first, b.mul(half, b.i32(kHalfRowBytes))),
                    in.advance(first, b.mul(in.bitXor(half, b.i32(1)),
                                            b.i32(kHalfRowBytes)))};
  auto rowAt = [&](int64_t i) {
    return in.advance(places[i / 2 % 2], i * kRowBytes);
  };
  Type f32 = b.getF32Type();
  auto quad = VectorType::get({4}, f32);
  SmallVector<Value> x;
  for (int64_t i = 0; i < kHalf; ++i) {
    Value sum =
        b.select(in.equals(which, i), b.real(f32, 1.0), b.real(f32, 0.0));
    for (int64_t j = 0; j < i; j += 4) {
      Value four = in.load(quad, in.advance(rowAt(i), j * 4), 16);
      for (int64_t e = 0; e < 4 && j + e < i; ++e)
        sum = LLVM::FMAOp::create(
            b, LLVM::ExtractElementOp::create(b, four, b.i32(e)), x[j + e],
            sum);
    }
    x.push_back(sum);
  }
  in.syncWarp(); // read before it is written
  // Both halves of the warp have the same: one writes even rows, one odd ones.
  Value isOdd = in.equals(b.divide(lane, 16), 1);
  Value byte = b.add(b.mul(b.divide(lane, 16), b.i32(kRowBytes)),
                     b.mul(which, b.i32(4)));
  for (int64_t i = 0; i < kHalf; i += 2)
    in.store(b.select(isOdd, x[i + 1], x[i]), in.advance(rowAt(i), byte), 4);
}

/// The inverse of the diagonal block from those of its halves, transposed and
/// left as an accumulator; what is not zero of it replaces the block.
Inverter::Block Inverter::mergeHalves() {
  Value block = ownBlock();
  Value zero = b.real(b.getF32Type(), 0.0);
  SmallVector<Value> zeros(4, zero);
  auto upper = readTransposedPair(block, 0, 0),
       lower = readTransposedPair(block, 1, 1);
  auto between = readPair(block, 1, 0), right = readPair(block, 1, 1);
  in.syncWarp(); // read before it is written
  // U' (-A)' L', of 8 rows.
  SmallVector<Value> product =
      in.multiplyWarpTf32(zeros, {upper[0], zero, upper[1], zero}, between);
  product =
      in.multiplyWarpTf32(zeros, {product[0], zero, product[1], zero}, right);
  Value at = transposedPairIn(block, 1, 0);
  in.store(product[0], at, 4);
  in.store(product[1], in.advance(at, kRowBytes), 4);
  return {upper[0],   upper[1],   zero,     zero,
          product[0], product[1], lower[0], lower[1]};
}

//===----------------------------------------------------------------------===//
// Products of blocks
//===----------------------------------------------------------------------===//

/// sum + A C for C given by its transpose's accumulator registers: of these, 0
/// 1 are for columns 0-7 of the transpose and its rows 0-7, 2 3 for rows 8-15;
/// 4-7 likewise for columns 8-15. C may be upper triangular. The two products
/// of 8 contracted elements each have sums of their own: the time of a product
/// is what the inverse waits for.
Inverter::Block Inverter::multiply(const Block &sum, const Block &a,
                                   const Block &c, bool upperTriangular) {
  Block result;
  Value zero = b.real(b.getF32Type(), 0.0);
  SmallVector<Value> zeros(4, zero);
  for (int64_t half : {0, 1}) {
    auto contract = [&](ValueRange start, int64_t step) {
      // Rows and columns of A: (0, 0), (8, 0), (0, 1), (8, 1).
      return in.multiplyWarpTf32(
          start,
          {a[4 * step], a[4 * step + 2], a[4 * step + 1], a[4 * step + 3]},
          {c[4 * step + 2 * half], c[4 * step + 2 * half + 1]});
    };
    SmallVector<Value> first =
        contract(sum.empty() ? ValueRange(zeros)
                             : ValueRange(ArrayRef(sum).slice(4 * half, 4)),
                 0);
    if (upperTriangular && half == 0) {
      result.append(first);
      continue;
    }
    for (auto [one, other] : llvm::zip_equal(first, contract(zeros, 1)))
      result.push_back(b.add(one, other));
  }
  return result;
}

/// A C, each after the other: fewer instructions, where nobody waits.
Inverter::Block Inverter::accumulate(const Block &sum, const Block &a,
                                     const Block &c) {
  Block result;
  Value zero = b.real(b.getF32Type(), 0.0);
  for (int64_t half : {0, 1}) {
    SmallVector<Value> total(4, zero);
    if (!sum.empty())
      total.assign(sum.begin() + 4 * half, sum.begin() + 4 * half + 4);
    for (int64_t step : {0, 1})
      total = in.multiplyWarpTf32(
          total,
          {a[4 * step], a[4 * step + 2], a[4 * step + 1], a[4 * step + 3]},
          {c[4 * step + 2 * half], c[4 * step + 2 * half + 1]});
    result.append(total);
  }
  return result;
}

/// An accumulator of block (i, k): the right operand for its transpose.
Inverter::Block Inverter::readBlock(int64_t i, int64_t k) {
  Block block;
  for (int64_t j : {0, 1})
    for (int64_t half : {0, 1}) {
      // Above the diagonal nothing was written.
      if (i == k && j > half) {
        block.append(2, Value());
        continue;
      }
      block.append(llvm::to_vector(readPair(blockAt(i, k), half, j)));
    }
  return block;
}

//===----------------------------------------------------------------------===//
// The result
//===----------------------------------------------------------------------===//

/// Rounds a transposed block to where it belongs.
void Inverter::writeResult(const Block &block, Value result, Value i, Value j) {
  SmallVector<Value> pairs;
  auto scaled = [&](Value value) {
    return resultScale == 1.0
               ? value
               : b.mul(value, b.real(b.getF32Type(), resultScale));
  };
  for (int64_t r = 0; r < 8; r += 2)
    pairs.push_back(in.packPair(scaled(block[r]), scaled(block[r + 1])));
  Value within = b.remainder(lane, 8), side = b.remainder(b.divide(lane, 8), 2);
  Value tileRow = b.add(b.mul(b.divide(lane, 16), b.i32(8)), within);
  Value piece = in.bitXor(in.bitXor(side, within), b.mul(j, b.i32(2)));
  Value tile = b.add(b.mul(i, b.i32(kBlock)), tileRow);
  in.storeMatrices(in.advance(result, b.add(b.mul(tile, b.i32(kSlabRowBytes)),
                                            b.mul(piece, b.i32(16)))),
                   pairs, /*transposed=*/true);
}

/// The blocks above the diagonal of this warp's block column.
void Inverter::zeroAbove(Value result) {
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
void Inverter::makeColumn(int64_t j, const Block &diagonal, Value result) {
  Block above = diagonal;
  SmallVector<Block> sums(kBlocks);
  for (int64_t k = j; k + 1 < kBlocks; ++k) {
    int64_t next = k + 1;
    Block sum = multiply(sums[next], above, readBlock(next, k), false);
    for (int64_t i = next + 1; i < kBlocks; ++i)
      sums[i] = accumulate(sums[i], above, readBlock(i, k));
    above = multiply({}, sum, readBlock(next, next), true);
    writeResult(above, result, b.i32(next), b.i32(j));
  }
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

/// Of an inverse in f16: its elements may be 2^9 times as large as f16 holds,
/// and err by 2^-16 at most where they are small, beside a diagonal of 1.
static constexpr double kPowerOfInverse = 512.0;

ScaleColumnsOp prism::tiletogpu::scaleOf(InvertOp invert) {
  if (!invert.getResult().hasOneUse())
    return {};
  return dyn_cast<ScaleColumnsOp>(*invert.getResult().user_begin());
}

void ComputeRole::emitInvert(InvertOp op) {
  settleLeaves(op.getMatrix());
  Value system = scratch(Inverter::kSystemBytes, 16);
  Inverter inverter(b, in, warp, lane, system);
  claimScratch();
  // Block by block: each gives back the registers of what it was made of.
  forEachWarp([&](int64_t i) {
    for (int64_t k = 0; k <= i; ++k) {
      SmallVector<Value> registers;
      for (int64_t r = 8 * k; r < 8 * (k + 1); ++r)
        registers.push_back(
            arith::NegFOp::create(b, registerOf(op.getMatrix(), r)));
      inverter.writeSystem(i, k, registers);
    }
  });
  inversions.push_back({op, system, {}});
  // Made in place, where it is sent.
  Matrix &inverse = matrices[op.getResult()];
  inverse = {};
  inverse.kind = Matrix::Kind::Shared;
}

/// An inverse's columns, scaled: the factors are read while there are some, and
/// wait for it.
bool ComputeRole::emitScaleOfInverse(Operation *op) {
  auto scale = dyn_cast<ScaleColumnsOp>(op);
  auto inversion = llvm::find_if(inversions, [&](const Inversion &begun) {
    return scale && InvertOp(begun.op).getResult() == scale.getInput();
  });
  if (inversion == inversions.end())
    return false;
  copyLeaves(scale.getScale());
  Value first = firstRow(); // as a column of the transposed block
  for (int64_t rows : {0, 8})
    inversion->scales.push_back(
        elementAt(scale.getScale(), b.add(first, b.i32(rows))).value);
  Matrix inverse = matrixOf(scale.getInput());
  matrices[scale.getResult()] = inverse;
  return true;
}

/// Makes the inverses that a message holds.
void ComputeRole::finishInversions(SendOp send) {
  for (auto &[op, system, scales] : inversions) {
    ScaleColumnsOp scale = scaleOf(op);
    Destination to = destinationOf(scale ? scale.getResult() : op.getResult());
    if (to.send != send)
      continue;
    Value result = ports.part(send.getChannel(), to.part);
    Inverter inverter(b, in, warp, lane, system);
    if (Value powers = ports.powersOf(send.getChannel(), to.part)) {
      inverter.resultScale = 1.0 / kPowerOfInverse;
      writePowers(b.real(b.getF32Type(), kPowerOfInverse), powers);
    }
    in.syncWarp();
    inverter.substitute();
    in.syncWarp();
    Inverter::Block diagonal = inverter.mergeHalves();
    // A column of the inverse is a multiple of its diagonal block's.
    if (scale)
      for (auto [r, value] : llvm::enumerate(diagonal))
        if (!matchPattern(value, m_AnyZeroFloat()))
          diagonal[r] = b.mul(value, scales[r / 2 % 2]);
    inverter.zeroAbove(result);
    inverter.writeResult(diagonal, result, warp, warp);
    roleBarrier();
    for (int64_t j = 0; j + 1 < Inverter::kBlocks; ++j) {
      auto mine = scf::IfOp::create(b, in.equals(warp, j));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(mine.thenBlock());
      inverter.makeColumn(j, diagonal, result);
    }
  }
}
