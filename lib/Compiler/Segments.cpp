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

/// Why the states at the segments' starts cannot be computed on the chip, or
/// "".
static std::string whyNotCombined(const Unit &combine) {
  FailureOr<int64_t> needed =
      tiletogpu::estimateSharedBytes(programOf(combine));
  int64_t limit = combine.target.gpu().sharedMemoryPerBlock;
  if (succeeded(needed) && *needed <= limit)
    return "";
  return "the map of a segment needs " +
         (failed(needed) ? std::string("more") : std::to_string(*needed)) +
         " bytes of shared memory, a block has " + std::to_string(limit);
}

bool prism::splitsElementwise(const Unit &unit) {
  return tile::hasElementwiseMaps(programOf(unit));
}

/// A way to split: with a launch that combines the maps, or without.
static std::optional<Unit> splitInto(const Unit &unit, const Unit &wide,
                                     bool foldsMaps, std::string &whyNot) {
  tile::SplitOptions options{combineColumns(unit.target), foldsMaps};
  auto programs = tile::splitSequence(programOf(unit), options, whyNot);
  if (failed(programs))
    return std::nullopt;
  auto widePrograms = tile::splitSequence(programOf(wide), options, whyNot);
  if (failed(widePrograms))
    return std::nullopt;
  for (tile::SplitPrograms *made : {&*programs, &*widePrograms})
    if (!made->whyNotFolded.empty()) {
      whyNot = made->whyNotFolded;
      return std::nullopt;
    }
  // Where no system is solved a block of twice the columns takes less than
  // twice as long: it loads keys and queries once for both halves.
  bool isWide = !solves(programOf(unit));
  Unit split = isWide
                   ? partOf(unit, wide, std::move(widePrograms->segments), "")
                   : partOf(unit, unit, std::move(programs->segments), "");
  split.before.push_back(
      partOf(unit, unit, std::move(widePrograms->maps), "_maps"));
  if (programs->combine)
    split.before.push_back(
        partOf(unit, unit, std::move(programs->combine), "_combine"));
  bool areValid = bool(split.module);
  for (const Unit &before : split.before)
    areValid &= bool(before.module);
  if (!areValid) {
    whyNot = "a launch of it is no valid program";
    return std::nullopt;
  }
  if (!unit.roles)
    return split;
  whyNot = foldsMaps ? "" : whyNotCombined(split.before[1]);
  if (whyNot.empty() && addRoles(split.before[0], "maps", whyNot) &&
      addRoles(split, "segments", whyNot))
    return split;
  return std::nullopt;
}

std::optional<Unit> prism::splitUnit(const Unit &unit, const Unit &wide,
                                     std::string &whyNot) {
  // Accumulators fold maps; there is no other code for it.
  std::string whyNotFolded;
  if (unit.roles)
    if (auto split = splitInto(unit, wide, /*foldsMaps=*/true, whyNotFolded))
      return split;
  auto split = splitInto(unit, wide, /*foldsMaps=*/false, whyNot);
  if (split && unit.roles)
    split->remarks.push_back(
        {"segments that fold maps", "the states at the segments' starts are a "
                                    "launch of their own: " +
                                        whyNotFolded});
  return split;
}
