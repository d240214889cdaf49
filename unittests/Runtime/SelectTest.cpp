//===- SelectTest.cpp - Which kernel plays a call --------------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TestBundle.h"

#include <gtest/gtest.h>

using namespace prism::runtime;
using namespace prism::runtime::test;

namespace {

/// A call of one sequence.
Sizes steps(int64_t longest) {
  Sizes sizes;
  sizes.longest = longest;
  return sizes;
}

TEST(Select, ChoiceTable) {
  EntryInfo entry = testEntry();
  EXPECT_EQ((*selectCpuKernel(entry, steps(32), 1))->symbol, "test_recurrent");
  EXPECT_EQ((*selectCpuKernel(entry, steps(33), 1))->symbol, "test_chunk");
  Selection pinned;
  pinned.schedule = "recurrent";
  EXPECT_EQ((*selectCpuKernel(entry, steps(33), 1, pinned))->symbol,
            "test_recurrent");
  pinned.schedule = "tree";
  EXPECT_EQ(selectCpuKernel(entry, steps(33), 1, pinned).error(),
            "entry 'forward': no kernel with schedule 'tree' for cpu; the "
            "bundle holds recurrent, chunk, failing");
  entry.choice.resize(1);
  EXPECT_EQ(selectCpuKernel(entry, steps(33), 1).error(),
            "entry 'forward': the choice table has no row for cpu, 33 steps "
            "and 3 sequences x value heads; pin one of the schedules "
            "recurrent, chunk, failing");
}

TEST(Select, BestIsaLevel) {
  EntryInfo entry = testEntry();
  entry.kernels.resize(1, entry.kernels[0]);
  for (const char *isa : {"x86-64-v4", "x86-64-v3", "x86-64-v9"}) {
    entry.kernels.push_back(entry.kernels[0]);
    entry.kernels.back().isa = isa;
  }
  EXPECT_EQ((*selectCpuKernel(entry, steps(1), 4))->isa, "x86-64-v4");
  EXPECT_EQ((*selectCpuKernel(entry, steps(1), 3))->isa, "x86-64-v3");
  EXPECT_EQ((*selectCpuKernel(entry, steps(1), 2))->isa, "x86-64");
  std::string start = "entry 'forward', schedule 'recurrent': no kernel ";
  EXPECT_EQ(selectCpuKernel(entry, steps(1), 0).error(),
            start + "runs on this CPU, which has no x86-64 instructions; the "
                    "bundle holds x86-64, x86-64-v4, x86-64-v3, x86-64-v9");
  Selection pinned;
  pinned.isa = "x86-64-v3";
  EXPECT_EQ((*selectCpuKernel(entry, steps(1), 4, pinned))->isa, "x86-64-v3");
  EXPECT_NE(selectCpuKernel(entry, steps(1), 2, pinned)
                .error()
                .find("runs on this CPU, which has x86-64-v2"),
            std::string::npos);
  pinned.isa = "x86-64-v5";
  EXPECT_NE(selectCpuKernel(entry, steps(1), 4, pinned)
                .error()
                .find(start + "for 'x86-64-v5'; the bundle holds"),
            std::string::npos);
}

TEST(Select, ChipsAndCapabilities) {
  EXPECT_TRUE(runsOn("sm_90a", 90, true));
  EXPECT_FALSE(runsOn("sm_90a", 100, false));
  EXPECT_TRUE(runsOn("sm_80", 90, false));
  EXPECT_FALSE(runsOn("sm_80", 90, true));
  EXPECT_TRUE(runsOn("sm_80", 86, true));
  EXPECT_FALSE(runsOn("sm_86", 80, false));
  EXPECT_TRUE(runsOn("sm_100f", 103, true));
  EXPECT_FALSE(runsOn("sm_100f", 120, false));
  EXPECT_FALSE(runsOn("gfx90a", 90, false));
}

TEST(Select, CudaKernel) {
  EntryInfo entry = testEntry();
  EXPECT_EQ((*selectCudaKernel(entry, steps(1), 90))->symbol, "k90");
  EXPECT_EQ((*selectCudaKernel(entry, steps(1), 100))->symbol, "k80");
  EXPECT_EQ(selectCudaKernel(entry, steps(1), 75).error(),
            "entry 'forward', schedule 'recurrent': no kernel runs on this "
            "GPU, which is sm_75; the bundle holds sm_90a, sm_80");
  entry.kernels.resize(2);
  EXPECT_EQ(selectCudaKernel(entry, steps(1), 90).error(),
            "entry 'forward': no kernel for cuda; the bundle holds kernels for "
            "cpu");
}

/// Chunk kernels for sm_90a with value blocks of 64 and 128, and one for sm_80.
EntryInfo entryWithValueBlocks() {
  EntryInfo entry = testEntry();
  auto add = [&](const KernelInfo &like, const char *symbol, int64_t block) {
    entry.kernels.push_back(like);
    entry.kernels.back().symbol = symbol;
    entry.kernels.back().plan = {"chunk", 64, block, 2};
  };
  KernelInfo hopper = entry.kernels[3], ampere = entry.kernels[4];
  add(ampere, "c80", 32);
  add(hopper, "c64", 64);
  add(hopper, "c128", 128);
  entry.choice = {{Target::Cuda, 15, INT64_MAX, "recurrent"},
                  {Target::Cuda, INT64_MAX, 66, "chunk", 64},
                  {Target::Cuda, INT64_MAX, INT64_MAX, "chunk", 128}};
  return entry;
}

TEST(Select, ByHeads) {
  EntryInfo entry = entryWithValueBlocks(); // of 3 value heads
  auto symbol = [&](int64_t longest, int64_t sequences, int chip,
                    const std::string &schedule = "") {
    Sizes sizes = steps(longest);
    sizes.sequences = sequences;
    Selection pinned;
    pinned.schedule = schedule;
    return (*selectCudaKernel(entry, sizes, chip, pinned))->symbol;
  };
  EXPECT_EQ(symbol(15, 1, 90), "k90");
  EXPECT_EQ(symbol(15, 1000, 90), "k90");
  EXPECT_EQ(symbol(16, 22, 90), "c64");
  EXPECT_EQ(symbol(16, 23, 90), "c128");
  EXPECT_EQ(symbol(16, 0, 90), "c64");
  EXPECT_EQ(symbol(16, INT64_MAX, 90), "c128"); // times 3 needs more bits
  // The rows of another chip: its value blocks are not there.
  EXPECT_EQ(symbol(16, 22, 80), "c80");
  EXPECT_EQ(symbol(16, 23, 80), "c80");
  // A pinned schedule leaves the rule for the heads.
  EXPECT_EQ(symbol(1, 22, 90, "chunk"), "c64");
  EXPECT_EQ(symbol(1, 23, 90, "chunk"), "c128");
  EXPECT_EQ(symbol(99, 1, 90, "recurrent"), "k90");
  // Without rows for it the first.
  entry.choice.resize(1);
  EXPECT_EQ(symbol(1, 23, 90, "chunk"), "c64");
}

TEST(Select, ByPrepareBlocks) {
  EntryInfo entry = entryWithValueBlocks(); // of 3 value heads
  entry.kernels.push_back(entry.kernels[6]);
  entry.kernels.back().symbol = "p64";
  entry.kernels.back().plan.prepareBlocks = 1;
  ChoiceRow row{Target::Cuda, INT64_MAX, 39, "chunk", 64};
  row.prepareBlocks = 1;
  entry.choice.insert(entry.choice.begin() + 1, row);
  auto symbol = [&](int64_t sequences, int chip) {
    Sizes sizes = steps(16);
    sizes.sequences = sequences;
    return (*selectCudaKernel(entry, sizes, chip))->symbol;
  };
  EXPECT_EQ(symbol(13, 90), "p64");
  EXPECT_EQ(symbol(14, 90), "c64");
  EXPECT_EQ(symbol(13, 80), "c80"); // of another chip's row
  // The value block counts for more.
  entry.choice[1].valueBlock = 128;
  EXPECT_EQ(symbol(13, 90), "c128");
}

TEST(Select, RowsOfAMachine) {
  EntryInfo entry = entryWithValueBlocks();
  ChoiceRow own{Target::Cuda, INT64_MAX, INT64_MAX, "recurrent"};
  own.machine = "sm_80";
  entry.choice.insert(entry.choice.begin(), own);
  auto symbol = [&](int chip) {
    return (*selectCudaKernel(entry, steps(16), chip))->symbol;
  };
  EXPECT_EQ(symbol(80), "k80");
  EXPECT_EQ(symbol(100), "k80"); // the closest that it runs
  EXPECT_EQ(symbol(90), "c64");
  entry.choice.front().machine = "sm_90a";
  EXPECT_EQ(symbol(80), "c80");
  EXPECT_EQ(symbol(90), "k90");
}

TEST(Select, RowsOfALevel) {
  EntryInfo entry = testEntry();
  entry.kernels.resize(1, entry.kernels[0]);
  entry.kernels.front().isa = "x86-64-v3";
  auto isa = [&](int level, const std::string &pinned = "") {
    Selection selection;
    selection.isa = pinned;
    auto kernel = selectCpuKernel(entry, steps(1), level, selection);
    return kernel ? (*kernel)->plan.schedule + " " + (*kernel)->isa
                  : kernel.error();
  };
  entry.kernels.push_back(entry.kernels.front());
  entry.kernels.back().isa = "x86-64-v4";
  entry.kernels.back().plan.schedule = "chunk";
  ChoiceRow own{Target::Cpu, INT64_MAX, INT64_MAX, "chunk"};
  own.machine = "x86-64-v4";
  entry.choice = {own, {Target::Cpu, INT64_MAX, INT64_MAX, "recurrent"}};
  EXPECT_EQ(isa(4), "chunk x86-64-v4");
  EXPECT_EQ(isa(3), "recurrent x86-64-v3");
  EXPECT_EQ(isa(4, "x86-64-v3"), "recurrent x86-64-v3");
}

TEST(Select, ByHeadsOnCpu) {
  EntryInfo entry = testEntry(); // of 3 value heads
  entry.kernels.push_back(entry.kernels[1]);
  entry.kernels.back().symbol = "wide";
  entry.kernels.back().plan.valueBlock = 8;
  entry.choice = {{Target::Cpu, INT64_MAX, 3, "chunk", 8},
                  {Target::Cpu, INT64_MAX, 6, "chunk", 4}};
  Sizes sizes;
  EXPECT_EQ((*selectCpuKernel(entry, sizes, 1))->symbol, "wide");
  sizes.sequences = 2;
  EXPECT_EQ((*selectCpuKernel(entry, sizes, 1))->symbol, "test_chunk");
  sizes.sequences = 3;
  EXPECT_EQ(selectCpuKernel(entry, sizes, 1).error(),
            "entry 'forward': the choice table has no row for cpu, 1 steps "
            "and 9 sequences x value heads; pin one of the schedules "
            "recurrent, chunk, failing");
}

} // namespace
