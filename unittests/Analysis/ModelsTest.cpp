//===- ModelsTest.cpp - The verdicts on the example models ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the analysis says of examples/models, and that the models evaluated in
// f64 behave so: a map that is called affine keeps sums, the others do not.
//
//===----------------------------------------------------------------------===//

#include "StateMap.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace prism;
using namespace prism::analysis;

namespace {
struct Verdict {
  const char *model;
  Granularity granularity;
};
void PrintTo(const Verdict &verdict, std::ostream *os) { *os << verdict.model; }
class Models : public testing::TestWithParam<Verdict> {};
} // namespace

TEST_P(Models, VerdictAndValues) {
  Verdict verdict = GetParam();
  TestContext test;
  auto module = parseSourceFile<ModuleOp>(
      std::string(PRISM_MODELS "/") + verdict.model + ".mlir", &test.context);
  ASSERT_TRUE(module) << test.messages;
  // More than one mini-batch of 16.
  StateMap map(*module, /*steps=*/18, /*seed=*/7);
  std::optional<double> residual = map.residual();
  ASSERT_TRUE(residual) << test.messages;
  StateFlow flow(map.recurrence);
  EXPECT_EQ(flow.granularity(), verdict.granularity);
  if (verdict.granularity == Granularity::none)
    EXPECT_GT(*residual, 1e-6);
  else
    EXPECT_LT(*residual, 1e-12);
}

static constexpr Granularity kToken = Granularity::token,
                             kMiniBatch = Granularity::miniBatch,
                             kNone = Granularity::none;

INSTANTIATE_TEST_SUITE_P(
    Examples, Models,
    testing::Values(
        Verdict{"linear_attention", kToken}, Verdict{"retnet", kToken},
        Verdict{"gla", kToken}, Verdict{"mamba", kToken},
        Verdict{"mamba2", kToken}, Verdict{"deltanet", kToken},
        Verdict{"gated_deltanet", kToken}, Verdict{"kda", kToken},
        Verdict{"gated_deltaproduct", kToken}, Verdict{"rwkv7", kToken},
        Verdict{"prism_v2", kToken}, Verdict{"prism_v3", kToken},
        Verdict{"ttt_linear_no_norm", kMiniBatch},
        Verdict{"titans_linear", kMiniBatch}, Verdict{"ttt_linear", kNone},
        Verdict{"ttt_mlp", kNone}, Verdict{"titans_norm", kNone},
        Verdict{"titans_mlp", kNone}, Verdict{"lstm", kNone},
        Verdict{"gru", kNone}, Verdict{"ideal_solver", kNone}),
    [](const auto &info) { return std::string(info.param.model); });
