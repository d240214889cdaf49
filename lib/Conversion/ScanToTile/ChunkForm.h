//===- ChunkForm.h - A chain of factors over a chunk of tokens --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Let H be the state entering a chunk of C tokens, and number the factors of a
// step's chain by their place. At every place the state is
//
//   S = exp(G) H + sum over writers w before it of exp(G - G_w) key_w value_w^T
//
// where G is the sum of all log-gates so far. An injection is a writer with
// known values, an erase one whose values X depend on what its read keys see:
//
//   X_e = addend_e - strength_e (exp(G_e) read_e H + sum over writers w before
//   e
//                                of exp(G_e - G_w) (read_e key_w^T) value_w)
//
// Stacking the erases of a token in chain order, token after token, makes this
// one unit lower triangular system (I + A) X = R, C x C for a rank-1 erase. A
// read is the same sum with its query for the key. With a gate per key exp(G)
// is diagonal and stands between the keys. Which op contributed what does not
// matter.
// Source: the WY/UT form of Gated DeltaNet, extended to chains.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_SCANTOTILE_CHUNKFORM_H
#define PRISM_LIB_CONVERSION_SCANTOTILE_CHUNKFORM_H

#include "ChunkDecays.h"

namespace prism {

class ChunkForm final : public scan::ChunkAssembler {
public:
  ChunkForm(TileBuilder &tb, TokenTiles &tokens, int64_t chunk, int64_t keys,
            int64_t valueBlock)
      : tb(tb), tokens(tokens), chunk(chunk), keys(keys),
        valueBlock(valueBlock) {}

  /// Collects the contributions of a chain, whose factors all have a chunk
  /// form, and the reads of its states. `entered` is the state at the entry of
  /// the mini-batch that the chunk is, or null.
  void collect(llvm::ArrayRef<scan::StateOpInterface> chain, mlir::Value start,
               mlir::Value entered, llvm::ArrayRef<scan::ReadOp> reads);

  /// Emits the algebra for the entering state; fills one output tile per read
  /// and returns the leaving state.
  mlir::FailureOr<mlir::Value>
  emit(mlir::Value state, llvm::SmallVectorImpl<mlir::Value> &outputs);

  /// Has some decay a gate per key?
  bool decaysKeys() const;

  void addDecay(mlir::Value logGate, scan::DecayAlong along) override;
  void addErase(mlir::Value of, mlir::Value read, mlir::Value write,
                mlir::Value strength) override;
  void addInject(mlir::Value key, mlir::Value value,
                 mlir::Value scale) override;

private:
  /// One rank of an erase; its written values are unknown.
  struct Erase {
    int64_t readPlace, writePlace, rank;
    mlir::Value read, write, strength;
    /// A tied injection: same key, nothing in between. Its value joins X.
    mlir::Value tiedValue, tiedScale;
  };
  /// One rank of an injection.
  struct Inject {
    int64_t place, rank;
    mlir::Value key, value, scale;
  };
  void tieInjections();
  bool isObserved(int64_t afterPlace, int64_t upToPlace) const;
  mlir::LogicalResult emitKnownWriters();
  mlir::LogicalResult emitAnchored(mlir::Value state);
  mlir::LogicalResult emitErases(mlir::Value state);
  bool sees(const ChunkReader &reader, const ChunkWriter &writer) const;
  mlir::Value addSeen(const ChunkReader &reader, const ChunkWriter &writer,
                      mlir::Value acc);
  mlir::Value leave(mlir::Value state);

  TileBuilder &tb;
  TokenTiles &tokens;
  int64_t chunk, keys, valueBlock;
  llvm::SmallVector<mlir::Value>
      states; // states[j]: the chain's state after j factors
  llvm::SmallVector<ChainDecay> list;
  llvm::SmallVector<Erase> erases;
  /// Erases that read the state at the mini-batch's entry: what they write is
  /// known.
  llvm::SmallVector<Erase> anchored;
  mlir::Value entered;
  llvm::SmallVector<Inject> injects;
  llvm::SmallVector<scan::ReadOp> reads;
  int64_t place = 0;

  std::unique_ptr<ChunkDecays> decays; // what `list` comes to
  llvm::SmallVector<ChunkWriter> writers;
};

} // namespace prism

#endif // PRISM_LIB_CONVERSION_SCANTOTILE_CHUNKFORM_H
