//===- StateFactor.h - What a state factor tells its readers ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The two conversations a state factor (StateOpInterface) takes part in:
//
//  * ChunkAssembler: a lowering walks the chain in order and every factor adds
//    its contribution: a log-gate, an erase (a writer whose value has to be
//    solved for) or an injection (a writer whose value is known). The assembler
//    turns contributions into the chunk form; it never asks which op it was.
//  * StepState: one step on f64 values, the definition the oracle evaluates.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_SCAN_IR_STATEFACTOR_H
#define PRISM_DIALECT_SCAN_IR_STATEFACTOR_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"

namespace prism::scan {

enum class DecayAlong : uint32_t;

/// Collects the contributions of a chain of factors, in order. All values are
/// values of the recurrence's step region.
class ChunkAssembler {
public:
  virtual ~ChunkAssembler() = default;

  /// S <- exp(logGate) S. `along` says what one gate covers.
  virtual void addDecay(mlir::Value logGate, DecayAlong along) = 0;

  /// S <- S - sum_r strength_r write_r (read_r^T P), where P is the state value
  /// `of` (the factor's own state operand, or an earlier one of the chain).
  virtual void addErase(mlir::Value of, mlir::Value read, mlir::Value write,
                        mlir::Value strength) = 0;

  /// S <- S + sum_l scale_l key_l value_l^T; `scale` may be null (1).
  virtual void addInject(mlir::Value key, mlir::Value value,
                         mlir::Value scale) = 0;
};

/// One state during one step, as f64 values, row major, keys x values.
class StepState {
public:
  virtual ~StepState() = default;
  /// The state to change in place.
  virtual llvm::MutableArrayRef<double> state() = 0;
  virtual int64_t keys() const = 0;
  virtual int64_t values() const = 0;
  /// The f64 values of a scalar or tensor of the step region, row major.
  virtual llvm::ArrayRef<double> get(mlir::Value value) = 0;
  /// Memory for `size` values of the factor's own, valid during this step;
  /// contents are unspecified.
  virtual llvm::MutableArrayRef<double> scratch(int64_t size) = 0;
};

} // namespace prism::scan

#endif // PRISM_DIALECT_SCAN_IR_STATEFACTOR_H
