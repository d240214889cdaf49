//===- MixedMessageTest.cpp - A matrix and a vector in one message --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// No spec makes a message of both, a program by hand does
// (roles-mixed-message.mlir): S = sum of k_t (g_t v_t)'.
//
//===----------------------------------------------------------------------===//

#include "Interpreter/Mutations.h"
#include "Prism/Conversion/TileToGPU/TileToGPU.h"
#include "Prism/Registration/Registration.h"
#include "Prism/Target/Bundle/Bundle.h"
#include "Prism/TargetInfo/TargetInfo.h"
#include "RoleKernel.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "prism-runtime/TensorMaps.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace prism;
using namespace prism::test;

namespace {

/// Small numbers that bf16 holds, and so their products with g, 0.5 or 1.
float number(int64_t i) { return float(i * 37 % 17 - 8) / 8; }

uint16_t toBF16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return uint16_t(bits >> 16);
}

struct MixedMessage : testing::Test {
  static constexpr int64_t kSteps = 5 * 64 + 7, kSize = 64;
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
  LLVM::LLVMFuncOp kernel;
  tiletogpu::GPUKernelInfo made;
  runtime::EntryInfo entry;
  std::vector<runtime::TensorMapInfo> maps;
  alignas(16) uint16_t k[kSteps * kSize], v[kSteps * kSize];
  float g[kSteps], state[kSize * kSize];

  void SetUp() override {
    DialectRegistry registry;
    registerPrismDialects(registry);
    context = std::make_unique<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
    module = parseSourceFile<ModuleOp>(PRISM_MIXED_MESSAGE, context.get());
    ASSERT_TRUE(module);
    tile::ProgramOp program = *module->getOps<tile::ProgramOp>().begin();
    entry = describeEntry(program, "forward");
    std::string error;
    tiletogpu::GPUOptions options;
    options.target = targetinfo::parseTarget("cuda:sm_90a", error)->gpu();
    auto converted = tiletogpu::convertProgramToGPU(program, options);
    ASSERT_TRUE(succeeded(converted));
    made = *converted;
    kernel = module->lookupSymbol<LLVM::LLVMFuncOp>(made.symbol);
    for (const tiletogpu::TensorMapBox &box : made.tensorMaps) {
      maps.push_back({box.argument, box.rows, box.columns});
      ASSERT_TRUE(entry.locate(maps.back()));
    }
    for (int64_t i = 0; i < kSteps * kSize; ++i) {
      k[i] = toBF16(number(i));
      v[i] = toBF16(number(3 * i + 1));
    }
    for (int64_t t = 0; t < kSteps; ++t)
      g[t] = t % 3 ? 1.0f : 0.5f;
  }

  /// The fault, or the first wrong element.
  std::string run(InterpreterOptions options, bool hasMaps) {
    using runtime::DType;
    std::fill_n(state, kSize * kSize, NAN);
    std::vector<int64_t> rows = {1, kSteps, kSize};
    auto call = runtime::bindCall(
        entry, {{"k", {k, DType::BF16, rows, {}}},
                {"v", {v, DType::BF16, rows, {}}},
                {"g", {g, DType::F32, {1, kSteps}, {}}},
                {"final_state", {state, DType::F32, {1, kSize, kSize}, {}}}});
    if (!call)
      return call.error();
    std::vector<uint64_t> parameter(runtime::parameterBytes(maps, *call) / 8);
    runtime::writeParameter(
        maps, *call,
        [&](const runtime::TensorMap &map, void *to) {
          return hasMaps && encodeForInterpreter(map, to);
        },
        parameter.data());
    KernelInterpreter interpreter(kernel, made.threads, made.sharedBytes,
                                  options);
    interpreter.allow(k, sizeof(k));
    interpreter.allow(v, sizeof(v));
    interpreter.allow(g, sizeof(g));
    interpreter.allow(state, sizeof(state));
    if (!interpreter.runBlock(0, parameter))
      return interpreter.error();
    // A message of keys and gates, and one of values, for each chunk.
    if (interpreter.countBoxes() != (hasMaps ? 6 * 2 : 0))
      return std::to_string(interpreter.countBoxes()) + " boxes";
    for (int64_t i = 0; i < kSize; ++i)
      for (int64_t j = 0; j < kSize; ++j) {
        double expected = 0;
        for (int64_t t = 0; t < kSteps; ++t)
          expected += double(number(t * kSize + i)) * g[t] *
                      number(3 * (t * kSize + j) + 1);
        if (std::abs(state[i * kSize + j] - expected) > 1e-3)
          return "state[" + std::to_string(i) + ", " + std::to_string(j) + "]";
      }
    return "";
  }

  std::string runEveryWay() {
    using Options = InterpreterOptions;
    for (auto copies : {Options::Copies::Late, Options::Copies::Early})
      for (auto order : {Options::Order::Ascending, Options::Order::Random,
                         Options::Order::Descending})
        for (bool hasMaps : {true, false}) {
          Options options;
          options.copies = copies;
          options.order = order;
          options.seed = 7;
          options.limit = 30000000;
          if (std::string fault = run(options, hasMaps); !fault.empty())
            return fault;
        }
    return "";
  }
};

TEST_F(MixedMessage, IsPublishedWhenBothHaveLanded) {
  EXPECT_EQ(runEveryWay(), "");
}

TEST_F(MixedMessage, NeedsItsBytesExpectedAndItsCopiesWaitedFor) {
  unsigned count = 0;
  std::vector<Operation *> all;
  kernel.walk([&](Operation *op) {
    if (isa<NVVM::MBarrierExpectTxOp, NVVM::MBarrierArriveExpectTxOp,
            NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp,
            NVVM::CpAsyncWaitGroupOp>(op))
      all.push_back(op);
    count += isa<NVVM::MBarrierExpectTxOp>(op);
  });
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(all.size(), 6u);
  for (Operation *op : all) {
    Without without(op);
    EXPECT_NE(runEveryWay(), "") << describe(op);
  }
}

} // namespace
