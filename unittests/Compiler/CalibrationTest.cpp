//===- CalibrationTest.cpp - Costs of a CPU: table, file, fit -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/TargetInfo/CPUCosts.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace prism::targetinfo;

namespace {

/// A file with every cost 0.5, but for `replaced` in place of one text.
std::string text(llvm::StringRef from = "", llvm::StringRef to = "") {
  std::string all = R"({"prism_calibration": 1, "machine": {"cpu": "x"}, )"
                    R"("cache_bytes": 1024, "levels": {"x86-64-v3": {)";
  for (llvm::StringRef name : cpuWorkNames())
    all += "\"" + name.str() + "\": 0.5, ";
  all.resize(all.size() - 2);
  all += "}}}";
  if (size_t at = all.find(from.str()); !from.empty())
    all.replace(at, from.size(), to.str());
  return all;
}

std::string errorOf(const std::string &json) {
  auto calibration = readCalibration(json, "cpu.json");
  EXPECT_FALSE(bool(calibration)) << json;
  return calibration ? "" : llvm::toString(calibration.takeError());
}

TEST(Calibration, ReadsAFile) {
  auto calibration = readCalibration(text(), "cpu.json");
  ASSERT_TRUE(bool(calibration)) << llvm::toString(calibration.takeError());
  ASSERT_EQ(calibration->levels.size(), 1u);
  const CPUCosts &costs = calibration->levels["x86-64-v3"];
  EXPECT_EQ(costs.level, "x86-64-v3");
  EXPECT_EQ(costs.cacheBytes, 1024);
  CPUCounts counts;
  counts[CPUWork::Product] = 3, counts[CPUWork::FarByte] = 4;
  EXPECT_DOUBLE_EQ(costs.timeOf(counts), 3.5);
}

TEST(Calibration, SaysWhatIsWrong) {
  EXPECT_EQ(errorOf("{"), "cpu.json: /: is not JSON");
  EXPECT_EQ(errorOf("[1]"), "cpu.json: /: expected an object, found [1]");
  EXPECT_EQ(errorOf("{}"), "cpu.json: /: the key 'prism_calibration' is "
                           "missing; prism-calibrate writes calibration files");
  EXPECT_EQ(errorOf(text("\"machine\"", "\"machines\"")),
            "cpu.json: /machines: is not a key of a calibration "
            "(prism_calibration, machine, cache_bytes, levels); did you mean "
            "'machine'?");
  EXPECT_EQ(errorOf(text("calibration\": 1", "calibration\": 2")),
            "cpu.json: /prism_calibration: expected the version 1, found 2");
  EXPECT_EQ(errorOf(text("1024", "-1")), "cpu.json: /cache_bytes: expected a "
                                         "number of at least 0, found -1");
  EXPECT_EQ(errorOf(text("x86-64-v3", "x86-64-v5")),
            "cpu.json: /levels/x86-64-v5: is not a level (x86-64-v3, "
            "x86-64-v4); did you mean 'x86-64-v3'?");
  EXPECT_EQ(errorOf(text("\"tile\": 0.5", "\"tile\": null")),
            "cpu.json: /levels/x86-64-v3/tile: expected a number of at least "
            "0, found null");
  EXPECT_EQ(errorOf(text("\"tile\"", "\"tiles\"")),
            "cpu.json: /levels/x86-64-v3/tiles: is not a cost (product, "
            "masked_product, decayed_product, state_vector, transpose, "
            "function, elementwise, tile, chunk, step_read, step_update, "
            "near_byte, far_byte); did you mean 'tile'?");
  EXPECT_EQ(errorOf(text("\"tile\": 0.5, ", "")),
            "cpu.json: /levels/x86-64-v3: the cost 'tile' is missing");
  EXPECT_EQ(errorOf(text("\"product\": 0.5", "\"product\": 0")),
            "cpu.json: /levels/x86-64-v3/product: expected a number above 0, "
            "found 0");
  EXPECT_EQ(errorOf(R"({"prism_calibration": 1, "cache_bytes": 1,
                        "levels": {}})"),
            "cpu.json: /levels: expected an object with the costs of at least "
            "one level, found {}");
}

TEST(Calibration, TheTableHasEveryLevel) {
  for (llvm::StringRef level : {"x86-64-v3", "x86-64-v4"}) {
    CPUCosts costs = builtinCPUCosts(level);
    EXPECT_EQ(costs.level, level);
    for (double ns : costs.ns)
      EXPECT_GE(ns, 0) << level.str();
    EXPECT_GT(costs.ns[size_t(CPUWork::Product)], 0);
  }
}

TEST(Calibration, TheFitFindsTheCosts) {
  // Exact times of kernels with known costs, two kinds of which cost nothing.
  std::array<double, kNumCPUWork> truth = {};
  truth[size_t(CPUWork::Product)] = 0.25, truth[size_t(CPUWork::Chunk)] = 4;
  std::vector<CPUSample> samples;
  for (int i = 1; i <= 6; ++i) {
    CPUSample sample;
    sample.counts[CPUWork::Product] = 100 * i * i;
    sample.counts[CPUWork::Chunk] = i;
    sample.counts[CPUWork::Tile] = i % 3;
    for (size_t k = 0; k < kNumCPUWork; ++k)
      sample.ns += truth[k] * sample.counts.of[k];
    samples.push_back(sample);
  }
  auto costs = fitCPUCosts(samples);
  for (size_t k = 0; k < kNumCPUWork; ++k)
    EXPECT_NEAR(costs[k], truth[k], 1e-6) << cpuWorkNames()[k].str();
}

TEST(Calibration, TheFitGivesNoNegativeCosts) {
  // The second kernel has one tile more, and is faster.
  std::vector<CPUSample> samples(2);
  samples[0].counts[CPUWork::Product] = samples[1].counts[CPUWork::Product] = 1;
  samples[1].counts[CPUWork::Tile] = 1;
  samples[0].ns = 2, samples[1].ns = 1;
  auto costs = fitCPUCosts(samples);
  EXPECT_EQ(costs[size_t(CPUWork::Tile)], 0);
  // The least of (c/2 - 1)^2 + (c - 1)^2.
  EXPECT_NEAR(costs[size_t(CPUWork::Product)], 1.2, 1e-9);
}

} // namespace
