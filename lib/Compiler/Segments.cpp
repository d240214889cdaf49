//===- Segments.cpp - Sequences split into segments -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Segments.h"
#include "Prism/Conversion/TileToGPU/TileToGPU.h"
#include "Prism/Dialect/Tile/Transforms/SplitSequence.h"
#include "TensorCores.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace prism;

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

/// Value columns of a work item that goes from segment to segment: few on a
/// GPU, whose blocks are then many and their matrices small; a CPU's work item
/// reads M once for all of them.
static int64_t combineColumns(const targetinfo::Target &target) {
  return target.isCuda() ? 8 : 64;
}

/// A module of its own for a program, cleaned up.
static OwningOpRef<ModuleOp> moduleFor(OwningOpRef<tile::ProgramOp> program) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(program->getLoc());
  module->push_back(program.release());
  PassManager pm(module->getContext());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  return succeeded(pm.run(*module)) ? std::move(module)
                                    : OwningOpRef<ModuleOp>();
}

/// A launch of the unit, with the plan of the one whose program it runs.
static Unit partOf(const Unit &unit, const Unit &planned,
                   OwningOpRef<tile::ProgramOp> program,
                   const std::string &name) {
  Unit part{unit.entry,   unit.target,
            planned.plan, moduleFor(std::move(program)),
            {},           {}};
  part.variant =
      (unit.variant.empty() ? "" : unit.variant + "_") + "split" + name;
  return part;
}

static tile::ProgramOp programOf(const Unit &unit) {
  return *unit.module.get().getOps<tile::ProgramOp>().begin();
}

/// Whether each chunk has a triangular system, whose inverse is prepared.
static bool solves(tile::ProgramOp program) {
  WalkResult found = program.getBody().walk([](Operation *op) {
    return isa<tile::SolveOp, tile::InvertOp>(op) ? WalkResult::interrupt()
                                                  : WalkResult::advance();
  });
  return found.wasInterrupted();
}

/// Compiles a part for tensor cores.
static bool addRoles(Unit &part, StringRef name, std::string &whyNot) {
  part.roles = buildRoles(*part.module, part.target.gpu(),
                          /*prepareBlocks=*/0, whyNot);
  if (part.roles)
    return true;
  whyNot = ("the launch of " + name + " does not run on tensor cores: ").str() +
           whyNot;
  return false;
}

/// Why the states at the segments' starts cannot be computed there, or "".
static std::string whyNotCombined(const Unit &combine) {
  if (!combine.target.isCuda())
    return "";
  FailureOr<int64_t> needed = tiletogpu::estimateSharedBytes(programOf(combine));
  int64_t limit = combine.target.gpu().sharedMemoryPerBlock;
  if (succeeded(needed) && *needed <= limit)
    return "";
  return "the map of a segment needs " +
         (failed(needed) ? "more" : std::to_string(*needed)) +
         " bytes of shared memory, a block has " + std::to_string(limit);
}

bool prism::splitsElementwise(const Unit &unit) {
  return tile::hasElementwiseMaps(programOf(unit));
}

