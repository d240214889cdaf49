//===- StateFlow.h - How the states flow through a step ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Follows the states of a recurrence from their block arguments to the values
// that the step yields, through nested regions, control flow, calls and values
// captured from outside. Every value becomes a form (StateForm.h), with the
// values it was made of, so that a path from a state can be shown. What is not
// understood counts as an arbitrary function of what it reads; an op that may
// read memory counts as an arbitrary function of the state.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_ANALYSIS_STATEFLOW_H
#define PRISM_ANALYSIS_STATEFLOW_H

#include "Prism/Analysis/StateForm.h"
#include "Prism/Dialect/Scan/IR/Scan.h"
#include "llvm/ADT/DenseMap.h"
#include <string>

namespace prism::analysis {

/// A value as it was computed once: in a loop that is followed turn by turn,
/// or a function called twice, a value has several.
struct FlowNode {
  mlir::Value value;
  Form form;
  llvm::SmallVector<const FlowNode *, 2> inputs;

  Dependence dependence() const { return dependenceOf(form); }
  /// The op that computes it, null for a block argument.
  mlir::Operation *op() const { return value.getDefiningOp(); }
};

/// The smallest granularity at which the states obey an affine recurrence.
enum class Granularity { token, miniBatch, none };

/// As attributes and options spell it: token, mini_batch, none.
llvm::StringRef stringify(Granularity granularity);

class StateFlow {
public:
  /// With a `cut`, a value of the step, that value counts as a state of its own
  /// that nothing is known of. States that are `given` count as inputs: they
  /// are known before the others.
  explicit StateFlow(scan::RecurrenceOp op, mlir::Value cut = {},
                     llvm::ArrayRef<unsigned> given = {});

  scan::RecurrenceOp op;
  FormContext forms;
  llvm::SmallVector<const FlowNode *> states, entries, inputs;
  /// What the step yields: the next states and the outputs.
  llvm::SmallVector<const FlowNode *> nextStates, outputs;

  /// What was found of a value of the step's block.
  const FlowNode *nodeOf(mlir::Value value) const {
    return values.lookup(value);
  }
  Granularity granularity() const;
  /// Does the state count as an input?
  bool isGiven(unsigned state) const {
    return states[state]->dependence() == Dependence::none;
  }
  /// Of a recurrence that is affine at no granularity: where and why, in one
  /// sentence.
  std::pair<mlir::Location, std::string> blame() const;
  /// Reports, with the path, why the recurrence is not affine in its states at
  /// the granularity asked for.
  void report(Granularity wanted, mlir::DiagnosticSeverity severity =
                                      mlir::DiagnosticSeverity::Error) const;

private:
  /// The first state that is not affine, if there is one.
  std::optional<unsigned> notAffine() const;

  std::deque<FlowNode> nodes;
  llvm::DenseMap<mlir::Value, const FlowNode *> values;
};

} // namespace prism::analysis

#endif // PRISM_ANALYSIS_STATEFLOW_H
