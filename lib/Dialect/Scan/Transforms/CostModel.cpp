//===- CostModel.cpp - Predicted times of plans ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Scan/Transforms/CostModel.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace prism::scan;
using namespace prism::targetinfo;
using llvm::divideCeil;

static constexpr int64_t candidates[] = {4, 8, 16, 32, 64};
ArrayRef<int64_t> prism::scan::chunkCandidates() { return candidates; }

namespace {
/// Counts one chunk, or one step, of a block of one state's value columns.
class Counter {
public:
  Counter(const ChainWork &work, int64_t lanes, VectorRegisters registers,
          int64_t columns)
      : work(work), wide(registers.count >= 32), registers(registers.count),
        lanes(lanes), valueVectors(divideCeil(columns, lanes)),
        keyVectors(divideCeil(work.keys, lanes)) {}

  CPUCounts step();
  CPUCounts chunk(int64_t steps);

private:
  int64_t vectors(int64_t elements) const {
    return divideCeil(elements, lanes);
  }
  void add(CPUWork kind, double amount) { counts[kind] += amount; }
  int64_t tileWidth(int64_t rows, int64_t vectors) const;
  void countTiles(int64_t rows, int64_t vectors);
  void product(int64_t rows, int64_t depth);
  void coupling(int64_t chunk, int64_t rowsPerStep, int64_t columnsPerStep);
  void apply(int64_t chunk, int64_t rowsPerStep, int64_t columnsPerStep);
  void solve(int64_t rows);
  void writeState(int64_t rows, bool decayed);
  void updateState(int64_t chunk);
  void gates(int64_t chunk);

  const ChainWork &work;
  bool wide;
  int64_t registers, lanes, valueVectors, keyVectors;
  CPUCounts counts;
};
} // namespace

/// Vectors of a register tile: as Emitter::shapeFor cuts a value with dots.
int64_t Counter::tileWidth(int64_t rows, int64_t vectors) const {
  int64_t most = rows == 1 ? 8 : wide ? 4 : 2;
  return divideCeil(vectors, divideCeil(vectors, most));
}

void Counter::countTiles(int64_t rows, int64_t vectors) {
  int64_t width = tileWidth(rows, vectors);
  int64_t height = wide ? (width == 1   ? 16
                           : width == 4 ? 4
                                        : 8)
                        : (width == 1 ? 8 : 4);
  add(CPUWork::Tile,
      divideCeil(rows, std::min(height, rows)) * divideCeil(vectors, width));
}

/// Keys or queries times the state.
void Counter::product(int64_t rows, int64_t depth) {
  add(CPUWork::Product, double(rows) * valueVectors * depth);
  countTiles(rows, valueVectors);
}

/// What readers see of writers: rows of keys times columns of keys, by panels
/// of one vector, from the tile on that has the first seen element.
void Counter::coupling(int64_t chunk, int64_t rowsPerStep,
                       int64_t columnsPerStep) {
  if (work.sharesScores)
    return;
  int64_t rows = chunk * rowsPerStep, columns = chunk * columnsPerStep,
          height = std::min(rows, registers / 2), computed = 0;
  for (int64_t column = 0; column < columns; column += lanes) {
    int64_t first = column / columnsPerStep * rowsPerStep / height * height;
    computed += rows - first;
    add(CPUWork::Tile, divideCeil(rows - first, height));
  }
  if (work.decay == ChainWork::Decay::key) {
    add(CPUWork::DecayedProduct, 2.0 * computed * work.keys);
    return;
  }
  add(CPUWork::MaskedProduct, double(computed) * work.keys);
  add(CPUWork::Elementwise, computed);
  if (work.decay == ChainWork::Decay::scalar)
    add(CPUWork::Function, computed);
}

/// Those scores times what was written; rows end at what they see.
void Counter::apply(int64_t chunk, int64_t rowsPerStep,
                    int64_t columnsPerStep) {
  int64_t rows = chunk * rowsPerStep;
  add(CPUWork::MaskedProduct,
      double(rows) * valueVectors * columnsPerStep * (chunk + 1) / 2);
  countTiles(rows, valueVectors);
}

void Counter::solve(int64_t rows) {
  add(CPUWork::MaskedProduct, double(rows) * (rows - 1) / 2 * valueVectors);
  add(CPUWork::Tile,
      divideCeil(rows, wide ? 8 : 4) * divideCeil(valueVectors, 2));
  add(CPUWork::Elementwise, 3.0 * rows * valueVectors);
}

/// A writer's keys, turned and decayed, times its values.
void Counter::writeState(int64_t rows, bool decayed) {
  add(CPUWork::Product, double(work.keys) * valueVectors * rows);
  if (work.sharesScores)
    return;
  add(CPUWork::Transpose, work.keys * vectors(rows));
  if (decayed)
    add(CPUWork::Elementwise, rows * keyVectors);
}

