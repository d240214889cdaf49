//===- ChunkDecays.h - What a chain's decays do within a chunk --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The chunk form asks four things of the decays of a chain: what a reader sees
// of the entering state, how much of a writer a reader sees, and what is left
// of the state and of a writer when the chunk ends. Two answers:
//
//  * one gate for the whole state: sums of log-gates in f64, differences of
//    which are masked before exp (tile.gate_sum, tile.decay_matrix);
//  * a gate per key: each key's decay stands inside the contraction over keys
//    (tile.decayed_dot), and what reaches to the chunk's ends is a product of
//    decays (tile.decay_product). Nothing is divided or subtracted, so every
//    factor is as exact as a step's, also beside a decay of 0.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_SCANTOTILE_CHUNKDECAYS_H
#define PRISM_LIB_CONVERSION_SCANTOTILE_CHUNKDECAYS_H

#include "Prism/Dialect/Scan/IR/Scan.h"
#include "TileBuilder.h"
#include "TokenTiles.h"
#include <memory>

namespace prism {

/// One decay of the chain, at its place.
struct ChainDecay {
  int64_t place;
  mlir::Value logGate;
  scan::DecayAlong along;
};

/// Rows that read (one per token and `order` entry), ready as tiles.
struct ChunkReader {
  mlir::Value keys;
  llvm::SmallVector<int64_t> order;
};

/// Rows that write.
struct ChunkWriter {
  mlir::Value keys, values;
  llvm::SmallVector<int64_t> order;
};

class ChunkDecays {
public:
  ChunkDecays(TileBuilder &tb, TokenTiles &tokens, int64_t chunk, int64_t keys,
              llvm::ArrayRef<ChainDecay> decays)
      : tb(tb), tokens(tokens), chunk(chunk), keys(keys), decays(decays) {}
  virtual ~ChunkDecays() = default;

  /// Makes the tiles of gates; fails, with a diagnostic, if one has none.
  virtual llvm::LogicalResult emitGates() = 0;
  /// What a reader sees of the state that enters the chunk.
  virtual mlir::Value entering(const ChunkReader &reader,
                               mlir::Value state) = 0;
  /// Products of the readers' and the writers' keys, decayed from the one's
  /// place to the other's, where seen, else 0. `isSystem`: for a solve, which
  /// does not look at its diagonal.
  virtual mlir::Value coupling(const ChunkReader &reader,
                               const ChunkWriter &writer, bool isSystem) = 0;
  /// The entering state at the chunk's end, and a writer's keys there.
  virtual mlir::Value stateAtEnd(mlir::Value state) = 0;
  virtual mlir::Value keysAtEnd(const ChunkWriter &writer) = 0;

protected:
  /// Places of a reader's rows towards a writer. A solve does not read its
  /// diagonal, so a system of one row a token may see its own token's writer:
  /// the same matrix as the reads'. A read at a writer's place stands before
  /// the writer and must not.
  static llvm::SmallVector<int64_t> placesOf(const ChunkReader &reader,
                                             const ChunkWriter &writer,
                                             bool isSystem) {
    llvm::SmallVector<int64_t> places(reader.order);
    if (isSystem && places.size() == 1 && places == writer.order)
      ++places.front();
    return places;
  }

  TileBuilder &tb;
  TokenTiles &tokens;
  int64_t chunk, keys;
  llvm::SmallVector<ChainDecay> decays;
};

/// Decays of which each covers the whole state.
std::unique_ptr<ChunkDecays>
makeScalarDecays(TileBuilder &tb, TokenTiles &tokens, int64_t chunk,
                 int64_t keys, llvm::ArrayRef<ChainDecay> decays);
/// Decays of which some have a gate per key.
std::unique_ptr<ChunkDecays> makeKeyDecays(TileBuilder &tb, TokenTiles &tokens,
                                           int64_t chunk, int64_t keys,
                                           llvm::ArrayRef<ChainDecay> decays);

/// Places matter by their order alone: numbered anew from 0, equal relations
/// are equal attributes.
class PlaceOrder {
public:
  PlaceOrder(std::initializer_list<llvm::ArrayRef<int64_t>> places);
  llvm::SmallVector<int64_t> renumber(llvm::ArrayRef<int64_t> places) const;

private:
  llvm::SmallVector<int64_t> all;
};

} // namespace prism

#endif // PRISM_LIB_CONVERSION_SCANTOTILE_CHUNKDECAYS_H
