//===- Wish.cpp - What is asked for of an entry's plan --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Wish.h"
#include "Prism/Conversion/ScanToTile/ScanToTile.h"
#include "Prism/Dialect/Scan/IR/ChunkStates.h"
#include "Prism/Dialect/Scan/IR/PlanPlaces.h"
#include "Prism/Dialect/Scan/Transforms/Passes.h"
#include "Prism/Support/EmitDiagnostic.h"
#include "Prism/Support/PlanLimits.h"

using namespace mlir;
using namespace prism;

/// Of a plan that was written in the spec or the IR.
static PlanOverride writtenPlan(scan::RecurrenceOp op, scan::PlanAttr plan) {
  // 0 or less leaves a number to the compiler.
  auto chosen = [](int64_t number, int64_t least) {
    return number < least ? std::nullopt : std::optional(number);
  };
  return {plan.getSchedule(),
          chosen(plan.getChunk(), 1),
          chosen(plan.getValueBlock(), 1),
          plan.getStages(),
          chosen(plan.getSegments(), 1),
          chosen(plan.getPrepareBlocks(), 0),
          /*batchInvariant=*/false,
          scan::planPlacesOf(op)};
}

std::optional<PlanOverride> prism::planFor(func::FuncOp entry,
                                           scan::RecurrenceOp op,
                                           const CompileOptions &options) {
  for (const std::string &key : {entry.getName().str(), std::string()})
    if (auto found = options.plans.find(key); found != options.plans.end())
      return found->second;
  if (scan::PlanAttr plan = op.getPlanAttr())
    return writtenPlan(op, plan);
  return std::nullopt;
}

InFlightDiagnostic prism::emitPlanError(scan::RecurrenceOp op,
                                        const PlanOverride &given,
                                        StringRef key) {
  if (!given.places)
    return op.emitError("plan: ");
  TextDiagnostic where{given.places->file, given.places->at(key), "", ""};
  return emitTextError(op.getContext(), where);
}

/// What a plan says of GPUs alone is not for the CPU beside one; without a GPU
/// among the targets it would be for nobody, and is an error.
static void leaveToGPUs(PlanOverride &given, const targetinfo::Target &target,
                        const CompileOptions &options,
                        std::vector<Remark> &remarks) {
  bool hasGPU = llvm::any_of(
      options.targets, [](StringRef name) { return name.starts_with("cuda"); });
  if (target.isCuda() || !hasGPU)
    return;
  auto leave = [&](StringRef key, std::optional<int64_t> &number,
                   int64_t none) {
    if (number.value_or(none) != none)
      remarks.push_back((key + " " + Twine(*number) +
                         " of the plan is for the GPUs among the targets")
                            .str());
    number = std::nullopt;
  };
  leave("prepare_blocks", given.prepareBlocks, 0);
  leave("stages", given.stages, 1);
}

/// Blocks that only prepare are of chunks on a GPU, of whole sequences.
static LogicalResult checkPrepareBlocks(scan::RecurrenceOp op,
                                        const PlanOverride &given,
                                        const targetinfo::Target &target) {
  int64_t blocks = given.prepareBlocks.value_or(0);
  if (blocks == 0)
    return success();
  auto error = [&] { return emitPlanError(op, given, "prepare_blocks"); };
  if (!target.isCuda())
    return error() << "expected 0 prepare_blocks on " << target.str()
                   << ", which has no thread blocks, found " << blocks;
  if (given.schedule == scan::Schedule::recurrent)
    return error() << "the recurrent schedule prepares nothing, found "
                   << blocks << " prepare_blocks";
  if (given.segments.value_or(1) > 1)
    return error() << "expected 0 prepare_blocks with sequences in "
                   << *given.segments << " segments, found " << blocks;
  return success();
}

