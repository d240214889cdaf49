//===- StateMap.cpp - A recurrence as a map of its initial states ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "StateMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include <cmath>

using namespace mlir;
using namespace prism;
using namespace prism::analysis;
using interpreter::Array;

TestContext::TestContext() : context(MLIRContext::Threading::DISABLED) {
  context
      .loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                   func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
                   scan::ScanDialect, scf::SCFDialect, tensor::TensorDialect>();
  context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
    unlocated += isa<UnknownLoc>(diagnostic.getLocation());
    for (Diagnostic &note : diagnostic.getNotes()) {
      messages += "  " + note.str() + "\n";
      unlocated += isa<UnknownLoc>(note.getLocation());
      ++notes;
    }
    return success();
  });
}

StateMap::StateMap(ModuleOp module, int64_t steps, uint64_t seed)
    : steps(steps), random(seed) {
  module.walk([&](scan::RecurrenceOp op) {
    recurrence = op;
    entry = op->getParentOfType<func::FuncOp>();
    return WalkResult::interrupt();
  });
  for (auto [i, value] : llvm::enumerate(recurrence.getInputs())) {
    unsigned argument = cast<BlockArgument>(value).getArgNumber();
    inputs[interpreter::getArgumentName(entry, argument)] =
        randomArray(value.getType(), recurrence.getInputAxes(i));
  }
}

Array StateMap::randomArray(Type type, StringRef axes) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(type).getShape());
  for (auto [extent, letter] : llvm::zip_equal(shape, axes))
    if (ShapedType::isDynamic(extent))
      extent = letter == 't' ? steps : 1;
  Array array(shape);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (double &x : array.data)
    x = uniform(random);
  return array;
}

std::optional<std::vector<double>> StateMap::apply(const States &states) {
  interpreter::Arrays all = inputs;
  for (auto [i, value] : llvm::enumerate(recurrence.getInitialStates())) {
    StringRef axes =
        cast<StringAttr>(recurrence.getInitialAxes()[i]).getValue();
    Array array = randomArray(value.getType(), axes);
    array.data = states[i];
    unsigned argument = cast<BlockArgument>(value).getArgNumber();
    all[interpreter::getArgumentName(entry, argument)] = std::move(array);
  }
  FailureOr<interpreter::Arrays> results = interpreter::evaluate(entry, all);
  if (failed(results))
    return std::nullopt;
  std::vector<double> finals;
  for (unsigned i = 0, e = recurrence.getNumStates(); i < e; ++i) {
    unsigned result = recurrence.getOutputs().size() + i;
    const Array &array = (*results)[interpreter::getResultName(entry, result)];
    llvm::append_range(finals, array.data);
  }
  for (double x : finals)
    if (!std::isfinite(x))
      return std::nullopt;
  return finals;
}

std::optional<double> StateMap::residual() {
  States zero, x, y, sum, twice;
  for (auto [i, value] : llvm::enumerate(recurrence.getInitialStates())) {
    StringRef axes =
        cast<StringAttr>(recurrence.getInitialAxes()[i]).getValue();
    x.push_back(randomArray(value.getType(), axes).data);
    y.push_back(randomArray(value.getType(), axes).data);
    zero.emplace_back(x.back().size(), 0.0);
    for (auto &[a, b] : {std::pair(&sum, &y), std::pair(&twice, &x)}) {
      a->push_back(x.back());
      for (auto [to, from] : llvm::zip_equal(a->back(), b->back()))
        to += from;
    }
  }
  auto f0 = apply(zero), fx = apply(x), fy = apply(y), fsum = apply(sum),
       ftwice = apply(twice);
  if (!f0 || !fx || !fy || !fsum || !ftwice)
    return std::nullopt;
  // What cancels but for rounding counts as 0: inputs and states are about 1.
  double error = 0.0, size = 1e-6;
  for (size_t i = 0; i < f0->size(); ++i) {
    double a = (*f0)[i], b = (*fx)[i], c = (*fy)[i];
    error = std::max(error, std::abs((*fsum)[i] - b - c + a));
    error = std::max(error, std::abs((*ftwice)[i] - 2.0 * b + a));
    for (double value : {a, b, c, (*fsum)[i], (*ftwice)[i]})
      size = std::max(size, std::abs(value));
  }
  return error / size;
}
