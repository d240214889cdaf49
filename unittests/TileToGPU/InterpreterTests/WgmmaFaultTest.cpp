//===- WgmmaFaultTest.cpp - What a wgmma must not be used like ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Interpreter/Mutations.h"
#include "Kernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace prism::test;

namespace {

const char *kProduct =
    "#nvvm.shape<m = 64, n = 32, k = 16>, D [#nvvm.wgmma_type<f32>, "
    "#nvvm.wgmma_scale_out<one>], A [#nvvm.wgmma_type<bf16>, "
    "#nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<row>], B "
    "[#nvvm.wgmma_type<bf16>, #nvvm.wgmma_scale_in<one>, "
    "#nvvm.mma_layout<col>] : !acc16 -> !acc16";

/// Two groups of one product each over a tile of ones (64 x 64 bf16).
const char *kTwoGroups = R"(
  %ones = arith.constant dense<0x3f803f80> : vector<4xi32>
  %zero = llvm.mlir.zero : !acc16
  %bytes = arith.muli %tid, %c64 : i32
  %to = llvm.getelementptr %smem[%bytes] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  %to1 = llvm.getelementptr %to[16] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %to2 = llvm.getelementptr %to[32] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %to3 = llvm.getelementptr %to[48] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  llvm.store %ones, %to : vector<4xi32>, !llvm.ptr<3>
  llvm.store %ones, %to1 : vector<4xi32>, !llvm.ptr<3>
  llvm.store %ones, %to2 : vector<4xi32>, !llvm.ptr<3>
  llvm.store %ones, %to3 : vector<4xi32>, !llvm.ptr<3>
  nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  nvvm.barrier0
  %address = llvm.ptrtoint %smem : !llvm.ptr<3> to i64
  %four = arith.constant 4 : i64
  %units = arith.shrui %address, %four : i64
  %fields = arith.constant 0x4000004000010000 : i64
  %d = arith.addi %units, %fields : i64
  nvvm.wgmma.fence.aligned
  %x = nvvm.wgmma.mma_async %d, %d, %zero, PRODUCT
  nvvm.wgmma.commit.group.sync.aligned
  %y = nvvm.wgmma.mma_async %d, %d, %zero, PRODUCT
  nvvm.wgmma.commit.group.sync.aligned
  nvvm.wgmma.wait.group.sync.aligned 1
  %x0 = llvm.extractvalue %x[0] : !acc16
  %xo = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  llvm.store %x0, %xo : f32, !llvm.ptr<1>
  nvvm.wgmma.wait.group.sync.aligned 0
  %y0 = llvm.extractvalue %y[0] : !acc16
  llvm.store %y0, %xo : f32, !llvm.ptr<1>
  nvvm.barrier0 {last}
  llvm.store %ones, %to : vector<4xi32>, !llvm.ptr<3>
)";

std::string faultOf(const std::string &line, const std::string &by) {
  std::string body = replace(kTwoGroups, "PRODUCT", kProduct);
  std::string key = replace(line, "PRODUCT", kProduct);
  EXPECT_NE(body.find(key), std::string::npos) << line;
  return Kernel(wrap(replace(body, key, replace(by, "PRODUCT", kProduct))))
      .runEveryWay();
}

