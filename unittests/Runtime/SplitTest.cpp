//===- SplitTest.cpp - Kernels that split sequences ------------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "FreshFakeCuda.h"
#include "TestBundle.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>

using namespace prism::runtime;
using namespace prism::runtime::test;

namespace {

/// [N, 3, S, 8] and [N, 3, S].
std::vector<ArgumentInfo> arrays() {
  Dim n{Dim::N, 0}, s{Dim::S, 0};
  return {{"map",
           Role::Intermediate,
           DType::F32,
           "nhsv",
           {n, {Dim::Number, 3}, s, {Dim::Number, 8}},
           false},
          {"start",
           Role::Intermediate,
           DType::F64,
           "nhs",
           {n, {Dim::Number, 3}, s},
           false}};
}

TEST(Split, BytesOfTheArrays) {
  Sizes sizes;
  sizes.sequences = 2;
  // 2 * 3 * 5 * 8 * 4 = 960 and 2 * 3 * 5 * 8 = 240, each to 256 bytes.
  EXPECT_EQ(intermediateBytes(arrays(), sizes, 5), 1024 + 256);
  EXPECT_EQ(intermediateBytes({}, sizes, 5), 0);
  sizes.sequences = 0;
  EXPECT_EQ(intermediateBytes(arrays(), sizes, 5), 0);
  sizes.sequences = INT64_MAX / 8;
  EXPECT_EQ(intermediateBytes(arrays(), sizes, 5), std::nullopt);
}

TEST(Split, WordsAndItems) {
  Call call;
  call.sizes.sequences = 2;
  call.valueHeads = 3;
  call.arguments = 2;
  call.words = {100, 200, /*N=*/2, /*T=*/65, 7, 1};
  alignas(256) static char memory[2048];
  Call split = splitCall(call, arrays(), 5, memory);
  auto base = reinterpret_cast<uint64_t>(memory);
  EXPECT_EQ(split.words,
            (std::vector<uint64_t>{100, 200, base, base + 1024, 2, 65, 7, 1,
                                   /*map*/ 3 * 5 * 8, 5 * 8, 8, 1,
                                   /*start*/ 3 * 5, 5, 1, /*S=*/5}));
  EXPECT_EQ(workItems(split, 4), 2 * 3 * 4);
  EXPECT_EQ(workItems(split, 4, Items::Segments), 2 * 5 * 3 * 4);
  EXPECT_EQ(workItems(split, 4, Items::InnerSegments), 2 * 4 * 3 * 4);
  split.sizes.segments = INT64_MAX;
  EXPECT_EQ(workItems(split, 4, Items::Segments), std::nullopt);
}

//===----------------------------------------------------------------------===//
// On the CPU
//===----------------------------------------------------------------------===//

constexpr int arguments = 6, firstArray = arguments;

float *mapOf(const uint64_t *words) {
  return reinterpret_cast<float *>(words[firstArray]);
}

/// Marks its segment with the item's number.
int32_t markSegments(const uint64_t *words, void *workspace, int64_t begin,
                     int64_t end) {
  std::fill_n(static_cast<char *>(workspace), 100, char(0xff));
  for (int64_t item = begin; item < end; ++item)
    mapOf(words)[item * 8] = float(item + 1);
  return 0;
}

/// Sums up what was marked.
int32_t sumMarks(const uint64_t *words, void *, int64_t begin, int64_t end) {
  for (int64_t item = begin; item < end; ++item) {
    float sum = 0;
    for (int mark = 0; mark < 2 * 2 * 3; ++mark)
      sum += mapOf(words)[mark * 8];
    mapOf(words)[item * 8 + 1] = sum;
  }
  return 0;
}

/// Copies a sum to the output, which is argument 4.
int32_t writeSums(const uint64_t *words, void *, int64_t begin, int64_t end) {
  for (int64_t item = begin; item < end; ++item)
    reinterpret_cast<float *>(words[4])[item] =
        mapOf(words)[item % 6 * 8 + 1] + float(item);
  return 0;
}

CpuKernel splitKernel() {
  CpuKernel kernel{writeSums, 1, 0}, maps{markSegments, 1, 100},
      sums{sumMarks, 1, 0};
  maps.items = Items::InnerSegments;
  kernel.items = Items::Segments;
  kernel.segments = 3;
  kernel.before = {maps, sums};
  kernel.intermediates = arrays();
  return kernel;
}

TEST(Split, LaunchesFollowEachOther) {
  EntryInfo entry = testEntry();
  Floats x({2, 9, 3, 8}), y({2, 9, 3, 8}, -1);
  Result<Call> call = bindCall(entry, {{"x", x.array()}, {"y", y.array()}});
  ASSERT_TRUE(call) << call.error();
  auto player = CpuPlayer::create(2);
  Status done = (*player)->run(splitKernel(), *call);
  ASSERT_TRUE(done) << done.error();
  // 2 sequences, 2 inner segments, 3 heads: 1 + ... + 12 = 78.
  for (int64_t item = 0; item < 2 * 3 * 3; ++item)
    EXPECT_EQ(y.values[size_t(item)], 78 + float(item));
}

TEST(Split, CallersWorkspace) {
  EntryInfo entry = testEntry();
  Floats x({2, 9, 3, 8}), y({2, 9, 3, 8}, -1);
  Result<Call> call = bindCall(entry, {{"x", x.array()}, {"y", y.array()}});
  auto player = CpuPlayer::create(2);
  // Two threads of 128 bytes, 2 * 3 * 3 * 8 floats and 2 * 3 * 3 doubles.
  EXPECT_EQ((*player)->workspaceBytes(splitKernel(), call->sizes),
            256 + 768 + 256);
  alignas(256) char memory[1280];
  EXPECT_EQ((*player)->run(splitKernel(), *call, memory, 1279).error(),
            "expected a workspace of 1280 bytes, aligned to 256, found 1279 "
            "bytes");
  ASSERT_TRUE((*player)->run(splitKernel(), *call, memory, 1280));
  EXPECT_EQ(y.values[17], 78 + 17.0f);
  EXPECT_EQ(runRange(splitKernel(), *call, memory, 0, 1).error(),
            "the kernel splits sequences: its launches follow one another, "
            "which CpuPlayer::run sees to");
  call->sizes.sequences = INT64_MAX / 8;
  EXPECT_EQ((*player)->run(splitKernel(), *call).error(),
            "the call needs more workspace than 64 bits count");
}

//===----------------------------------------------------------------------===//
// Chosen
//===----------------------------------------------------------------------===//

/// The test entry with GPU kernels of one schedule: whole, and split.
EntryInfo splitEntry() {
  EntryInfo entry = testEntry();
  KernelInfo whole = entry.kernels[3];
  whole.symbol = "whole";
  whole.plan = {"chunk", 64, 64, 2};
  KernelInfo split = whole;
  split.symbol = "split";
  split.items = Items::Segments;
  split.intermediates = arrays();
  KernelInfo maps = whole, combine = whole;
  maps.items = Items::InnerSegments;
  maps.valueBlocks = 6;
  combine.valueBlocks = 1;
  split.before = {maps, combine};
  entry.kernels.push_back(whole);
  entry.kernels.push_back(split);
  entry.choice = {{Target::Cuda, 511, INT64_MAX, "chunk", 64},
                  {Target::Cuda, INT64_MAX, 6, "chunk", 0, 4},
                  {Target::Cuda, INT64_MAX, INT64_MAX, "chunk", 64}};
  return entry;
}

TEST(Split, Selected) {
  EntryInfo entry = splitEntry(); // of 3 value heads
  auto chosen = [&](int64_t longest, int64_t sequences, Selection pinned = {},
                    int chip = 90) {
    Sizes sizes;
    sizes.longest = longest;
    sizes.sequences = sequences;
    Result<SelectedKernel> kernel =
        selectCudaKernel(entry, sizes, chip, pinned);
    return kernel ? (*kernel)->symbol + " " + std::to_string(kernel->segments)
                  : kernel.error();
  };
  EXPECT_EQ(chosen(511, 1), "whole 1");
  EXPECT_EQ(chosen(512, 2), "split 4");
  EXPECT_EQ(chosen(512, 3), "whole 1");
  EXPECT_EQ(chosen(512, 3, {"", "", 7}), "split 7");
  EXPECT_EQ(chosen(512, 2, {"", "", 1}), "whole 1");
  EXPECT_EQ(chosen(512, 2, {"chunk", "", 2}), "split 2");
  EXPECT_EQ(chosen(512, 2, {"recurrent", "", 2}),
            "entry 'forward': no kernel with schedule 'recurrent' for cuda "
            "splits sequences, found 2 segments");
  EXPECT_EQ(chosen(512, 2, {"", "", -1}),
            "entry 'forward': expected 1 or more segments, found -1");
  // A kernel that splits does so with any number of segments.
  entry.kernels.erase(entry.kernels.end() - 2);
  EXPECT_EQ(chosen(512, 3), "split 1");
}

//===----------------------------------------------------------------------===//
// On a GPU
//===----------------------------------------------------------------------===//

TEST(Split, LaunchedInOrder) {
  FakeCuda *fake = freshFakeCuda();
  ASSERT_TRUE(fake) << dlerror();
  fake->parameterBytes = (26 + 2 + 4 + 3 + 1) * 8;
  TempFolder folder;
  writeBundle(folder / "b");
  writeFile(folder / "b/k.cubin", "CUBIN 90a");
  EntryInfo entry = splitEntry();
  Result<CudaDevice> device = CudaDevice::open(0, PRISM_TEST_DRIVER);
  Result<CudaKernel> kernel =
      device->loadKernel(folder / "b", entry.kernels.back());
  ASSERT_TRUE(kernel) << kernel.error();
  EXPECT_EQ(fake->modules, 3);
  kernel->segments = 4;
  Floats x({2, 5, 3, 8}), y({2, 5, 3, 8});
  Result<Call> call = bindCall(entry, {{"x", x.array()}, {"y", y.array()}});
  // 2 * 3 * 4 * 8 floats, 2 * 3 * 4 doubles.
  EXPECT_EQ(kernel->workspaceBytes(call->sizes), 768 + 256);
  EXPECT_EQ(device->launch(*kernel, *call).error(),
            "expected a workspace of 1024 bytes, aligned to 256, found 0 "
            "bytes");
  alignas(256) static char memory[1024];
  ASSERT_TRUE(device->launch(*kernel, *call, nullptr, {memory, 1024}));
  EXPECT_EQ(fake->launches, 3);
  // Items by four to a block: 2 * 3 inner segments * 3 heads * 6 blocks, then
  // 2 * 3 * 1, then 2 * 4 * 3 * 2.
  EXPECT_EQ(std::vector<unsigned>(fake->grids, fake->grids + 3),
            (std::vector<unsigned>{27, 2, 12}));
  EXPECT_EQ(fake->words[6], reinterpret_cast<uint64_t>(memory));
  EXPECT_EQ(fake->words[fake->wordCount - 1], 4u);
  // One segment has no maps.
  kernel->segments = 1;
  ASSERT_TRUE(device->launch(*kernel, *call, nullptr, {memory, 1024}));
  EXPECT_EQ(fake->launches, 5);
}

} // namespace
