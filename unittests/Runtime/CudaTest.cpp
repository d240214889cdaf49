//===- CudaTest.cpp - The CUDA player --------------------------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Most of it against a stand-in for the driver; the last test, against a real
// GPU where there is one.
//
//===----------------------------------------------------------------------===//

#include "FreshFakeCuda.h"
#include "TestBundle.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace prism::runtime;
using namespace prism::runtime::test;

namespace {

struct Cuda : testing::Test {
  TempFolder folder;
  FakeCuda *fake = nullptr;
  Floats x{{2, 5, 3, 8}}, y{{2, 5, 3, 8}};
  EntryInfo entry = testEntry();
  Sizes sizes;

  void SetUp() override {
    fake = freshFakeCuda();
    ASSERT_TRUE(fake) << dlerror();
    fake->parameterBytes = 208;
    writeBundle(folder / "b");
    writeFile(folder / "b/k.ptx", "PTX 90a");
    writeFile(folder / "b/k.cubin", "CUBIN 90a");
    writeFile(folder / "b/k80.ptx", "PTX 80");
  }
  void TearDown() override {
    EXPECT_EQ(fake->retained, 0);
    EXPECT_EQ(fake->pushed, 0);
    EXPECT_EQ(fake->modules, 0);
    EXPECT_EQ(fake->allocations, 0);
    EXPECT_EQ(fake->events, 0);
  }
  Result<CudaDevice> open(int ordinal = 0) {
    return CudaDevice::open(ordinal, PRISM_TEST_DRIVER);
  }
  std::string loadError(const KernelInfo &kernel) {
    Result<CudaDevice> device = open();
    Result<CudaKernel> loaded = device->loadKernel(folder / "b", kernel);
    return loaded ? "loaded " + loaded->image() : loaded.error();
  }
};

TEST_F(Cuda, NoDriverNoGpu) {
  EXPECT_EQ(CudaDevice::open(0, "libno-such-cuda.so.1")
                .error()
                .find("no CUDA driver on this machine (libno-such-cuda.so.1: "),
            0u);
  EXPECT_EQ(CudaDevice::open(0, PRISM_TEST_KERNELS).error(),
            PRISM_TEST_KERNELS ": expected a function 'cuInit', found none; "
                               "the CUDA driver is too old");
  fake->initResult = 100;
  EXPECT_EQ(open().error(), "no NVIDIA GPU on this machine, though a CUDA "
                            "driver is installed");
  fake->initResult = 999;
  EXPECT_EQ(open().error(),
            "cannot start the CUDA driver: CUDA_ERROR_FAKE (made up)");
  fake->initResult = 0;
  EXPECT_EQ(open(1).error(), "no GPU 1; this machine has 1");
}

TEST_F(Cuda, LaunchesOnTheCallersStream) {
  Result<CudaDevice> device = open();
  ASSERT_TRUE(device) << device.error();
  Result<Entry> loaded = Program::load(folder / "b")->entry("forward");
  Result<LoadedCudaKernel> kernel = loaded->cudaKernel(*device, sizes);
  ASSERT_TRUE(kernel) << kernel.error();
  EXPECT_EQ(kernel->info->symbol, "k90");
  EXPECT_EQ(kernel->image(), "cubin");
  EXPECT_STREQ(fake->image, "CUBIN 90a");
  EXPECT_EQ(fake->sharedAttribute, 70000);
  Result<Call> call = bindCall(entry, {{"x", x.array()}, {"y", y.array()}});
  int stream = 0;
  ASSERT_TRUE(device->launch(*kernel, *call, &stream));
  EXPECT_EQ(fake->stream, &stream);
  EXPECT_EQ(fake->grid, 3u); // 12 items, 4 a block
  EXPECT_EQ(fake->block, 128u);
  EXPECT_EQ(fake->shared, 70000u);
  EXPECT_EQ(std::vector<uint64_t>(fake->words, fake->words + fake->wordCount),
            call->words);
  EXPECT_EQ(fake->allocations, 0);
  EXPECT_EQ(fake->synchronizations, 0);
  call->sizes.sequences = 0;
  ASSERT_TRUE(device->launch(*kernel, *call, &stream));
  EXPECT_EQ(fake->launches, 1);
  call->sizes.sequences = INT64_MAX / 100;
  EXPECT_EQ(device->launch(*kernel, *call).error(),
            "the call has more work items than one launch takes");
  call->sizes.sequences = 1;
  call->words.push_back(0);
  EXPECT_EQ(device->launch(*kernel, *call).error(),
            "the call's words take 216 bytes, kernel 'k90' expects 208");
  call->words.resize(513);
  EXPECT_EQ(device->launch(*kernel, *call).error(),
            "the call's words take 4104 bytes, a kernel takes 4096");
}

TEST_F(Cuda, CubinElsePtx) {
  KernelInfo kernel = entry.kernels[3];
  EXPECT_EQ(loadError(kernel), "loaded cubin");
  writeFile(folder / "b/k.cubin", "REFUSED");
  EXPECT_EQ(loadError(kernel), "loaded ptx");
  writeFile(folder / "b/k.ptx", "REFUSED");
  std::string refused = ": cannot load on Fake GPU 0: "
                        "CUDA_ERROR_NO_BINARY_FOR_GPU (no kernel image): line "
                        "1: refused line 2: really";
  EXPECT_EQ(loadError(kernel), (folder / "b/k.cubin") + refused + "; and " +
                                   (folder / "b/k.ptx") + refused);
  kernel.cubin.clear();
  kernel.ptx = "none.ptx";
  EXPECT_EQ(loadError(kernel), (folder / "b/none.ptx") +
                                   ": cannot open: No such file or directory");
}

TEST_F(Cuda, PtxNewerThanTheDriver) {
  fake->capability = 80;
  fake->version = 12060;
  EXPECT_EQ(loadError(entry.kernels[4]),
            "driver 12.6 supports PTX up to 8.5, this bundle needs 9.0");
  fake->version = 13000;
  EXPECT_EQ(loadError(entry.kernels[4]), "loaded ptx");
  fake->version = 14000; // not known: the driver decides
  EXPECT_EQ(loadError(entry.kernels[4]), "loaded ptx");
  EXPECT_EQ(newestPtx(11080), 78);
  EXPECT_EQ(newestPtx(12050), 85);
  EXPECT_EQ(newestPtx(12080), 87);
}

TEST_F(Cuda, KernelsThatCannotBe) {
  KernelInfo kernel = entry.kernels[3];
  kernel.workspace = 8;
  EXPECT_EQ(loadError(kernel),
            "kernel 'k90' asks for 8 bytes of workspace, which this runtime "
            "gives to CPU kernels only");
  kernel.workspace = 0;
  kernel.shared = 100001;
  EXPECT_EQ(loadError(kernel), "kernel 'k90' needs 100001 bytes of shared "
                               "memory, Fake GPU 0 has 100000");
  kernel.shared = 0;
  kernel.chip = "sm_100a";
  EXPECT_EQ(loadError(kernel),
            "kernel 'k90' is made for sm_100a, Fake GPU 0 is sm_90");
  kernel.chip = "sm_90a";
  kernel.symbol = "missing";
  EXPECT_EQ(loadError(kernel),
            "cannot find function 'missing': CUDA_ERROR_FAKE (made up)");
}

TEST_F(Cuda, MemoryAndTimes) {
  Result<CudaDevice> device = open();
  Result<CudaBuffer> buffer = device->allocate(16);
  ASSERT_TRUE(buffer) << buffer.error();
  int64_t out[2] = {3, 4}, in[2] = {0, 0};
  ASSERT_TRUE(device->upload(*buffer, out, 16));
  ASSERT_TRUE(device->download(in, *buffer, 16));
  EXPECT_EQ(in[1], 4);
  EXPECT_EQ(device->allocate(INT64_MAX).error(),
            "cannot allocate 9223372036854775807 bytes on Fake GPU 0: "
            "CUDA_ERROR_FAKE (made up)");
  Result<CudaKernel> kernel =
      device->loadKernel(folder / "b", entry.kernels[3]);
  Result<Call> call = bindCall(entry, {{"x", x.array()}, {"y", y.array()}});
  Result<std::vector<double>> times = device->time(*kernel, *call, 4);
  ASSERT_TRUE(times) << times.error();
  EXPECT_EQ(*times, std::vector<double>(4, 1.5));
  EXPECT_EQ(fake->launches, 4);
  fake->syncResult = 700;
  EXPECT_EQ(device->synchronize().error(),
            "the GPU failed while running: CUDA_ERROR_FAKE (made up)");
  EXPECT_FALSE(device->time(*kernel, *call, 4));
}

// Writes 2 x to y, one block for each head of each sequence and value block of
// 4; the words' places are those of Kernels.c.
constexpr const char *doublePtx = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry k80(.param .align 8 .b8 words[208])
{
  .reg .pred %p;
  .reg .f32 %f;
  .reg .b32 %r<3>;
  .reg .b64 %x, %y, %n, %i, %t;
  ld.param.u64 %x, [words+0];
  ld.param.u64 %y, [words+32];
  ld.param.u64 %t, [words+56];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %tid.x;
  setp.ge.u32 %p, %r1, 4;
  @%p ret;
  shl.b32 %r0, %r0, 2;
  add.u32 %r0, %r0, %r1;
  rem.u32 %r1, %r0, 24;
  div.u32 %r2, %r0, 24;
  cvt.u64.u32 %n, %r2;
  mul.lo.u64 %n, %n, %t;
  mul.lo.u64 %n, %n, 24;
  cvt.u64.u32 %i, %r1;
  add.u64 %n, %n, %i;
  shl.b64 %n, %n, 2;
  add.u64 %x, %x, %n;
  add.u64 %y, %y, %n;
LOOP:
  setp.eq.u64 %p, %t, 0;
  @%p ret;
  ld.global.f32 %f, [%x];
  add.f32 %f, %f, %f;
  st.global.f32 [%y], %f;
  add.u64 %x, %x, 96;
  add.u64 %y, %y, 96;
  sub.u64 %t, %t, 1;
  bra LOOP;
}
)";

