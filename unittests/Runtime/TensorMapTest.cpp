//===- TensorMapTest.cpp - What the copy engine is told of arrays ----===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "FreshFakeCuda.h"
#include "TestBundle.h"
#include "prism-runtime/TensorMaps.h"

#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace prism::runtime;
using namespace prism::runtime::test;

namespace {

using Extents = std::array<uint64_t, 5>;

/// An entry of one argument beside its offsets and its output.
EntryInfo entryOf(const std::string &axes, const std::vector<Dim> &shape) {
  EntryInfo entry;
  entry.name = "forward";
  entry.valueHeads = 2;
  ArgumentInfo x;
  x.name = "x";
  x.dtype = DType::BF16;
  x.axes = axes;
  x.shape = shape;
  x.optional = true;
  ArgumentInfo offsets;
  offsets.name = "offsets";
  offsets.role = Role::Offsets;
  offsets.dtype = DType::I64;
  offsets.axes = "n";
  offsets.shape = {{Dim::NPlus1, 0}};
  offsets.optional = true;
  entry.arguments = {offsets, x};
  return entry;
}

const Dim B{Dim::B, 0}, T{Dim::T, 0}, two{Dim::Number, 2},
    forty{Dim::Number, 40};

struct Maps : testing::Test {
  // Never read.
  char *base = reinterpret_cast<char *>(uintptr_t(1) << 30);
  EntryInfo timeFirst = entryOf("bthk", {B, T, two, forty}),
            headsFirst = entryOf("bhtk", {B, two, T, forty});

