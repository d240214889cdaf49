//===- TargetInfo.h - Facts about the machines we compile for ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The one place that knows chips. Lowerings ask for a fact (shared memory, warp
// size, tensor-core shapes); none tests an architecture number. Chips and PTX
// versions are validated here, before LLVM sees them: it aborts the process on
// a PTX version below the chip's minimum and silently changes an unknown one.
//
// Sources: CUDA C++ Programming Guide (compute capabilities), PTX ISA (target
// directives); default PTX versions are LLVM 22's. Rates: NVIDIA's datasheets
// and, for the RTX 5090, its architecture whitepaper.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_TARGETINFO_TARGETINFO_H
#define PRISM_TARGETINFO_TARGETINFO_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace prism::targetinfo {

/// Matrix instructions a chip has for bf16 operands with f32 accumulators.
enum class TensorCores { None, MmaSync, Wgmma, Tcgen05 };

struct GPUInfo {
  std::string chip;                 // "sm_90a"
  int computeCapability = 0;        // 90
  int64_t sharedMemoryPerBlock = 0; // bytes, opt-in
  int64_t registersPerThread = 255;
  int64_t registersPerMultiprocessor = 65536;
  int64_t warpSize = 32;
  int64_t multiprocessors = 0; // of the largest part with this chip
  /// Clusters of 3 and of 4 blocks that run at once, each block on a
  /// multiprocessor of its own: those of a cluster are of one group of
  /// multiprocessors, which do not all have as many. 0: no clusters.
  int64_t clustersOfThree = 0, clustersOfFour = 0;
  double memoryBandwidth = 0; // bytes per second, datasheet of that part
  double peakF32 = 0;         // FLOP per second of its FMA units, datasheet
  double peakBF16 = 0;        // of its tensor cores, dense, f32 sums, datasheet
  TensorCores tensorCores = TensorCores::None;
  int minimumPtx = 0; // major * 10 + minor
  int ptxVersion = 0; // to emit; at least minimumPtx

  /// Clusters of so many blocks that run at once, as above; pairs always find
  /// multiprocessors. 0 for sizes that are not known.
  int64_t clustersAtOnce(int64_t blocks) const;
  /// Copies of any number of bytes between global and shared memory by one
  /// thread: the chip's, in the PTX that is emitted.
  bool hasBulkCopies() const {
    return computeCapability >= 90 && ptxVersion >= 80;
  }
};

/// One --target: the CPU at one or several instruction set levels, or a GPU.
class Target {
public:
  static Target cpu(std::vector<std::string> levels);
  static Target cuda(GPUInfo info, std::string text);

  bool isCuda() const { return gpuInfo.has_value(); }
  const GPUInfo &gpu() const { return *gpuInfo; }
  /// CPU only: "x86-64-v3", "x86-64-v4".
  llvm::ArrayRef<std::string> levels() const { return cpuLevels; }
  /// As a user writes it.
  const std::string &str() const { return text; }

private:
  std::optional<GPUInfo> gpuInfo;
  std::vector<std::string> cpuLevels;
  std::string text;
};

/// Parses "cpu", "cpu:x86-64-v4", "cuda:sm_90a",
/// "cuda:sm_90a{ptx=8.7,smem=99K}". On failure `error` is one line: what was
/// expected, found, the nearest name.
std::optional<Target> parseTarget(llvm::StringRef text, std::string &error);

/// Facts of a chip, by name; nothing for one that is not known.
std::optional<GPUInfo> lookupChip(llvm::StringRef chip);

/// FLOP that one core does in a cycle at a CPU level, with two FMA units of the
/// level's whole vectors.
int64_t peakFlopsPerCycle(llvm::StringRef level, int64_t elementBits);

/// Names of all chips, of all CPU levels.
llvm::ArrayRef<llvm::StringLiteral> chipNames();
llvm::ArrayRef<llvm::StringLiteral> cpuLevelNames();

/// "8.7" of 87.
std::string formatPtxVersion(int version);

} // namespace prism::targetinfo

#endif // PRISM_TARGETINFO_TARGETINFO_H
