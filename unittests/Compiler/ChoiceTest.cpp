//===- ChoiceTest.cpp - Which kernel, in how many segments ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Choice.h"
#include "GpuUnits.h"

using namespace prism;

namespace {

/// 132 multiprocessors. Two narrow blocks a head or a wide one; a third that
/// only prepares, of which 39 clusters run at once.
struct Solving : testing::Test {
  test::GpuUnits model{"gated_deltanet", 2};
  KernelChoice choice{model.chunked()};

  int64_t blockFor(int64_t heads) {
    return choice.whole(heads).plan.getValueBlock();
  }
};

TEST_F(Solving, AsManyHeadsAsRunAtOnce) {
  for (int64_t heads : {1, 16, 39})
    EXPECT_EQ(choice.whole(heads).prepareBlocks(), 1) << heads;
  for (int64_t heads : {40, 66}) {
    EXPECT_EQ(choice.whole(heads).prepareBlocks(), 0) << heads;
    EXPECT_EQ(blockFor(heads), 64) << heads;
  }
  // Two waves of clusters with a third block, then one of wide blocks: they are
  // faster than a second wave of narrow ones.
  EXPECT_EQ(choice.whole(78).prepareBlocks(), 1);
  EXPECT_EQ(blockFor(79), 128);
  EXPECT_EQ(blockFor(132), 128);
  // Three waves of narrow ones are faster than two of wide ones.
  EXPECT_EQ(blockFor(160), 64);
  EXPECT_EQ(blockFor(264), 128);
  EXPECT_EQ(blockFor(1 << 20), 128);
}

TEST_F(Solving, FewHeadsFillTheChip) {
  // 8 heads x 2 blocks x 8 segments = 128 of 132.
  EXPECT_EQ(choice.segments(8192, 8), 8);
  EXPECT_EQ(choice.segments(8192, 16), 4);
  // As many blocks as multiprocessors, or half as many: maps and segments cost
  // more than they save.
  EXPECT_EQ(choice.segments(8192, 32), 1);
  EXPECT_EQ(choice.segments(8192, 66), 1);
  EXPECT_EQ(choice.segments(8192, 1000), 1);
}

TEST_F(Solving, SegmentsKeepSomeChunks) {
  // Fewer than four chunks for each of two.
  EXPECT_EQ(choice.segments(7 * 64, 1), 1);
  EXPECT_EQ(choice.segments(0, 1), 1);
  for (int64_t steps : {512, 1000, 4096, 100000})
    for (int64_t heads : {1, 2, 5, 11}) {
      int64_t chunks = llvm::divideCeil(steps, 64);
      EXPECT_LE(choice.segments(steps, heads) * 4, chunks + 4)
          << steps << " steps, " << heads << " heads";
    }
}

TEST_F(Solving, EveryCallFindsItsRow) {
  std::vector<runtime::ChoiceRow> rows = choice.rows();
  auto find = [&](int64_t steps, int64_t heads) {
    return *llvm::find_if(rows, [&](const runtime::ChoiceRow &row) {
      return steps <= row.maxSteps && heads <= row.maxHeads;
    });
  };
  // The bounds of the rows are the predictions' own.
  for (int64_t steps : {512, 1024, 2048, 4096, 8192, 16384, 32768, 65536})
    for (int64_t heads : {1, 2, 4, 8, 16, 32, 64})
      EXPECT_EQ(find(steps, heads).segments, choice.segments(steps, heads))
          << steps << " steps, " << heads << " heads";
  EXPECT_EQ(find(8192, 8).valueBlock, 0); // one kernel splits
  EXPECT_EQ(find(8192, 64).valueBlock, 64);
  EXPECT_EQ(find(8192, 100).valueBlock, 128);
  EXPECT_EQ(find(INT64_MAX, INT64_MAX).valueBlock, 128);
  EXPECT_GT(find(INT64_MAX, 1).segments, 8);
}

TEST(Choice, WithoutSystemsMapsAreCheap) {
  test::GpuUnits model("retnet", 2);
  KernelChoice choice(model.chunked());
  // A wide block a head, and maps that are known: 16 heads x 8 segments = 128
  // blocks of 132.
  EXPECT_EQ(choice.segments(8192, 16), 8);
  EXPECT_EQ(choice.segments(8192, 64), 1);
}

TEST(Choice, OneKernelHasOneRange) {
  test::GpuUnits model("kda", 2); // narrow blocks alone
  std::vector<HeadRange> ranges = KernelChoice(model.chunked()).wholeRanges();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges.front().maxHeads, INT64_MAX);
}

TEST(Choice, OfTwoThatAreAlikeTheFirst) {
  test::GpuUnits model("kda", 2), same("kda", 2);
  std::vector<Unit> units;
  units.push_back(std::move(model.units.front()));
  units.push_back(std::move(same.units.front()));
  sayWhichHeads(units);
  EXPECT_EQ(units[0].remarks.back().text,
            "for any number of sequences x value heads, by predicted time");
  EXPECT_EQ(units[1].remarks.back().text,
            "for callers who ask for it: others are predicted to be as fast "
            "for any number of heads");
}

TEST(Choice, ChipsWithoutPredictionsHaveOneKernel) {
  test::GpuUnits model("gated_deltanet", 2, "cuda:sm_80");
  std::vector<HeadRange> ranges = KernelChoice(model.chunked()).wholeRanges();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(KernelChoice(model.chunked()).rows().size(), 1u);
}

} // namespace
