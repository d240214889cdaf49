//===- SegmentsTest.cpp - Into how many segments --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Segments.h"
#include "TestEntry.h"

using namespace mlir;
using namespace prism;

namespace {

/// 132 multiprocessors; two blocks a head, and for its maps two wide ones.
SegmentCosts hopper() { return {132, 64, 2, 2, true, true}; }

TEST(BestSegments, FewHeadsFillTheChip) {
  // 8 heads x 2 blocks x 8 segments = 128 of 132.
  EXPECT_EQ(bestSegments(hopper(), 8192, 8), 8);
  EXPECT_EQ(bestSegments(hopper(), 8192, 16), 4);
  // As many blocks as multiprocessors, or half as many: maps and segments cost
  // more than they save.
  EXPECT_EQ(bestSegments(hopper(), 8192, 32), 1);
  EXPECT_EQ(bestSegments(hopper(), 8192, 66), 1);
  EXPECT_EQ(bestSegments(hopper(), 8192, 1000), 1);
}

TEST(BestSegments, SegmentsKeepSomeChunks) {
  // Fewer than four chunks for each of two.
  EXPECT_EQ(bestSegments(hopper(), 7 * 64, 1), 1);
  EXPECT_EQ(bestSegments(hopper(), 0, 1), 1);
  for (int64_t steps : {512, 1000, 4096, 100000})
    for (int64_t heads : {1, 2, 5, 11})
      EXPECT_LE(bestSegments(hopper(), steps, heads) * 4,
                llvm::divideCeil(steps, 64) + 4)
          << steps << " steps, " << heads << " heads";
}

TEST(BestSegments, WithoutSystemsMapsAreCheap) {
  // A wide block a head; the one column of a diagonal map is known, or has
  // another.
  SegmentCosts known = {132, 64, 1, 1, true, false},
               stepped = {132, 64, 1, 2, true, false};
  // 16 heads x 8 segments = 128 blocks of 132.
  EXPECT_EQ(bestSegments(known, 8192, 16), 8);
  // Two blocks of maps a head are two waves: half as long each.
  EXPECT_EQ(bestSegments(stepped, 8192, 16), 8);
  EXPECT_EQ(bestSegments(known, 8192, 64), 1);
  EXPECT_EQ(bestSegments(stepped, 8192, 64), 1);
}

TEST(BestSegments, NarrowMapsNeedTwiceTheBlocks) {
  SegmentCosts narrow = hopper();
  narrow.mapBlocks = 4;
  narrow.wideMaps = false;
  // Maps of two segments fill the chip already.
  EXPECT_EQ(bestSegments(narrow, 8192, 16), 3);
}

TEST(BestSegments, WholeSequencesWithBlocksThatPrepareAreFaster) {
  SegmentCosts costs = hopper();
  EXPECT_EQ(bestSegments(costs, 1536, 16), 4);
  costs.apartHeads = 16;
  EXPECT_EQ(bestSegments(costs, 1536, 16), 1);
  EXPECT_EQ(bestSegments(costs, 8192, 8), 8);
  costs.apartHeads = 15;
  EXPECT_EQ(bestSegments(costs, 1536, 16), 4);
}

/// 16 heads of 128 columns, a warp each, of which a step reads 6 bytes and
/// writes 2, with about 40 instructions an element; 528 schedulers.
StepCosts elementwise() {
  StepCosts costs;
  costs.inputBytes = 6 * 128;
  costs.outputBytes = 2 * 128;
  costs.instructions = 164;
  costs.mapInstructions = 156;
  costs.schedulers = 528;
  costs.mapsTogether = 16;
  costs.bandwidth = 4.2e6;
  return costs;
}

TEST(StepCosts, AStepWaitsForTheOneBefore) {
  // 8192 steps of 366 cycles.
  EXPECT_NEAR(elementwise().time(1, 8192, 1), 1766, 5);
  EXPECT_EQ(elementwise().time(1, 8192, 1), elementwise().time(1, 8192, 528));
}

TEST(StepCosts, BytesAreReadTwiceInSegments) {
  // 64 sequences: 8.6 GB whole, 6.4 GB more for maps.
  EXPECT_NEAR(elementwise().time(1, 8192, 1024), 2045, 5);
  EXPECT_NEAR(elementwise().time(8, 8192, 1024), 2045 + 1343, 20);
  EXPECT_EQ(elementwise().bestSegments(8192, 1024), 1);
}

TEST(StepCosts, FewChannelsAreSplit) {
  EXPECT_EQ(elementwise().bestSegments(8192, 16), 64);
  EXPECT_GE(elementwise().bestSegments(32768, 16), 64);
  EXPECT_GE(elementwise().bestSegments(8192, 64), 8);
  EXPECT_LT(elementwise().time(64, 8192, 16),
            elementwise().time(1, 8192, 16) / 15);
}

TEST(StepCosts, SegmentsKeepSomeSteps) {
  EXPECT_EQ(elementwise().bestSegments(0, 1), 1);
  EXPECT_EQ(elementwise().bestSegments(31, 1), 1);
  for (int64_t steps : {64, 100, 256, 1000})
    EXPECT_LE(elementwise().bestSegments(steps, 1) * 16, steps);
}

/// A unit that splits, of a model with two blocks of value columns.
struct Rows : testing::Test {
  test::Context context;
  OwningOpRef<ModuleOp> module;
  std::vector<Unit> units;
  void SetUp() override {
    build(R"({"prism_spec": 1, "family": "gated_deltanet", "name": "g",
              "dims": {"B": null, "T": null, "H": 2, "K": 128, "V": 128},
              "dtype": {"io": "bf16"}, "entries": ["forward"]})");
  }
  void build(const char *spec) {
    module = test::importText(spec, context.mlir);
    std::string error;
    auto target = targetinfo::parseTarget("cuda:sm_90a", error);
    auto found = buildUnits(*module->getOps<func::FuncOp>().begin(), *target,
                            CompileOptions());
    ASSERT_TRUE(succeeded(found));
    units = std::move(*found);
  }
  const Unit &split() {
    return *llvm::find_if(units, [](const Unit &u) { return u.isSplit(); });
  }
};

