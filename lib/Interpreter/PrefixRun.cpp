//===- PrefixRun.cpp - One prefix scan on bound arrays --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Runs every (sequence, value head) from its first to its last chunk with a
// binary counter: what has been joined so far are perfectly balanced trees of
// sizes that fall, the set bits of their number of elements. Each keeps the
// prefix up to and with it too, so that a chunk costs its carries and one more
// aggregation. The trees, and so the values, are those of a static scan of any
// length, whether or not the aggregation is associative.
//
//===----------------------------------------------------------------------===//

#include "ScanRuns.h"
#include "StepProgram.h"
#include "mlir/IR/Threading.h"

using namespace mlir;
using namespace prism;
using namespace prism::interpreter;

namespace {
/// The components of an element, one after another.
using Element = std::vector<double>;

/// A region of the op, and the arrays that it captures.
struct BoundRegion {
  StepProgram program;
  SmallVector<const Array *> captured;

  std::vector<double> makeMemory() const;
};

/// A region in the memory of one item.
class RegionCall {
public:
  explicit RegionCall(const BoundRegion &region)
      : program(region.program), memory(region.makeMemory()) {}

  void setInputs(unsigned first, ArrayRef<double> values);
  MutableArrayRef<double> input(unsigned i) {
    return program.inputs[i].in(memory.data());
  }
  void run() { program.runStep(memory.data()); }
  ArrayRef<double> output(unsigned i) {
    return program.outputs[i].in(memory.data());
  }
  Element outputs();

private:
  const StepProgram &program;
  std::vector<double> memory;
};

/// The online form of the scan.
class BinaryCounter {
public:
  BinaryCounter(const BoundRegion &agg, Element identity, bool evaluateIdentity,
                JoinOrder order)
      : agg(agg), identity(std::move(identity)), evaluate(evaluateIdentity),
        order(order) {}

  void push(Element element);
  const Element &prefix() const {
    return trees.empty() ? identity : trees.back().prefix;
  }

private:
  Element join(const Element &older, const Element &newer);

  /// No tree has this level.
  static constexpr unsigned kNever = ~0u;
  /// A tree over 2^level elements, and the prefix that ends with it.
  struct Tree {
    unsigned level;
    Element element, prefix;
  };
  RegionCall agg;
  Element identity;
  bool evaluate;
  JoinOrder order;
  SmallVector<Tree> trees; // oldest and largest first
};

class PrefixRun {
public:
  PrefixRun(scan::PrefixOp op, StepProgram enc, StepProgram agg,
            StepProgram inf, JoinOrder order)
      : op(op), order(order), enc{std::move(enc), {}}, agg{std::move(agg), {}},
        inf{std::move(inf), {}}, call(op), heads(op.getNumValueHeads()),
        chunk(op.getChunkSize()) {}

  LogicalResult bind(const Bindings &bindings);
  std::vector<Array> run();

private:
  LogicalResult bindCaptured(BoundRegion &region, const Bindings &bindings);
  void runItem(int64_t sequence, int64_t head);
  Element makeIdentity(int64_t sequence, int64_t head);
  /// The tokens of the chunk that begins at `step`; 0 where there are none.
  void loadChunk(unsigned i, const Rows &rows, int64_t step, int64_t head,
                 MutableArrayRef<double> to);
  void storeChunk(unsigned i, const Rows &rows, int64_t step, int64_t head,
                  ArrayRef<double> from);
  int64_t timeOf(const Rows &rows, int64_t step) {
    return op.getReverse() ? rows.begin + rows.end - 1 - step : step;
  }

  scan::PrefixOp op;
  JoinOrder order;
  BoundRegion enc, agg, inf;
  ScanCall call;
  int64_t heads, chunk;
  SmallVector<BoundOperand> inputs, identities;
  SmallVector<Window> outputWindows, finalWindows;
  std::vector<Array> results; // outputs, then final elements
};
} // namespace

//===----------------------------------------------------------------------===//
// Regions and the counter
//===----------------------------------------------------------------------===//

std::vector<double> BoundRegion::makeMemory() const {
  std::vector<double> memory = program.makeMemory();
  for (auto [capture, array] : llvm::zip_equal(program.captured, captured))
    llvm::copy(array->data, capture.second.in(memory.data()).begin());
  return memory;
}

/// Fills inputs from `first` on with values that lie one after another.
void RegionCall::setInputs(unsigned first, ArrayRef<double> values) {
  for (unsigned i = first; !values.empty(); ++i) {
    MutableArrayRef<double> to = input(i);
    llvm::copy(values.take_front(to.size()), to.begin());
    values = values.drop_front(to.size());
  }
}

Element RegionCall::outputs() {
  Element values;
  for (unsigned i = 0; i < program.outputs.size(); ++i)
    llvm::append_range(values, output(i));
  return values;
}

Element BinaryCounter::join(const Element &older, const Element &newer) {
  agg.setInputs(0, older);
  // As many arguments again.
  unsigned components = 0;
  for (size_t size = 0; size < older.size(); ++components)
    size += agg.input(components).size();
  agg.setInputs(components, newer);
  agg.run();
  return agg.outputs();
}

