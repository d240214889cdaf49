//===- CPUCosts.cpp - What a CPU's kernels spend their time on ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/TargetInfo/CPUCosts.h"
#include <algorithm>
#include <cassert>
#include <iterator>

using namespace llvm;
using namespace prism::targetinfo;

static constexpr StringLiteral workNames[] = {
    "product",   "masked_product", "decayed_product", "state_vector",
    "transpose", "function",       "elementwise",     "tile",
    "chunk",     "step_read",      "step_update",     "step_wait",
    "near_byte", "far_byte"};
static_assert(std::size(workNames) == kNumCPUWork, "one name a kind");

ArrayRef<StringLiteral> prism::targetinfo::cpuWorkNames() { return workNames; }

double CPUCosts::timeOf(const CPUCounts &counts) const {
  double sum = 0;
  for (size_t i = 0; i < kNumCPUWork; ++i)
    sum += counts.of[i] * ns[i];
  return sum;
}

VectorRegisters prism::targetinfo::vectorRegisters(StringRef level) {
  return level == "x86-64-v4" ? VectorRegisters{512, 32}
                              : VectorRegisters{256, 16};
}

CPUCosts prism::targetinfo::builtinCPUCosts(StringRef level) {
  CPUCosts costs;
  costs.level = level.str();
  costs.cacheBytes = 16 << 20;
  // A Zen 4 core at 3.7 GHz, by prism-calibrate on 2026-11-30, in the order of
  // CPUWork. Waits were not told apart yet.
  if (level == "x86-64-v4")
    costs.ns = {0.2699, 0.3109, 0.3059, 0.02625, 0, 5.571,   0.1559,
                3.27,   4.012,  0.3552, 0.6156,  0, 0.01206, 0.03853};
  else
    costs.ns = {0.145, 0.1921, 0.1747, 0,      1.054, 3.82,    0.04354,
                0,     4.426,  0.182,  0.2369, 0,     0.02272, 0.0988};
  return costs;
}

/// Coordinate descent on the normal equations: each cost in turn takes its best
/// value for the others, or 0. The problem is convex, so it ends at the best.
std::array<double, kNumCPUWork>
prism::targetinfo::fitCPUCosts(ArrayRef<CPUSample> samples) {
  std::array<std::array<double, kNumCPUWork>, kNumCPUWork> normal = {};
  std::array<double, kNumCPUWork> right = {}, costs = {};
  for (const CPUSample &sample : samples) {
    assert(sample.ns > 0 && "a kernel takes time");
    for (size_t i = 0; i < kNumCPUWork; ++i) {
      double x = sample.counts.of[i] / sample.ns;
      right[i] += x;
      for (size_t j = 0; j < kNumCPUWork; ++j)
        normal[i][j] += x * sample.counts.of[j] / sample.ns;
    }
  }
  constexpr int kRounds = 20000;
  for (int round = 0; round < kRounds; ++round)
    for (size_t i = 0; i < kNumCPUWork; ++i) {
      if (normal[i][i] <= 0)
        continue;
      double rest = right[i];
      for (size_t j = 0; j < kNumCPUWork; ++j)
        if (j != i)
          rest -= normal[i][j] * costs[j];
      costs[i] = std::max(0.0, rest / normal[i][i]);
    }
  return costs;
}
