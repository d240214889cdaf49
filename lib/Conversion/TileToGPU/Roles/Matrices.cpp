//===- Matrices.cpp - Elementwise work on accumulators --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../ElementOps.h"
#include "../TileOpKinds.h"
#include "ComputeRole.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// In the chain a tile is held transposed, its value columns padded to the
/// warpgroups' rows.
Accumulator ComputeRole::shapeOf(Value tile) const {
  auto type = tensorType(tile);
  if (chain)
    return {type.getDimSize(0), 1};
  return {type.getDimSize(1), type.getDimSize(0) / kRowsOfGroup};
}

Matrix &ComputeRole::matrixOf(Value tile) { return matrices[tile]; }

void ComputeRole::define(Value tile, SmallVector<Value> registers) {
  Matrix &matrix = matrices[tile];
  matrix = {};
  matrix.kind = Matrix::Kind::Accumulator;
  matrix.shape = shapeOf(tile);
  matrix.registers = std::move(registers);
}

/// Elementwise ops are computed where their result is read, Evaluate.cpp.
void ComputeRole::emitMatrixOp(Operation *op) {
  Value result = op->getResult(0);
  if (auto decay = dyn_cast<DecayMatrixOp>(op))
    return emitDecay(decay);
  if (auto round = dyn_cast<arith::TruncFOp>(op))
    return emitRounding(round);
  Matrix matrix;
  matrix.shape = shapeOf(result);
  if (isSplat(result)) {
    matrix.scalar = splatScalar(b, op, kernel.scalars);
  } else {
    matrix.kind = Matrix::Kind::Lazy;
    matrix.op = op;
  }
  matrices[result] = matrix;
  if (chain && isStart(op))
    materialize(result);
}

/// Where a product starts is computed at its place, if nothing else will read
/// what it is made of: the registers stay the same, and a product that was
/// issued before runs meanwhile.
bool ComputeRole::isStart(Operation *op) {
  Value result = op->getResult(0);
  if (!result.hasOneUse() || matrixOf(result).kind != Matrix::Kind::Lazy)
    return false;
  auto dot = dyn_cast<DotOp>(*result.user_begin());
  if (!dot || dot.getAcc() != result)
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    if (!isTensor(operand) || tensorType(operand).getRank() != 2)
      return true;
    Matrix::Kind kind = matrixOf(operand).kind;
    return kind == Matrix::Kind::Splat ||
           (kind == Matrix::Kind::Accumulator &&
            llvm::all_of(operand.getUsers(), [&](Operation *user) {
              return user == op || emitted.contains(user);
            }));
  });
}

//===----------------------------------------------------------------------===//
// 16 bits
//===----------------------------------------------------------------------===//

void ComputeRole::emitRounding(arith::TruncFOp op) {
  Matrix &wide = matrixOf(op.getIn());
  if (wide.kind == Matrix::Kind::Shared) { // rounded where it was made
    Matrix copy = wide;
    matrices[op.getResult()] = copy;
    return;
  }
  settleLeaves(op.getIn());
  Matrix packed;
  packed.kind = Matrix::Kind::Packed;
  packed.shape = shapeOf(op.getResult());
  for (int64_t r = 0, e = packed.shape.registers(); r < e; r += 2)
    packed.registers.push_back(
        in.packPair(registerOf(op.getIn(), r), registerOf(op.getIn(), r + 1)));
  Destination to = destinationOf(op.getResult());
  if (!chain && to.send) {
    // Its registers are worth more than a moment of the slot's time.
    auto type = tensorType(op.getResult());
    packed.layout = {type.getDimSize(0), type.getDimSize(1)};
    ports.acquire(to.send.getChannel());
    packed.memory = ports.part(to.send.getChannel(), to.part);
    writePacked(packed, packed.memory, packed.layout);
    packed.kind = Matrix::Kind::Shared;
    packed.registers.clear();
  }
  matrices[op.getResult()] = packed;
}

//===----------------------------------------------------------------------===//
// Decay
//===----------------------------------------------------------------------===//

/// The place in the factor chain of row (or column) `position`.
static Value placeOf(ScalarBuilder &b, Value position,
                     ArrayRef<int64_t> order) {
  Value place = b.i32(order[0]), within = b.remainder(position, order.size());
  for (size_t i = 1; i < order.size(); ++i)
    place = b.select(
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, within, b.i32(i)),
        b.i32(order[i]), place);
  return place;
}

/// Not kept in registers: each op that reads it computes its elements anew,
/// which is a few instructions, beside the products whose registers it would
/// take.
void ComputeRole::emitDecay(DecayMatrixOp op) {
  Matrix matrix;
  matrix.kind = Matrix::Kind::Decay;
  matrix.decay = op;
  matrix.shape = shapeOf(op.getResult());
  copyForPowers(op.getRows());
  copyForPowers(op.getColumns());
  matrices[op.getResult()] = matrix;
}

/// One end of a decay, for the op being emitted.
const ComputeRole::Sum &ComputeRole::sumAt(Value vector, bool isRow,
                                           int64_t offset,
                                           ArrayRef<int64_t> order) {
  // Rows and columns may be of one vector, and in the same order.
  Sum &sum = sums[{{vector, order.data()}, 2 * offset + isRow}];
  if (sum.high)
    return sum;
  Value position = b.add(isRow ? firstRow() : firstColumn(), b.i32(offset));
  auto pair = VectorType::get({2}, b.getF32Type());
  Value both = in.load(
      pair, in.advance(copyForPowers(vector), b.mul(position, b.i32(8))), 8);
  sum.high = LLVM::ExtractElementOp::create(b, both, b.i32(0));
  sum.low = LLVM::ExtractElementOp::create(b, both, b.i32(1));
  sum.token = b.divide(position, order.size());
  sum.place = placeOf(b, position, order);
  return sum;
}

/// Sums come as pairs of f32 that hold their product with log2(e): differences
/// of the pairs are exact enough, and cost no f64 arithmetic.
Value ComputeRole::decayAt(DecayMatrixOp op, int64_t r) {
  Accumulator shape = shapeOf(op.getResult());
  Sum row = sumAt(op.getRows(), true, shape.rowOf(r), op.getRowOrder());
  Sum column =
      sumAt(op.getColumns(), false, shape.columnOf(r), op.getColumnOrder());
  Value difference =
      b.add(b.sub(row.high, column.high), b.sub(row.low, column.low));
  Value zero = b.real(b.getF32Type(), 0.0);
  // A pair that is not seen may overflow; it is not looked at.
  Value factor = in.exp2(difference);
  if (op.getRowOrder().size() == 1 && op.getColumnOrder().size() == 1) {
    // Row - column of the lane's first element against constants.
    bool diagonal = op.getColumnOrder()[0] < op.getRowOrder()[0];
    Value ahead = arith::CmpIOp::create(
        b, arith::CmpIPredicate::sge, b.sub(firstRow(), firstColumn()),
        b.i32(shape.columnOf(r) - shape.rowOf(r) + (diagonal ? 0 : 1)));
    return b.select(ahead, factor, zero);
  }
  Value before = b.below(column.token, row.token);
  Value same = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, column.token,
                                     row.token);
  Value seen = arith::OrIOp::create(
      b, before, b.both(same, b.below(column.place, row.place)));
  return b.select(seen, factor, zero);
}
