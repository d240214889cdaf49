//===- RolesTest.cpp - Do roles compute what one loop computes? -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Programs prepared for tensor cores are split into roles, their channel ops
// are played, and the roles are merged again: what a role sends and when it
// lets a slot go is then part of what runs on the CPU and is compared with the
// float64 recurrence. A message with two parts exchanged must be noticed.
//
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Tile/Transforms/Roles.h"
#include "../Compiler/ProgramHarness.h"
#include "../Compiler/RandomChain.h"
#include "Prism/Dialect/Tile/Transforms/Passes.h"
#include "Prism/Pipelines/Pipelines.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace prism;

namespace {

check::InputOptions inputsFor(unsigned seed) {
  check::InputOptions options;
  options.seed = seed;
  options.batch = 1;
  options.steps = 130; // two full chunks and a tail
  options.gates = seed % 2 ? check::GateSet::mild : check::GateSet::mixed;
  options.initialState = seed % 3 != 0;
  return options;
}

tile::ProgramOp programOf(ModuleOp module) {
  return *module.getOps<tile::ProgramOp>().begin();
}

/// PRISM_CHAINS widens the random chains, PRISM_SEED moves them.
unsigned fromEnvironment(const char *name, unsigned otherwise) {
  const char *text = getenv(name);
  return text ? atoi(text) : otherwise;
}

/// One spec, prepared (in bf16, or without rounding), split and merged.
class Split {
public:
  Split(const std::string &spec, unsigned seed, bool rounded = true,
        int64_t chunk = 64)
      : harness(spec, chunk, inputsFor(seed)), text(spec), rounded(rounded) {}

  /// The program as the tensor cores want it, in one loop.
  OwningOpRef<ModuleOp> prepared() {
    OwningOpRef<ModuleOp> module = harness.program();
    PassManager pm(module->getContext());
    if (rounded) {
      buildTilePrepareTensorCoresPipeline(pm, {});
    } else {
      OpPassManager &programs = pm.nest<tile::ProgramOp>();
      programs.addPass(tile::createTileInvertSystems());
      programs.addPass(tile::createTileScaleResults());
      programs.addPass(tile::createTileMoveScales());
      programs.addPass(tile::createTileJoinScales());
    }
    EXPECT_TRUE(succeeded(pm.run(*module)));
    return module;
  }

  /// A module of roles; null, with the reason, if the program was left alone.
  OwningOpRef<ModuleOp> roles(std::string &whyNot) {
    OwningOpRef<ModuleOp> module = prepared();
    tile::RoleOptions options;
    options.sharedMemory = int64_t(1) << 30; // any chain fits
    if (failed(tile::specializeRoles(programOf(*module), options, &whyNot)))
      return {};
    EXPECT_TRUE(succeeded(verify(*module)));
    return module;
  }

