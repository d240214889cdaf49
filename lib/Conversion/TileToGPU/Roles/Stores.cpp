//===- Stores.cpp - Accumulators to arrays --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What an iteration of the chain ends with is its output, and nothing waits for
// it. Where registers allow, it is rounded there, carried into the next
// iteration and stored when that one's first products have been issued: it goes
// to memory while they run, and while the chain would wait for the preparation.
//
//===----------------------------------------------------------------------===//

#include "../TileOpKinds.h"
#include "ComputeRole.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

void ComputeRole::storeElements(const Slice &slice, Matrix &matrix) {
  for (int64_t r = 0, e = matrix.shape.registers(); r < e; ++r) {
    SmallVector<Value, 3> indices =
        kernel.viewIndices(slice, tileIndex(matrix.shape, r));
    Value inside = kernel.indicesInside(slice, indices);
    if (chain)
      inside = b.both(inside, inBlock(slice, matrix.shape, r));
    OpBuilder::InsertionGuard guard(b);
    if (inside) {
      auto guarded = scf::IfOp::create(b, inside);
      b.setInsertionPointToStart(guarded.thenBlock());
    }
    kernel.storeElement(slice, indices, matrix.registers[r]);
  }
}

/// Whether rows of the tile go out in whole pieces of 16 bytes.
bool ComputeRole::isStaged(StoreOp store) const {
  Slice slice = Slice::of(store);
  auto view = cast<ViewType>(slice.view.getType());
  bool hasTime = view.hasTime() && slice.axisOfTile.front() == 0;
  return chain && hasTime && view.getElementType() == plan.operands &&
         slice.extents.back() % kRowsOfGroup == 0 &&
         view.getShape().back() % 8 == 0;
}

void ComputeRole::emitStore(StoreOp store) {
  Matrix &matrix = materialize(store.getValue());
  if (matrix.kind == Matrix::Kind::Splat)
    define(store.getValue(),
           SmallVector<Value>(matrix.shape.registers(), matrix.scalar));
  if (!isStaged(store)) {
    Slice slice = Slice::of(store);
    OpBuilder::InsertionGuard guard(b);
    enterIfPresent(slice);
    return storeElements(slice, matrix);
  }
  SmallVector<Value> packed;
  for (int64_t r = 0, e = matrix.shape.registers(); r < e; r += 2)
    packed.push_back(in.packPair(matrix.registers[r], matrix.registers[r + 1]));
  if (store != delayed.store)
    return storeStaged(store, packed);
  storeDelayed(); // of the iteration before, if nothing else has come to it
  delayed.packed = packed;
}

/// Goes on where the argument is there, if that is not certain.
void ComputeRole::enterIfPresent(const Slice &slice) {
  Value present = kernel.present(slice);
  if (!present)
    return;
  auto guarded = scf::IfOp::create(b, present);
  b.setInsertionPointToStart(guarded.thenBlock());
}

//===----------------------------------------------------------------------===//
// One iteration later
//===----------------------------------------------------------------------===//

/// The store of a loop that the next iteration makes, if registers suffice for
/// its tile to be carried there.
StoreOp ComputeRole::storeToDelay(scf::ForOp loop) const {
  StoreOp found;
  if (!chain || role.registers < kPlentyOfRegisters)
    return found;
  for (auto store : loop.getOps<StoreOp>())
    if (isStaged(store) && llvm::all_of(store.getIndices(), [&](Value index) {
          return index == loop.getInductionVar() ||
                 loop.isDefinedOutsideOfLoop(index);
        }))
      found = store;
  return found;
}

/// What the loop carries of it: the rounded tile, and the iteration's index. At
/// first a row before all others, which is stored nowhere.
SmallVector<Value> ComputeRole::startOfDelayed(Value lower, Value step) {
  int64_t count = shapeOf(delayed.store.getValue()).registers() / 2;
  Value zero = b.i32(0);
  return {in.pack(SmallVector<Value>(count, zero)), b.sub(lower, step)};
}

void ComputeRole::takeDelayed(Value packed, Value index) {
  delayed.packed = in.unpack(packed);
  delayed.index = index;
}

void ComputeRole::storeDelayed() {
  if (delayed.packed.empty())
    return;
  Value induction = loopOf(role.role).getInductionVar();
  Value now = kernel.scalars.lookup(induction);
  kernel.scalars.map(induction, delayed.index);
  storeStaged(delayed.store, delayed.packed);
  kernel.scalars.map(induction, now);
  delayed.packed.clear();
}

