//===- RecurrenceRun.cpp - One recurrence on bound arrays -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Settles the extents of a call (rows, steps, sequences), then runs every
// (sequence, value head) from its initial to its final state. Such items do not
// depend on each other.
//
//===----------------------------------------------------------------------===//

#include "RecurrenceRun.h"
#include "StepProgram.h"
#include "mlir/IR/Threading.h"

using namespace mlir;
using namespace prism;
using namespace prism::interpreter;

static StringRef axesOf(ArrayAttr axes, unsigned i) {
  return cast<StringAttr>(axes[i]).getValue();
}

namespace {
/// The extents that a call decides.
struct Extents {
  std::optional<int64_t> rows, steps, sequences;

  std::optional<int64_t> *find(char letter) {
    return letter == 'b'   ? &rows
           : letter == 't' ? &steps
           : letter == 'n' ? &sequences
                           : nullptr;
  }
};

/// Where the features of one (b or n, t, h) lie in an array.
class Window {
public:
  Window(ArrayRef<int64_t> shape, StringRef axes) {
    int64_t stride = 1;
    SmallVector<std::pair<int64_t, int64_t>> features; // extent, stride
    for (int i = int(axes.size()) - 1; i >= 0; --i) {
      if (axes[i] == 'b' || axes[i] == 'n')
        outer = stride;
      else if (axes[i] == 't')
        time = stride;
      else if (axes[i] == 'h')
        head = stride, heads = shape[i];
      else
        features.insert(features.begin(), {shape[i], stride});
      stride *= shape[i];
    }
    places = {0};
    for (auto [extent, step] : features) {
      std::vector<int64_t> next;
      for (int64_t base : places)
        for (int64_t i = 0; i < extent; ++i)
          next.push_back(base + i * step);
      places = std::move(next);
    }
  }

  bool movesWithTime() const { return time != 0; }
  /// `valueHeads` heads share this array's: h uses floor(h * heads / Hv).
  int64_t at(int64_t b, int64_t t, int64_t h, int64_t valueHeads) const {
    return b * outer + t * time + h * heads / valueHeads * head;
  }
  void gather(const Array &array, int64_t base,
              MutableArrayRef<double> to) const {
    for (auto [x, place] : llvm::zip_equal(to, places))
      x = array.data[base + place];
  }
  void scatter(ArrayRef<double> from, int64_t base, Array &array) const {
    for (auto [x, place] : llvm::zip_equal(from, places))
      array.data[base + place] = x;
  }

private:
  int64_t outer = 0, time = 0, head = 0, heads = 1;
  std::vector<int64_t> places;
};

class RecurrenceRun {
public:
  RecurrenceRun(scan::RecurrenceOp op, StepProgram program)
      : op(op), program(std::move(program)) {}

  LogicalResult bind(const Bindings &bindings);
  std::vector<Array> run();

private:
  LogicalResult bindOperand(Value value, StringRef what, unsigned index,
                            const Bindings &bindings, bool isOptional,
                            const Array *&array);
  LogicalResult settle(ArrayRef<int64_t> shape, StringRef axes,
                       const Twine &what);
  LogicalResult settleResults();
  LogicalResult checkOffsets();
  Array makeResult(Type type, StringRef axes);
  void runItem(int64_t sequence, int64_t head);

  scan::RecurrenceOp op;
  StepProgram program;
  Extents extents;
  SmallVector<const Array *> inputs, initials, captured;
  const Array *offsets = nullptr;
  SmallVector<Window> inputWindows, outputWindows, stateWindows;
  std::vector<Array> results; // outputs, then final states
};
} // namespace

LogicalResult RecurrenceRun::bindOperand(Value value, StringRef what,
                                         unsigned index,
                                         const Bindings &bindings,
                                         bool isOptional, const Array *&array) {
  auto found = bindings.find(value);
  if (found == bindings.end())
    return op.emitError("the interpreter has no value for ")
           << what << " " << index;
  array = found->second;
  if (!array && !isOptional)
    return op.emitError() << what << " " << index << " may not be absent";
  return success();
}

/// Every b, t and n has one extent throughout.
LogicalResult RecurrenceRun::settle(ArrayRef<int64_t> shape, StringRef axes,
                                    const Twine &what) {
  for (auto [extent, letter] : llvm::zip_equal(shape, axes)) {
    std::optional<int64_t> *known = extents.find(letter);
    if (!known || ShapedType::isDynamic(extent))
      continue;
    if (*known && **known != extent)
      return op.emitError()
             << what << " has extent " << extent << " on axis '"
             << std::string(1, letter) << "', expected " << **known;
    *known = extent;
  }
  return success();
}

