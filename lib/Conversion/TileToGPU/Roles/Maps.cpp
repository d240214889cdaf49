//===- Maps.cpp - Maps of segments, stored and folded ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Where maps of segments are diagonal, S -> M S + B touches each element of the
// state for itself: a segment starts by going over the maps of those before it,
// in the registers that it needs the state in. What it waits for is memory, so
// the maps lie as these registers do (Layouts.h, Slabs), and of a part of the
// state those of some segments are loaded before the first is taken.
//
//===----------------------------------------------------------------------===//

#include "ComputeRole.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// Segments whose maps are loaded together, and pieces of 8 keys of each: 64
/// registers of terms and 32 of factors.
static constexpr int64_t kMapsTogether = 4, kPiecesTogether = 4;

/// The slab of this warp's columns in a tile that begins at a column, i64.
Value ComputeRole::slabOfWarp(Value column) {
  Value first = b.wide(kernel.scalars.lookup(column));
  return b.add(b.divide(first, Slabs::kColumns), b.wide(warp));
}

/// The registers of a tile that may be a repeated scalar.
SmallVector<Value> ComputeRole::allRegisters(Value tile) {
  Matrix &matrix = materialize(tile);
  if (matrix.kind == Matrix::Kind::Splat)
    return SmallVector<Value>(matrix.shape.registers(), matrix.scalar);
  return matrix.registers;
}

static int64_t slabsOf(Value map) {
  ArrayRef<int64_t> shape = cast<ViewType>(map.getType()).getShape();
  return shape[shape.size() - 2];
}

void ComputeRole::emitStoreMap(StoreMapOp store) {
  assert(chain && "maps are stored as the chain holds states");
  SmallVector<Value> registers = allRegisters(store.getValue());
  Value slab = slabOfWarp(store.getColumn()),
        inside = b.below(slab, b.i64(slabsOf(store.getMap())));
  // Rows beyond the block of values pad the warpgroups.
  int64_t columns = store.getValue().getType().getDimSize(1);
  if (columns % kRowsOfGroup)
    inside = b.both(inside, b.below(warp, b.i32(columns / Slabs::kColumns)));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(scf::IfOp::create(b, inside).thenBlock());
  Value to = in.advance(kernel.addressOfSlab(store.getMap(), Value(), slab),
                        b.mul(lane, b.i32(Slabs::kLaneBytes)));
  auto four = VectorType::get({Slabs::kRegisters}, b.getF32Type());
  for (size_t r = 0; r < registers.size(); r += Slabs::kRegisters) {
    Value piece = LLVM::UndefOp::create(b, four);
    for (int64_t i = 0; i < Slabs::kRegisters; ++i)
      piece =
          LLVM::InsertElementOp::create(b, piece, registers[r + i], b.i32(i));
    in.store(piece, in.advance(to, r / Slabs::kRegisters * Slabs::kPieceBytes),
             16);
  }
}

/// Those of segments `first`, first + 1, ...; behind the last one before this
/// it is loaded again in their place. Columns behind the last slab, which pad
/// the warpgroups and are stored nowhere, are those of that slab.
SmallVector<ComputeRole::MapBefore, 4> ComputeRole::mapsBefore(FoldMapsOp fold,
                                                               Value first) {
  Slabs layout{fold.getResult().getType().getDimSize(0)};
  int64_t factors = fold.getFactors();
  Value slab = b.minimum(slabOfWarp(fold.getColumn()),
                         b.i64(slabsOf(fold.getMap()) - 1));
  Value last = b.sub(kernel.segment(), b.i64(1));
  Value ofLane = b.mul(lane, b.i32(Slabs::kLaneBytes)),
        ofKeys = b.mul(b.remainder(lane, 4), b.i32(Slabs::kLaneBytes));
  SmallVector<MapBefore, 4> maps;
  for (int64_t i = 0; i < kMapsTogether; ++i) {
    Value segment = b.add(first, b.i64(i)), isThere;
    if (i > 0) {
      isThere = b.below(segment, kernel.segment());
      segment = b.minimum(segment, last);
    }
    Value terms = kernel.addressOfSlab(fold.getMap(), segment, slab),
          begin = kernel.addressOfSlab(fold.getMap(), segment, b.i64(0));
    maps.push_back(
        {in.advance(terms, ofLane),
         in.advance(in.advance(begin, ofKeys), layout.byteOf(0, factors)),
         isThere});
  }
  return maps;
}

ComputeRole::MapPieces ComputeRole::loadPieces(ArrayRef<MapBefore> maps,
                                               int64_t first, int64_t count) {
  auto vector = [&](int64_t length) {
    return VectorType::get({length}, b.getF32Type());
  };
  MapPieces pieces;
  for (const MapBefore &map : maps)
    for (int64_t piece = first; piece < first + count; ++piece) {
      int64_t byte = piece * Slabs::kPieceBytes;
      pieces.push_back(
          {in.load(vector(Slabs::kRegisters), in.advance(map.terms, byte), 16),
           in.load(vector(2), in.advance(map.factors, byte), 8)});
    }
  return pieces;
}

/// A product and a sum for each element, rounded each, as `combine` does it.
void ComputeRole::foldPieces(ArrayRef<MapBefore> maps, const MapPieces &pieces,
                             MutableArrayRef<Value> state) {
  size_t count = pieces.size() / maps.size();
  auto element = [&](Value vector, int64_t i) {
    return LLVM::ExtractElementOp::create(b, vector, b.i32(i));
  };
  for (auto [m, map] : llvm::enumerate(maps))
    for (size_t piece = 0; piece < count; ++piece) {
      const MapPiece &loaded = pieces[m * count + piece];
      for (int64_t i = 0; i < Slabs::kRegisters; ++i) {
        Value &now = state[piece * Slabs::kRegisters + i];
        Value kept = b.mul(element(loaded.factors, i % 2), now);
        Value next = b.add(kept, element(loaded.terms, i));
        now = map.isThere ? b.select(map.isThere, next, now) : next;
      }
    }
}

/// A loop over the segments before this one for so many pieces of the state.
/// Loads of one in a loop of all would be moved together, and spill.
void ComputeRole::foldAll(FoldMapsOp fold, int64_t first,
                          MutableArrayRef<Value> state) {
  auto loop = scf::ForOp::create(b, b.i64(0), kernel.segment(),
                                 b.i64(kMapsTogether), ValueRange(state));
  keepRolled(loop);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> now(loop.getRegionIterArgs());
  auto maps = mapsBefore(fold, loop.getInductionVar());
  foldPieces(maps,
             loadPieces(maps, first, int64_t(now.size()) / Slabs::kRegisters),
             now);
  scf::YieldOp::create(b, now);
  llvm::copy(loop.getResults(), state.begin());
}

void ComputeRole::emitFoldMaps(FoldMapsOp fold) {
  assert(chain && "maps are folded as the chain holds states");
  SmallVector<Value> state = allRegisters(fold.getState());
  MutableArrayRef<Value> left = state;
  for (int64_t first = 0; !left.empty(); first += kPiecesTogether) {
    size_t count =
        std::min<size_t>(left.size(), kPiecesTogether * Slabs::kRegisters);
    foldAll(fold, first, left.take_front(count));
    left = left.drop_front(count);
  }
  define(fold.getResult(), state);
}
