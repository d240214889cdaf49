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

TEST(SegmentsOf, MapsAssemble) {
  Model model;
  model.keys = model.values = 128;
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

} // namespace
