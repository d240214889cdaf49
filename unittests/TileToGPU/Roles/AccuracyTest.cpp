//===- AccuracyTest.cpp - How close kernels of roles come -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace prism;
using namespace prism::test;
using check::HostArrays;

namespace {

/// Of the sizes that are benchmarked: no worse than it was.
TEST(Accuracy, OfGatedDeltaNet) {
  for (int64_t block : {64, 128}) {
    RoleKernel kernel(specOf(modelOf("gated_deltanet", 128, 128)), block);
    ASSERT_EQ(kernel.whyNot(), "");
    kernel.prepare(callOf(1024));
    EXPECT_EQ(kernel.run({}), "");
    RecordProperty("o", std::to_string(kernel.errorOf("o")));
    EXPECT_LE(kernel.errorOf("o"), 3.9e-3) << block;
    EXPECT_LE(kernel.errorOf("final_state"), 3.2e-3) << block;
  }
}

/// A state that nothing is added to is scaled by exp of a sum of gates, in f32:
/// gates of very different sizes must all count. exp rounds its argument, about
/// 10, to 5e-7.
TEST(Accuracy, OfSumsOfGates) {
  RoleKernel kernel(specOf(modelOf("mamba2")));
  ASSERT_EQ(kernel.whyNot(), "");
  for (unsigned kind = 0; kind < 4; ++kind) {
    kernel.prepare(callOf(64), [&](HostArrays &inputs) {
      auto &values = inputs.at("v").values;
      std::fill(values.begin(), values.end(), 0);
      inputs.at("v").encode();
      auto &gates = inputs.at("g").values;
      for (size_t i = 0; i < gates.size(); ++i)
        gates[i] = kind == 0   ? -std::ldexp(1 + i % 7 / 7.0, -int(i % 20))
                   : kind == 1 ? -0.15 - 0.0001 * i
                   : kind == 2 ? (i % 64 == 5 ? -9.123 : -1e-7)
                               : 0;
      inputs.at("g").encode();
    });
    kernel.run({});
    EXPECT_LE(kernel.errorOf("final_state"), kind == 3 ? 0 : 1e-6) << kind;
  }
}

} // namespace
