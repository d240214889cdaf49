//===- TargetTest.cpp - Targets as users write them -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/TargetInfo/TargetInfo.h"
#include "gtest/gtest.h"

using namespace prism::targetinfo;

namespace {

std::string errorOf(llvm::StringRef text) {
  std::string error;
  EXPECT_FALSE(parseTarget(text, error)) << text.str();
  return error;
}

TEST(TargetInfo, Parses) {
  std::string error;
  auto cpu = parseTarget("cpu", error);
  ASSERT_TRUE(cpu);
  EXPECT_FALSE(cpu->isCuda());
  EXPECT_EQ(cpu->levels().size(), 2u);
  auto level = parseTarget("cpu:x86-64-v4", error);
  ASSERT_TRUE(level);
  EXPECT_EQ(level->levels().front(), "x86-64-v4");
  auto gpu = parseTarget("cuda:sm_90a{ptx=8.7,smem=99K}", error);
  ASSERT_TRUE(gpu);
  EXPECT_EQ(gpu->gpu().ptxVersion, 87);
  EXPECT_EQ(gpu->gpu().sharedMemoryPerBlock, 99 * 1024);
  EXPECT_EQ(gpu->gpu().warpSize, 32);
}

TEST(TargetInfo, EveryChipHasADefaultThatItAdmits) {
  for (llvm::StringRef name : chipNames()) {
    auto chip = lookupChip(name);
    ASSERT_TRUE(chip) << name.str();
    EXPECT_GE(chip->ptxVersion, chip->minimumPtx) << name.str();
    // Rates of a datasheet: an FMA of every lane, a byte a FLOP at most.
    EXPECT_GT(chip->peakF32, chip->memoryBandwidth) << name.str();
    EXPECT_GT(chip->memoryBandwidth, 1e11) << name.str();
    std::string error;
    EXPECT_TRUE(parseTarget("cuda:" + name.str() + "{ptx=" +
                                formatPtxVersion(chip->ptxVersion) + "}",
                            error))
        << error;
  }
}

TEST(TargetInfo, ClustersThatRunAtOnce) {
  GPUInfo hopper = *lookupChip("sm_90a");
  EXPECT_EQ(hopper.clustersAtOnce(1), 132);
  EXPECT_EQ(hopper.clustersAtOnce(2), 66);
  EXPECT_EQ(hopper.clustersAtOnce(3), 39); // not 44
  EXPECT_EQ(hopper.clustersAtOnce(4), 30); // not 33
  EXPECT_EQ(hopper.clustersAtOnce(5), 0);
  EXPECT_EQ(lookupChip("sm_80")->clustersAtOnce(3), 0);
}

TEST(TargetInfo, CpuPeaksFollowTheVectors) {
  EXPECT_EQ(peakFlopsPerCycle("x86-64-v3", 32), 32);
  EXPECT_EQ(peakFlopsPerCycle("x86-64-v4", 32), 64);
  EXPECT_EQ(peakFlopsPerCycle("x86-64-v4", 64), 32);
}

TEST(TargetInfo, SaysWhatIsWrong) {
  EXPECT_EQ(
      errorOf("gpu"),
      "target 'gpu': expected cpu, cpu:LEVEL or cuda:CHIP (as in cuda:sm_90a)");
  EXPECT_EQ(errorOf("cpu:x86-64-v5"),
            "target 'cpu:x86-64-v5': unknown level 'x86-64-v5', expected "
            "x86-64-v3 or x86-64-v4; did you mean 'x86-64-v3'?");
  EXPECT_NE(errorOf("cuda:sm_91a").find("unknown chip 'sm_91a'"),
            std::string::npos);
  EXPECT_NE(errorOf("cuda:sm_91a").find("did you mean 'sm_90a'?"),
            std::string::npos);
  EXPECT_EQ(errorOf("cuda:sm_90a{ptx=7.8}"),
            "target 'cuda:sm_90a{ptx=7.8}': PTX 7.8 is too old, sm_90a needs "
            "8.0 at least");
  EXPECT_EQ(errorOf("cuda:sm_90a{ptx=9.9}"),
            "target 'cuda:sm_90a{ptx=9.9}': PTX 9.9 is not known; the newest "
            "this compiler emits is 9.0");
  EXPECT_EQ(errorOf("cuda:sm_90a{ptx=new}"),
            "target 'cuda:sm_90a{ptx=new}': expected a PTX version like 8.7, "
            "found 'new'");
  EXPECT_EQ(errorOf("cuda:sm_90a{smem=300K}"),
            "target 'cuda:sm_90a{smem=300K}': expected shared memory of up to "
            "227K for sm_90a, found '300K'");
  EXPECT_EQ(errorOf("cuda:sm_90a{sm=1}"),
            "target 'cuda:sm_90a{sm=1}': unknown option 'sm', expected ptx or "
            "smem (as in {ptx=8.7,smem=99K})");
  EXPECT_EQ(errorOf("cuda:sm_90a{ptx=8.7"),
            "target 'cuda:sm_90a{ptx=8.7': expected '}' at the end");
}

} // namespace