std::optional<Unit> prism::splitUnit(const Unit &unit, const Unit &wide,
                                     std::string &whyNot) {
  int64_t columns = combineColumns(unit.target);
  auto programs = tile::splitSequence(programOf(unit), columns, whyNot);
  if (failed(programs))
    return std::nullopt;
  auto widePrograms = tile::splitSequence(programOf(wide), columns, whyNot);
  if (failed(widePrograms))
    return std::nullopt;
  // Where no system is solved a block of twice the columns takes less than
  // twice as long: it loads keys and queries once for both halves.
  bool isWide = !solves(programOf(unit));
  Unit split = isWide
                   ? partOf(unit, wide, std::move(widePrograms->segments), "")
                   : partOf(unit, unit, std::move(programs->segments), "");
  split.before.push_back(
      partOf(unit, unit, std::move(widePrograms->maps), "_maps"));
  split.before.push_back(
      partOf(unit, unit, std::move(programs->combine), "_combine"));
  for (const Unit *part : {&split.before[0], &split.before[1], &split})
    if (!part->module) {
      whyNot = "a launch of it is no valid program";
      return std::nullopt;
    }
  whyNot = whyNotCombined(split.before[1]);
  if (!whyNot.empty())
    return std::nullopt;
  if (!unit.roles || (addRoles(split.before[0], "maps", whyNot) &&
                      addRoles(split, "segments", whyNot)))
    return split;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// How many segments
//===----------------------------------------------------------------------===//

namespace {
// Microseconds on an H200, of 64 steps, 128 keys and 128 values, bf16,
// 2026-11-30. Gated DeltaNet: 8192 steps in blocks of 64 value columns take
// 0.234 ms, with a block that only prepares 0.200, the maps of 16 chunks in
// blocks of 128 take 38 us. RetNet: 8192 steps in blocks of 128 take 0.163 ms,
// the maps of 32 chunks 34 us. A step of the combination takes 2.2, of diagonal
// maps 1.4 to 2; a launch in a graph waits for the one before it to end.
struct ChunkCosts {
  double chunk, apart, map, wideMap, combine;
};
constexpr ChunkCosts kSolved = {1.85, 1.56, 1.6, 2.3, 2.2},
                     kUnsolved = {1.27, 1.27, 0.8, 1.05, 2.0};
constexpr int64_t kFewestChunks = 4; // of a segment
/// Value columns of one warpgroup of the chain.
constexpr int64_t kNarrow = 64;
constexpr int64_t kSegments[] = {2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32};
} // namespace

SegmentCosts prism::costsOf(const Unit &split) {
  tile::ProgramOp program = programOf(split),
                  maps = programOf(split.before.front());
  if (split.plan.getSchedule() == scan::Schedule::recurrent) {
    SegmentCosts costs;
    costs.multiprocessors = split.target.gpu().multiprocessors;
    costs.chunk = 1;
    costs.blocks = costs.mapBlocks = program.getValueBlocks();
    costs.steps = StepCosts::of(program, maps, split.target.gpu());
    return costs;
  }
  bool solved = solves(program);
  // Blocks of columns of M that are known beforehand take no time.
  int64_t mapBlocks =
      tile::knowsMaps(program)
          ? llvm::divideCeil(program.getValues(), maps.getValueBlock())
          : maps.getValueBlocks();
  return {split.target.gpu().multiprocessors,
          split.plan.getChunk(),
          program.getValueBlocks(),
          mapBlocks,
          int64_t(maps.getValueBlock()) > kNarrow,
          solved,
          split.apartHeads};
}

int64_t prism::bestSegments(const SegmentCosts &costs, int64_t steps,
                            int64_t heads) {
  if (costs.steps)
    return costs.steps->bestSegments(steps, heads);
  const ChunkCosts &each = costs.solves ? kSolved : kUnsolved;
  int64_t chunks = llvm::divideCeil(steps, costs.chunk);
  // A block of roles has a multiprocessor to itself.
  auto waves = [&](int64_t blocks) {
    return double(llvm::divideCeil(blocks, costs.multiprocessors));
  };
  int64_t best = 1;
  double least =
      kGain * chunks *
      (heads <= costs.apartHeads ? each.apart
                                 : waves(heads * costs.blocks) * each.chunk);
  for (int64_t segments : kSegments) {
    if (chunks < segments * kFewestChunks)
      break;
    int64_t chunksOfOne = llvm::divideCeil(chunks, segments);
    double cost =
        waves(heads * costs.mapBlocks * (segments - 1)) * chunksOfOne *
            (costs.wideMaps ? each.wideMap : each.map) +
        waves(heads * costs.blocks * segments) * chunksOfOne * each.chunk +
        each.combine * (segments - 1) + 2 * kLaunch;
    if (cost < least)
      least = cost, best = segments;
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Rows of the table
//===----------------------------------------------------------------------===//

/// The bounds stand for all between them and the ones before.
std::vector<SegmentRange> prism::segmentRanges(const SegmentCosts &costs) {
  // Blocks of steps share a multiprocessor, those of chunks do not.
  int64_t most = costs.steps ? INT64_MAX : costs.multiprocessors / costs.blocks;
  std::vector<int64_t> bounds;
  for (int64_t heads : {1,  2,  3,  4,  6,  8,   12,  16,  20,  24,  28,
                        32, 40, 48, 64, 96, 128, 192, 256, 384, 512, 1024})
    if (heads < most)
      bounds.push_back(heads);
  if (costs.apartHeads > 0 && costs.apartHeads < most)
    bounds.insert(llvm::lower_bound(bounds, costs.apartHeads),
                  costs.apartHeads);
  std::vector<SegmentRange> ranges;
  for (int64_t steps :
       {128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536}) {
    if (steps < 512 && !costs.steps)
      continue;
    SegmentRange range{steps, {}};
    for (int64_t heads : bounds) {
      int64_t segments = bestSegments(costs, steps, heads);
      if (!range.segmentsUpTo.empty() &&
          range.segmentsUpTo.back().second == segments)
        range.segmentsUpTo.back().first = heads;
      else
        range.segmentsUpTo.push_back({heads, segments});
    }
    while (!range.segmentsUpTo.empty() && range.segmentsUpTo.back().second == 1)
      range.segmentsUpTo.pop_back();
    if (!ranges.empty() && ranges.back().segmentsUpTo == range.segmentsUpTo)
      ranges.back().maxSteps = steps;
    else
      ranges.push_back(std::move(range));
  }
  ranges.back().maxSteps = INT64_MAX;
  return ranges;
}

std::vector<runtime::ChoiceRow>
prism::addSegmentRows(const Unit &split, ArrayRef<runtime::ChoiceRow> whole) {
  std::vector<runtime::ChoiceRow> rows;
  for (const SegmentRange &range : segmentRanges(costsOf(split))) {
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
