//===- RolesTest.cpp - Kernels of roles against the recurrence ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every kernel is run block by block in the interpreter, which knows races,
// bounds and deadlocks. Copies land early in one run and late in the next, and
// warps go in another order each time.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "RandomChain.h"
#include "gtest/gtest.h"

using namespace prism;
using namespace prism::test;
using check::GateSet;
using check::InputOptions;

namespace {

void expectRight(const Model &model, const InputOptions &call,
                 Placement place = {}) {
  RoleKernel kernel(specOf(model));
  ASSERT_EQ(kernel.whyNot(), "") << specOf(model);
  expectRight(kernel, call, place);
}

//===----------------------------------------------------------------------===//
// Models and sizes
//===----------------------------------------------------------------------===//

const char *const kModels[] = {
    "linear_attention", "retnet",   "gated_deltanet", "prism_l0",
    "prism_l1",         "prism_l2", "mamba2",         "deltaproduct_2"};

using Size = std::tuple<const char *, int64_t, int64_t>;
class Sizes : public testing::TestWithParam<Size> {
protected:
  Model model() const {
    Model model;
    std::tie(model.name, model.keys, model.values) = GetParam();
    return model;
  }
};

TEST_P(Sizes, TwoChunksAndATail) { expectRight(model(), callOf(130)); }

std::string nameOf(const testing::TestParamInfo<Size> &info) {
  auto [name, keys, values] = info.param;
  return std::string(name) + "_" + std::to_string(keys) + "_" +
         std::to_string(values);
}

INSTANTIATE_TEST_SUITE_P(Every, Sizes,
                         testing::Combine(testing::ValuesIn(kModels),
                                          testing::Values(64, 128),
                                          testing::Values(64, 192)),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Between, Sizes,
                         testing::Combine(testing::Values("gated_deltanet",
                                                          "prism_l1", "mamba2",
                                                          "deltaproduct_4"),
                                          testing::Values(80, 96),
                                          testing::Values(64, 256)),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(
    Odd, Sizes,
    testing::Combine(testing::Values("gated_deltanet", "prism_l1"),
                     testing::Values(112), testing::Values(8, 72, 136)),
    nameOf);

/// States that are rounded piece by piece, of which the last piece may be
/// shorter; with the outputs' products beside the others, and after them.
class ManyKeys : public Sizes {};

TEST_P(ManyKeys, AreRight) {
  RoleKernel kernel(specOf(model()));
  ASSERT_EQ(kernel.whyNot(), "");
  expectRight(kernel, callOf(130));
}

INSTANTIATE_TEST_SUITE_P(
    Every, ManyKeys,
    testing::Combine(testing::Values("linear_attention", "gated_deltanet"),
                     testing::Values(144, 192, 256), testing::Values(64)),
    nameOf);
INSTANTIATE_TEST_SUITE_P(
    Clusters, ManyKeys,
    testing::Combine(testing::Values("mamba2", "gated_deltanet"),
                     testing::Values(256), testing::Values(72, 256)),
    nameOf);

/// Functions of values, by the chip's own exp2 and reciprocal.
TEST(Activations, AreRight) {
  for (const char *activation : {"gelu", "silu", "tanh", "relu", "identity"}) {
    Model model;
    model.name = "prism_l2";
    model.activation = activation;
    expectRight(model, callOf(70));
  }
}

/// Blocks of value columns: of one and two warpgroups in the chain, the last of
/// which may be padded. The sizes are keys and columns of a block.
class Blocks : public Sizes {};

TEST_P(Blocks, OfValueColumns) {
  Model two = model();
  int64_t block = two.values;
  two.values = 2 * block;
  RoleKernel kernel(specOf(two), block);
  ASSERT_EQ(kernel.whyNot(), "");
  expectRight(kernel, callOf(130));
  expectRight(kernel, callOf(70, GateSet::mixed), {1, 0});
}

TEST(Declined, ErasesOfWhichASystemHoldsNoWholeTokens) {
  Model three;
  three.name = "deltaproduct_3";
  EXPECT_EQ(RoleKernel(specOf(three)).whyNot(),
            "no tensor cores: a token erases 3 times, not 1, 2 or 4");
}

TEST(Declined, WideBlocksOfManyKeys) {
  Model many;
  many.keys = 144;
  many.values = 128;
  EXPECT_EQ(RoleKernel(specOf(many), 128).whyNot(),
            "no tensor cores: the plan's value_block is 128, and blocks there "
            "have 64 value columns at most beside more than 128 keys");
}

TEST(Declined, ManyKeysInF16) {
  Model many;
  many.keys = 144;
  many.io = "f16";
  EXPECT_EQ(RoleKernel(specOf(many)).whyNot(),
            "no tensor cores: powers of two beside f16 leave too few registers "
            "for 144 keys");
}

TEST(Declined, BlocksOfThreeWarpgroups) {
  Model wide;
  wide.values = 192;
  EXPECT_EQ(RoleKernel(specOf(wide), 192).whyNot(),
            "no tensor cores: the plan's value_block is 192, and blocks there "
            "have 128 value columns at most");
}

// Functions of values (PRISM with L > 0) are declined there.
INSTANTIATE_TEST_SUITE_P(
    Of128, Blocks,
    testing::Combine(testing::Values("linear_attention", "retnet", "mamba2",
                                     "gated_deltanet", "prism_l0",
                                     "deltaproduct_2", "deltaproduct_4"),
                     testing::Values(64, 128), testing::Values(128)),
    nameOf);
INSTANTIATE_TEST_SUITE_P(
    Others, Blocks,
    testing::Combine(testing::Values("gated_deltanet", "retnet"),
                     testing::Values(64, 96), testing::Values(32, 96)),
    nameOf);

//===----------------------------------------------------------------------===//
// Lengths, sequences, heads
//===----------------------------------------------------------------------===//

class EveryModel : public testing::TestWithParam<const char *> {
protected:
  Model model(int64_t keys = 64, int64_t values = 64) const {
    Model model;
    model.name = GetParam();
    model.keys = keys;
    model.values = values;
    return model;
  }
};

TEST_P(EveryModel, Lengths) {
  RoleKernel kernel(specOf(model()));
  ASSERT_EQ(kernel.whyNot(), "");
  for (int64_t steps : {0, 1, 63, 64, 65, 128, 200})
    expectRight(kernel, callOf(steps));
}

TEST_P(EveryModel, PackedSequencesOfWhichSomeAreEmpty) {
  RoleKernel kernel(specOf(model()));
  ASSERT_EQ(kernel.whyNot(), "");
  for (bool initialState : {true, false}) {
    InputOptions call = callOf(0, GateSet::mild, initialState);
    call.lengths = {0, 3, 64, 0, 0, 130, 65, 0};
    expectRight(kernel, call);
    expectRight(kernel, call, {1, 3});
  }
  InputOptions call = callOf(0);
  call.lengths = {0};
  expectRight(kernel, call);
}

TEST_P(EveryModel, Reversed) {
  Model backwards = model(96, 64);
  backwards.reverse = true;
  RoleKernel kernel(specOf(backwards));
  ASSERT_EQ(kernel.whyNot(), "");
  for (int64_t steps : {1, 64, 130})
    expectRight(kernel, callOf(steps));
  InputOptions call = callOf(0);
  call.lengths = {70, 0, 1, 128};
  expectRight(kernel, call);
  expectRight(kernel, call, {2, 6});
}

TEST_P(EveryModel, HeadsFirst) {
  Model other = model(64, 128);
  other.headFirst = true;
  other.keyHeads = 1;
  other.valueHeads = 2;
  for (bool reverse : {false, true}) {
    other.reverse = reverse;
    expectRight(other, callOf(70));
  }
}

TEST_P(EveryModel, SeveralValueHeadsOfAKeyHead) {
  Model grouped = model();
  grouped.keyHeads = 2;
  grouped.valueHeads = 6;
  InputOptions call = callOf(70);
  call.batch = 2;
  expectRight(grouped, call);
}

TEST_P(EveryModel, Gates) {
  RoleKernel kernel(specOf(model()));
  ASSERT_EQ(kernel.whyNot(), "");
  for (GateSet gates : {GateSet::hard, GateSet::mixed, GateSet::burst}) {
    InputOptions call = callOf(200, gates);
    expectRight(kernel, call);
    call.seed = 2;
    expectRight(kernel, call);
  }
}

TEST_P(EveryModel, AbsentStates) {
  for (bool initialState : {true, false})
    for (bool finalState : {true, false}) {
      RoleKernel kernel(specOf(model(80, 64)));
      ASSERT_EQ(kernel.whyNot(), "");
      for (int64_t steps : {0, 65}) {
        kernel.prepare(callOf(steps, GateSet::mild, initialState));
        if (!finalState)
          kernel.omit("final_state");
        EXPECT_EQ(kernel.run(nextOptions()), "") << steps;
      }
    }
}

/// Arrays of states are of 16 bits where the spec says so; the state is not.
TEST_P(EveryModel, RoundedStates) {
  for (int64_t steps : {0, 65}) {
    Model rounded = model(80, 72);
    rounded.state = "bf16";
    expectRight(rounded, callOf(steps));
  }
}

/// Rows and addresses that 16 bytes do not divide are copied element by
/// element; nothing beside an array is touched.
TEST_P(EveryModel, Placements) {
  for (int64_t values : {64, 192}) {
    RoleKernel kernel(specOf(model(80, values)));
    ASSERT_EQ(kernel.whyNot(), "");
    for (Placement place : {Placement{1, 0}, Placement{0, 1}, Placement{3, 5},
                            Placement{8, 8}, Placement{4, 0}, Placement{0, 16}})
      expectRight(kernel, callOf(70), place);
  }
}

TEST_P(EveryModel, EveryOrder) {
  RoleKernel kernel(specOf(model(128, 64)));
  ASSERT_EQ(kernel.whyNot(), "");
  kernel.prepare(callOf(260));
  using Options = InterpreterOptions;
  for (auto copies : {Options::Copies::Early, Options::Copies::Late})
    for (auto order : {Options::Order::Ascending, Options::Order::Descending,
                       Options::Order::Random})
      for (unsigned seed = 0, e = order == Options::Order::Random ? 3 : 1;
           seed < e; ++seed) {
        Options options;
        options.copies = copies;
        options.order = order;
        options.seed = seed + fromEnvironment("PRISM_SEED", 1);
        EXPECT_EQ(kernel.run(options), "");
        EXPECT_EQ(kernel.run(options, {0, 0, false}), "");
      }
}

INSTANTIATE_TEST_SUITE_P(All, EveryModel, testing::ValuesIn(kModels),
                         [](const testing::TestParamInfo<const char *> &info) {
                           return std::string(info.param);
                         });

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// The boxes of a call, which is right too.
int64_t boxesOf(RoleKernel &kernel, const InputOptions &call,
                Placement place = {}) {
  kernel.prepare(call);
  EXPECT_EQ(kernel.run(nextOptions(), place), "");
  return kernel.countBoxes();
}

InputOptions packedCall(std::vector<int64_t> lengths) {
  InputOptions call = callOf(0);
  call.lengths = std::move(lengths);
  return call;
}

TEST(Boxes, OfWholeChunksAndOfTheLastOnesOfArrays) {
  Model model; // Gated DeltaNet: keys, queries and values, of one slab each
  RoleKernel kernel(specOf(model));
  ASSERT_EQ(kernel.whyNot(), "");
  std::vector<std::string> names;
  for (const runtime::TensorMapInfo &map : kernel.tensorMaps()) {
    names.push_back(map.argument);
    EXPECT_EQ(map.rows, 64);
    EXPECT_EQ(map.columns, map.argument == "o" ? 16 : 64);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"k", "q", "v", "o"}));
  EXPECT_EQ(boxesOf(kernel, callOf(0)), 0);
  EXPECT_EQ(boxesOf(kernel, callOf(130)), 3 * 3);
  EXPECT_EQ(boxesOf(kernel, callOf(130), {0, 0, false}), 0);
  // Behind a packed sequence lies the next one.
  EXPECT_EQ(boxesOf(kernel, packedCall({130, 63, 64, 0, 65})), 4 * 3);
  // No map of what 16 bytes do not divide; one of what they do.
  EXPECT_EQ(boxesOf(kernel, callOf(64), {1, 0}), 0);
  EXPECT_EQ(boxesOf(kernel, callOf(64), {0, 1}), 0);
  EXPECT_EQ(boxesOf(kernel, callOf(64), {8, 8}), 3);
}

