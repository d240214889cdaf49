//===- Stores.cpp - Accumulators to arrays --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What an iteration of the chain ends with is its output, and nothing waits for
// it. Each warp rounds its columns and turns them around in shared memory of
// its own (Layouts.h, Staged): no other warp is waited for, and no register is
// kept. From there they go to the array in one of two ways, chosen by all
// threads alike:
//
//  * by the copy engine (TensorMaps.h), one box a warp, under the conditions of
//    loads (LoadRole.h);
//  * by the warp's lanes, in pieces of 16 bytes or by elements, as a loop.
//
// Where registers allow, both happen in the next iteration, when its first
// product has been issued: what is needed to have the tile seen by the engine,
// or read again, is waited for beside it.
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

/// Goes on where the argument is there, if that is not certain.
void ComputeRole::enterIfPresent(const Slice &slice) {
  if (Value present = kernel.present(slice))
    b.setInsertionPointToStart(scf::IfOp::create(b, present).thenBlock());
}

void ComputeRole::emitStore(StoreOp store) {
  Matrix &matrix = materialize(store.getValue());
  if (matrix.kind == Matrix::Kind::Splat)
    define(store.getValue(),
           SmallVector<Value>(matrix.shape.registers(), matrix.scalar));
  if (!chain || !isStaged(store, plan.operands)) {
    Slice slice = Slice::of(store);
    OpBuilder::InsertionGuard guard(b);
    enterIfPresent(slice);
    return storeElements(slice, matrix);
  }
  storeDelayed(); // of the iteration before, if nothing else has come to it
  stage(store, matrix);
  if (store == delayed.store)
    delayed.isStaged = true;
  else
    storeStaged(store);
}

//===----------------------------------------------------------------------===//
// To shared memory
//===----------------------------------------------------------------------===//

/// A warp's own. All tiles of a kernel are stored by the same rows of time.
Value ComputeRole::stagingOf(int64_t rows) {
  if (!staging)
    staging = plan.allocate(Staged{rows}.bytes() * RoleOp(role.role).getWarps(),
                            Staged::kAlignment);
  assert((!stagedRows || stagedRows == rows) && "tiles of several chunks");
  stagedRows = rows;
  return in.advance(in.advance(memory, *staging),
                    b.mul(warp, b.i32(Staged{rows}.bytes())));
}

/// As Staged::byteOf, of piece `half` of a row.
Value ComputeRole::byteOfPiece(Value row, Value half) {
  Value swapped = in.bitXor(half, b.remainder(b.divide(row, 4), 2));
  return b.add(b.mul(row, b.i32(Staged::kRowBytes)), b.mul(swapped, b.i32(16)));
}

/// Whether the engine reads tiles that are staged where this one is.
static bool areStoredByBoxes(StoreOp store, const TensorMaps &maps) {
  return llvm::any_of(store->getBlock()->getOps<StoreOp>(), [&](StoreOp other) {
    return maps.numberOf(other).has_value();
  });
}

/// Four 8 x 8 matrices at a time: lane l gives the address of row l % 8 of
/// matrix l / 8.
void ComputeRole::stage(StoreOp store, const Matrix &matrix) {
  Slice slice = Slice::of(store);
  OpBuilder::InsertionGuard guard(b);
  enterIfPresent(slice);
  int64_t rows = slice.extents.front();
  SmallVector<Value> packed;
  for (int64_t r = 0, e = matrix.shape.registers(); r < e; r += 2)
    packed.push_back(in.packPair(matrix.registers[r], matrix.registers[r + 1]));
  // The last tile has been read, by the engine and by all lanes.
  if (areStoredByBoxes(store, plan.maps))
    in.waitForReads();
  in.syncWarp();
  Value row = b.add(b.mul(b.divide(lane, 16), b.i32(8)), b.remainder(lane, 8));
  Value at = in.advance(stagingOf(rows),
                        byteOfPiece(row, b.remainder(b.divide(lane, 8), 2)));
  for (int64_t first = 0; first < rows; first += 16)
    in.storeMatrices(in.advance(at, first * Staged::kRowBytes),
                     ArrayRef(packed).slice(first / 4, 4),
                     /*transposed=*/true);
}

//===----------------------------------------------------------------------===//
// From there to the array
//===----------------------------------------------------------------------===//

void ComputeRole::storeStaged(StoreOp store) {
  Slice slice = Slice::of(store);
  OpBuilder::InsertionGuard guard(b);
  enterIfPresent(slice);
  if (std::optional<int64_t> map = plan.maps.numberOf(store)) {
    Value canUseMap = b.both(kernel.hasTensorMaps(uint64_t(1) << *map),
                             kernel.isOfOneSequence(slice));
    auto choice = scf::IfOp::create(b, TypeRange(), canUseMap, true);
    b.setInsertionPointToStart(choice.thenBlock());
    storeBox(slice, *map);
    b.setInsertionPointToStart(choice.elseBlock());
  }
  storePieces(slice);
}

