//===- RecurrenceRun.cpp - One recurrence on bound arrays -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Runs every (sequence, value head) from its initial to its final state. Such
// items do not depend on each other.
//
//===----------------------------------------------------------------------===//

#include "ScanRuns.h"
#include "StepProgram.h"
#include "mlir/IR/Threading.h"

using namespace mlir;
using namespace prism;
using namespace prism::interpreter;

namespace {
class RecurrenceRun {
public:
  RecurrenceRun(scan::RecurrenceOp op, StepProgram program)
      : op(op), program(std::move(program)), call(op) {}

  LogicalResult bind(const Bindings &bindings);
  std::vector<Array> run();

private:
  void runItem(int64_t sequence, int64_t head);

  scan::RecurrenceOp op;
  StepProgram program;
  ScanCall call;
  SmallVector<BoundOperand> inputs, initials;
  SmallVector<const Array *> captured;
  SmallVector<Window> outputWindows, stateWindows;
  std::vector<Array> results; // outputs, then final states
};
} // namespace

LogicalResult RecurrenceRun::bind(const Bindings &bindings) {
  if (failed(call.bind(op.getInputs(), op.getInputAxesAttr(), "input",
                       /*mayBeAbsent=*/false, bindings, inputs)) ||
      failed(call.bind(op.getInitialStates(), op.getInitialAxes(),
                       "initial state", /*mayBeAbsent=*/true, bindings,
                       initials)))
    return failure();
  for (auto [i, capture] : llvm::enumerate(program.captured))
    if (failed(call.bindPlain(capture.first, "captured value", i,
                              /*mayBeAbsent=*/false, bindings,
                              captured.emplace_back())))
      return failure();
  if (failed(call.bindOffsets(op.getOffsets(), bindings)) ||
      failed(call.settle(op.getOutputs(), op.getOutputAxes(), "output")) ||
      failed(
          call.settle(op.getFinalStates(), op.getFinalAxes(), "final state")) ||
      failed(call.settleSequences()))
    return failure();
  call.makeResults(op.getOutputs(), op.getOutputAxes(), results, outputWindows);
  call.makeResults(op.getFinalStates(), op.getFinalAxes(), results,
                   stateWindows);
  return success();
}

void RecurrenceRun::runItem(int64_t sequence, int64_t head) {
  int64_t heads = op.getNumValueHeads();
  auto [row, begin, end] = call.getRows(sequence);
  std::vector<double> memory = program.makeMemory();
  double *m = memory.data();

  for (auto [capture, array] : llvm::zip_equal(program.captured, captured))
    llvm::copy(array->data, capture.second.in(m).begin());
  for (auto [i, initial] : llvm::enumerate(initials))
    if (initial.array)
      stateWindows[i].gather(*initial.array,
                             stateWindows[i].at(sequence, 0, head, heads),
                             program.states[i].in(m));
  auto load = [&, row = row](unsigned i, int64_t t) {
    const Window &window = inputs[i].window;
    window.gather(*inputs[i].array, window.at(row, t, head, heads),
                  program.inputs[i].in(m));
  };
  // An empty sequence reads nothing.
  for (unsigned i = 0; i < inputs.size() && begin < end; ++i)
    load(i, begin);
  for (int64_t step = begin; step < end; ++step) {
    int64_t t = op.getReverse() ? begin + end - 1 - step : step;
    for (unsigned i = 0; i < inputs.size(); ++i)
      if (inputs[i].window.movesWithTime())
        load(i, t);
    if (op.getMiniBatch() && (step - begin) % int64_t(*op.getMiniBatch()) == 0)
      program.enterMiniBatch(m);
    program.runStep(m);
    for (unsigned i = 0; i < outputWindows.size(); ++i)
      outputWindows[i].scatter(program.outputs[i].in(m),
                               outputWindows[i].at(row, t, head, heads),
                               results[i]);
  }
  for (unsigned i = 0; i < stateWindows.size(); ++i)
    stateWindows[i].scatter(program.states[i].in(m),
                            stateWindows[i].at(sequence, 0, head, heads),
                            results[outputWindows.size() + i]);
}

std::vector<Array> RecurrenceRun::run() {
  int64_t heads = op.getNumValueHeads();
  parallelFor(op.getContext(), 0, call.getNumSequences() * heads,
              [&](size_t item) { runItem(item / heads, item % heads); });
  return std::move(results);
}

FailureOr<std::vector<Array>>
interpreter::runRecurrence(scan::RecurrenceOp op, const Bindings &bindings) {
  FailureOr<StepProgram> program = StepProgram::build(op);
  if (failed(program))
    return failure();
  RecurrenceRun run(op, std::move(*program));
  if (failed(run.bind(bindings)))
    return failure();
  return run.run();
}
