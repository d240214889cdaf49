//===- StepSegments.cpp - Segments of elementwise steps -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "StepSegments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace prism;

namespace {
// Of an H200: a step that has a scheduler to itself waits for its loads from
// shared memory and for its own chain; a launch fills its first loads; a round
// of the combination waits for memory once.
constexpr double kStepLatency = 120, kCyclesAlone = 1.5, kClock = 1700;
constexpr double kFill = 2, kRound = 1;
/// Microseconds of a launch before the next one, in a graph.
constexpr double kLaunch = 3;
/// A split must be worth its workspace.
constexpr double kGain = 0.9;
/// Of the datasheet's bandwidth, what a copy reaches: 4.2 of 4.8 TB/s.
constexpr double kCopyShare = 0.875;
constexpr int64_t kSchedulers = 4;   // of a multiprocessor
constexpr int64_t kFewestSteps = 16; // of a segment
constexpr double kAsGood = 1.05;
constexpr int64_t kSegments[] = {2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128};
} // namespace

//===----------------------------------------------------------------------===//
// What a step costs
//===----------------------------------------------------------------------===//

/// Instructions of the register strategy for an element: of functions what they
/// expand to, of arrays address, access and conversion.
static double instructionsOf(Operation *op) {
  if (isa<math::ExpOp>(op))
    return 9;
  if (isa<math::ExpM1Op>(op))
    return 19;
  if (isa<math::Log1pOp>(op))
    return 25;
  if (isa<arith::DivFOp, math::SqrtOp, math::RsqrtOp>(op))
    return 12;
  if (isa<math::MathDialect>(op->getDialect()) && !isa<math::AbsFOp>(op))
    return 60;
  return isa<tile::LoadOp, tile::StoreOp>(op) ? 3 : 1;
}

static bool isByTime(tile::ProgramOp program, Value view) {
  unsigned number = cast<BlockArgument>(view).getArgNumber();
  return program.getArgument_(number).getAxes().getValue().contains('t');
}

/// Ops of a loop that are the same in every step: of parameters alone.
static llvm::DenseSet<Operation *> fixedOps(tile::ProgramOp program,
                                            scf::ForOp loop) {
  llvm::DenseSet<Operation *> fixed;
  for (Operation &op : loop.getBody()->without_terminator()) {
    bool isFixed = llvm::all_of(op.getOperands(), [&](Value v) {
      return loop.isDefinedOutsideOfLoop(v) ||
             fixed.contains(v.getDefiningOp());
    });
    if (auto load = dyn_cast<tile::LoadOp>(op))
      isFixed = !isByTime(program, load.getView());
    if (isFixed && !isa<tile::StoreOp>(op))
      fixed.insert(&op);
  }
  return fixed;
}

/// Of each of so many warps, whose lanes share the value columns; what has none
/// is in every lane.
static double instructionsOfStep(tile::ProgramOp program, int64_t warps) {
  auto loop = *program.getBody().getOps<scf::ForOp>().begin();
  llvm::DenseSet<Operation *> fixed = fixedOps(program, loop);
  double sum = 0;
  for (Operation &op : loop.getBody()->without_terminator()) {
    auto store = dyn_cast<tile::StoreOp>(op);
    Value tile = store                     ? store.getValue()
                 : op.getNumResults() == 1 ? op.getResult(0)
                                           : Value();
    auto type =
        tile ? dyn_cast<RankedTensorType>(tile.getType()) : RankedTensorType();
    if (!type || fixed.contains(&op))
      continue;
    double elements = type.getNumElements();
    if (auto dot = dyn_cast<tile::DotOp>(op))
      elements *= dot.getK();
    bool hasColumns =
        type.getShape().back() == int64_t(program.getValueBlock());
    sum += instructionsOf(&op) * elements / (hasColumns ? 32 * warps : 1);
  }
  return sum;
}

static tile::ProgramOp programIn(const Unit &unit) {
  return *unit.module.get().getOps<tile::ProgramOp>().begin();
}

