//===- NormsTest.cpp - Norms and gates inside kernels of roles ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// L2 norms of keys and queries, and gates that are computed of a layer's
// inputs, against the float64 recurrence: what is multiplied are the arrays as
// they lie, and all else is scaled.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "gtest/gtest.h"

using namespace prism;
using namespace prism::test;
using check::GateSet;
using check::HostArrays;
using check::InputOptions;

namespace {

std::string nameOf(const testing::TestParamInfo<const char *> &info) {
  return info.param;
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

class Norms : public testing::TestWithParam<const char *> {};

TEST_P(Norms, Lengths) {
  RoleKernel kernel(specOf(modelOf(GetParam())));
  for (int64_t steps : {0, 1, 63, 64, 65, 200})
    expectRight(kernel, callOf(steps, GateSet(steps % 2 * 2), steps % 3 != 0));
}

TEST_P(Norms, PackedSequences) {
  Model grouped = modelOf(GetParam());
  grouped.valueHeads = 2;
  RoleKernel kernel(specOf(grouped));
  InputOptions call = callOf(0, GateSet::mild, /*initialState=*/false);
  call.lengths = {0, 3, 64, 0, 130, 65};
  expectRight(kernel, call);
  call.initialState = true;
  expectRight(kernel, call, {1, 3});
}

TEST_P(Norms, LongShortAndNoKeys) {
  RoleKernel kernel(specOf(modelOf(GetParam())));
  expectRight(kernel, callOf(130), {}, [](HostArrays &inputs) {
    stretch(inputs, 64, {1, 1e-4, 1e4, 0, 1e-2});
  });
  expectRight(kernel, callOf(65), {},
              [](HostArrays &inputs) { stretch(inputs, 64, 0.0); });
}

/// Keys that fill no slab, and that fill two; values in clusters and in one
/// block of two warpgroups; arrays of heads first, from their end.
TEST_P(Norms, Sizes) {
  for (auto [keys, values, block] :
       {std::tuple<int64_t, int64_t, int64_t>{80, 72, 64}, {128, 128, 64}}) {
    RoleKernel kernel(specOf(modelOf(GetParam(), keys, values)), block);
    expectRight(kernel, callOf(130), {keys % 3, 0});
  }
  Model backwards = modelOf(GetParam(), 96, 64);
  backwards.reverse = backwards.headFirst = true;
  RoleKernel kernel(specOf(backwards));
  expectRight(kernel, callOf(100));
}

INSTANTIATE_TEST_SUITE_P(Of, Norms,
                         testing::Values("normed_linear_attention",
                                         "normed_retnet", "normed_deltanet",
                                         "normed_gated_deltanet",
                                         "normed_prism_l0", "normed_prism_l1",
                                         "normed_deltaproduct_2",
                                         "normed_deltaproduct_4",
                                         "gates_gated_deltanet"),
                         nameOf);

//===----------------------------------------------------------------------===//
// Kinds of kernels
//===----------------------------------------------------------------------===//

class NormKernels : public testing::TestWithParam<const char *> {};

TEST_P(NormKernels, WideBlocks) {
  RoleKernel kernel(specOf(modelOf(GetParam(), 128, 128)), 128);
  expectRight(kernel, callOf(130));
}

TEST_P(NormKernels, Segments) {
  RoleKernel kernel(specOf(modelOf(GetParam())), std::nullopt, /*segments=*/3);
  for (int64_t steps : {0, 65, 301})
    expectRight(kernel, callOf(steps, GateSet::mild, steps % 3 != 0));
  expectRight(kernel, callOf(302, GateSet::hard));
}

TEST_P(NormKernels, Halves) {
  Model halves = modelOf(GetParam(), 80, 64);
  halves.io = "f16";
  RoleKernel kernel(specOf(halves));
  expectRight(kernel, callOf(130));
  expectRight(kernel, callOf(130), {}, [](HostArrays &inputs) {
    stretch(inputs, 80, {1, 1e-2, 1e3, 0, 1});
  });
}

INSTANTIATE_TEST_SUITE_P(Of, NormKernels,
                         testing::Values("normed_linear_attention",
                                         "normed_retnet", "normed_deltanet",
                                         "normed_gated_deltanet",
                                         "gates_gated_deltanet"),
                         nameOf);

TEST(NormKernelsApart, OfOneAndTwoBlocks) {
  for (const char *name : {"normed_deltanet", "gates_gated_deltanet"})
    for (int64_t prepareBlocks : {1, 2}) {
      RoleKernel kernel(specOf(modelOf(name, 128, 128)), 64, /*segments=*/1,
                        prepareBlocks);
      expectRight(kernel, callOf(9 * 64 + 5));
      InputOptions call = callOf(0, GateSet::mild, /*initialState=*/false);
      call.lengths = {70, 0, 1, 200};
      expectRight(kernel, call);
    }
}

/// No worse than with keys that were normalised before: keys are not rounded
/// again.
TEST(NormAccuracy, OfManySteps) {
  for (const char *name : {"normed_gated_deltanet", "gates_gated_deltanet"}) {
    RoleKernel kernel(specOf(modelOf(name, 128, 128)), 64);
    ASSERT_EQ(kernel.whyNot(), "");
    kernel.prepare(callOf(1024));
    EXPECT_EQ(kernel.run({}), "");
    RecordProperty(name, std::to_string(kernel.errorOf("o")));
    EXPECT_LE(kernel.errorOf("o"), 3.9e-3) << name;
    EXPECT_LE(kernel.errorOf("final_state"), 3.5e-3) << name;
  }
}

} // namespace
