//===- Units.cpp - Entries, targets and schedules to tile programs --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Admit.h"
#include "Choice.h"
#include "Machine.h"
#include "Predict.h"
#include "Prism/Conversion/ScanToTile/ScanToTile.h"
#include "Prism/Conversion/TileToGPU/TileToGPU.h"
#include "Prism/Dialect/Scan/IR/ChunkStates.h"
#include "Prism/Dialect/Scan/Transforms/Passes.h"
#include "Prism/Pipelines/Pipelines.h"
#include "Segments.h"
#include "StepSegments.h"
#include "TensorCores.h"
#include "Wish.h"
#include "mlir/Pass/PassManager.h"
#include <utility>

using namespace mlir;
using namespace prism;

FailureOr<std::vector<func::FuncOp>>
prism::findEntries(ModuleOp module, ArrayRef<std::string> wanted) {
  std::vector<func::FuncOp> all, chosen;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(scan::kEntryAttr))
      all.push_back(function);
  if (all.empty())
    return module.emitError(
               "no entry: expected a func.func with the attribute ")
           << scan::kEntryAttr;
  if (wanted.empty())
    return all;
  for (const std::string &name : wanted) {
    auto found =
        llvm::find_if(all, [&](func::FuncOp f) { return f.getName() == name; });
    if (found != all.end()) {
      if (llvm::is_contained(chosen, *found))
        return module.emitError("expected distinct entries, found '")
               << name << "' twice";
      chosen.push_back(*found);
      continue;
    }
    auto nearest = llvm::min_element(all, [&](func::FuncOp a, func::FuncOp b) {
      func::FuncOp left = a, right = b;
      return left.getName().edit_distance(name) <
             right.getName().edit_distance(name);
    });
    func::FuncOp hint = *nearest;
    return module.emitError("no entry '")
           << name << "'; did you mean '" << hint.getName() << "'?";
  }
  return chosen;
}

ArrayRef<std::string> prism::machinesOf(const targetinfo::Target &target) {
  return target.isCuda() ? ArrayRef(target.gpu().chip) : target.levels();
}

FailureOr<std::vector<targetinfo::Target>>
prism::parseTargets(ModuleOp module, ArrayRef<std::string> targets) {
  std::vector<targetinfo::Target> parsed;
  for (const std::string &text : targets) {
    std::string error;
    std::optional<targetinfo::Target> target =
        targetinfo::parseTarget(text, error);
    if (!target)
      return module.emitError(error);
    for (const targetinfo::Target &before : parsed)
      for (const std::string &machine : machinesOf(*target))
        if (llvm::is_contained(machinesOf(before), machine))
          return module.emitError("expected distinct targets, found ")
                 << machine << " twice, in '" << before.str() << "' and '"
                 << text << "'";
    parsed.push_back(*target);
  }
  return parsed;
}

scan::PlanMachine prism::planMachine(const targetinfo::Target &target,
                                     const CompileOptions &options) {
  if (target.isCuda())
    return {scan::PlanTarget::cuda, {}};
  auto machine = scan::PlanMachine::cpuLevels(target.levels());
  TextDiagnostic diagnostic; // none: checked by admit
  if (options.calibration)
    (void)machine.calibrate(*options.calibration, diagnostic);
  return machine;
}

static scan::RecurrenceOp recurrenceOf(func::FuncOp entry) {
  scan::RecurrenceOp op;
  entry.walk([&](scan::RecurrenceOp found) { op = found; });
  return op;
}

/// A module of its own with the entry, planned, as a tile program.
static FailureOr<OwningOpRef<ModuleOp>> buildTileModule(func::FuncOp entry,
                                                        scan::PlanAttr plan) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(entry.getLoc());
  OpBuilder builder(module->getBodyRegion());
  auto copy = cast<func::FuncOp>(builder.clone(*entry));
  recurrenceOf(copy).setPlanAttr(plan);
  PassManager pm(entry.getContext());
  buildScanToTilePipeline(pm, ScanToTileOptions());
  if (failed(pm.run(*module)))
    return failure();
  return module;
}

/// Value columns of a block of segments of elementwise steps: four in a thread.
static constexpr int64_t kColumnsOfSegments = 128;

