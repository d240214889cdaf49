//===- KeyDecaysTest.cpp - Decays per key on tensor cores -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Chains whose gates differ from key to key, against the float64 recurrence.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace prism;
using namespace prism::test;
using check::GateSet;
using check::HostArrays;
using check::InputOptions;

namespace {

struct Chain {
  const char *name;
  const char *more; ///< inputs beside q, k, v and g
  const char *steps;
};
void PrintTo(const Chain &chain, std::ostream *os) { *os << chain.name; }

const Chain kInjected = {"injected", "",
                         R"({"decay": {"gate": "g", "along": "key"}},
       {"inject": {"key": "k", "value": "v"}},
       {"read": {"query": "q", "scale": 0.125}})"};
const Chain kReadBefore = {"read_before_the_decay", "",
                           R"({"read": {"query": "q", "scale": 0.125}},
       {"decay": {"gate": "g", "along": "key"}},
       {"inject": {"key": "k", "value": "v"}})"};
const Chain kDecayedLast = {"decayed_last", "",
                            R"({"inject": {"key": "k", "value": "v"}},
       {"decay": {"gate": "g", "along": "key"}},
       {"read": {"query": "q", "scale": 0.125}})"};
const Chain kErased = {"erased", R"(, "beta": ["B", "T", "H"])",
                       R"({"decay": {"gate": "g", "along": "key"}},
       {"erase": {"key": "k", "strength": "beta"}},
       {"inject": {"key": "k", "value": "v", "scale": "beta"}},
       {"read": {"query": "q", "scale": 0.125}})"};
const Chain kChains[] = {kInjected, kReadBefore, kDecayedLast, kErased};

struct Options {
  int64_t keys = 64, values = 64, heads = 1;
  const char *io = "bf16";
  bool reverse = false;
};

std::string specOf(const Chain &chain, const Options &options = {}) {
  return std::string(R"({"prism_spec": 1, "name": "chain",
    "dims": {"B": null, "T": null, "H": )") +
         std::to_string(options.heads) +
         ", \"K\": " + std::to_string(options.keys) +
         ", \"V\": " + std::to_string(options.values) +
         "}, \"dtype\": {\"io\": \"" + options.io +
         "\"}, \"reverse\": " + (options.reverse ? "true" : "false") +
         R"(, "entries": ["forward"], "inputs": {
      "q": ["B", "T", "H", "K"], "k": ["B", "T", "H", "K"],
      "v": ["B", "T", "H", "V"],
      "g": {"axes": ["B", "T", "H", "K"], "dtype": "f32"})" +
         chain.more + "}, \"steps\": [" + chain.steps + "]}";
}

class KeyDecays : public testing::TestWithParam<Chain> {};

TEST_P(KeyDecays, Gates) {
  RoleKernel kernel(specOf(GetParam()), 64);
  ASSERT_EQ(kernel.whyNot(), "");
  for (GateSet gates :
       {GateSet::mild, GateSet::hard, GateSet::mixed, GateSet::burst}) {
    InputOptions call = callOf(130, gates);
    call.initialState = gates != GateSet::burst;
    expectRight(kernel, call);
  }
}

TEST_P(KeyDecays, Lengths) {
  RoleKernel kernel(specOf(GetParam()), 64);
  ASSERT_EQ(kernel.whyNot(), "");
  for (int64_t steps : {0, 1, 65})
    expectRight(kernel, callOf(steps, GateSet::mixed));
  InputOptions call = callOf(0, GateSet::mixed);
  call.lengths = {3, 0, 64, 70};
  expectRight(kernel, call, {1, 3});
}

TEST_P(KeyDecays, Sizes) {
  for (auto [keys, values] :
       {std::pair(80, 64), std::pair(112, 40), std::pair(128, 128)}) {
    Options options;
    options.keys = keys;
    options.values = values;
    options.reverse = keys == 80;
    RoleKernel kernel(specOf(GetParam(), options), std::min(values, 64));
    ASSERT_EQ(kernel.whyNot(), "") << keys << " x " << values;
    expectRight(kernel, callOf(130, GateSet::mixed), {keys % 3, keys % 3});
  }
}

/// Chunks, and blocks of 16 rows, that leave a little more of each channel than
/// 2^-64, from where on their columns are not divided by it, and a little less;
/// and one channel of one block alone that leaves too little.
TEST_P(KeyDecays, AroundTheLimits) {
  RoleKernel kernel(specOf(GetParam()), 64);
  ASSERT_EQ(kernel.whyNot(), "");
  struct Gates {
    double of, ofOthers;
  };
  for (Gates gates :
       {Gates{-0.692, -0.692}, Gates{-0.694, -0.694}, Gates{-2.77, -2.77},
        Gates{-2.78, -2.78}, Gates{-2.76, -0.01}, Gates{-2.8, -0.01}}) {
    kernel.prepare(callOf(64), [&](HostArrays &inputs) {
      auto &values = inputs.at("g").values;
      for (size_t i = 0; i < values.size(); ++i)
        values[i] =
            i / 64 / 16 == 1 && i % 64 == 37 ? gates.of : gates.ofOthers;
      inputs.at("g").encode();
    });
    EXPECT_EQ(kernel.run({}), "") << gates.of << " " << gates.ofOthers;
  }
}

TEST(KeyDecaysDeclined, OfSeveralDecaysAToken) {
  const Chain several = {
      "several", R"(, "a": {"axes": ["B", "T", "H"], "dtype": "f32"})",
      R"({"decay": "a"}, {"decay": {"gate": "g", "along": "key"}},
         {"inject": {"key": "k", "value": "v"}},
         {"read": {"query": "q"}})"};
  EXPECT_EQ(RoleKernel(specOf(several), 64).whyNot(),
            "no tensor cores: a token decays 2 times, 1 of them along key, and "
            "a decay along key is taken there as the only one; add the "
            "log-gates of decays that follow each other");
}

TEST_P(KeyDecays, AreDeclinedInWideBlocks) {
  Options options;
  options.values = 128;
  EXPECT_EQ(RoleKernel(specOf(GetParam(), options), 128).whyNot(),
            "no tensor cores: decays per key leave too few registers for "
            "blocks of 128 value columns");
}

/// Mild chunks and others take turns, as dots of the others read keys which the
/// mild ones have given back.
TEST_P(KeyDecays, InTurns) {
  RoleKernel kernel(specOf(GetParam()), 64);
  ASSERT_EQ(kernel.whyNot(), "");
  for (int64_t strong : {0, 1}) {
    kernel.prepare(callOf(6 * 64 + 5), [&](HostArrays &inputs) {
      auto &values = inputs.at("g").values;
      for (size_t i = 0; i < values.size(); ++i)
        if (int64_t(i) / 64 / 64 % 2 == strong)
          values[i] = i % 3 ? -3 : -100;
      inputs.at("g").encode();
    });
    for (auto copies :
         {InterpreterOptions::Copies::Late, InterpreterOptions::Copies::Early})
      for (auto order : {InterpreterOptions::Order::Random,
                         InterpreterOptions::Order::Descending}) {
        InterpreterOptions options;
        options.copies = copies;
        options.order = order;
        EXPECT_EQ(kernel.run(options), "") << strong;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, KeyDecays, testing::ValuesIn(kChains),
                         [](const testing::TestParamInfo<Chain> &info) {
                           return std::string(info.param.name);
                         });

/// Columns of dots lie in the message, beside inverses times strengths too:
/// what else would be needed leaves no room for two blocks' messages.
TEST(KeyDecayClusters, OfTwoBlocks) {
  Options options;
  options.keys = options.values = 128;
  for (const Chain &chain : {kInjected, kErased}) {
    RoleKernel kernel(specOf(chain, options), 64);
    ASSERT_EQ(kernel.whyNot(), "");
    auto cluster = kernel.kernel()->getAttrOfType<mlir::DenseI32ArrayAttr>(
        mlir::NVVM::NVVMDialect::getClusterDimAttrName());
    ASSERT_TRUE(cluster) << chain.name;
    EXPECT_EQ(cluster[0], 2) << chain.name;
  }
}

//===----------------------------------------------------------------------===//
// Loads of gates
//===----------------------------------------------------------------------===//

/// Rows of gates that 32 lanes copy at once, those of which lanes copy two, and
/// in parts. Four elements from an address that 16 divides rows of gates are
/// aligned, and those of keys are not.
TEST(KeyDecayLoads, OfEveryWidthAndPlace) {
  for (int64_t keys : {64, 80, 96, 112, 128}) {
    Options options;
    options.keys = keys;
    options.reverse = keys == 96;
    RoleKernel kernel(specOf(kInjected, options), 64);
    ASSERT_EQ(kernel.whyNot(), "") << keys;
    for (Placement place : {Placement{0, 0}, Placement{4, 4}, Placement{1, 3},
                            Placement{2, 0}, Placement{0, 2}}) {
      expectRight(kernel, callOf(64 + 3, GateSet::mixed), place);
      InputOptions packed = callOf(0, GateSet::mixed);
      packed.lengths = {1, 0, 70};
      expectRight(kernel, packed, place);
    }
  }
}

/// Four copies of 16 bytes for gates of 64 or 128 columns, as for each slab.
TEST(KeyDecayLoads, GoByRows) {
  for (int64_t keys : {64, 128}) {
    Options options;
    options.keys = keys;
    RoleKernel kernel(specOf(kInjected, options), 64);
    ASSERT_EQ(kernel.whyNot(), "");
    int64_t copies = 0;
    kernel.kernel().walk(
        [&](mlir::NVVM::CpAsyncOp copy) { copies += copy.getSize() == 16; });
    EXPECT_EQ(copies, 4 * (1 + 2 * keys / 64 + 1));
  }
}

//===----------------------------------------------------------------------===//
// Exactness
//===----------------------------------------------------------------------===//

/// One token writes, one reads, and between them some gates are minus infinity,
/// some 0 and one -20: what is read is exact to the operands' rounding, and
/// nothing comes from where it was not written. Log-gates of -500 around the
/// pair would make a quotient of products 0 / 0.
TEST(KeyDecayPairs, OfEveryDistance) {
  RoleKernel kernel(specOf(kInjected));
  ASSERT_EQ(kernel.whyNot(), "");
  InputOptions call = callOf(64);
  call.initialState = false;
  using Pair = std::pair<int64_t, int64_t>;
  for (Pair pair :
       {Pair(0, 0), Pair(6, 7), Pair(7, 8), Pair(4, 7), Pair(1, 6), Pair(3, 12),
        Pair(15, 16), Pair(2, 40), Pair(5, 63), Pair(20, 60), Pair(62, 63)}) {
    int64_t writer = pair.first, reader = pair.second;
    kernel.prepare(call, [&](HostArrays &inputs) {
      auto &gates = inputs.at("g").values;
      // What is read is a sum of squares: nothing cancels.
      std::copy_n(inputs.at("k").values.begin() + writer * 64, 64,
                  inputs.at("q").values.begin() + reader * 64);
      for (int64_t token = 0; token < 64; ++token) {
        bool isBetween = token > writer && token <= reader;
        for (int64_t key = 0; key < 64; ++key)
          gates[token * 64 + key] = !isBetween        ? -500
                                    : key % 4 == 1    ? -INFINITY
                                    : token != reader ? 0
                                    : key % 4 == 2    ? -20
                                                      : -0.25;
        for (const char *name : {"k", "v", "q"}) {
          if (token == (name[0] == 'q' ? reader : writer))
            continue;
          auto &values = inputs.at(name).values;
          std::fill_n(values.begin() + token * 64, 64, 0);
        }
      }
      for (const char *name : {"g", "k", "v", "q"})
        inputs.at(name).encode();
    });
    EXPECT_EQ(kernel.run({}), "") << writer << " " << reader;
    // The score, one key's worth of operands and the output are rounded.
    EXPECT_LE(kernel.errorOf("o"), 4e-3) << writer << " " << reader;
  }
}

/// No worse than with one gate a token: operands of scores are rounded, too.
TEST(KeyDecayAccuracy, OfManySteps) {
  Options options;
  options.keys = options.values = 128;
  for (const Chain &chain : {kInjected, kErased}) {
    RoleKernel kernel(specOf(chain, options), 64);
    ASSERT_EQ(kernel.whyNot(), "");
    kernel.prepare(callOf(256));
    EXPECT_EQ(kernel.run({}), "");
    RecordProperty(chain.name, std::to_string(kernel.errorOf("o")));
    EXPECT_LE(kernel.errorOf("o"), 4.2e-3) << chain.name;
    EXPECT_LE(kernel.errorOf("final_state"), 4.2e-3) << chain.name;
  }
}

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

class KeyDecayFamilies : public testing::TestWithParam<const char *> {
protected:
  static std::string spec(int64_t keys, const char *io = "bf16") {
    return std::string("{\"prism_spec\": 1, \"family\": \"") + GetParam() +
           "\", \"dims\": {\"B\": null, \"T\": null, \"Hk\": 1, \"Hv\": 2, "
           "\"K\": " +
           std::to_string(keys) + ", \"V\": 64}, \"dtype\": {\"io\": \"" + io +
           "\"}, " +
           (std::string(GetParam()) == "gla"
                ? ""
                : "\"options\": {\"l2norm\": 1e-6}, ") +
           "\"entries\": [\"forward\"]}";
  }
};

TEST_P(KeyDecayFamilies, Agree) {
  RoleKernel kernel(spec(64), 64);
  ASSERT_EQ(kernel.whyNot(), "");
  for (GateSet gates : {GateSet::mild, GateSet::mixed})
    expectRight(kernel, callOf(130, gates));
  InputOptions call = callOf(0, GateSet::mixed);
  call.lengths = {3, 0, 65};
  call.initialState = false;
  expectRight(kernel, call, {1, 0});
}

TEST_P(KeyDecayFamilies, AgreeOf128Keys) {
  RoleKernel kernel(spec(128), 64);
  ASSERT_EQ(kernel.whyNot(), "");
  for (GateSet gates : {GateSet::mild, GateSet::mixed})
    expectRight(kernel, callOf(3 * 64 + 2, gates));
  InputOptions call = callOf(0, GateSet::mild);
  call.lengths = {64, 0, 65};
  expectRight(kernel, call, {4, 4});
}

TEST_P(KeyDecayFamilies, InSegments) {
  RoleKernel kernel(spec(64), 64, 2);
  ASSERT_EQ(kernel.whyNot(), "");
  expectRight(kernel, callOf(200, GateSet::mild));
}

/// As options of a family: rows in the message are times the number, which the
/// scores have another time.
TEST_P(KeyDecayFamilies, OutputsTimesANumber) {
  std::string scaled = spec(64);
  size_t at = scaled.find("\"l2norm\": 1e-6");
  if (at == std::string::npos)
    scaled.insert(scaled.find("\"entries\""),
                  "\"options\": {\"scale\": -0.088}, ");
  else
    scaled.replace(at, 14, "\"scale\": 3e-4");
  RoleKernel kernel(scaled, 64);
  ASSERT_EQ(kernel.whyNot(), "");
  for (GateSet gates : {GateSet::mild, GateSet::mixed})
    expectRight(kernel, callOf(130, gates));
}

TEST_P(KeyDecayFamilies, AreDeclinedInF16) {
  EXPECT_EQ(RoleKernel(spec(64, "f16"), 64).whyNot(),
            "no tensor cores: decays per key are multiplied in bf16, not in "
            "f16");
}

INSTANTIATE_TEST_SUITE_P(Of, KeyDecayFamilies,
                         testing::Values("gla", "kda", "gated_deltanet2",
                                         "rwkv7"),
                         [](const testing::TestParamInfo<const char *> &info) {
                           return std::string(info.param);
                         });

} // namespace
