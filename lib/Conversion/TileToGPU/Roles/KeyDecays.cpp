//===- KeyDecays.cpp - Decays that differ from key to key -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Of a chunk's log-gates each channel's are summed up once, from the beginning
// of each block of 16 rows (a warp's), in units of log2 (KeySums.cpp). A
// product of consecutive decays is then one exponential of a difference of two
// sums:
//
//   since   2^G[r]                 from the block's beginning to row r
//   until   2^(G[15] - G[r])       from row r to the block's end
//
// times what the blocks before, or behind, leave of the channel. Gates are cut
// off where their exponential is 0 in f32 anyway, so that sums are finite and
// small enough: a difference that does not vanish is good to 2^-12.
//
// Work goes by SLABS of 16 columns in a loop: of a slab a warp holds its 16
// rows in 8 registers a thread (Layouts.h), all else lies in shared memory.
// What is rounded to be sent, and the columns of dots, are made in one such
// loop: each element is read once, and each exponential made once.
//
//===----------------------------------------------------------------------===//

#include "../TileOpKinds.h"
#include "ComputeRole.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

//===----------------------------------------------------------------------===//
// Slabs
//===----------------------------------------------------------------------===//

/// Emits `body` as a loop over slabs that carries values.
SmallVector<Value> ComputeRole::forEachSlab(
    int64_t columns, ValueRange start,
    llvm::function_ref<SmallVector<Value>(ValueRange)> body) {
  auto loop = scf::ForOp::create(b, b.i32(0), b.i32(columns),
                                 b.i32(kColumnsOfSlab), start);
  keepRolled(loop);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  slabColumn = loop.getInductionVar();
  Value laneBefore = lane;
  lane = in.opaque(lane); // no addresses are kept through the loop
  known.clear();          // what was read is of other columns
  SmallVector<Value> next = body(loop.getRegionIterArgs());
  known.clear();
  lane = laneBefore;
  slabColumn = {};
  if (!start.empty())
    scf::YieldOp::create(b, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

ComputeRole::SlabRegisters ComputeRole::slabOf(Value tile) {
  SlabRegisters registers;
  for (int64_t r = 0; r < kRegistersOfSlab; ++r)
    registers.push_back(registerOf(tile, r));
  return registers;
}

/// Whether a tile is computed of products of decays.
bool ComputeRole::isMadeBySlabs(Value tile) {
  Matrix &matrix = matrixOf(tile);
  if (matrix.kind != Matrix::Kind::Lazy)
    return false;
  Operation *op = matrix.op;
  return isa<DecayProductOp>(op) ||
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return isTensor(operand) && tensorType(operand).getRank() == 2 &&
                  isMadeBySlabs(operand);
         });
}

/// Whether a tile's elements can be computed here and now; ops between it and
/// what was received come before their turn, as they emit nothing.
bool ComputeRole::isWithinReach(Value tile) {
  if (matrices.contains(tile))
    return true;
  Operation *op = tile.getDefiningOp();
  if (!op || isa<ReceiveOp, arith::TruncFOp, DecayedDotOp>(op) ||
      !(isElementwise(op) ||
        isa<ScaleRowsOp, ScaleColumnsOp, BroadcastOp, DecayProductOp>(op)))
    return false;
  for (Value operand : op->getOperands())
    if (isTensor(operand) &&
        (tensorType(operand).getRank() == 2 ? !isWithinReach(operand)
                                            : !vectors.contains(operand)))
      return false;
  emitMatrixOp(op);
  return true;
}

/// Rounds tiles to where they are sent, and columns of dots to where warps
/// exchange them: all that can be made now, from `first` on.
void ComputeRole::makeSlabs(Operation *first) {
  SmallVector<SlabResult, 4> results;
  for (Operation &op :
       llvm::make_range(first->getIterator(), first->getBlock()->end())) {
    if (auto dot = dyn_cast<DecayedDotOp>(op)) {
      if (!exchanged.columns && isWithinReach(dot.getRhs()) &&
          isWithinReach(dot.getDecays().front()))
        results.push_back(exchangeOf(dot));
      continue;
    }
    auto round = dyn_cast<arith::TruncFOp>(op);
    if (!round || madeBySlabs.contains(round) || !isTensor(round.getIn()) ||
        tensorType(round.getIn()).getRank() != 2)
      continue;
    Destination to = destinationOf(round.getResult());
    if (!to.send || !isWithinReach(round.getIn()) ||
        !isMadeBySlabs(round.getIn()))
      continue;
    ports.acquire(to.send.getChannel());
    auto type = tensorType(round.getResult());
    Matrix packed;
    packed.kind = Matrix::Kind::Shared;
    packed.shape = shapeOf(round.getResult());
    packed.layout = {type.getDimSize(0), type.getDimSize(1)};
    packed.memory = ports.part(to.send.getChannel(), to.part);
    matrices[round.getResult()] = packed;
    madeBySlabs.insert(round);
    Value tile = round.getIn();
    results.push_back(
        {tile, packed, [=](int64_t r) { return registerOf(tile, r); }});
  }
  writeSlabs(results);
}

