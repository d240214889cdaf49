//===- Explain.cpp - What was recognised, chosen, and what limits it ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Compiler/Explain.h"
#include "Choice.h"
#include "Explain/Cost.h"
#include "Explain/Steps.h"
#include "Prism/Analysis/Transition.h"
#include "Prism/Conversion/TileToGPU/TileToGPU.h"
#include "Prism/Dialect/Scan/IR/ChunkStates.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace prism;
using namespace prism::explain;

/// The class of all states together or, if that is serial, of those that remain
/// when states of one number are known before them.
static std::string classInWords(scan::RecurrenceOp op) {
  analysis::ScanClass together = analysis::classOf(analysis::StateFlow(op));
  SmallVector<unsigned> stepped = scan::ChunkStates(op).stepped;
  if (together.kind != analysis::ScanClass::serial || stepped.empty())
    return analysis::describeClass(together);
  analysis::ScanClass others =
      analysis::classOf(analysis::StateFlow(op, {}, stepped));
  if (others.kind == analysis::ScanClass::serial)
    return analysis::describeClass(together);
  std::string text;
  llvm::raw_string_ostream os(text);
  os << (stepped.size() == 1 ? "state " : "states ");
  llvm::interleaveComma(stepped, os, [&](unsigned i) { os << i + 1; });
  os << (stepped.size() == 1 ? ", a number, is" : ", numbers, are")
     << " stepped first; given " << (stepped.size() == 1 ? "it" : "them")
     << " the others are " << analysis::describeClass(others);
  return text;
}

static Recurrence describeRecurrence(func::FuncOp entry,
                                     scan::RecurrenceOp op) {
  Recurrence recurrence;
  recurrence.states = describeStates(entry, op);
  std::tie(recurrence.keys, recurrence.values) = scan::getKeysAndValues(op, 0);
  recurrence.valueHeads = op.getNumValueHeads();
  recurrence.reverse = op.getReverse();
  recurrence.scanClass = classInWords(op);
  double heads = recurrence.valueHeads;
  recurrence.flops = Cost(op).recurrent();
  recurrence.bytes = bytesPerToken(op) / heads;
  recurrence.stateBytes = stateBytesPerToken(entry, op) / heads;
  return recurrence;
}

/// A target and its roofs; a GPU's first is of its FMA units.
static explain::Target describeTarget(const targetinfo::Target &target,
                                      int64_t elementBits) {
  explain::Target described;
  described.name = target.str();
  described.isGpu = target.isCuda();
  if (!target.isCuda()) {
    for (const std::string &level : target.levels())
      described.roofs.push_back(
          {level, double(targetinfo::peakFlopsPerCycle(level, elementBits))});
    return described;
  }
  const targetinfo::GPUInfo &gpu = target.gpu();
  described.bandwidth = gpu.memoryBandwidth;
  described.multiprocessors = gpu.multiprocessors;
  described.roofs = {{"f32 FMA units", gpu.peakF32},
                     {"16-bit tensor cores", gpu.peakBF16}};
  return described;
}

static std::vector<Limit> limitsOf(const Unit &unit,
                                   const explain::Target &target, double flops,
                                   double bytes) {
  if (!target.isGpu) {
    std::vector<Limit> limits;
    for (auto [i, roof] : llvm::enumerate(target.roofs))
      limits.push_back({i, flops / roof.peak, 0});
    return limits;
  }
  size_t roof = unit.roles ? 1 : 0;
  return {{roof, flops / target.roofs[roof].peak * 1e9,
           bytes / target.bandwidth * 1e9}};
}

static std::optional<Split> describeSplit(const Unit &unit,
                                          ArrayRef<Unit> schedule) {
  if (!unit.isSplit())
    return std::nullopt;
  auto programOf = [](const Unit &unit) {
    return *unit.module.get().getOps<tile::ProgramOp>().begin();
  };
  Split split;
  split.mapColumns =
      programOf(unit.before.front()).getValues() - programOf(unit).getValues();
  split.foldsMaps = unit.foldsMaps();
  split.always = unit.segments;
  if (!split.always)
    split.ranges = KernelChoice(schedule).segmentRanges();
  return split;
}

/// The sweep of a kernel that splits sequences: numbers of which each segment
/// keeps some chunks, and the one that is taken.
static std::vector<int64_t> numbersOfSegments(const Unit &unit, int64_t steps,
                                              int64_t taken) {
  if (unit.segments)
    return {*unit.segments};
  std::vector<int64_t> numbers;
  for (int64_t segments : KernelChoice::segmentCandidates())
    if (segments == taken || KernelChoice::keepsChunks(unit, steps, segments))
      numbers.push_back(segments);
  return numbers;
}

