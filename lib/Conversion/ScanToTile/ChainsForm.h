//===- ChainsForm.h - Chains of factors and what is read of them -*- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A chunk of a recurrence of one or more states: states of one number that
// others are made of first (NumberStates), then each chain of factors by itself
// (ChunkForm), then the outputs, row by row, from what was read. Chains do not
// know each other; what they compute alike, scores and decays of the same keys
// and gates, is the same ops and merges.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_SCANTOTILE_CHAINSFORM_H
#define PRISM_LIB_CONVERSION_SCANTOTILE_CHAINSFORM_H

#include "ChunkForm.h"
#include "NumberStates.h"
#include "Prism/Dialect/Scan/IR/ChunkStates.h"

namespace prism {

class ChainsForm {
public:
  explicit ChainsForm(scan::RecurrenceOp op) : op(op), states(op) {}

  /// Finds the chains and the reads of each. Fails, with a diagnostic, where a
  /// state is no chain, or a read or an erase is of another state.
  mlir::LogicalResult collect();

  /// The chains that were collected, in the states' order.
  struct Chain {
    unsigned state;
    /// What the chain begins with: the state, or its transpose if the array of
    /// the state has values first.
    mlir::Value start;
    llvm::SmallVector<scan::StateOpInterface> factors;
    llvm::SmallVector<scan::ReadOp> reads;
  };
  llvm::ArrayRef<Chain> getChains() const { return chains; }

  /// Emits the algebra for the entering states; fills one output tile per
  /// output and returns the leaving states.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  emit(TileBuilder &tb, TokenTiles &tokens, NumberStates::TilesAt tilesAt,
       int64_t chunk, int64_t valueBlock, mlir::Value first,
       mlir::ValueRange entering, llvm::SmallVectorImpl<mlir::Value> &outputs);

private:
  bool isOn(const Chain &chain, mlir::Value state);
  mlir::LogicalResult collectReads();

  scan::RecurrenceOp op;
  scan::ChunkStates states;
  llvm::SmallVector<Chain> chains;
};

} // namespace prism

#endif // PRISM_LIB_CONVERSION_SCANTOTILE_CHAINSFORM_H