void ComputeRole::writeSlabs(ArrayRef<SlabResult> results) {
  known.clear();
  sums.clear();
  for (const SlabResult &result : results)
    settleBelow(result.tile);
  auto write = [&](Decaying how) {
    decaying = how;
    writeEach(results);
    decaying = Decaying::Somehow;
  };
  // Of mild chunks fewer exponentials are made, once for all.
  if (keySums.size() != 1)
    return write(Decaying::Somehow);
  auto choice =
      scf::IfOp::create(b, TypeRange(), keySums.begin()->second.isMild,
                        /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  write(Decaying::Mildly);
  b.setInsertionPointToStart(choice.elseBlock());
  write(Decaying::Strongly);
}

void ComputeRole::writeEach(ArrayRef<SlabResult> results) {
  auto store = [&](const SlabResult &result, ArrayRef<Value> pairs) {
    Value row = b.add(b.mul(warp, b.i32(16)), b.remainder(lane, 16));
    Value piece = in.bitXor(b.add(b.divide(lane, 16), pieceOfSlab()),
                            b.remainder(lane, 8));
    Value before =
        b.mul(b.divide(slabColumn, kSlabColumns), b.i32(result.to.slabBytes()));
    Value byte = b.add(b.add(before, b.mul(row, b.i32(kSlabRowBytes))),
                       b.mul(piece, b.i32(16)));
    in.storeMatrices(in.advance(result.to.memory, byte), pairs,
                     /*transposed=*/false);
  };
  int64_t columns = results.front().to.layout.columns;
  forEachSlab(columns, {}, [&](ValueRange) {
    for (const SlabResult &result : results) {
      SmallVector<Value> pairs;
      for (int64_t r = 0; r < kRegistersOfSlab; r += 2)
        pairs.push_back(in.packPair(result.at(r), result.at(r + 1)));
      store(result, pairs);
    }
    return SmallVector<Value>();
  });
  // Other blocks get whole slabs: nothing of them may be unwritten.
  SmallVector<Value> zeros(4, b.i32(0));
  for (int64_t column = columns; column % kSlabColumns;
       column += kColumnsOfSlab) {
    slabColumn = b.i32(column);
    for (const SlabResult &result : results)
      store(result, zeros);
  }
  slabColumn = {};
}

//===----------------------------------------------------------------------===//
// Products of decays
//===----------------------------------------------------------------------===//

/// The product of the decays before a row in its chunk (or behind it), and with
/// its own unless the op excludes it.
Value ComputeRole::productAt(DecayProductOp op, int64_t r) {
  Value decays = op.getDecays();
  if (decaying == Decaying::Mildly) {
    if (!op.getReverse())
      return leftAt(decays, r, op.getExclusive(), /*inverse=*/false);
    return b.mul(leftAt(decays, r, !op.getExclusive(), /*inverse=*/true),
                 in.exp2(sumBefore(decays, r, std::nullopt)));
  }
  if (!op.getReverse())
    return b.mul(sinceAt(decays, r, op.getExclusive()),
                 in.exp2(sumBefore(decays, r, 0)));
  Value behind =
      b.sub(sumBefore(decays, r, std::nullopt), sumBefore(decays, r, 1));
  return b.mul(untilAt(decays, r, !op.getExclusive()), in.exp2(behind));
}

/// This thread's element of what is left of each channel.
Element ComputeRole::lastOfProduct(DecayProductOp op) {
  Value memory = keySumsOf(op.getDecays()).before;
  int64_t columns = tensorType(op.getResult()).getDimSize(1);
  Value index = spreadIndex(columns);
  if (columns % 32)
    index = b.minimum(index, b.i32(columns - 1));
  index = b.add(index, b.i32(kWarpsOfGroup * columns));
  return {in.exp2(
      in.load(b.getF32Type(), in.advance(memory, b.mul(index, b.i32(4))), 4))};
}