TEST(Boxes, OfEverySlabBlockAndHead) {
  Model model;
  model.keys = 80; // two slabs, the second one with zeros behind
  model.values = 192;
  model.keyHeads = 1;
  model.valueHeads = 2;
  model.headFirst = true;
  RoleKernel kernel(specOf(model), 64);
  ASSERT_EQ(kernel.whyNot(), "");
  EXPECT_EQ(boxesOf(kernel, callOf(65)), 2 * 3 * 2 * (2 + 2 + 1));
}

TEST(Boxes, NotInReverseNorOfPartsOfSlabs) {
  Model model;
  model.reverse = true;
  RoleKernel backwards(specOf(model));
  EXPECT_TRUE(backwards.tensorMaps().empty());
  EXPECT_EQ(boxesOf(backwards, callOf(70)), 0);
  EXPECT_EQ(backwards.countStoredBoxes(), 0);
  model.reverse = false;
  model.values = 192;
  RoleKernel kernel(specOf(model), 96);
  ASSERT_EQ(kernel.whyNot(), "");
  std::vector<std::string> names;
  for (const runtime::TensorMapInfo &map : kernel.tensorMaps())
    names.push_back(map.argument);
  EXPECT_EQ(names, (std::vector<std::string>{"k", "q"}));
}

/// The boxes that a call stores, which is right too.
int64_t storedBoxesOf(RoleKernel &kernel, const InputOptions &call,
                      Placement place = {}) {
  boxesOf(kernel, call, place);
  return kernel.countStoredBoxes();
}