testing::AssertionResult has(const std::string &fault,
                             const std::string &part) {
  if (fault.find(part) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "the fault is \"" << fault << "\"";
}

TEST(WgmmaFaults, RightAsWritten) {
  Kernel kernel(wrap(replace(kTwoGroups, "PRODUCT", kProduct)));
  std::vector<uint8_t> in(4), out(512);
  ASSERT_EQ(kernel.runEveryWay(in, out), "");
  for (unsigned t = 0; t < 128; ++t)
    EXPECT_EQ(at<float>(out, t), 16);
}

TEST(WgmmaFaults, Waits) {
  const char *early = "has not been waited for";
  EXPECT_TRUE(has(faultOf("nvvm.wgmma.wait.group.sync.aligned 1", ""), early));
  EXPECT_TRUE(has(faultOf("nvvm.wgmma.wait.group.sync.aligned 0", ""), early));
  // The group holds the product only if it was committed before.
  EXPECT_TRUE(has(faultOf("nvvm.wgmma.commit.group.sync.aligned", ""), early));
}

TEST(WgmmaFaults, Fences) {
  EXPECT_TRUE(has(faultOf("nvvm.fence.proxy {kind = "
                          "#nvvm.proxy_kind<async.shared>, space = "
                          "#nvvm.shared_space<cta>}",
                          ""),
                  "missing fence.proxy"));
  // After the barrier it is too late.
  EXPECT_TRUE(has(
      faultOf("nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space "
              "= #nvvm.shared_space<cta>}\n  nvvm.barrier0",
              "nvvm.barrier0\n  nvvm.fence.proxy {kind = "
              "#nvvm.proxy_kind<async.shared>, space = "
              "#nvvm.shared_space<cta>}"),
      "missing fence.proxy"));
  EXPECT_TRUE(
      has(faultOf("nvvm.wgmma.fence.aligned", ""), "missing wgmma.fence"));
  EXPECT_TRUE(has(faultOf("nvvm.wgmma.fence.aligned",
                          "nvvm.wgmma.fence.aligned\n"
                          "  %f = arith.sitofp %tid : i32 to f32\n"
                          "  %written = llvm.insertvalue %f, %zero[3] : "
                          "!acc16\n"
                          "  %z = nvvm.wgmma.mma_async %d, %d, %written, "
                          "PRODUCT\n"),
                  "missing wgmma.fence"));
}

TEST(WgmmaFaults, SharedMemory) {
  EXPECT_TRUE(has(faultOf("  nvvm.barrier0\n", ""), "missing barrier"));
  EXPECT_TRUE(has(faultOf("nvvm.barrier0 {last}", ""), "that a wgmma of warp"));
  // Between issue and wait.
  EXPECT_TRUE(has(faultOf("  nvvm.wgmma.wait.group.sync.aligned 1\n",
                          "  llvm.store %ones, %to : vector<4xi32>, "
                          "!llvm.ptr<3>\n"
                          "  nvvm.wgmma.wait.group.sync.aligned 1\n"),
                  "that a wgmma of warp"));
  EXPECT_TRUE(has(faultOf("nvvm.wgmma.wait.group.sync.aligned 1\n",
                          "nvvm.wgmma.wait.group.sync.aligned 1\n"
                          "  nvvm.barrier0\n  llvm.store %ones, %to : "
                          "vector<4xi32>, !llvm.ptr<3>\n"),
                  "that a wgmma of warp"));
}

TEST(WgmmaFaults, Descriptors) {
  EXPECT_TRUE(has(faultOf("0x4000004000010000", "0x4001004000010000"),
                  "outside its fields"));
  EXPECT_TRUE(has(faultOf("0x4000004000010000", "0x4000004000010008"),
                  "where its swizzle pattern does"));
  EXPECT_TRUE(has(faultOf("0x4000004000010000", "0x4000100000010000"),
                  "shared read by wgmma out of bounds"));
  EXPECT_TRUE(has(faultOf("%d = arith.addi %units, %fields : i64",
                          "%t = arith.extui %tid : i32 to i64\n"
                          "  %s = arith.addi %units, %fields : i64\n"
                          "  %d = arith.addi %s, %t : i64"),
                  "not the same in the warp group"));
}

/// A fragment is packed again, in a loop, while its product is in flight.
TEST(WgmmaFaults, FragmentOverwritten) {
  std::string outputs, list;
  for (int i = 0; i < 16; ++i) {
    outputs += "=f,";
    list += (i ? ", $" : "$") + std::to_string(i);
  }
  std::string body =
      replace(kTwoGroups, "PRODUCT", kProduct) + R"(
  nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  nvvm.barrier0
  %last = scf.for %i = %c0 to %c3 step %c1 iter_args(%old = %zero) -> (!acc16) : i32 {
    %a = arith.addi %i, %tid : i32
    nvvm.wgmma.fence.aligned
    %new = llvm.inline_asm has_side_effects "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {)" +
      list + R"(}, {$16, $17, $18, $19}, $20, 0, 1, 1, 0;", ")" + outputs +
      R"(r,r,r,r,l" %a, %a, %a, %a, %d : (i32, i32, i32, i32, i64) -> !acc16
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0 {inner}
    scf.yield %new : !acc16
  })";
  std::string right = replace(body, " {inner}", "");
  EXPECT_EQ(Kernel(wrap(right)).runEveryWay(), "");
  std::string late = replace(body, "sync.aligned 0 {inner}", "sync.aligned 1");
  EXPECT_TRUE(has(Kernel(wrap(late)).runEveryWay(),
                  "overwrites a register that a wgmma still reads as A"));
}

