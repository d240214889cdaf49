//===- RowSums.cpp - Sums along rows: norms of keys and queries -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Squares of what was received are summed as the diagonal of its product with
// itself, of which each warp makes the two blocks of 8 x 8 that its 16 rows
// have there: 16 columns are one load of four matrices and two products, where
// element by element they would be 8 conversions and 8 multiply-adds. Other
// tiles are summed by slabs (KeyDecays.cpp).
//
// What a sum alone is made into (the root of a norm) is made of it where it
// lies in registers, and written in its place; and warps meet once for all sums
// that can be made.
//
//===----------------------------------------------------------------------===//

#include "../TileOpKinds.h"
#include "ComputeRole.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// To where every thread can read them.
void ComputeRole::emitRowSums(SumColumnsOp first) {
  claimScratch();
  Value laneBefore = lane;
  lane = in.opaque(lane); // its addresses are not kept for later tiles
  for (Operation &op :
       llvm::make_range(first->getIterator(), first->getBlock()->end()))
    if (auto sum = dyn_cast<SumColumnsOp>(op);
        sum && isWithinReach(sum.getInput()))
      emitRowSum(sum);
  lane = laneBefore;
  roleBarrier();
}

void ComputeRole::emitRowSum(SumColumnsOp op) {
  int64_t rows = tensorType(op.getResult()).getDimSize(0);
  Value block = rows == kRowsOfGroup ? warp : b.remainder(warp, rows / 16);
  Value squared = squaredTile(op);
  RowPair sums = squared ? sumSquares(squared, block) : sumSlabs(op.getInput());
  Value result = applyFunctions(op, sums);

  Vector vector;
  vector.kind = Vector::Kind::Shared;
  vector.element = b.getF32Type();
  vector.length = rows;
  vector.memory = scratch(rows * 4, 16);
  // One of the four lanes of a row; of warps that have the same rows, one.
  Value row = b.divide(lane, 4);
  Value writes = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                       b.remainder(lane, 4), b.divide(row, 2));
  if (rows < kRowsOfGroup)
    writes = b.both(writes, b.below(warp, b.i32(rows / 16)));
  {
    auto first = scf::IfOp::create(b, writes);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(first.thenBlock());
    Value at = in.advance(vector.memory,
                          b.mul(b.add(b.mul(block, b.i32(16)), row), b.i32(4)));
    in.store(sums[0], at, 4);
    in.store(sums[1], in.advance(at, 8 * 4), 4);
  }
  vectors[result] = vector;
}

/// Of 16 rows of a tile in shared memory, in the lane that writes a row's.
ComputeRole::RowPair ComputeRole::sumSquares(Value tile, Value block) {
  Value zero = b.real(b.getF32Type(), 0.0);
  // Of columns 0-7 and 8-15 of the diagonal block.
  SmallVector<Value> products[2] = {SmallVector<Value>(4, zero),
                                    SmallVector<Value>(4, zero)};
  Matrix matrix = matrixOf(tile);
  Value warpBefore = warp;
  warp = block;
  for (int64_t column = 0; column < matrix.layout.columns; column += 16) {
    SmallVector<Value> pairs = readFourPairs(matrix, column / 4);
    for (int64_t i : {0, 1})
      products[i] =
          in.multiplyWarp(products[i], pairs, {pairs[i], pairs[i + 2]});
  }
  warp = warpBefore;
  Value isOdd = in.equals(b.remainder(b.divide(lane, 4), 2), 1);
  return {b.select(isOdd, products[0][1], products[0][0]),
          b.select(isOdd, products[1][3], products[1][2])};
}

/// Of any tile that can be computed by slabs, in all lanes.
ComputeRole::RowPair ComputeRole::sumSlabs(Value tile) {
  settleLeaves(tile);
  Value zero = b.real(b.getF32Type(), 0.0);
  int64_t columns = tensorType(tile).getDimSize(1);
  SmallVector<Value> sums =
      forEachSlab(columns, {zero, zero}, [&](ValueRange carried) {
        SmallVector<Value> next(carried.begin(), carried.end());
        SlabRegisters slab = slabOf(tile);
        for (int64_t r = 0; r < kRegistersOfSlab; ++r)
          next[r / 2 % 2] = b.add(next[r / 2 % 2], slab[r]);
        return next;
      });
  for (Value &sum : sums)
    for (int64_t lanes : {1, 2})
      sum = b.add(sum, in.shuffleAcross(sum, lanes));
  return {sums[0], sums[1]};
}

/// Makes of sums what is made of them and constants alone, one op after the
/// other; gives the tile that they are then.
Value ComputeRole::applyFunctions(SumColumnsOp op, RowPair &sums) {
  emitted.insert(op);
  Value result = op.getResult();
  auto isOther = [&](Value operand) {
    return isTensor(operand) && vectors.contains(operand) &&
           vectors.lookup(operand).kind == Vector::Kind::Splat;
  };
  while (result.hasOneUse()) {
    Operation *user = *result.user_begin();
    if (!isElementwise(user) ||
        !tensorType(user->getResult(0)).getElementType().isF32() ||
        !llvm::all_of(user->getOperands(), [&](Value operand) {
          return operand == result || isOther(operand);
        }))
      break;
    for (Value &sum : sums) {
      SmallVector<Element> operands;
      for (Value operand : user->getOperands())
        operands.push_back(operand == result ? Element{sum}
                                             : vectors.lookup(operand).mine);
      sum = elements.of(user, operands).value;
    }
    emitted.insert(user);
    result = user->getResult(0);
  }
  return result;
}
