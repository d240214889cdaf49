//===- Evaluate.cpp - Elementwise work, register by register --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An elementwise op emits nothing. Whoever reads its result (a rounding, a
// product that goes on from it, a store) computes it for one register after the
// other, with all that it is made of: a chain of ten ops on a tile holds a few
// values at a time and not ten tiles. What is read more than once is kept.
//
// Where such a chain begins with a tile in shared memory, the slot is given
// back when the chain has been computed, which may be later than the program
// says; the iteration ends no later for it.
//
//===----------------------------------------------------------------------===//

#include "../ElementOps.h"
#include "../TileOpKinds.h"
#include "ComputeRole.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

/// Waits for the products that a tile is made of, and puts vectors where all
/// can read them; forgets what the last reader computed on the way.
void ComputeRole::settleLeaves(Value tile) {
  known.clear();
  sums.clear();
  settleBelow(tile);
}

void ComputeRole::settleBelow(Value tile) {
  Matrix &matrix = matrixOf(tile);
  if (matrix.kind != Matrix::Kind::Lazy)
    return settle(matrix);
  Operation *op = matrix.op;
  for (Value operand : op->getOperands()) {
    if (!isTensor(operand))
      continue;
    if (tensorType(operand).getRank() == 2)
      settleBelow(operand);
    else
      copyLeaves(operand);
  }
}

/// All of a tile's registers, from now on.
Matrix &ComputeRole::materialize(Value tile) {
  settleLeaves(tile);
  Matrix &matrix = matrixOf(tile);
  if (matrix.kind != Matrix::Kind::Lazy)
    return matrix;
  SmallVector<Value> registers;
  for (int64_t r = 0, e = matrix.shape.registers(); r < e; ++r)
    registers.push_back(registerOf(tile, r));
  define(tile, registers);
  return matrixOf(tile);
}

//===----------------------------------------------------------------------===//
// One register
//===----------------------------------------------------------------------===//

/// Emits what each warp of a group does by itself: it knows which of its blocks
/// of 16 columns are left of the diagonal, on it, or hold only zeros. What is
/// computed for one is not known to the next. There is no way around all of
/// them: beside a running product ptxas would take it for divergent (C7518).
void ComputeRole::forEachWarp(llvm::function_ref<void(int64_t)> body) {
  OpBuilder::InsertionGuard guard(b);
  for (int64_t number = 0; number < kWarpsOfGroup; ++number) {
    scf::IfOp choice;
    if (number + 1 < kWarpsOfGroup) {
      choice = scf::IfOp::create(b, TypeRange(), in.equals(warp, number), true);
      b.setInsertionPointToStart(choice.thenBlock());
    }
    auto before = std::tuple(matrices, vectors, known, sums, decayFactors);
    knownWarp = number;
    body(number);
    knownWarp.reset();
    std::tie(matrices, vectors, known, sums, decayFactors) = before;
    if (choice)
      b.setInsertionPointToStart(choice.elseBlock());
  }
}

/// Whether a register of a tile is zero because what masks it is.
bool ComputeRole::vanishes(Value tile, int64_t r) {
  const Matrix &matrix = matrixOf(tile);
  if (matrix.kind == Matrix::Kind::Decay)
    return decayVanishes(matrix.decay, r);
  if (matrix.kind != Matrix::Kind::Lazy)
    return false;
  Operation *op = matrix.op;
  if (isa<ScaleRowsOp, ScaleColumnsOp>(op))
    return vanishes(op->getOperand(0), r);
  return isa<arith::MulFOp>(op) &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return isTensor(operand) && vanishes(operand, r);
         });
}

/// Whether the blocks to the right of the diagonal are known to be zero.
bool ComputeRole::isLowerTriangular(Value tile) {
  knownWarp = 0;
  bool isLower = vanishes(tile, shapeOf(tile).registers() - 1);
  knownWarp.reset();
  return isLower;
}

/// Of decays that are computed of pairs for each reader, or these scaled.
bool ComputeRole::isDecayOfPairs(const Matrix &matrix) {
  if (matrix.kind == Matrix::Kind::Decay)
    return !decayFactors.contains(matrix.decay);
  return matrix.kind == Matrix::Kind::Lazy &&
         isa<ScaleRowsOp, ScaleColumnsOp>(matrix.op) &&
         isDecayOfPairs(matrixOf(matrix.op->getOperand(0)));
}

