//===- PrefixTest.cpp - Recurrences as prefix scans -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What scan-recurrence-to-prefix makes of models and of random chains is
// evaluated in f64 beside the recurrence, and proved to be associative.
//
//===----------------------------------------------------------------------===//

#include "../Interpreter/TestModel.h"
#include "Prism/Analysis/Associativity.h"
#include "Prism/Dialect/Scan/Transforms/Passes.h"
#include "RandomCall.h"
#include "StateMap.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace prism;
using namespace prism::analysis;
using interpreter::Array;
using interpreter::Arrays;
using llvm::formatv;

/// The largest difference of two calls' results, of their size.
static double difference(const Arrays &a, const Arrays &b) {
  double error = 0.0, size = 1e-6;
  EXPECT_EQ(a.size(), b.size());
  for (const auto &[name, array] : a) {
    const Array &other = b.find(name)->second;
    EXPECT_EQ(array.shape, other.shape);
    for (auto [x, y] : llvm::zip_equal(array.data, other.data)) {
      EXPECT_TRUE(std::isfinite(x) && std::isfinite(y));
      error = std::max(error, std::abs(x - y));
      size = std::max({size, std::abs(x), std::abs(y)});
    }
  }
  return error / size;
}

static scan::RecurrenceOp recurrenceIn(ModuleOp module) {
  scan::RecurrenceOp op;
  module.walk([&](scan::RecurrenceOp found) { op = found; });
  return op;
}

/// Converts a copy and compares calls of several lengths.
static void compareForms(ModuleOp module, ArrayRef<int64_t> lengths,
                         uint64_t seed, TestContext &test) {
  OwningOpRef<ModuleOp> copy = module.clone();
  scan::RecurrenceOp op = recurrenceIn(*copy);
  if (failed(scan::getFactorChain(op, 0)))
    scan::raiseAffine(op, /*assumeNonNegativeGates=*/false);
  FailureOr<scan::PrefixOp> prefix = scan::recurrenceToPrefix(op);
  ASSERT_TRUE(succeeded(prefix));
  ASSERT_TRUE(succeeded(verify(*copy))) << test.messages;
  EXPECT_EQ(associativityOf(*prefix), Associativity::proof);
  std::mt19937_64 random(seed);
  for (int64_t steps : lengths)
    for (bool withOptional : {false, true}) {
      func::FuncOp entry = *module.getOps<func::FuncOp>().begin();
      Arrays in = makeArguments(entry, 2, steps, withOptional, random);
      auto want = interpreter::evaluate(entry, in),
           found =
               interpreter::evaluate(*copy->getOps<func::FuncOp>().begin(), in);
      ASSERT_TRUE(succeeded(want) && succeeded(found)) << test.messages;
      EXPECT_LE(difference(*found, *want), 1e-12) << steps << " steps";
    }
}

//===----------------------------------------------------------------------===//
// Recurrences
//===----------------------------------------------------------------------===//

class ModelsAsPrefix : public testing::TestWithParam<const char *> {};

TEST_P(ModelsAsPrefix, SameValues) {
  TestContext test;
  auto module = parseSourceFile<ModuleOp>(
      std::string(PRISM_MODELS "/") + GetParam() + ".mlir", &test.context);
  ASSERT_TRUE(module) << test.messages;
  compareForms(*module, {0, 1, 6}, /*seed=*/3, test);
}

INSTANTIATE_TEST_SUITE_P(
    Examples, ModelsAsPrefix,
    testing::Values("linear_attention", "retnet", "gla", "mamba", "mamba2",
                    "deltanet", "gated_deltanet", "kda", "gated_deltaproduct",
                    "rwkv7", "prism_v2", "prism_v3"),
    [](const auto &info) { return std::string(info.param); });

namespace {
/// A chain of one to five factors of a 3 x 4 state, and a read within it.
class RandomStep {
public:
  explicit RandomStep(uint64_t seed) : random(seed) {}

  std::string entry() {
    unsigned factors = 1 + below(5), readAfter = below(factors + 1);
    std::string state = "%S", body, y;
    auto read = [&] {
      return formatv("%y = scan.read {0} query {1} : tensor<3x4xf64>, "
                     "tensor<3xf64> -> tensor<4xf64>\n",
                     state, input("q", "btk"))
          .str();
    };
    for (unsigned i = 0; i <= factors; ++i) {
      if (i == readAfter)
        body += read();
      if (i == factors)
        break;
      std::string next = "%next" + std::to_string(i);
      body += factor(next, state);
      earlier.push_back(state);
      state = next;
    }
    body +=
        formatv("scan.yield {0}, %y : tensor<3x4xf64>, tensor<4xf64>", state);
    return interpreter::makeEntry(3, 4, inputs, body, below(2));
  }