StepCosts StepCosts::of(const Unit &split) {
  tile::ProgramOp program = programIn(split),
                  maps = programIn(split.before.front());
  const targetinfo::GPUInfo &gpu = split.target.gpu();
  StepCosts costs;
  for (unsigned i = 0, e = program.getNumArguments(); i < e; ++i) {
    Value argument = program.getBody().getArgument(i);
    auto view = cast<tile::ViewType>(argument.getType());
    if (!isByTime(program, argument))
      continue;
    double bytes = view.getElementType().getIntOrFloatBitWidth() / 8.0;
    for (int64_t extent : view.getShape().drop_front())
      bytes *= extent;
    bool isOutput = program.getArgument_(i).getRole().getValue() == "output";
    (isOutput ? costs.outputBytes : costs.inputBytes) += bytes;
  }
  auto loop = *program.getBody().getOps<scf::ForOp>().begin();
  auto state = cast<RankedTensorType>(loop.getResult(0).getType());
  // A thread has up to four columns of one row, and one of several.
  bool isRow = state.getDimSize(0) == 1;
  int64_t ofBlock = llvm::divideCeil(int64_t(program.getValueBlock()),
                                     isRow ? int64_t(128) : int64_t(32));
  costs.instructions = instructionsOfStep(program, ofBlock);
  costs.mapInstructions = instructionsOfStep(maps, ofBlock);
  costs.warps = ofBlock * program.getValueBlocks();
  costs.mapsTogether = isRow ? 16 : 4;
  costs.schedulers = gpu.multiprocessors * kSchedulers;
  costs.bandwidth = gpu.memoryBandwidth * kCopyShare / 1e6;
  return costs;
}

//===----------------------------------------------------------------------===//
// How many segments
//===----------------------------------------------------------------------===//

/// Steps of a warp follow each other, a scheduler issues for all its warps, and
/// memory brings the bytes. A step of few warps is longer than each of the
/// first two: what waits for a slot is late for what it waits for next.
double StepCosts::timeOfLaunch(int64_t warps, int64_t steps,
                               double instructions, double bytes) const {
  double ofScheduler = std::ceil(double(warps) / double(schedulers)),
         cycles = std::hypot(kStepLatency + kCyclesAlone * instructions,
                             ofScheduler * instructions);
  return std::max(double(steps) * cycles / kClock, bytes / bandwidth) + kFill;
}

double StepCosts::time(int64_t segments, int64_t steps, int64_t heads) const {
  int64_t each = llvm::divideCeil(steps, segments);
  double rows = double(heads) * double(steps);
  double sum = timeOfLaunch(heads * warps * segments, each, instructions,
                            rows * (inputBytes + outputBytes));
  if (segments == 1)
    return sum;
  double part = double(segments - 1) / double(segments);
  sum += timeOfLaunch(heads * warps * (segments - 1), each, mapInstructions,
                      rows * inputBytes * part);
  double rounds = double(llvm::divideCeil(segments - 1, mapsTogether));
  return sum + kRound * rounds + 2 * kLaunch;
}

/// The fewest that are about as fast as the fastest: counts of warps that just
/// fill the schedulers are no better than their neighbours.
int64_t StepCosts::bestSegments(int64_t steps, int64_t heads) const {
  double whole = kGain * time(1, steps, heads), least = whole;
  auto isPossible = [&](int64_t segments) {
    return steps >= segments * kFewestSteps;
  };
  for (int64_t segments : kSegments)
    if (isPossible(segments))
      least = std::min(least, time(segments, steps, heads));
  for (int64_t segments : kSegments)
    if (double cost = time(segments, steps, heads);
        isPossible(segments) && cost < whole && cost <= kAsGood * least)
      return segments;
  return 1;
}

std::vector<Remark> StepCosts::explain() const {
  constexpr int64_t kSteps = 8192;
  std::vector<Remark> remarks;
  remarks.push_back(
      llvm::formatv("maps read the inputs once more, {0} instead of {1} bytes "
                    "a token and value head, which pays where whole sequences "
                    "leave multiprocessors idle",
                    int64_t(2 * inputBytes + outputBytes),
                    int64_t(inputBytes + outputBytes))
          .str());
  for (int64_t heads : {1, 64}) {
    int64_t best = bestSegments(kSteps, heads);
    std::string text =
        llvm::formatv("predicted for {0} steps of {1} sequences x value heads: "
                      "whole {2:F3} ms",
                      kSteps, heads, time(1, kSteps, heads) / 1e3);
    if (best > 1)
      text += llvm::formatv(", in {0} segments {1:F3} ms", best,
                            time(best, kSteps, heads) / 1e3);
    remarks.push_back(text);
  }
  return remarks;
}
