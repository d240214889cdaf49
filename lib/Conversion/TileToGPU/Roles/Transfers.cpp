//===- Transfers.cpp - Accumulators to memory and back --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../TileOpKinds.h"
#include "ComputeRole.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

Value ComputeRole::firstRow() {
  return b.add(b.mul(warp, b.i32(16)), b.divide(lane, 4));
}
Value ComputeRole::firstColumn() {
  Value own = b.mul(b.remainder(lane, 4), b.i32(2));
  return slabColumn ? b.add(slabColumn, own) : own;
}

/// Row and column of a register's element in the tile as the program has it.
SmallVector<Value, 2> ComputeRole::tileIndex(Accumulator shape, int64_t r) {
  Value row = b.add(firstRow(), b.i32(shape.rowOf(r))),
        column = b.add(firstColumn(), b.i32(shape.columnOf(r)));
  if (chain)
    std::swap(row, column);
  return {row, column};
}

/// A packed accumulator to a swizzled tile, four 8 x 8 matrices at a time: lane
/// l gives the address of row l % 8 of matrix l / 8.
void ComputeRole::writePacked(const Matrix &matrix, Value to, Swizzled layout) {
  Value row = b.add(b.mul(warp, b.i32(16)), b.remainder(lane, 16));
  Value half = b.divide(lane, 16);
  int64_t perBlock = matrix.shape.registersOfBlock() / 2;
  // Other blocks get whole slabs: nothing of them may be unwritten.
  int64_t perSlabs =
      isShared() || isApart() ? layout.slabs() * kSlabColumns / 4 : perBlock;
  SmallVector<Value> zeros(4, b.i32(0));
  for (int64_t block = 0; block < matrix.shape.blocks; ++block)
    for (int64_t i = 0; i < perSlabs; i += 4) {
      int64_t piece = i / 2;
      Value swizzled =
          in.bitXor(b.add(half, b.i32(piece % 8)), b.remainder(lane, 8));
      Value byte =
          b.add(b.mul(row, b.i32(kSlabRowBytes)), b.mul(swizzled, b.i32(16)));
      int64_t offset =
          piece / 8 * layout.slabBytes() + block * kRowsOfGroup * kSlabRowBytes;
      in.storeMatrices(
          in.advance(in.advance(to, offset), byte),
          i < perBlock
              ? ArrayRef(matrix.registers).slice(block * perBlock + i, 4)
              : ArrayRef(zeros),
          /*transposed=*/false);
    }
}

/// A swizzled tile as packed registers: transposed in the chain (this
/// warpgroup's slab of value columns), as it is in the preparation.
SmallVector<Value> ComputeRole::readPairs(const Matrix &matrix) {
  SmallVector<Value> pairs;
  int64_t elements =
      matrix.layout.rows * (chain ? kRowsOfGroup : matrix.layout.columns);
  for (int64_t first = 0; first < elements / 256; first += 4)
    pairs.append(readFourPairs(matrix, first));
  return pairs;
}

/// Four 8 x 8 matrices: pairs `first` to first + 3.
SmallVector<Value> ComputeRole::readFourPairs(const Matrix &matrix,
                                              int64_t first) {
  Value within = b.remainder(lane, 8);
  if (chain) {
    Value slab =
        b.mul(b.divide(warp, kWarpsOfGroup), b.i32(matrix.layout.slabBytes()));
    Value piece = b.add(b.mul(b.remainder(warp, kWarpsOfGroup), b.i32(2)),
                        b.remainder(b.divide(lane, 8), 2));
    Value row = b.add(b.mul(b.divide(lane, 16), b.i32(8)), within);
    Value byte = b.add(slab, b.add(b.mul(row, b.i32(kSlabRowBytes)),
                                   b.mul(in.bitXor(piece, within), b.i32(16))));
    int64_t token = first * 4; // four pairs are 16 tokens of a lane's columns
    return in.loadMatrices(
        in.advance(in.advance(matrix.memory, byte), token * kSlabRowBytes),
        /*transposed=*/true);
  }
  Value slabs;
  if (slabColumn) // its piece, and the slabs of 64 columns before
    slabs =
        b.mul(b.divide(slabColumn, kSlabColumns), b.i32(matrix.slabBytes()));
  int64_t perBlock = matrix.layout.columns / 4; // pairs of 64 rows
  int64_t block = first / perBlock, piece = first % perBlock / 2;
  Value row = b.add(b.mul(warp, b.i32(16)), b.remainder(lane, 16));
  Value swizzled = in.bitXor(
      b.add(b.divide(lane, 16), slabColumn ? pieceOfSlab() : b.i32(piece % 8)),
      within);
  Value byte =
      b.add(b.mul(row, b.i32(kSlabRowBytes)), b.mul(swizzled, b.i32(16)));
  if (slabs)
    byte = b.add(byte, slabs);
  int64_t offset = piece / 8 * matrix.layout.slabBytes() +
                   block * kRowsOfGroup * kSlabRowBytes;
  return in.loadMatrices(in.advance(in.advance(matrix.memory, offset), byte),
                         false);
}