/// Times of a call by each plan, as far as they were measured.
static void predictPlans(scan::RecurrenceOp op, ArrayRef<Unit> units,
                         const CompileOptions &options,
                         explain::Target &target) {
  int64_t steps = target.shape.steps,
          heads = target.shape.sequences * op.getNumValueHeads();
  std::vector<runtime::ChoiceRow> rows = makeChoice(op, units, options);
  auto row = llvm::find_if(rows, [&](const runtime::ChoiceRow &row) {
    return steps <= row.maxSteps && heads <= row.maxHeads;
  });
  target.isMeasured =
      units.front().target.isCuda() &&
      targetinfo::gpuCosts(units.front().target.gpu()) != nullptr;
  for (auto [plan, unit] : llvm::zip_equal(target.plans, units)) {
    std::optional<Prediction> prediction = Prediction::of(unit);
    if (!prediction)
      continue;
    target.measured = prediction->measured().str();
    bool isTaken = row != rows.end() && row->schedule == plan.schedule &&
                   (row->segments > 1) == unit.isSplit() &&
                   (row->valueBlock == 0 || unit.isSplit() ||
                    (row->valueBlock == plan.valueBlock &&
                     row->prepareBlocks == plan.prepareBlocks));
    std::vector<int64_t> numbers = {1};
    if (unit.isSplit())
      numbers = numbersOfSegments(unit, steps, isTaken ? row->segments : 0);
    for (int64_t segments : numbers)
      if (auto time = prediction->time(steps, heads, segments))
        plan.predicted.push_back(
            {segments, *time, isTaken && segments == row->segments});
  }
}

static std::string productsOfRoles(const Unit &unit) {
  tile::ProgramOp program = *unit.roles.get().getOps<tile::ProgramOp>().begin();
  return tiletogpu::operandTypeOf(program).isF16()
             ? "f16 on tensor cores, f32 sums"
             : "bf16 on tensor cores, f32 sums";
}

static Plan describePlan(const Unit &unit, const Recurrence &recurrence,
                         const Cost &cost, const explain::Target &target,
                         ArrayRef<Unit> schedule, bool isF64) {
  Plan plan;
  plan.schedule = scan::stringifySchedule(unit.plan.getSchedule()).str();
  plan.chunk = unit.plan.getChunk();
  plan.valueBlock = unit.plan.getValueBlock();
  plan.prepareBlocks = unit.prepareBlocks();
  plan.products = unit.roles ? productsOfRoles(unit)
                  : isF64    ? "f64"
                             : "IEEE f32";
  plan.flops = plan.chunk == 1 ? cost.recurrent() : cost.chunked(unit.plan);
  double bytes = recurrence.bytes + recurrence.stateBytes,
         heads = recurrence.valueHeads;
  plan.intensity = plan.flops / bytes;
  if (unit.roles)
    unit.roles.get().walk([&](tile::RoleOp role) {
      plan.roles.push_back(
          {(role.isApart() ? role.getName() + " apart" : Twine(role.getName()))
               .str(),
           int64_t(role.getWarps())});
    });
  plan.split = describeSplit(unit, schedule);
  plan.limits = limitsOf(unit, target, plan.flops * heads, bytes * heads);
  plan.remarks = unit.remarks;
  llvm::raw_string_ostream os(plan.program);
  unit.module.get().walk([&](tile::ProgramOp program) { program.print(os); });
  return plan;
}

Entry explain::explainEntry(func::FuncOp function, ArrayRef<Unit> units,
                            const CompileOptions &options, CallShape shape) {
  scan::RecurrenceOp op;
  function.walk([&](scan::RecurrenceOp found) { op = found; });
  Entry entry;
  entry.name = function.getName().str();
  entry.arguments =
      describeEntry(
          *units.front().module.get().getOps<tile::ProgramOp>().begin(),
          entry.name)
          .arguments;
  entry.recurrence = describeRecurrence(function, op);
  Type element =
      cast<RankedTensorType>(op.getStateArgument(0).getType()).getElementType();
  Cost cost(op);
  auto kind = function->getAttrOfType<StringAttr>(scan::kEntryAttr);
  bool isStepping = kind && kind.getValue() == "decode";
  while (!units.empty()) {
    const targetinfo::Target &wanted = units.front().target;
    ArrayRef<Unit> its = units.take_while(
        [&](const Unit &unit) { return unit.target.str() == wanted.str(); });
    explain::Target target =
        describeTarget(wanted, element.getIntOrFloatBitWidth());
    target.recurrentUpTo = stepsTakenRecurrent(op, its, options);
    ArrayRef<Unit> schedule = its.take_while([&](const Unit &unit) {
      return unit.plan.getSchedule() == its.front().plan.getSchedule();
    });
    for (const Unit &unit : its)
      target.plans.push_back(describePlan(unit, entry.recurrence, cost, target,
                                          schedule, element.isF64()));
    target.shape = shape;
    if (isStepping)
      target.shape.steps = 1; // whatever the call
    if (wanted.isCuda())
      predictPlans(op, its, options, target);
    entry.targets.push_back(std::move(target));
    units = units.drop_front(its.size());
  }
  return entry;
}
