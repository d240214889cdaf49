//===- Units.cpp - Entries, targets and schedules to tile programs --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Prism/Conversion/ScanToTile/ScanToTile.h"
#include "Prism/Conversion/TileToGPU/TileToGPU.h"
#include "Prism/Dialect/Scan/Transforms/Passes.h"
#include "Prism/Pipelines/Pipelines.h"
#include "Segments.h"
#include "TensorCores.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/PassManager.h"

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

FailureOr<std::vector<targetinfo::Target>>
prism::parseTargets(ModuleOp module, ArrayRef<std::string> targets) {
  std::vector<targetinfo::Target> parsed;
  for (const std::string &text : targets) {
    std::string error;
    std::optional<targetinfo::Target> target =
        targetinfo::parseTarget(text, error);
    if (!target)
      return module.emitError(error);
    parsed.push_back(*target);
  }
  return parsed;
}

scan::PlanMachine prism::planMachine(const targetinfo::Target &target,
                                     const CompileOptions &options) {
  if (target.isCuda())
    return {scan::PlanTarget::cuda, {}};
  auto machine = scan::PlanMachine::cpuLevels(target.levels());
  if (options.calibration)
    (void)machine.calibrate(*options.calibration); // checked by buildUnits
  return machine;
}

/// A calibration that knows no level of the target is an error.
static LogicalResult checkCalibration(func::FuncOp entry,
                                      const targetinfo::Target &target,
                                      const CompileOptions &options) {
  if (!options.calibration || target.isCuda())
    return success();
  auto machine = scan::PlanMachine::cpuLevels(target.levels());
  std::string error = machine.calibrate(*options.calibration);
  return error.empty() ? success() : LogicalResult(entry.emitError(error));
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

/// The plan with what the user fixed.
static scan::PlanAttr withOverride(scan::PlanAttr plan,
                                   const PlanOverride &given) {
  return scan::PlanAttr::get(plan.getContext(), plan.getSchedule(),
                             given.chunk.value_or(plan.getChunk()),
                             given.valueBlock.value_or(plan.getValueBlock()),
                             given.stages.value_or(plan.getStages()),
                             given.segments.value_or(plan.getSegments()));
}

namespace {
/// What the spec, the command line and the entry itself say about schedules.
struct Wish {
  PlanOverride given;
  std::vector<scan::Schedule> schedules;
};
} // namespace

static FailureOr<Wish> wishFor(func::FuncOp entry, scan::RecurrenceOp op,
                               const CompileOptions &options,
                               std::vector<Remark> &remarks) {
  Wish wish;
  if (scan::PlanAttr plan = op.getPlanAttr()) // written in the spec or the IR
    wish.given = {plan.getSchedule(), plan.getChunk(),
                  // 0 leaves the split to the target.
                  plan.getValueBlock() ? std::optional(plan.getValueBlock())
                                       : std::nullopt,
                  plan.getStages(),
                  plan.getSegments() ? std::optional(plan.getSegments())
                                     : std::nullopt};
  for (const std::string &key : {std::string(), entry.getName().str()})
    if (auto found = options.plans.find(key); found != options.plans.end())
      wish.given = found->second;
  bool wantsChunks =
      wish.given.chunk.value_or(1) > 1 || wish.given.segments.value_or(1) > 1;
  if (wantsChunks && !wish.given.schedule)
    wish.given.schedule = scan::Schedule::chunk;
  if (wish.given.schedule == scan::Schedule::recurrent &&
      wish.given.segments.value_or(1) != 1)
    return entry.emitError("plan: the recurrent schedule does not split "
                           "sequences, found ")
           << *wish.given.segments << " segments";
  if (wish.given.schedule == scan::Schedule::recurrent &&
      wish.given.chunk.value_or(1) != 1)
    return entry.emitError("plan: the recurrent schedule has chunk 1, found ")
           << *wish.given.chunk;
  int64_t columns = scan::getKeysAndValues(op, 0).second;
  if (wish.given.valueBlock.value_or(0) > columns)
    return entry.emitError("plan: expected a value_block of at most ")
           << columns << ", the value columns there are, found "
           << *wish.given.valueBlock;

  if (op.getMiniBatch()) {
    // A mini-batch is a chunk; nothing else has its entry.
    int64_t steps = *op.getMiniBatch();
    bool stepping = wish.given.schedule == scan::Schedule::recurrent;
    int64_t chunk = wish.given.chunk.value_or(steps);
    if (steps > 256 || chunk != steps || stepping)
      return entry.emitError("plan: mini-batches of ")
             << steps << " steps take chunks of that size, at most 256, found "
             << (stepping ? "the recurrent schedule"
                          : "chunk " + std::to_string(chunk));
    wish.given.schedule = scan::Schedule::chunk;
    wish.given.chunk = steps;
  }
  std::string reason;
  Operation *without = scan::findFactorWithoutChunkForm(op, reason);
  bool stepwise =
      entry->getAttrOfType<StringAttr>(scan::kEntryAttr).getValue() == "decode";
  if (wish.given.schedule) {
    wish.schedules = {*wish.given.schedule};
  } else if (without) {
    remarks.push_back(
        {"the chunk form",
         without->getName().getStringRef().str() + ": " + reason});
    wish.schedules = {scan::Schedule::recurrent};
  } else if (stepwise) {
    wish.schedules = {scan::Schedule::recurrent};
  } else {
    wish.schedules = {scan::Schedule::chunk, scan::Schedule::recurrent};
  }
  return wish;
}

/// A recurrence without a parallel form: an error that names the op of the
/// model to blame, unless it was asked for step by step.
static LogicalResult admitSerial(func::FuncOp entry, scan::RecurrenceOp op,
                                 const targetinfo::Target &target,
                                 const CompileOptions &options,
                                 std::vector<Remark> &remarks) {
  analysis::StateFlow flow(op);
  if (!options.serial && !op->hasAttr(scan::kSerialAttr)) {
    flow.report(analysis::Granularity::miniBatch);
    return failure();
  }
  if (target.isCuda())
    return entry.emitError("serial recurrences are not lowered for GPUs yet; "
                           "the CPU takes them");
  // An entry that is stepped through anyway may say so.
  scan::PlanAttr plan = op.getPlanAttr();
  if ((plan && plan.getSchedule() != scan::Schedule::recurrent) ||
      !options.plans.empty())
    return entry.emitError("plan: a serial recurrence is taken step by step; "
                           "it takes no plan");
  remarks.push_back(
      std::string("serial, taken ") +
      (op.getMiniBatch() ? "mini-batch by mini-batch" : "step by step") +
      " as asked: " + flow.blame().second);
  return success();
}

static LogicalResult refuseCalls(scan::RecurrenceOp op) {
  bool found = op.walk([](func::CallOp call) {
                   call.emitError("a call in a step is not lowered; write the "
                                  "ops of '")
                       << call.getCallee() << "' in its place";
                   return WalkResult::interrupt();
                 }).wasInterrupted();
  return failure(found);
}

/// A mini-batch of one step is entered with the state before the step.
static void dropMiniBatchesOfOne(scan::RecurrenceOp op) {
  if (op.getMiniBatch() != 1)
    return;
  unsigned states = op.getNumStates();
  for (unsigned i = 0; i < states; ++i)
    op.getEntryStateArgument(i).replaceAllUsesWith(op.getStateArgument(i));
  op.removeMiniBatchAttr();
  op.getStepBlock()->eraseArguments(states, states);
}

/// Are the next states made by factors and by sums of multiples of states?
static bool areMadeByFactors(scan::RecurrenceOp op) {
  SmallVector<Value> pending(
      op.getYield().getValues().take_front(op.getNumStates()));
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value state = pending.pop_back_val();
    Operation *producer = state.getDefiningOp();
    if (!seen.insert(state).second || !producer ||
        isa<tensor::SplatOp>(producer) ||
        producer->hasTrait<OpTrait::ConstantLike>())
      continue;
    if (auto factor = dyn_cast<scan::StateOpInterface>(producer))
      pending.push_back(factor.getStateOperand().get());
    else if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp>(
                 producer))
      llvm::append_range(pending, producer->getOperands());
    else
      return false;
  }
  return true;
}

