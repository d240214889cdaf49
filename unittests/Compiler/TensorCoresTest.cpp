//===- TensorCoresTest.cpp - Do the passes for tensor cores keep meaning? -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Programs of 64 steps a chunk go through the passes that prepare them for
// tensor cores and are run on the CPU, which rounds where they round. The
// float64 recurrence is met within the limit of bf16; without the rounding,
// within that of f32.
//
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Tile/Transforms/Passes.h"
#include "Prism/Pipelines/Pipelines.h"
#include "ProgramHarness.h"
#include "RandomChain.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace prism;

namespace {

/// PRISM_CHAINS widens the random chains, PRISM_SEED moves them.
unsigned fromEnvironment(const char *name, unsigned otherwise) {
  const char *text = getenv(name);
  return text ? atoi(text) : otherwise;
}

check::InputOptions inputsFor(unsigned seed) {
  check::InputOptions options;
  options.seed = seed;
  options.batch = 1;
  options.steps = 130; // two full chunks and a tail
  constexpr check::GateSet gates[] = {
      check::GateSet::mild, check::GateSet::mild, check::GateSet::mixed,
      check::GateSet::burst};
  options.gates = gates[seed % std::size(gates)];
  options.initialState = seed % 3 != 0;
  return options;
}

void prepareWithoutRounding(OpPassManager &pm) {
  OpPassManager &programs = pm.nest<tile::ProgramOp>();
  programs.addPass(tile::createTileInvertSystems());
  programs.addPass(tile::createTileScaleResults());
  programs.addPass(tile::createTileMoveScales());
  programs.addPass(tile::createTileJoinScales());
}

void expectClose(const std::string &spec, const check::InputOptions &options,
                 function_ref<void(OpPassManager &)> passes, double limit) {
  test::ProgramHarness harness(spec, /*chunk=*/64, options);
  OwningOpRef<ModuleOp> program = harness.program();
  PassManager pm(program->getContext());
  passes(pm);
  ASSERT_TRUE(succeeded(pm.run(*program)));
  bool compared = false;
  for (const check::TensorError &error : harness.run(*program, limit)) {
    compared = true;
    EXPECT_TRUE(error.passed)
        << error.name << ": " << error.ratio << ", worst head "
        << error.worstHead << ", limit " << error.limit << "\n"
        << spec;
  }
  EXPECT_TRUE(compared);
}

void expectCloseRounded(const std::string &spec,
                        const check::InputOptions &options) {
  auto passes = [](OpPassManager &pm) {
    buildTilePrepareTensorCoresPipeline(pm, {});
  };
  expectClose(spec, options, passes, check::errorLimit(runtime::DType::BF16));
}

class RandomChains : public testing::TestWithParam<unsigned> {};

TEST_P(RandomChains, WithoutRounding) {
  unsigned seed = GetParam() + fromEnvironment("PRISM_SEED", 1);
  expectClose(test::randomChain(seed, "f32", {5, 16, 24, 33, 48, 64}),
              inputsFor(seed), prepareWithoutRounding,
              check::errorLimit(runtime::DType::F32));
}

// Short keys lie close together and make systems that are badly conditioned:
// with K from 5 to 48 one chain in five misses the limit of bf16, whichever dot
// is left unrounded. Of 150 with long keys one does, at 0.0051.
TEST_P(RandomChains, Rounded) {
  unsigned seed = GetParam() + fromEnvironment("PRISM_SEED", 1);
  expectCloseRounded(test::randomChain(seed, "bf16", {64, 96, 128}),
                     inputsFor(seed));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomChains,
                         testing::Range(0u,
                                        fromEnvironment("PRISM_CHAINS", 25)));

class Examples : public testing::TestWithParam<const char *> {};

TEST_P(Examples, WithoutRounding) {
  expectClose(test::exampleText(GetParam(), "f32"), inputsFor(1),
              prepareWithoutRounding, check::errorLimit(runtime::DType::F32));
}

TEST_P(Examples, Rounded) {
  expectCloseRounded(test::exampleText(GetParam(), "bf16"), inputsFor(1));
}

INSTANTIATE_TEST_SUITE_P(All, Examples,
                         testing::Values("linear_attention", "retnet",
                                         "gated_deltanet", "deltanet",
                                         "gated_deltanet_gates", "prism_l1",
                                         "prism_l2", "nameless"),
                         [](const testing::TestParamInfo<const char *> &info) {
                           return std::string(info.param);
                         });

} // namespace
