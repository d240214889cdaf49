//===- ShortConvolutionRun.cpp - One convolution on bound arrays ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Token by token, with the window as a list that a token is appended to.
//
//===----------------------------------------------------------------------===//

#include "ScanRuns.h"
#include "StepProgram.h"

using namespace mlir;
using namespace prism;
using namespace prism::interpreter;

namespace {
class ShortConvolutionRun {
public:
  explicit ShortConvolutionRun(scan::ShortConvolutionOp op)
      : op(op), call(op) {}

  LogicalResult bind(const Bindings &bindings);
  std::vector<Array> run();

private:
  void runItem(int64_t sequence, int64_t head);

  scan::ShortConvolutionOp op;
  ScanCall call;
  SmallVector<BoundOperand> input, initial;
  const Array *weight = nullptr, *bias = nullptr;
  SmallVector<Window> outputs, finals;
  std::vector<Array> results;
};
} // namespace

LogicalResult ShortConvolutionRun::bind(const Bindings &bindings) {
  Builder b(op.getContext());
  ArrayAttr inputAxes = b.getStrArrayAttr(op.getInputAxes()),
            windowAxes = b.getStrArrayAttr(llvm::StringRef(op.getWindowAxes()));
  if (failed(call.bind(op.getInput(), inputAxes, "input",
                       /*mayBeAbsent=*/false, bindings, input)) ||
      failed(call.bindPlain(op.getWeight(), "weight", 0, false, bindings,
                            weight)) ||
      (op.getBias() && failed(call.bindPlain(op.getBias(), "bias", 0, false,
                                             bindings, bias))) ||
      (op.getInitialWindow() &&
       failed(call.bind(op.getInitialWindow(), windowAxes, "initial window",
                        /*mayBeAbsent=*/true, bindings, initial))) ||
      failed(call.bindOffsets(op.getOffsets(), bindings)) ||
      failed(call.settle(op.getResult(), inputAxes, "result")) ||
      failed(call.settle(op.getFinalWindow(), windowAxes, "final window")) ||
      failed(call.settleSequences()))
    return failure();
  call.makeResults(op.getResult(), inputAxes, results, outputs);
  call.makeResults(op.getFinalWindow(), windowAxes, results, finals);
  return success();
}

void ShortConvolutionRun::runItem(int64_t sequence, int64_t head) {
  int64_t heads = op.getHeads(), channels = op.getChannels(),
          taps = op.getTaps(), before = taps - 1;
  auto [row, begin, end] = call.getRows(sequence);
  std::vector<double> window(channels * before, 0.0), x(channels), y(channels);
  int64_t place = finals[0].at(sequence, 0, head, heads);
  if (!initial.empty() && initial[0].array)
    finals[0].gather(*initial[0].array, place, window);
  for (int64_t step = begin; step < end; ++step) {
    int64_t t = op.getReverse() ? begin + end - 1 - step : step;
    input[0].window.gather(*input[0].array,
                           input[0].window.at(row, t, head, heads), x);
    for (int64_t d = 0; d < channels; ++d) {
      double *seen = &window[d * before];
      int64_t channel = head * channels + d;
      const double *tap = &weight->data[channel * taps];
      double sum = tap[before] * x[d] + (bias ? bias->data[channel] : 0.0);
      for (int64_t j = 0; j < before; ++j)
        sum += tap[j] * seen[j];
      y[d] = activationOf(op.getActivation())(sum);
      std::copy(seen + 1, seen + before, seen);
      seen[before - 1] = x[d];
    }
    outputs[0].scatter(y, outputs[0].at(row, t, head, heads), results[0]);
  }
  finals[0].scatter(window, place, results[1]);
}

std::vector<Array> ShortConvolutionRun::run() {
  for (int64_t sequence = 0; sequence < call.getNumSequences(); ++sequence)
    for (int64_t head = 0; head < op.getHeads(); ++head)
      runItem(sequence, head);
  return std::move(results);
}

FailureOr<std::vector<Array>>
interpreter::runShortConvolution(scan::ShortConvolutionOp op,
                                 const Bindings &bindings) {
  ShortConvolutionRun run(op);
  if (failed(run.bind(bindings)))
    return failure();
  return run.run();
}
