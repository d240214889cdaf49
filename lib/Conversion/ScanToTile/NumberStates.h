//===- NumberStates.h - States of one number through a chunk ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// States of one number that depend on inputs and each other alone are stepped
// through the chunk, token by token, whatever their steps compute. What they
// were before each token is then a column of numbers, from which coefficients
// of other states and outputs are computed for all tokens at once, as from an
// input. Past the sequence's end they stay what they were.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_SCANTOTILE_NUMBERSTATES_H
#define PRISM_LIB_CONVERSION_SCANTOTILE_NUMBERSTATES_H

#include "StepForm.h"
#include "llvm/ADT/MapVector.h"

namespace prism {

class NumberStates {
public:
  /// Makes the tiles of tokens from, as TokenTiles, the step of the first one.
  using TilesAt =
      llvm::function_ref<TokenTiles(int64_t chunk, mlir::Value first)>;

  NumberStates(TileBuilder &tb, scan::RecurrenceOp op,
               llvm::ArrayRef<unsigned> states);

  /// Steps through a chunk that begins at step `first`, tells `tokens` what the
  /// states were before each token and what was read of them, and puts what
  /// they are at its end into `carried`, where they were before it.
  mlir::LogicalResult emit(TokenTiles &tokens, TilesAt tilesAt, int64_t chunk,
                           mlir::Value first,
                           llvm::MutableArrayRef<mlir::Value> carried);

private:
  mlir::LogicalResult stepToken(TokenTiles &token,
                                llvm::MutableArrayRef<mlir::Value> carried);

  TileBuilder &tb;
  scan::RecurrenceOp op;
  llvm::SmallVector<unsigned> states;
  llvm::SmallVector<mlir::Operation *> ops; // factors and reads of the states
  /// Of each value that others may be made of (the states as they enter the
  /// step, results of `ops`), its tiles, token by token.
  llvm::MapVector<mlir::Value, llvm::SmallVector<mlir::Value>> seen;
};

} // namespace prism

#endif // PRISM_LIB_CONVERSION_SCANTOTILE_NUMBERSTATES_H
