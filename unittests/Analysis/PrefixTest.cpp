//===- PrefixTest.cpp - Recurrences as prefix scans, and their proofs -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What scan-recurrence-to-prefix makes of models and of random chains is
// evaluated in f64 beside the recurrence, and proved to be associative. Of
// aggregations that are claimed to be associative both orders are evaluated.
//
//===----------------------------------------------------------------------===//

#include "../Interpreter/TestModel.h"
#include "Prism/Analysis/Associativity.h"
#include "Prism/Dialect/Scan/Transforms/Passes.h"
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

static void fillRandom(Array &array, std::mt19937_64 &random) {
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (double &x : array.data)
    x = uniform(random);
}

/// Random arrays for all arguments of an entry; those that may be absent are
/// there or not. `rows` batch rows.
static Arrays makeArguments(func::FuncOp entry, int64_t rows, int64_t steps,
                            bool withOptional, std::mt19937_64 &random) {
  Arrays in;
  for (BlockArgument argument : entry.getArguments()) {
    unsigned i = argument.getArgNumber();
    auto type = cast<RankedTensorType>(argument.getType());
    bool isOptional = bool(entry.getArgAttr(i, scan::kOptionalAttr));
    if (isOptional && (!withOptional || type.getElementType().isInteger(64)))
      continue;
    SmallVector<int64_t> shape(type.getShape());
    bool first = true;
    for (int64_t &extent : shape)
      if (ShapedType::isDynamic(extent)) {
        extent = first ? rows : steps;
        first = false;
      }
    fillRandom(in[interpreter::getArgumentName(entry, i)] = Array(shape),
               random);
  }
  return in;
}

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

//===----------------------------------------------------------------------===//
// Proofs
//===----------------------------------------------------------------------===//

namespace {
struct Aggregation {
  const char *name;
  /// Types of the components, comma-separated, and the region's body over
  /// %a0, %a1, ... and %b0, %b1, ...
  const char *components, *body;
  bool associative;
};
void PrintTo(const Aggregation &agg, std::ostream *os) { *os << agg.name; }
class Aggregations : public testing::TestWithParam<Aggregation> {};
} // namespace