/// In forEachSlab: its first piece of 16 bytes in a row of 64 columns.
Value ComputeRole::pieceOfSlab() {
  return b.divide(b.remainder(slabColumn, kSlabColumns), 8);
}

/// An element of an f32 tile in shared memory; a pair is read at a time.
Value ComputeRole::wideAt(Value tile, int64_t r) {
  int64_t first = r / 2 * 2;
  if (!known.contains({tile, first})) {
    const Matrix &matrix = matrixOf(tile);
    Wide layout{matrix.layout.rows, matrix.layout.columns};
    Value row = b.add(firstRow(), b.i32(matrix.shape.rowOf(r)));
    Value piece = b.i32(matrix.shape.columnOf(r) / 8);
    if (slabColumn)
      piece = b.add(piece, b.divide(slabColumn, 8));
    piece = in.bitXor(piece, b.remainder(row, 4));
    Value byte = b.add(
        b.mul(row, b.i32(layout.rowBytes())),
        b.add(b.mul(piece, b.i32(32)), b.mul(b.remainder(lane, 4), b.i32(8))));
    auto [low, high] = in.loadPair(in.advance(matrix.memory, byte));
    known[{tile, first}] = low;
    known[{tile, first + 1}] = high;
  }
  return known.lookup({tile, r});
}

//===----------------------------------------------------------------------===//
// Global memory, element by element
//===----------------------------------------------------------------------===//

void ComputeRole::emitLoad(LoadOp load) {
  Slice slice = Slice::of(load);
  Type element = tensorType(load.getResult()).getElementType();
  Accumulator shape = shapeOf(load.getResult());
  auto loadAll = [&] {
    SmallVector<Value> registers;
    for (int64_t r = 0, e = shape.registers(); r < e; ++r) {
      SmallVector<Value, 3> indices =
          kernel.viewIndices(slice, tileIndex(shape, r));
      Value inside = kernel.indicesInside(slice, indices);
      // Rows beyond the block of values pad the warpgroups.
      if (chain)
        inside = b.both(inside, inBlock(slice, shape, r));
      Value value = kernel.loadFrom(
          slice, kernel.safeAddress(slice, indices, inside), element);
      registers.push_back(inside ? b.select(inside, value, b.real(element, 0.0))
                                 : value);
    }
    return registers;
  };
  Value present = kernel.present(slice);
  if (!present)
    return define(load.getResult(), loadAll());
  SmallVector<Type> types(shape.registers(), element);
  auto choice = scf::IfOp::create(b, types, present, true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    scf::YieldOp::create(b, loadAll());
    b.setInsertionPointToStart(choice.elseBlock());
    Value zero = b.real(element, 0.0);
    scf::YieldOp::create(b, SmallVector<Value>(types.size(), zero));
  }
  define(load.getResult(), llvm::to_vector_of<Value>(choice.getResults()));
}

/// Whether a register's value column is one of the block's; null if all are.
Value ComputeRole::inBlock(const Slice &slice, Accumulator shape, int64_t r) {
  int64_t extent = slice.extents.back();
  if (extent % kRowsOfGroup == 0)
    return {};
  return b.below(tileIndex(shape, r).back(), b.i32(extent));
}
