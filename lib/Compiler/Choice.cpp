//===- Choice.cpp - Which kernel, in how many segments --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Choice.h"

using namespace mlir;
using namespace prism;

/// A split must be worth its workspace, and another kernel its row.
static constexpr double kGainOfSplit = 0.95, kGainOfKernel = 0.97;
/// Rows of whole sequences hold for any length: that of these.
static constexpr int64_t kSteps = 8192;
/// Waves of heads that have rows of their own; in more of them the last one
/// matters less.
static constexpr int64_t kWaves = 2, kManyWaves = 32;
static constexpr int64_t kFewestChunks = 4; // of a segment
/// Chunks are split for so few heads and so many steps. Blocks of elementwise
/// steps share a multiprocessor, and are split for more and fewer.
static constexpr int64_t kMostHeadsOfChunks = 64, kFewestStepsOfChunks = 512;
static constexpr int64_t kSegments[] = {2,  3,  4,  5,  6,  8,
                                        10, 12, 16, 20, 24, 32};

//===----------------------------------------------------------------------===//
// Whole sequences
//===----------------------------------------------------------------------===//

KernelChoice::KernelChoice(ArrayRef<Unit> units) {
  for (const Unit &unit : units)
    if (unit.isSplit())
      split = {&unit, Prediction::of(unit)};
    else if (!unit.copiesState)
      kernels.push_back({&unit, Prediction::of(unit)});
  if (split && !split->unit->segments &&
      split->unit->plan.getSchedule() == scan::Schedule::recurrent)
    elementwise = StepCosts::of(*split->unit);
  ranges = wholeRanges();
}

double KernelChoice::time(const Kernel &kernel, int64_t steps, int64_t heads,
                          int64_t segments) const {
  std::optional<double> time =
      kernel.prediction ? kernel.prediction->time(steps, heads, segments)
                        : std::nullopt;
  assert(time && "a kernel to choose from has a predicted time");
  return *time;
}

std::vector<HeadRange> KernelChoice::wholeRanges() const {
  std::vector<HeadRange> ranges;
  if (kernels.empty())
    return ranges;
  const Kernel *taken = &kernels.front();
  // Of those that are as fast the one taken for fewer heads, else the last one,
  // which is made for more.
  auto best = [&](int64_t heads) {
    double least = std::numeric_limits<double>::infinity();
    for (const Kernel &kernel : kernels)
      least = std::min(least, time(kernel, kSteps, heads));
    auto isAsFast = [&](const Kernel &kernel) {
      return time(kernel, kSteps, heads) * kGainOfKernel <= least;
    };
    const Kernel *found = taken;
    if (!isAsFast(*taken))
      for (const Kernel &kernel : kernels)
        found = isAsFast(kernel) ? &kernel : found;
    return found;
  };
  if (kernels.size() > 1) {
    int64_t multiprocessors =
        kernels.front().unit->target.gpu().multiprocessors;
    for (int64_t heads = 1; heads <= kWaves * multiprocessors; ++heads) {
      const Kernel *next = best(heads);
      if (next != taken && heads > 1)
        ranges.push_back({heads - 1, taken->unit});
      taken = next;
    }
    const Kernel *next = best(kManyWaves * multiprocessors);
    if (next != taken)
      ranges.push_back({kWaves * multiprocessors, taken->unit});
    taken = next;
  }
  ranges.push_back({INT64_MAX, taken->unit});
  return ranges;
}