/// A prefix scan whose elements are inputs, and whose outputs are prefixes.
static std::string entryOf(const Aggregation &agg) {
  SmallVector<StringRef> types;
  StringRef(agg.components).split(types, ',');
  std::string arguments, operands, operandTypes, identities, elements, older,
      newer, enc, inf, yielded, axes, results, names;
  auto comma = [](std::string &to, const std::string &text) {
    to += (to.empty() ? "" : ", ") + text;
  };
  for (auto [i, type] : llvm::enumerate(types)) {
    StringRef shape = type;
    bool isScalar = !shape.consume_front("tensor<");
    std::string inner = isScalar ? "f64" : shape.drop_back().str();
    // Each component has letters of its own.
    size_t rank = isScalar ? 0 : llvm::count(inner, 'x');
    StringRef letters = StringRef("klopqr").substr(2 * i, rank);
    std::string whole = formatv("tensor<?x?x{0}>", inner),
                id = formatv("tensor<{0}>", inner);
    comma(arguments, formatv("%x{0}: {1}, %e{0}: {2}", i, whole, id));
    comma(operands, formatv("%x{0} as \"bt{1}\"", i, letters));
    comma(operandTypes, whole);
    comma(identities, formatv("%e{0} as \"{1}\"", i, letters));
    comma(elements, id);
    comma(older, formatv("%a{0}: {1}", i, type));
    comma(newer, formatv("%b{0}: {1}", i, type));
    comma(enc, formatv("%c{0}: {1}", i, type));
    comma(inf, formatv("%d{0}: {1}", i, type));
    comma(yielded, formatv("%z{0}", i));
    comma(axes, formatv("\"bt{0}\"", letters));
    comma(results, whole);
    comma(names, formatv("%y#{0}", i));
  }
  auto renamed = [&](char letter) {
    std::string text;
    for (size_t i = 0; i < types.size(); ++i)
      comma(text, formatv("%{0}{1}", letter, i));
    return text;
  };
  std::string all(agg.components);
  return formatv(R"(func.func @entry({0}) -> ({1}) {{
      %y:{2} = scan.prefix inclusive ins({3} : {1}) identity({4} : {5}) outs({6}) finals()
      enc {{
      ^bb0({7}):
        scan.yield {8} : {9}
      } agg {{
      ^bb0({10}, {11}):
        {12}
        scan.yield {13} : {9}
      } inf {{
      ^bb0({14}, {7}):
        scan.yield {15} : {9}
      } -> ({1}), ()
      return {16} : {1}
    })",
                 arguments, results, types.size(), operands, identities,
                 elements, axes, enc, renamed('c'), all, older, newer, agg.body,
                 yielded, inf, renamed('d'), names);
}

TEST_P(Aggregations, ProofAndValues) {
  TestContext test;
  auto module = parseSourceString<ModuleOp>(entryOf(GetParam()), &test.context);
  ASSERT_TRUE(module) << test.messages << entryOf(GetParam());
  scan::PrefixOp op;
  module->walk([&](scan::PrefixOp found) { op = found; });
  EXPECT_EQ(isProvedAssociative(op), GetParam().associative);
  // ((0 1) 2) is the last prefix of 3; (0 (1 2)) from one of 2 elements, the
  // second of which is the last prefix of the last two.
  func::FuncOp entry = *module->getOps<func::FuncOp>().begin();
  std::mt19937_64 random(11);
  Arrays three = makeArguments(entry, 1, 3, true, random);
  auto part = [&](const Arrays &from, unsigned i, int64_t begin, int64_t end) {
    const Array &array = from.find("arg" + std::to_string(2 * i))->second;
    int64_t features = array.data.size() / array.shape[1];
    SmallVector<int64_t> shape = array.shape;
    shape[1] = end - begin;
    return Array(shape, {array.data.begin() + begin * features,
                         array.data.begin() + end * features});
  };
  Arrays lastTwo = three, two = three;
  unsigned components = op.getNumComponents();
  for (unsigned i = 0; i < components; ++i)
    lastTwo["arg" + std::to_string(2 * i)] = part(three, i, 1, 3);
  auto left = interpreter::evaluate(entry, three),
       inner = interpreter::evaluate(entry, lastTwo);
  ASSERT_TRUE(succeeded(left) && succeeded(inner)) << test.messages;
  auto lastOf = [&](const Arrays &results, unsigned i) {
    const Array &array = results.find("result" + std::to_string(i))->second;
    size_t features = array.data.size() / array.shape[1];
    return std::vector<double>(array.data.end() - features, array.data.end());
  };
  for (unsigned i = 0; i < components; ++i) {
    Array &array = two["arg" + std::to_string(2 * i)] = part(three, i, 0, 2);
    std::vector<double> last = lastOf(*inner, i);
    llvm::copy(last, array.data.end() - last.size());
  }
  auto right = interpreter::evaluate(entry, two);
  ASSERT_TRUE(succeeded(right)) << test.messages;
  double error = 0.0;
  for (unsigned i = 0; i < components; ++i)
    for (auto [x, y] : llvm::zip_equal(lastOf(*left, i), lastOf(*right, i)))
      error = std::max(error, std::abs(x - y));
  if (GetParam().associative)
    EXPECT_LT(error, 1e-12);
  else
    EXPECT_GT(error, 1e-3);
}

static constexpr const char *kMatmul = R"(
  %zero = arith.constant dense<0.0> : tensor<3x3xf64>
  %z0 = linalg.matmul ins(%b0, %a0 : tensor<3x3xf64>, tensor<3x3xf64>) outs(%zero : tensor<3x3xf64>) -> tensor<3x3xf64>
)";
static constexpr const char *kAffine = R"(
  %zero = arith.constant dense<0.0> : tensor<3x3xf64>
  %z0 = linalg.matmul ins(%b0, %a0 : tensor<3x3xf64>, tensor<3x3xf64>) outs(%zero : tensor<3x3xf64>) -> tensor<3x3xf64>
  %z1 = linalg.matmul ins(%b0, %a1 : tensor<3x3xf64>, tensor<3x2xf64>) outs(%b1 : tensor<3x2xf64>) -> tensor<3x2xf64>
)";
// The same with M of the wrong order.
static constexpr const char *kAffineSwapped = R"(
  %zero = arith.constant dense<0.0> : tensor<3x3xf64>
  %z0 = linalg.matmul ins(%a0, %b0 : tensor<3x3xf64>, tensor<3x3xf64>) outs(%zero : tensor<3x3xf64>) -> tensor<3x3xf64>
  %z1 = linalg.matmul ins(%b0, %a1 : tensor<3x3xf64>, tensor<3x2xf64>) outs(%b1 : tensor<3x2xf64>) -> tensor<3x2xf64>
)";
// In log space, and with the products spelled out.
static constexpr const char *kLogGates = R"(
  %z0 = arith.addf %a0, %b0 : tensor<3xf64>
  %z1 = linalg.generic {indexing_maps = [affine_map<(k, l) -> (k)>, affine_map<(k, l) -> (k, l)>, affine_map<(k, l) -> (k, l)>],
      iterator_types = ["parallel", "parallel"]} ins(%b0, %a1 : tensor<3xf64>, tensor<3x2xf64>) outs(%b1 : tensor<3x2xf64>) {
  ^bb0(%g: f64, %x: f64, %y: f64):
    %m = math.exp %g : f64
    %k = arith.mulf %x, %m : f64
    %s = arith.addf %y, %k : f64
    linalg.yield %s : f64
  } -> tensor<3x2xf64>
)";
// A running softmax: maximum, sum, weighted sum.
static constexpr const char *kSoftmax = R"(
  %z0 = arith.maximumf %a0, %b0 : f64
  %da = arith.subf %a0, %z0 : f64
  %db = arith.subf %b0, %z0 : f64
  %ea = math.exp %da : f64
  %eb = math.exp %db : f64
  %sa = arith.mulf %a1, %ea : f64
  %sb = arith.mulf %b1, %eb : f64
  %z1 = arith.addf %sa, %sb : f64
  %eas = tensor.splat %ea : tensor<3xf64>
  %ebs = tensor.splat %eb : tensor<3xf64>
  %va = arith.mulf %a2, %eas : tensor<3xf64>
  %vb = arith.mulf %b2, %ebs : tensor<3xf64>
  %z2 = arith.addf %va, %vb : tensor<3xf64>
)";
// The stabilised gates of mLSTM: sum of log-gates, stabiliser, memory.
static constexpr const char *kStabilised = R"(
  %z0 = arith.addf %a0, %b0 : f64
  %ma = arith.addf %a1, %b0 : f64
  %z1 = arith.maximumf %ma, %b1 : f64
  %da = arith.subf %ma, %z1 : f64
  %db = arith.subf %b1, %z1 : f64
  %ea = math.exp %da : f64
  %eb = math.exp %db : f64
  %sa = arith.mulf %a2, %ea : f64
  %sb = arith.mulf %b2, %eb : f64
  %z2 = arith.addf %sa, %sb : f64
)";