  /// The errors of a module of roles against the recurrence.
  std::vector<check::TensorError> errorsOf(ModuleOp module) {
    tile::ProgramOp program = programOf(module);
    EXPECT_TRUE(succeeded(tile::checkChannels(program, /*iterations=*/7)));
    EXPECT_TRUE(succeeded(tile::mergeRoles(program)));
    EXPECT_TRUE(succeeded(verify(module)));
    return run(module);
  }
  std::vector<check::TensorError> run(ModuleOp module) {
    auto io = rounded ? runtime::DType::BF16 : runtime::DType::F32;
    auto errors = harness.run(module, check::errorLimit(io));
    EXPECT_FALSE(errors.empty()) << text;
    return errors;
  }
  bool agrees(ModuleOp module) {
    return llvm::all_of(errorsOf(module), [](const check::TensorError &error) {
      return error.passed;
    });
  }

private:
  test::ProgramHarness harness;
  std::string text;
  bool rounded;
};

class SplitExamples : public testing::TestWithParam<const char *> {};

TEST_P(SplitExamples, AgreeWithTheRecurrence) {
  Split split(test::exampleText(GetParam()), 1);
  std::string whyNot;
  OwningOpRef<ModuleOp> module = split.roles(whyNot);
  ASSERT_TRUE(module) << whyNot;
  EXPECT_TRUE(split.agrees(*module));
}

TEST_P(SplitExamples, AgreeWithoutRounding) {
  Split split(test::exampleText(GetParam(), "f32"), 1, /*rounded=*/false);
  std::string whyNot;
  OwningOpRef<ModuleOp> module = split.roles(whyNot);
  ASSERT_TRUE(module) << whyNot;
  EXPECT_TRUE(split.agrees(*module));
}

INSTANTIATE_TEST_SUITE_P(
    All, SplitExamples,
    testing::Values("linear_attention", "retnet", "gated_deltanet",
                    "gated_deltanet_gates", "gated_deltanet_packed", "prism_l0",
                    "prism_l1", "prism_l2", "prism_l4", "nameless"),
    [](const testing::TestParamInfo<const char *> &info) {
      return std::string(info.param);
    });

/// Fewer readers than a warpgroup has rows: their scores are transposed.
TEST(SplitScores, OfFewReadersAgree) {
  Split split(test::exampleText("gated_deltaproduct"), 1, /*rounded=*/true,
              /*chunk=*/32);
  std::string whyNot;
  OwningOpRef<ModuleOp> module = split.roles(whyNot);
  ASSERT_TRUE(module) << whyNot;
  bool isTransposed = false;
  module->walk([&](tile::DecayMatrixOp decay) {
    isTransposed |= decay.getTransposed();
  });
  EXPECT_TRUE(isTransposed);
  EXPECT_TRUE(split.agrees(*module));
}

class SplitChains : public testing::TestWithParam<unsigned> {};

/// Rounding alone may take a long chain past the limit of bf16. What a split
/// must not do is add to the error of the same program in one loop.
TEST_P(SplitChains, AreAsGoodAsOneLoop) {
  unsigned seed = GetParam() + fromEnvironment("PRISM_SEED", 100);
  std::string spec = test::randomChain(seed, "bf16", {64, 128});
  Split split(spec, seed);
  std::string whyNot;
  OwningOpRef<ModuleOp> roles = split.roles(whyNot), loop = split.prepared();
  ASSERT_TRUE(roles) << whyNot << "\n" << spec;
  auto got = split.errorsOf(*roles), want = split.run(*loop);
  ASSERT_EQ(got.size(), want.size());
  for (auto [error, reference] : llvm::zip_equal(got, want)) {
    EXPECT_LE(error.ratio, 1.01 * reference.ratio) << error.name << spec;
    EXPECT_LE(error.worstHead, 1.01 * reference.worstHead)
        << error.name << spec;
  }
}

TEST_P(SplitChains, AgreeWithoutRounding) {
  unsigned seed = GetParam() + fromEnvironment("PRISM_SEED", 100);
  std::string spec = test::randomChain(seed, "f32", {60, 64});
  Split split(spec, seed, /*rounded=*/false);
  std::string whyNot;
  OwningOpRef<ModuleOp> module = split.roles(whyNot);
  ASSERT_TRUE(module) << whyNot << "\n" << spec;
  EXPECT_TRUE(split.agrees(*module)) << spec;
}

INSTANTIATE_TEST_SUITE_P(Seeds, SplitChains,
                         testing::Range(0u,
                                        fromEnvironment("PRISM_CHAINS", 15)));

/// Every pair of equal parts of a message, exchanged in the send.
TEST(SplitMutants, AnExchangedPartIsNoticed) {
  Split split(test::exampleText("prism_l2"), 1);
  std::string whyNot;
  OwningOpRef<ModuleOp> right = split.roles(whyNot);
  ASSERT_TRUE(right) << whyNot;
  unsigned mutants = 0;
  SmallVector<tile::SendOp> sends;
  right->walk([&](tile::SendOp send) { sends.push_back(send); });
  for (unsigned which = 0; which < sends.size(); ++which) {
    auto values = sends[which].getValues();
    for (unsigned part = 0; part + 1 < values.size(); ++part) {
      if (values[part].getType() != values[part + 1].getType())
        continue;
      OwningOpRef<ModuleOp> wrong = right->clone();
      SmallVector<tile::SendOp> copies;
      wrong->walk([&](tile::SendOp send) { copies.push_back(send); });
      tile::SendOp send = copies[which];
      Value first = send.getValues()[part], second = send.getValues()[part + 1];
      send->setOperand(part, second);
      send->setOperand(part + 1, first);
      EXPECT_FALSE(split.agrees(*wrong))
          << "send " << which << " part " << part;
      ++mutants;
    }
  }
  EXPECT_GE(mutants, 10u);
}

} // namespace