TEST_F(Rows, EveryCallFindsItsRow) {
  std::vector<runtime::ChoiceRow> whole = {
      {runtime::Target::Cuda, INT64_MAX, 66, "chunk", 64},
      {runtime::Target::Cuda, INT64_MAX, INT64_MAX, "chunk", 128}};
  std::vector<runtime::ChoiceRow> rows = addSegmentRows(split(), whole);
  SegmentCosts costs = costsOf(split());
  EXPECT_EQ(costs.blocks, 2);
  EXPECT_EQ(costs.mapBlocks, 2);
  EXPECT_TRUE(costs.wideMaps);
  EXPECT_EQ(costs.apartHeads, 39);
  auto find = [&](int64_t steps, int64_t heads) {
    return *llvm::find_if(rows, [&](const runtime::ChoiceRow &row) {
      return steps <= row.maxSteps && heads <= row.maxHeads;
    });
  };
  // The bounds of the rows are the cost function's own.
  for (int64_t steps : {512, 1024, 2048, 4096, 8192, 16384, 32768, 65536})
    for (int64_t heads : {1, 2, 4, 8, 16, 32, 64})
      EXPECT_EQ(find(steps, heads).segments, bestSegments(costs, steps, heads))
          << steps << " steps, " << heads << " heads";
  EXPECT_EQ(find(8192, 8).valueBlock, 0);
  EXPECT_EQ(find(8192, 64).valueBlock, 64);
  EXPECT_EQ(find(8192, 67).valueBlock, 128);
  EXPECT_EQ(find(INT64_MAX, INT64_MAX).valueBlock, 128);
  EXPECT_GT(find(INT64_MAX, 1).segments, 8);
}

TEST_F(Rows, ElementwiseStepsAreSplitByTheirCosts) {
  build(R"({"prism_spec": 1, "family": "hgrn", "name": "h",
            "dims": {"B": null, "T": null, "H": 16, "V": 256},
            "dtype": {"io": "bf16"}, "entries": ["forward"]})");
  SegmentCosts costs = costsOf(split());
  ASSERT_TRUE(costs.steps);
  EXPECT_EQ(costs.steps->inputBytes, 6 * 256);
  EXPECT_EQ(costs.steps->outputBytes, 2 * 256);
  EXPECT_EQ(costs.steps->warps, 2);
  EXPECT_EQ(costs.steps->mapsTogether, 16);
  EXPECT_EQ(costs.steps->schedulers, 528);
  EXPECT_NEAR(costs.steps->instructions, 164, 8);
  EXPECT_NEAR(costs.steps->mapInstructions, 156, 8);
  std::vector<runtime::ChoiceRow> rows = addSegmentRows(
      split(), {{runtime::Target::Cuda, INT64_MAX, INT64_MAX, "recurrent"}});
  for (int64_t steps : {128, 512, 8192, 32768})
    for (int64_t heads : {1, 16, 64, 256, 1024}) {
      auto found = llvm::find_if(rows, [&](const runtime::ChoiceRow &row) {
        return steps <= row.maxSteps && heads <= row.maxHeads;
      });
      EXPECT_EQ(found->segments, bestSegments(costs, steps, heads))
          << steps << " steps, " << heads << " heads";
      EXPECT_EQ(found->schedule, "recurrent");
    }
}

TEST_F(Rows, ParametersAreNoWorkOfAStep) {
  build(R"({"prism_spec": 1, "family": "mamba", "name": "m",
            "dims": {"B": null, "T": null, "H": 1, "K": 16, "V": 64},
            "dtype": {"io": "f32"}, "entries": ["forward"]})");
  SegmentCosts costs = costsOf(split());
  ASSERT_TRUE(costs.steps);
  EXPECT_EQ(costs.steps->warps, 2);
  EXPECT_EQ(costs.steps->mapsTogether, 4);
  // Of 16 elements each an exponential, an injection and a read; not that of
  // A_log, which is taken before the loop.
  EXPECT_GT(costs.steps->instructions, 16 * 12);
  EXPECT_LT(costs.steps->instructions, 16 * 26);
}

} // namespace
