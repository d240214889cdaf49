//===- Select.cpp - Chooses a call's kernel --------------------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Of the kernels that the machine runs those made for the most capable one say
// which rows of the choice table count: theirs and those of any machine. Of
// these the first that serves the call, or has the caller's schedule and serves
// so many heads. Then, among the kernels of its schedule that the machine runs,
// again those made for the most capable one, of these the ones that split
// sequences if the row does, and of these the one with the row's value block. A
// row of any machine may have been written for another chip: without such a
// kernel the first of them is taken.
//
//===----------------------------------------------------------------------===//

#include "Support.h"
#include "prism-runtime/Program.h"

#include <algorithm>
#include <cstdlib>
#include <functional>

namespace prism::runtime {

namespace {

using Filter = std::function<bool(const KernelInfo &)>;
using Property = std::string KernelInfo::*;

/// The distinct values of a property over the kernels that pass the filter.
template <typename Get>
std::vector<std::string> distinct(const EntryInfo &entry, const Filter &filter,
                                  Get get) {
  std::vector<std::string> values;
  for (const KernelInfo &kernel : entry.kernels)
    if (filter(kernel) &&
        std::find(values.begin(), values.end(), get(kernel)) == values.end())
      values.push_back(get(kernel));
  return values;
}

std::string scheduleOf(const KernelInfo &kernel) {
  return kernel.plan.schedule;
}

/// Sequences x value heads; the largest number where 64 bits do not hold them.
int64_t headsOf(const EntryInfo &entry, const Sizes &sizes) {
  return sizes.sequences > INT64_MAX / entry.valueHeads
             ? INT64_MAX
             : sizes.sequences * entry.valueHeads;
}

/// What the kernel of a call must be and, among several, should be.
struct Wanted {
  std::string schedule;
  int64_t valueBlock = 0; // 0: any
  int64_t segments = 1;
  int64_t prepareBlocks = 0;
};

/// Why no kernel serves a target, or a pinned schedule of it.
Failure noKernel(const EntryInfo &entry, Target target,
                 const std::string &pinned) {
  auto onTarget = [&](const KernelInfo &k) { return k.target == target; };
  std::vector<std::string> held = distinct(entry, onTarget, scheduleOf);
  std::string start = "entry " + quote(entry.name) + ": ";
  if (!held.empty())
    return Failure{start + "no kernel with schedule " + quote(pinned) +
                   " for " + toString(target) + "; the bundle holds " +
                   join(held)};
  auto any = [](const KernelInfo &) { return true; };
  std::vector<std::string> targets =
      distinct(entry, any, [](const KernelInfo &k) {
        return std::string(toString(k.target));
      });
  return Failure{start + "no kernel for " + toString(target) +
                 "; the bundle holds kernels for " +
                 (targets.empty() ? "nothing" : join(targets))};
}

/// The schedule for a call, which the bundle has, and the value block, on a
/// machine that takes the kernels made for `machine`.
Result<Wanted> chooseRow(const EntryInfo &entry, Target target,
                         const std::string &machine, const Sizes &sizes,
                         const std::string &pinned) {
  auto onTarget = [&](const KernelInfo &k) { return k.target == target; };
  auto isPinned = [&](const KernelInfo &k) {
    return onTarget(k) && (pinned.empty() || k.plan.schedule == pinned);
  };
  if (std::none_of(entry.kernels.begin(), entry.kernels.end(), isPinned))
    return noKernel(entry, target, pinned);
  int64_t heads = headsOf(entry, sizes);
  for (const ChoiceRow &row : entry.choice) {
    bool serves =
        pinned.empty() ? sizes.longest <= row.maxSteps : row.schedule == pinned;
    bool isOurs = row.machine.empty() || row.machine == machine;
    if (row.target == target && isOurs && serves && heads <= row.maxHeads)
      return Wanted{row.schedule, row.valueBlock, row.segments,
                    row.prepareBlocks};
  }
  if (!pinned.empty())
    return Wanted{pinned};
  std::vector<std::string> held = distinct(entry, onTarget, scheduleOf);
  if (held.size() == 1)
    return Wanted{held[0]};
  return Failure{
      "entry " + quote(entry.name) + ": the choice table has no row for " +
      toString(target) + ", " + std::to_string(sizes.longest) + " steps and " +
      std::to_string(heads) +
      " sequences x value heads; pin one of the schedules " + join(held)};
}

/// The same, with the number of segments that the caller pinned.
Result<Wanted> choose(const EntryInfo &entry, Target target,
                      const std::string &machine, const Sizes &sizes,
                      const Selection &pinned) {
  if (pinned.segments < 0)
    return Failure{"entry " + quote(entry.name) +
                   ": expected 1 or more segments, found " +
                   std::to_string(pinned.segments)};
  Result<Wanted> wanted =
      chooseRow(entry, target, machine, sizes, pinned.schedule);
  if (!wanted || pinned.segments == 0)
    return wanted;
  wanted->segments = pinned.segments;
  auto splits = [&](const KernelInfo &kernel) {
    return kernel.target == target && kernel.isSplit() &&
           kernel.plan.schedule == wanted->schedule;
  };
  if (pinned.segments > 1 &&
      std::none_of(entry.kernels.begin(), entry.kernels.end(), splits))
    return Failure{"entry " + quote(entry.name) + ": no kernel with schedule " +
                   quote(wanted->schedule) + " for " + toString(target) +
                   " splits sequences, found " +
                   std::to_string(pinned.segments) + " segments"};
  return wanted;
}

/// How close a kernel is to what is wanted, below kCloseness. One that splits
/// does so with any number of segments.
constexpr int kCloseness = 8;
int closeness(const KernelInfo &kernel, const Wanted &wanted) {
  return 4 * (kernel.isSplit() == (wanted.segments > 1)) +
         2 * (kernel.plan.valueBlock == wanted.valueBlock) +
         (kernel.plan.prepareBlocks == wanted.prepareBlocks);
}

SelectedKernel selected(const KernelInfo *kernel, const Wanted &wanted) {
  return {kernel, kernel->isSplit() ? wanted.segments : 1};
}

/// Of the kernels that pass the filter, the first with the highest rank above
/// 0; null where there is none.
const KernelInfo *best(const EntryInfo &entry, const Filter &filter,
                       const std::function<int(const KernelInfo &)> &rank) {
  const KernelInfo *winner = nullptr;
  for (const KernelInfo &kernel : entry.kernels)
    if (filter(kernel) && rank(kernel) > (winner ? rank(*winner) : 0))
      winner = &kernel;
  return winner;
}

/// The same of all kernels, by the chip or level that it was made for.
std::string bestMachine(const EntryInfo &entry,
                        const std::function<int(const KernelInfo &)> &rank) {
  auto any = [](const KernelInfo &) { return true; };
  const KernelInfo *winner = best(entry, any, rank);
  return winner ? winner->machine() : "";
}

/// The digits of sm_90a, and whether a letter follows.
std::pair<int, char> splitChip(const std::string &chip) {
  if (chip.compare(0, 3, "sm_") != 0)
    return {0, '?'};
  char *end = nullptr;
  long digits = std::strtol(chip.c_str() + 3, &end, 10);
  return {static_cast<int>(digits), *end};
}

/// How capable a machine the kernel was made for; 0 if this one cannot run it.
int cpuRank(const KernelInfo &kernel, int level) {
  int needed = kernel.target == Target::Cpu ? isaLevel(kernel.isa) : 0;
  return needed <= level ? needed : 0;
}

int cudaRank(const KernelInfo &kernel, int computeCapability) {
  bool runs =
      kernel.target == Target::Cuda &&
      ((!kernel.ptx.empty() && runsOn(kernel.chip, computeCapability, false)) ||
       (!kernel.cubin.empty() && runsOn(kernel.chip, computeCapability, true)));
  auto [made, letter] = splitChip(kernel.chip);
  return runs ? made * 2 + (letter != '\0') : 0;
}

} // namespace

bool runsOn(const std::string &chip, int computeCapability, bool asCubin) {
  auto [made, letter] = splitChip(chip);
  if (made <= 0)
    return false;
  bool sameMajor = made / 10 == computeCapability / 10;
  bool notOlder = computeCapability >= made;
  if (letter == 'a')
    return made == computeCapability;
  if (letter == 'f' || asCubin)
    return sameMajor && notOlder;
  return notOlder;
}

Result<SelectedKernel> selectCpuKernel(const EntryInfo &entry,
                                       const Sizes &sizes, int level,
                                       const Selection &pinned) {
  auto rank = [&](const KernelInfo &k) {
    return pinned.isa.empty() || k.isa == pinned.isa ? cpuRank(k, level) : 0;
  };
  Result<Wanted> chosen =
      choose(entry, Target::Cpu, bestMachine(entry, rank), sizes, pinned);
  if (!chosen)
    return chosen.failure();
  auto fits = [&](const KernelInfo &k) {
    return k.target == Target::Cpu && k.plan.schedule == chosen->schedule;
  };
  auto wanted = [&](const KernelInfo &k) {
    return fits(k) && (pinned.isa.empty() || k.isa == pinned.isa);
  };
  const KernelInfo *kernel = best(entry, wanted, [&](const KernelInfo &k) {
    return rank(k) ? kCloseness * rank(k) + closeness(k, *chosen) : 0;
  });
  if (kernel)
    return selected(kernel, *chosen);
  auto isaOf = [](const KernelInfo &k) { return k.isa; };
  std::string start = "entry " + quote(entry.name) + ", schedule " +
                      quote(chosen->schedule) + ": ";
  std::string held = "; the bundle holds " + join(distinct(entry, fits, isaOf));
  if (!best(entry, wanted, [](const KernelInfo &) { return 1; }))
    return Failure{start + "no kernel for " + quote(pinned.isa) + held};
  return Failure{start + "no kernel runs on this CPU, which has " +
                 (level > 1    ? "x86-64-v" + std::to_string(level)
                  : level == 1 ? "x86-64"
                               : "no x86-64 instructions") +
                 held};
}

Result<SelectedKernel> selectCudaKernel(const EntryInfo &entry,
                                        const Sizes &sizes,
                                        int computeCapability,
                                        const Selection &pinned) {
  auto rank = [&](const KernelInfo &k) {
    return cudaRank(k, computeCapability);
  };
  Result<Wanted> chosen =
      choose(entry, Target::Cuda, bestMachine(entry, rank), sizes, pinned);
  if (!chosen)
    return chosen.failure();
  auto fits = [&](const KernelInfo &k) {
    return k.target == Target::Cuda && k.plan.schedule == chosen->schedule;
  };
  const KernelInfo *kernel = best(entry, fits, [&](const KernelInfo &k) {
    return rank(k) ? kCloseness * rank(k) + closeness(k, *chosen) : 0;
  });
  if (kernel)
    return selected(kernel, *chosen);
  auto chipOf = [](const KernelInfo &k) { return k.chip; };
  return Failure{"entry " + quote(entry.name) + ", schedule " +
                 quote(chosen->schedule) +
                 ": no kernel runs on this GPU, which is " + "sm_" +
                 std::to_string(computeCapability) + "; the bundle holds " +
                 join(distinct(entry, fits, chipOf))};
}

} // namespace prism::runtime