/// Whether a plan's numbers suit its schedule and the recurrence.
static LogicalResult checkPlan(scan::RecurrenceOp op, const PlanOverride &given,
                               const targetinfo::Target &target) {
  bool isStepping = given.schedule == scan::Schedule::recurrent;
  if (int64_t segments = given.segments.value_or(1);
      isStepping && segments != 1 && !scan::decaysValuesOrElements(op))
    return emitPlanError(op, given, "segments")
           << "the recurrent schedule splits sequences only where a decay "
              "along value or element leaves no chunk form, found "
           << segments << " segments";
  if (failed(checkPrepareBlocks(op, given, target)))
    return failure();
  if (int64_t chunk = given.chunk.value_or(1); isStepping && chunk != 1)
    return emitPlanError(op, given, "chunk")
           << "the recurrent schedule has chunk 1, found " << chunk;
  int64_t columns = scan::getKeysAndValues(op, 0).second;
  if (int64_t block = given.valueBlock.value_or(0); block > columns)
    return emitPlanError(op, given, "value_block")
           << "expected a value_block of at most " << columns
           << ", the value columns there are, found " << block;
  return success();
}

/// A mini-batch is a chunk; nothing else has its entry.
static LogicalResult wishForMiniBatches(scan::RecurrenceOp op,
                                        PlanOverride &given) {
  int64_t steps = *op.getMiniBatch();
  bool isStepping = given.schedule == scan::Schedule::recurrent;
  int64_t chunk = given.chunk.value_or(steps);
  if (steps > kMostChunkSteps || chunk != steps || isStepping)
    return emitPlanError(op, given, isStepping ? "schedule" : "chunk")
           << "mini-batches of " << steps
           << " steps take chunks of that size, at most " << kMostChunkSteps
           << ", found "
           << (isStepping ? "the recurrent schedule"
                          : "chunk " + std::to_string(chunk));
  given.schedule = scan::Schedule::chunk;
  given.chunk = steps;
  return success();
}

/// Whether one kernel is to serve all batches: where the entry or the plan says
/// so. A plan that says no where the entry says yes is an error.
static LogicalResult readInvariance(func::FuncOp entry, scan::RecurrenceOp op,
                                    PlanOverride &given) {
  constexpr StringLiteral kKey = "batch_invariant";
  if (!entry->hasAttr(scan::kBatchInvariantAttr) || given.batchInvariant)
    return success();
  if (given.places && given.places->keys.count(kKey.str()))
    return emitPlanError(op, given, kKey)
           << "entry '" << entry.getName()
           << "' is batch_invariant by its model, which a plan cannot take "
              "back, found false";
  given.batchInvariant = true;
  return success();
}

/// One kernel has one way to go for all sequences.
static void keepBatchesApart(PlanOverride &given) {
  given.segments = given.segments.value_or(1);
  given.prepareBlocks = given.prepareBlocks.value_or(0);
}

FailureOr<Wish> prism::wishFor(func::FuncOp entry, scan::RecurrenceOp op,
                               const targetinfo::Target &target,
                               const CompileOptions &options,
                               std::vector<Remark> &remarks) {
  Wish wish;
  wish.given = planFor(entry, op, options).value_or(PlanOverride());
  leaveToGPUs(wish.given, target, options, remarks);
  if (failed(readInvariance(entry, op, wish.given)))
    return failure();
  if (wish.given.batchInvariant)
    keepBatchesApart(wish.given);
  std::string reason;
  Operation *without = scan::findFactorWithoutChunkForm(op, reason);
  // Where decays leave no chunk form, segments are of steps.
  bool wantsChunks = wish.given.chunk.value_or(1) > 1 ||
                     (wish.given.segments.value_or(1) > 1 &&
                      !scan::decaysValuesOrElements(op)) ||
                     wish.given.prepareBlocks.value_or(0) > 0;
  if (wantsChunks && !wish.given.schedule)
    wish.given.schedule = scan::Schedule::chunk;
  if (failed(checkPlan(op, wish.given, target)))
    return failure();
  if (op->hasAttr(scan::kSerialAttr) && hasPlainSteps(op)) {
    wish.schedules = {scan::Schedule::recurrent};
    return wish;
  }
  if (op.getMiniBatch() && failed(wishForMiniBatches(op, wish.given)))
    return failure();
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
