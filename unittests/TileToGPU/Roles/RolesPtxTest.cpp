//===- RolesPtxTest.cpp - Kernels of roles, assembled ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Models.h"
#include "Prism/Target/GPU/GPU.h"
#include "Prism/TargetInfo/TargetInfo.h"
#include "RoleKernel.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace prism;
using namespace prism::test;

namespace {

/// What a kernel may use; a change that needs more says so here.
struct Budget {
  const char *model;
  int64_t keys, values;
  int64_t threads;
  int registers; ///< of a thread at its start
  int64_t sharedBytes;
  const char *io = "bf16";
  int64_t valueBlock = 64;
  int spilled = 0; ///< bytes, stored and loaded each
  int64_t prepareBlocks = 0;
};

const Budget kBudgets[] = {
    {"linear_attention", 64, 64, 512, 128, 142592},
    {"retnet", 64, 64, 512, 128, 152832},
    {"gated_deltanet", 64, 64, 512, 128, 206080},
    {"prism_l0", 64, 64, 512, 128, 206080},
    {"linear_attention", 128, 128, 384, 168, 207616},
    {"retnet", 128, 128, 384, 168, 216832},
    {"gated_deltanet", 128, 128, 384, 168, 218000},
    {"prism_l0", 128, 128, 384, 168, 218000},
    {"gated_deltanet", 128, 128, 512, 128, 218000, "bf16", 128},
    // Loads of six matrices.
    {"prism_l1", 64, 64, 512, 128, 205056},
    // Several erases a token.
    {"deltaproduct_2", 128, 128, 384, 168, 224000},
    {"deltaproduct_2", 128, 128, 512, 128, 218000, "bf16", 128},
    {"deltaproduct_4", 128, 128, 384, 168, 224000},
    // Decays per key.
    {"gla", 64, 64, 512, 128, 153632},
    {"gla", 128, 128, 384, 168, 195344},
    {"kda", 64, 64, 512, 128, 208928},
    {"kda", 128, 128, 384, 168, 231984},
    {"gated_deltanet2", 64, 64, 384, 168, 223264},
    {"gated_deltanet2", 128, 128, 384, 168, 204560},
    {"rwkv7", 64, 64, 384, 168, 198672},
    {"rwkv7", 128, 128, 384, 168, 229888},
    // Keys of a state that is rounded piece by piece.
    {"gated_deltanet", 144, 144, 512, 128, 232000},
    {"gated_deltanet", 192, 192, 512, 128, 232000},
    {"retnet", 192, 192, 512, 128, 232000},
    {"retnet", 256, 256, 384, 168, 232000},
    // Powers of two beside the operands take registers.
    {"gated_deltanet", 64, 64, 512, 128, 206080, "f16"},
    {"retnet", 128, 128, 384, 168, 216832, "f16"},
    {"gated_deltanet", 128, 128, 384, 168, 216832, "f16"},
    {"retnet", 128, 128, 512, 128, 198400, "f16", 128},
    {"gated_deltanet", 128, 128, 512, 128, 216832, "f16", 128, 100},
    // Norms of keys and queries, and gates, inside.
    {"normed_deltanet", 64, 64, 512, 128, 207000},
    {"normed_deltanet", 128, 128, 384, 168, 221000},
    {"normed_gated_deltanet", 64, 64, 512, 128, 209152},
    {"normed_gated_deltanet", 128, 128, 384, 168, 221000},
    {"gates_gated_deltanet", 128, 128, 384, 168, 224000},
    {"gates_gated_deltanet", 128, 128, 512, 128, 224000, "bf16", 128, 4},
    {"normed_retnet", 128, 128, 384, 168, 221000},
    {"normed_deltaproduct_2", 128, 128, 384, 168, 225000},
    {"normed_gated_deltanet", 128, 128, 384, 168, 221000, "f16"},
    {"gates_gated_deltanet", 128, 128, 512, 128, 232000, "bf16", 64, 0, 1},
    {"gates_gated_deltanet", 128, 128, 256, 255, 232000, "bf16", 64, 0, 2},
    // Blocks that only prepare.
    {"gated_deltanet", 128, 128, 512, 128, 230464, "bf16", 64, 0, 1},
    {"gated_deltanet", 128, 128, 256, 255, 227000, "bf16", 64, 0, 2},
};

class Assembled : public testing::TestWithParam<Budget> {};

TEST_P(Assembled, UsesTensorCoresWithinItsBudget) {
  const Budget &budget = GetParam();
  Model model;
  model.name = budget.model;
  model.keys = budget.keys;
  model.values = budget.values;
  model.io = budget.io;
  RoleKernel kernel(specOf(model), budget.valueBlock, /*segments=*/1,
                    budget.prepareBlocks);
  ASSERT_EQ(kernel.whyNot(), "");
  EXPECT_EQ(kernel.threads(), budget.threads);
  EXPECT_LE(kernel.sharedBytes(), budget.sharedBytes);
  auto module = kernel.kernel()->getParentOfType<ModuleOp>();
  ASSERT_TRUE(succeeded(lowerKernelToNVVM(module)));
  FailureOr<std::string> ptx =
      emitPTX(module, *targetinfo::lookupChip("sm_90a"));
  ASSERT_TRUE(succeeded(ptx));
  for (const char *instruction :
       {"wgmma.mma_async.sync.aligned.m64n", "cp.async.cg.shared.global",
        "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::"
        "complete_tx::bytes",
        "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group",
        "mbarrier.arrive.expect_tx", ".param .align 64 .b8 kernel_param_0",
        "mbarrier.try_wait.parity", "setmaxnreg.dec", "stmatrix.sync.aligned"})
    EXPECT_NE(ptx->find(instruction), std::string::npos) << instruction;
  // 256 threads start with all that they may have.
  EXPECT_EQ(ptx->find("setmaxnreg.inc") == std::string::npos,
            budget.threads == 256);
  std::string io = budget.io;
  EXPECT_NE(ptx->find("k16.f32." + io + "." + io), std::string::npos);
  EXPECT_EQ(ptx->find(".extern .func"), std::string::npos);

  std::string error;
  FailureOr<prism::Assembled> assembled = assemble(*ptx, "sm_90a", error);
  ASSERT_TRUE(succeeded(assembled)) << error;
  if (assembled->cubin.empty())
    GTEST_SKIP() << assembled->note;
  // Such as C7508, registers of roles ignored, and C7510, products in sequence.
  EXPECT_EQ(assembled->note, "");
  EXPECT_LE(assembled->resources.spillStores, budget.spilled);
  EXPECT_LE(assembled->resources.spillLoads, budget.spilled);
  EXPECT_LE(assembled->resources.registers, budget.registers);
}

INSTANTIATE_TEST_SUITE_P(
    Models, Assembled, testing::ValuesIn(kBudgets),
    [](const testing::TestParamInfo<Budget> &info) {
      const Budget &budget = info.param;
      return std::string(budget.model) + "_" + std::to_string(budget.keys) +
             "_" + budget.io + "_in_" + std::to_string(budget.valueBlock) +
             (budget.prepareBlocks
                  ? "_and_" + std::to_string(budget.prepareBlocks)
                  : "");
    });

} // namespace