/// Each lane has what it wrote seen by the engine, and one of them gives the
/// word. Rows and columns outside the array are not written.
void ComputeRole::storeBox(const Slice &slice, int64_t map) {
  hasStoredBoxes = true;
  in.fenceForAsync();
  in.syncWarp();
  OpBuilder::InsertionGuard guard(b);
  auto elected = scf::IfOp::create(b, in.elect());
  b.setInsertionPointToStart(elected.thenBlock());
  Value row = b.wide(kernel.scalars.lookup(slice.offsets.front())),
        column = b.wide(kernel.scalars.lookup(slice.offsets.back())),
        zero = b.i32(0);
  column = b.add(column, b.wide(b.mul(warp, b.i32(Staged::kColumns))));
  in.storeBox(stagingOf(slice.extents.front()), kernel.tensorMap(map, zero),
              kernel.mapCoordinates(slice, row, column, zero));
}

/// A lane has a piece of every 16th row. This is seldom the way: it is a loop,
/// and finds its addresses anew.
void ComputeRole::storePieces(const Slice &slice) {
  in.syncWarp();
  kernel.withOwnPlace(slice, in.opaque(b.i32(0)), [&] {
    int64_t rows = slice.extents.front();
    Value staged = stagingOf(rows), half = b.remainder(lane, 2);
    Value column =
        b.add(b.mul(warp, b.i32(Staged::kColumns)), b.mul(half, b.i32(8)));
    Value isAligned = in.equals(in.bitAnd(kernel.alignmentBits(slice), 15), 0);
    auto loop =
        scf::ForOp::create(b, b.divide(lane, 2), b.i32(rows), b.i32(16));
    keepRolled(loop);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value row = loop.getInductionVar();
    SmallVector<Value, 3> indices = kernel.viewIndices(slice, {row, column});
    if (Value inside = kernel.indicesInside(slice, indices))
      b.setInsertionPointToStart(scf::IfOp::create(b, inside).thenBlock());
    Value piece = in.load(VectorType::get({4}, b.getI32Type()),
                          in.advance(staged, byteOfPiece(row, half)), 16);
    Value to = kernel.safeAddress(slice, indices, Value());
    auto choice = scf::IfOp::create(b, TypeRange(), isAligned, true);
    b.setInsertionPointToStart(choice.thenBlock());
    in.store(piece, to, 16);
    b.setInsertionPointToStart(choice.elseBlock());
    storePiece(piece, to);
  });
}

/// A piece of 16 bytes element by element.
void ComputeRole::storePiece(Value piece, Value to) {
  auto elements = VectorType::get({8}, b.getI16Type());
  Value eight = LLVM::BitcastOp::create(b, elements, piece);
  for (int64_t e = 0; e < 8; ++e)
    in.store(LLVM::ExtractElementOp::create(b, eight, b.i32(e)),
             in.advance(to, e * 2), 2);
}

//===----------------------------------------------------------------------===//
// One iteration later
//===----------------------------------------------------------------------===//

/// The store of a loop that the next iteration ends. There must be a product
/// before it, beside which that is done, and registers: where they are few, the
/// branch beside a product that runs makes ptxas serialise all (C7512).
StoreOp ComputeRole::storeToDelay(scf::ForOp loop) const {
  StoreOp found;
  if (!chain || role.registers < kPlentyOfRegisters ||
      loop.getOps<DotOp>().empty())
    return found;
  DotOp first = *loop.getOps<DotOp>().begin();
  for (auto store : loop.getOps<StoreOp>())
    if (first->isBeforeInBlock(store) && isStaged(store, plan.operands) &&
        llvm::all_of(store.getIndices(), [&](Value index) {
          return index == loop.getInductionVar() ||
                 loop.isDefinedOutsideOfLoop(index);
        }))
      found = store;
  return found;
}

void ComputeRole::storeDelayed() {
  if (!delayed.isStaged)
    return;
  delayed.isStaged = false;
  Value induction = loopOf(role.role).getInductionVar();
  Value now = kernel.scalars.lookup(induction);
  kernel.scalars.map(induction, delayed.index);
  OpBuilder::InsertionGuard guard(b);
  Value isThere = arith::CmpIOp::create(b, arith::CmpIPredicate::sge,
                                        delayed.index, delayed.lower);
  b.setInsertionPointToStart(scf::IfOp::create(b, isThere).thenBlock());
  storeStaged(delayed.store);
  kernel.scalars.map(induction, now);
}
