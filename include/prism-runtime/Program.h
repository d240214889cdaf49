//===- Program.h - A bundle, loaded -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A Program is a bundle folder; an Entry is one function of it. Calling one:
//
//   auto program = Program::load("bundle");
//   auto entry = program->entry("forward");
//   auto call = bindCall(entry->info(), arrays);
//   auto kernel = entry->cpuKernel(call->sizes);
//   auto player = CpuPlayer::create();
//   Status done = (*player)->run(*kernel, *call);
//
// Every step returns a Result to be tested before the next (docs/Runtime.md).
// Programs and entries are cheap to copy and may be used by several threads.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_RUNTIME_PROGRAM_H
#define PRISM_RUNTIME_PROGRAM_H

#include "prism-runtime/Bind.h"
#include "prism-runtime/Cpu.h"
#include "prism-runtime/Cuda.h"
#include "prism-runtime/Files.h"
#include "prism-runtime/Manifest.h"

namespace prism::runtime {

/// What a caller pins; empty: the runtime chooses.
struct Selection {
  std::string schedule; // else the manifest's choice table decides
  std::string isa;      // CPU only; else the best that this CPU runs
  int64_t segments = 0; // of a sequence; 1: whole, 0: by the table
};

/// A kernel for a call, and into how many segments it splits a sequence (1: not
/// at all).
struct SelectedKernel {
  const KernelInfo *info = nullptr;
  int64_t segments = 1;
  const KernelInfo *operator->() const { return info; }
};

/// The CPU kernel for a call of these sizes on a CPU of that x86-64 level.
Result<SelectedKernel> selectCpuKernel(const EntryInfo &entry,
                                       const Sizes &sizes, int level,
                                       const Selection &pinned = {});

/// The GPU kernel, likewise, for a compute capability (major * 10 + minor).
Result<SelectedKernel> selectCudaKernel(const EntryInfo &entry,
                                        const Sizes &sizes,
                                        int computeCapability,
                                        const Selection &pinned = {});

/// A CPU kernel with its row of the manifest.
struct LoadedCpuKernel : CpuKernel {
  const KernelInfo *info = nullptr;
};

/// A GPU kernel with its row of the manifest.
struct LoadedCudaKernel : CudaKernel {
  const KernelInfo *info = nullptr;
};

class Entry {
public:
  const EntryInfo &info() const { return *entry; }

  /// Chooses and loads the CPU kernel for a call of these sizes. A shared
  /// object is opened once per program.
  Result<LoadedCpuKernel> cpuKernel(const Sizes &sizes,
                                    const Selection &pinned = {}) const;

  /// Chooses and loads the kernel for a device. Loading is slow: keep it.
  Result<LoadedCudaKernel> cudaKernel(const CudaDevice &device,
                                      const Sizes &sizes,
                                      const Selection &pinned = {}) const;

private:
  friend class Program;
  std::shared_ptr<struct Bundle> bundle;
  const EntryInfo *entry = nullptr;
};

class Program {
public:
  /// A bundle in a folder; its kernels are opened when they are asked for.
  static Result<Program> load(const std::string &folder);
  /// A bundle of files, of which manifest.json says what they are.
  static Result<Program> load(BundleFiles files);

  /// Writes the bundle as a folder, all of it or nothing.
  Status save(const std::string &folder) const;

  /// The folder, or the name of a bundle in memory.
  const std::string &folder() const;
  const BundleFiles &files() const;
  const Manifest &manifest() const;
  /// The text of manifest.json.
  const std::string &manifestText() const;
  Result<Entry> entry(const std::string &name) const;

private:
  std::shared_ptr<struct Bundle> bundle;
};

} // namespace prism::runtime

#endif // PRISM_RUNTIME_PROGRAM_H
