//===- SegmentsTest.cpp - Split sequences on tensor cores -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// All launches of a kernel that splits sequences, in the interpreter, against
// the float64 recurrence of the whole sequences.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "Prism/Target/GPU/GPU.h"
#include "Prism/TargetInfo/TargetInfo.h"
#include "RandomChain.h"
#include "Roles/Layouts.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace prism;
using namespace prism::test;
using check::GateSet;
using check::InputOptions;

namespace {

void expectRightOnce(RoleKernel &kernel, const InputOptions &call) {
  static unsigned count = 0;
  kernel.prepare(call);
  InterpreterOptions options;
  options.seed = ++count;
  options.copies = count % 2 ? InterpreterOptions::Copies::Late
                             : InterpreterOptions::Copies::Early;
  EXPECT_EQ(kernel.run(options), "")
      << "steps " << call.steps << ", gates " << int(call.gates);
}

/// With an initial state or without.
InputOptions callOfEither(int64_t steps, GateSet gates = GateSet::mild) {
  return callOf(steps, gates, /*initialState=*/steps % 2);
}

class Segments : public testing::TestWithParam<const char *> {};

TEST_P(Segments, OfChunks) {
  Model model;
  model.name = GetParam();
  RoleKernel kernel(specOf(model), std::nullopt, /*segments=*/3);
  ASSERT_EQ(kernel.whyNot(), "");
  // None, one, fewer chunks than segments; five chunks in 2 + 2 + 1.
  for (int64_t steps : {0, 1, 65, 300}) {
    expectRightOnce(kernel, callOfEither(steps));
    EXPECT_EQ(kernel.countStoredBoxes(), 4 * ((steps + 63) / 64));
  }
  expectRightOnce(kernel, callOfEither(301, GateSet::mixed));
  // The past of every segment is forgotten.
  expectRightOnce(kernel, callOfEither(302, GateSet::hard));
}

TEST_P(Segments, FromRoundedStates) {
  Model model;
  model.name = GetParam();
  model.state = "bf16";
  RoleKernel kernel(specOf(model), std::nullopt, /*segments=*/3);
  ASSERT_EQ(kernel.whyNot(), "");
  expectRightOnce(kernel, callOfEither(301));
}

INSTANTIATE_TEST_SUITE_P(Every, Segments,
                         testing::Values("linear_attention", "retnet",
                                         "gated_deltanet", "prism_l1",
                                         "mamba2"));

TEST(SegmentsOf, ManyKeys) {
  for (const char *name : {"retnet", "gated_deltanet"}) {
    Model model;
    model.name = name;
    model.keys = 192;
    RoleKernel kernel(specOf(model), std::nullopt, /*segments=*/2);
    ASSERT_EQ(kernel.whyNot(), "") << name;
    expectRight(kernel, callOf(200));
  }
}

TEST(SegmentsOf, PackedSequencesOfHeadGroups) {
  Model model;
  model.keys = 80;
  model.values = 96; // the last block of the maps is not full
  model.keyHeads = 1;
  model.valueHeads = 2;
  RoleKernel kernel(specOf(model), std::nullopt, /*segments=*/2);
  ASSERT_EQ(kernel.whyNot(), "");
  InputOptions call = callOfEither(0);
  call.lengths = {70, 0, 130, 1};
  call.initialState = true;
  expectRightOnce(kernel, call);
}

// Two blocks of B's columns take turns in preparing, and two of M's, which take
// no steps where the past of a segment is forgotten.
TEST(SegmentsOf, Clusters) {
  Model model;
  model.keys = model.values = 128;
  RoleKernel kernel(specOf(model), /*valueBlock=*/64, /*segments=*/2);
  ASSERT_EQ(kernel.whyNot(), "");
  for (LLVM::LLVMFuncOp function : {kernel.maps(), kernel.kernel()})
    EXPECT_EQ(KernelInterpreter(function, kernel.threads(),
                                kernel.sharedBytes(), InterpreterOptions())
                  .blocksOfCluster(),
              2);
  expectRightOnce(kernel, callOfEither(201));
  expectRightOnce(kernel, callOfEither(202, GateSet::hard));
}

TEST(SegmentsOf, ReversedTime) {
  Model model;
  model.reverse = true;
  RoleKernel kernel(specOf(model), std::nullopt, /*segments=*/2);
  ASSERT_EQ(kernel.whyNot(), "");
  expectRightOnce(kernel, callOfEither(201, GateSet::burst));
}

TEST(SegmentsOf, RandomChains) {
  unsigned seed = fromEnvironment("PRISM_SEED", 1),
           runs = fromEnvironment("PRISM_ROLES_RUNS", 4);
  unsigned split = 0;
  for (unsigned i = 0; i < runs; ++i) {
    std::string spec = randomChain(seed + i, "bf16", {64});
    RoleKernel kernel(spec, std::nullopt, /*segments=*/2);
    if (!kernel.whyNot().empty())
      continue;
    ++split;
    expectRightOnce(kernel, callOfEither(131));
  }
  EXPECT_GT(split, 0u);
}

//===----------------------------------------------------------------------===//
// Folded maps
//===----------------------------------------------------------------------===//

/// What the maps of a kernel's segments but the last make of a state, bit for
/// bit: of one head, in the order of the state.
std::vector<float> foldedOnTheHost(const RoleKernel &kernel,
                                   std::vector<float> state, int64_t keys,
                                   int64_t values, int64_t segments) {
  tiletogpu::Slabs slabs{keys};
  int64_t bytes = (values / 16 + 1) * slabs.slabBytes();
  const std::vector<uint8_t> &maps = kernel.workspaceOf();
  EXPECT_EQ(int64_t(maps.size()), bytes * segments);
  for (int64_t segment = 0; segment + 1 < segments; ++segment)
    for (int64_t key = 0; key < keys; ++key)
      for (int64_t value = 0; value < values; ++value) {
        auto at = [&](int64_t column) {
          float element;
          std::memcpy(&element,
                      maps.data() + segment * bytes + slabs.byteOf(key, column),
                      sizeof(element));
          return element;
        };
        float &now = state[key * values + value];
        volatile float kept = at(values) * now; // rounded
        now = kept + at(value);
      }
  return state;
}

struct Fold {
  const char *model;
  int64_t keys, values, segments, steps;
};

class Folds : public testing::TestWithParam<Fold> {};

/// The last segment is empty: the state that it ends in is the one that it
/// starts from.
TEST_P(Folds, BitForBit) {
  const Fold &fold = GetParam();
  Model model;
  model.name = fold.model;
  model.keys = fold.keys;
  model.values = fold.values;
  RoleKernel kernel(specOf(model), std::nullopt, fold.segments);
  ASSERT_EQ(kernel.whyNot(), "");
  EXPECT_EQ(kernel.countLaunches(), 2u);
  for (bool hasInitial : {true, false}) {
    kernel.prepare(callOf(fold.steps, GateSet::mild, hasInitial));
    ASSERT_EQ(kernel.run(nextOptions()), "");
    int64_t elements = fold.keys * fold.values;
    std::vector<float> start(elements, 0);
    if (hasInitial)
      std::memcpy(start.data(), kernel.inputOf("initial_state").bytes.data(),
                  elements * sizeof(float));
    std::vector<float> expected =
        foldedOnTheHost(kernel, start, fold.keys, fold.values, fold.segments);
    const check::HostArray &got = kernel.resultOf("final_state");
    ASSERT_EQ(got.bytes.size(), elements * sizeof(float));
    EXPECT_NE(expected, start);
    EXPECT_EQ(std::memcmp(got.bytes.data(), expected.data(), got.bytes.size()),
              0);
  }
}

// One map before; more than are loaded together; a tail of pieces; many keys;
// columns that pad the warpgroups; keys that decay each for itself.
INSTANTIATE_TEST_SUITE_P(Maps, Folds,
                         testing::Values(Fold{"retnet", 64, 64, 2, 1},
                                         Fold{"mamba2", 64, 64, 6, 300},
                                         Fold{"retnet", 80, 96, 3, 100},
                                         Fold{"linear_attention", 192, 64, 3,
                                              100},
                                         Fold{"gla", 64, 64, 7, 330}));

/// Without an initial state, and with more maps than are loaded together that
/// all have steps.
TEST(SegmentsOf, ManyFolds) {
  for (const char *name : {"retnet", "mamba2", "linear_attention"}) {
    Model model;
    model.name = name;
    model.keys = model.values = 128;
    RoleKernel kernel(specOf(model), std::nullopt, /*segments=*/6);
    ASSERT_EQ(kernel.whyNot(), "");
    EXPECT_EQ(kernel.countLaunches(), 2u);
    for (int64_t steps : {384, 383}) // six chunks; with an initial state
      expectRightOnce(kernel, callOfEither(steps));
  }
}

TEST(SegmentsOf, FoldedPackedSequencesInReversedTime) {
  for (bool reverse : {false, true}) {
    Model model;
    model.name = "retnet";
    model.keys = 96;
    model.reverse = reverse;
    model.keyHeads = 1;
    model.valueHeads = 2;
    RoleKernel kernel(specOf(model), std::nullopt, /*segments=*/3);
    ASSERT_EQ(kernel.whyNot(), "");
    EXPECT_EQ(kernel.countLaunches(), 2u);
    InputOptions call = callOfEither(0);
    call.lengths = {70, 0, 330, 1};
    for (bool initialState : {true, false}) {
      call.initialState = initialState;
      expectRightOnce(kernel, call);
    }
  }
}

TEST(SegmentsOf, FoldsInHalfPrecision) {
  Model model;
  model.name = "retnet";
  model.io = "f16";
  model.keys = model.values = 128;
  RoleKernel kernel(specOf(model), std::nullopt, /*segments=*/3);
  ASSERT_EQ(kernel.whyNot(), "");
  EXPECT_EQ(kernel.countLaunches(), 2u);
  expectRightOnce(kernel, callOfEither(301));
}

/// Maps that mix keys are combined by a launch of their own.
TEST(SegmentsOf, FullMapsAreNotFolded) {
  RoleKernel kernel(specOf(Model()), std::nullopt, /*segments=*/3);
  ASSERT_EQ(kernel.whyNot(), "");
  EXPECT_EQ(kernel.countLaunches(), 3u);
}

struct Split {
  const char *model;
  int64_t keys, values;
  const char *io = "bf16";
};

class SplitKernels : public testing::TestWithParam<Split> {};

TEST_P(SplitKernels, Assemble) {
  Model model;
  model.name = GetParam().model;
  model.keys = GetParam().keys;
  model.values = GetParam().values;
  model.io = GetParam().io;
  RoleKernel kernel(specOf(model), std::nullopt, /*segments=*/2);
  ASSERT_EQ(kernel.whyNot(), "");
  for (LLVM::LLVMFuncOp function : {kernel.maps(), kernel.kernel()}) {
    auto module = function->getParentOfType<ModuleOp>();
    ASSERT_TRUE(succeeded(lowerKernelToNVVM(module)));
    FailureOr<std::string> ptx =
        emitPTX(module, *targetinfo::lookupChip("sm_90a"));
    ASSERT_TRUE(succeeded(ptx));
    std::string error;
    FailureOr<prism::Assembled> assembled = assemble(*ptx, "sm_90a", error);
    ASSERT_TRUE(succeeded(assembled)) << error;
    if (assembled->cubin.empty())
      GTEST_SKIP() << assembled->note;
    EXPECT_EQ(assembled->note, "");
    EXPECT_EQ(assembled->resources.spillStores, 0);
    EXPECT_EQ(assembled->resources.spillLoads, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, SplitKernels,
    testing::Values(Split{"gated_deltanet", 128, 128},
                    Split{"retnet", 128, 128}, Split{"retnet", 64, 64},
                    Split{"mamba2", 128, 128},
                    Split{"linear_attention", 128, 128},
                    Split{"retnet", 96, 128}, Split{"retnet", 192, 192},
                    Split{"retnet", 256, 256}, Split{"gla", 128, 128},
                    Split{"retnet", 128, 128, "f16"}),
    [](const testing::TestParamInfo<Split> &info) {
      return std::string(info.param.model) + "_" +
             std::to_string(info.param.keys) + "_" + info.param.io;
    });

} // namespace
