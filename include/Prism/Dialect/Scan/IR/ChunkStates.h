//===- ChunkStates.h - In which order a chunk takes states ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The states of a recurrence in two strata. A state of one number that depends
// on inputs and on others of its kind alone, by ops that tiles stand for, may
// be stepped through the chunk before all else; its numbers are then known to
// the coefficients of the others. Each of the others is a chain of factors
// whose coefficients are made of inputs and of such numbers. What is made of
// values here follows operands only: a state that cancels counts as read, since
// it would have to be lowered.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_SCAN_IR_CHUNKSTATES_H
#define PRISM_DIALECT_SCAN_IR_CHUNKSTATES_H

#include "Prism/Dialect/Scan/IR/Scan.h"
#include "llvm/ADT/SetVector.h"

namespace prism::scan {

struct ChunkStates {
  /// States of one number that are no chain of factors, or that a coefficient,
  /// or an output by another way than a read, is made of.
  llvm::SmallVector<unsigned> stepped;
  /// The others.
  llvm::SmallVector<unsigned> chained;

  explicit ChunkStates(RecurrenceOp op);
};

/// The values of the step that `value` is made of, itself included, operands
/// first. Neither what a value `isKnown` names is made of nor it itself is
/// looked at.
llvm::SetVector<mlir::Value>
sourcesOf(RecurrenceOp op, mlir::ValueRange values,
          llvm::function_ref<bool(mlir::Value)> isKnown);

/// The operands of a factor that are no states.
llvm::SmallVector<mlir::Value> coefficientsOf(StateOpInterface factor);

/// The reads that an output is made of, in the order in which it needs them.
llvm::SmallVector<mlir::Value> readsAmong(RecurrenceOp op, mlir::Value output);

/// Do two states, both chains of factors, differ at most in what is written
/// along their keys? What readers see of writers, and decays, are then the
/// same.
bool haveSameScores(RecurrenceOp op, unsigned a, unsigned b);

/// Is every output a read?
bool outputsAreReads(RecurrenceOp op);

/// Does a state decay along its values or its elements, which leaves no chunk
/// form?
bool decaysValuesOrElements(RecurrenceOp op);

} // namespace prism::scan

#endif // PRISM_DIALECT_SCAN_IR_CHUNKSTATES_H
