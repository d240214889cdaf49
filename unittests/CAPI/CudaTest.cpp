//===- CudaTest.cpp - Calls on a GPU through the C API --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Against the runtime tests' stand-in for the driver, which counts what it is
// told: nothing is computed here.
//
//===----------------------------------------------------------------------===//

#include "../Runtime/FreshFakeCuda.h"
#include "DeltaRule.h"

#include <gtest/gtest.h>

#include <dlfcn.h>

using namespace prism::capi::test;

namespace {

struct Gpu : testing::Test {
  FakeCuda *fake = nullptr;
  Program program;
  Device device;

  void SetUp() override {
    fake = freshFakeCuda();
    ASSERT_TRUE(fake) << dlerror();
    Options options(prismCompileOptionsCreate());
    prismCompileOptionsAddTarget(options.get(), "cuda:sm_90a");
    prismCompileOptionsSetAssemble(options.get(), 0);
    program = compile(deltaRule(), options.get());
    PrismDiagnostic *error = nullptr;
    device.reset(prismDeviceCreateCuda(0, PRISM_TEST_DRIVER, &error));
    ASSERT_TRUE(device) << take(error);
  }
  void TearDown() override {
    program.reset();
    device.reset();
    EXPECT_EQ(fake->retained, 0);
    EXPECT_EQ(fake->pushed, 0);
    EXPECT_EQ(fake->modules, 0);
    EXPECT_EQ(fake->allocations, 0);
    EXPECT_EQ(fake->synchronizations, 0);
  }
};

TEST_F(Gpu, LaunchesOnTheCallersStreamAndLoadsOnce) {
  Call call(2, 20);
  PrismRunOptions options = {};
  options.size = sizeof(options);
  options.stream = &call;
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(call.run(entryOf(program, "forward"), device.get(), &options),
              "");
    EXPECT_EQ(fake->launches, i);
    EXPECT_EQ(fake->modules, 1);
    EXPECT_EQ(fake->stream, &call);
  }
  // The words begin with the addresses in the order of the arguments.
  EXPECT_EQ(fake->words[0], reinterpret_cast<uint64_t>(call.q.data()));
  EXPECT_EQ(fake->words[6], 0u) << "offsets are absent";
  EXPECT_EQ(fake->words[7], reinterpret_cast<uint64_t>(call.o.data()));
  EXPECT_EQ(prismDeviceThreads(device.get()), 0u);
}

TEST_F(Gpu, PrepareLoadsBeforeTheFirstCall) {
  PrismSizes sizes = {2, 20, 2, 20};
  const char *text = nullptr;
  PrismDiagnostic *error = nullptr;
  ASSERT_EQ(prismEntryPrepare(entryOf(program, "forward"), device.get(), &sizes,
                              nullptr, &text, &error),
            PRISM_SUCCESS)
      << take(error);
  EXPECT_STREQ(text, "recurrent 1, sm_90a");
  EXPECT_EQ(fake->modules, 1);
  EXPECT_EQ(fake->launches, 0);
  int64_t bytes = -1;
  ASSERT_EQ(prismEntryWorkspace(entryOf(program, "forward"), device.get(),
                                &sizes, nullptr, &bytes, &error),
            PRISM_SUCCESS);
  EXPECT_EQ(bytes, 0);
}

TEST_F(Gpu, OffsetsNeedACopyOrTrust) {
  Call call(1, 20, {5, 15});
  const PrismEntry *entry = entryOf(program, "forward");
  EXPECT_EQ(call.run(entry, device.get()),
            "argument 'offsets': expected a copy in host memory to check, or "
            "leave to trust it, found neither");
  PrismRunOptions options = {};
  options.size = sizeof(options);
  options.trustOffsets = 1;
  EXPECT_EQ(call.run(entry, device.get(), &options), "");
  options.trustOffsets = 0;
  int64_t copy[] = {0, 5, 21};
  options.hostOffsets = copy;
  EXPECT_EQ(call.run(entry, device.get(), &options),
            "argument 'offsets': the last element must be T = 20, found 21");
  copy[2] = 20;
  EXPECT_EQ(call.run(entry, device.get(), &options), "");
  EXPECT_EQ(fake->launches, 2);
}

TEST_F(Gpu, ErrorsSayWhatIsMissing) {
  PrismDiagnostic *error = nullptr;
  EXPECT_FALSE(prismDeviceCreateCuda(7, PRISM_TEST_DRIVER, &error));
  EXPECT_EQ(prismDiagnosticKind(error), PRISM_KIND_DEVICE);
  EXPECT_EQ(take(error), "no GPU 7; this machine has 1");
  Call call(1, 3);
  EXPECT_EQ(
      call.run(entryOf(program, "forward"), cpu().get()),
      "entry 'forward': no kernel for cpu; the bundle holds kernels for cuda");
  PrismRunOptions options = {};
  options.size = sizeof(options);
  options.isa = "x86-64-v3";
  EXPECT_EQ(call.run(entryOf(program, "forward"), device.get(), &options),
            "PrismRunOptions: isa is for the CPU, the device is a GPU");
}

} // namespace
