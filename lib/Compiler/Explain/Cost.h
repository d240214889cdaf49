//===- Cost.h - What a recurrence costs, by its factors ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_COMPILER_EXPLAIN_COST_H
#define PRISM_LIB_COMPILER_EXPLAIN_COST_H

#include "Prism/Dialect/Scan/IR/Scan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace prism::explain {

/// Of one state, in chunks.
struct ChainCost {
  int64_t keys = 0, values = 0, erases = 0, injects = 0, reads = 0;
  /// What readers see of writers is what they see in an earlier state.
  bool sharesScores = false;

  int64_t chunked(scan::PlanAttr plan) const;
};

/// Multiply-adds count two; per token and value head, of the recurrence itself,
/// all its states, and of the other ops of a serial step.
class Cost {
public:
  explicit Cost(scan::RecurrenceOp op);

  /// Token by token: the decays of a state are 1, an erase 4, a write 2, a read
  /// 2, another operation on a state 1 per element of that state.
  int64_t recurrent() const { return stepped; }
  /// In chunks of C tokens, dense C x C, direct solve. Every block of value
  /// columns computes the scores of its own.
  int64_t chunked(scan::PlanAttr plan) const;

private:
  void describeStates(scan::RecurrenceOp op);

  llvm::SmallVector<ChainCost> states;
  int64_t stepped = 0;
};

/// Bytes of one token, all heads: its inputs and outputs.
int64_t bytesPerToken(scan::RecurrenceOp op);

/// What a stepping entry, one token a call, moves besides: the state, in and
/// out. Over a sequence the state stays on the chip.
int64_t stateBytesPerToken(mlir::func::FuncOp entry, scan::RecurrenceOp op);

} // namespace prism::explain

#endif // PRISM_LIB_COMPILER_EXPLAIN_COST_H
