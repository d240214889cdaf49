//===- CpuTest.cpp - Kernels on the CPU, and the pool ----------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TestBundle.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

using namespace prism::runtime;
using namespace prism::runtime::test;

namespace {

/// A loaded bundle and its entry.
struct Cpu : testing::Test {
  TempFolder folder;
  std::optional<Entry> entry;
  void SetUp() override {
    writeBundle(folder / "b");
    Result<Program> program = Program::load(folder / "b");
    ASSERT_TRUE(program) << program.error();
    entry = *program->entry("forward");
  }
  LoadedCpuKernel kernel(const std::string &schedule) {
    Selection pinned;
    pinned.schedule = schedule;
    auto loaded = entry->cpuKernel(Sizes(), pinned);
    EXPECT_TRUE(loaded) << loaded.error();
    return *loaded;
  }
};

/// Runs one call with both kernels and compares with the reference.
void check(Cpu &test, Floats x, Floats *g, Floats *initial,
           std::vector<int64_t> offsets, unsigned threads) {
  int64_t sequences =
      offsets.empty() ? x.shape[0] : static_cast<int64_t>(offsets.size()) - 1;
  Floats y(x.shape, -1), final({sequences, 3, 8}, -1);
  Floats wantedY = y, wantedFinal = final;
  reference(x, g, initial, offsets, wantedY, wantedFinal);
  Bindings bindings = {
      {"x", x.array()}, {"y", y.array()}, {"final_state", final.array()}};
  if (g)
    bindings.push_back({"g", g->array()});
  if (initial)
    bindings.push_back({"initial_state", initial->array()});
  if (!offsets.empty())
    bindings.push_back(
        {"offsets", {offsets.data(), DType::I64, {sequences + 1}, {}}});
  Result<Call> call = bindCall(test.entry->info(), bindings);
  ASSERT_TRUE(call) << call.error();
  auto player = CpuPlayer::create(threads);
  ASSERT_TRUE(player) << player.error();
  for (const char *schedule : {"recurrent", "chunk"}) {
    std::fill(y.values.begin(), y.values.end(), -1.0f);
    Status done = (*player)->run(test.kernel(schedule), *call);
    ASSERT_TRUE(done) << done.error();
    EXPECT_EQ(y.values, wantedY.values) << schedule;
    EXPECT_EQ(final.values, wantedFinal.values) << schedule;
  }
}

TEST_F(Cpu, PlaysKernels) {
  Floats g({2, 65, 3}, 0.0f), initial({2, 3, 8}, 2.0f);
  for (float &gate : g.values)
    gate = gate / 16;
  for (unsigned threads : {1u, 2u, 5u}) {
    check(*this, Floats({2, 65, 3, 8}), &g, &initial, {}, threads);
    check(*this, Floats({2, 65, 3, 8}), nullptr, nullptr, {}, threads);
    check(*this, Floats({1, 130, 3, 8}), nullptr, &initial, {0, 0, 130},
          threads);
    check(*this, Floats({2, 0, 3, 8}), nullptr, &initial, {}, threads);
    check(*this, Floats({0, 4, 3, 8}), nullptr, nullptr, {}, threads);
  }
}

TEST_F(Cpu, StateInPlace) {
  Floats x({2, 9, 3, 8}), y({2, 9, 3, 8}), state({2, 3, 8}, 1);
  Floats wantedY = y, wantedFinal = state, initial = state;
  reference(x, nullptr, &initial, {}, wantedY, wantedFinal);
  Result<Call> call = bindCall(entry->info(), {{"x", x.array()},
                                               {"y", y.array()},
                                               {"initial_state", state.array()},
                                               {"final_state", state.array()}});
  ASSERT_TRUE(call) << call.error();
  auto player = CpuPlayer::create(2);
  ASSERT_TRUE((*player)->run(kernel("chunk"), *call));
  EXPECT_EQ(state.values, wantedFinal.values);
}

TEST_F(Cpu, CallersWorkspaceAndRanges) {
  Floats x({2, 9, 3, 8}), y({2, 9, 3, 8}), final({2, 3, 8});
  Floats wanted = y;
  reference(x, nullptr, nullptr, {}, wanted, final);
  Result<Call> call =
      bindCall(entry->info(), {{"x", x.array()}, {"y", y.array()}});
  LoadedCpuKernel chunk = kernel("chunk");
  auto player = CpuPlayer::create(2);
  EXPECT_EQ((*player)->workspaceBytes(chunk), 256);
  alignas(64) char memory[256];
  EXPECT_EQ((*player)->run(chunk, *call, memory, 255).error(),
            "expected a workspace of 256 bytes, aligned to 64, found 255 "
            "bytes");
  EXPECT_FALSE((*player)->run(chunk, *call, memory + 8, 256));
  ASSERT_TRUE((*player)->run(chunk, *call, memory, 256));
  EXPECT_EQ(y.values, wanted.values);
  std::fill(y.values.begin(), y.values.end(), 0.0f);
  for (int64_t item = 0; item < 12; ++item)
    ASSERT_TRUE(runRange(chunk, *call, memory, item, item + 1));
  EXPECT_EQ(y.values, wanted.values);
  EXPECT_EQ(runRange(chunk, *call, memory, 11, 13).error(),
            "work items [11, 13) are not among the call's 12");
  EXPECT_EQ(runRange(chunk, *call, nullptr, 0, 1).error(),
            "expected a workspace of 100 bytes, aligned to 64");
  EXPECT_EQ(runRange(CpuKernel(), *call, nullptr, 0, 1).error(),
            "expected a kernel function, found null");
}

TEST_F(Cpu, KernelStatus) {
  Floats x({2, 9, 3, 8}), y({2, 9, 3, 8});
  Result<Call> call =
      bindCall(entry->info(), {{"x", x.array()}, {"y", y.array()}});
  auto player = CpuPlayer::create(2);
  EXPECT_EQ((*player)->run(kernel("failing"), *call).error(),
            "the kernel returned status 3, expected 0");
}

TEST_F(Cpu, CallsFromSeveralThreads) {
  auto player = CpuPlayer::create(3);
  LoadedCpuKernel chunk = kernel("chunk");
  std::atomic<int> right{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      Floats x({2, 40, 3, 8}, float(caller)), y(x.shape), final({2, 3, 8});
      Floats wanted = y;
      reference(x, nullptr, nullptr, {}, wanted, final);
      Result<Call> call =
          bindCall(entry->info(), {{"x", x.array()}, {"y", y.array()}});
      for (int round = 0; round < 50; ++round) {
        std::fill(y.values.begin(), y.values.end(), 0.0f);
        if (call && (*player)->run(chunk, *call) && y.values == wanted.values)
          ++right;
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(right, 200);
}

TEST(ThreadPool, EveryItemOnce) {
  for (unsigned threads : {1u, 2u, 7u}) {
    auto pool = ThreadPool::create(threads);
    ASSERT_TRUE(pool) << pool.error();
    EXPECT_EQ((*pool)->size(), threads);
    for (int64_t items : {0, 1, 2, 7, 1000}) {
      for (int64_t grain : {1, 3, 5000}) {
        std::vector<std::atomic<int>> seen(static_cast<size_t>(items));
        std::vector<std::atomic<int>> inside(threads);
        std::atomic<bool> shared{false};
        (*pool)->run(items, grain,
                     [&](unsigned worker, int64_t begin, int64_t end) {
                       if (inside[worker]++ != 0)
                         shared = true;
                       for (int64_t i = begin; i < end; ++i)
                         ++seen[static_cast<size_t>(i)];
                       --inside[worker];
                     });
        for (const auto &count : seen)
          EXPECT_EQ(count, 1);
        EXPECT_FALSE(shared);
      }
    }
  }
}

TEST(ThreadPool, ManyJobsOfManyCallers) {
  auto pool = ThreadPool::create(4);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int job = 0; job < 500; ++job)
        (*pool)->run(17, 1, [&](unsigned, int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i)
            sum += i;
        });
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(sum, 4 * 500 * 136);
}

TEST(ThreadPool, SizeFromEnvironment) {
  setenv("PRISM_NUM_THREADS", "3", 1);
  EXPECT_EQ((*ThreadPool::create())->size(), 3u);
  setenv("PRISM_NUM_THREADS", "many", 1);
  EXPECT_EQ(ThreadPool::create().error(),
            "PRISM_NUM_THREADS: expected a number from 1 to 1024, found "
            "'many'");
  unsetenv("PRISM_NUM_THREADS");
  EXPECT_GE((*ThreadPool::create())->size(), 1u);
  EXPECT_EQ(ThreadPool::create(2000).error(),
            "expected at most 1024 threads, found 2000");
}

} // namespace