  std::optional<TensorMap> mapOf(const EntryInfo &entry,
                                 std::vector<int64_t> shape,
                                 std::vector<int64_t> strides = {},
                                 int64_t offset = 0) {
    TensorMapInfo info{"x", 16, 64};
    EXPECT_TRUE(entry.locate(info));
    Result<Call> call =
        bindCall(entry, {{"x", {base + offset, DType::BF16, shape, strides}}});
    EXPECT_TRUE(call) << call.error();
    return tensorMapOf(info, *call);
  }
};

TEST_F(Maps, LastAxisThenTimeThenTheOthers) {
  auto map = mapOf(timeFirst, {3, 100, 2, 40});
  ASSERT_TRUE(map);
  EXPECT_EQ(map->address, uint64_t(1) << 30);
  EXPECT_EQ(map->rank, 4u);
  EXPECT_EQ(map->extents, (Extents{40, 100, 3, 2}));
  EXPECT_EQ(map->strides, (Extents{2, 160, 16000, 80}));
  EXPECT_EQ(map->box, (std::array<uint32_t, 5>{64, 16, 1, 1}));
  map = mapOf(headsFirst, {3, 2, 100, 40});
  ASSERT_TRUE(map);
  EXPECT_EQ(map->extents, (Extents{40, 100, 3, 2}));
  EXPECT_EQ(map->strides, (Extents{2, 80, 16000, 8000}));
}

TEST_F(Maps, SeveralRowsOfAStepLieTogether) {
  EntryInfo entry = entryOf("bthmk", {B, T, two, two, forty});
  TensorMapInfo info{"x", 16, 64, 2};
  ASSERT_TRUE(entry.locate(info));
  Result<Call> call =
      bindCall(entry, {{"x", {base, DType::BF16, {3, 100, 2, 2, 40}, {}}}});
  ASSERT_TRUE(call) << call.error();
  auto map = tensorMapOf(info, *call);
  ASSERT_TRUE(map);
  EXPECT_EQ(map->rank, 5u);
  EXPECT_EQ(map->extents, (Extents{40, 2, 100, 3, 2}));
  EXPECT_EQ(map->strides, (Extents{2, 80, 320, 32000, 160}));
  EXPECT_EQ(map->box, (std::array<uint32_t, 5>{64, 2, 16, 1, 1}));
  // The axis before the last is heads.
  EXPECT_FALSE(timeFirst.locate(info));
}

TEST_F(Maps, StridesOfTheCaller) {
  auto map = mapOf(timeFirst, {2, 100, 2, 40}, {99992, 8, 48, 1});
  ASSERT_TRUE(map);
  EXPECT_EQ(map->strides, (Extents{2, 16, 199984, 96}));
  // The other axes of one step nowhere.
  for (int64_t stride : {int64_t(7), int64_t(0), int64_t(-5), INT64_MAX}) {
    map = mapOf(timeFirst, {1, 100, 2, 40}, {stride, 80, 40, 1});
    ASSERT_TRUE(map) << stride;
    EXPECT_EQ(map->extents, (Extents{40, 100, 1, 2}));
    EXPECT_EQ(map->strides, (Extents{2, 160, 16, 80}));
  }
}

TEST_F(Maps, NoneOfWhatTheEngineCannotRead) {
  std::vector<int64_t> shape = {2, 100, 2, 40};
  EXPECT_TRUE(mapOf(timeFirst, shape, {8000, 80, 40, 1}, 16));
  EXPECT_FALSE(mapOf(timeFirst, shape, {8000, 80, 40, 1}, 8));
  EXPECT_FALSE(mapOf(timeFirst, shape, {8004, 80, 40, 1}));
  EXPECT_FALSE(mapOf(timeFirst, shape, {8000, 81, 40, 1}));
  EXPECT_FALSE(mapOf(timeFirst, shape, {8000, 80, 44, 1}));
  EXPECT_FALSE(mapOf(timeFirst, shape, {0, 80, 40, 1}));
  EXPECT_FALSE(mapOf(timeFirst, shape, {8000, 0, 40, 1}));
  EXPECT_FALSE(mapOf(timeFirst, shape, {8000, 80, -40, 1}, 1024));
  EXPECT_TRUE(mapOf(timeFirst, shape, {(int64_t(1) << 39) - 8, 80, 40, 1}));
  EXPECT_FALSE(mapOf(timeFirst, shape, {int64_t(1) << 39, 80, 40, 1}));
  EXPECT_FALSE(mapOf(timeFirst, {2, 0, 2, 40}));
  EXPECT_FALSE(mapOf(timeFirst, {1, int64_t(1) << 31, 2, 40}));
  EXPECT_TRUE(mapOf(timeFirst, {1, (int64_t(1) << 31) - 1, 2, 40}));
  TensorMapInfo info{"x", 16, 64};
  ASSERT_TRUE(timeFirst.locate(info));
  EXPECT_FALSE(tensorMapOf(info, *bindCall(timeFirst, {}))) << "absent";
}

TEST_F(Maps, OnlyOfRowsOfTime) {
  TensorMapInfo map{"x", 16, 64};
  EXPECT_FALSE(entryOf("bthk", {}).locate(map = {"y", 16, 64}));
  EXPECT_FALSE(entryOf("bth", {B, T, two}).locate(map = {"x", 16, 64}));
  EXPECT_FALSE(entryOf("hk", {two, forty}).locate(map = {"x", 16, 64}));
  EXPECT_FALSE(entryOf("bthrsk", {B, T, two, two, two, forty})
                   .locate(map = {"x", 16, 64}));
  EntryInfo wide = timeFirst;
  wide.arguments[1].dtype = DType::F32;
  EXPECT_FALSE(wide.locate(map = {"x", 16, 64}));
}

TEST_F(Maps, BehindTheWords) {
  TensorMapInfo info{"x", 16, 64};
  ASSERT_TRUE(timeFirst.locate(info));
  Array x{base, DType::BF16, {1, 100, 2, 40}, {}};
  Result<Call> call = bindCall(timeFirst, {{"x", x}});
  ASSERT_TRUE(call);
  size_t words = call->words.size();
  ASSERT_EQ(words, 2u + 2u + 5u);
  EXPECT_EQ(parameterBytes({}, *call), 72u);
  // 9 words and the flags fill 80 bytes.
  std::vector<TensorMapInfo> maps(3, info);
  ASSERT_EQ(parameterBytes(maps, *call), 128u + 3 * 128u);
  std::vector<uint64_t> parameter(64, 1);
  unsigned count = 0;
  writeParameter(
      maps, *call,
      [&](const TensorMap &map, void *to) {
        std::memset(to, 0xab, 128);
        return map.rank == 4 && ++count != 2; // the second is refused
      },
      parameter.data());
  EXPECT_TRUE(
      std::equal(call->words.begin(), call->words.end(), parameter.begin()));
  EXPECT_EQ(parameter[9], 0b101u);
  for (size_t i = 10; i < 16; ++i)
    EXPECT_EQ(parameter[i], 0u);
  for (size_t i = 16; i < 64; ++i)
    EXPECT_EQ(parameter[i], 0xababababababababu);
}

TEST_F(Maps, ThePlayerHasTheDriverMakeThem) {
  FakeCuda *fake = freshFakeCuda();
  ASSERT_TRUE(fake) << dlerror();
  fake->parameterBytes = 384;
  TempFolder folder;
  writeFile(folder / "k.cubin", "CUBIN 90a");
  KernelInfo kernel = testEntry().kernels[3];
  kernel.tensorMaps = {{"x", 16, 64}, {"x", 16, 16}};
  for (TensorMapInfo &map : kernel.tensorMaps)
    ASSERT_TRUE(timeFirst.locate(map));
  {
    Result<CudaDevice> device = CudaDevice::open(0, PRISM_TEST_DRIVER);
    Result<CudaKernel> loaded = device->loadKernel(folder.path(), kernel);
    ASSERT_TRUE(loaded) << loaded.error();
    Array x{base, DType::BF16, {3, 100, 2, 40}, {}};
    Result<Call> call = bindCall(timeFirst, {{"x", x}});
    ASSERT_TRUE(device->launch(*loaded, *call));
    EXPECT_EQ(fake->wordCount, 48);
    EXPECT_EQ(fake->words[9], 3u);
    // What the stand-in was told it wrote into the maps.
    std::vector<uint64_t> told(fake->words + 16, fake->words + 32);
    std::vector<uint64_t> expected = {9,
                                      4,
                                      uint64_t(1) << 30,
                                      40,
                                      100,
                                      3,
                                      2,
                                      160,
                                      16000,
                                      80,
                                      64 | uint64_t(16) << 32,
                                      1 | uint64_t(1) << 32,
                                      0,
                                      3,
                                      3,
                                      0};
    EXPECT_EQ(told, expected);
    // Rows of 32 bytes, in the swizzle of as many.
    told.assign(fake->words + 32, fake->words + 48);
    expected[10] = 16 | uint64_t(16) << 32;
    expected[13] = 1;
    EXPECT_EQ(told, expected);
    fake->encodeResult = 1;
    ASSERT_TRUE(device->launch(*loaded, *call));
    EXPECT_EQ(fake->words[9], 0u) << "a map that the driver refuses";
    EXPECT_EQ(fake->allocations, 0);
    EXPECT_EQ(fake->synchronizations, 0);
    call->words.push_back(0);
    fake->parameterBytes = 200;
    Result<CudaKernel> other = device->loadKernel(folder.path(), kernel);
    EXPECT_EQ(device->launch(*other, *call).error(),
              "the call's words and tensor maps take 384 bytes, kernel 'k90' "
              "expects 200");
  }
  EXPECT_EQ(fake->modules, 0);
}

} // namespace
