//===- CpuPlayer.cpp - Runs kernels of the CPU ABI -------------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Support.h"
#include "prism-runtime/Cpu.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

namespace prism::runtime {

static constexpr int64_t alignment = 64; // of a thread's workspace

int isaLevel(const std::string &isa) {
  if (isa == "x86-64")
    return 1;
  if (isa.size() == 9 && isa.compare(0, 8, "x86-64-v") == 0 && isa[8] >= '2' &&
      isa[8] <= '4')
    return isa[8] - '0';
  return 0;
}

int hostIsaLevel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4"))
    return 4;
  if (__builtin_cpu_supports("x86-64-v3"))
    return 3;
  return __builtin_cpu_supports("x86-64-v2") ? 2 : 1;
#else
  return 0;
#endif
}

static std::string kernelFailed(int32_t status) {
  return "the kernel returned status " + std::to_string(status) +
         ", expected 0";
}

Status runRange(const CpuKernel &kernel, const Call &call, void *workspace,
                int64_t begin, int64_t end) {
  std::optional<int64_t> items = workItems(call, kernel.valueBlocks);
  if (!kernel.function)
    return Failure{"expected a kernel function, found null"};
  if (!kernel.intermediates.empty())
    return Failure{"the kernel splits sequences: its launches follow one "
                   "another, which CpuPlayer::run sees to"};
  if (!items || begin < 0 || begin > end || end > *items)
    return Failure{"work items [" + std::to_string(begin) + ", " +
                   std::to_string(end) + ") are not among the call's " +
                   (items ? std::to_string(*items) : "items")};
  if (reinterpret_cast<uintptr_t>(workspace) % alignment ||
      (!workspace && kernel.workspace > 0))
    return Failure{"expected a workspace of " +
                   std::to_string(kernel.workspace) + " bytes, aligned to " +
                   std::to_string(alignment)};
  if (begin == end)
    return Success{};
  int32_t status = kernel.function(call.words.data(), workspace, begin, end);
  if (status != 0)
    return Failure{kernelFailed(status)};
  return Success{};
}

CpuPlayer::CpuPlayer(std::unique_ptr<ThreadPool> pool)
    : pool(std::move(pool)) {}

CpuPlayer::~CpuPlayer() { std::free(own); }

Result<std::unique_ptr<CpuPlayer>> CpuPlayer::create(unsigned threads) {
  Result<std::unique_ptr<ThreadPool>> pool = ThreadPool::create(threads);
  if (!pool)
    return pool.failure();
  return std::unique_ptr<CpuPlayer>(new CpuPlayer(std::move(*pool)));
}

/// Each thread's part starts on its own cache line.
int64_t CpuPlayer::threadsBytes(const CpuKernel &kernel) const {
  int64_t most = kernel.workspace;
  for (const CpuKernel &launch : kernel.before)
    most = std::max(most, launch.workspace);
  return roundUp(most, alignment) * threads();
}

/// The threads' parts, then the arrays between the launches.
std::optional<int64_t> CpuPlayer::workspaceBytes(const CpuKernel &kernel,
                                                 const Sizes &sizes) const {
  int64_t bytes = threadsBytes(kernel);
  if (kernel.intermediates.empty())
    return bytes;
  std::optional<int64_t> arrays =
      intermediateBytes(kernel.intermediates, sizes, kernel.segments);
  int64_t total = 0;
  if (!arrays ||
      __builtin_add_overflow(*arrays, roundUp(bytes, arrayAlignment), &total))
    return std::nullopt;
  return total;
}

Status CpuPlayer::reserve(int64_t bytes) {
  if (bytes <= ownBytes)
    return Success{};
  bytes = roundUp(bytes, arrayAlignment);
  void *memory = std::aligned_alloc(arrayAlignment, static_cast<size_t>(bytes));
  if (!memory)
    return Failure{"cannot allocate a workspace of " + std::to_string(bytes) +
                   " bytes for " + std::to_string(threads()) + " threads"};
  std::free(own);
  own = memory;
  ownBytes = bytes;
  return Success{};
}

Status CpuPlayer::run(const CpuKernel &kernel, const Call &call) {
  std::lock_guard<std::mutex> lock(turn);
  std::optional<int64_t> bytes = workspaceBytes(kernel, call.sizes);
  if (!bytes)
    return Failure{"the call needs more workspace than 64 bits count"};
  Status reserved = reserve(*bytes);
  if (!reserved)
    return reserved;
  return play(kernel, call, static_cast<char *>(own));
}

Status CpuPlayer::run(const CpuKernel &kernel, const Call &call,
                      void *workspace, int64_t bytes) {
  std::optional<int64_t> needed = workspaceBytes(kernel, call.sizes);
  if (!needed)
    return Failure{"the call needs more workspace than 64 bits count"};
  int64_t aligned = kernel.intermediates.empty() ? alignment : arrayAlignment;
  if (bytes < *needed || (*needed > 0 && !workspace) ||
      reinterpret_cast<uintptr_t>(workspace) % aligned)
    return Failure{"expected a workspace of " + std::to_string(*needed) +
                   " bytes, aligned to " + std::to_string(aligned) +
                   ", found " + std::to_string(bytes) + " bytes"};
  return play(kernel, call, static_cast<char *>(workspace));
}

Status CpuPlayer::play(const CpuKernel &kernel, const Call &call,
                       char *workspace) {
  if (kernel.intermediates.empty())
    return launch(kernel, call, workspace);
  char *arrays = workspace + roundUp(threadsBytes(kernel), arrayAlignment);
  Call split = splitCall(call, kernel.intermediates, kernel.segments, arrays);
  for (const CpuKernel &before : kernel.before)
    if (Status done = launch(before, split, workspace); !done)
      return done;
  return launch(kernel, split, workspace);
}

Status CpuPlayer::launch(const CpuKernel &kernel, const Call &call,
                         char *workspace) {
  if (!kernel.function)
    return Failure{"expected a kernel function, found null"};
  std::optional<int64_t> items =
      workItems(call, kernel.valueBlocks, kernel.items);
  if (!items)
    return Failure{"the call has more work items than 64 bits count"};
  // Ranges small enough that threads end together, large enough that taking
  // them costs nothing.
  int64_t grain = std::max<int64_t>(1, *items / (int64_t(threads()) * 16));
  std::atomic<int32_t> failed{0};
  pool->run(*items, grain, [&](unsigned worker, int64_t begin, int64_t end) {
    char *mine = workspace
                     ? workspace + roundUp(kernel.workspace, alignment) * worker
                     : nullptr;
    if (int32_t status = kernel.function(call.words.data(), mine, begin, end))
      failed.store(status, std::memory_order_relaxed);
  });
  if (failed)
    return Failure{kernelFailed(failed)};
  return Success{};
}

} // namespace prism::runtime