const Unit &KernelChoice::whole(int64_t heads) const {
  return *llvm::find_if(ranges, [&](const HeadRange &range) {
            return heads <= range.maxHeads;
          })->unit;
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

ArrayRef<int64_t> KernelChoice::segmentCandidates() { return kSegments; }

bool KernelChoice::keepsChunks(const Unit &split, int64_t steps,
                               int64_t segments) {
  int64_t chunks = llvm::divideCeil(steps, split.plan.getChunk());
  return chunks >= segments * kFewestChunks;
}

int64_t KernelChoice::segments(int64_t steps, int64_t heads) const {
  int64_t best = 1;
  if (!split)
    return best;
  if (elementwise)
    return elementwise->bestSegments(steps, heads);
  const Unit &unit = whole(heads);
  auto kernel = llvm::find_if(
      kernels, [&](const Kernel &kernel) { return kernel.unit == &unit; });
  double least = kGainOfSplit * time(*kernel, steps, heads);
  for (int64_t segments : kSegments) {
    if (!keepsChunks(*split->unit, steps, segments))
      break;
    if (double cost = time(*split, steps, heads, segments); cost < least)
      least = cost, best = segments;
  }
  return best;
}

/// The bounds stand for all between them and the ones before.
std::vector<SegmentRange> KernelChoice::segmentRanges() const {
  std::vector<int64_t> bounds;
  for (int64_t heads : {1,  2,  3,  4,  6,  8,   12,  16,  20,  24,  28,
                        32, 40, 48, 64, 96, 128, 192, 256, 384, 512, 1024})
    if (heads <= kMostHeadsOfChunks || elementwise)
      bounds.push_back(heads);
  for (const HeadRange &range : ranges)
    if (range.maxHeads < bounds.back() &&
        !llvm::is_contained(bounds, range.maxHeads))
      bounds.insert(llvm::lower_bound(bounds, range.maxHeads), range.maxHeads);
  std::vector<SegmentRange> found;
  for (int64_t steps :
       {128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536}) {
    if (steps < kFewestStepsOfChunks && !elementwise)
      continue;
    SegmentRange range{steps, {}};
    for (int64_t heads : bounds) {
      int64_t number = segments(steps, heads);
      if (!range.segmentsUpTo.empty() &&
          range.segmentsUpTo.back().second == number)
        range.segmentsUpTo.back().first = heads;
      else
        range.segmentsUpTo.push_back({heads, number});
    }
    while (!range.segmentsUpTo.empty() && range.segmentsUpTo.back().second == 1)
      range.segmentsUpTo.pop_back();
    if (!found.empty() && found.back().segmentsUpTo == range.segmentsUpTo)
      found.back().maxSteps = steps;
    else
      found.push_back(std::move(range));
  }
  found.back().maxSteps = INT64_MAX;
  return found;
}

//===----------------------------------------------------------------------===//
// Rows of the table
//===----------------------------------------------------------------------===//

static std::string scheduleName(const Unit &unit) {
  return scan::stringifySchedule(unit.plan.getSchedule()).str();
}

runtime::ChoiceRow KernelChoice::rowFor(const HeadRange &range) const {
  const Unit &unit = *range.unit;
  bool isOne = kernels.size() == 1;
  return {unit.target.isCuda() ? runtime::Target::Cuda : runtime::Target::Cpu,
          INT64_MAX,
          range.maxHeads,
          scheduleName(unit),
          isOne ? 0 : unit.plan.getValueBlock(),
          /*segments=*/1,
          /*machine=*/"",
          isOne ? 0 : unit.prepareBlocks()};
}

std::vector<runtime::ChoiceRow> KernelChoice::rows() const {
  std::vector<runtime::ChoiceRow> whole, rows;
  if (split && split->unit->segments)
    return {{split->unit->target.isCuda() ? runtime::Target::Cuda
                                          : runtime::Target::Cpu,
             INT64_MAX, INT64_MAX, scheduleName(*split->unit), 0,
             *split->unit->segments}};
  for (const HeadRange &range : ranges)
    whole.push_back(rowFor(range));
  if (!split)
    return whole;
  for (const SegmentRange &range : segmentRanges()) {
    for (auto [heads, segments] : range.segmentsUpTo) {
      runtime::ChoiceRow row =
          *llvm::find_if(whole, [most = heads](const runtime::ChoiceRow &row) {
            return most <= row.maxHeads;
          });
      row.maxSteps = range.maxSteps;
      row.maxHeads = heads;
      if (segments > 1)
        row.valueBlock = row.prepareBlocks = 0; // one kernel splits
      row.segments = segments;
      rows.push_back(row);
    }
    for (runtime::ChoiceRow row : whole) {
      row.maxSteps = range.maxSteps;
      rows.push_back(row);
    }
  }
  return rows;
}

//===----------------------------------------------------------------------===//
// One step
//===----------------------------------------------------------------------===//

std::optional<int64_t> prism::headsOfCopies(const Unit &usual,
                                            const Unit &copying) {
  std::optional<Prediction> registers = Prediction::of(usual),
                            copies = Prediction::of(copying);
  if (!registers || !copies)
    return std::nullopt;
  auto isFaster = [&](int64_t heads) {
    std::optional<double> usually = registers->time(1, heads),
                          copied = copies->time(1, heads);
    return usually && copied && *copied < *usually;
  };
  // Both times are a start and so much for a head.
  constexpr int64_t kMost = 1 << 20;
  if (!isFaster(kMost))
    return std::nullopt;
  int64_t slower = 0, faster = kMost;
  while (faster - slower > 1) {
    int64_t middle = (slower + faster) / 2;
    (isFaster(middle) ? faster : slower) = middle;
  }
  return faster;
}

/// Rows for calls of one step, before the others, which then say what they
/// mean.
static void addRowsOfCopies(std::vector<runtime::ChoiceRow> &rows,
                            ArrayRef<Unit> units) {
  auto copying =
      llvm::find_if(units, [](const Unit &unit) { return unit.copiesState; });
  if (copying == units.end())
    return;
  for (runtime::ChoiceRow &row : rows)
    if (row.valueBlock == 0)
      row.valueBlock = units.front().plan.getValueBlock();
  runtime::ChoiceRow few = rows.front(), many = few;
  few.maxSteps = many.maxSteps = 1;
  few.maxHeads = *headsOfCopies(units.front(), *copying) - 1;
  many.valueBlock = copying->plan.getValueBlock();
  rows.insert(rows.begin(), {few, many});
}

/// "up to 39", "40 to 66", "more than 66", "any number of".
static std::string headsInWords(int64_t above, int64_t most) {
  if (most == INT64_MAX)
    return above == 0 ? "any number of" : "more than " + std::to_string(above);
  return (above == 0 ? "up" : std::to_string(above + 1)) + " to " +
         std::to_string(most);
}

void prism::sayWhichHeads(MutableArrayRef<Unit> units) {
  std::vector<HeadRange> ranges = KernelChoice(units).wholeRanges();
  for (Unit &unit : units) {
    SmallVector<std::string> parts;
    int64_t above = 0;
    for (const HeadRange &range : ranges) {
      if (range.unit == &unit)
        parts.push_back(headsInWords(above, range.maxHeads));
      above = range.maxHeads;
    }
    if (parts.empty())
      unit.remarks.push_back({"for callers who ask for it: others are "
                              "predicted to be as fast for any number of "
                              "heads"});
    else
      unit.remarks.push_back({"for " + llvm::join(parts, ", ") +
                              " sequences x value heads, by predicted time"});
  }
}

std::vector<runtime::ChoiceRow>
prism::makeChoice(scan::RecurrenceOp op, ArrayRef<Unit> units,
                  const CompileOptions &options) {
  auto target = units.front().target.isCuda() ? runtime::Target::Cuda
                                              : runtime::Target::Cpu;
  std::vector<runtime::ChoiceRow> choice;
  scan::Schedule first = units.front().plan.getSchedule();
  if (int64_t upTo = stepsTakenRecurrent(op, units, options)) {
    choice.push_back({target, upTo, INT64_MAX, scheduleName(units.back())});
    if (upTo == INT64_MAX)
      return choice; // at any length
  }
  auto best = units.take_while(
      [&](const Unit &unit) { return unit.plan.getSchedule() == first; });
  std::vector<runtime::ChoiceRow> rows = KernelChoice(best).rows();
  addRowsOfCopies(rows, best);
  llvm::append_range(choice, rows);
  return choice;
}
