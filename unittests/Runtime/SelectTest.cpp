//===- SelectTest.cpp - Which kernel plays a call --------------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TestBundle.h"

#include <gtest/gtest.h>

using namespace prism::runtime;
using namespace prism::runtime::test;

namespace {

TEST(Select, ChoiceTable) {
  EntryInfo entry = testEntry();
  EXPECT_EQ((*selectCpuKernel(entry, 32, 1))->symbol, "test_recurrent");
  EXPECT_EQ((*selectCpuKernel(entry, 33, 1))->symbol, "test_chunk");
  Selection pinned;
  pinned.schedule = "recurrent";
  EXPECT_EQ((*selectCpuKernel(entry, 33, 1, pinned))->symbol, "test_recurrent");
  pinned.schedule = "tree";
  EXPECT_EQ(selectCpuKernel(entry, 33, 1, pinned).error(),
            "entry 'forward': no kernel with schedule 'tree' for cpu; the "
            "bundle holds recurrent, chunk, failing");
  entry.choice.pop_back();
  EXPECT_EQ(selectCpuKernel(entry, 33, 1).error(),
            "entry 'forward': the choice table has no row for cpu and 33 "
            "steps; pin one of the schedules recurrent, chunk, failing");
}

TEST(Select, BestIsaLevel) {
  EntryInfo entry = testEntry();
  entry.kernels.resize(1, entry.kernels[0]);
  for (const char *isa : {"x86-64-v4", "x86-64-v3", "x86-64-v9"}) {
    entry.kernels.push_back(entry.kernels[0]);
    entry.kernels.back().isa = isa;
  }
  EXPECT_EQ((*selectCpuKernel(entry, 1, 4))->isa, "x86-64-v4");
  EXPECT_EQ((*selectCpuKernel(entry, 1, 3))->isa, "x86-64-v3");
  EXPECT_EQ((*selectCpuKernel(entry, 1, 2))->isa, "x86-64");
  std::string start = "entry 'forward', schedule 'recurrent': no kernel ";
  EXPECT_EQ(selectCpuKernel(entry, 1, 0).error(),
            start + "runs on this CPU, which has no x86-64 instructions; the "
                    "bundle holds x86-64, x86-64-v4, x86-64-v3, x86-64-v9");
  Selection pinned;
  pinned.isa = "x86-64-v3";
  EXPECT_EQ((*selectCpuKernel(entry, 1, 4, pinned))->isa, "x86-64-v3");
  EXPECT_NE(selectCpuKernel(entry, 1, 2, pinned)
                .error()
                .find("runs on this CPU, which has x86-64-v2"),
            std::string::npos);
  pinned.isa = "x86-64-v5";
  EXPECT_NE(selectCpuKernel(entry, 1, 4, pinned)
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
  EXPECT_EQ((*selectCudaKernel(entry, 1, 90))->symbol, "k90");
  EXPECT_EQ((*selectCudaKernel(entry, 1, 100))->symbol, "k80");
  EXPECT_EQ(selectCudaKernel(entry, 1, 75).error(),
            "entry 'forward', schedule 'recurrent': no kernel runs on this "
            "GPU, which is sm_75; the bundle holds sm_90a, sm_80");
  entry.kernels.resize(2);
  EXPECT_EQ(selectCudaKernel(entry, 1, 90).error(),
            "entry 'forward': no kernel for cuda; the bundle holds kernels for "
            "cpu");
}

} // namespace
