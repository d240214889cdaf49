//===- Cpu.h - Playing kernels on the CPU -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A CpuKernel is a function of the documented ABI, from a bundle's shared
// object or any other source (a JIT); a CpuPlayer runs it over a call's work
// items on its own threads. A caller with threads of its own uses runRange().
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_RUNTIME_CPU_H
#define PRISM_RUNTIME_CPU_H

#include "prism-runtime/Bind.h"
#include "prism-runtime/ThreadPool.h"

#include <mutex>

namespace prism::runtime {

extern "C" {
/// Does the items [begin, end) and returns 0. `workspace` is the kernel's
/// number of bytes, 64-byte aligned, used by no other running call.
typedef int32_t (*PrismCpuFunction)(const uint64_t *words, void *workspace,
                                    int64_t begin, int64_t end);
}

struct CpuKernel {
  PrismCpuFunction function = nullptr;
  int64_t valueBlocks = 1;
  int64_t workspace = 0; // bytes for one thread
  /// What keeps the function's code loaded, if anything must.
  std::shared_ptr<void> library = nullptr;
  /// Of a kernel that splits sequences: into how many segments, what is played
  /// before it, and the arrays in which they meet.
  Items items = Items::Sequences;
  int64_t segments = 1;
  std::vector<CpuKernel> before = {};
  std::vector<ArgumentInfo> intermediates = {};
};

/// The x86-64 level that this CPU and system run (1 to 4); 0 elsewhere.
int hostIsaLevel();

/// The level that a manifest's `isa` needs; 0 for one that is not known.
int isaLevel(const std::string &isa);

/// Does some of a call's items on the calling thread; not for kernels that
/// split sequences, whose launches must follow one another.
Status runRange(const CpuKernel &kernel, const Call &call, void *workspace,
                int64_t begin, int64_t end);

class CpuPlayer {
public:
  /// A player with `threads` threads; 0 as in ThreadPool::create.
  static Result<std::unique_ptr<CpuPlayer>> create(unsigned threads = 0);
  ~CpuPlayer();
  CpuPlayer(const CpuPlayer &) = delete;
  CpuPlayer &operator=(const CpuPlayer &) = delete;

  unsigned threads() const { return pool->size(); }

  /// Runs a call. Its workspace is allocated at the first call that needs it
  /// and kept. Calls of several threads take turns.
  Status run(const CpuKernel &kernel, const Call &call);

  /// Runs a call in the caller's workspace of workspaceBytes(), 64-byte
  /// aligned (256, where the kernel splits sequences); nothing is allocated.
  Status run(const CpuKernel &kernel, const Call &call, void *workspace,
             int64_t bytes);

  /// Bytes of workspace that a kernel needs on this player's threads: for a
  /// call of these sizes, where it splits sequences. Nothing on 64-bit
  /// overflow.
  std::optional<int64_t> workspaceBytes(const CpuKernel &kernel,
                                        const Sizes &sizes = {}) const;

private:
  explicit CpuPlayer(std::unique_ptr<ThreadPool> pool);
  Status reserve(int64_t bytes);
  int64_t threadsBytes(const CpuKernel &kernel) const;
  Status play(const CpuKernel &kernel, const Call &call, char *workspace);
  Status launch(const CpuKernel &kernel, const Call &call, char *workspace);

  std::unique_ptr<ThreadPool> pool;
  std::mutex turn; // held while the player's own workspace is in use
  void *own = nullptr;
  int64_t ownBytes = 0;
};

} // namespace prism::runtime

#endif // PRISM_RUNTIME_CPU_H