/// The state, once for all writers. Values of few steps stay in registers while
/// its rows go by (Emitter::isOuterProduct): no tile has a loop of its own.
void Counter::updateState(int64_t chunk) {
  int64_t held =
      chunk * (work.erases + work.writers) * tileWidth(work.keys, valueVectors);
  if (work.keys <= 4 || held > registers / 4)
    countTiles(work.keys, valueVectors);
  add(CPUWork::StateVector, work.keys * valueVectors);
}

void Counter::gates(int64_t chunk) {
  if (work.sharesScores)
    return;
  if (work.decay == ChainWork::Decay::scalar)
    add(CPUWork::Function, 2 * vectors(chunk));
  if (work.decay == ChainWork::Decay::key) {
    add(CPUWork::Function, chunk * keyVectors);
    add(CPUWork::Elementwise, 6.0 * chunk * keyVectors);
  }
}

CPUCounts Counter::chunk(int64_t steps) {
  bool decayed = work.decay != ChainWork::Decay::none;
  if (work.erases) {
    product(steps * work.erases, work.keys);
    for (int64_t w = 0; w < work.writers; ++w) {
      coupling(steps, work.erases, 1);
      apply(steps, work.erases, 1);
    }
    coupling(steps, work.erases, work.erases);
    solve(steps * work.erases);
    writeState(steps * work.erases, decayed);
  }
  for (int64_t r = 0; r < work.reads; ++r) {
    product(steps, work.keys);
    for (int64_t w = 0; w < work.writers; ++w) {
      coupling(steps, 1, 1);
      apply(steps, 1, 1);
    }
    if (work.erases) {
      coupling(steps, 1, work.erases);
      apply(steps, 1, work.erases);
    }
    add(CPUWork::Elementwise, 2.0 * steps * valueVectors);
  }
  for (int64_t w = 0; w < work.writers; ++w)
    writeState(steps, decayed);
  updateState(steps);
  gates(steps);
  return counts;
}

CPUCounts Counter::step() {
  double state = double(work.keys) * valueVectors;
  int64_t written = work.erases + work.writers;
  add(CPUWork::StepRead, (work.erases + work.reads) * state);
  add(CPUWork::StepUpdate, state);
  add(CPUWork::StepWait, work.erases);
  if (written > 1)
    add(CPUWork::Product, (written - 1) * state);
  if (work.decay == ChainWork::Decay::key) {
    add(CPUWork::Product, state);
    add(CPUWork::Function, keyVectors);
  } else if (work.decay == ChainWork::Decay::scalar) {
    add(CPUWork::Function, 1);
  }
  return counts;
}

/// What is done beside the states: to the inputs and to what was read, in rows
/// of their own, or one of all steps where a step has a number; and to states
/// of one number, one step after the other.
static CPUCounts beside(const ScanWork &work, int64_t lanes, int64_t steps) {
  CPUCounts counts;
  auto rows = [&](int64_t extent) {
    return extent == 1 ? divideCeil(steps, lanes)
                       : steps * divideCeil(extent, lanes);
  };
  for (int64_t extent : work.functions)
    counts[CPUWork::Function] += rows(extent);
  for (int64_t extent : work.conversions)
    counts[CPUWork::Elementwise] += rows(extent);
  if (steps == 1)
    counts[CPUWork::StepWait] += work.functions.size();
  if (steps > 1) {
    counts[CPUWork::Function] += steps * work.numberFunctions;
    counts[CPUWork::Elementwise] += steps * work.numberOps;
  }
  counts[CPUWork::Chunk] += 1;
  return counts;
}

CPUCounts prism::scan::countWork(const ScanWork &work, const PlanShape &plan,
                                 VectorRegisters registers, int64_t steps,
                                 double cacheBytes) {
  int64_t width = plan.valueBlock ? plan.valueBlock : work.values,
          lanes = registers.lanes(work.elementBits);
  bool stepping = plan.schedule == Schedule::recurrent || plan.chunk == 1;
  double times = stepping ? steps : divideCeil(steps, plan.chunk);
  CPUCounts counts;
  auto add = [&](const CPUCounts &once) {
    for (size_t i = 0; i < kNumCPUWork; ++i)
      counts.of[i] += times * once.of[i];
  };
  auto addState = [&](const ChainWork &chain, int64_t columns) {
    Counter counter(chain, lanes, registers, columns);
    add(stepping ? counter.step() : counter.chunk(plan.chunk));
  };
  for (int64_t first = 0; first < work.values; first += width) {
    addState(work, std::min(width, work.values - first));
    for (const ChainWork &other : work.others) // not split
      addState(other, other.values);
    add(beside(work, lanes, stepping ? 1 : plan.chunk));
  }
  double bytes = work.bytes * steps;
  bool near = bytes * work.valueHeads * work.batch <= cacheBytes;
  counts[near ? CPUWork::NearByte : CPUWork::FarByte] += bytes;
  return counts;
}

