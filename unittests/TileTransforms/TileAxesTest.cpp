//===- TileAxesTest.cpp - Rows, keys and values ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../../lib/Dialect/Tile/Transforms/TileAxes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace prism::tile;

namespace {

constexpr auto Row = TileAxis::Row, Key = TileAxis::Key,
               Columns = TileAxis::Value, Unknown = TileAxis::Unknown;

/// A program around the body of a loop with a state, `%kt` (keys), `%vt`
/// (values) and `%gt` (a vector) loaded; `%column` is the block's first value.
class Axes : public testing::Test {
protected:
  Axes() {
    context.loadDialect<TileDialect, arith::ArithDialect, math::MathDialect,
                        scf::SCFDialect, tensor::TensorDialect>();
  }

  void analyze(const std::string &body) {
    module = parseSourceString<ModuleOp>(text(body), &context);
    ASSERT_TRUE(module);
    auto program = *module->getOps<ProgramOp>().begin();
    FailureOr<TileAxes> result = TileAxes::analyze(program, reason);
    if (succeeded(result))
      axes.emplace(*result);
    program.walk([&](scf::ForOp op) { loop = op; });
  }

  /// The axes of the result of the n-th op of a kind in the loop.
  template <typename Op> std::vector<TileAxis> of(unsigned n = 0) {
    auto ops = llvm::to_vector(loop.getBody()->getOps<Op>());
    return of(ops[n]->getResult(0));
  }
  std::vector<TileAxis> of(Value tile) {
    std::vector<TileAxis> kinds;
    auto type = cast<RankedTensorType>(tile.getType());
    for (unsigned axis = 0; axis < type.getRank(); ++axis)
      kinds.push_back(axes->kind(tile, axis));
    return kinds;
  }
  using Kinds = std::vector<TileAxis>;

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  std::optional<TileAxes> axes;
  std::string reason;
  scf::ForOp loop;

private:
  static std::string text(const std::string &body) {
    return R"(
tile.program @test(
    %k: !tile.view<?x8xf32> as <name = "k", axes = "btk", heads = 0, role = "input", optional = false>,
    %c: !tile.view<?x2x8xf32> as <name = "c", axes = "btlk", heads = 0, role = "input", optional = false>,
    %v: !tile.view<?x8xf32> as <name = "v", axes = "btv", heads = 0, role = "input", optional = false>,
    %g: !tile.view<?xf64> as <name = "g", axes = "bt", heads = 0, role = "input", optional = false>,
    %s: !tile.view<8x8xf32> as <name = "s", axes = "nkv", heads = 0, role = "initial_state", optional = true>,
    %o: !tile.view<?x8xf32> as <name = "o", axes = "btv", heads = 0, role = "output", optional = false>)
    heads 1 values 8 block 8 chunk 8 {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %length = tile.length : index
  %column = tile.value_offset : index
  %start = tile.load %s[%c0, %column] : <8x8xf32> -> tensor<8x8xf32>
  %end = scf.for %t = %c0 to %length step %c8 iter_args(%state = %start) -> (tensor<8x8xf32>) {
    %kt = tile.load %k[%t, %c0] : <?x8xf32> -> tensor<8x8xf32>
    %vt = tile.load %v[%t, %column] : <?x8xf32> -> tensor<8x8xf32>
    %gt = tile.load %g[%t] : <?xf64> -> tensor<8xf64>
)" + body + R"(
  }
  tile.return
})";
  }
};

// All extents are 8: only the ops tell the axes apart.

TEST_F(Axes, OfLoadsStateAndProducts) {
  analyze(R"(
    %ct = tile.load %c[%t, %c0, %c0] : <?x2x8xf32> -> tensor<8x8xf32>
    %one = tile.load one_step %c[%t, %c0, %c0] : <?x2x8xf32> -> tensor<8xf32>
    %read = tile.dot %kt, %state, %zero : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    %scores = tile.dot %ct, %kt transposed, %zero : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    %next = tile.dot %kt transposed, %vt, %state : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    scf.yield %next : tensor<8x8xf32>)");
  ASSERT_TRUE(axes) << reason;
  EXPECT_EQ(of<LoadOp>(0), (Kinds{Row, Key}));     // k
  EXPECT_EQ(of<LoadOp>(1), (Kinds{Row, Columns})); // v
  EXPECT_EQ(of<LoadOp>(2), (Kinds{Row}));          // g
  EXPECT_EQ(of<LoadOp>(3), (Kinds{Row, Key}));     // c
  EXPECT_EQ(of<LoadOp>(4), (Kinds{Key}));          // one step of c
  EXPECT_EQ(of<DotOp>(0), (Kinds{Row, Columns}));
  EXPECT_EQ(of<DotOp>(1), (Kinds{Row, Row}));
  EXPECT_EQ(of<DotOp>(2), (Kinds{Key, Columns}));
  EXPECT_EQ(of(loop.getRegionIterArg(0)), (Kinds{Key, Columns}));
  EXPECT_EQ(of(loop.getResult(0)), (Kinds{Key, Columns}));
  EXPECT_TRUE(axes->has(loop.getResult(0), Columns));
  EXPECT_FALSE(axes->has(loop.getResult(0), Row));
}

