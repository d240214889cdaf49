//===- MutationsTest.cpp - A kernel of roles, one synchronisation less ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Of the Gated DeltaNet kernel every barrier, fence, wait, commit and arrival
// is taken out by itself: the interpreter, or the comparison with the
// recurrence, must miss it. Those that it does not miss are listed, by role and
// kind, with what makes them redundant in this kernel; another kernel needs
// them, or the lowering would have to know more to leave them out.
//
//===----------------------------------------------------------------------===//

#include "Interpreter/Mutations.h"
#include "Models.h"
#include "RoleKernel.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "gtest/gtest.h"
#include <array>

using namespace mlir;
using namespace prism;
using namespace prism::test;

namespace {

/// The branches of the roles stand one after the other behind the barrier that
/// shows the mbarriers to all: of a cluster the last but the one at the end.
using Names = std::array<const char *, 5>;
constexpr Names kRoles = {"chain", "prepare", "load"};
/// Of two kinds of block, those without a role last.
constexpr Names kRolesApart = {"chain", "load", "prepare", "load apart",
                               "idle"};

std::string roleOf(Operation *op, LLVM::LLVMFuncOp kernel, const Names &names) {
  auto waits = kernel.getBody().front().getOps<NVVM::ClusterWaitOp>();
  int64_t branch = 0, waitsLeft = std::distance(waits.begin(), waits.end()) - 1;
  bool isInRoles = false;
  for (Operation &other : kernel.getBody().front()) {
    if (other.isAncestor(op))
      return isInRoles && isa<scf::IfOp>(other) ? names[branch] : "start";
    if (isa<NVVM::ClusterWaitOp>(other))
      --waitsLeft;
    isInRoles |= isa<NVVM::Barrier0Op>(other) ||
                 (isa<NVVM::ClusterWaitOp>(other) && waitsLeft == 0);
    branch += isInRoles && isa<scf::IfOp>(other);
  }
  return "?";
}

/// How many of a kind, at most, are not missed, and why.
struct Redundant {
  const char *role, *op;
  unsigned count;
  const char *why;
};

/// BY THE KEYS: load waits for an empty slot of the keys first. The chain,
/// which by then has received what the preparation made of all else, releases
/// them last. As every channel has equally many slots here, whoever waited for
/// the keys need not wait for the others.
const Redundant kRedundant[] = {
    {"chain", "nvvm.wgmma.fence.aligned", 2,
     "K S and Q S, and the state and the outputs, are issued together: no "
     "register was written in between"},
    {"chain", "nvvm.wgmma.commit.group.sync.aligned", 1,
     "the scores' product may join the next group: both are waited for at "
     "once"},
    {"chain", "nvvm.wgmma.wait.group.sync.aligned", 1,
     "before the release of what was prepared; by the keys"},
    {"chain", "nvvm.mbarrier.try_wait.parity", 1,
     "for the strengths: the preparation had them before the chain has its "
     "message"},
    {"chain", "nvvm.bar.warp.sync", 5,
     "releases of values, strengths and what was prepared, by the keys; of the "
     "keys, which only products read; before outputs are read again by lanes, "
     "since the releases synchronise too"},
    {"prepare", "nvvm.wgmma.fence.aligned", 1,
     "K K' and Q K' are issued together"},
    {"prepare", "nvvm.wgmma.commit.group.sync.aligned", 1,
     "both are waited for at once"},
    {"prepare", "nvvm.mbarrier.try_wait.parity", 1,
     "for a slot for its message; by the keys"},
    {"prepare", "nvvm.barrier", 1,
     "before the system is written: the other one stands between it and the "
     "last iteration's reads, which end before the warps meet in a product"},
    {"prepare", "nvvm.bar.warp.sync", 4,
     "releases of gates and strengths, by the keys; of the keys, which only "
     "products read; before the system is read, since releases stand between"},
    {"load", "nvvm.mbarrier.try_wait.parity", 3,
     "for slots of gates, strengths and values; by the keys"},
    {"load", "nvvm.fence.proxy", 1,
     "values are read by ldmatrix, and by copies or boxes alone overwritten"},
    {"load", "nvvm.bar.warp.sync", 1,
     "values that the copy engine writes: no lane has written any"},
};

const Redundant kRedundantInClusters[] = {
    {"chain", "nvvm.wgmma.fence.aligned", 2,
     "K S and Q S, and the state and the outputs, are issued together"},
    {"chain", "nvvm.wgmma.commit.group.sync.aligned", 1,
     "outputs may join the next state's group: both are waited for at once"},
    {"chain", "nvvm.bar.warp.sync", 5,
     "releases of values and of what was prepared, by the keys; of the keys, "
     "which only products read; before outputs are read again by lanes, since "
     "the releases synchronise too"},
    {"prepare", "nvvm.wgmma.fence.aligned", 1,
     "the scores' product: no register was written in between"},
    {"prepare", "nvvm.barrier", 1,
     "before scratch is written: the one before the message stands between it "
     "and the last iteration's reads"},
    {"prepare", "nvvm.bar.warp.sync", 2,
     "the release of the keys, which only products and waits read; beside it"},
    {"load", "nvvm.mbarrier.try_wait.parity", 1,
     "for a slot of values; by the keys"},
    {"load", "nvvm.fence.proxy", 1, "values are read by ldmatrix"},
    {"load", "nvvm.bar.warp.sync", 1,
     "values that the copy engine writes: no lane has written any"},
};

const Redundant kRedundantApart[] = {
    {"chain", "nvvm.wgmma.fence.aligned", 2,
     "K S and Q S, and the state and the outputs, are issued together"},
    {"chain", "nvvm.wgmma.commit.group.sync.aligned", 1,
     "outputs may join the next state's group: both are waited for at once"},
    {"chain", "nvvm.bar.warp.sync", 3,
     "releases, behind products that all lanes wait for; before outputs are "
     "read again by lanes, since the releases synchronise too"},
    {"load", "nvvm.mbarrier.try_wait.parity", 1,
     "for a slot of values; by the keys"},
    {"load", "nvvm.fence.proxy", 1, "values are read by ldmatrix"},
    {"prepare", "nvvm.wgmma.fence.aligned", 1,
     "the scores' product: no register was written in between"},
    {"prepare", "nvvm.wgmma.commit.group.sync.aligned", 1,
     "both products are waited for before the keys are given back"},
    {"prepare", "nvvm.barrier", 1,
     "before scratch is written: the one before the message stands between it "
     "and the last iteration's reads"},
    {"prepare", "nvvm.bar.warp.sync", 3,
     "the release of the keys, which only products and waits read; beside it"},
};

/// Nothing that was loaded is read by products here.
const Redundant kRedundantPerKey[] = {
    {"chain", "nvvm.wgmma.fence.aligned", 1,
     "the state's product and the first of the outputs are issued together"},
    {"chain", "nvvm.wgmma.commit.group.sync.aligned", 2,
     "all three products are waited for at once"},
    {"chain", "nvvm.bar.warp.sync", 3,
     "the release, behind products that all lanes wait for; before outputs are "
     "read again by lanes, since the release synchronises too"},
    {"prepare", "nvvm.barrier", 1,
     "before sums of gates are written: the keys come when all warps have "
     "given back the last ones, behind their last reads of sums"},
    {"prepare", "nvvm.bar.warp.sync", 1,
     "the release of the keys: of mild chunks all warps have met since they "
     "read them"},
    {"prepare", "nvvm.mbarrier.try_wait.parity", 1,
     "for a slot for its message: keys are published behind the wait for a "
     "slot of values, which the chain gives back together with it"},
    {"load", "nvvm.fence.proxy", 2,
     "keys and gates are read by ordinary loads, values by ldmatrix"},
};

/// Whether any of a few runs shows a fault.
bool isMissed(RoleKernel &kernel) {
  using Options = InterpreterOptions;
  const std::pair<Options::Copies, Options::Order> runs[] = {
      {Options::Copies::Late, Options::Order::Ascending},
      {Options::Copies::Late, Options::Order::Random},
      {Options::Copies::Early, Options::Order::Descending},
      {Options::Copies::Early, Options::Order::Random}};
  for (auto [copies, order] : runs) {
    Options options;
    options.copies = copies;
    options.order = order;
    options.seed = 3;
    options.limit = 30000000; // a wait that never ends
    for (bool hasMaps : {true, false})
      if (!kernel.run(options, {0, 0, hasMaps}).empty())
        return true;
  }
  return false;
}

check::InputOptions longCall() {
  check::InputOptions call;
  call.batch = 1;
  call.steps = 5 * 64 + 1; // every slot of a channel is filled again
  return call;
}

/// Takes out one synchronisation after the other.
void expectMissed(
    RoleKernel &kernel, ArrayRef<Redundant> redundant,
    const Names &names = kRoles,
    llvm::function_ref<void(check::HostArrays &)> edit = nullptr) {
  ASSERT_EQ(kernel.whyNot(), "");
  kernel.prepare(longCall(), edit);
  ASSERT_FALSE(isMissed(kernel)) << "the right kernel must pass";
  std::map<std::pair<std::string, std::string>, unsigned> unmissed;
  std::map<std::pair<std::string, std::string>, std::string> where;
  std::vector<Operation *> all = synchronisationsOf(kernel.kernel());
  EXPECT_GE(all.size(), 40u);
  for (Operation *op : all) {
    std::pair kind(roleOf(op, kernel.kernel(), names),
                   op->getName().getStringRef().str());
    Without without(op);
    if (isMissed(kernel))
      continue;
    ++unmissed[kind];
    where[kind] += "\n  " + describe(op);
  }
  for (const Redundant &known : redundant) {
    unsigned &count = unmissed[{known.role, known.op}];
    EXPECT_LE(count, known.count)
        << known.role << ": " << known.op << ": " << known.why;
    count = 0;
  }
  for (const auto &[kind, count] : unmissed)
    EXPECT_EQ(count, 0u) << kind.first << ": " << kind.second
                         << " are taken out and not missed:" << where[kind];
}

template <typename Op> std::vector<Op> allOf(RoleKernel &kernel) {
  std::vector<Op> all;
  kernel.kernel().walk([&](Op op) { all.push_back(op); });
  return all;
}

TEST(Mutations, BytesThatDoNotCome) {
  RoleKernel kernel(specOf(Model()));
  ASSERT_EQ(kernel.whyNot(), "");
  kernel.prepare(longCall());
  // Keys and queries, which vectors come with; values.
  std::vector<OpOperand *> expectations;
  for (auto op : allOf<NVVM::MBarrierExpectTxOp>(kernel))
    expectations.push_back(&op.getTxcountMutable());
  for (auto op : allOf<NVVM::MBarrierArriveExpectTxOp>(kernel))
    expectations.push_back(&op.getTxcountMutable());
  EXPECT_EQ(expectations.size(), 2u);
  for (OpOperand *expected : expectations) {
    Operation *op = expected->getOwner();
    Value right = expected->get();
    APInt bytes;
    ASSERT_TRUE(matchPattern(right, m_ConstantInt(&bytes)));
    for (int64_t wrong : {-8192, -16, 16, 8192}) {
      OpBuilder b(op);
      Value other = arith::ConstantOp::create(
          b, op->getLoc(), b.getI32IntegerAttr(bytes.getSExtValue() + wrong));
      expected->set(other);
      EXPECT_TRUE(isMissed(kernel)) << wrong;
      expected->set(right);
      other.getDefiningOp()->erase();
    }
  }
  auto boxes = allOf<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(kernel);
  EXPECT_EQ(boxes.size(), 3u);
  for (Operation *box : boxes) {
    Without without(box);
    EXPECT_TRUE(isMissed(kernel));
  }
  EXPECT_FALSE(isMissed(kernel)) << "the kernel is right again";
}

/// A box of the wrong row, column or head has other numbers in it, or goes
/// where others belong.
template <typename Box> void expectEveryCoordinateMatters(size_t boxes) {
  Model two;
  two.keyHeads = two.valueHeads = 2;
  RoleKernel kernel(specOf(two));
  ASSERT_EQ(kernel.whyNot(), "");
  check::InputOptions call = longCall();
  call.batch = 2;
  kernel.prepare(call);
  EXPECT_EQ(allOf<Box>(kernel).size(), boxes);
  for (Box box : allOf<Box>(kernel))
    for (OpOperand &coordinate : box.getCoordinatesMutable()) {
      OpBuilder b(box);
      Value right = coordinate.get();
      Value one =
          arith::ConstantOp::create(b, box.getLoc(), b.getI32IntegerAttr(1));
      Value next = arith::AddIOp::create(b, box.getLoc(), right, one);
      coordinate.set(next);
      EXPECT_NE(kernel.run({}), "") << coordinate.getOperandNumber();
      coordinate.set(right);
      next.getDefiningOp()->erase();
      one.getDefiningOp()->erase();
    }
}

TEST(Mutations, BoxesFromElsewhere) {
  expectEveryCoordinateMatters<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(
      3);
}

/// In the loop, and behind it.
TEST(Mutations, BoxesToElsewhere) {
  expectEveryCoordinateMatters<NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp>(2);
}

TEST(Mutations, EverySynchronisationIsMissedOrListed) {
  RoleKernel kernel(specOf(Model()));
  expectMissed(kernel, kRedundant);
}

TEST(Mutations, OfAClusterToo) {
  Model two;
  two.values = 128;
  RoleKernel kernel(specOf(two), 64);
  EXPECT_EQ(kernel.threads(), 384);
  expectMissed(kernel, kRedundantInClusters);
}

TEST(Mutations, OfBlocksThatPrepareToo) {
  RoleKernel kernel(specOf(Model()), 64, /*segments=*/1, /*prepareBlocks=*/1);
  EXPECT_EQ(kernel.threads(), 512);
  expectMissed(kernel, kRedundantApart, kRolesApart);
}

TEST(Mutations, OfDecaysPerKeyToo) {
  Model perKey;
  perKey.name = "gla";
  RoleKernel kernel(specOf(perKey));
  // Every other chunk is not mild.
  expectMissed(kernel, kRedundantPerKey, kRoles, [](check::HostArrays &inputs) {
    check::HostArray &gates = inputs.at("log_alpha");
    for (size_t i = 0; i < gates.values.size(); ++i)
      if (i / 64 / 64 % 2)
        gates.values[i] = i % 3 ? -3 : -100;
    gates.encode();
  });
}

} // namespace
