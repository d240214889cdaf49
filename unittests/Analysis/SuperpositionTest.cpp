//===- SuperpositionTest.cpp - The analysis against values ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// On random steps: what the analysis calls affine must keep sums when it is
// evaluated, and what it refuses has one located error with a path. A few
// thousand regions each; PRISM_REGIONS and PRISM_SEED run others.
//
//===----------------------------------------------------------------------===//

#include "RandomRegion.h"
#include "StateMap.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cstdlib>

using namespace mlir;
using namespace prism;
using namespace prism::analysis;

static uint64_t fromEnvironment(const char *name, uint64_t usual) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : usual;
}

namespace {
struct Counts {
  uint64_t regions = 0, proved = 0, affine = 0, undefined = 0;
};
} // namespace

/// Of the regions whose values could be told, how many are affine by value and
/// how many of those the analysis proved.
static Counts runRegions(uint64_t count, bool affineOnly) {
  Counts counts;
  TestContext test;
  uint64_t first = fromEnvironment("PRISM_SEED", 1) * 1000003;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    std::string text = makeRandomRegion(seed, affineOnly);
    auto module = parseSourceString<ModuleOp>(text, &test.context);
    if (!module) {
      ADD_FAILURE() << "seed " << seed << ": " << test.messages << text;
      return counts;
    }
    ++counts.regions;
    StateMap map(*module, /*steps=*/1, seed);
    bool proved = false;
    {
      StateFlow flow(map.recurrence);
      proved = flow.granularity() == Granularity::token;
      test.errors = test.notes = test.unlocated = 0;
      test.messages.clear();
      if (!proved) {
        flow.report(Granularity::token);
        EXPECT_EQ(test.errors, 1u) << test.messages << text;
        EXPECT_GE(test.notes, 1u) << test.messages << text;
        EXPECT_EQ(test.unlocated, 0u) << test.messages << text;
        EXPECT_NE(test.messages.find("state"), std::string::npos);
      }
    }
    std::optional<double> residual = map.residual();
    if (!residual) {
      ++counts.undefined;
      continue;
    }
    bool affine = *residual < 1e-7;
    EXPECT_TRUE(affine || !proved)
        << "seed " << seed << ": proved, but the residual is " << *residual
        << text;
    counts.affine += affine;
    counts.proved += affine && proved;
    if (testing::Test::HasFailure())
      return counts;
  }
  return counts;
}

static void print(const char *what, const Counts &counts) {
  std::printf("%s: %llu regions, %llu undefined, %llu affine by value, %llu of "
              "them proved (%.1f %%)\n",
              what, (unsigned long long)counts.regions,
              (unsigned long long)counts.undefined,
              (unsigned long long)counts.affine,
              (unsigned long long)counts.proved,
              100.0 * double(counts.proved) / double(counts.affine));
}

TEST(Superposition, NeverYesOfWhatIsNotAffine) {
  Counts counts = runRegions(fromEnvironment("PRISM_REGIONS", 2000), false);
  print("any ops", counts);
  EXPECT_GT(counts.proved * 10, counts.regions);
  EXPECT_GT((counts.regions - counts.affine) * 20, counts.regions);
}

TEST(Superposition, AffineRegionsAreProved) {
  Counts counts = runRegions(fromEnvironment("PRISM_REGIONS", 2000), true);
  print("affine by construction", counts);
  EXPECT_EQ(counts.affine + counts.undefined, counts.regions);
  EXPECT_GT(counts.proved * 100, counts.affine * 95);
}
