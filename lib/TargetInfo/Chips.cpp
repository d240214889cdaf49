//===- Chips.cpp - The table of GPU chips ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/TargetInfo/CPUCosts.h"
#include "Prism/TargetInfo/TargetInfo.h"

using namespace llvm;
using namespace prism::targetinfo;

namespace {
struct Chip {
  StringLiteral name;
  int capability;
  int64_t sharedKiB;
  int64_t multiprocessors;
  double bandwidth, peakF32, peakBF16;
  TensorCores cores;
  int minimumPtx, defaultPtx;
  int64_t clustersOfThree = 0, clustersOfFour = 0;
};
} // namespace

// Shared memory is what one block may opt in to; 1 KiB of a multiprocessor's
// is the system's. Part: A100, A40, L40, H200, H200, B200, B200, B300, RTX
// 5090. Clusters: by an occupancy query on an H200.
static constexpr Chip chips[] = {
    {"sm_80", 80, 163, 108, 2.0e12, 19.5e12, 312e12, TensorCores::MmaSync, 70,
     70},
    {"sm_86", 86, 99, 84, 0.7e12, 37.4e12, 149.7e12, TensorCores::MmaSync, 71,
     71},
    {"sm_89", 89, 99, 142, 0.86e12, 90.5e12, 181e12, TensorCores::MmaSync, 78,
     78},
    {"sm_90", 90, 227, 132, 4.8e12, 67e12, 989e12, TensorCores::MmaSync, 78,
     78},
    {"sm_90a", 90, 227, 132, 4.8e12, 67e12, 989e12, TensorCores::Wgmma, 80, 80,
     39, 30},
    {"sm_100", 100, 227, 148, 8.0e12, 75e12, 2250e12, TensorCores::MmaSync, 86,
     86},
    {"sm_100a", 100, 227, 148, 8.0e12, 75e12, 2250e12, TensorCores::Tcgen05, 86,
     86},
    {"sm_103a", 103, 227, 148, 8.0e12, 75e12, 2250e12, TensorCores::Tcgen05, 88,
     88},
    {"sm_120", 120, 99, 170, 1.8e12, 104.8e12, 209.5e12, TensorCores::MmaSync,
     87, 87},
    {"sm_120a", 120, 99, 170, 1.8e12, 104.8e12, 209.5e12, TensorCores::MmaSync,
     87, 87},
};

static constexpr StringLiteral names[] = {
    "sm_80",  "sm_86",   "sm_89",   "sm_90",  "sm_90a",
    "sm_100", "sm_100a", "sm_103a", "sm_120", "sm_120a"};
static_assert(std::size(names) == std::size(chips), "one name a chip");

static constexpr StringLiteral levels[] = {"x86-64-v3", "x86-64-v4"};

ArrayRef<StringLiteral> prism::targetinfo::chipNames() { return names; }
ArrayRef<StringLiteral> prism::targetinfo::cpuLevelNames() { return levels; }

std::optional<GPUInfo> prism::targetinfo::lookupChip(StringRef name) {
  for (const Chip &chip : chips) {
    if (chip.name != name)
      continue;
    GPUInfo info;
    info.chip = name.str();
    info.computeCapability = chip.capability;
    info.sharedMemoryPerBlock = chip.sharedKiB * 1024;
    info.multiprocessors = chip.multiprocessors;
    info.memoryBandwidth = chip.bandwidth;
    info.peakF32 = chip.peakF32;
    info.peakBF16 = chip.peakBF16;
    info.tensorCores = chip.cores;
    info.minimumPtx = chip.minimumPtx;
    info.ptxVersion = chip.defaultPtx;
    info.clustersOfThree = chip.clustersOfThree;
    info.clustersOfFour = chip.clustersOfFour;
    return info;
  }
  return std::nullopt;
}

int64_t GPUInfo::clustersAtOnce(int64_t blocks) const {
  return blocks <= 2   ? multiprocessors / blocks
         : blocks == 3 ? clustersOfThree
         : blocks == 4 ? clustersOfFour
                       : 0;
}

int64_t prism::targetinfo::peakFlopsPerCycle(StringRef level,
                                             int64_t elementBits) {
  constexpr int64_t kUnits = 2;
  return kUnits * 2 * vectorRegisters(level).lanes(elementBits);
}
