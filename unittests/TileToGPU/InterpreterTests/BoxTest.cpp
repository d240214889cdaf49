//===- BoxTest.cpp - Boxes by the copy engine in the interpreter ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Interpreter/TensorMap.h"
#include "Kernels.h"
#include "gtest/gtest.h"

using namespace prism::test;

namespace {

/// One warp has a box of 8 rows moved, the other one hands out the bytes as
/// they lie in shared memory.
const char *const kMoved = R"(
  %ticks = arith.constant 1000 : i32
  %inWord = llvm.load %p : !llvm.ptr -> i64
  %outAt = llvm.getelementptr %p[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %outWord = llvm.load %outAt : !llvm.ptr -> i64
  %out = llvm.inttoptr %outWord : i64 to !llvm.ptr<1>
  %bar = llvm.getelementptr %smem[8192] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %isFirst = arith.cmpi eq, %tid, %c0 : i32
  scf.if %isFirst {
    nvvm.mbarrier.init %bar, %c1 : !llvm.ptr<3>, i32
  }
  nvvm.barrier0
  %isProducer = arith.cmpi eq, %warp, %c0 : i32
  scf.if %isProducer {
    %isElected = nvvm.elect.sync -> i1
    scf.if %isElected {
      %to = llvm.addrspacecast %smem : !llvm.ptr<3> to !llvm.ptr<7>
      %map = llvm.getelementptr %p[64] : (!llvm.ptr) -> !llvm.ptr, i8
      nvvm.mbarrier.expect_tx %bar, %c1024 : !llvm.ptr<3>, i32
      nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %map, %bar, box[%c16, %c3, %c1] : !llvm.ptr<7>, !llvm.ptr
      %s = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64
    }
  } else {
    nvvm.mbarrier.try_wait.parity %bar, %c0, %ticks : !llvm.ptr<3>, i32, i32
    %bytes = arith.muli %lane, %c32 : i32
    %from = llvm.getelementptr %smem[%bytes] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %next = llvm.getelementptr %from[16] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %o = llvm.getelementptr %out[%bytes] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %p1 = llvm.getelementptr %o[16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %v = llvm.load %from : !llvm.ptr<3> -> vector<4xi32>
    llvm.store %v, %o : vector<4xi32>, !llvm.ptr<1>
    %w = llvm.load %next : !llvm.ptr<3> -> vector<4xi32>
    llvm.store %w, %p1 : vector<4xi32>, !llvm.ptr<1>
  }
)";

/// Two planes of 9 rows of 72 elements, in rows of 80 and planes of 1000.
struct Array {
  static constexpr unsigned kColumns = 72, kRows = 9, kPitch = 80,
                            kPlane = 1000;
  alignas(16) uint16_t elements[2 * kPlane];
  uint8_t moved[1024];
  TensorMap map;

  Array() {
    for (unsigned i = 0; i < 2 * kPlane; ++i)
      elements[i] = uint16_t(40000 + i);
    map.address = reinterpret_cast<uint64_t>(elements);
    map.rank = 3;
    const unsigned extents[] = {kColumns, kRows, 2}, box[] = {64, 8, 1},
                   strides[] = {1, kPitch, kPlane};
    for (unsigned axis = 0; axis < 3; ++axis) {
      map.extents[axis] = extents[axis];
      map.box[axis] = box[axis];
      map.strides[axis] = 2 * strides[axis];
    }
  }

  /// Words, and a map at byte 64.
  std::string run(const std::string &body, InterpreterOptions options = {}) {
    std::string text = replace(
        wrap(body), "%in: !llvm.ptr<1>, %out: !llvm.ptr<1>",
        "%p: !llvm.ptr {llvm.byval = !llvm.array<24 x i64>, llvm.align = 64}");
    Kernel kernel(text, 64, 16384);
    std::vector<uint64_t> words(24);
    words[0] = map.address;
    words[1] = reinterpret_cast<uint64_t>(moved);
    std::memcpy(&words[8], &map, sizeof(map));
    llvm::ArrayRef in(reinterpret_cast<uint8_t *>(elements), sizeof(elements));
    return kernel.run(words, in, moved, options);
  }

  /// The first fault of any way to run it, or "".
  std::string runEveryWay(const std::string &body) {
    using Options = InterpreterOptions;
    for (auto copies : {Options::Copies::Late, Options::Copies::Early})
      for (auto order : {Options::Order::Descending, Options::Order::Random,
                         Options::Order::Ascending}) {
        Options options;
        options.copies = copies;
        options.order = order;
        std::string fault = run(body, options);
        if (!fault.empty())
          return fault;
      }
    return "";
  }
  std::string faultOf(const std::string &line, const std::string &by = "") {
    std::string body = replace(kMoved, line, by);
    return body == kMoved ? "nothing was replaced" : runEveryWay(body);
  }
};

TEST(Boxes, LandSwizzledWithZerosOutside) {
  Array array;
  ASSERT_EQ(array.runEveryWay(kMoved), "");
  for (unsigned row = 0; row < 8; ++row)
    for (unsigned column = 0; column < 64; ++column) {
      uint16_t found;
      std::memcpy(&found,
                  array.moved + 128 * row + 16 * (column / 8 ^ row % 8) +
                      2 * (column % 8),
                  2);
      bool isInside = 3 + row < Array::kRows && 16 + column < Array::kColumns;
      unsigned expected =
          40000 + Array::kPlane + (3 + row) * Array::kPitch + 16 + column;
      EXPECT_EQ(found, isInside ? expected : 0u) << row << " " << column;
    }
}

TEST(Boxes, BeforeTheFirstRowIsOutside) {
  Array array;
  ASSERT_EQ(
      array.runEveryWay(replace(kMoved, "box[%c16, %c3", "box[%c0, %all")), "");
  EXPECT_EQ(array.moved[0], 0);
  uint16_t second; // row 0 of the array
  std::memcpy(&second, array.moved + 128 + 16, 2);
  EXPECT_EQ(second, 40000 + Array::kPlane);
}

testing::AssertionResult has(const std::string &fault,
                             const std::string &part) {
  if (fault.find(part) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "the fault is \"" << fault << "\"";
}

TEST(Boxes, ByteCounts) {
  Array array;
  const char *onItsWay = "a copy is on its way";
  std::string expect = "nvvm.mbarrier.expect_tx %bar, %c1024";
  // Unless they are expected the phase ends before they come.
  EXPECT_TRUE(has(array.faultOf(expect + " : !llvm.ptr<3>, i32"), onItsWay));
  std::string fewer = array.faultOf("%bar, %c1024", "%bar, %c512"),
              more =
                  array.faultOf("expect_tx %bar, %c1024 : !llvm.ptr<3>, i32",
                                "expect_tx %bar, %c1024 : !llvm.ptr<3>, i32\n"
                                "nvvm.mbarrier.expect_tx %bar, %c16 : "
                                "!llvm.ptr<3>, i32");
  EXPECT_TRUE(has(fewer, "deadlock"));
  EXPECT_TRUE(has(fewer, "-512 bytes are to come"));
  EXPECT_TRUE(has(more, " 16 bytes are to come"));
}

TEST(Boxes, Order) {
  Array array;
  EXPECT_TRUE(has(array.faultOf("nvvm.mbarrier.try_wait.parity %bar, %c0, "
                                "%ticks : !llvm.ptr<3>, i32, i32"),
                  "a copy is on its way"));
  EXPECT_TRUE(has(array.faultOf("%s = nvvm.mbarrier.arrive %bar : "
                                "!llvm.ptr<3> -> i64"),
                  "deadlock"));
  // What a thread wrote before goes by another path.
  std::string written = "    %isElected = nvvm.elect.sync -> i1\n";
  std::string store = "    %w0 = llvm.getelementptr %smem[%lane] : "
                      "(!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32\n"
                      "    llvm.store %lane, %w0 : i32, !llvm.ptr<3>\n";
  std::string sync = "    nvvm.bar.warp.sync %all : i32\n";
  EXPECT_TRUE(has(array.faultOf(written, store + sync + written),
                  "missing fence.proxy: a box overwrites"));
  EXPECT_TRUE(has(array.faultOf(written, store + written), "missing barrier"));
  EXPECT_EQ(array.faultOf(written, store +
                                       "    nvvm.fence.proxy {kind = "
                                       "#nvvm.proxy_kind<async>}\n" +
                                       sync + written),
            "");
  // Nobody waits for it.
  std::string body = kMoved;
  body = body.substr(0, body.find("  } else {")) + "  }\n";
  EXPECT_TRUE(has(array.runEveryWay(body), "the block ends while a copy"));
}

TEST(Boxes, Addresses) {
  Array array;
  EXPECT_TRUE(has(array.faultOf("%p[64]", "%p[80]"), "multiple of 64 bytes"));
  EXPECT_TRUE(has(array.faultOf("%p[64]", "%p[128]"), "multiple of 64 bytes"));
  EXPECT_TRUE(has(array.faultOf("%p[64]", "%p[0]"), "does not have"));
  EXPECT_TRUE(has(array.faultOf("box[%c16, %c3, %c1]", "box[%c16, %c3]"),
                  "2 coordinates in an array of 3 axes"));
  EXPECT_TRUE(has(array.faultOf("%to = llvm.addrspacecast %smem",
                                "%up = llvm.getelementptr %smem[16] : "
                                "(!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n"
                                "%to = llvm.addrspacecast %up"),
                  "128 does not divide"));
  array.map.extents[1] = 100; // beyond what the kernel may read
  EXPECT_TRUE(has(array.run(replace(kMoved, "box[%c16, %c3", "box[%c16, %c31")),
                  "global read out of bounds"));
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

const char *const kFence =
    "    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = "
    "#nvvm.shared_space<cta>}\n";
const char *const kSync = "    nvvm.bar.warp.sync %all : i32\n";
const char *const kCommit = "      nvvm.cp.async.bulk.commit.group\n";
const char *const kWait = "    nvvm.cp.async.bulk.wait_group 0 {read}\n";

/// A warp writes 16 rows of 32 bytes, 16 bytes a lane whose words count up, has
/// them stored as a box, and writes zeros over them.
std::string stored() {
  std::string write, clear;
  for (int word = 0; word < 4; ++word) {
    std::string n = std::to_string(word);
    write += "    %w" + n + " = llvm.getelementptr %mine[" +
             std::to_string(4 * word) +
             "] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n"
             "    %v" +
             n + " = arith.addi %first, %c" + n +
             " : i32\n"
             "    llvm.store %v" +
             n + ", %w" + n + " : i32, !llvm.ptr<3>\n";
    clear += "    llvm.store %c0, %w" + n + " : i32, !llvm.ptr<3>\n";
  }
  return R"(
  %isFirst = arith.cmpi eq, %warp, %c0 : i32
  scf.if %isFirst {
    %bytes = arith.muli %lane, %c16 : i32
    %first = arith.muli %lane, %c4 : i32
    %mine = llvm.getelementptr %smem[%bytes] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
)" + write +
         kFence + kSync + R"(
    %isElected = nvvm.elect.sync -> i1
    scf.if %isElected {
      %map = llvm.getelementptr %p[64] : (!llvm.ptr) -> !llvm.ptr, i8
      nvvm.cp.async.bulk.tensor.global.shared.cta %map, %smem, box[%c64, %c3, %c1] : !llvm.ptr, !llvm.ptr<3>
)" + kCommit +
         "    }\n" + kWait + "    nvvm.bar.warp.sync %all : i32 // read\n" +
         clear + "  }\n";
}

struct StoredBoxes : testing::Test {
  Array array;
  void SetUp() override {
    array.map.box[0] = 16; // columns 64 to 79, of which 72 are there
    array.map.box[1] = 16; // rows 3 to 18, of which 9 are there
  }

  /// The fault without a line, or with another one instead.
  std::string faultOf(const std::string &line, const std::string &by = "") {
    std::string body = stored();
    size_t at = body.find(line);
    if (at == std::string::npos)
      return "nothing was replaced";
    return array.runEveryWay(body.replace(at, line.size(), by));
  }
};

TEST_F(StoredBoxes, LieUnswizzledWhereTheArrayIs) {
  Array before = array;
  ASSERT_EQ(array.runEveryWay(stored()), "");
  for (unsigned i = 0; i < 2 * Array::kPlane; ++i) {
    unsigned plane = i / Array::kPlane, row = i % Array::kPlane / Array::kPitch,
             column = i % Array::kPlane % Array::kPitch;
    bool isStored = plane == 1 && row >= 3 && row < Array::kRows &&
                    column >= 64 && column < Array::kColumns;
    unsigned boxRow = row - 3, half = boxRow / 4 % 2,
             word = 4 * (2 * boxRow + half) + (column - 64) / 2;
    EXPECT_EQ(array.elements[i], !isStored         ? before.elements[i]
                                 : column % 2 == 0 ? word
                                                   : 0u)
        << i;
  }
}

TEST_F(StoredBoxes, AreWrittenWithAFence) {
  EXPECT_TRUE(
      has(faultOf(kFence), "missing fence.proxy: a box that is stored"));
  // It is the writer's, and stands before the warp meets.
  EXPECT_TRUE(
      has(faultOf(std::string(kFence) + kSync, std::string(kSync) + kFence),
          "missing fence.proxy: a box that is stored"));
  EXPECT_TRUE(has(faultOf(kSync), "missing barrier"));
}

TEST_F(StoredBoxes, AreReadUntilWaitedFor) {
  const char *overwritten = "of a box that is being stored";
  EXPECT_TRUE(has(faultOf(kWait), overwritten));
  EXPECT_TRUE(has(faultOf(kCommit), overwritten));
  EXPECT_TRUE(
      has(faultOf("wait_group 0 {read}", "wait_group 1 {read}"), overwritten));
  // Only the thread that waited knows.
  EXPECT_TRUE(has(faultOf("    nvvm.bar.warp.sync %all : i32 // read\n"),
                  "missing barrier"));
  EXPECT_EQ(faultOf("wait_group 0 {read}", "wait_group 0"), "");
  // The block ends.
  std::string body = stored();
  body = body.substr(0, body.find(kWait)) + "  }\n";
  EXPECT_TRUE(has(array.runEveryWay(body),
                  "the block ends while a box is being stored from it"));
}

TEST_F(StoredBoxes, AreThereWhenMoreThanTheReadsIsWaitedFor) {
  std::string read = "    %word = llvm.load %p : !llvm.ptr -> i64\n"
                     "    %from = llvm.inttoptr %word : i64 to !llvm.ptr<1>\n"
                     "    %there = llvm.getelementptr %from[2608] : "
                     "(!llvm.ptr<1>) -> !llvm.ptr<1>, i8\n"
                     "    %found = llvm.load %there : !llvm.ptr<1> -> i32\n",
              all = "    nvvm.cp.async.bulk.wait_group 0\n";
  EXPECT_TRUE(has(faultOf(kWait, kWait + read), "that a box that was stored"));
  EXPECT_EQ(faultOf(kWait, all + kSync + read), "");
}

TEST_F(StoredBoxes, Addresses) {
  EXPECT_TRUE(has(faultOf("box[%c64, %c3, %c1]", "box[%c64, %c3]"),
                  "2 coordinates in an array of 3 axes"));
  EXPECT_TRUE(
      has(faultOf("%map, %smem", "%map, %mine"), "128 does not divide"));
  EXPECT_TRUE(has(faultOf("%p[64]", "%p[0]"), "does not have"));
  array.map.box[1] = 17;
  EXPECT_TRUE(has(array.runEveryWay(stored()), "not written so far"));
  array.map.box[1] = 16;
  array.map.extents[1] = 100; // beyond what the kernel may write
  EXPECT_TRUE(has(faultOf("%c64, %c3", "%c64, %c31"), "write out of bounds"));
  array.map.box[0] = 24;
  EXPECT_TRUE(has(array.runEveryWay(stored()), "does not have"));
}

} // namespace