  bool hasErase = false, hasColumnDecay = false;

private:
  unsigned below(unsigned end) { return random() % end; }

  std::string input(StringRef stem, StringRef axes) {
    std::string name = stem.str() + std::to_string(count++);
    inputs += formatv("{0}{1}:{2}", inputs.empty() ? "" : " ", name, axes);
    return "%" + name + "_t";
  }

  std::string factor(StringRef next, StringRef state) {
    switch (below(8)) {
    case 0:
      return decay(next, state, "scalar", "f64", "bt");
    case 1:
      return decay(next, state, "key", "tensor<3xf64>", "btk");
    case 2:
      hasColumnDecay = true;
      return below(2)
                 ? decay(next, state, "value", "tensor<4xf64>", "btv")
                 : decay(next, state, "element", "tensor<3x4xf64>", "btkv");
    case 3:
    case 4: {
      hasErase = true;
      std::string key = input("k", "btk"),
                  write = below(2) ? key : input("w", "btk"), of, ofType;
      if (!earlier.empty() && below(2)) {
        of = "of " + earlier[below(earlier.size())];
        ofType = " of tensor<3x4xf64>";
      }
      return formatv("{0} = scan.erase {1} {2} read {3} write {4} strength "
                     "{5} : tensor<3x4xf64>{6}, tensor<3xf64>, "
                     "tensor<3xf64>, f64\n",
                     next, state, of, key, write, input("b", "bt"), ofType);
    }
    default:
      return formatv("{0} = scan.inject {1} key {2} value {3} scale {4} : "
                     "tensor<3x4xf64>, tensor<3xf64>, tensor<4xf64>, f64\n",
                     next, state, input("k", "btk"), input("v", "btv"),
                     input("b", "bt"));
    }
  }

  std::string decay(StringRef next, StringRef state, StringRef along,
                    StringRef type, StringRef axes) {
    return formatv("{0} = scan.decay {1} by {2} along {3} : tensor<3x4xf64>, "
                   "{4}\n",
                   next, state, input("g", axes), along, type);
  }

  std::mt19937_64 random;
  std::string inputs;
  std::vector<std::string> earlier;
  unsigned count = 0;
};
} // namespace

TEST(RecurrenceToPrefix, RandomChains) {
  unsigned converted = 0, declined = 0;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    TestContext test;
    RandomStep step(seed);
    std::string text = step.entry();
    auto module = parseSourceString<ModuleOp>(text, &test.context);
    ASSERT_TRUE(module) << test.messages << text;
    if (step.hasErase && step.hasColumnDecay) {
      EXPECT_TRUE(failed(scan::recurrenceToPrefix(recurrenceIn(*module))));
      EXPECT_TRUE(recurrenceIn(*module));
      ++declined;
      continue;
    }
    compareForms(*module, {0, 1, 2, 5, 9}, seed, test);
    ++converted;
  }
  EXPECT_GT(converted, 60u);
  EXPECT_GT(declined, 10u);
}

TEST(RecurrenceToPrefix, HardGates) {
  // log 0 drops all, exactly, also where the state has overflowed.
  std::string text = interpreter::makeEntry(2, 1, "q:btk k:btk v:btv g:bt", R"(
      %1 = scan.decay %S by %g_t along scalar : tensor<2x1xf64>, f64
      %2 = scan.inject %1 key %k_t value %v_t : tensor<2x1xf64>, tensor<2xf64>, tensor<1xf64>
      %y = scan.read %2 query %q_t : tensor<2x1xf64>, tensor<2xf64> -> tensor<1xf64>
      scan.yield %2, %y : tensor<2x1xf64>, tensor<1xf64>)");
  TestContext test;
  auto module = parseSourceString<ModuleOp>(text, &test.context);
  ASSERT_TRUE(module) << test.messages;
  ASSERT_TRUE(succeeded(scan::recurrenceToPrefix(recurrenceIn(*module))));
  Arrays in;
  in["q"] = Array({1, 4, 2}, {1, 1, 1, 1, 1, 1, 1, 1});
  in["k"] = Array({1, 4, 2}, {1, 1, 1, 1, 1, 1, 1, 1});
  in["v"] = Array({1, 4, 1}, {INFINITY, 2, 3, 4});
  in["g"] = Array({1, 4}, {0, -INFINITY, 0, -INFINITY});
  auto out = interpreter::evaluate(*module->getOps<func::FuncOp>().begin(), in);
  ASSERT_TRUE(succeeded(out)) << test.messages;
  interpreter::expectValues((*out)["o"], {INFINITY, 4, 10, 8});
  interpreter::expectValues((*out)["final_state"], {4, 4});
}
