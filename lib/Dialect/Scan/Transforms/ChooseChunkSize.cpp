//===- ChooseChunkSize.cpp - Schedule, chunk and value block --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// On CPUs by predicted times (CostModel.h), on GPUs by what was measured.
//
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Scan/IR/StepOps.h"
#include "Prism/Dialect/Scan/Transforms/CostModel.h"
#include "Prism/Dialect/Scan/Transforms/Passes.h"
#include "Prism/Support/EmitDiagnostic.h"
#include "Prism/TargetInfo/TargetInfo.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MemoryBuffer.h"
#include <limits>

using namespace mlir;
using namespace prism;
using namespace prism::scan;
using namespace prism::targetinfo;

namespace prism::scan {
#define GEN_PASS_DEF_SCANCHOOSECHUNKSIZE
#include "Prism/Dialect/Scan/Transforms/Passes.h.inc"
} // namespace prism::scan

static RankedTensorType stateOf(RecurrenceOp op) {
  return cast<RankedTensorType>(op.getStateArgument(0).getType());
}

/// Where the model says nothing: few passes over the state, and enough steps to
/// fill a register tile.
constexpr int64_t kPlainChunk = 16;

static PlanAttr cpuPlan(RecurrenceOp op, Schedule schedule,
                        const PlanMachine &machine) {
  RankedTensorType state = stateOf(op);
  auto plan = [&](int64_t chunk, int64_t valueBlock) {
    return PlanAttr::get(op.getContext(), schedule, chunk, valueBlock,
                         /*stages=*/1);
  };
  if (schedule == Schedule::recurrent) {
    if (op.getNumStates() > 1) // stepped together, each as a whole
      return plan(1, 0);
    auto [keys, values] = getKeysAndValues(op, 0);
    return plan(
        1, recurrentValueBlock(keys, values, state.getElementTypeBitWidth()));
  }
  std::optional<ScanWork> work = ScanWork::of(op);
  return plan(work ? chooseChunk(*work, machine.cpu) : kPlainChunk, 0);
}

static bool isOneStep(RecurrenceOp op) {
  auto entry = op->getParentOfType<func::FuncOp>();
  auto name =
      entry ? entry->getAttrOfType<StringAttr>(kEntryAttr) : StringAttr();
  return name && name.getValue() == "decode";
}

SmallVector<PlanAttr> prism::scan::candidatePlans(RecurrenceOp op,
                                                  Schedule schedule,
                                                  const PlanMachine &machine) {
  // Nothing else has its entry, but a step that is taken by itself.
  if (op.getMiniBatch() && schedule == Schedule::chunk)
    return {PlanAttr::get(op.getContext(), Schedule::chunk, *op.getMiniBatch(),
                          /*value_block=*/0, /*stages=*/1)};
  if (machine.target == PlanTarget::cpu)
    return {cpuPlan(op, schedule, machine)};
  SmallVector<PlanAttr> plans;
  auto add = [&](int64_t chunk, int64_t valueBlock) {
    plans.push_back(PlanAttr::get(op.getContext(), schedule, chunk, valueBlock,
                                  /*stages=*/1));
  };
  auto [keys, values] = getKeysAndValues(op, 0);
  if (schedule == Schedule::recurrent) {
    // The state lives in registers. One step is a copy of it, of as much as a
    // thread can hold; of many steps each waits for the one before, which is
    // short where a thread holds little. Of one row that is two columns, whose
    // 16 bits a copy takes. A part of a block has no wide accesses.
    bool isWide =
        (isOneStep(op) || keys == 1) && (values <= 64 || values % 64 == 0);
    add(1, std::min<int64_t>(values, isWide ? 64 : 32));
    add(1, 0);
    return plans;
  }
  for (int64_t chunk : {32, 16, 8}) {
    int64_t last = 0;
    for (int64_t block : {64, 32, 16, 8}) {
      int64_t columns = std::min(block, values);
      if (columns != last)
        add(chunk, columns);
      last = columns;
    }
  }
  return plans;
}

int64_t prism::scan::recurrentUpTo(RecurrenceOp op, PlanAttr chunked,
                                   const PlanMachine &machine,
                                   bool tensorCores) {
  // A chunk of 64 costs on tensor cores what some dozen steps cost without.
  constexpr int64_t kFewSteps = 15;
  if (tensorCores)
    return kFewSteps;
  // The plain SIMT chunk form is slower than stepping with the state in
  // registers (an H200, K = V = 128, 16 heads, T = 2048: 2.10 against 1.54 ms).
  if (machine.target == PlanTarget::cuda)
    return std::numeric_limits<int64_t>::max();
  std::optional<ScanWork> work = ScanWork::of(op);
  return work ? stepsUpTo(*work, chunked.getChunk(), machine.cpu) : kFewSteps;
}

PlanMachine PlanMachine::cpuLevels(ArrayRef<std::string> levels) {
  PlanMachine machine;
  for (StringRef level : levels)
    machine.cpu.push_back(builtinCPUCosts(level));
  return machine;
}

SmallVector<std::string> prism::scan::explainPlan(RecurrenceOp op,
                                                  PlanAttr plan,
                                                  const PlanMachine &machine) {
  SmallVector<std::string> lines;
  if (op.getMiniBatch() && plan.getSchedule() == Schedule::chunk) {
    lines.push_back("mini-batches of " + std::to_string(*op.getMiniBatch()) +
                    " steps are the chunks; their size belongs to the model "
                    "and is not chosen");
    return lines;
  }
  if (isSerial(op)) {
    lines.push_back("serial: no larger chunk than a step is the same model");
    return lines;
  }
  if (op->hasAttr(kPlainStepsAttr)) {
    lines.push_back("serial as asked: no chunk has the step's ops");
    return lines;
  }
  if (machine.target != PlanTarget::cpu)
    return lines;
  if (std::optional<ScanWork> work = ScanWork::of(op)) {
    PlanShape shape{plan.getSchedule(), plan.getChunk(), plan.getValueBlock()};
    for (const CPUCosts &costs : machine.cpu)
      lines.push_back(describePredictions(*work, shape, costs));
  }
  return lines;
}