Value ComputeRole::registerOf(Value tile, int64_t r) {
  if (vanishes(tile, r))
    return b.real(tensorType(tile).getElementType(), 0.0);
  Matrix &matrix = matrixOf(tile);
  switch (matrix.kind) {
  case Matrix::Kind::Splat:
    return matrix.scalar;
  case Matrix::Kind::Decay:
  case Matrix::Kind::Lazy:
    break;
  case Matrix::Kind::Shared: // f32
    return wideAt(tile, r);
  default:
    return matrix.registers[r];
  }
  // What has several readers is computed once. Decays of pairs are not kept:
  // they would take the registers of the products beside them.
  // What slabs are made of is computed for each.
  bool isKept = !slabColumn && !tile.hasOneUse() && !isDecayOfPairs(matrix);
  if (isKept) {
    matrix.registers.resize(matrix.shape.registers());
    if (Value value = matrix.registers[r])
      return value;
  }
  Value value = matrix.kind == Matrix::Kind::Decay ? decayAt(matrix.decay, r)
                                                   : evaluate(matrix.op, r);
  Matrix &again = matrixOf(tile); // the map may have grown
  if (isKept)
    again.registers[r] = value;
  return value;
}

Value ComputeRole::evaluate(Operation *op, int64_t r) {
  Accumulator shape = shapeOf(op->getResult(0));
  if (auto scale = dyn_cast<ScaleRowsOp>(op)) {
    Value input = registerOf(scale.getInput(), r);
    return b.mul(input, vectorAt(scale.getScale(), shape, r, true));
  }
  if (auto scale = dyn_cast<ScaleColumnsOp>(op)) {
    Value input = registerOf(scale.getInput(), r);
    return b.mul(input, vectorAt(scale.getScale(), shape, r, false));
  }
  if (auto repeat = dyn_cast<BroadcastOp>(op))
    return vectorAt(repeat.getInput(), shape, r, !repeat.getAlongRows());
  if (auto units = dyn_cast<UnitColumnsOp>(op)) {
    SmallVector<Value, 2> index = tileIndex(shape, r);
    return unitAt(b, units, index[0], index[1], kernel.scalars);
  }
  if (auto product = dyn_cast<DecayProductOp>(op))
    return productAt(product, r);
  if (auto extend = dyn_cast<arith::ExtFOp>(op)) {
    auto [low, high] = in.unpackPair(pairAt(extend.getIn(), r / 2));
    Value value = r % 2 ? high : low;
    const Matrix &packed = matrixOf(extend.getIn());
    return packed.powers.empty()
               ? value
               : b.mul(value, packed.powers[powerNumberOf(packed, r)]);
  }
  if (Value sum = evaluateScaledSum(op, r))
    return sum;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isTensor(operand) ? registerOf(operand, r)
                                         : kernel.scalars.lookup(operand));
  if (Value value = functionOf(op, operands))
    return value;
  return cloneElementwise(b, op, operands);
}

/// a + x s or a - x s for a factor s of a row or column, rounded once. The sign
/// goes to the factor: ptxas waits for a product that is still running before
/// its result is negated, and LLVM would do that right where it is issued.
Value ComputeRole::evaluateScaledSum(Operation *op, int64_t r) {
  if (!chain || !isa<arith::AddFOp, arith::SubFOp>(op))
    return {};
  Value scaled = op->getOperand(1);
  Operation *scale = matrixOf(scaled).op;
  if (matrixOf(scaled).kind != Matrix::Kind::Lazy || !scaled.hasOneUse() ||
      !isa<ScaleRowsOp, ScaleColumnsOp>(scale))
    return {};
  Value factor = vectorAt(scale->getOperand(1), shapeOf(scaled), r,
                          isa<ScaleRowsOp>(scale));
  if (isa<arith::SubFOp>(op))
    factor = arith::NegFOp::create(b, factor);
  Value input = registerOf(scale->getOperand(0), r);
  return math::FmaOp::create(b, input, factor,
                             registerOf(op->getOperand(0), r));
}

