//===- PredictTest.cpp - Predicted times of launches on GPUs --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Predict.h"
#include "GpuUnits.h"

using namespace prism;
using namespace prism::targetinfo;
using Kind = GPULaunch::Kind;

namespace {

/// A chunk of one unit of chain and one of preparation, 1 us each.
GPUCosts simple() {
  GPUCosts costs{"nothing", {}};
  costs.us[size_t(GPUWork::Chain)] = costs.us[size_t(GPUWork::Prepare)] = 1;
  costs.bytes = 1e6;
  costs.overlap = 40;
  return costs;
}

GPULaunch roles(double iterations, double waves = 1) {
  GPULaunch launch;
  launch.kind = Kind::Roles;
  launch.work[GPUWork::Chain] = launch.work[GPUWork::Prepare] = 1;
  launch.iterations = iterations;
  launch.waves = waves;
  return launch;
}

GPUInfo hopper() { return *lookupChip("sm_90a"); }

TEST(PredictLaunches, ChunksAndWaves) {
  GPUCosts costs = simple();
  EXPECT_NEAR(*predictLaunches(costs, hopper(), roles(10)), 20, 1e-6);
  EXPECT_NEAR(*predictLaunches(costs, hopper(), roles(10, 3)), 60, 1e-6);
  costs.wave = 2;
  costs.start = 3;
  costs.call = 4;
  EXPECT_NEAR(*predictLaunches(costs, hopper(), roles(10, 3)), 73, 1e-6);
  // Two launches are one call.
  EXPECT_NEAR(*predictLaunches(costs, hopper(), {roles(10), roles(10)}), 54,
              1e-6);
}

TEST(PredictLaunches, ThePreparationIsShared) {
  GPUCosts costs = simple();
  costs.furtherTeam = 0.5;
  GPULaunch launch = roles(10);
  launch.turns = 2;
  EXPECT_NEAR(*predictLaunches(costs, hopper(), launch), 15, 1e-6);
  launch.turns = 1;
  launch.teams = 3; // 1 + 2 * 0.5 beside the chain
  EXPECT_NEAR(*predictLaunches(costs, hopper(), launch), 15, 1e-6);
  launch.isApart = true; // all three
  EXPECT_NEAR(*predictLaunches(costs, hopper(), launch), 10 + 10. / 3, 1e-6);
}

TEST(PredictLaunches, NotFasterThanTheMemory) {
  GPULaunch launch = roles(10);
  launch.bytes = 1e8;
  EXPECT_NEAR(*predictLaunches(simple(), hopper(), launch), 100, 1e-3);
  GPULaunch step;
  step.kind = Kind::Steps;
  step.iterations = 1;
  step.bytes = 5e6;
  GPUCosts costs = simple();
  costs.call = 4;
  costs.stepsStart = 2;
  costs.step = 1;
  // One step follows another: what a call takes is hidden.
  EXPECT_NEAR(*predictLaunches(costs, hopper(), step), 7, 1e-6);
  step.iterations = 100;
  EXPECT_NEAR(*predictLaunches(costs, hopper(), step), 106, 1e-6);
}

TEST(PredictLaunches, StatesOfSegmentsHaveAFloor) {
  GPUCosts costs = simple();
  costs.matrixStep = 2;
  costs.matrixHead = 0.25;
  GPULaunch launch;
  launch.kind = Kind::Matrices;
  launch.iterations = 7;
  launch.heads = 4;
  EXPECT_NEAR(*predictLaunches(costs, hopper(), launch), 14, 1e-6);
  launch.heads = 32;
  EXPECT_NEAR(*predictLaunches(costs, hopper(), launch), 56, 1e-6);
}

/// Of the maps before it a wave's last segment folds most; of several waves
/// each has as many more as the one before.
TEST(PredictLaunches, SegmentsFoldMaps) {
  GPUCosts costs = simple();
  costs.foldStart = 3;
  costs.foldBytes = 1e3;
  GPULaunch launch = roles(10);
  launch.folds = 7;
  launch.foldBytes = 1e3;
  EXPECT_NEAR(*predictLaunches(costs, hopper(), launch), 30, 1e-6);
  launch.waves = 3;
  EXPECT_NEAR(*predictLaunches(costs, hopper(), launch), 80, 1e-6);
  launch.folds = 0;
  EXPECT_NEAR(*predictLaunches(costs, hopper(), launch), 60, 1e-6);
}

TEST(Prediction, FoldedMapsAreNoLaunch) {
  test::GpuUnits model("retnet", 16);
  const Unit *unit = model.find(0, 0, /*isSplit=*/true);
  ASSERT_TRUE(unit);
  EXPECT_TRUE(unit->foldsMaps());
  auto prediction = Prediction::of(*unit);
  ASSERT_TRUE(prediction);
  auto launches = prediction->launches(8192, 16, 8);
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].waves, 1); // blocks of M, which is known, take no steps
  EXPECT_EQ(launches[0].folds, 0);
  EXPECT_EQ(launches[1].folds, 7);
  EXPECT_EQ(launches[1].foldBytes, 128 * 128 * 4);
  test::GpuUnits other("deltanet", 16);
  unit = other.find(0, 0, /*isSplit=*/true);
  ASSERT_TRUE(unit);
  EXPECT_FALSE(unit->foldsMaps());
  EXPECT_EQ(Prediction::of(*unit)->launches(8192, 16, 8).size(), 3u);
}

