//===- StateMap.h - A recurrence as a map of its initial states -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_ANALYSIS_STATEMAP_H
#define PRISM_UNITTESTS_ANALYSIS_STATEMAP_H

#include "Prism/Analysis/StateFlow.h"
#include "Prism/Interpreter/Interpreter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <random>
#include <string>

namespace prism::analysis {

/// A context with the dialects that a step may hold; collects diagnostics.
class TestContext {
public:
  TestContext();

  mlir::MLIRContext context;
  std::string messages;
  unsigned errors = 0, notes = 0, unlocated = 0;
};

/// The first entry function of a module on random inputs, as a map from the
/// initial states of its recurrence to the final ones, evaluated in f64.
class StateMap {
public:
  StateMap(mlir::ModuleOp module, int64_t steps, uint64_t seed);

  /// How far the map is from affine, of its values' size: the larger one of
  /// F(x + y) - F(x) - F(y) + F(0) and F(2 x) - 2 F(x) + F(0). Nothing if a
  /// value is not finite or cannot be evaluated.
  std::optional<double> residual();

  scan::RecurrenceOp recurrence;

private:
  using States = std::vector<std::vector<double>>;
  std::optional<std::vector<double>> apply(const States &states);
  interpreter::Array randomArray(mlir::Type type, llvm::StringRef axes);

  mlir::func::FuncOp entry;
  int64_t steps;
  std::mt19937_64 random;
  interpreter::Arrays inputs;
};

} // namespace prism::analysis

#endif // PRISM_UNITTESTS_ANALYSIS_STATEMAP_H