/// Does the step have plain ops that raising may turn into factors?
static bool hasPlainOps(scan::RecurrenceOp op) {
  if (op.getMiniBatch())
    return !areMadeByFactors(op);
  return op.getNumStates() == 1 && failed(scan::getFactorChain(op, 0));
}

/// Says of each of several units of a schedule which heads it is for, and gives
/// the later ones names of their own.
static void tellApart(MutableArrayRef<Unit> units) {
  int64_t above = 0;
  for (Unit &unit : units) {
    int64_t columns = unit.plan.getValueBlock();
    if (&unit != units.begin())
      unit.variant = "v" + std::to_string(columns);
    tile::ProgramOp program =
        *unit.module.get().getOps<tile::ProgramOp>().begin();
    if (&unit != &units.back())
      unit.maxHeads =
          mostHeadsAtOnce(unit.target.gpu(), program.getValueBlocks());
    bool last = unit.maxHeads == INT64_MAX;
    unit.remarks.push_back(std::string("for ") +
                           (last ? "more than " : "up to ") +
                           std::to_string(last ? above : unit.maxHeads) +
                           " sequences x value heads" +
                           (last ? "" : ", whose blocks run all at once"));
    above = unit.maxHeads;
  }
}

static Remark refusedBlock(int64_t columns, const std::string &whyNot) {
  std::string what =
      "value block of " + std::to_string(columns) + " on tensor cores";
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
    OwningOpRef<ModuleOp> roles = buildRoles(**module, target.gpu(), whyNot);
    if (!roles)
      declined.push_back(refusedBlock(plan.getValueBlock(), whyNot));
    else
      units.push_back({entry.getName().str(),
                       target,
                       plan,
                       std::move(*module),
                       std::move(roles),
                       {}});
  }
  if (units.size() > 1)
    tellApart(units);
  if (!units.empty())
    units.front().remarks.insert(units.front().remarks.end(), declined.begin(),
                                 declined.end());
  return units;
}

