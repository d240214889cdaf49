//===- StepSegmentsTest.cpp - Segments of elementwise steps ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "StepSegments.h"
#include "Choice.h"
#include "GpuUnits.h"

using namespace prism;

namespace {

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
  // 8192 steps of hypot(366, 164) cycles.
  EXPECT_NEAR(elementwise().time(1, 8192, 1), 1935, 5);
  EXPECT_EQ(elementwise().time(1, 8192, 1), elementwise().time(1, 8192, 528));
}

TEST(StepCosts, BytesAreReadTwiceInSegments) {
  // 64 sequences: 8.6 GB whole, 6.4 GB more for maps.
  StepCosts costs = elementwise();
  costs.instructions = costs.mapInstructions = 82;
  EXPECT_NEAR(costs.time(1, 8192, 1024), 2045, 5);
  EXPECT_NEAR(costs.time(8, 8192, 1024), 2045 + 1343, 20);
  EXPECT_EQ(costs.bestSegments(8192, 1024), 1);
}

/// Cycles of a step of minGRU, whose 307 instructions take 606 cycles alone,
/// measured for 1, 2, 4 and 8 warps of a scheduler.
TEST(StepCosts, WarpsOfASchedulerAreLateForEachOther) {
  StepCosts costs = elementwise();
  costs.instructions = 307;
  for (auto [warps, cycles] :
       {std::pair(1, 663.0), {2, 810.0}, {4, 1313.0}, {8, 2529.0}})
    EXPECT_NEAR(costs.time(1, 8192, 528 * warps) * 1700 / 8192 / cycles, 1,
                0.08)
        << warps;
}

TEST(StepCosts, FewChannelsAreSplit) {
  EXPECT_EQ(elementwise().bestSegments(8192, 16), 96);
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

TEST(StepUnits, AreSplitByTheirCosts) {
  test::GpuUnits model(R"({"prism_spec": 1, "family": "hgrn", "name": "h",
            "dims": {"B": null, "T": null, "H": 16, "V": 256},
            "dtype": {"io": "bf16"}, "entries": ["forward"]})");
  ASSERT_EQ(model.units.size(), 2u);
  StepCosts costs = StepCosts::of(model.units.back());
  EXPECT_EQ(costs.inputBytes, 6 * 256);
  EXPECT_EQ(costs.outputBytes, 2 * 256);
  EXPECT_EQ(costs.warps, 2);
  EXPECT_EQ(costs.mapsTogether, 16);
  EXPECT_EQ(costs.schedulers, 528);
  EXPECT_NEAR(costs.instructions, 164, 8);
  EXPECT_NEAR(costs.mapInstructions, 156, 8);
  KernelChoice choice(model.units);
  std::vector<runtime::ChoiceRow> rows = choice.rows();
  for (int64_t steps : {128, 512, 8192, 32768})
    for (int64_t heads : {1, 16, 64, 256, 1024}) {
      auto found = llvm::find_if(rows, [&](const runtime::ChoiceRow &row) {
        return steps <= row.maxSteps && heads <= row.maxHeads;
      });
      EXPECT_EQ(found->segments, choice.segments(steps, heads))
          << steps << " steps, " << heads << " heads";
      EXPECT_EQ(found->schedule, "recurrent");
    }
}

TEST(StepUnits, ParametersAreNoWorkOfAStep) {
  test::GpuUnits model(R"({"prism_spec": 1, "family": "mamba", "name": "m",
            "dims": {"B": null, "T": null, "H": 1, "K": 16, "V": 64},
            "dtype": {"io": "f32"}, "entries": ["forward"]})");
  ASSERT_EQ(model.units.size(), 2u);
  StepCosts costs = StepCosts::of(model.units.back());
  EXPECT_EQ(costs.warps, 2);
  EXPECT_EQ(costs.mapsTogether, 4);
  // Of 16 elements each an exponential, an injection and a read; not that of
  // A_log, which is taken before the loop.
  EXPECT_GT(costs.instructions, 16 * 12);
  EXPECT_LT(costs.instructions, 16 * 26);
}

} // namespace
