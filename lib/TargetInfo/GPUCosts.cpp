//===- GPUCosts.cpp - What a GPU's kernels spend their time on ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/TargetInfo/GPUCosts.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace prism::targetinfo;

// An H200 SXM (132 multiprocessors, driver 580.159.04), 2026-11-30: the least
// squares of the logarithms of 302 times and 648 of single launches, from the
// suites gpu-choice, gpu-families, gpu-forward, gpu-sizes and gpu-decode; which
// rows were left out and how far those are off, is in the decision record.
static constexpr GPUCosts h200 = {
    "an H200, 2026-11-30",
    // In the order of GPUWork.
    {0.3261, 0.02061, 2.614, 0.1604, 0.2356, 0.07097, 0.9095, 0.1814, 0.486},
    /*call=*/3.855,
    /*start=*/1.519,
    /*wave=*/4.842,
    /*furtherTeam=*/0.5275,
    /*crowded=*/0.1238,
    /*bytes=*/4.004e6,
    /*overlap=*/3.705,
    /*scanStart=*/1.392,
    /*matrixStep=*/2.086,
    /*matrixHead=*/0.2772,
    /*diagonalStep=*/1.126,
    /*diagonalHead=*/0.1376,
    // Estimates, by which times were predicted within 9 %: a wait for memory,
    // and 80 KB/us of each multiprocessor from the L2 cache.
    /*foldStart=*/0.7,
    /*foldBytes=*/8e4,
    /*stepsStart=*/2.341,
    /*step=*/0.3211,
    /*stepElement=*/4.503e-05,
    // One step of Gated DeltaNet, 256 sequences of 32 heads, 2026-12-01: 158 us
    // in registers, 132 us by copies; of 8, 7.2 and 6.5; of one, 2.9 and 3.8.
    /*halfBytes=*/3.489e6,
    /*copiedBytes=*/4.194e6,
    /*copiesStart=*/2.85};

// Those of another chip would be a guess: a chunk is mostly latencies, which no
// datasheet has, so nothing is scaled. sm_90 is the same chip.
const GPUCosts *prism::targetinfo::gpuCosts(const GPUInfo &gpu) {
  return gpu.chip == "sm_90" || gpu.chip == "sm_90a" ? &h200 : nullptr;
}

static bool isOneStep(const GPULaunch &launch) {
  return (launch.kind == GPULaunch::Kind::Steps ||
          launch.kind == GPULaunch::Kind::Copies) &&
         launch.iterations <= 1;
}

static double timeOfChunk(const GPUCosts &costs, const GPULaunch &launch) {
  double chain = 0, prepare = 0;
  for (size_t i = 0; i < kNumGPUWork; ++i)
    (i < size_t(GPUWork::Prepare) ? chain : prepare) +=
        launch.work.of[i] * costs.us[i];
  double teams = launch.isApart ? launch.teams
                                : 1 + costs.furtherTeam * (launch.teams - 1);
  return (chain + prepare / (launch.turns * teams)) *
         (1 + costs.crowded * launch.share);
}

/// Before the first chunk of a wave. Segments follow each other in a launch:
/// the last wave has the last one, which folds most.
static double timeOfFolds(const GPUCosts &costs, const GPULaunch &launch) {
  if (launch.folds <= 0)
    return 0;
  double last =
      costs.foldStart + launch.folds * launch.foldBytes / costs.foldBytes;
  return last * (launch.waves + 1) / 2;
}

static std::optional<double> predictLaunch(const GPUCosts &costs,
                                           const GPUInfo &gpu,
                                           const GPULaunch &launch) {
  double memory = launch.bytes / costs.bytes, n = launch.iterations;
  switch (launch.kind) {
  case GPULaunch::Kind::Roles: {
    double work = launch.waves * (n * timeOfChunk(costs, launch) + costs.wave) +
                  timeOfFolds(costs, launch);
    return costs.start + std::pow(std::pow(work, costs.overlap) +
                                      std::pow(memory, costs.overlap),
                                  1 / costs.overlap);
  }
  case GPULaunch::Kind::Steps: {
    double elements = launch.elements / double(gpu.multiprocessors),
           steps = n * std::hypot(costs.step, elements * costs.stepElement);
    if (isOneStep(launch) && launch.hasHalves)
      memory = launch.bytes / costs.halfBytes;
    return costs.stepsStart +
           (isOneStep(launch) ? memory : std::max(steps, memory));
  }
  case GPULaunch::Kind::Copies:
    if (!isOneStep(launch))
      return std::nullopt;
    return costs.copiesStart + launch.bytes / costs.copiedBytes;
  case GPULaunch::Kind::Matrices:
    return costs.scanStart +
           n * std::max(costs.matrixStep, costs.matrixHead * launch.heads);
  case GPULaunch::Kind::Diagonals:
    return costs.scanStart +
           n * std::max(costs.diagonalStep, costs.diagonalHead * launch.heads);
  case GPULaunch::Kind::Unmeasured:
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<double>
prism::targetinfo::predictLaunches(const GPUCosts &costs, const GPUInfo &gpu,
                                   ArrayRef<GPULaunch> launches) {
  double sum = 0;
  for (const GPULaunch &launch : launches) {
    if (launch.iterations <= 0)
      continue;
    std::optional<double> time = predictLaunch(costs, gpu, launch);
    if (!time)
      return std::nullopt;
    sum += *time;
  }
  bool hides = launches.size() == 1 && isOneStep(launches.front());
  return hides ? sum : sum + costs.call;
}
