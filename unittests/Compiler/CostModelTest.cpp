//===- CostModelTest.cpp - Predicted times of plans -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Scan/Transforms/CostModel.h"
#include "gtest/gtest.h"

using namespace prism::scan;
using namespace prism::targetinfo;

namespace {

/// S + k v^T, read; 16 keys and values.
ScanWork write16() {
  ScanWork work;
  work.keys = work.values = 16;
  work.writers = work.reads = 1;
  work.bytes = 256;
  work.steps = 1024;
  return work;
}

CPUCosts costsOf(std::initializer_list<std::pair<CPUWork, double>> given) {
  CPUCosts costs;
  costs.level = "x86-64-v4";
  costs.cacheBytes = 1e9;
  for (auto [work, ns] : given)
    costs.ns[size_t(work)] = ns;
  return costs;
}

constexpr PlanShape kChunk16{Schedule::chunk, 16, 0};
constexpr PlanShape kStep{Schedule::recurrent, 1, 0};

TEST(CostModel, CountsAChunk) {
  // Queries times state and keys times values: 16 x 16 x 1 vector each; scores:
  // 16 x 16 columns in one vector; scores times values: row i has i + 1.
  CPUCounts counts =
      countWork(write16(), kChunk16, vectorRegisters("x86-64-v4"), 16, 1e9);
  EXPECT_EQ(counts[CPUWork::Product], 512);
  EXPECT_EQ(counts[CPUWork::MaskedProduct], 256 + 136);
  EXPECT_EQ(counts[CPUWork::StateVector], 16);
  EXPECT_EQ(counts[CPUWork::Transpose], 16);
  EXPECT_EQ(counts[CPUWork::Elementwise], 16 + 32);
  EXPECT_EQ(counts[CPUWork::Tile], 4);
  EXPECT_EQ(counts[CPUWork::Function], 0);
  EXPECT_EQ(counts[CPUWork::Chunk], 1);
  EXPECT_EQ(counts[CPUWork::NearByte], 16 * 256);
  // Vectors of 8: all but the panels of scores that nothing is seen in.
  counts =
      countWork(write16(), kChunk16, vectorRegisters("x86-64-v3"), 16, 1e9);
  EXPECT_EQ(counts[CPUWork::Product], 1024);
  EXPECT_EQ(counts[CPUWork::MaskedProduct], (16 + 8) * 16 + 2 * 136);
}

TEST(CostModel, CountsAStep) {
  ScanWork work = write16();
  work.decay = ScanWork::Decay::scalar;
  work.erases = 1;
  CPUCounts counts =
      countWork(work, kStep, vectorRegisters("x86-64-v4"), 10, 1e9);
  EXPECT_EQ(counts[CPUWork::StepRead], 10 * 2 * 16);
  EXPECT_EQ(counts[CPUWork::StepUpdate], 10 * 16);
  EXPECT_EQ(counts[CPUWork::Product], 10 * 16); // the second writer
  EXPECT_EQ(counts[CPUWork::Function], 10);
  EXPECT_EQ(counts[CPUWork::StepWait], 10); // for the erase's sum
  EXPECT_EQ(counts[CPUWork::Chunk], 10);
  work.functions = {16, 16};
  counts = countWork(work, kStep, vectorRegisters("x86-64-v4"), 10, 1e9);
  EXPECT_EQ(counts[CPUWork::StepWait], 10 * 3);
  counts = countWork(work, kChunk16, vectorRegisters("x86-64-v4"), 16, 1e9);
  EXPECT_EQ(counts[CPUWork::StepWait], 0);
}

TEST(CostModel, CountsDecaysPerKeyAsTwoProducts) {
  ScanWork work = write16();
  work.decay = ScanWork::Decay::key;
  CPUCounts counts =
      countWork(work, kChunk16, vectorRegisters("x86-64-v4"), 16, 1e9);
  EXPECT_EQ(counts[CPUWork::DecayedProduct], 2 * 256);
  EXPECT_EQ(counts[CPUWork::MaskedProduct], 136);
  EXPECT_EQ(counts[CPUWork::Function], 16);
}

TEST(CostModel, CountsStackedErasesAndTheirSystem) {
  ScanWork work = write16();
  work.writers = 0, work.erases = 2;
  CPUCounts counts = countWork(work, {Schedule::chunk, 4, 0},
                               vectorRegisters("x86-64-v4"), 4, 1e9);
  // 8 rows of erases and 4 of the read times the state, 8 rows written.
  EXPECT_EQ(counts[CPUWork::Product], (8 + 4 + 8) * 16);
  // Scores of 8 x 8 and 4 x 8, one vector each; the system of 8; row i of the
  // read times 2 (i + 1) values.
  EXPECT_EQ(counts[CPUWork::MaskedProduct], 8 * 16 + 4 * 16 + 28 + 20);
}

TEST(CostModel, CountsOtherStates) {
  ScanWork work = write16();
  ChainWork narrow;
  narrow.keys = 16, narrow.values = 1, narrow.writers = narrow.reads = 1;
  work.others = {narrow, narrow};
  CPUCounts counts =
      countWork(work, kChunk16, vectorRegisters("x86-64-v4"), 16, 1e9);
  EXPECT_EQ(counts[CPUWork::Product], 3 * 512);
  EXPECT_EQ(counts[CPUWork::MaskedProduct], 3 * (256 + 136));
  EXPECT_EQ(counts[CPUWork::Transpose], 3 * 16);
  EXPECT_EQ(counts[CPUWork::Chunk], 1);
  // The last one's scores and decayed keys are there already.
  work.others.back().sharesScores = true;
  counts = countWork(work, kChunk16, vectorRegisters("x86-64-v4"), 16, 1e9);
  EXPECT_EQ(counts[CPUWork::Product], 3 * 512);
  EXPECT_EQ(counts[CPUWork::MaskedProduct], 2 * 256 + 3 * 136);
  EXPECT_EQ(counts[CPUWork::Transpose], 2 * 16);
  counts = countWork(work, kStep, vectorRegisters("x86-64-v4"), 10, 1e9);
  EXPECT_EQ(counts[CPUWork::StepUpdate], 10 * 3 * 16);
  EXPECT_EQ(counts[CPUWork::Chunk], 10);
}

TEST(CostModel, CountsNumbersThatAreSteppedThroughChunks) {
  ScanWork work = write16();
  work.numberOps = 3, work.numberFunctions = 2;
  CPUCounts counts =
      countWork(work, kChunk16, vectorRegisters("x86-64-v4"), 32, 1e9);
  EXPECT_EQ(counts[CPUWork::Elementwise], 2 * (16 + 32) + 32 * 3);
  EXPECT_EQ(counts[CPUWork::Function], 32 * 2);
  // A step takes them with all that is computed of its inputs.
  counts = countWork(work, kStep, vectorRegisters("x86-64-v4"), 32, 1e9);
  EXPECT_EQ(counts[CPUWork::Function], 0);
}

TEST(CostModel, ValuesHeldInRegistersBeginNoTiles) {
  auto tiles = [](int64_t chunk) {
    return countWork(write16(), {Schedule::chunk, chunk, 0},
                     vectorRegisters("x86-64-v4"), chunk, 1e9)[CPUWork::Tile];
  };
  // The read's three products; the update's tile of 16 rows from 9 steps on.
  EXPECT_EQ(tiles(4), 3);
  EXPECT_EQ(tiles(8), 3);
  EXPECT_EQ(tiles(16), 4);
}

TEST(CostModel, AHangingChunkIsAWholeOne) {
  auto costs = costsOf({{CPUWork::Product, 1}});
  EXPECT_DOUBLE_EQ(predictStep(write16(), kChunk16, costs, 16), 32);
  EXPECT_DOUBLE_EQ(predictStep(write16(), kChunk16, costs, 32), 32);
  EXPECT_DOUBLE_EQ(predictStep(write16(), kChunk16, costs, 17), 1024.0 / 17);
}

TEST(CostModel, BlocksOfValuesComputeScoresEach) {
  ScanWork work = write16();
  work.values = 64;
  VectorRegisters registers = vectorRegisters("x86-64-v4");
  auto masked = [&](int64_t block) {
    return countWork(work, {Schedule::chunk, 16, block}, registers, 16,
                     1e9)[CPUWork::MaskedProduct];
  };
  EXPECT_EQ(masked(0), 256 + 4 * 136);
  EXPECT_EQ(masked(32), 2 * 256 + 4 * 136);
  EXPECT_EQ(masked(48), 2 * 256 + 4 * 136); // 48 and 16 columns
}

TEST(CostModel, BytesAreNearWhileTheyFit) {
  ScanWork work = write16(); // 256 bytes a step
  work.valueHeads = 4, work.batch = 2;
  auto costs = costsOf({{CPUWork::NearByte, 1}, {CPUWork::FarByte, 3}});
  costs.cacheBytes = 256 * 4 * 2 * 100;
  EXPECT_DOUBLE_EQ(predictStep(work, kChunk16, costs, 100), 256);
  EXPECT_DOUBLE_EQ(predictStep(work, kChunk16, costs, 101), 3 * 256);
}

TEST(CostModel, MoreWorkTakesLonger) {
  for (llvm::StringRef level : {"x86-64-v3", "x86-64-v4"})
    for (int64_t chunk : {1, 4, 8, 16, 32, 64}) {
      PlanShape plan{chunk == 1 ? Schedule::recurrent : Schedule::chunk, chunk,
                     0};
      CPUCosts costs = builtinCPUCosts(level);
      ScanWork work = write16();
      double last = predictStep(work, plan, costs, 1024);
      auto grows = [&](const char *what) {
        double now = predictStep(work, plan, costs, 1024);
        EXPECT_GT(now, last) << what << ", chunk " << chunk << level.str();
        last = now;
      };
      work.decay = ScanWork::Decay::scalar, grows("a decay");
      work.keys = 64, grows("keys");
      work.values = 128, grows("values");
      work.erases = 1, grows("an erase");
      work.writers = 3, grows("writers");
      work.functions.push_back(128), grows("a function");
      work.reads = 2, grows("a read");
    }
}

TEST(CostModel, DearerPassesOverTheStateWantLargerChunks) {
  ScanWork work = write16();
  int64_t last = 0;
  std::vector<int64_t> chosen;
  for (double pass : {0.0, 1.0, 4.0, 16.0, 64.0, 256.0}) {
    auto costs = costsOf({{CPUWork::Product, 1},
                          {CPUWork::MaskedProduct, 1},
                          {CPUWork::StateVector, pass}});
    int64_t chunk = chooseChunk(work, costs);
    EXPECT_GE(chunk, last);
    last = chunk;
    chosen.push_back(chunk);
  }
  EXPECT_EQ(chosen.front(), 4); // scores grow with the chunk
  EXPECT_EQ(chosen.back(), 64);
}

TEST(CostModel, TheLevelThatLosesMostDecides) {
  auto likesSmall = costsOf({{CPUWork::MaskedProduct, 1}}),
       likesLarge = costsOf({{CPUWork::StateVector, 1}});
  EXPECT_EQ(chooseChunk(write16(), likesSmall), 4);
  EXPECT_EQ(chooseChunk(write16(), likesLarge), 64);
  // Chunks of 32 take 40.5 / 18.5 of the one's best and twice the other's;
  // 16 take four times the other's best, 64 take 72.5 / 18.5 of the one's.
  EXPECT_EQ(chooseChunk(write16(), {likesSmall, likesLarge}), 32);
}

TEST(CostModel, StepsWhereChunksWouldHangOver) {
  // A chunk of 16 takes 160 ns, a step 16: even at 10 steps.
  auto costs = costsOf({{CPUWork::StateVector, 10}, {CPUWork::StepUpdate, 1}});
  EXPECT_EQ(stepsUpTo(write16(), 16, costs), 10);
  // Chunks are never, and always, the better ones.
  costs = costsOf({{CPUWork::StateVector, 100}, {CPUWork::StepUpdate, 1}});
  EXPECT_EQ(stepsUpTo(write16(), 16, costs), INT64_MAX);
  costs = costsOf({{CPUWork::StateVector, 0.5}, {CPUWork::StepUpdate, 1}});
  EXPECT_EQ(stepsUpTo(write16(), 16, costs), 0);
  // For any length only where they are clearly better: 16 against 16.5, 17.5.
  costs = costsOf({{CPUWork::StateVector, 16.5}, {CPUWork::StepUpdate, 1}});
  EXPECT_EQ(stepsUpTo(write16(), 16, costs), 16 * 16);
  costs = costsOf({{CPUWork::StateVector, 17.5}, {CPUWork::StepUpdate, 1}});
  EXPECT_EQ(stepsUpTo(write16(), 16, costs), INT64_MAX);
}

TEST(CostModel, ValueBlocksAreAboutTheSame) {
  EXPECT_EQ(recurrentValueBlock(64, 64, 32), 0);
  EXPECT_EQ(recurrentValueBlock(128, 128, 32), 64);
  EXPECT_EQ(recurrentValueBlock(96, 96, 32), 48); // 80 would fit, and leave 16
  EXPECT_EQ(recurrentValueBlock(64, 96, 64), 48);
  EXPECT_EQ(recurrentValueBlock(4096, 100, 32), 16); // none fits: the least
}

TEST(CostModel, SaysWhatItPredicts) {
  auto costs = costsOf({{CPUWork::Chunk, 64}});
  EXPECT_EQ(describePredictions(write16(), kChunk16, costs),
            "predicted ns a step and value head on x86-64-v4, 1024 steps: "
            "chunk 4 16.0, chunk 8 8.0, chunk 16 4.0 (this plan), chunk 32 "
            "2.0, chunk 64 1.0, recurrent 64.0");
  EXPECT_EQ(describePredictions(write16(), {Schedule::chunk, 5, 0}, costs),
            "predicted ns a step and value head on x86-64-v4, 1024 steps: "
            "chunk 4 16.0, chunk 8 8.0, chunk 16 4.0, chunk 32 2.0, chunk 64 "
            "1.0, chunk 5 12.8 (this plan), recurrent 64.0");
}

} // namespace
