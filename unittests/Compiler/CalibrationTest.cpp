//===- CalibrationTest.cpp - Costs of a CPU: table, file, fit -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/TargetInfo/CPUCosts.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace prism;
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
  TextDiagnostic diagnostic;
  EXPECT_TRUE(failed(readCalibration(json, "cpu.json", diagnostic))) << json;
  return diagnostic.str();
}

TEST(Calibration, ReadsAFile) {
  TextDiagnostic diagnostic;
  auto calibration = readCalibration(text(), "cpu.json", diagnostic);
  ASSERT_TRUE(succeeded(calibration)) << diagnostic.str();
  ASSERT_EQ(calibration->levels.size(), 1u);
  const CPUCosts &costs = calibration->levels["x86-64-v3"];
  EXPECT_EQ(costs.level, "x86-64-v3");
  EXPECT_EQ(costs.cacheBytes, 1024);
  CPUCounts counts;
  counts[CPUWork::Product] = 3, counts[CPUWork::FarByte] = 4;
  EXPECT_DOUBLE_EQ(costs.timeOf(counts), 3.5);
}

TEST(Calibration, SaysWhatIsWrong) {
  EXPECT_EQ(errorOf("{"), "cpu.json:1:2: error: not JSON: syntax error while "
                          "parsing object key - unexpected end of input; "
                          "expected string literal");
  EXPECT_EQ(errorOf("[1]"),
            "cpu.json:1:1: error: expected an object, found an array");
  EXPECT_EQ(errorOf("{}"),
            "cpu.json:1:1: error: missing key 'prism_calibration'");
  EXPECT_EQ(errorOf(text("\"machine\"", "\"machines\"")),
            "cpu.json:1:26: error: /machines: unknown key 'machines'; did you "
            "mean 'machine'?");
  EXPECT_EQ(errorOf(text("\"machine\"", "\n \"computer\"")),
            "cpu.json:2:2: error: /computer: unknown key 'computer', expected "
            "prism_calibration, machine, cache_bytes or levels");
  EXPECT_EQ(errorOf(text("calibration\": 1", "calibration\": 2")),
            "cpu.json:1:23: error: /prism_calibration: expected 1, found "
            "number 2");
  EXPECT_EQ(errorOf(text("x86-64-v3", "x86-64-v5")),
            "cpu.json:1:83: error: /levels/x86-64-v5: unknown key 'x86-64-v5'; "
            "did you mean 'x86-64-v3'?");
  EXPECT_EQ(errorOf(text("\"tile\"", "\n\"tiles\"")),
            "cpu.json:2:1: error: /levels/x86-64-v3/tiles: unknown key "
            "'tiles'; did you mean 'tile'?");
  EXPECT_EQ(errorOf(text("\"tile\": 0.5, ", "")),
            "cpu.json:1:96: error: /levels/x86-64-v3: missing key 'tile'");
  EXPECT_EQ(errorOf(R"({"prism_calibration": 1, "cache_bytes": 1,
 "levels": {}})"),
            "cpu.json:2:12: error: /levels: expected at least one key, "
            "x86-64-v3 or x86-64-v4, found 0");
  EXPECT_EQ(errorOf(R"({"levels": {}, "levels": {}})"),
            "cpu.json:1:16: error: /levels: duplicate key 'levels'");
}

TEST(Calibration, CostsAreInRange) {
  EXPECT_EQ(errorOf(text("1024", "-1")),
            "cpu.json:1:66: error: /cache_bytes: expected a number from 0 to "
            "1125899906842624, found number -1");
  EXPECT_EQ(errorOf(text("\"tile\": 0.5", "\n\"tile\": null")),
            "cpu.json:2:9: error: /levels/x86-64-v3/tile: expected a number "
            "from 0 to 1000000000, found null");
  EXPECT_EQ(errorOf(text("\"tile\": 0.5", "\n\"tile\": 1e300")),
            "cpu.json:2:9: error: /levels/x86-64-v3/tile: expected a number "
            "from 0 to 1000000000, found number 1e+300");
  EXPECT_EQ(errorOf(text("\"tile\": 0.5", "\n\"tile\": 1e999")),
            "cpu.json:2:9: error: /levels/x86-64-v3/tile: not JSON: number "
            "out of range");
  for (const char *least : {"0", "1e-10"})
    EXPECT_EQ(errorOf(text("\"product\": 0.5",
                           "\n\"product\": " + std::string(least))),
              "cpu.json:2:12: error: /levels/x86-64-v3/product: expected a "
              "number from 1e-09 to 1000000000, found number " +
                  std::string(least[1] ? least : "0"));
  // What is just within.
  TextDiagnostic diagnostic;
  for (const char *cost : {"1e-9", "1e9"})
    EXPECT_TRUE(succeeded(readCalibration(
        text("\"product\": 0.5", "\"product\": " + std::string(cost)),
        "cpu.json", diagnostic)))
        << diagnostic.str();
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