/// The plan with what the user fixed.
static scan::PlanAttr withOverride(scan::PlanAttr plan,
                                   const PlanOverride &given) {
  return scan::PlanAttr::get(
      plan.getContext(), plan.getSchedule(),
      given.chunk.value_or(plan.getChunk()),
      given.valueBlock.value_or(plan.getValueBlock()), plan.getStages(),
      given.segments.value_or(plan.getSegments()), plan.getPrepareBlocks());
}

/// Gives the later ones of several units of a schedule names of their own.
static void tellApart(MutableArrayRef<Unit> units) {
  bool isFirst = true;
  for (Unit &unit : units)
    if (unit.prepareBlocks() > 0)
      unit.variant = "p" + std::to_string(unit.prepareBlocks());
    else if (!std::exchange(isFirst, false))
      unit.variant = "v" + std::to_string(unit.plan.getValueBlock());
}

static Remark refusedBlock(scan::PlanAttr plan, const std::string &whyNot) {
  std::string what = "value block of " + std::to_string(plan.getValueBlock()) +
                     (plan.getPrepareBlocks() > 0
                          ? " with " + std::to_string(plan.getPrepareBlocks()) +
                                " prepare_blocks"
                          : std::string()) +
                     " on tensor cores";
  return {"a " + what, "no " + what + ": " + whyNot};
}

/// The chunk form on tensor cores, once for each plan that they take; none and
/// a reason where they take none.
static FailureOr<std::vector<Unit>>
buildTensorCoreUnits(func::FuncOp entry, const targetinfo::Target &target,
                     const PlanOverride &given, std::string &whyNot) {
  std::vector<Unit> units;
  std::vector<Remark> declined;
  for (scan::PlanAttr plan :
       tensorCorePlans(recurrenceOf(entry), target.gpu(), given, whyNot)) {
    FailureOr<OwningOpRef<ModuleOp>> module = buildTileModule(entry, plan);
    if (failed(module))
      return failure();
    OwningOpRef<ModuleOp> roles =
        buildRoles(**module, target.gpu(), plan.getPrepareBlocks(), whyNot);
    if (!roles)
      declined.push_back(refusedBlock(plan, whyNot));
    else
      units.push_back({entry.getName().str(),
                       target,
                       plan,
                       std::move(*module),
                       std::move(roles),
                       {}});
  }
  if (units.size() > 1) {
    tellApart(units);
    sayWhichHeads(units);
  }
  if (!units.empty())
    units.front().remarks.insert(units.front().remarks.end(), declined.begin(),
                                 declined.end());
  return units;
}

/// The first candidate whose tiles fit the chip.
static FailureOr<Unit> buildCudaUnit(func::FuncOp entry, scan::RecurrenceOp op,
                                     ArrayRef<scan::PlanAttr> candidates,
                                     const targetinfo::Target &target,
                                     const PlanOverride &given) {
  int64_t bytes = 0, limit = target.gpu().sharedMemoryPerBlock;
  std::vector<Remark> tooLarge;
  for (scan::PlanAttr candidate : candidates) {
    scan::PlanAttr plan = withOverride(candidate, given);
    FailureOr<OwningOpRef<ModuleOp>> module = buildTileModule(entry, plan);
    if (failed(module))
      return failure();
    tile::ProgramOp program = *(*module)->getOps<tile::ProgramOp>().begin();
    Unit unit{entry.getName().str(), target, plan, std::move(*module), {}, {}};
    FailureOr<int64_t> needed = tiletogpu::estimateSharedBytes(program);
    if (failed(needed))
      return failure();
    bytes = *needed;
    // The register strategy of the recurrent schedule needs no shared memory;
    // the conversion decides.
    if (bytes <= limit || plan.getSchedule() == scan::Schedule::recurrent) {
      unit.remarks = std::move(tooLarge);
      return unit;
    }
    std::string what = "chunk " + std::to_string(plan.getChunk()) +
                       ", value block " + std::to_string(plan.getValueBlock());
    tooLarge.push_back({what, what + ": needs " + std::to_string(bytes) +
                                  " bytes of shared memory, a block has " +
                                  std::to_string(limit)});
  }
  bool isPlanned = given.chunk || given.valueBlock;
  InFlightDiagnostic diag =
      isPlanned
          ? emitPlanError(op, given, given.valueBlock ? "value_block" : "chunk")
          : entry.emitError();
  return diag << "needs " << bytes << " bytes of shared memory on "
              << target.str() << ", which has " << limit << " bytes a block; "
              << (isPlanned ? "give a smaller chunk or value_block in the plan"
                            : "reduce K");
}

