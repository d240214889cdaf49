//===- BufferPlanTest.cpp - What the workspace holds ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../../lib/Conversion/TileToCPU/BufferPlan.h"
#include "KernelHarness.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace prism;
using namespace prism::test;
using namespace prism::tiletocpu;

namespace {

/// The plan of one Gated DeltaNet program, and its ops by name.
class Plan : public testing::Test {
protected:
  void plan(const GatedDelta &c) {
    context
        .loadDialect<tile::TileDialect, arith::ArithDialect, math::MathDialect,
                     scf::SCFDialect, tensor::TensorDialect>();
    module = parseSourceString<ModuleOp>(c.text(), &context);
    ASSERT_TRUE(module);
    auto program = *module->getOps<tile::ProgramOp>().begin();
    buffers.emplace(program, options);
    program.walk([&](scf::ForOp op) { loop = op; });
  }
  /// The n-th op of a kind in the loop.
  template <typename Op> Op nth(unsigned n) {
    auto ops = llvm::to_vector(loop.getBody()->getOps<Op>());
    return ops[n];
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  CPUOptions options;
  std::optional<BufferPlan> buffers;
  scf::ForOp loop;
};

TEST_F(Plan, TheStateIsUpdatedInPlace) {
  plan({64, 64, 16, 65});
  const CarriedTile &state = buffers->carriedOf(loop)[0];
  EXPECT_TRUE(state.initInPlace);
  EXPECT_TRUE(state.yieldInPlace);
}

TEST_F(Plan, WhatOneTileUsesHasNoBuffer) {
  plan({64, 64, 16, 65});
  // k S goes into the solve's right side, q S into the output's accumulators,
  // k k^T and q k^T into what masks them.
  for (unsigned dot : {0, 1, 2, 3})
    EXPECT_EQ(buffers->formOf(nth<tile::DotOp>(dot).getResult()), Form::lazy)
        << dot;
  EXPECT_EQ(buffers->formOf(nth<tile::DecayMatrixOp>(0).getResult()),
            Form::lazy);
  EXPECT_EQ(buffers->formOf(nth<tile::SolveOp>(0).getResult()), Form::buffer);
  // Both products with k^T share one transposed copy.
  EXPECT_TRUE(buffers->needsTransposed(nth<tile::LoadOp>(1).getResult()));
}

TEST_F(Plan, WholeRowsAreReadInPlaceAndOddOnesCopied) {
  plan({64, 60, 16, 65});
  EXPECT_TRUE(buffers->mayReadInPlace(nth<tile::LoadOp>(0)));  // q
  EXPECT_TRUE(buffers->mayReadInPlace(nth<tile::LoadOp>(1)));  // k
  EXPECT_FALSE(buffers->mayReadInPlace(nth<tile::LoadOp>(2))); // v: 60 columns
}

TEST_F(Plan, BuffersAliveTogetherDoNotOverlap) {
  for (int64_t chunk : {1, 16, 64}) {
    plan({60, 100, chunk, 65});
    std::vector<const Buffer *> all;
    module->walk([&](Operation *op) {
      for (Value v : op->getResults())
        if (isTile(v) && buffers->formOf(v) == Form::buffer) {
          all.push_back(&buffers->bufferOf(v));
          if (buffers->needsTransposed(v))
            all.push_back(&buffers->transposedOf(v));
        }
    });
    for (const Buffer *x : all)
      for (const Buffer *y : all) {
        if (x == y || x->end < y->begin || y->end < x->begin)
          continue;
        EXPECT_TRUE(x->offset + x->bytes() <= y->offset ||
                    y->offset + y->bytes() <= x->offset);
      }
    for (const Buffer *x : all) {
      EXPECT_EQ(x->offset % 64, 0);
      EXPECT_LE(x->offset + x->bytes(), buffers->workspaceBytes());
    }
  }
}

TEST_F(Plan, DeadBuffersLendTheirPlace) {
  plan({64, 64, 64, 65});
  int64_t sum = 0;
  module->walk([&](Operation *op) {
    for (Value v : op->getResults())
      if (isTile(v) && buffers->formOf(v) == Form::buffer)
        sum += buffers->bufferOf(v).bytes();
  });
  EXPECT_LT(buffers->workspaceBytes(), sum);
}

} // namespace