TEST(WgmmaFaults, PartOfAWarpGroup) {
  EXPECT_TRUE(has(faultOf("  %y = nvvm.wgmma.mma_async %d, %d, %zero, PRODUCT",
                          "  %is0 = arith.cmpi eq, %warp, %c0 : i32\n"
                          "  %y = scf.if %is0 -> (!acc16) {\n"
                          "  %q = nvvm.wgmma.mma_async %d, %d, %zero, "
                          "PRODUCT\n  scf.yield %q : !acc16\n  } else {\n"
                          "  scf.yield %zero : !acc16\n  }"),
                  "deadlock"));
}

//===----------------------------------------------------------------------===//
// A chained product from a file
//===----------------------------------------------------------------------===//

struct Chained {
  std::unique_ptr<MLIRContext> context = std::make_unique<MLIRContext>();
  OwningOpRef<ModuleOp> module;
  std::vector<uint16_t> q, k, v;
  std::vector<float> out = std::vector<float>(64 * 64);
  static constexpr unsigned kBlocks = 3;

  Chained() {
    context->disableMultithreading();
    context->loadDialect<arith::ArithDialect, LLVM::LLVMDialect,
                         NVVM::NVVMDialect, scf::SCFDialect>();
    module = parseSourceFile<ModuleOp>(PRISM_STATE1, context.get());
    fill(q, 64 * 64, 1);
    fill(k, kBlocks * 64 * 64, 2);
    fill(v, kBlocks * 64 * 64, 3);
  }
  static void fill(std::vector<uint16_t> &to, size_t count, uint32_t seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (size_t i = 0; i < count; ++i)
      to.push_back(toHalf(normal(random), true));
  }
  std::string run(InterpreterOptions options) {
    KernelInterpreter interpreter(
        module->lookupSymbol<LLVM::LLVMFuncOp>("scores_times_values"), 128, 0,
        options);
    auto address = [](const auto &array) {
      return reinterpret_cast<uint64_t>(array.data());
    };
    for (const auto *array : {&q, &k, &v})
      interpreter.allow(array->data(), array->size() * 2);
    interpreter.allow(out.data(), out.size() * 4);
    interpreter.runBlock(
        0, {address(q), address(k), address(v), address(out), kBlocks});
    return interpreter.error();
  }
  static double value(uint16_t bits) {
    uint32_t wide = uint32_t(bits) << 16;
    float result;
    std::memcpy(&result, &wide, 4);
    return result;
  }
  double relativeError() const {
    double error = 0, norm = 0;
    for (unsigned row = 0; row < 64; ++row)
      for (unsigned column = 0; column < 64; ++column) {
        double sum = 0;
        for (unsigned key = 0; key < kBlocks * 64; ++key) {
          double score = 0;
          for (unsigned i = 0; i < 64; ++i)
            score += value(q[row * 64 + i]) * value(k[key * 64 + i]);
          sum += score * value(v[key * 64 + column]);
        }
        double difference = out[row * 64 + column] - sum;
        error += std::isnan(difference) ? INFINITY : difference * difference;
        norm += sum * sum;
      }
    return std::sqrt(error / norm);
  }
};

TEST(ChainedProduct, EqualsFloat64) {
  using Options = InterpreterOptions;
  for (auto copies : {Options::Copies::Early, Options::Copies::Late})
    for (auto order : {Options::Order::Ascending, Options::Order::Random}) {
      Chained chained;
      ASSERT_TRUE(chained.module);
      Options options;
      options.copies = copies;
      options.order = order;
      ASSERT_EQ(chained.run(options), "");
      // The scores are rounded to bf16.
      EXPECT_LT(chained.relativeError(), 3e-3);
    }
}

/// Every fence, wait and barrier of it is needed.
TEST(ChainedProduct, NeedsEachSynchronisation) {
  Chained chained;
  std::vector<Operation *> all = synchronisationsOf(*chained.module);
  ASSERT_EQ(all.size(), 11u);
  InterpreterOptions options;
  options.copies = InterpreterOptions::Copies::Late;
  for (Operation *op : all) {
    Without without(op);
    EXPECT_NE(chained.run(options), "") << describe(op);
  }
  EXPECT_EQ(chained.run(options), "");
}

} // namespace
