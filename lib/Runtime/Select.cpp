//===- Select.cpp - Chooses a call's kernel --------------------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// First the schedule: the caller's, or the first row of the choice table that
// serves the call. Then, among the kernels of that schedule that the machine
// runs, the one made for the most capable machine.
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

/// The schedule for a call, and that the bundle has it.
Result<std::string> chooseSchedule(const EntryInfo &entry, Target target,
                                   int64_t longest, const std::string &pinned) {
  auto onTarget = [&](const KernelInfo &k) { return k.target == target; };
  std::vector<std::string> held = distinct(entry, onTarget, scheduleOf);
  std::string start = "entry " + quote(entry.name) + ": ";
  if (held.empty()) {
    auto any = [](const KernelInfo &) { return true; };
    std::vector<std::string> targets =
        distinct(entry, any, [](const KernelInfo &k) {
          return std::string(toString(k.target));
        });
    return Failure{start + "no kernel for " + toString(target) +
                   "; the bundle holds kernels for " +
                   (targets.empty() ? "nothing" : join(targets))};
  }
  if (!pinned.empty()) {
    if (std::find(held.begin(), held.end(), pinned) != held.end())
      return pinned;
    return Failure{start + "no kernel with schedule " + quote(pinned) +
                   " for " + toString(target) + "; the bundle holds " +
                   join(held)};
  }
  for (const ChoiceRow &row : entry.choice)
    if (row.target == target && longest <= row.maxSteps)
      return row.schedule;
  if (held.size() == 1)
    return held[0];
  return Failure{start + "the choice table has no row for " + toString(target) +
                 " and " + std::to_string(longest) +
                 " steps; pin one of the schedules " + join(held)};
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

/// The digits of sm_90a, and whether a letter follows.
std::pair<int, char> splitChip(const std::string &chip) {
  if (chip.compare(0, 3, "sm_") != 0)
    return {0, '?'};
  char *end = nullptr;
  long digits = std::strtol(chip.c_str() + 3, &end, 10);
  return {static_cast<int>(digits), *end};
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

Result<const KernelInfo *> selectCpuKernel(const EntryInfo &entry,
                                           int64_t longest, int level,
                                           const Selection &pinned) {
  Result<std::string> schedule =
      chooseSchedule(entry, Target::Cpu, longest, pinned.schedule);
  if (!schedule)
    return schedule.failure();
  auto fits = [&](const KernelInfo &k) {
    return k.target == Target::Cpu && k.plan.schedule == *schedule;
  };
  auto isaOf = [](const KernelInfo &k) { return k.isa; };
  std::string start =
      "entry " + quote(entry.name) + ", schedule " + quote(*schedule) + ": ";
  std::string held = "; the bundle holds " + join(distinct(entry, fits, isaOf));
  auto wanted = [&](const KernelInfo &k) {
    return fits(k) && (pinned.isa.empty() || k.isa == pinned.isa);
  };
  if (!best(entry, wanted, [](const KernelInfo &) { return 1; }))
    return Failure{start + "no kernel for " + quote(pinned.isa) + held};
  const KernelInfo *kernel = best(entry, wanted, [&](const KernelInfo &k) {
    int needed = isaLevel(k.isa);
    return needed <= level ? needed : 0;
  });
  if (kernel)
    return kernel;
  return Failure{start + "no kernel runs on this CPU, which has " +
                 (level > 1    ? "x86-64-v" + std::to_string(level)
                  : level == 1 ? "x86-64"
                               : "no x86-64 instructions") +
                 held};
}

Result<const KernelInfo *> selectCudaKernel(const EntryInfo &entry,
                                            int64_t longest,
                                            int computeCapability,
                                            const Selection &pinned) {
  Result<std::string> schedule =
      chooseSchedule(entry, Target::Cuda, longest, pinned.schedule);
  if (!schedule)
    return schedule.failure();
  auto fits = [&](const KernelInfo &k) {
    return k.target == Target::Cuda && k.plan.schedule == *schedule;
  };
  const KernelInfo *kernel = best(entry, fits, [&](const KernelInfo &k) {
    bool runs = (!k.ptx.empty() && runsOn(k.chip, computeCapability, false)) ||
                (!k.cubin.empty() && runsOn(k.chip, computeCapability, true));
    auto [made, letter] = splitChip(k.chip);
    return runs ? made * 2 + (letter != '\0') : 0;
  });
  if (kernel)
    return kernel;
  auto chipOf = [](const KernelInfo &k) { return k.chip; };
  return Failure{"entry " + quote(entry.name) + ", schedule " +
                 quote(*schedule) + ": no kernel runs on this GPU, which is " +
                 "sm_" + std::to_string(computeCapability) +
                 "; the bundle holds " + join(distinct(entry, fits, chipOf))};
}

} // namespace prism::runtime