LogicalResult RecurrenceRun::bind(const Bindings &bindings) {
  for (auto [i, value] : llvm::enumerate(op.getInputs())) {
    if (failed(bindOperand(value, "input", i, bindings, false,
                           inputs.emplace_back())) ||
        failed(
            settle(inputs[i]->shape, op.getInputAxes(i), "input " + Twine(i))))
      return failure();
    inputWindows.emplace_back(inputs[i]->shape, op.getInputAxes(i));
  }
  for (auto [i, value] : llvm::enumerate(op.getInitialStates())) {
    if (failed(bindOperand(value, "initial state", i, bindings, true,
                           initials.emplace_back())))
      return failure();
    if (initials[i] &&
        failed(settle(initials[i]->shape, axesOf(op.getInitialAxes(), i),
                      "initial state " + Twine(i))))
      return failure();
  }
  for (auto [i, capture] : llvm::enumerate(program.captured))
    if (failed(bindOperand(capture.first, "captured value", i, bindings, false,
                           captured.emplace_back())))
      return failure();
  if (op.getOffsets() && failed(bindOperand(op.getOffsets(), "offsets", 0,
                                            bindings, true, offsets)))
    return failure();
  return settleResults();
}

/// The extents that no operand gave: static ones of results, then the rule that
/// every row is a sequence unless there are offsets.
LogicalResult RecurrenceRun::settleResults() {
  auto settleAll = [&](ValueRange values, ArrayAttr axes, StringRef what) {
    for (auto [i, value] : llvm::enumerate(values))
      if (failed(settle(cast<RankedTensorType>(value.getType()).getShape(),
                        axesOf(axes, i), what + " " + Twine(i))))
        return failure();
    return success();
  };
  if (failed(settleAll(op.getOutputs(), op.getOutputAxes(), "output")) ||
      failed(settleAll(op.getFinalStates(), op.getFinalAxes(), "final state")))
    return failure();
  if (offsets) {
    if (failed(checkOffsets()))
      return failure();
  } else {
    if (!extents.rows)
      extents.rows = extents.sequences.value_or(1);
    if (extents.sequences.value_or(*extents.rows) != *extents.rows)
      return op.emitError(
                 "without offsets every batch row is a sequence, found ")
             << *extents.rows << " rows and " << *extents.sequences
             << " states";
    extents.sequences = extents.rows;
  }
  assert(extents.steps && "the verifier asks for an input with axis t");

  for (auto [i, value] : llvm::enumerate(op.getOutputs())) {
    StringRef axes = axesOf(op.getOutputAxes(), i);
    results.push_back(makeResult(value.getType(), axes));
    outputWindows.emplace_back(results.back().shape, axes);
  }
  for (auto [i, value] : llvm::enumerate(op.getFinalStates())) {
    StringRef axes = axesOf(op.getFinalAxes(), i);
    results.push_back(makeResult(value.getType(), axes));
    stateWindows.emplace_back(results.back().shape, axes);
  }
  return success();
}

LogicalResult RecurrenceRun::checkOffsets() {
  if (extents.rows.value_or(1) != 1)
    return op.emitError("packed sequences need a batch of 1, found ")
           << *extents.rows;
  extents.rows = 1;
  const std::vector<double> &at = offsets->data;
  if (at.empty() || at.front() != 0.0 || at.back() != double(*extents.steps) ||
      !llvm::is_sorted(at))
    return op.emitError("offsets must rise from 0 to the number of steps, ")
           << *extents.steps;
  int64_t sequences = int64_t(at.size()) - 1;
  if (extents.sequences.value_or(sequences) != sequences)
    return op.emitError("offsets tell ")
           << sequences << " sequences, the states have " << *extents.sequences;
  extents.sequences = sequences;
  return success();
}

Array RecurrenceRun::makeResult(Type type, StringRef axes) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(type).getShape());
  for (auto [extent, letter] : llvm::zip_equal(shape, axes))
    if (std::optional<int64_t> *known = extents.find(letter))
      extent = **known;
  return Array(shape);
}

void RecurrenceRun::runItem(int64_t sequence, int64_t head) {
  int64_t heads = op.getNumValueHeads();
  int64_t row = offsets ? 0 : sequence;
  int64_t begin = offsets ? int64_t(offsets->data[sequence]) : 0;
  int64_t end = offsets ? int64_t(offsets->data[sequence + 1]) : *extents.steps;
  std::vector<double> memory = program.makeMemory();
  double *m = memory.data();

  for (auto [capture, array] : llvm::zip_equal(program.captured, captured))
    llvm::copy(array->data, capture.second.in(m).begin());
  for (auto [i, array] : llvm::enumerate(initials))
    if (array)
      stateWindows[i].gather(*array,
                             stateWindows[i].at(sequence, 0, head, heads),
                             program.states[i].in(m));
  auto load = [&](unsigned i, int64_t t) {
    inputWindows[i].gather(*inputs[i], inputWindows[i].at(row, t, head, heads),
                           program.inputs[i].in(m));
  };
  // An empty sequence reads nothing.
  for (unsigned i = 0; i < inputs.size() && begin < end; ++i)
    load(i, begin);
  for (int64_t step = begin; step < end; ++step) {
    int64_t t = op.getReverse() ? begin + end - 1 - step : step;
    for (unsigned i = 0; i < inputs.size(); ++i)
      if (inputWindows[i].movesWithTime())
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
  parallelFor(op.getContext(), 0, *extents.sequences * heads,
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
