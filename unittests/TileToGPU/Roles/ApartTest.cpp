//===- ApartTest.cpp - Blocks that only prepare ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Clusters of blocks of values, which run the chain, and of others that prepare
// for them, interpreted against the recurrence: copies early and late, warps in
// every order, so many chunks that each slot of every channel is filled a third
// time.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "gtest/gtest.h"

using namespace prism;
using namespace prism::test;

namespace {

using Options = InterpreterOptions;
constexpr std::pair<Options::Copies, Options::Order> kSchedules[] = {
    {Options::Copies::Late, Options::Order::Ascending},
    {Options::Copies::Early, Options::Order::Descending},
    {Options::Copies::Late, Options::Order::Random},
    {Options::Copies::Early, Options::Order::Random}};

/// Under the next schedule, with maps of arrays and without; outputs go by
/// maps wherever they can.
void expectRightAndStored(RoleKernel &kernel, const check::InputOptions &call,
                          Placement place = {}) {
  static unsigned count = 0;
  ASSERT_EQ(kernel.whyNot(), "");
  kernel.prepare(call);
  for (bool hasMaps : {true, false}) {
    Options options;
    std::tie(options.copies, options.order) = kSchedules[count % 4];
    options.seed = ++count;
    options.multiprocessor = count / 2 % 2; // turned by one or not
    place.hasMaps = hasMaps;
    EXPECT_EQ(kernel.run(options, place), "")
        << call.steps << " steps, " << call.lengths.size()
        << " packed sequences, schedule " << count;
    EXPECT_EQ(kernel.countStoredBoxes() > 0,
              !kernel.tensorMaps().empty() && hasMaps && place.offset == 0);
  }
}

struct Shape {
  int64_t values, prepareBlocks;
};
class Apart : public testing::TestWithParam<std::tuple<const char *, Shape>> {
protected:
  RoleKernel kernel() const {
    auto [name, shape] = GetParam();
    return RoleKernel(specOf(modelOf(name, 64, shape.values)), 64,
                      /*segments=*/1, shape.prepareBlocks);
  }
};

TEST_P(Apart, ManyChunksAndATail) {
  RoleKernel made = kernel();
  expectRightAndStored(made, callOf(9 * 64 + 5));
}

TEST_P(Apart, FewChunks) {
  RoleKernel made = kernel();
  for (int64_t steps : {1, 64, 130})
    expectRightAndStored(made, callOf(steps, check::GateSet::mixed));
}

std::string nameOf(const testing::TestParamInfo<Apart::ParamType> &info) {
  auto [name, shape] = info.param;
  return std::string(name) + "_" + std::to_string(shape.values) + "_and_" +
         std::to_string(shape.prepareBlocks);
}

INSTANTIATE_TEST_SUITE_P(
    Of, Apart,
    testing::Combine(testing::Values("gated_deltanet", "prism_l0"),
                     testing::Values(Shape{64, 1}, Shape{128, 1}, Shape{128, 2},
                                     Shape{192, 1})),
    nameOf);

/// Sequences of which a cluster has none, or some, and heads that share keys.
TEST(ApartCalls, PackedSequences) {
  Model two = modelOf("gated_deltanet", 64, 128);
  two.valueHeads = 2;
  RoleKernel kernel(specOf(two), 64, 1, 1);
  check::InputOptions call = callOf(0);
  call.lengths = {70, 0, 1, 200};
  expectRightAndStored(kernel, call);
  expectRightAndStored(kernel, callOf(70), {1, 3});
}

/// The sizes for which the decision table takes them: slots are scarce there.
TEST(ApartCalls, ManyKeys) {
  Model model = modelOf("gated_deltanet", 64, 128);
  model.keys = 128;
  for (int64_t prepareBlocks : {1, 2}) {
    RoleKernel kernel(specOf(model), 64, 1, prepareBlocks);
    expectRightAndStored(kernel, callOf(700));
    expectRightAndStored(kernel, callOf(65, check::GateSet::mixed));
  }
}

/// Messages go to other blocks in whole slabs, of which nothing may be
/// unwritten: scores of fewer columns, keys that fill no slab.
TEST(ApartCalls, PartsOfSlabs) {
  Model model = modelOf("deltaproduct_2", 64, 128);
  RoleKernel scores(specOf(model), 64, 1, 1);
  expectRightAndStored(scores, callOf(70));
  model.name = "gla";
  model.keys = 96;
  for (int64_t prepareBlocks : {0, 1}) {
    RoleKernel keys(specOf(model), 64, 1, prepareBlocks);
    expectRightAndStored(keys, callOf(130));
  }
  model.reverse = true;
  RoleKernel reverse(specOf(model), 64, 1, 0);
  expectRightAndStored(reverse, callOf(200, check::GateSet::mixed));
}

/// Powers of two travel with what is prepared.
TEST(ApartCalls, Halves) {
  Model two = modelOf("gated_deltanet", 64, 128);
  two.io = "f16";
  RoleKernel kernel(specOf(two), 64, 1, 1);
  expectRightAndStored(kernel, callOf(330));
}

TEST(ApartCalls, ThreadsAndMemory) {
  Model two = modelOf("gated_deltanet", 64, 128);
  RoleKernel one(specOf(two), 64, 1, 1), pair(specOf(two), 64, 1, 2);
  // Three warpgroups and the loads; one and the loads, as in blocks of values.
  EXPECT_EQ(one.threads(), 512);
  EXPECT_EQ(pair.threads(), 256);
}

} // namespace
