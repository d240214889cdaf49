//===- Powers.cpp - Operands in f16, each with a power of two -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// f16 ends at 65504 and loses digits below 2^-14; states, scores and inverses
// keep to no such range. What is computed is therefore divided by a power of
// two, which is exact, before it is rounded to an operand, and the product is
// multiplied by it:
//
//  * In the chain, where a row of an accumulator is a value column, each row
//    has a power of its own, by the largest of its elements. It does not meet
//    other rows in a product whose A operand it is.
//  * In the preparation each warp's 16 rows have one. They become columns of
//    the chain's products; the message carries four f32 for each 64 rows.
//  * An inverse is written by several warps, column by column, and has a
//    constant power. Its diagonal is 1, its other elements are what the
//    recurrence makes of a unit within a chunk.
//
// What a product is added to is divided by its powers first. Inputs are f16 as
// they come, and bf16 has the range of f32: neither has powers.
//
//===----------------------------------------------------------------------===//

#include "../TileOpKinds.h"
#include "ComputeRole.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// Of an f32: bits of the mantissa, what is added to the exponent.
static constexpr int64_t kMantissa = 23, kBias = 127;
/// Exponent to which the largest element is brought: f16 ends below 2^16.
static constexpr int64_t kLargest = 14;
/// Nothing is multiplied by more than 2^(kLargest - kSmallest): what a product
/// starts with is multiplied by as much and must not overflow.
static constexpr int64_t kSmallest = -24;
/// The columns of a product that share a power.
static constexpr int64_t kRowsOfWarp = 16;

/// The power of two by which values of a largest magnitude are divided.
Value ComputeRole::powerFor(Value largest) {
  Value bits = arith::BitcastOp::create(b, b.getI32Type(), largest);
  bits = in.bitAnd(bits, int64_t(255) << kMantissa);
  bits =
      arith::MaxUIOp::create(b, bits, b.i32((kBias + kSmallest) << kMantissa));
  bits = b.sub(bits, b.i32(kLargest << kMantissa));
  return arith::BitcastOp::create(b, b.getF32Type(), bits);
}

Value ComputeRole::reciprocal(Value power) {
  Value bits = arith::BitcastOp::create(b, b.getI32Type(), power);
  return arith::BitcastOp::create(b, b.getF32Type(),
                                  b.sub(b.i32(2 * kBias << kMantissa), bits));
}

/// Over the registers and the lanes whose numbers differ by some of `lanes`.
/// Null registers are zero.
Value ComputeRole::largestOf(ArrayRef<Value> registers,
                             ArrayRef<int64_t> lanes) {
  Value largest;
  for (Value value : registers) {
    if (!value)
      continue;
    Value magnitude = math::AbsFOp::create(b, value);
    largest =
        largest ? arith::MaxNumFOp::create(b, largest, magnitude) : magnitude;
  }
  if (!largest)
    return b.real(b.getF32Type(), 0.0);
  for (int64_t lane : lanes)
    largest =
        arith::MaxNumFOp::create(b, largest, in.shuffleAcross(largest, lane));
  return largest;
}

/// Which of a packed matrix's powers a register has.
int64_t ComputeRole::powerNumberOf(const Matrix &packed, int64_t r) const {
  return chain ? packed.shape.rowOf(r) / 8 % 2
               : r / packed.shape.registersOfBlock();
}

/// Rounds registers to operands, by powers that suit them.
void ComputeRole::packDivided(ArrayRef<Value> registers, Matrix &packed) {
  // A lane's rows are those of the lanes beside it in its group of four; the
  // warp's, those of all.
  SmallVector<int64_t> lanes = {1, 2};
  if (!chain)
    lanes.append({4, 8, 16});
  packed.powers.clear();
  SmallVector<Value> divisors;
  for (int64_t i = 0, e = chain ? 2 : packed.shape.blocks; i < e; ++i) {
    SmallVector<Value> mine;
    for (auto [r, value] : llvm::enumerate(registers))
      if (powerNumberOf(packed, r) == i)
        mine.push_back(value);
    packed.powers.push_back(powerFor(largestOf(mine, lanes)));
    divisors.push_back(reciprocal(packed.powers.back()));
  }
  Value zero = b.real(b.getF32Type(), 0.0);
  for (size_t r = 0; r < registers.size(); r += 2) {
    Value by = divisors[powerNumberOf(packed, r)];
    auto divided = [&](Value value) { return value ? b.mul(value, by) : zero; };
    packed.registers.push_back(
        registers[r] || registers[r + 1]
            ? in.packPair(divided(registers[r]), divided(registers[r + 1]))
            : b.i32(0));
  }
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// A warp's powers of a matrix: those of its rows of each 64.
void ComputeRole::writePowers(ValueRange powers, Value to) {
  if (!to)
    return;
  auto first = scf::IfOp::create(b, in.equals(lane, 0));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(first.thenBlock());
  Value mine = in.advance(to, b.mul(warp, b.i32(4)));
  for (auto [block, power] : llvm::enumerate(powers))
    in.store(power, in.advance(mine, int64_t(block) * 4 * kWarpsOfGroup), 4);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Notes what the result of a product is to be multiplied by.
void ComputeRole::takePowers(const Matrix &left, const Matrix &right,
                             Matrix &product) {
  if (!chain)
    return; // products of what was loaded
  product.rowPowers = right.powers;
  if (!left.powersInMemory)
    return;
  auto quad = VectorType::get({4}, b.getF32Type());
  for (int64_t i = 0; i < product.shape.columns / kRowsOfWarp; ++i) {
    Value four;
    if (i % 4 == 0)
      four = in.load(quad, in.advance(left.powersInMemory, i * 4), 16);
    else
      four = product.columnPowers[i - 1]
                 .getDefiningOp<LLVM::ExtractElementOp>()
                 .getVector();
    product.columnPowers.push_back(
        LLVM::ExtractElementOp::create(b, four, b.i32(i % 4)));
  }
}

/// A register's power. `made` has those of registers before it.
Value ComputeRole::powerOf(const Matrix &product, int64_t r,
                           SmallVectorImpl<Value> &made) {
  int64_t row = product.shape.rowOf(r) / 8 % 2,
          column = product.shape.columnOf(r) / kRowsOfWarp;
  if (product.columnPowers.empty())
    return product.rowPowers[row];
  if (product.rowPowers.empty())
    return product.columnPowers[column];
  made.resize(2 * product.columnPowers.size());
  Value &power = made[2 * column + row];
  if (!power)
    power = b.mul(product.rowPowers[row], product.columnPowers[column]);
  return power;
}

/// What a product left in its registers, times its powers; or what it is to
/// start with there, divided by them.
SmallVector<Value> ComputeRole::scaled(const Matrix &product,
                                       ArrayRef<Value> registers,
                                       bool divides) {
  SmallVector<Value> result(registers);
  if (product.rowPowers.empty() && product.columnPowers.empty())
    return result;
  SmallVector<Value> made;
  llvm::SmallDenseMap<Value, Value> reciprocals;
  for (auto [r, value] : llvm::enumerate(result)) {
    Value power = powerOf(product, r, made);
    if (divides) {
      Value &by = reciprocals[power];
      if (!by)
        by = reciprocal(power);
      power = by;
    }
    value = b.mul(value, power);
  }
  return result;
}