/// One for each warp and chunk, but not where a packed sequence ends.
TEST(StoredBoxes, OfWholeChunksAndOfTheLastOnesOfArrays) {
  RoleKernel kernel((specOf(Model())));
  ASSERT_EQ(kernel.whyNot(), "");
  EXPECT_EQ(storedBoxesOf(kernel, callOf(0)), 0);
  for (int64_t steps : {1, 63, 64})
    EXPECT_EQ(storedBoxesOf(kernel, callOf(steps)), 4);
  EXPECT_EQ(storedBoxesOf(kernel, callOf(65)), 2 * 4);
  EXPECT_EQ(storedBoxesOf(kernel, callOf(200)), 4 * 4);
  EXPECT_EQ(storedBoxesOf(kernel, callOf(200), {0, 0, false}), 0);
  EXPECT_EQ(storedBoxesOf(kernel, packedCall({130, 63, 64, 0, 65})), 4 * 4);
  EXPECT_EQ(storedBoxesOf(kernel, callOf(64), {1, 0}), 0);
  EXPECT_EQ(storedBoxesOf(kernel, callOf(64), {0, 1}), 0);
  EXPECT_EQ(storedBoxesOf(kernel, callOf(64), {8, 8}), 4);
}

TEST(StoredBoxes, OfBlocksWideAndNarrowAndTheLastOne) {
  Model model;
  model.keys = model.values = 128;
  for (int64_t block : {64, 128}) {
    RoleKernel kernel(specOf(model), block);
    ASSERT_EQ(kernel.whyNot(), "");
    EXPECT_EQ(storedBoxesOf(kernel, callOf(130)), 3 * 8) << block;
  }
  // The last one's columns are not all there, nor are any of some warps.
  model.values = 72;
  RoleKernel kernel(specOf(model), 64);
  ASSERT_EQ(kernel.whyNot(), "");
  EXPECT_EQ(storedBoxesOf(kernel, callOf(65)), 2 * 8);
}