void BinaryCounter::push(Element element) {
  unsigned level = 0;
  while (!trees.empty() && trees.back().level == level) {
    element = join(trees.back().element, element);
    trees.pop_back();
    ++level;
  }
  bool first = trees.empty() && !evaluate;
  Element next = first ? element : join(prefix(), element);
  if (order == JoinOrder::fromLeft) {
    // All that came before is one element.
    trees = {{kNever, next, next}};
    return;
  }
  trees.push_back({level, std::move(element), std::move(next)});
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

LogicalResult PrefixRun::bindCaptured(BoundRegion &region,
                                      const Bindings &bindings) {
  for (auto [i, capture] : llvm::enumerate(region.program.captured))
    if (failed(call.bindPlain(capture.first, "captured value", i,
                              /*mayBeAbsent=*/false, bindings,
                              region.captured.emplace_back())))
      return failure();
  return success();
}

LogicalResult PrefixRun::bind(const Bindings &bindings) {
  if (failed(call.bind(op.getInputs(), op.getInputAxesAttr(), "input",
                       /*mayBeAbsent=*/false, bindings, inputs)) ||
      failed(call.bind(op.getIdentities(), op.getIdentityAxes(), "identity",
                       /*mayBeAbsent=*/true, bindings, identities)) ||
      failed(bindCaptured(enc, bindings)) ||
      failed(bindCaptured(agg, bindings)) ||
      failed(bindCaptured(inf, bindings)) ||
      failed(call.bindOffsets(op.getOffsets(), bindings)) ||
      failed(call.settle(op.getOutputs(), op.getOutputAxes(), "output")) ||
      failed(call.settle(op.getFinalElements(), op.getFinalAxes(),
                         "final element")) ||
      failed(call.settleSequences()))
    return failure();
  call.makeResults(op.getOutputs(), op.getOutputAxes(), results, outputWindows);
  call.makeResults(op.getFinalElements(), op.getFinalAxes(), results,
                   finalWindows);
  return success();
}

Element PrefixRun::makeIdentity(int64_t sequence, int64_t head) {
  Element identity;
  for (unsigned i = 0; i < identities.size(); ++i) {
    Type type = op.getComponentType(i);
    auto tensor = dyn_cast<RankedTensorType>(type);
    std::vector<double> component(tensor ? tensor.getNumElements() : 1, 0.0);
    const auto &[array, window] = identities[i];
    if (array)
      window.gather(*array, window.at(sequence, 0, head, heads), component);
    llvm::append_range(identity, component);
  }
  return identity;
}

void PrefixRun::loadChunk(unsigned i, const Rows &rows, int64_t step,
                          int64_t head, MutableArrayRef<double> to) {
  const auto &[array, window] = inputs[i];
  if (!window.movesWithTime()) {
    window.gather(*array, window.at(rows.row, 0, head, heads), to);
    return;
  }
  int64_t features = to.size() / chunk;
  for (int64_t token = 0; token < chunk; ++token) {
    MutableArrayRef<double> place = to.slice(token * features, features);
    if (step + token < rows.end)
      window.gather(
          *array, window.at(rows.row, timeOf(rows, step + token), head, heads),
          place);
    else
      llvm::fill(place, 0.0);
  }
}

void PrefixRun::storeChunk(unsigned i, const Rows &rows, int64_t step,
                           int64_t head, ArrayRef<double> from) {
  const Window &window = outputWindows[i];
  int64_t features = from.size() / chunk;
  for (int64_t token = 0; token < chunk && step + token < rows.end; ++token)
    window.scatter(from.slice(token * features, features),
                   window.at(rows.row, timeOf(rows, step + token), head, heads),
                   results[i]);
}

void PrefixRun::runItem(int64_t sequence, int64_t head) {
  Rows rows = call.getRows(sequence);
  unsigned components = op.getNumComponents();
  RegionCall encode(enc), infer(inf);
  BinaryCounter counter(agg, makeIdentity(sequence, head),
                        op.getEvaluateIdentity(), order);
  for (int64_t step = rows.begin; step < rows.end; step += chunk) {
    for (unsigned i = 0; i < inputs.size(); ++i) {
      if (step > rows.begin && !inputs[i].window.movesWithTime())
        continue; // there since the first chunk
      loadChunk(i, rows, step, head, encode.input(i));
      llvm::copy(encode.input(i), infer.input(components + i).begin());
    }
    if (op.getInclusive()) {
      encode.run();
      counter.push(encode.outputs());
    }
    infer.setInputs(0, counter.prefix());
    infer.run();
    for (unsigned i = 0; i < outputWindows.size(); ++i)
      storeChunk(i, rows, step, head, infer.output(i));
    // A chunk that is not complete begins the next call.
    if (!op.getInclusive() && step + chunk <= rows.end) {
      encode.run();
      counter.push(encode.outputs());
    }
  }
  ArrayRef<double> total = counter.prefix();
  for (unsigned i = 0; i < finalWindows.size(); ++i) {
    size_t size = infer.input(i).size();
    finalWindows[i].scatter(total.take_front(size),
                            finalWindows[i].at(sequence, 0, head, heads),
                            results[outputWindows.size() + i]);
    total = total.drop_front(size);
  }
}

std::vector<Array> PrefixRun::run() {
  parallelFor(op.getContext(), 0, call.getNumSequences() * heads,
              [&](size_t item) { runItem(item / heads, item % heads); });
  return std::move(results);
}

FailureOr<std::vector<Array>> interpreter::runPrefix(scan::PrefixOp op,
                                                     const Bindings &bindings,
                                                     JoinOrder order) {
  FailureOr<StepProgram> enc = StepProgram::build(op.getEnc()),
                         agg = StepProgram::build(op.getAgg()),
                         inf = StepProgram::build(op.getInf());
  if (failed(enc) || failed(agg) || failed(inf))
    return failure();
  PrefixRun run(op, std::move(*enc), std::move(*agg), std::move(*inf), order);
  if (failed(run.bind(bindings)))
    return failure();
  return run.run();
}