/// Two neighbours of a 16-bit tile: four of them are read from shared memory at
/// a time.
Value ComputeRole::pairAt(Value tile, int64_t pair) {
  Matrix matrix = matrixOf(tile);
  if (matrix.kind == Matrix::Kind::Packed)
    return matrix.registers[pair];
  int64_t first = pair / 4 * 4;
  if (!known.contains({tile, first}))
    for (auto [i, value] : llvm::enumerate(readFourPairs(matrix, first)))
      known[{tile, first + int64_t(i)}] = value;
  return known.lookup({tile, pair});
}

/// A vector's element for a register's row or column as the tile has them.
/// Registers of one row, or of one column, share it.
Value ComputeRole::vectorAt(Value vector, Accumulator shape, int64_t r,
                            bool rows) {
  bool alongRows = rows != chain;
  int64_t offset = alongRows ? shape.rowOf(r) : shape.columnOf(r);
  Value &element = known[{vector, 2 * offset + alongRows}];
  if (!element) {
    Value value =
        elementAt(vector,
                  b.add(alongRows ? firstRow() : firstColumn(), b.i32(offset)))
            .value;
    known[{vector, 2 * offset + alongRows}] = value;
    return value;
  }
  return element;
}

//===----------------------------------------------------------------------===//
// When a slot is free
//===----------------------------------------------------------------------===//

/// Whether what is still to be emitted reads the slot of a channel through
/// `tile`.
bool ComputeRole::readsLater(Value tile, Value channel) {
  if (tensorType(tile).getRank() == 1) {
    Vector vector = vectors.lookup(tile);
    if (vector.kind == Vector::Kind::Shared)
      return vector.channel == channel;
    return vector.kind == Vector::Kind::Lazy &&
           llvm::any_of(vector.op->getOperands(), [&](Value operand) {
             return isTensor(operand) && readsLater(operand, channel);
           });
  }
  Matrix matrix = matrices.lookup(tile);
  if (matrix.kind == Matrix::Kind::Shared)
    return matrix.channel == channel;
  return matrix.kind == Matrix::Kind::Lazy &&
         llvm::any_of(matrix.op->getOperands(), [&](Value operand) {
           return isTensor(operand) && readsLater(operand, channel);
         });
}

/// Whether an op that is still to be emitted reads `tile`, itself or through
/// what is computed where it is read.
bool ComputeRole::isAwaited(Value tile) {
  return llvm::any_of(tile.getUsers(), [&](Operation *user) {
    if (!emitted.contains(user))
      return true;
    if (user->getNumResults() != 1)
      return false;
    Value result = user->getResult(0);
    bool isLazy = matrices.lookup(result).kind == Matrix::Kind::Lazy ||
                  vectors.lookup(result).kind == Vector::Kind::Lazy;
    return isLazy && isAwaited(result);
  });
}

bool ComputeRole::isFree(Value channel) {
  for (auto &[tile, matrix] : matrices)
    if (matrix.kind == Matrix::Kind::Lazy && readsLater(tile, channel) &&
        isAwaited(tile))
      return false;
  for (auto &[tile, vector] : vectors)
    if (vector.kind == Vector::Kind::Lazy && readsLater(tile, channel) &&
        isAwaited(tile))
      return false;
  return true;
}

/// Gives back the slots that were to be given back and are no longer read. A
/// product that reads one is not waited for: whoever needs its result, or the
/// end of the iteration, does. The chain, which everything waits for, gives
/// back all at its end at once, unless there is but one slot.
void ComputeRole::releaseFree(bool isEnd) {
  SmallVector<Value> free;
  llvm::erase_if(toRelease, [&](Value channel) {
    if (lastReader.lookup(channel) > groupsRetired || !isFree(channel) ||
        (chain && !isEnd && ports.slotsOf(channel) > 1))
      return false;
    free.push_back(channel);
    return true;
  });
  llvm::erase_if(free, [&](Value channel) {
    Value isReleased = releasedIf.lookup(channel);
    if (!isReleased)
      return false;
    auto choice = scf::IfOp::create(b, TypeRange(), isReleased, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.elseBlock());
    ports.release(channel);
    return true;
  });
  ports.release(free);
}
