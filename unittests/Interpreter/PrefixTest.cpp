//===- PrefixTest.cpp - The meaning of prefix scans -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Values worked out by hand, and a static scan written here: up-sweep and
// down-sweep over a padded tree. The interpreter has a binary counter.
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <functional>

using namespace prism::interpreter;
using llvm::formatv;

using Values = std::vector<double>;
using Join = std::function<Values(const Values &, const Values &)>;

/// All exclusive prefixes of a static Blelloch scan, and after them the total,
/// which is the prefix of an element more. Padding is NaN: it reaches nothing.
static std::vector<Values> blelloch(std::vector<Values> x, const Values &e,
                                    bool evaluate, const Join &join) {
  size_t count = x.size() + 1, width = 1;
  while (width < count)
    width *= 2;
  x.resize(width, Values(e.size(), std::nan("")));
  std::vector<std::vector<Values>> levels = {x};
  while (levels.back().size() > 1) {
    std::vector<Values> up;
    for (size_t i = 0; i < levels.back().size(); i += 2)
      up.push_back(join(levels.back()[i], levels.back()[i + 1]));
    levels.push_back(up);
  }
  // Nothing stands before the first place of a level.
  std::vector<Values> down = {e};
  for (size_t level = levels.size() - 1; level-- > 0;) {
    std::vector<Values> next;
    for (size_t i = 0; i < down.size(); ++i) {
      const Values &left = levels[level][2 * i];
      next.push_back(down[i]);
      next.push_back(i == 0 && !evaluate ? left : join(down[i], left));
    }
    down = next;
  }
  down.resize(count);
  return down;
}

