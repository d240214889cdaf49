//===- Matrices.cpp - Elementwise work on accumulators --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../ElementOps.h"
#include "../TileOpKinds.h"
#include "ComputeRole.h"
#include "Prism/Dialect/Tile/IR/RoleLimits.h"

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
  if (emitScaleOfInverse(op) || emitScaleOfDecay(op))
    return;
  if (auto product = dyn_cast<DecayProductOp>(op))
    keySumsOf(product.getDecays());
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

bool ComputeRole::isRoundedByPieces(arith::TruncFOp op) const {
  return chain && shapeOf(op.getResult()).columns > kKeysRoundedAtOnce &&
         llvm::all_of(op->getUses(), [](OpOperand &use) {
           auto dot = dyn_cast<DotOp>(use.getOwner());
           return dot && &use == &dot.getRhsMutable();
         });
}

void ComputeRole::emitRounding(arith::TruncFOp op) {
  if (madeBySlabs.contains(op))
    return;
  if (isRoundedByPieces(op)) {
    Matrix rounded;
    rounded.kind = Matrix::Kind::Lazy;
    rounded.op = op;
    rounded.shape = shapeOf(op.getResult());
    matrices[op.getResult()] = rounded;
    return;
  }
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
  Destination to = destinationOf(op.getResult());
  if (chain || !to.send) {
    packRegisters(op.getIn(), packed);
    matrices[op.getResult()] = packed;
    return;
  }
  // Its registers are worth more than a moment of the slot's time.
  auto type = tensorType(op.getResult());
  packed.layout = {type.getDimSize(0), type.getDimSize(1)};
  if (isMadeBySlabs(op.getIn()))
    return makeSlabs(op);
  if (exchangeHolders.contains(op))
    leaveMessage();
  ports.acquire(to.send.getChannel());
  packed.memory = ports.part(to.send.getChannel(), to.part);
  auto write = [&](int64_t) {
    packRegisters(op.getIn(), packed);
    writePacked(packed, packed.memory, packed.layout);
    writePowers(packed.powers, ports.powersOf(to.send.getChannel(), to.part));
  };
  if (isLowerTriangular(op.getIn()))
    forEachWarp(write);
  else
    write(0);
  packed.kind = Matrix::Kind::Shared;
  packed.registers.clear();
  packed.powers.clear();
  matrices[op.getResult()] = packed;
}

/// In the chain, tiles that are rounded one after the other: element by element
/// of all of them, since they may be made of the same things, which then need
/// no registers for a whole tile. False where there are not several such ops.
bool ComputeRole::emitRoundings(Operation *first) {
  SmallVector<arith::TruncFOp> ops;
  for (Operation *op = first; op; op = op->getNextNode()) {
    auto round = dyn_cast<arith::TruncFOp>(op);
    if (!round || !isTensor(round.getResult()) ||
        tensorType(round.getResult()).getRank() != 2 ||
        matrixOf(round.getIn()).kind != Matrix::Kind::Lazy ||
        (!ops.empty() && round.getType() != ops.front().getType()))
      break;
    ops.push_back(round);
  }
  if (!chain || hasPowers() || ops.size() < 2)
    return false;
  for (arith::TruncFOp op : ops)
    settleLeaves(op.getIn());
  SmallVector<Matrix, 4> packed(ops.size());
  int64_t count = shapeOf(ops.front().getResult()).registers();
  for (int64_t r = 0; r < count; r += 2)
    for (auto [op, matrix] : llvm::zip_equal(ops, packed))
      matrix.registers.push_back(in.packPair(registerOf(op.getIn(), r),
                                             registerOf(op.getIn(), r + 1)));
  for (auto [op, matrix] : llvm::zip_equal(ops, packed)) {
    matrix.kind = Matrix::Kind::Packed;
    matrix.shape = shapeOf(op.getResult());
    matrices[op.getResult()] = matrix;
    emitted.insert(op);
  }
  return true;
}

void ComputeRole::packRegisters(Value tile, Matrix &packed) {
  packed.registers.clear();
  int64_t count = packed.shape.registers();
  if (hasPowers()) {
    // All of them are there before the first one is rounded; null is zero.
    SmallVector<Value> registers;
    for (int64_t r = 0; r < count; ++r)
      registers.push_back(vanishes(tile, r) ? Value() : registerOf(tile, r));
    return packDivided(registers, packed);
  }
  for (int64_t r = 0; r < count; r += 2)
    packed.registers.push_back(
        vanishes(tile, r) && vanishes(tile, r + 1)
            ? b.i32(0)
            : in.packPair(registerOf(tile, r), registerOf(tile, r + 1)));
}
