//===- Kernels.h - The kernels that a calibration times ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_CALIBRATE_KERNELS_H
#define PRISM_CALIBRATE_KERNELS_H

#include "Prism/Check/Check.h"
#include "Prism/Driver/Driver.h"
#include "Prism/TargetInfo/CPUCosts.h"

namespace prism {

/// A recurrence, its sizes and a plan.
struct KernelChoice {
  std::string name; // "erase 48x64, chunk 16"
  std::string spec, plan;
  int64_t steps = 0;
  /// Inputs and outputs come from memory: the caches are swept before each run.
  bool swept = false;
};

/// All of them, the same on every machine; those of one recurrence and one size
/// stand side by side.
std::vector<KernelChoice> calibrationKernels();

/// A compiled kernel with its arrays.
class TimedKernel {
public:
  /// Null: an error has been printed.
  static std::unique_ptr<TimedKernel> create(const KernelChoice &choice,
                                             llvm::StringRef level,
                                             mlir::MLIRContext &context);
  /// What it is made of, per value head; and the least time so far for one.
  const targetinfo::CPUCounts &counts() const { return work; }
  double nanoseconds() const { return best / heads; }
  const std::string &name() const { return choice.name; }

  /// Runs it once, after sweeping the caches where that is wanted.
  llvm::LogicalResult run(runtime::CpuPlayer &player, std::vector<char> &sweep);

private:
  KernelChoice choice;
  targetinfo::CPUCounts work;
  std::optional<runtime::Program> program; // keeps the code loaded
  runtime::LoadedCpuKernel kernel;
  check::HostArrays inputs, outputs;
  runtime::Call call;
  double best = 1e300;
  int64_t heads = 1;
};

/// Plain facts beside the costs, for people: name, AMX, copy rates.
struct MachineFacts {
  std::string cpu;
  bool amx = false;
  double cacheBytes = 0; // that arrays may fill, or a guess if none is known
  /// Bytes read and written per ns, in copies of 8 KiB, 128 KiB and 64 MiB.
  double copyL1 = 0, copyL2 = 0, copyMemory = 0;
};
MachineFacts measureMachine();

} // namespace prism

#endif // PRISM_CALIBRATE_KERNELS_H