double prism::scan::predictStep(const ScanWork &work, const PlanShape &plan,
                                const CPUCosts &costs, int64_t steps) {
  return costs.timeOf(countWork(work, plan, vectorRegisters(costs.level), steps,
                                costs.cacheBytes)) /
         steps;
}

int64_t prism::scan::chooseChunk(const ScanWork &work,
                                 ArrayRef<CPUCosts> levels) {
  // Of each candidate, its time over the best one's where it does worst.
  double worst[std::size(candidates)] = {};
  for (const CPUCosts &costs : levels) {
    double times[std::size(candidates)];
    for (auto [time, chunk] : llvm::zip(times, candidates))
      time = predictStep(work, {Schedule::chunk, chunk, 0}, costs, work.steps);
    double best = *llvm::min_element(times);
    for (auto [ratio, time] : llvm::zip(worst, times))
      ratio = std::max(ratio, time / best);
  }
  return candidates[llvm::min_element(worst) - worst];
}

int64_t prism::scan::recurrentValueBlock(int64_t keys, int64_t values,
                                         int64_t elementBits) {
  // Token by token the state is read and written every step: a block of it has
  // to stay in the first-level cache. Blocks of about the same size.
  constexpr int64_t kCacheBytes = 32 * 1024, kColumns = 16;
  int64_t most = kCacheBytes / (elementBits / 8 * keys) / kColumns * kColumns;
  most = std::max(most, kColumns);
  if (most >= values)
    return 0;
  return divideCeil(divideCeil(values, divideCeil(values, most)), kColumns) *
         kColumns;
}

/// Several states are stepped together, each as a whole.
static int64_t steppedBlock(const ScanWork &work) {
  return work.others.empty() && !work.numberOps
             ? recurrentValueBlock(work.keys, work.values, work.elementBits)
             : 0;
}

int64_t prism::scan::stepsUpTo(const ScanWork &work, int64_t chunk,
                               ArrayRef<CPUCosts> levels) {
  PlanShape chunked{Schedule::chunk, chunk, 0};
  PlanShape stepped{Schedule::recurrent, 1, steppedBlock(work)};
  // What stepping loses to chunks at a length, on the level where it loses
  // most, less what chunks lose to stepping.
  auto loss = [&](int64_t steps, double margin = 1) {
    double ofChunks = 1, ofSteps = 1;
    for (const CPUCosts &costs : levels) {
      double a = predictStep(work, chunked, costs, steps),
             b = margin * predictStep(work, stepped, costs, steps);
      ofChunks = std::max(ofChunks, a / b);
      ofSteps = std::max(ofSteps, b / a);
    }
    return ofSteps - ofChunks;
  };
  // Of small states, where the two are close, steps are predicted too fast more
  // often than too slow: what they wait for is known less well.
  constexpr double kGainOfSteps = 1.06;
  if (loss(work.steps, kGainOfSteps) <= 0)
    return std::numeric_limits<int64_t>::max();
  // Chunks that hang over the end make it go up and down: the length with the
  // least sum of losses over all lengths.
  constexpr int64_t kChunks = 16;
  int64_t best = 0;
  double sum = 0, least = 0;
  for (int64_t steps = 1; steps <= kChunks * chunk; ++steps)
    if (sum += loss(steps); sum <= least)
      least = sum, best = steps;
  return best;
}

std::string prism::scan::describePredictions(const ScanWork &work,
                                             const PlanShape &chosen,
                                             const CPUCosts &costs) {
  std::string text =
      llvm::formatv("predicted ns a step and value head on {0}, {1} steps:",
                    costs.level, work.steps)
          .str();
  auto say = [&](const PlanShape &plan, const Twine &name) {
    bool taken = plan.schedule == chosen.schedule && plan.chunk == chosen.chunk;
    text += llvm::formatv(" {0} {1:F1}{2},", name,
                          predictStep(work, plan, costs, work.steps),
                          taken ? " (this plan)" : "")
                .str();
  };
  bool listed = llvm::is_contained(candidates, chosen.chunk);
  for (int64_t chunk : candidates) {
    bool taken = chosen.schedule == Schedule::chunk && chosen.chunk == chunk;
    say({Schedule::chunk, chunk, taken ? chosen.valueBlock : 0},
        "chunk " + Twine(chunk));
  }
  if (chosen.schedule == Schedule::chunk && !listed)
    say(chosen, "chunk " + Twine(chosen.chunk));
  say({Schedule::recurrent, 1,
       chosen.schedule == Schedule::recurrent ? chosen.valueBlock
                                              : steppedBlock(work)},
      "recurrent");
  text.pop_back();
  return text;
}