/// An entry over scalars: each token is its element, each output its prefix.
static std::string scalarEntry(llvm::StringRef agg, llvm::StringRef flags = "",
                               llvm::StringRef evaluate = "") {
  return formatv(R"(
    func.func @entry(%x: tensor<?x?xf64> {{scan.name = "x"},
                     %e: tensor<?xf64> {{scan.name = "e", scan.optional},
                     %offsets: tensor<?xi64> {{scan.name = "offsets", scan.optional})
        -> (tensor<?x?xf64> {{scan.name = "y"}, tensor<?xf64> {{scan.name = "total"}) {{
      %y, %total = scan.prefix {1} ins(%x as "bt" : tensor<?x?xf64>)
          identity(%e as "n" : tensor<?xf64>) {2} offsets(%offsets : tensor<?xi64>)
          outs("bt") finals("n")
      enc {{
      ^bb0(%t: f64):
        scan.yield %t : f64
      } agg {{
      ^bb0(%p: f64, %x_t: f64):
        {0}
        scan.yield %z : f64
      } inf {{
      ^bb0(%p: f64, %x_t: f64):
        scan.yield %p : f64
      } -> (tensor<?x?xf64>), (tensor<?xf64>)
      return %y, %total : tensor<?x?xf64>, tensor<?xf64>
    })",
                 agg, flags, evaluate);
}

static constexpr llvm::StringLiteral kHalfPlus = R"(
        %half = arith.constant 0.5 : f64
        %h = arith.mulf %p, %half : f64
        %z = arith.addf %h, %x_t : f64)";

static Arrays callOf(Values x, double e) {
  Arrays in;
  int64_t steps = x.size();
  in["x"] = Array({1, steps}, std::move(x));
  in["e"] = Array({1}, {e});
  return in;
}

TEST(Prefix, A22TreeOfEight) {
  // p / 2 + x over 1 to 8. Joined from left to right it would be 6.125 where
  // the tree has 6.75, and 12.015625 at the end.
  for (llvm::StringRef evaluate : {"", "evaluate"}) {
    Arrays out = TestModel(scalarEntry(kHalfPlus, "", evaluate))
                     .run(callOf({1, 2, 3, 4, 5, 6, 7, 8}, 0));
    expectValues(out["y"], {0, 1, 2.5, 4.25, 6.75, 8.375, 11.875, 12.9375});
    // ((((0 1)(2 3)) ((4 5)(6 7)))
    expectValues(out["total"], {(1 / 2. + 2) / 4 + (3 / 2. + 4) / 2 +
                                (5 / 2. + 6) / 2 + 7 / 2. + 8});
  }
  Arrays six =
      TestModel(scalarEntry(kHalfPlus)).run(callOf({1, 2, 3, 4, 5, 6}, 0));
  expectValues(six["y"], {0, 1, 2.5, 4.25, 6.75, 8.375});
  expectValues(six["total"], {11.875});
}

TEST(Prefix, A22EvaluatedIdentity) {
  // tanh(p + 2 x) - 0.1 p x over 0.1 to 1.1, e = 0.3.
  Values x;
  for (int i = 1; i <= 11; ++i)
    x.push_back(i / 10.0);
  Arrays out = TestModel(scalarEntry(R"(
        %two = arith.constant 2.0 : f64
        %x2 = arith.mulf %x_t, %two : f64
        %s = arith.addf %p, %x2 : f64
        %th = math.tanh %s : f64
        %tenth = arith.constant 0.1 : f64
        %px = arith.mulf %p, %x_t : f64
        %pxt = arith.mulf %px, %tenth : f64
        %z = arith.subf %th, %pxt : f64)",
                                     "", "evaluate"))
                   .run(callOf(x, 0.3));
  EXPECT_EQ(out["y"].data[0], 0.3);
  EXPECT_NEAR(out["y"].data[10], 0.9065514086, 1e-10);
}

TEST(Prefix, InclusiveReverseAndPacked) {
  Arrays in = callOf({1, 2, 3, 4}, 0);
  Arrays out = TestModel(scalarEntry(kHalfPlus, "inclusive")).run(in);
  expectValues(out["y"], {1, 2.5, 4.25, 6.75});
  // From 4 down to 1: 4; 4/2 + 3; 5/2 + 2; 5/2 + (2/2 + 1).
  out = TestModel(scalarEntry(kHalfPlus, "reverse inclusive")).run(in);
  expectValues(out["y"], {4.5, 4.5, 5, 4});
  expectValues(out["total"], {4.5});
  // Sequences of 1, 0 and 3 rows; an empty one returns its own identity.
  in["e"] = Array({3}, {10, 20, 30});
  in["offsets"] = Array({4}, {0, 1, 1, 4});
  out = TestModel(scalarEntry(kHalfPlus)).run(in);
  expectValues(out["y"], {10, 30, 2, 4});
  expectValues(out["total"], {1, 20, 6});
  out = TestModel(scalarEntry(kHalfPlus, "", "evaluate")).run(in);
  expectValues(out["y"], {10, 30, 17, 19});
  expectValues(out["total"], {6, 20, 13.5});
}

TEST(Prefix, ALaterCallGoesOnIfAssociative) {
  auto continued = [](llvm::StringRef agg) {
    TestModel model(scalarEntry(agg, "", "evaluate"));
    Arrays whole = model.run(callOf({1, 2, 3, 4, 5, 6, 7}, 0.5)),
           first = model.run(callOf({1, 2, 3}, 0.5)),
           second = model.run(callOf({4, 5, 6, 7}, first["total"].data[0]));
    EXPECT_EQ(second["y"].data[0], first["total"].data[0]);
    return std::pair(whole["total"].data[0], second["total"].data[0]);
  };
  auto [sum, sumOfTwo] = continued("%z = arith.addf %p, %x_t : f64");
  EXPECT_EQ(sum, 28.5);
  EXPECT_EQ(sumOfTwo, 28.5);
  auto [tree, treeOfTwo] = continued(kHalfPlus);
  EXPECT_NE(tree, treeOfTwo);
}

TEST(Prefix, NoStepsAndNoRows) {
  TestModel model(scalarEntry(kHalfPlus));
  Arrays out = model.run(callOf({}, 5));
  EXPECT_TRUE(out["y"].data.empty());
  expectValues(out["total"], {5});
  Arrays none;
  none["x"] = Array({0, 3});
  none["e"] = Array(llvm::ArrayRef<int64_t>{0});
  out = model.run(none);
  EXPECT_TRUE(out["y"].data.empty());
  EXPECT_TRUE(out["total"].data.empty());
  // An identity that is left out is 0.
  Arrays absent;
  absent["x"] = Array({1, 2}, {3, 4});
  out = model.run(absent);
  expectValues(out["y"], {0, 3});
}

TEST(Prefix, ExtentsThatDisagreeAreErrors) {
  Arrays in = callOf({1, 2}, 0);
  in["e"] = Array({2}, {0, 0});
  EXPECT_NE(
      TestModel(scalarEntry(kHalfPlus))
          .error(in)
          .find("without offsets every batch row is a sequence, found 1 rows "
                "and 2 states"),
      std::string::npos);
  in["offsets"] = Array({3}, {0, 2, 1});
  EXPECT_NE(TestModel(scalarEntry(kHalfPlus))
                .error(in)
                .find("offsets must rise from 0 to the number of steps, 2"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// Elements of a 2 x 3 matrix and a scalar, two heads with an identity each; a
/// captured weight.
static constexpr llvm::StringLiteral kMatrices = R"(
    func.func @entry(%x: tensor<?x?x2x2x3xf64> {scan.name = "x"},
                     %e: tensor<2x2x3xf64> {scan.name = "e"},
                     %w: tensor<2x3xf64> {scan.name = "w"})
        -> (tensor<?x?x2x2x3xf64> {scan.name = "y"}, tensor<?x2x2x3xf64> {scan.name = "total"},
            tensor<?x2xf64> {scan.name = "count"}) {
      %zero = arith.constant dense<0.25> : tensor<f64>
      %y, %total, %count = scan.prefix FLAGS ins(%x as "bthkv" : tensor<?x?x2x2x3xf64>)
          identity(%e as "hkv", %zero as "" : tensor<2x2x3xf64>, tensor<f64>) EVALUATE
          outs("bthkv") finals("nhkv", "nh")
      enc {
      ^bb0(%t: tensor<2x3xf64>):
        %one = arith.constant 1.0 : f64
        %u = arith.mulf %t, %w : tensor<2x3xf64>
        scan.yield %u, %one : tensor<2x3xf64>, f64
      } agg {
      ^bb0(%a: tensor<2x3xf64>, %n: f64, %b: tensor<2x3xf64>, %m: f64):
        %two = arith.constant dense<2.0> : tensor<2x3xf64>
        %th = math.tanh %a : tensor<2x3xf64>
        %bb = arith.mulf %b, %two : tensor<2x3xf64>
        %s = arith.addf %th, %bb : tensor<2x3xf64>
        %c = arith.addf %n, %m : f64
        scan.yield %s, %c : tensor<2x3xf64>, f64
      } inf {
      ^bb0(%p: tensor<2x3xf64>, %n: f64, %t: tensor<2x3xf64>):
        %ns = tensor.splat %n : tensor<2x3xf64>
        %q = arith.addf %p, %ns : tensor<2x3xf64>
        scan.yield %q : tensor<2x3xf64>
      } -> (tensor<?x?x2x2x3xf64>), (tensor<?x2x2x3xf64>, tensor<?x2xf64>)
      return %y, %total, %count : tensor<?x?x2x2x3xf64>, tensor<?x2x2x3xf64>, tensor<?x2xf64>
    })";

static std::string replaced(std::string text, llvm::StringRef what,
                            llvm::StringRef by) {
  text.replace(text.find(what.str()), what.size(), by.str());
  return text;
}

static void compareWithStatic(int64_t steps, bool inclusive, bool evaluate) {
  std::string text =
      replaced(kMatrices.str(), "FLAGS", inclusive ? "inclusive" : "");
  TestModel model(replaced(text, "EVALUATE", evaluate ? "evaluate" : ""));
  Arrays in;
  Array &x = in["x"] = Array({2, steps, 2, 2, 3});
  Array &e = in["e"] = Array({2, 2, 3});
  Array &w = in["w"] = Array({2, 3});
  double phase = 0.3;
  for (Array *array : {&x, &e, &w})
    for (double &value : array->data)
      value = std::sin(phase += 1.7);
  Arrays out = model.run(in);
  Join join = [](const Values &a, const Values &b) {
    Values z(7);
    for (int i = 0; i < 6; ++i)
      z[i] = std::tanh(a[i]) + 2 * b[i];
    z[6] = a[6] + b[6];
    return z;
  };
  for (int64_t row = 0; row < 2; ++row)
    for (int64_t head = 0; head < 2; ++head) {
      std::vector<Values> elements;
      for (int64_t t = 0; t < steps; ++t) {
        Values &element = elements.emplace_back();
        for (int i = 0; i < 6; ++i)
          element.push_back(x.data[((row * steps + t) * 2 + head) * 6 + i] *
                            w.data[i]);
        element.push_back(1.0);
      }
      Values identity(&e.data[head * 6], &e.data[head * 6] + 6);
      identity.push_back(0.25);
      std::vector<Values> prefixes =
          blelloch(elements, identity, evaluate, join);
      for (int i = 0; i < 6; ++i) {
        for (int64_t t = 0; t < steps; ++t) {
          const Values &p = prefixes[t + (inclusive ? 1 : 0)];
          EXPECT_EQ(out["y"].data[((row * steps + t) * 2 + head) * 6 + i],
                    p[i] + p[6]);
        }
        EXPECT_EQ(out["total"].data[(row * 2 + head) * 6 + i],
                  prefixes[steps][i]);
      }
      EXPECT_EQ(out["count"].data[row * 2 + head], prefixes[steps][6]);
    }
}

TEST(Prefix, CounterEqualsStaticScan) {
  for (int64_t steps : {0, 1, 2, 3, 7, 8, 9, 64, 100})
    for (bool inclusive : {false, true})
      for (bool evaluate : {false, true}) {
        SCOPED_TRACE(testing::Message() << steps << inclusive << evaluate);
        compareWithStatic(steps, inclusive, evaluate);
      }
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

TEST(Prefix, ChunksOfTokens) {
  // An element is the sum of its chunk's 3 tokens; the output of a token is the
  // prefix and the largest token of its chunk, those past the end being 0.
  llvm::StringRef text = R"(
    func.func @entry(%x: tensor<?x?xf64> {scan.name = "x"}, %s: tensor<f64> {scan.name = "s"})
        -> (tensor<?x?xf64> {scan.name = "y"}, tensor<?xf64> {scan.name = "total"}) {
      %e = arith.constant dense<0.0> : tensor<f64>
      %y, %total = scan.prefix FLAGS chunk 3 ins(%x as "bt", %s as "" : tensor<?x?xf64>, tensor<f64>)
          identity(%e as "" : tensor<f64>) outs("bt") finals("n")
      enc {
      ^bb0(%c: tensor<3xf64>, %scale: f64):
        %zero = arith.constant 0.0 : f64
        %init = tensor.splat %zero : tensor<f64>
        %sum = linalg.reduce { arith.addf } ins(%c : tensor<3xf64>) outs(%init : tensor<f64>) dimensions = [0]
        %v = tensor.extract %sum[] : tensor<f64>
        %z = arith.mulf %v, %scale : f64
        scan.yield %z : f64
      } agg {
      ^bb0(%p: f64, %q: f64):
        %half = arith.constant 0.5 : f64
        %h = arith.mulf %p, %half : f64
        %z = arith.addf %h, %q : f64
        scan.yield %z : f64
      } inf {
      ^bb0(%p: f64, %c: tensor<3xf64>, %scale: f64):
        %zero = arith.constant -100.0 : f64
        %init = tensor.splat %zero : tensor<f64>
        %max = linalg.reduce { arith.maximumf } ins(%c : tensor<3xf64>) outs(%init : tensor<f64>) dimensions = [0]
        %v = tensor.extract %max[] : tensor<f64>
        %z = arith.addf %v, %p : f64
        %all = tensor.splat %z : tensor<3xf64>
        scan.yield %all : tensor<3xf64>
      } -> (tensor<?x?xf64>), (tensor<?xf64>)
      return %y, %total : tensor<?x?xf64>, tensor<?xf64>
    })";
  Arrays in;
  in["s"] = Array({}, {10});
  in["x"] = Array({1, 7}, {1, 2, 3, 4, 5, 6, -7});
  Arrays out = TestModel(replaced(text.str(), "FLAGS", "")).run(in);
  // 60, then 60 / 2 + 150; the last chunk's maximum is a 0 past the end.
  expectValues(out["y"], {3, 3, 3, 66, 66, 66, 180});
  expectValues(out["total"], {180});
  // Reversed, the chunks begin at the end: (-7 6 5), (4 3 2), (1).
  out = TestModel(replaced(text.str(), "FLAGS", "reverse")).run(in);
  expectValues(out["y"], {111, 44, 44, 44, 6, 6, 6});
  expectValues(out["total"], {110});
}

TEST(Prefix, WhatCannotBeEvaluatedHasALocation) {
  EXPECT_NE(TestModel(scalarEntry("%z = math.acosh %p : f64"))
                .error(callOf({1}, 0))
                .find("the interpreter has no evaluation of 'math.acosh'"),
            std::string::npos);
}
