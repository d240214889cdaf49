//===- GatedDeltaTest.cpp - Compiled Gated DeltaNet against its loop ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "KernelHarness.h"
#include "gtest/gtest.h"

using namespace prism;
using namespace prism::test;

namespace {

class GatedDeltaNet : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    // v4 code runs only where the host has it.
    llvm::StringRef host = getHostCPUIsa();
    if (host.empty() ||
        (host == "x86-64-v3" && llvm::StringRef(GetParam()) == "x86-64-v4"))
      GTEST_SKIP() << "this machine does not run " << GetParam();
  }
  void expectRight(const GatedDelta &c) {
    EXPECT_EQ(check(c, GetParam()), "")
        << "K=" << c.K << " V=" << c.V << " C=" << c.C << " T=" << c.T
        << " io=" << c.io << " block=" << c.block << " isa=" << GetParam();
  }
};

TEST_P(GatedDeltaNet, SquareSizes) {
  for (int64_t chunk : {1, 16, 32, 64})
    expectRight({64, 64, chunk, 500});
}

TEST_P(GatedDeltaNet, OddSizes) {
  const int64_t sizes[][2] = {{1, 1},   {16, 60},   {60, 16}, {100, 1},
                              {1, 128}, {128, 100}, {60, 60}};
  for (auto [keys, values] : sizes)
    for (int64_t chunk : {1, 16})
      expectRight({keys, values, chunk, 65});
}

TEST_P(GatedDeltaNet, Lengths) {
  for (int64_t steps : {0, 1, 15, 16, 17, 65})
    for (int64_t chunk : {1, 16})
      expectRight({16, 60, chunk, steps});
}

TEST_P(GatedDeltaNet, OddChunks) {
  for (int64_t chunk : {2, 3, 7, 20, 33})
    expectRight({20, 24, chunk, 70});
}

TEST_P(GatedDeltaNet, ElementTypes) {
  for (const char *io : {"bf16", "f16"})
    for (int64_t chunk : {1, 16}) {
      GatedDelta c{64, 60, chunk, 65};
      c.io = io;
      expectRight(c);
    }
  for (int64_t chunk : {1, 16}) {
    GatedDelta c{20, 24, chunk, 33};
    c.io = c.compute = "f64";
    expectRight(c);
  }
}

TEST_P(GatedDeltaNet, SixteenBitTailsOfOneColumn) {
  // A tail of one lane: nothing of the next head's row may be touched.
  for (const char *io : {"bf16", "f16"})
    for (int64_t values : {1, 17, 33})
      for (int64_t chunk : {1, 16}) {
        GatedDelta c{17, values, chunk, 35};
        c.io = io;
        expectRight(c);
      }
}

TEST_P(GatedDeltaNet, BatchAndHeadGroups) {
  for (int64_t chunk : {1, 16}) {
    GatedDelta c{16, 32, chunk, 37, 3, 2, 6};
    expectRight(c);
  }
}

TEST_P(GatedDeltaNet, PackedSequencesSomeEmpty) {
  for (bool reverse : {false, true})
    for (int64_t chunk : {1, 16}) {
      GatedDelta c{16, 20, chunk, 50};
      c.offsets = {0, 0, 17, 18, 18, 50};
      c.reverse = reverse;
      expectRight(c);
    }
}

TEST_P(GatedDeltaNet, Reverse) {
  for (int64_t chunk : {1, 16}) {
    GatedDelta c{32, 16, chunk, 45};
    c.reverse = true;
    expectRight(c);
  }
}

TEST_P(GatedDeltaNet, AbsentStates) {
  for (int64_t chunk : {1, 16}) {
    GatedDelta c{32, 16, chunk, 45};
    c.initial = c.final = false;
    expectRight(c);
  }
}

TEST_P(GatedDeltaNet, ValueBlocks) {
  for (int64_t chunk : {1, 16})
    for (int64_t block : {16, 20, 32}) {
      GatedDelta c{16, 60, chunk, 33};
      c.block = block;
      expectRight(c);
      c.io = "bf16";
      expectRight(c);
    }
}

TEST_P(GatedDeltaNet, StrongGates) {
  for (int64_t chunk : {1, 16, 64}) {
    GatedDelta c{32, 32, chunk, 130};
    c.strongGates = true;
    expectRight(c);
  }
}

INSTANTIATE_TEST_SUITE_P(Isa, GatedDeltaNet,
                         testing::Values("x86-64-v3", "x86-64-v4"),
                         [](auto &info) {
                           return std::string(info.param).substr(7);
                         });

} // namespace