TEST_F(Cuda, RealGpu) {
  Result<CudaDevice> device = CudaDevice::open(0);
  if (!device)
    GTEST_SKIP() << device.error();
  writeFile(folder / "b/k80.ptx", doublePtx);
  KernelInfo info = entry.kernels[4];
  info.ptxVersion = "7.0";
  info.shared = 60000; // above 48 KiB: needs the attribute
  Result<CudaKernel> kernel = device->loadKernel(folder / "b", info);
  ASSERT_TRUE(kernel) << kernel.error();
  int64_t bytes = static_cast<int64_t>(x.values.size() * 4);
  Result<CudaBuffer> xs = device->allocate(bytes), ys = device->allocate(bytes);
  Result<void *> stream = device->createStream();
  ASSERT_TRUE(xs && ys && stream);
  ASSERT_TRUE(device->upload(*xs, x.values.data(), bytes, *stream));
  Array dx = x.array(), dy = y.array();
  dx.data = xs->data();
  dy.data = ys->data();
  BindOptions options;
  options.deviceMemory = true;
  Result<Call> call = bindCall(entry, {{"x", dx}, {"y", dy}}, options);
  ASSERT_TRUE(call) << call.error();
  Status launched = device->launch(*kernel, *call, *stream);
  ASSERT_TRUE(launched) << launched.error();
  ASSERT_TRUE(device->download(y.values.data(), *ys, bytes, *stream));
  Status done = device->synchronize(*stream);
  ASSERT_TRUE(done) << done.error();
  for (size_t i = 0; i < x.values.size(); ++i)
    ASSERT_EQ(y.values[i], 2 * x.values[i]) << i;
  Result<std::vector<double>> times = device->time(*kernel, *call, 5, *stream);
  ASSERT_TRUE(times) << times.error();
  // Fewer words than the kernel's parameter; drivers before CUDA 12.4 cannot
  // say how many it expects.
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  call->words.resize(10);
  if (dlsym(driver, "cuFuncGetParamInfo"))
    EXPECT_EQ(device->launch(*kernel, *call, *stream).error(),
              "the call's words take 80 bytes, kernel 'k80' expects 208");
  EXPECT_TRUE(device->destroyStream(*stream));
}

} // namespace
