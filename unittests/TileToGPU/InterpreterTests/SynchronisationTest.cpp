//===- SynchronisationTest.cpp - Barriers, copies and what goes wrong -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each kernel is right as written, in every order; then one line is taken out
// or changed, and the fault must be named.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "gtest/gtest.h"

using namespace prism::test;

namespace {

/// Runs `body` with every `line` replaced, in all ways; the first fault.
std::string faultOf(const std::string &body, const std::string &line,
                    const std::string &by = "", unsigned threads = 128) {
  EXPECT_NE(body.find(line), std::string::npos) << line;
  Kernel kernel(wrap(replace(body, line, by)), threads);
  return kernel.runEveryWay();
}

testing::AssertionResult has(const std::string &fault,
                             const std::string &part) {
  if (fault.find(part) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "the fault is \"" << fault << "\"";
}

//===----------------------------------------------------------------------===//
// Named barriers
//===----------------------------------------------------------------------===//

/// Warps 0 and 1 exchange at barrier 1, warps 2 and 3 at barrier 2, twice.
const char *pairs = R"(
  %pair = arith.shrui %warp, %c1 : i32
  %id = arith.addi %pair, %c1 : i32
  %own = llvm.getelementptr %smem[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %partner = arith.xori %tid, %c32 : i32
  %other = llvm.getelementptr %smem[%partner] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %result = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  scf.for %i = %c0 to %c2 step %c1 : i32 {
    %sum = arith.addi %tid, %i : i32
    llvm.store %sum, %own : i32, !llvm.ptr<3>
    nvvm.barrier id = %id number_of_threads = %c64
    %v = llvm.load %other : !llvm.ptr<3> -> i32
    llvm.store %v, %result : i32, !llvm.ptr<1>
    nvvm.barrier id = %id number_of_threads = %c64
  }
)";

TEST(NamedBarriers, PairsOfWarps) {
  Kernel kernel(wrap(pairs));
  std::vector<uint8_t> in(4), out(512);
  ASSERT_EQ(kernel.runEveryWay(in, out), "");
  for (int32_t t = 0; t < 128; ++t)
    EXPECT_EQ(at<int32_t>(out, t), (t ^ 32) + 1);
}

TEST(NamedBarriers, Faults) {
  const std::string barrier = "nvvm.barrier id = %id number_of_threads = %c64";
  EXPECT_TRUE(
      has(faultOf(pairs, barrier + "\n    %v", "%v"), "missing barrier"));
  EXPECT_TRUE(has(faultOf(pairs, barrier + "\n  }", "}"), "missing barrier"));
  // The other pair's barrier orders nothing.
  EXPECT_TRUE(
      has(faultOf(pairs, "arith.shrui %warp, %c1", "arith.andi %warp, %c1"),
          "missing barrier"));
  EXPECT_TRUE(has(
      faultOf(pairs, "number_of_threads = %c64", "number_of_threads = %c128"),
      "deadlock"));
  EXPECT_TRUE(
      has(faultOf(pairs, "arith.xori %tid, %c32", "arith.xori %tid, %c64"),
          "missing barrier"));
}

/// Warp 0 announces, warp 1 waits.
const char *announced = R"(
  %is0 = arith.cmpi eq, %warp, %c0 : i32
  %own = llvm.getelementptr %smem[%lane] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  scf.if %is0 {
    llvm.store %lane, %own : i32, !llvm.ptr<3>
    nvvm.barrier.arrive id = %c3 number_of_threads = %c64
  } else {
    nvvm.barrier id = %c3 number_of_threads = %c64
    %v = llvm.load %own : !llvm.ptr<3> -> i32
  }
)";

TEST(NamedBarriers, Arrive) {
  EXPECT_EQ(Kernel(wrap(announced), 64).runEveryWay(), "");
  EXPECT_TRUE(has(faultOf(announced,
                          "nvvm.barrier.arrive id = %c3 number_of_threads = "
                          "%c64",
                          "", 64),
                  "deadlock"));
}

TEST(NamedBarriers, NotEveryLane) {
  std::string fault = Kernel(wrap(R"(
  %few = arith.cmpi ult, %lane, %c5 : i32
  scf.if %few {
    nvvm.barrier0
  })"))
                          .run();
  EXPECT_TRUE(has(fault, "a barrier that some thread does not reach"));
}

/// Lanes of one warp are threads too: only bar.warp.sync orders their accesses.
const char *lanes = R"(
  %own = llvm.getelementptr %smem[%lane] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %partner = arith.xori %lane, %c1 : i32
  %other = llvm.getelementptr %smem[%partner] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  llvm.store %lane, %own : i32, !llvm.ptr<3>
  nvvm.bar.warp.sync %all : i32
  %v = llvm.load %other : !llvm.ptr<3> -> i32
)";

TEST(WarpBarrier, OrdersLanes) {
  EXPECT_EQ(Kernel(wrap(lanes), 32).runEveryWay(), "");
  EXPECT_TRUE(has(faultOf(lanes, "nvvm.bar.warp.sync %all : i32", "", 32),
                  "missing barrier"));
  EXPECT_TRUE(has(
      faultOf(lanes, "nvvm.bar.warp.sync %all", "nvvm.bar.warp.sync %c31", 32),
      "a warp barrier by lanes outside its mask"));
}

//===----------------------------------------------------------------------===//
// mbarriers
//===----------------------------------------------------------------------===//

/// A ring of two stages: warp 0 fills, warp 1 empties, eight times.
const char *ring = R"(
  %ticks = arith.constant 1000 : i32
  %isFirst = arith.cmpi eq, %tid, %c0 : i32
  %bars = llvm.getelementptr %smem[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  scf.if %isFirst {
    scf.for %i = %c0 to %c4 step %c1 : i32 {
      %bar = llvm.getelementptr %bars[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
      nvvm.mbarrier.init %bar, %c32 : !llvm.ptr<3>, i32
    }
  }
  nvvm.barrier0
  %isProducer = arith.cmpi eq, %warp, %c0 : i32
  scf.for %i = %c0 to %c8 step %c1 : i32 {
    %stage = arith.andi %i, %c1 : i32
    %turn = arith.shrui %i, %c1 : i32
    %parity = arith.andi %turn, %c1 : i32
    %previous = arith.xori %parity, %c1 : i32
    %full = llvm.getelementptr %bars[%stage] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
    %empty = llvm.getelementptr %full[2] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
    %offset = arith.muli %stage, %c32 : i32
    %index = arith.addi %offset, %lane : i32
    %slot = llvm.getelementptr %smem[%index] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    scf.if %isProducer {
      nvvm.mbarrier.try_wait.parity %empty, %previous, %ticks : !llvm.ptr<3>, i32, i32
      %scaled = arith.muli %i, %c64 : i32
      %v = arith.addi %scaled, %lane : i32
      llvm.store %v, %slot : i32, !llvm.ptr<3>
      %s = nvvm.mbarrier.arrive %full : !llvm.ptr<3> -> i64
    } else {
      nvvm.mbarrier.try_wait.parity %full, %parity, %ticks : !llvm.ptr<3>, i32, i32
      %mirrored = arith.xori %index, %c31 : i32
      %other = llvm.getelementptr %smem[%mirrored] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %v = llvm.load %other : !llvm.ptr<3> -> i32
      %row = arith.muli %i, %c32 : i32
      %place = arith.addi %row, %lane : i32
      %to = llvm.getelementptr %out[%place] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %v, %to : i32, !llvm.ptr<1>
      %s = nvvm.mbarrier.arrive %empty : !llvm.ptr<3> -> i64
    }
  }
)";

TEST(MBarriers, Ring) {
  Kernel kernel(wrap(ring), 64);
  std::vector<uint8_t> in(4), out(1024);
  ASSERT_EQ(kernel.runEveryWay(in, out), "");
  for (int32_t i = 0; i < 8; ++i)
    for (int32_t lane = 0; lane < 32; ++lane)
      EXPECT_EQ(at<int32_t>(out, i * 32 + lane), i * 64 + (lane ^ 31));
}

TEST(MBarriers, RingFaults) {
  auto fault = [](const std::string &line, const std::string &by = "") {
    return faultOf(ring, line, by, 64);
  };
  EXPECT_TRUE(has(fault("nvvm.mbarrier.try_wait.parity %full, %parity, %ticks "
                        ": !llvm.ptr<3>, i32, i32"),
                  "missing barrier"));
  // The producer laps the consumer: a race, or a phase that was missed.
  EXPECT_FALSE(fault("nvvm.mbarrier.try_wait.parity %empty, %previous, %ticks "
                     ": !llvm.ptr<3>, i32, i32")
                   .empty());
  EXPECT_TRUE(has(fault("  nvvm.barrier0\n"), "mbarrier"));
  // A wait that cannot be satisfied names both sides and where they stand.
  std::string deadlock =
      fault("%s = nvvm.mbarrier.arrive %empty : !llvm.ptr<3> -> i64");
  EXPECT_TRUE(has(deadlock, "deadlock"));
  EXPECT_TRUE(has(deadlock, "warp 0 waits at nvvm.mbarrier.try_wait.parity"));
  EXPECT_TRUE(has(deadlock, "warp 1 waits at nvvm.mbarrier.try_wait.parity"));
  EXPECT_TRUE(has(deadlock, "loc("));
  // The first wait for an empty stage must fall through.
  EXPECT_TRUE(has(fault("%empty, %previous", "%empty, %parity"), "deadlock"));
  // Two phases pass at once.
  EXPECT_TRUE(has(
      fault("nvvm.mbarrier.init %bar, %c32", "nvvm.mbarrier.init %bar, %c16"),
      "deadlock"));
  EXPECT_TRUE(has(fault("nvvm.mbarrier.arrive %full : !llvm.ptr<3> -> i64",
                        "nvvm.mbarrier.arrive %full {relaxed = true} : "
                        "!llvm.ptr<3> -> i64"),
                  "missing barrier"));
}

/// States instead of parities, counts, and a poll in a loop.
const char *polled = R"(
  %isFirst = arith.cmpi eq, %tid, %c0 : i32
  %bar = llvm.getelementptr %smem[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %own = llvm.getelementptr %smem[%lane] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  scf.if %isFirst {
    nvvm.mbarrier.init %bar, %c128 : !llvm.ptr<3>, i32
  }
  nvvm.barrier0
  %isProducer = arith.cmpi eq, %warp, %c1 : i32
  scf.if %isProducer {
    llvm.store %tid, %own : i32, !llvm.ptr<3>
    %early = nvvm.mbarrier.arrive.nocomplete %bar, %c1 : !llvm.ptr<3>, i32 -> i64
    %s = nvvm.mbarrier.arrive %bar, %c2 : !llvm.ptr<3> -> i64
  } else {
    %state = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64
    scf.while : () -> () {
      %done = nvvm.mbarrier.test.wait %bar, %state : !llvm.ptr<3>, i64 -> i1
      %again = arith.xori %done, %true : i1
      scf.condition(%again)
    } do {
      scf.yield
    }
    %v = llvm.load %own : !llvm.ptr<3> -> i32
    %to = llvm.getelementptr %out[%lane] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %v, %to : i32, !llvm.ptr<1>
  }
)";

TEST(MBarriers, StatesAndPolls) {
  Kernel kernel(wrap(polled), 64);
  std::vector<uint8_t> in(4), out(128);
  ASSERT_EQ(kernel.runEveryWay(in, out), "");
  EXPECT_EQ(at<int32_t>(out, 7), 39);
  EXPECT_TRUE(has(faultOf(polled,
                          "%s = nvvm.mbarrier.arrive %bar, %c2 : "
                          "!llvm.ptr<3> -> i64",
                          "", 64),
                  "deadlock"));
  EXPECT_TRUE(has(faultOf(polled, "arrive.nocomplete %bar, %c1",
                          "arrive.nocomplete %bar, %c256", 64),
                  "are pending"));
}

TEST(MBarriers, AreNotMemory) {
  std::string fault = Kernel(wrap(R"(
  nvvm.mbarrier.init %smem, %c1 : !llvm.ptr<3>, i32
  llvm.store %tid, %smem : i32, !llvm.ptr<3>)"),
                             1)
                          .run();
  EXPECT_TRUE(has(fault, "of an mbarrier"));
  fault = Kernel(wrap(R"(
  nvvm.mbarrier.init %smem, %c1 : !llvm.ptr<3>, i32
  nvvm.mbarrier.inval %smem : !llvm.ptr<3>
  llvm.store %tid, %smem : i32, !llvm.ptr<3>
  %s = nvvm.mbarrier.arrive %smem : !llvm.ptr<3> -> i64)"),
                 1)
              .run();
  EXPECT_TRUE(has(fault, "no mbarrier was initialised"));
}

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

/// Two groups; the first is read while the second is on its way.
const char *copied = R"(
  %bytes = arith.muli %tid, %c16 : i32
  %from = llvm.getelementptr %in[%bytes] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
  %to0 = llvm.getelementptr %smem[%bytes] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  %to1 = llvm.getelementptr %to0[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  nvvm.cp.async.shared.global %to0, %from, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.commit.group
  nvvm.cp.async.shared.global %to1, %from, 8, cache = ca, %c4 : !llvm.ptr<3>, !llvm.ptr<1>, i32
  nvvm.cp.async.commit.group
  nvvm.cp.async.wait.group 1
  nvvm.barrier0
  %mirrored = arith.xori %tid, %c127 : i32
  %word = arith.muli %mirrored, %c4 : i32
  %other = llvm.getelementptr %smem[%word] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %v = llvm.load %other : !llvm.ptr<3> -> vector<4xi32>
  %place = arith.muli %tid, %c8 : i32
  %o = llvm.getelementptr %out[%place] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  llvm.store %v, %o : vector<4xi32>, !llvm.ptr<1>
  nvvm.cp.async.wait.group 0
  %w = llvm.load %to1 : !llvm.ptr<3> -> vector<2xi32>
  %p = llvm.getelementptr %o[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
  llvm.store %w, %p : vector<2xi32>, !llvm.ptr<1>
)";

TEST(CopyAsync, TwoGroupsAndZeroFill) {
  Kernel kernel(wrap(copied));
  std::vector<uint8_t> in(2048), out(4096);
  for (uint32_t i = 0; i < 512; ++i)
    put(in, 4 * i, 1000 + i);
  ASSERT_EQ(kernel.runEveryWay(in, out), "");
  for (uint32_t t = 0; t < 128; ++t) {
    EXPECT_EQ(at<uint32_t>(out, 8 * t + 2), 1000 + 4 * (127 - t) + 2);
    EXPECT_EQ(at<uint32_t>(out, 8 * t + 4), 1000 + 4 * t);
    EXPECT_EQ(at<uint32_t>(out, 8 * t + 5), 0u);
  }
}

TEST(CopyAsync, Faults) {
  const char *onItsWay = "a copy is on its way";
  EXPECT_TRUE(has(faultOf(copied, "nvvm.cp.async.wait.group 1"), onItsWay));
  EXPECT_TRUE(has(faultOf(copied, "nvvm.cp.async.wait.group 0"), onItsWay));
  EXPECT_TRUE(has(faultOf(copied, "wait.group 1", "wait.group 2"), onItsWay));
  EXPECT_TRUE(has(faultOf(copied, "nvvm.cp.async.commit.group"), onItsWay));
  EXPECT_TRUE(has(faultOf(copied, "  nvvm.barrier0\n"), "missing barrier"));
  EXPECT_TRUE(has(faultOf(copied, "!llvm.ptr<1>\n  nvvm.cp.async.commit.group",
                          "!llvm.ptr<1>\n  llvm.store %tid, %to0 : i32, "
                          "!llvm.ptr<3>"),
                  onItsWay));
}

/// Copies that only an mbarrier tracks.
const char *tracked = R"(
  %ticks = arith.constant 1000 : i32
  %bar = llvm.getelementptr %smem[4096] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %isFirst = arith.cmpi eq, %tid, %c0 : i32
  scf.if %isFirst {
    nvvm.mbarrier.init %bar, %c32 : !llvm.ptr<3>, i32
  }
  nvvm.barrier0
  %isProducer = arith.cmpi eq, %warp, %c0 : i32
  %bytes = arith.muli %lane, %c16 : i32
  %to = llvm.getelementptr %smem[%bytes] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  scf.if %isProducer {
    %from = llvm.getelementptr %in[%bytes] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    nvvm.cp.async.shared.global %to, %from, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.mbarrier.arrive %bar {noinc = true} : !llvm.ptr<3>
  } else {
    nvvm.mbarrier.try_wait.parity %bar, %c0, %ticks : !llvm.ptr<3>, i32, i32
    %v = llvm.load %to : !llvm.ptr<3> -> vector<4xi32>
    %o = llvm.getelementptr %out[%bytes] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    llvm.store %v, %o : vector<4xi32>, !llvm.ptr<1>
  }
)";

TEST(CopyAsync, TrackedByMBarrier) {
  Kernel kernel(wrap(tracked), 64);
  std::vector<uint8_t> in(512), out(512);
  for (uint32_t i = 0; i < 128; ++i)
    put(in, 4 * i, 7 * i);
  ASSERT_EQ(kernel.runEveryWay(in, out), "");
  EXPECT_EQ(in, out);
}

TEST(CopyAsync, TrackedByMBarrierFaults) {
  auto fault = [](const std::string &line, const std::string &by = "") {
    return faultOf(tracked, line, by, 64);
  };
  EXPECT_FALSE(
      fault("nvvm.mbarrier.try_wait.parity %bar, %c0, %ticks : !llvm.ptr<3>, "
            "i32, i32")
          .empty());
  // The copies are not behind an ordinary arrival.
  EXPECT_TRUE(has(fault("nvvm.cp.async.mbarrier.arrive %bar {noinc = true} : "
                        "!llvm.ptr<3>",
                        "%s = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64"),
                  "a copy is on its way"));
  // Without noinc the arrival is one more than the mbarrier waits for.
  EXPECT_TRUE(has(fault("{noinc = true}"), "deadlock"));
}

//===----------------------------------------------------------------------===//
// Other faults
//===----------------------------------------------------------------------===//

TEST(Machine, OutOfBoundsAndUnknown) {
  auto fault = [](const std::string &body) {
    return Kernel(wrap(body), 32, 128).run();
  };
  EXPECT_TRUE(has(fault(R"(
  %p = llvm.getelementptr %smem[128] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %v = llvm.load %p : !llvm.ptr<3> -> i32)"),
                  "shared read out of bounds"));
  // The last word of all addresses.
  EXPECT_TRUE(has(fault(R"(
  %n = arith.constant -4 : i64
  %p = llvm.inttoptr %n : i64 to !llvm.ptr<3>
  %v = llvm.load %p : !llvm.ptr<3> -> i32)"),
                  "shared read out of bounds"));
  EXPECT_TRUE(has(fault(R"(
  %n = arith.constant -4 : i64
  %p = llvm.inttoptr %n : i64 to !llvm.ptr<1>
  %v = llvm.load %p : !llvm.ptr<1> -> i32)"),
                  "global read out of bounds"));
  EXPECT_TRUE(has(fault(R"(
  %p = llvm.getelementptr %out[1000000] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.store %tid, %p : i32, !llvm.ptr<1>)"),
                  "global write out of bounds"));
  EXPECT_TRUE(has(fault(R"(
  %p = llvm.getelementptr %smem[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %v = llvm.load %p : !llvm.ptr<3> -> vector<2xi32>)"),
                  "unaligned"));
  EXPECT_TRUE(has(fault(R"(
  %u = llvm.mlir.undef : i32
  %v = arith.addi %u, %tid : i32)"),
                  "undefined value"));
  EXPECT_TRUE(has(fault(R"(
  %v = llvm.inline_asm "mov.u32 $0, %clock;", "=r" : () -> i32)"),
                  "does not know the assembly \"mov.u32 $0, %clock;\""));
  EXPECT_TRUE(
      has(fault("  nvvm.cluster.arrive.relaxed"), "does not know this op"));
}

TEST(Machine, GlobalMemory) {
  const char *body = R"(
  %own = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  llvm.store %tid, %own : i32, !llvm.ptr<1>
  nvvm.barrier0
  %partner = arith.xori %tid, %c32 : i32
  %other = llvm.getelementptr %out[%partner] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %v = llvm.load %other : !llvm.ptr<1> -> i32)";
  EXPECT_EQ(Kernel(wrap(body)).runEveryWay(), "");
  EXPECT_TRUE(has(faultOf(body, "nvvm.barrier0"), "reads global memory that"));
  EXPECT_TRUE(has(faultOf(body, "%out[%tid]", "%out[%warp]"),
                  "write the same global memory"));
}

TEST(Machine, EndlessLoop) {
  Kernel kernel(wrap(R"(
  scf.while : () -> () {
    scf.condition(%true)
  } do {
    scf.yield
  })"));
  InterpreterOptions options;
  options.limit = 10000000;
  EXPECT_TRUE(has(kernel.run(options), "the kernel does not end"));
}

TEST(Machine, RegistersOfAWarpGroup) {
  const char *body = R"(
  %group = arith.shrui %tid, %c7 : i32
  %is0 = arith.cmpi eq, %group, %c0 : i32
  scf.if %is0 {
    nvvm.setmaxregister increase 240
  } else {
    nvvm.setmaxregister decrease 24
  })";
  EXPECT_EQ(Kernel(wrap(body), 256).runEveryWay(), "");
  EXPECT_TRUE(
      has(faultOf(body, "arith.shrui %tid, %c7", "arith.shrui %tid, %c6", 256),
          "deadlock"));
}

} // namespace