namespace {
struct ChooseChunkSizePass
    : prism::scan::impl::ScanChooseChunkSizeBase<ChooseChunkSizePass> {
  using ScanChooseChunkSizeBase::ScanChooseChunkSizeBase;

  LogicalResult readMachine(PlanMachine &machine);
  void plan(RecurrenceOp op, Schedule wanted, const PlanMachine &machine);
  void runOnOperation() override {
    std::optional<Schedule> wanted = symbolizeSchedule(schedule);
    PlanMachine machine;
    if (failed(readMachine(machine)))
      return signalPassFailure();
    if (!wanted) {
      getOperation().emitError("scan-choose-chunk-size: schedule must be chunk "
                               "or recurrent, found '")
          << schedule << "'";
      return signalPassFailure();
    }
    getOperation().walk(keepPrefixChunk);
    getOperation().walk([&](RecurrenceOp op) {
      PlanAttr given = op.getPlanAttr();
      if (!given)
        plan(op, *wanted, machine);
      else if (given.getChunk() == 0)
        plan(op, given.getSchedule(), machine);
    });
  }
};
} // namespace

LogicalResult ChooseChunkSizePass::readMachine(PlanMachine &machine) {
  if (target != "cpu" && target != "cuda")
    return getOperation().emitError(
               "scan-choose-chunk-size: target must be cpu or cuda, found '")
           << target << "'";
  if (target == "cuda") {
    machine.target = PlanTarget::cuda;
    return success();
  }
  for (const std::string &level : levels)
    if (!llvm::is_contained(cpuLevelNames(), level))
      return getOperation().emitError("scan-choose-chunk-size: expected the "
                                      "levels x86-64-v3 or x86-64-v4, found '")
             << level << "'";
  SmallVector<std::string> all(levels.begin(), levels.end());
  if (all.empty())
    all.assign(cpuLevelNames().begin(), cpuLevelNames().end());
  machine = PlanMachine::cpuLevels(all);
  if (calibration.empty())
    return success();
  auto text = llvm::MemoryBuffer::getFile(calibration);
  if (!text)
    return getOperation().emitError("scan-choose-chunk-size: cannot read '")
           << calibration << "': " << text.getError().message();
  TextDiagnostic diagnostic;
  auto costs = readCalibration((*text)->getBuffer(), calibration, diagnostic);
  if (failed(costs) || failed(machine.calibrate(*costs, diagnostic)))
    return emitTextError(&getContext(), diagnostic);
  return success();
}

LogicalResult PlanMachine::calibrate(const Calibration &calibration,
                                     TextDiagnostic &diagnostic) {
  std::vector<CPUCosts> known;
  for (const CPUCosts &costs : cpu)
    if (auto found = calibration.levels.find(costs.level);
        found != calibration.levels.end())
      known.push_back(found->second);
  if (known.empty() && !cpu.empty()) {
    std::string wanted, there;
    for (const CPUCosts &costs : cpu)
      wanted += (wanted.empty() ? "" : " or ") + costs.level;
    for (const auto &[level, costs] : calibration.levels)
      there += (there.empty() ? "" : ", ") + level;
    diagnostic = {calibration.file, calibration.levelsLoc,
                  "expected " + wanted +
                      ", which the target is compiled for, found " + there,
                  ""};
    return failure();
  }
  cpu = std::move(known);
  return success();
}

/// A plan that left the chunk open, with what was chosen.
static PlanAttr withChunk(PlanAttr given, PlanAttr chosen) {
  int64_t block = given.getValueBlock();
  return PlanAttr::get(
      given.getContext(), chosen.getSchedule(), chosen.getChunk(),
      block ? block : chosen.getValueBlock(), given.getStages(),
      given.getSegments(), given.getPrepareBlocks());
}

void ChooseChunkSizePass::plan(RecurrenceOp op, Schedule wanted,
                               const PlanMachine &machine) {
  auto options = remark::RemarkOpts::name("ChunkForm").category("scan");
  RankedTensorType state = stateOf(op);
  bool isSteppable = state.getRank() == 2 || op->hasAttr(kSerialAttr);
  if (!isSteppable || state.getNumElements() == 0) {
    remark::missed(op.getLoc(), options)
        << "no plan: its first state is not of keys x values";
    return;
  }
  std::string reason;
  Schedule chosen = wanted;
  if (op.getMiniBatch()) {
    chosen = Schedule::chunk;
  } else if (isSerial(op) || op->hasAttr(kPlainStepsAttr)) {
    chosen = Schedule::recurrent;
  } else if (Operation *factor = findFactorWithoutChunkForm(op, reason);
             factor && chosen == Schedule::chunk) {
    remark::missed(factor->getLoc(), options) << reason;
    chosen = Schedule::recurrent;
  }
  PlanAttr plan = candidatePlans(op, chosen, machine).front();
  if (PlanAttr given = op.getPlanAttr(); given && given.getSchedule() == chosen)
    plan = withChunk(given, plan);
  op.setPlanAttr(plan);
  for (const std::string &line : explainPlan(op, plan, machine))
    remark::passed(op.getLoc(),
                   remark::RemarkOpts::name("Plan").category("scan"))
        << line;
}