TEST(StoredBoxes, OfFewerTokensThanRows) {
  for (auto [name, tokens] :
       {std::pair("deltaproduct_2", 32), std::pair("deltaproduct_4", 16)}) {
    Model model;
    model.name = name;
    RoleKernel kernel(specOf(model));
    ASSERT_EQ(kernel.whyNot(), "");
    EXPECT_EQ(kernel.tensorMaps().back().rows, tokens);
    EXPECT_EQ(storedBoxesOf(kernel, callOf(2 * tokens + 1)), 3 * 4);
    EXPECT_EQ(storedBoxesOf(kernel, packedCall({tokens + 1, 1})), 4);
  }
}

/// Batch rows and heads in any order, with others between.
TEST(StoredBoxes, OfEveryHeadAndBatchRow) {
  Model model;
  model.keyHeads = 1;
  model.valueHeads = 3;
  for (bool headFirst : {false, true}) {
    model.headFirst = headFirst;
    RoleKernel kernel(specOf(model));
    ASSERT_EQ(kernel.whyNot(), "");
    InputOptions call = callOf(65);
    call.batch = 2;
    EXPECT_EQ(storedBoxesOf(kernel, call), 2 * 3 * 2 * 4);
    EXPECT_EQ(storedBoxesOf(kernel, call, {8, 16}), 2 * 3 * 2 * 4);
  }
}

//===----------------------------------------------------------------------===//
// Random chains
//===----------------------------------------------------------------------===//

class RandomChains : public testing::TestWithParam<unsigned> {};

/// A chain with random sizes and a random call.
TEST_P(RandomChains, Agree) {
  unsigned seed = GetParam() + fromEnvironment("PRISM_SEED", 1);
  std::mt19937 random(seed);
  auto anyOf = [&](auto... values) {
    const int64_t all[] = {values...};
    return all[random() % std::size(all)];
  };
  int64_t keys = anyOf(64, 80, 96, 128), values = anyOf(64, 96, 128, 192);
  std::string spec = withSizes(randomChain(seed, "bf16", {64}), keys, values);
  RoleKernel kernel(spec);
  if (!kernel.whyNot().empty())
    GTEST_SKIP() << kernel.whyNot();
  InputOptions call = callOf(anyOf(1, 63, 64, 65, 130, 200));
  call.gates = GateSet(anyOf(0, 0, 1, 2, 3));
  call.initialState = anyOf(0, 1);
  call.seed = seed;
  if (anyOf(0, 1, 2) == 0)
    call.lengths = {anyOf(0, 1, 5), 64, anyOf(0, 65), anyOf(0, 70)};
  Placement place;
  place.offset = anyOf(0, 0, 1);
  place.pad = anyOf(0, 0, 1, 8);
  SCOPED_TRACE(spec);
  expectRight(kernel, call, place);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomChains,
                         testing::Range(0u,
                                        fromEnvironment("PRISM_CHAINS", 60)));

} // namespace
