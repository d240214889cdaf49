//===- F16Test.cpp - Kernels of roles with operands in f16 ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// f16 has 11 bits and ends at 65504. What a kernel computes on its way must
// reach the error bound of f16 at any scale that inputs and outputs have.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "RandomChain.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace prism;
using namespace prism::test;
using check::GateSet;
using check::HostArray;
using check::HostArrays;
using check::InputOptions;

namespace {

Model halvesOf(const char *name, int64_t keys = 64, int64_t values = 64) {
  Model model = modelOf(name, keys, values);
  model.io = "f16";
  return model;
}

const char *const kModels[] = {
    "linear_attention", "retnet",   "gated_deltanet", "prism_l0",
    "prism_l1",         "prism_l2", "mamba2"};

std::string nameOf(const testing::TestParamInfo<const char *> &info) {
  return info.param;
}

//===----------------------------------------------------------------------===//
// Inputs of a realistic scale
//===----------------------------------------------------------------------===//

class F16 : public testing::TestWithParam<const char *> {};

TEST_P(F16, Sizes) {
  for (auto [keys, values] :
       {std::pair<int64_t, int64_t>{64, 64}, {128, 64}, {80, 192}}) {
    RoleKernel kernel(specOf(halvesOf(GetParam(), keys, values)));
    ASSERT_EQ(kernel.whyNot(), "");
    kernel.prepare(callOf(130));
    EXPECT_EQ(kernel.run(nextOptions()), "") << keys << " x " << values;
    EXPECT_GT(kernel.countBoxes(), 0);
    EXPECT_GT(kernel.countStoredBoxes(), 0);
    EXPECT_EQ(kernel.run(nextOptions(), {1, 0}), "") << keys << " x " << values;
  }
}

TEST_P(F16, GatesAndPackedSequences) {
  RoleKernel kernel(specOf(halvesOf(GetParam())));
  ASSERT_EQ(kernel.whyNot(), "");
  for (GateSet gates : {GateSet::hard, GateSet::mixed, GateSet::burst}) {
    kernel.prepare(callOf(200, gates));
    EXPECT_EQ(kernel.run(nextOptions()), "") << int(gates);
  }
  InputOptions call = callOf(0);
  call.lengths = {0, 3, 64, 130, 65};
  kernel.prepare(call);
  EXPECT_EQ(kernel.run(nextOptions()), "");
}

INSTANTIATE_TEST_SUITE_P(Every, F16, testing::ValuesIn(kModels), nameOf);

TEST(F16Of, BlocksSegmentsAndReversedTime) {
  RoleKernel wide(specOf(halvesOf("gated_deltanet", 128, 128)), 128);
  ASSERT_EQ(wide.whyNot(), "");
  wide.prepare(callOf(130));
  EXPECT_EQ(wide.run(nextOptions()), "");
  // A cluster copies the powers with the message.
  RoleKernel split(specOf(halvesOf("gated_deltanet", 128, 128)), 64, 2);
  ASSERT_EQ(split.whyNot(), "");
  split.prepare(callOf(201));
  EXPECT_EQ(split.run(nextOptions()), "");
  Model backwards = halvesOf("retnet", 96, 64);
  backwards.reverse = true;
  RoleKernel reversed(specOf(backwards));
  ASSERT_EQ(reversed.whyNot(), "");
  reversed.prepare(callOf(100));
  EXPECT_EQ(reversed.run(nextOptions()), "");
}

TEST(F16Of, RandomChains) {
  unsigned seed = fromEnvironment("PRISM_SEED", 1),
           runs = fromEnvironment("PRISM_ROLES_RUNS", 12), taken = 0;
  for (unsigned i = 0; i < runs; ++i) {
    std::string spec = randomChain(seed + i, "f16", {64});
    RoleKernel kernel(spec);
    if (!kernel.whyNot().empty())
      continue;
    ++taken;
    kernel.prepare(callOf(131, GateSet(i % 3)));
    EXPECT_EQ(kernel.run(nextOptions()), "") << spec;
  }
  EXPECT_GT(taken, 0u);
}

/// Three bits more than bf16.
TEST(F16Of, Accuracy) {
  RoleKernel kernel(specOf(halvesOf("gated_deltanet", 128, 128)), 64);
  ASSERT_EQ(kernel.whyNot(), "");
  kernel.prepare(callOf(512));
  EXPECT_EQ(kernel.run({}), "");
  RecordProperty("o", std::to_string(kernel.errorOf("o")));
  RecordProperty("final_state", std::to_string(kernel.errorOf("final_state")));
  EXPECT_LE(kernel.errorOf("o"), 6e-4);
  EXPECT_LE(kernel.errorOf("final_state"), 5e-4);
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

void scale(HostArrays &inputs, const char *name, double factor) {
  auto found = inputs.find(name);
  if (found == inputs.end())
    return;
  for (double &value : found->second.values)
    value *= factor;
  found->second.encode();
}

/// Of queries, keys, values and the initial state.
struct Scales {
  const char *what;
  double q, k, v, state;
};

// Outputs stay in the range of f16, and intermediates do not.
const Scales kOfAll[] = {
    {"values up to f16's largest", 1e-4, 1, 1.2e4, 1e4},
    {"values below f16's smallest normal", 1e4, 1, 1e-5, 1e-5},
    {"a state of 1e7", 1e-7, 1, 1, 1e7},
    {"a state of 1e-9", 1, 1, 1, 1e-9},
    {"large queries, small values", 1e4, 1, 1e-4, 1e-4},
};
// Erases want keys of length 1.
const Scales kWithoutErase[] = {
    {"scores of 1e7", 3e3, 3e3, 1e-5, 1e-2},
    {"scores of 1e-7", 3e-4, 3e-4, 1e4, 1},
    {"keys of 1e4 and a state of 1e8", 1e-4, 1e4, 1e4, 1e8},
};

class F16Scales : public testing::TestWithParam<const char *> {};

TEST_P(F16Scales, OfInputs) {
  std::string name = GetParam();
  RoleKernel kernel(specOf(halvesOf(GetParam(), 64, 64)));
  ASSERT_EQ(kernel.whyNot(), "");
  std::vector<Scales> all(std::begin(kOfAll), std::end(kOfAll));
  if (name == "linear_attention" || name == "retnet" || name == "mamba2")
    all.insert(all.end(), std::begin(kWithoutErase), std::end(kWithoutErase));
  for (const Scales &scales : all) {
    kernel.prepare(callOf(130), [&](HostArrays &inputs) {
      scale(inputs, "q", scales.q);
      scale(inputs, "k", scales.k);
      scale(inputs, "v", scales.v);
      scale(inputs, "initial_state", scales.state);
    });
    EXPECT_EQ(kernel.run(nextOptions()), "") << scales.what;
  }
}

// The refinement of PRISM with L > 0 is not linear in the values.
INSTANTIATE_TEST_SUITE_P(Linear, F16Scales,
                         testing::Values("linear_attention", "retnet",
                                         "gated_deltanet", "prism_l0",
                                         "mamba2"),
                         nameOf);

/// Values of very different sizes, column by column and step by step.
TEST(F16Of, ColumnsOfDifferentScales) {
  RoleKernel kernel(specOf(halvesOf("gated_deltanet")));
  ASSERT_EQ(kernel.whyNot(), "");
  kernel.prepare(callOf(130), [&](HostArrays &inputs) {
    HostArray &values = inputs.at("v");
    for (size_t i = 0; i < values.values.size(); ++i)
      values.values[i] *= std::ldexp(1.0, int(i * 7 % 24) - 12);
    values.encode();
  });
  EXPECT_EQ(kernel.run(nextOptions()), "");
}

/// A power is chosen by all tokens of a chunk, and is exact: what comes later
/// changes no bit of what came before, up to 2^28 times as large.
TEST(F16Of, LaterTokensChangeNoBit) {
  constexpr int64_t kSteps = 100, kFirstLater = 75;
  for (const char *name : {"gated_deltanet", "retnet"}) {
    RoleKernel kernel(specOf(halvesOf(name)));
    ASSERT_EQ(kernel.whyNot(), "");
    std::vector<double> outputs[2];
    for (double factor : {1.0, 8192.0}) {
      kernel.prepare(callOf(kSteps), [&](HostArrays &inputs) {
        for (auto [array, by] : {std::pair<const char *, double>{"v", factor},
                                 {"q", 1 / factor}}) {
          std::vector<double> &values = inputs.at(array).values;
          for (size_t i = kFirstLater * 64; i < values.size(); ++i)
            values[i] *= by;
          inputs.at(array).encode();
        }
      });
      EXPECT_EQ(kernel.run({}), "") << name << " " << factor;
      outputs[factor > 1] = kernel.resultOf("o").values;
      outputs[factor > 1].resize(kFirstLater * 64);
    }
    EXPECT_EQ(outputs[0], outputs[1]) << name;
  }
}

/// An erase of a key of length 2 with strength 1 makes S <- -3 S + 2: the
/// inverse of a chunk passes 65504 before the state does.
TEST(F16Of, GrowingInverses) {
  RoleKernel kernel(specOf(halvesOf("gated_deltanet")));
  ASSERT_EQ(kernel.whyNot(), "");
  for (int64_t steps : {12, 16}) {
    InputOptions call = callOf(steps);
    call.initialState = false;
    kernel.prepare(call, [&](HostArrays &inputs) {
      for (auto [name, first] : {std::pair<const char *, double>{"k", 2},
                                 {"q", std::ldexp(1.0, -10)}}) {
        HostArray &array = inputs.at(name);
        for (size_t i = 0; i < array.values.size(); ++i)
          array.values[i] = i % 64 == 0 ? first : 0;
        array.encode();
      }
      for (auto [name, value] : {std::pair<const char *, double>{"v", 1},
                                 {"beta", 1},
                                 {"log_alpha", 0}}) {
        HostArray &array = inputs.at(name);
        std::fill(array.values.begin(), array.values.end(), value);
        array.encode();
      }
    });
    EXPECT_EQ(kernel.run(nextOptions()), "") << steps;
  }
}

} // namespace
