//===- EmitPrefetches.cpp - Rows that are asked for ahead of their use ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Emitter.h"

using namespace mlir;
using namespace prism;
using namespace prism::tiletocpu;

/// Asks for the rows that the next chunk (or, a token at a time, a token some
/// way ahead) will touch: rows of one head lie far apart, which the hardware's
/// own prefetcher does not follow. An address past the end does no harm. The
/// rows of a chunk are asked for one by one beside the rows of the carried
/// tile's update where that is long (all at once they would wait for each
/// other), else when the chunk's own rows are read. They go to the second-level
/// cache: its queue is longer, and the first level is full of tiles. Of a long
/// single row each line is asked for beside the evaluation of as long a part of
/// a row: a burst of them would fill the queue, and then nothing be under way
/// while the row is evaluated.
void Emitter::prefetchNext(const Slice &slice, RankedTensorType type,
                           bool write) {
  constexpr int64_t kLeastRowsAhead = 8, kLongRow = 1024;
  int64_t rows = rowsOf(type);
  int64_t bytes = columnsOf(type) * slice.element.getIntOrFloatBitWidth() / 8;
  Value ahead = mul(c(std::max(rows, kLeastRowsAhead)), slice.rowStride);
  Prefetch prefetch{gep(slice.pointer, slice.element, ahead),
                    slice.rowStride,
                    slice.element,
                    rows,
                    columnsOf(type),
                    bytes,
                    write};
  if (rows == 1 && bytes >= kLongRow)
    pendingRows.push_back(prefetch);
  else if (rows >= kLeastRowsAhead)
    pendingPrefetches.push_back(prefetch);
  else
    loop(0, rows, 1, [&](Value row) { emitPrefetch(prefetch, row); });
}

void Emitter::emitPrefetch(const Prefetch &prefetch, Value row) {
  constexpr int64_t kLine = 64;
  Value pointer =
      gep(prefetch.pointer, prefetch.element, mul(row, prefetch.rowStride));
  for (int64_t offset = 0; offset < prefetch.bytes; offset += kLine)
    LLVM::Prefetch::create(b, gep(pointer, b.getI8Type(), offset),
                           prefetch.write, /*hint=*/2, /*cache=*/1);
}

/// One tile's share of the pending prefetches, where row tiles of `numRows` run
/// over `rows` rows.
void Emitter::emitPendingPrefetches(Value row, int64_t numRows, int64_t rows) {
  int64_t tiles = std::max<int64_t>(1, rows / numRows);
  for (const Prefetch &prefetch : pendingPrefetches) {
    int64_t share = llvm::divideCeil(prefetch.rows, tiles);
    Value first = mul(arith::DivUIOp::create(b, row, c(numRows)), c(share));
    loop(0, share, 1, [&](Value i) { emitPrefetch(prefetch, add(first, i)); });
  }
}

/// What no tile was long enough to be asked for beside is asked for at once,
/// where the chunk's own rows are read.
void Emitter::flushPrefetches() {
  for (const Prefetch &prefetch : pendingPrefetches) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(prefetch.pointer);
    loop(0, prefetch.rows, 1, [&](Value row) { emitPrefetch(prefetch, row); });
  }
  pendingPrefetches.clear();
}

/// Where a row that a later store of the block writes will lie next time, if
/// that is known here already.
void Emitter::prefetchStores(Block *block) {
  for (auto store : block->getOps<tile::StoreOp>()) {
    RankedTensorType type = tileType(store.getValue());
    unsigned number = cast<BlockArgument>(store.getView()).getArgNumber();
    if (type.getRank() != 2 || rowsOf(type) != 1 || store.getOneStep() ||
        program.getArgument_(number).getOptional() ||
        !llvm::all_of(store.getIndices(),
                      [&](Value index) { return map.contains(index); }) ||
        prefetchedStores.contains(store))
      continue;
    Slice slice =
        sliceOf(store.getView(), store.getIndices(), type, /*oneStep=*/false);
    if (slice.columnStride)
      continue;
    prefetchedStores.insert(store);
    prefetchNext(slice, type, /*write=*/true);
  }
}

/// The lines of pending rows that lie under a tile of a row of as many columns.
void Emitter::emitRowPrefetches(RankedTensorType type,
                                const RegisterTile &tile) {
  constexpr int64_t kLine = 64;
  for (const Prefetch &prefetch : pendingRows) {
    if (prefetch.columns != columnsOf(type))
      continue;
    int64_t width = prefetch.element.getIntOrFloatBitWidth() / 8;
    Value pointer = gep(prefetch.pointer, prefetch.element, tile.column);
    for (int64_t offset = 0; offset < tile.numVectors * tile.lanes * width;
         offset += kLine)
      LLVM::Prefetch::create(b, gep(pointer, b.getI8Type(), offset),
                             prefetch.write, /*hint=*/2, /*cache=*/1);
  }
}

void Emitter::flushRowPrefetches() {
  for (const Prefetch &prefetch : pendingRows)
    emitPrefetch(prefetch, c(0));
  pendingRows.clear();
}