//===----------------------------------------------------------------------===//
// By way of shared memory
//===----------------------------------------------------------------------===//

/// A piece of 16 bytes element by element.
void ComputeRole::storePiece(Value piece, Value to) {
  auto elements = VectorType::get({8}, b.getI16Type());
  Value eight = LLVM::BitcastOp::create(b, elements, piece);
  for (int64_t e = 0; e < 8; ++e)
    in.store(LLVM::ExtractElementOp::create(b, eight, b.i32(e)),
             in.advance(to, e * 2), 2);
}

/// Each warp turns its 16 value columns around in 2 KiB of its own, 64 rows (of
/// 32 bytes) at a time: no other warp is waited for. The halves of every other
/// four rows are swapped, so that eight rows lie in different banks.
SmallVector<Value> ComputeRole::turnAround(int64_t rows,
                                           ArrayRef<Value> packed) {
  int64_t bytesPerWarp = rows * 32;
  if (!staging)
    staging = plan.allocate(bytesPerWarp * RoleOp(role.role).getWarps(), 16);
  Value mine = in.advance(in.advance(memory, *staging),
                          b.mul(warp, b.i32(bytesPerWarp)));
  auto byteOf = [&](Value row, Value half) {
    Value swapped = in.bitXor(half, b.remainder(b.divide(row, 4), 2));
    return b.add(b.mul(row, b.i32(32)), b.mul(swapped, b.i32(16)));
  };
  in.syncWarp(); // the last tile has been read
  Value row = b.add(b.mul(b.divide(lane, 16), b.i32(8)), b.remainder(lane, 8));
  Value at = byteOf(row, b.remainder(b.divide(lane, 8), 2));
  for (int64_t first = 0; first < rows; first += 16)
    in.storeMatrices(in.advance(in.advance(mine, first * 32), at),
                     packed.slice(first / 4, 4),
                     /*transposed=*/true);
  in.syncWarp();
  auto quad = VectorType::get({4}, b.getI32Type());
  Value from =
      in.advance(mine, byteOf(b.divide(lane, 2), b.remainder(lane, 2)));
  SmallVector<Value> pieces;
  for (int64_t first = 0; first < rows; first += 16)
    pieces.push_back(in.load(quad, in.advance(from, first * 32), 16));
  return pieces;
}

/// A lane has a piece of every 16th row.
void ComputeRole::storeStaged(StoreOp store, ArrayRef<Value> packed) {
  Slice slice = Slice::of(store);
  OpBuilder::InsertionGuard guard(b);
  enterIfPresent(slice);
  int64_t rows = slice.extents.front();
  SmallVector<Value> pieces = turnAround(rows, packed);
  Value column =
      b.add(b.mul(warp, b.i32(16)), b.mul(b.remainder(lane, 2), b.i32(8)));
  SmallVector<Value, 3> indices =
      kernel.viewIndices(slice, {b.divide(lane, 2), column});
  Value outer = kernel.indicesInside(slice, indices, 1);
  Value to = kernel.safeAddress(slice, indices, Value());
  Value stride = b.mul(kernel.stepStride(slice), b.i64(2 * 16));
  // One condition for all of a whole tile: a branch costs as much as a store.
  Value last = kernel.viewIndices(slice, {b.i32(rows - 1), column})[0];
  Value isWhole = b.both(outer, kernel.axisInside(slice, 0, last));
  Value isAligned = in.equals(in.bitAnd(kernel.alignmentBits(slice), 15), 0);
  auto choice =
      scf::IfOp::create(b, TypeRange(), b.both(isWhole, isAligned), true);
  b.setInsertionPointToStart(choice.thenBlock());
  Value at = to;
  for (Value piece : pieces) {
    in.store(piece, at, 16);
    at = in.advance(at, stride);
  }
  b.setInsertionPointToStart(choice.elseBlock());
  at = to;
  for (auto [i, piece] : llvm::enumerate(pieces)) {
    Value row = b.add(indices[0], b.i64(16 * i));
    auto guarded =
        scf::IfOp::create(b, b.both(outer, kernel.axisInside(slice, 0, row)));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(guarded.thenBlock());
      storePiece(piece, at);
    }
    at = in.advance(at, stride);
  }
}
