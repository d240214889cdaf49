//===- PtxTest.cpp - PTX of tile programs, assembled ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Conversion/TileToGPU/TileToGPU.h"
#include "Prism/Target/GPU/GPU.h"
#include "Programs.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <thread>

using namespace mlir;
using namespace prism;
using tiletogpu::GPUKernelInfo;
using tiletogpu::GPUOptions;
using tiletogpu::Strategy;

namespace {

struct Compiled {
  GPUKernelInfo info;
  std::string ptx, messages;
  bool ok = false;
};

Compiled compile(const std::string &program, const std::string &chip,
                 GPUOptions options = {}) {
  MLIRContext context;
  test::prepare(context);
  Compiled result;
  ScopedDiagnosticHandler collect(&context, [&](Diagnostic &diagnostic) {
    result.messages += diagnostic.str() + "\n";
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program, &context);
  if (!module)
    return result;
  int64_t limit = options.target.sharedMemoryPerBlock;
  options.target = *targetinfo::lookupChip(chip);
  if (limit)
    options.target.sharedMemoryPerBlock = limit;
  FailureOr<GPUKernelInfo> info = tiletogpu::convertTileToGPU(*module, options);
  if (failed(info) || failed(verify(*module)) ||
      failed(lowerKernelToNVVM(*module)))
    return result;
  FailureOr<std::string> ptx = emitPTX(*module, options.target);
  if (failed(ptx))
    return result;
  result.info = *info;
  result.ptx = *ptx;
  result.ok = true;
  return result;
}

test::Shape shapeOf(int64_t keys, int64_t values, int64_t block, int64_t chunk,
                    std::string type = "bf16") {
  test::Shape shape;
  shape.keys = keys;
  shape.values = values;
  shape.block = block;
  shape.chunk = chunk;
  shape.type = std::move(type);
  return shape;
}

void expectNoSpills(const Assembled &assembled) {
  EXPECT_EQ(assembled.resources.spillStores, 0);
  EXPECT_EQ(assembled.resources.spillLoads, 0);
}

class EveryChip : public testing::TestWithParam<const char *> {};

TEST_P(EveryChip, RecurrentFormHasNoSpills) {
  // The budget of registers: two blocks of 256 threads on a multiprocessor, or
  // three of 128 where a thread holds 64 elements.
  for (auto [block, registers] : {std::pair(32, 128), std::pair(64, 168)})
    for (const char *type : {"f32", "bf16", "f16"}) {
      Compiled kernel = compile(
          test::deltaProgram(shapeOf(128, 128, block, 1, type)), GetParam());
      ASSERT_TRUE(kernel.ok) << kernel.messages;
      EXPECT_EQ(kernel.info.strategy, Strategy::Registers);
      EXPECT_EQ(kernel.info.sharedBytes, 0);
      EXPECT_EQ(kernel.ptx.find(".extern"), std::string::npos);
      EXPECT_EQ(kernel.ptx.find("bar.sync"), std::string::npos);
      // The hint for the L2 cache is of PTX 7.4.
      bool hasHints = targetinfo::lookupChip(GetParam())->ptxVersion >= 74;
      EXPECT_EQ(kernel.ptx.find("ld.global.L2::256B") != std::string::npos,
                hasHints)
          << type;
      std::string error;
      FailureOr<Assembled> assembled = assemble(kernel.ptx, GetParam(), error);
      ASSERT_TRUE(succeeded(assembled)) << error;
      if (assembled->cubin.empty())
        GTEST_SKIP() << assembled->note;
      expectNoSpills(*assembled);
      EXPECT_LE(assembled->resources.registers, registers)
          << type << " in blocks of " << block;
      RecordProperty("registers", assembled->resources.registers);
    }
}

TEST_P(EveryChip, ChunkFormAssembles) {
  Compiled kernel =
      compile(test::deltaProgram(shapeOf(128, 128, 32, 16)), GetParam());
  ASSERT_TRUE(kernel.ok) << kernel.messages;
  EXPECT_EQ(kernel.info.strategy, Strategy::Shared);
  EXPECT_EQ(kernel.ptx.find(".extern .func"), std::string::npos);
  std::string error;
  FailureOr<Assembled> assembled = assemble(kernel.ptx, GetParam(), error);
  ASSERT_TRUE(succeeded(assembled)) << error;
  if (assembled->cubin.empty())
    GTEST_SKIP() << assembled->note;
  expectNoSpills(*assembled);
  EXPECT_LE(assembled->resources.registers, 128);
}

INSTANTIATE_TEST_SUITE_P(Chips, EveryChip,
                         testing::Values("sm_80", "sm_90a", "sm_100a",
                                         "sm_120a"),
                         [](const testing::TestParamInfo<const char *> &chip) {
                           return std::string(chip.param);
                         });

TEST(Ptx, SameBytesFromRunToRunAndInThreads) {
  for (int64_t chunk : {1, 16}) {
    std::string program = test::deltaProgram(shapeOf(20, 12, 12, chunk));
    std::string first = compile(program, "sm_90a").ptx;
    ASSERT_FALSE(first.empty());
    std::vector<std::string> others(8);
    std::vector<std::thread> threads;
    for (std::string &other : others)
      threads.emplace_back([&] { other = compile(program, "sm_90a").ptx; });
    for (std::thread &thread : threads)
      thread.join();
    for (const std::string &other : others)
      EXPECT_EQ(first, other);
  }
}

TEST(SharedMemory, TooMuchSaysHowMuchAndWhatToReduce) {
  GPUOptions options;
  options.target.sharedMemoryPerBlock = 99 * 1024;
  Compiled kernel = compile(test::deltaProgram(shapeOf(256, 256, 256, 16)),
                            "sm_90a", options);
  EXPECT_FALSE(kernel.ok);
  EXPECT_NE(kernel.messages.find("bytes of shared memory, sm_90a offers 101376 "
                                 "a block; reduce the value block (now 256 "
                                 "of 256 value columns)"),
            std::string::npos)
      << kernel.messages;
  kernel =
      compile(test::deltaProgram(shapeOf(256, 256, 1, 128)), "sm_90a", options);
  EXPECT_NE(kernel.messages.find("reduce the chunk (now 128)"),
            std::string::npos)
      << kernel.messages;
  // As many value columns as keys and steps: keys and scores are none of them.
  kernel = compile(test::deltaProgram(shapeOf(128, 128, 128, 128)), "sm_90a",
                   options);
  EXPECT_NE(kernel.messages.find("reduce the chunk (now 128)"),
            std::string::npos)
      << kernel.messages;
  // Blocks of V fit.
  kernel =
      compile(test::deltaProgram(shapeOf(256, 256, 16, 16)), "sm_90a", options);
  EXPECT_TRUE(kernel.ok) << kernel.messages;
  EXPECT_LE(kernel.info.sharedBytes, 99 * 1024);
}

TEST(Registers, AskedForAndNotPossible) {
  GPUOptions options;
  options.strategy = Strategy::Registers;
  Compiled kernel =
      compile(test::deltaProgram(shapeOf(16, 16, 16, 4)), "sm_80", options);
  EXPECT_EQ(kernel.messages, "'tile.program' op cannot keep its state in "
                             "registers: the chunk is 4, not 1\n");
}

} // namespace
