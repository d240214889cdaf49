//===- ClusterTest.cpp - Blocks of a cluster in the interpreter -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "gtest/gtest.h"
#include <cstring>
#include <numeric>

using namespace prism::test;

namespace {

/// Block 0 writes 128 bytes, one thread copies them to block 1, which hands
/// them out. Addresses are numbers to the assembly.
const char *const kMessage = R"(
  %ticks = arith.constant 1000 : i32
  %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
  %bar = llvm.getelementptr %smem[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %isLead = arith.cmpi eq, %tid, %c0 : i32
  scf.if %isLead {
    nvvm.mbarrier.init %bar, %c1 : !llvm.ptr<3>, i32
  }
  nvvm.cluster.arrive
  nvvm.cluster.wait
  %own = llvm.getelementptr %smem[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %isSender = arith.cmpi eq, %rank, %c0 : i32
  scf.if %isSender {
    %hundred = arith.constant 100 : i32
    %value = arith.addi %tid, %hundred : i32
    llvm.store %value, %own : i32, !llvm.ptr<3>
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.bar.warp.sync %all : i32
    scf.if %isLead {
      %remote = nvvm.mapa %smem, %c1 : !llvm.ptr<3> -> !llvm.ptr<7>
      %remoteBar = nvvm.mapa %bar, %c1 : !llvm.ptr<3> -> !llvm.ptr<7>
      %to = llvm.ptrtoint %remote : !llvm.ptr<7> to i32
      %toBar = llvm.ptrtoint %remoteBar : !llvm.ptr<7> to i32
      %from = llvm.ptrtoint %smem : !llvm.ptr<3> to i32
      llvm.inline_asm has_side_effects "mbarrier.arrive.expect_tx.shared::cluster.b64 _, [$0], $1;", "r,r,~{memory}" %toBar, %c128 : (i32, i32) -> ()
      llvm.inline_asm has_side_effects "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "r,r,r,r,~{memory}" %to, %from, %c128, %toBar : (i32, i32, i32, i32) -> ()
    }
  } else {
    nvvm.mbarrier.try_wait.parity %bar, %c0, %ticks : !llvm.ptr<3>, i32, i32
    %got = llvm.load %own : !llvm.ptr<3> -> i32
    %o = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %got, %o : i32, !llvm.ptr<1>
  }
  nvvm.cluster.arrive // at the end
  nvvm.cluster.wait // at the end
)";

std::string runPair(const std::string &body, std::vector<uint8_t> &out) {
  std::string text = wrap(body);
  Kernel kernel(
      replace(text, "{nvvm.kernel}",
              "{nvvm.kernel, nvvm.cluster_dim = array<i32: 2, 1, 1>}"),
      32, 4096);
  EXPECT_TRUE(kernel.isParsed());
  std::vector<uint8_t> in(16);
  return kernel.runEveryWay(in, out);
}

std::string faultOf(const std::string &line, const std::string &by = "") {
  std::string body = replace(kMessage, line, by);
  EXPECT_NE(body, kMessage) << line;
  std::vector<uint8_t> out(128);
  return runPair(body, out);
}

testing::AssertionResult has(const std::string &fault,
                             const std::string &part) {
  if (fault.find(part) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "the fault is \"" << fault << "\"";
}

/// What the second block's threads wrote.
std::vector<int32_t> wordsOf(const std::string &body) {
  std::vector<uint8_t> out(128);
  EXPECT_EQ(runPair(body, out), "");
  std::vector<int32_t> words(32);
  std::memcpy(words.data(), out.data(), out.size());
  return words;
}

TEST(Clusters, MessageArrives) {
  std::vector<int32_t> expected(32);
  std::iota(expected.begin(), expected.end(), 100);
  EXPECT_EQ(wordsOf(kMessage), expected);
}

TEST(Clusters, WhatIsMissing) {
  EXPECT_TRUE(has(faultOf("    nvvm.fence.proxy {kind = "
                          "#nvvm.proxy_kind<async.shared>, space = "
                          "#nvvm.shared_space<cta>}\n"),
                  "missing fence.proxy: a copy to another block"));
  EXPECT_TRUE(has(faultOf("nvvm.bar.warp.sync %all : i32"), "missing barrier"));
  EXPECT_TRUE(has(faultOf("    nvvm.mbarrier.try_wait.parity %bar, %c0, %ticks "
                          ": !llvm.ptr<3>, i32, i32\n"),
                  "reads byte"));
  EXPECT_TRUE(
      has(faultOf("  nvvm.cluster.arrive\n  nvvm.cluster.wait\n"), "mbarrier"));
}

TEST(Clusters, BytesThatDoNotCome) {
  EXPECT_TRUE(has(faultOf("[$0], $1;\", \"r,r,~{memory}\" %toBar, %c128",
                          "[$0], $1;\", \"r,r,~{memory}\" %toBar, %c256"),
                  "128 bytes are to come"));
}

TEST(Clusters, BlocksThatHaveEnded) {
  // Block 1 does not wait for the message, nor for block 0's end.
  std::string body = replace(
      kMessage,
      "    nvvm.mbarrier.try_wait.parity %bar, %c0, %ticks : !llvm.ptr<3>, "
      "i32, i32\n    %got = llvm.load %own : !llvm.ptr<3> -> i32\n",
      "    %got = arith.constant 1 : i32\n");
  body = replace(body,
                 "  nvvm.cluster.arrive // at the end\n  nvvm.cluster.wait // "
                 "at the end\n",
                 "");
  std::vector<uint8_t> out(128);
  EXPECT_TRUE(has(runPair(body, out), "which has ended"));
}

TEST(Clusters, OthersMemoryOnlyByCopies) {
  EXPECT_TRUE(
      has(faultOf("    %got = llvm.load %own : !llvm.ptr<3> -> i32\n",
                  "    %at = llvm.ptrtoint %own : !llvm.ptr<3> to i32\n"
                  "    %mask = arith.constant 16777215 : i32\n"
                  "    %local = arith.andi %at, %mask : i32\n"
                  "    %zero = llvm.inttoptr %local : i32 to !llvm.ptr<3>\n"
                  "    %got = llvm.load %zero : !llvm.ptr<3> -> i32\n"),
          "of block 1 accesses byte"));
  EXPECT_TRUE(has(faultOf("%remoteBar = nvvm.mapa %bar, %c1",
                          "%remoteBar = nvvm.mapa %bar, %c0"),
                  "counted on another's mbarrier"));
  EXPECT_TRUE(has(faultOf("%remote = nvvm.mapa %smem, %c1",
                          "%remote = nvvm.mapa %smem, %c2"),
                  "block 2 of a cluster of 2"));
}

/// Both blocks read the number of block 0's multiprocessor where it wrote it,
/// and meet again before it writes something else there.
const char *const kWord = R"(
  %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
  %number = nvvm.read.ptx.sreg.smid : i32
  %isLead = arith.cmpi eq, %tid, %c0 : i32
  scf.if %isLead {
    llvm.store %number, %smem : i32, !llvm.ptr<3>
  }
  nvvm.cluster.arrive // first
  nvvm.cluster.wait
  %remote = nvvm.mapa %smem, %c0 : !llvm.ptr<3> -> !llvm.ptr<7>
  %word = llvm.load %remote : !llvm.ptr<7> -> i32
  nvvm.cluster.arrive // second
  nvvm.cluster.wait
  scf.if %isLead {
    llvm.store %all, %smem : i32, !llvm.ptr<3>
  }
  %isSecond = arith.cmpi eq, %rank, %c1 : i32
  scf.if %isSecond {
    %own = arith.muli %number, %c16 : i32
    %both = arith.addi %own, %word : i32
    %o = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %both, %o : i32, !llvm.ptr<1>
  }
)";

TEST(Clusters, WordsOfOthers) {
  // Multiprocessors 0 and 1.
  EXPECT_EQ(wordsOf(kWord), std::vector<int32_t>(32, 16 * 1 + 0));
  std::vector<uint8_t> out(128);
  for (const char *which : {"first", "second"}) {
    std::string barrier = std::string("  nvvm.cluster.arrive // ") + which +
                          "\n  nvvm.cluster.wait\n";
    EXPECT_TRUE(has(runPair(replace(kWord, barrier, ""), out), "missing"))
        << which;
  }
}

} // namespace