/// One unit of a schedule without tensor cores.
static FailureOr<Unit> buildPlainUnit(func::FuncOp entry, scan::RecurrenceOp op,
                                      scan::Schedule schedule,
                                      const targetinfo::Target &target,
                                      const PlanOverride &given,
                                      const CompileOptions &options) {
  SmallVector<scan::PlanAttr> candidates =
      scan::candidatePlans(op, schedule, planMachine(target, options));
  if (!canSplitValues(op))
    for (scan::PlanAttr &plan : candidates)
      plan = scan::PlanAttr::get(plan.getContext(), plan.getSchedule(),
                                 plan.getChunk(), 0, plan.getStages());
  if (target.isCuda())
    return buildCudaUnit(entry, op, candidates, target, given);
  scan::PlanAttr plan = withOverride(candidates.front(), given);
  FailureOr<OwningOpRef<ModuleOp>> module = buildTileModule(entry, plan);
  if (failed(module))
    return failure();
  return Unit{entry.getName().str(), target, plan, std::move(*module), {}, {}};
}

/// Says why the plans of a CPU's units are what they are, and which is for
/// which sequences. A stepping entry has no choice.
static void explainPlans(scan::RecurrenceOp op, MutableArrayRef<Unit> units,
                         const scan::PlanMachine &machine) {
  auto kind = op->getParentOfType<func::FuncOp>()->getAttrOfType<StringAttr>(
      scan::kEntryAttr);
  if (kind.getValue() == "decode" || machine.target != scan::PlanTarget::cpu)
    return;
  Unit &first = units.front(), &last = units.back();
  llvm::append_range(first.remarks, scan::explainPlan(op, first.plan, machine));
  if (first.plan.getSchedule() == last.plan.getSchedule())
    return;
  int64_t upTo =
      scan::recurrentUpTo(op, first.plan, machine, /*tensorCores=*/false);
  std::string text =
      "for sequences of up to " + std::to_string(upTo) + " steps";
  if (upTo == INT64_MAX)
    text = "for sequences of any length; the chunk kernel is for callers who "
           "ask for it";
  else if (upTo == 0)
    text = "for callers who ask for it; chunks are faster at any length";
  last.remarks.push_back(text);
}

/// Puts a unit that splits sequences beside the whole ones or, where the user
/// fixed the number of segments, in their place. Without one an error or a
/// remark says why.
static LogicalResult place(std::optional<Unit> split, const std::string &whyNot,
                           scan::RecurrenceOp op, std::vector<Unit> &units,
                           const PlanOverride &given) {
  int64_t segments = given.segments.value_or(0);
  if (!split && segments > 1)
    return emitPlanError(op, given, "segments")
           << "cannot be split into " << segments << " segments: " << whyNot;
  if (!split) {
    units.front().remarks.push_back(
        {"sequences in segments", "sequences are not split: " + whyNot});
    return success();
  }
  if (segments > 1) {
    split->segments = segments;
    split->remarks.insert(split->remarks.begin(), units.front().remarks.begin(),
                          units.front().remarks.end());
    units.clear();
  }
  units.push_back(std::move(*split));
  return success();
}

/// Adds the unit that splits sequences in chunks. Unasked only where it was
/// chosen for: on tensor cores, for few heads.
static LogicalResult addSplitUnit(scan::RecurrenceOp op,
                                  std::vector<Unit> &units,
                                  const PlanOverride &given) {
  int64_t segments = given.segments.value_or(0);
  if (segments == 1 || (segments == 0 && !units.front().roles))
    return success();
  // Wide blocks make maps with less work: what does not depend on the state is
  // prepared once for more columns.
  std::string whyNot;
  auto narrow = llvm::find_if(
      units, [](const Unit &unit) { return unit.prepareBlocks() == 0; });
  if (narrow == units.end()) // fixed by the user
    return success();
  std::optional<Unit> split = splitUnit(*narrow, units.back(), whyNot);
  if (!split && &*narrow != &units.back())
    split = splitUnit(*narrow, *narrow, whyNot);
  return place(std::move(split), whyNot, op, units, given);
}