INSTANTIATE_TEST_SUITE_P(
    Examples, Aggregations,
    testing::Values(
        Aggregation{"Sum", "f64", "%z0 = arith.addf %a0, %b0 : f64", true},
        Aggregation{"Product", "tensor<3xf64>",
                    "%z0 = arith.mulf %b0, %a0 : tensor<3xf64>", true},
        Aggregation{"MaximumBesideMinimum", "tensor<3xf64>,f64",
                    "%z0 = arith.maximumf %a0, %b0 : tensor<3xf64>\n"
                    "%z1 = arith.minnumf %b1, %a1 : f64",
                    true},
        Aggregation{"OlderTwice", "f64", "%z0 = arith.addf %a0, %a0 : f64",
                    false},
        Aggregation{"Newer", "f64",
                    "%c = arith.constant 1.0 : f64\n"
                    "%z0 = arith.mulf %b0, %c : f64",
                    true},
        // (1 + a)(1 + b) - 1
        Aggregation{"SumAndProduct", "f64",
                    "%p = arith.mulf %a0, %b0 : f64\n"
                    "%s = arith.addf %a0, %b0 : f64\n"
                    "%z0 = arith.addf %s, %p : f64",
                    true},
        Aggregation{"Difference", "f64", "%z0 = arith.subf %a0, %b0 : f64",
                    false},
        Aggregation{"HalfPlus", "f64",
                    "%h = arith.constant 0.5 : f64\n"
                    "%p = arith.mulf %a0, %h : f64\n"
                    "%z0 = arith.addf %p, %b0 : f64",
                    false},
        Aggregation{"Tanh", "f64",
                    "%t = math.tanh %a0 : f64\n"
                    "%z0 = arith.addf %t, %b0 : f64",
                    false},
        Aggregation{"Matrices", "tensor<3x3xf64>", kMatmul, true},
        Aggregation{"AffineMaps", "tensor<3x3xf64>,tensor<3x2xf64>", kAffine,
                    true},
        Aggregation{"AffineMapsSwapped", "tensor<3x3xf64>,tensor<3x2xf64>",
                    kAffineSwapped, false},
        Aggregation{"LogGates", "tensor<3xf64>,tensor<3x2xf64>", kLogGates,
                    true},
        Aggregation{"Softmax", "f64,f64,tensor<3xf64>", kSoftmax, true},
        Aggregation{"Stabilised", "f64,f64,f64", kStabilised, true}),
    [](const auto &info) { return std::string(info.param.name); });