TEST_F(Axes, OfGatesDecaysAndInverses) {
  analyze(R"(
    %sum = tile.gate_sum %gt : tensor<8xf64>
    %matrix = tile.decay_matrix %sum at [1], %sum at [0] : tensor<8xf64>, tensor<8xf64> -> tensor<8x8xf32>
    %inverse = tile.invert %matrix : tensor<8x8xf32>
    %x = tile.solve %matrix, %vt : tensor<8x8xf32>, tensor<8x8xf32>
    %last = tile.splat_last %sum : tensor<8xf64> -> tensor<8xf64>
    %narrow = arith.truncf %last : tensor<8xf64> to tensor<8xf32>
    %kept = tile.scale_rows %state by %narrow : tensor<8x8xf32>, tensor<8xf32>
    scf.yield %kept : tensor<8x8xf32>)");
  ASSERT_TRUE(axes) << reason;
  EXPECT_EQ(of<GateSumOp>(), (Kinds{Row}));
  EXPECT_EQ(of<DecayMatrixOp>(), (Kinds{Row, Row}));
  EXPECT_EQ(of<InvertOp>(), (Kinds{Row, Row}));
  EXPECT_EQ(of<SolveOp>(), (Kinds{Row, Columns}));
  // The last sum, repeated for each key: scaling ties it to the state.
  EXPECT_EQ(of<SplatLastOp>(), (Kinds{Key}));
  EXPECT_EQ(of<arith::TruncFOp>(), (Kinds{Key}));
  EXPECT_EQ(of<ScaleRowsOp>(), (Kinds{Key, Columns}));
}

TEST_F(Axes, OfStacksMasksSumsAndBroadcasts) {
  analyze(R"(
    %stack = tile.interleave %zero, %vt : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
    %mask = tile.mask_rows %kt from %t : tensor<8x8xf32>
    %norm = tile.sum_columns %kt : tensor<8x8xf32> -> tensor<8xf32>
    %wide = tile.broadcast %norm : tensor<8xf32> -> tensor<8x8xf32>
    %unit = arith.divf %kt, %wide : tensor<8x8xf32>
    %column_sums = tile.sum_columns %state : tensor<8x8xf32> -> tensor<8xf32>
    %scaled = tile.scale_columns %kt by %column_sums : tensor<8x8xf32>, tensor<8xf32>
    scf.yield %state : tensor<8x8xf32>)");
  ASSERT_TRUE(axes) << reason;
  EXPECT_EQ(of<InterleaveOp>(), (Kinds{Row, Columns}));
  EXPECT_EQ(of<MaskRowsOp>(), (Kinds{Row, Key}));
  EXPECT_EQ(of<SumColumnsOp>(0), (Kinds{Row}));
  EXPECT_EQ(of<BroadcastOp>(), (Kinds{Row, Key}));
  EXPECT_EQ(of<SumColumnsOp>(1), (Kinds{Key}));
  EXPECT_EQ(of<ScaleColumnsOp>(), (Kinds{Row, Key}));
}

TEST_F(Axes, AConstantHasNone) {
  analyze(R"(
    %a = arith.addf %kt, %zero : tensor<8x8xf32>
    %b = arith.addf %vt, %zero : tensor<8x8xf32>
    scf.yield %state : tensor<8x8xf32>)");
  ASSERT_TRUE(axes) << reason;
  Value zero = (*loop.getBody()->getOps<arith::AddFOp>().begin()).getRhs();
  EXPECT_EQ(of(zero), (Kinds{Unknown, Unknown}));
  EXPECT_EQ(of<arith::AddFOp>(0), (Kinds{Row, Key}));
  EXPECT_EQ(of<arith::AddFOp>(1), (Kinds{Row, Columns}));
}

TEST_F(Axes, AStoreSaysWhatItStores) {
  analyze(R"(
    %sum = arith.addf %kt, %kt : tensor<8x8xf32>
    tile.store %sum, %o[%t, %column] : tensor<8x8xf32>, <?x8xf32>
    scf.yield %state : tensor<8x8xf32>)");
  ASSERT_TRUE(axes) << reason;
  EXPECT_EQ(of<LoadOp>(0), (Kinds{Row, Columns}));
}

TEST_F(Axes, OfTwoKindsIsRefused) {
  analyze(R"(
    %product = tile.dot %vt, %state, %zero : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    %inverse = tile.invert %product : tensor<8x8xf32>
    scf.yield %state : tensor<8x8xf32>)");
  EXPECT_FALSE(axes);
  EXPECT_EQ(reason, "an axis of 8 elements is both a row and a value axis");
}

} // namespace