static bool isOneStep(func::FuncOp entry) {
  return entry->getAttrOfType<StringAttr>(scan::kEntryAttr).getValue() ==
         "decode";
}

/// Adds the unit that splits sequences of a recurrence without a chunk form:
/// asked for, or on a GPU where each element of the state has a factor of its
/// own, so that maps cost about as much as the state.
static LogicalResult addSteppedSplit(func::FuncOp entry, scan::RecurrenceOp op,
                                     std::vector<Unit> &units,
                                     const PlanOverride &given) {
  int64_t segments = given.segments.value_or(0);
  Unit &whole = units.front();
  bool pays = whole.target.isCuda() && !isOneStep(entry) &&
              scan::decaysValuesOrElements(op) && splitsElementwise(whole);
  if (segments == 1 || (segments == 0 && !pays))
    return success();
  // Where lengths give the parallelism, a thread has more columns.
  scan::PlanAttr plan = whole.plan;
  auto [keys, values] = scan::getKeysAndValues(op, 0);
  if (whole.target.isCuda() && !given.valueBlock && keys == 1 &&
      values % kColumnsOfSegments == 0) {
    PlanOverride columns;
    columns.valueBlock = kColumnsOfSegments;
    plan = withOverride(plan, columns);
  }
  FailureOr<OwningOpRef<ModuleOp>> module = buildTileModule(entry, plan);
  if (failed(module))
    return failure();
  Unit wide{whole.entry, whole.target, plan, std::move(*module), {}, {}};
  std::string whyNot;
  std::optional<Unit> split = splitUnit(wide, wide, whyNot);
  if (split && segments == 0)
    split->remarks = StepCosts::of(*split).explain();
  return place(std::move(split), whyNot, op, units, given);
}

/// Says which of the two takes which calls.
static void sayWhichCalls(Unit &usual, Unit &copying, int64_t heads) {
  std::string many = "more than " + std::to_string(heads - 1) +
                     " sequences x value heads",
              copies = "one step of " + many;
  usual.remarks.push_back(
      {"for calls of all but " + copies + ", by predicted time"});
  copying.remarks.push_back(
      {"for calls of " + copies +
       ", by predicted time: the state moves by bulk copies through shared "
       "memory"});
  copying.remarks.push_back(
      {"other calls that ask for it (of more steps, without a state, of arrays "
       "that 16 bytes do not align or of rows with gaps) are right, and slow"});
}

/// The unit of a usual one's entry that copies its state, and from how many
/// heads on it takes calls of one step; of heads: nothing, and why not.
static FailureOr<Unit> copyingUnit(func::FuncOp entry, const Unit &usual,
                                   int64_t values,
                                   std::optional<int64_t> &heads,
                                   std::string &whyNot) {
  PlanOverride whole;
  whole.valueBlock = values;
  scan::PlanAttr plan = withOverride(usual.plan, whole);
  FailureOr<OwningOpRef<ModuleOp>> module = buildTileModule(entry, plan);
  if (failed(module))
    return failure();
  Unit copying{usual.entry, usual.target, plan, std::move(*module), {}, {}};
  copying.copiesState = true;
  entry.getContext()->loadAllAvailableDialects();
  tile::ProgramOp program = *copying.module->getOps<tile::ProgramOp>().begin();
  if (tiletogpu::canCopyState(program, usual.target.gpu(), whyNot)) {
    heads = headsOfCopies(usual, copying);
    whyNot = "it is predicted to be slower for any number of heads";
  }
  return copying;
}

/// Adds that unit, for states of 16 bits. On chips that were measured: else
/// nothing says for how many heads.
static LogicalResult addCopyingUnit(func::FuncOp entry, scan::RecurrenceOp op,
                                    std::vector<Unit> &units,
                                    const PlanOverride &given) {
  Unit &usual = units.front();
  if (!usual.target.isCuda() || !isOneStep(entry) || given.valueBlock ||
      units.size() > 1 || !targetinfo::gpuCosts(usual.target.gpu()) ||
      !hasHalves(*usual.module->getOps<tile::ProgramOp>().begin()))
    return success();
  int64_t values = scan::getKeysAndValues(op, 0).second;
  std::optional<int64_t> heads;
  // Kernels are told apart, and named by tables, by their columns.
  std::string whyNot =
      "the kernel in registers has all value columns in a block too";
  if (usual.plan.getValueBlock() != values) {
    FailureOr<Unit> copying = copyingUnit(entry, usual, values, heads, whyNot);
    if (failed(copying))
      return failure();
    if (heads) {
      sayWhichCalls(usual, *copying, *heads);
      units.push_back(std::move(*copying));
      tellApart(units);
      return success();
    }
  }
  usual.remarks.push_back(
      {"bulk copies of the state", "no bulk copies of the state: " + whyNot});
  return success();
}