TEST(PredictLaunches, WhatWasNotMeasuredHasNoTime) {
  GPULaunch launch;
  launch.iterations = 1;
  EXPECT_EQ(predictLaunches(simple(), hopper(), launch), std::nullopt);
  for (llvm::StringRef chip : chipNames())
    EXPECT_EQ(gpuCosts(*lookupChip(chip)) != nullptr,
              chip == "sm_90" || chip == "sm_90a")
        << chip.str();
}

/// Medians of one H200, 2026-11-30: 16 value heads a sequence, microseconds.
struct Recorded {
  const char *family;
  int64_t valueBlock, prepareBlocks, segments, steps, sequences;
  double measured;
};

TEST(Prediction, RecordedTimes) {
  constexpr Recorded kRows[] = {{"gated_deltanet", 64, 1, 1, 32768, 1, 615.6},
                                {"gated_deltanet", 64, 0, 1, 32768, 1, 755.1},
                                {"gated_deltanet", 128, 0, 1, 32768, 1, 1399.2},
                                {"gated_deltanet", 64, 0, 4, 32768, 1, 500.7},
                                {"gated_deltanet", 128, 0, 1, 4096, 8, 194.8},
                                {"gated_deltanet", 64, 0, 1, 4096, 8, 218.9},
                                {"deltanet", 64, 0, 4, 8192, 1, 124.4},
                                {"retnet", 64, 0, 1, 32768, 1, 504.7},
                                {"retnet", 128, 0, 1, 32768, 1, 738.5},
                                {"retnet", 128, 0, 8, 32768, 1, 213.6},
                                {"retnet", 128, 0, 8, 8192, 1, 71.5},
                                {"retnet", 64, 0, 1, 4096, 8, 150.9},
                                // Not fitted to.
                                {"kda", 64, 0, 3, 32768, 1, 1243.9},
                                {"rwkv7", 64, 0, 3, 8192, 1, 780.8},
                                {"gla", 64, 0, 3, 8192, 1, 216.8}};
  constexpr int64_t kHeads = 16;
  std::map<std::string, std::unique_ptr<test::GpuUnits>> models;
  for (const Recorded &row : kRows) {
    auto &model = models[row.family];
    if (!model)
      model = std::make_unique<test::GpuUnits>(row.family, kHeads);
    const Unit *unit =
        model->find(row.valueBlock, row.prepareBlocks, row.segments > 1);
    ASSERT_TRUE(unit) << row.family;
    auto prediction = Prediction::of(*unit);
    ASSERT_TRUE(prediction) << row.family;
    auto time =
        prediction->time(row.steps, row.sequences * kHeads, row.segments);
    ASSERT_TRUE(time) << row.family;
    EXPECT_LT(std::abs(*time / row.measured - 1), 0.15)
        << row.family << ", value block " << row.valueBlock << ", "
        << row.prepareBlocks << " prepare_blocks, " << row.segments
        << " segments, " << row.steps << " steps: predicted " << *time
        << ", measured " << row.measured;
  }
}

TEST(Prediction, NoneWithoutMeasurements) {
  test::GpuUnits plain("gated_deltanet", 2, "cuda:sm_80");
  ASSERT_FALSE(plain.units.empty());
  for (const Unit &unit : plain.units)
    EXPECT_FALSE(Prediction::of(unit));
}

} // namespace
