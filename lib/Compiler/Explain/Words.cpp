//===- Words.cpp - Phrases that text and page share -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Words.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace prism;
using namespace prism::explain;
using llvm::formatv;

std::string explain::statesInWords(const Recurrence &recurrence) {
  size_t states = recurrence.states.size();
  return formatv("{0}of {1} keys x {2} values, {3} value heads{4}",
                 states > 1 ? std::to_string(states) + " states, the first "
                            : "one state ",
                 recurrence.keys, recurrence.values, recurrence.valueHeads,
                 recurrence.reverse ? ", time reversed" : "");
}

std::string explain::workInWords(const Recurrence &recurrence) {
  std::string text = formatv("{0:F1} kFLOP token by token, {1:F0} bytes of "
                             "inputs and outputs",
                             recurrence.flops / 1e3, recurrence.bytes);
  if (recurrence.stateBytes > 0)
    text +=
        formatv(", {0:F0} bytes of state in and out", recurrence.stateBytes);
  return text;
}

std::string explain::planInWords(const Plan &plan) {
  std::string text = formatv(
      "schedule {0}, chunk {1}, {2}", plan.schedule, plan.chunk,
      plan.valueBlock == 0
          ? "all value columns in one work item"
          : "blocks of " + std::to_string(plan.valueBlock) + " value columns");
  if (plan.prepareBlocks > 0)
    text += formatv(", clusters with {0} that only prepare{1}",
                    plan.prepareBlocks, plan.prepareBlocks == 1 ? "s" : "");
  return text;
}

std::string explain::costInWords(const Plan &plan) {
  return formatv("{0:F1} kFLOP, {1:F1} FLOP per byte", plan.flops / 1e3,
                 plan.intensity);
}

std::string explain::rolesInWords(const Plan &plan) {
  return llvm::join(llvm::map_range(plan.roles,
                                    [](const auto &role) -> std::string {
                                      return formatv("{0} on {1} warps",
                                                     role.first, role.second);
                                    }),
                    ", ");
}

std::string explain::splitInWords(const Split &split) {
  std::string map =
      split.mapColumns == 0 ? "M is a factor for each element of the state"
      : split.mapColumns == 1
          ? "1 more value column, M is diagonal"
          : formatv("{0} more value columns, those of M", split.mapColumns)
                .str();
  const char *then = split.foldsMaps
                         ? "then all segments at once, each of which starts by "
                           "folding the maps before it: 2 launches"
                         : "the state at each start, then all segments at once";
  return formatv("sequences split into segments: their maps at once ({0}), {1}",
                 map, then);
}

std::string explain::stepsInWords(const SegmentRange &range) {
  return range.maxSteps == INT64_MAX
             ? std::string("longer sequences")
             : formatv("up to {0} steps", range.maxSteps).str();
}

std::string explain::limitName(const Target &target, const Limit &limit) {
  return target.isGpu ? "limit" : "limit on " + target.roofs[limit.roof].name;
}

std::string explain::limitInWords(const Target &target, const Limit &limit) {
  const Target::Roof &roof = target.roofs[limit.roof];
  if (target.isGpu)
    return formatv("{0:F2} ns a token, set by {1}: arithmetic {2:F2} ns at "
                   "{3:F1} TFLOP/s, memory {4:F2} ns at {5:F1} TB/s, all {6} "
                   "multiprocessors at work",
                   std::max(limit.arithmetic, limit.memory),
                   limit.arithmetic > limit.memory ? "arithmetic" : "memory",
                   limit.arithmetic, roof.peak / 1e12, limit.memory,
                   target.bandwidth / 1e12, target.multiprocessors);
  return formatv("{0:F0} cycles of a core a token, at {1} FLOP a cycle (two "
                 "FMA units); a CPU's bandwidth is not known here",
                 limit.arithmetic, int64_t(roof.peak));
}

std::string explain::shapeInWords(const CallShape &shape) {
  return formatv("{0} sequence{1} of {2} step{3}", shape.sequences,
                 shape.sequences == 1 ? "" : "s", shape.steps,
                 shape.steps == 1 ? "" : "s");
}

std::string explain::predictedInWords(const Plan &plan) {
  auto inWords = [](const Predicted &predicted) -> std::string {
    std::string segments =
        predicted.segments > 1
            ? formatv("{0} segments ", predicted.segments).str()
            : "";
    return formatv("{0}{1:F1} us{2}", segments, predicted.microseconds,
                   predicted.isTaken ? " (taken)" : "");
  };
  return llvm::join(llvm::map_range(plan.predicted, inWords), ", ");
}

std::string explain::measuredInWords(const Target &target) {
  if (!target.measured.empty())
    return "by costs fitted to " + target.measured;
  return target.isMeasured
             ? "none, as no such kernel was measured on this chip"
             : "none, as nothing was measured on this chip, and clocks and "
               "latencies do not follow from its datasheet";
}

std::string explain::choiceInWords(const Target &target) {
  if (target.recurrentUpTo == 0)
    return "";
  if (target.recurrentUpTo == INT64_MAX)
    return "recurrent at any length, chunk where a call asks for it";
  return formatv("recurrent up to {0} steps, chunk above",
                 target.recurrentUpTo);
}