/// How many stages of buffering there are is the kernels' own: a plan may leave
/// it to them, by 1, or say what one of them has.
static LogicalResult checkStages(scan::RecurrenceOp op,
                                 const PlanOverride &given,
                                 const targetinfo::Target &target,
                                 ArrayRef<Unit> units) {
  int64_t stages = given.stages.value_or(1), most = 1;
  for (const Unit &unit : units)
    most = std::max(most, unit.plan.getStages());
  if (stages == 1 || stages == most)
    return success();
  InFlightDiagnostic error = emitPlanError(op, given, "stages");
  error << "expected 1 stage";
  if (most > 1)
    error << ", which leaves them to the kernel, or the " << most
          << " that it has on " << target.str();
  else
    error << " on " << target.str() << ", whose code copies nothing ahead";
  return error << ", found " << stages;
}

/// The first alone, for any length and number of heads.
static void keepOne(std::vector<Unit> &units) {
  units.erase(units.begin() + 1, units.end());
  Unit &only = units.front();
  only.remarks.push_back(
      {"the only kernel: what it computes of a sequence does not depend on "
       "what else is in the batch"});
}

FailureOr<std::vector<Unit>> prism::buildUnits(func::FuncOp entry,
                                               const targetinfo::Target &target,
                                               const CompileOptions &options) {
  scan::RecurrenceOp op = recurrenceOf(entry);
  std::vector<Remark> remarks;
  FailureOr<bool> serial = admit(entry, op, target, options, remarks);
  if (failed(serial))
    return failure();
  FailureOr<Wish> wish = wishFor(entry, op, target, options, remarks);
  if (failed(wish))
    return failure();
  if (*serial && !op.getMiniBatch())
    wish->schedules = {scan::Schedule::recurrent};
  // They are held whole, which few chips have the memory for, and a chunk
  // without tensor cores is slower than its steps.
  if (target.isCuda() && op.getNumStates() > 1 && wish->schedules.size() > 1) {
    wish->schedules = {scan::Schedule::recurrent};
    remarks.push_back({"the chunk form",
                       "chunks of several states are made for GPUs where a "
                       "plan asks for them, without tensor cores"});
  }
  std::vector<Unit> units;
  for (scan::Schedule schedule : wish->schedules) {
    std::vector<Unit> found;
    std::string whyNot;
    if (target.isCuda() && schedule == scan::Schedule::chunk) {
      auto some = buildTensorCoreUnits(entry, target, wish->given, whyNot);
      if (failed(some))
        return failure();
      found = std::move(*some);
      if (int64_t blocks = wish->given.prepareBlocks.value_or(0);
          found.empty() && blocks > 0)
        return emitPlanError(op, wish->given, "prepare_blocks")
               << "there is no kernel with " << blocks
               << " prepare_blocks: " << whyNot;
    }
    if (found.empty()) {
      auto plain =
          buildPlainUnit(entry, op, schedule, target, wish->given, options);
      if (failed(plain))
        return failure();
      if (!whyNot.empty())
        plain->remarks.push_back(
            {"tensor cores", "no tensor cores: " + whyNot});
      found.push_back(std::move(*plain));
    }
    if (failed(schedule == scan::Schedule::chunk
                   ? addSplitUnit(op, found, wish->given)
                   : addSteppedSplit(entry, op, found, wish->given)) ||
        failed(addCopyingUnit(entry, op, found, wish->given)))
      return failure();
    for (Unit &unit : found) {
      unit.remarks.insert(unit.remarks.begin(), remarks.begin(), remarks.end());
      units.push_back(std::move(unit));
    }
  }
  if (failed(checkStages(op, wish->given, target, units)))
    return failure();
  if (wish->given.batchInvariant)
    keepOne(units);
  explainPlans(op, units, planMachine(target, options));
  return units;
}