/// The first candidate whose tiles fit the chip.
static FailureOr<Unit> buildCudaUnit(func::FuncOp entry,
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
  return entry.emitError("needs ")
         << bytes << " bytes of shared memory on " << target.str()
         << ", which has " << limit << " bytes a block; "
         << (given.chunk || given.valueBlock
                 ? "give a smaller chunk or value_block in the plan"
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
    return buildCudaUnit(entry, candidates, target, given);
  if (int64_t stages = given.stages.value_or(1); stages != 1)
    return entry.emitError("plan: expected 1 stage on ")
           << target.str() << ", whose code copies nothing ahead, found "
           << stages;
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
  last.remarks.push_back(
      upTo == INT64_MAX
          ? "for sequences of any length; the chunk kernel is for callers who "
            "ask for it"
          : "for sequences of up to " + std::to_string(upTo) + " steps");
}

/// Adds the unit that splits sequences, beside the whole ones or, where the
/// user fixed the number of segments, in their place. Unasked only where it was
/// chosen for: on tensor cores, for few heads.
static LogicalResult addSplitUnit(func::FuncOp entry, std::vector<Unit> &units,
                                  const PlanOverride &given) {
  int64_t segments = given.segments.value_or(0);
  if (segments == 1 || (segments == 0 && !units.front().roles))
    return success();
  // Wide blocks make maps with less work: what does not depend on the state is
  // prepared once for more columns.
  std::string whyNot;
  std::optional<Unit> split = splitUnit(units.front(), units.back(), whyNot);
  if (!split && units.size() > 1)
    split = splitUnit(units.front(), units.front(), whyNot);
  if (!split && segments > 1)
    return entry.emitError("plan: cannot be split into ")
           << segments << " segments: " << whyNot;
  if (!split) {
    units.front().remarks.push_back(
        {"sequences in segments", "sequences are not split: " + whyNot});
    return success();
  }
  if (segments > 1) {
    split->segments = segments;
    split->remarks = std::move(units.front().remarks);
    units.clear();
  }
  units.push_back(std::move(*split));
  return success();
}

/// Of an entry without a recurrence.
static LogicalResult refuseEntry(func::FuncOp entry) {
  scan::PrefixOp prefix;
  entry.walk([&](scan::PrefixOp found) { prefix = found; });
  if (prefix)
    return prefix.emitError("prefix scans are not compiled yet; prism-compile "
                            "--evaluate runs them in float64");
  return entry.emitError("entry has no scan.recurrence");
}

FailureOr<std::vector<Unit>> prism::buildUnits(func::FuncOp entry,
                                               const targetinfo::Target &target,
                                               const CompileOptions &options) {
  scan::RecurrenceOp op = recurrenceOf(entry);
  if (!op)
    return refuseEntry(entry);
  if (failed(checkCalibration(entry, target, options)))
    return failure();
  std::vector<Remark> remarks;
  dropMiniBatchesOfOne(op);
  bool serial = scan::isSerial(op);
  if (serial && failed(admitSerial(entry, op, target, options, remarks)))
    return failure();
  if (op.getMiniBatch() && target.isCuda())
    return entry.emitError("mini-batches are not lowered for GPUs yet; the CPU "
                           "takes them");
  // Plain ops are raised where they say what factors say.
  if (serial || hasPlainOps(op)) {
    // Raising makes ops of these.
    entry.getContext()
        ->loadDialect<arith::ArithDialect, linalg::LinalgDialect,
                      math::MathDialect, tensor::TensorDialect>();
    scan::raiseAffine(op, /*assumeNonNegativeGates=*/false);
  }
  if (failed(refuseCalls(op)))
    return failure();
  if (target.isCuda() && scan::isValueFirst(op, 0))
    return entry.emitError("states with values first are not lowered for GPUs "
                           "yet; the CPU takes them, and GPUs take keys first");
  FailureOr<Wish> wish = wishFor(entry, op, options, remarks);
  if (failed(wish))
    return failure();
  if (serial && !op.getMiniBatch())
    wish->schedules = {scan::Schedule::recurrent};
  std::vector<Unit> units;
  for (scan::Schedule schedule : wish->schedules) {
    std::vector<Unit> found;
    std::string whyNot;
    if (target.isCuda() && schedule == scan::Schedule::chunk) {
      auto some = buildTensorCoreUnits(entry, target, wish->given, whyNot);
      if (failed(some))
        return failure();
      found = std::move(*some);
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
    if (schedule == scan::Schedule::chunk &&
        failed(addSplitUnit(entry, found, wish->given)))
      return failure();
    for (Unit &unit : found) {
      unit.remarks.insert(unit.remarks.begin(), remarks.begin(), remarks.end());
      units.push_back(std::move(unit));
    }
  }
  explainPlans(op, units, planMachine(target, options));
  return units;
}
