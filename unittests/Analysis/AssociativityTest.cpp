//===- AssociativityTest.cpp - What is proved of aggregations -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Of aggregations that are claimed to be associative, and of random ones, both
// orders of joining three elements are evaluated in f64.
//
//===----------------------------------------------------------------------===//

#include "Prism/Analysis/Associativity.h"
#include "RandomCall.h"
#include "StateMap.h"
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

/// How far ((0 1) 2) is from (0 (1 2)), of their size, on random elements.
static double differenceOfOrders(func::FuncOp entry, scan::PrefixOp op,
                                 uint64_t seed) {
  // The first is the last prefix of 3 elements, the second that of 2, of which
  // one is the last prefix of the last two.
  std::mt19937_64 random(seed);
  Arrays three = makeArguments(entry, 1, 3, true, random);
  auto nameOf = [](unsigned component) {
    return "arg" + std::to_string(2 * component);
  };
  auto part = [&](unsigned i, int64_t begin, int64_t end) {
    const Array &array = three.find(nameOf(i))->second;
    int64_t features = array.data.size() / array.shape[1];
    SmallVector<int64_t> shape = array.shape;
    shape[1] = end - begin;
    return Array(shape, {array.data.begin() + begin * features,
                         array.data.begin() + end * features});
  };
  auto lastOf = [&](const Arrays &results, unsigned i) {
    const Array &array = results.find("result" + std::to_string(i))->second;
    size_t features = array.data.size() / array.shape[1];
    return std::vector<double>(array.data.end() - features, array.data.end());
  };
  Arrays lastTwo = three, two = three;
  unsigned components = op.getNumComponents();
  for (unsigned i = 0; i < components; ++i)
    lastTwo[nameOf(i)] = part(i, 1, 3);
  auto left = interpreter::evaluate(entry, three),
       inner = interpreter::evaluate(entry, lastTwo);
  if (failed(left) || failed(inner))
    return NAN;
  for (unsigned i = 0; i < components; ++i) {
    Array &array = two[nameOf(i)] = part(i, 0, 2);
    std::vector<double> last = lastOf(*inner, i);
    llvm::copy(last, array.data.end() - last.size());
  }
  auto right = interpreter::evaluate(entry, two);
  if (failed(right))
    return NAN;
  double error = 0.0, size = 1e-6;
  for (unsigned i = 0; i < components; ++i)
    for (auto [x, y] : llvm::zip_equal(lastOf(*left, i), lastOf(*right, i))) {
      error += std::abs(x - y);
      size += std::abs(x) + std::abs(y);
    }
  return error / size;
}

static scan::PrefixOp prefixIn(ModuleOp module) {
  scan::PrefixOp op;
  module.walk([&](scan::PrefixOp found) { op = found; });
  return op;
}

TEST_P(Aggregations, ProofAndValues) {
  TestContext test;
  auto module = parseSourceString<ModuleOp>(entryOf(GetParam()), &test.context);
  ASSERT_TRUE(module) << test.messages << entryOf(GetParam());
  scan::PrefixOp op = prefixIn(*module);
  EXPECT_EQ(isProvedAssociative(op), GetParam().associative);
  double error = differenceOfOrders(*module->getOps<func::FuncOp>().begin(), op,
                                    /*seed=*/11);
  if (GetParam().associative)
    EXPECT_LT(error, 1e-12) << test.messages;
  else
    EXPECT_GT(error, 1e-3) << test.messages;
}

/// A random expression of two components of two elements.
static std::string randomBody(std::mt19937_64 &random) {
  std::vector<std::string> values = {"%a0", "%a1", "%b0", "%b1"};
  auto any = [&] { return values[random() % values.size()]; };
  std::string body = "%half = arith.constant 0.5 : f64\n";
  static const char *binary[] = {"arith.addf", "arith.addf",     "arith.mulf",
                                 "arith.mulf", "arith.maximumf", "arith.subf"};
  unsigned count = 2 + random() % 4;
  for (unsigned i = 0; i < count; ++i) {
    // The last two are the components.
    std::string name = i + 2 < count ? "%v" + std::to_string(i)
                                     : "%z" + std::to_string(i + 2 - count);
    if (random() % 8 == 0)
      body += formatv("{0} = math.exp {1} : f64\n", name, any());
    else if (random() % 8 == 0)
      body += formatv("{0} = arith.mulf {1}, %half : f64\n", name, any());
    else
      body += formatv("{0} = {1} {2}, {3} : f64\n", name,
                      binary[random() % std::size(binary)], any(), any());
    values.push_back(name);
  }
  return body;
}

TEST(Associativity, WhatIsProvedHolds) {
  std::mt19937_64 random(1);
  unsigned proved = 0, refuted = 0;
  for (unsigned i = 0; i < 600; ++i) {
    TestContext test;
    std::string body = randomBody(random);
    SCOPED_TRACE(body);
    auto module = parseSourceString<ModuleOp>(
        entryOf({"Random", "f64,f64", body.c_str(), false}), &test.context);
    ASSERT_TRUE(module) << test.messages;
    scan::PrefixOp op = prefixIn(*module);
    double error = differenceOfOrders(*module->getOps<func::FuncOp>().begin(),
                                      op, /*seed=*/i);
    if (isProvedAssociative(op)) {
      EXPECT_LT(error, 1e-9);
      ++proved;
    } else {
      refuted += error > 1e-6;
    }
  }
  EXPECT_GT(proved, 20u);
  EXPECT_GT(refuted, 300u);
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
