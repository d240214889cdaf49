//===- SemanticsTest.cpp - Conventions of scan.recurrence -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Axes, reverse, states and what a call may get wrong; values worked by hand.
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"
#include <cmath>

using namespace prism::interpreter;

static Array ones(llvm::ArrayRef<int64_t> shape) {
  Array array(shape);
  for (double &x : array.data)
    x = 1.0;
  return array;
}

/// S <- a S + x, y = S, as one head of K = V = 1.
static const char *const kAffineStep = R"(
    %g = math.log %a_t : f64
    %1 = scan.decay %S by %g along scalar : tensor<1x1xf64>, f64
    %2 = scan.inject %1 key %k_t value %x_t : tensor<1x1xf64>, tensor<1xf64>, tensor<1xf64>
    %y = scan.read %2 query %k_t : tensor<1x1xf64>, tensor<1xf64> -> tensor<1xf64>
    scan.yield %2, %y : tensor<1x1xf64>, tensor<1xf64>)";

TEST(Semantics, ReverseFlipsEverySequence) {
  TestModel model(makeEntry(1, 1, "k:k x:bthv a:bth", kAffineStep, true));
  Arrays in;
  in["k"] = ones({1});
  in["x"] = Array({1, 5, 1, 1}, {1, 3, 2, 4, 5});
  in["a"] = Array({1, 5, 1}, {.5, 2, 1, .25, 3});
  // 5; .25*5+4; 5.25+2; 2*7.25+3; .5*17.5+1
  Arrays out = model.run(in);
  expectValues(out["o"], {9.75, 17.5, 7.25, 5.25, 5}, 1e-12);
  expectValues(out["final_state"], {9.75}, 1e-12);

  in["offsets"] = Array({4}, {0, 2, 2, 5});
  in["initial_state"] = Array({3, 1, 1, 1}, {1, 7, 1});
  // first: 2*1+3 = 5, .5*5+1; last: 3*1+5 = 8, .25*8+4 = 6, 6+2.
  out = model.run(in);
  expectValues(out["o"], {3.5, 5, 8, 6, 8}, 1e-12);
  expectValues(out["final_state"], {3.5, 7, 8}, 1e-12);
}

TEST(Semantics, InputsWithoutTimeOrBatchAreShared) {
  TestModel model(makeEntry(1, 1, "k:k x:bthv a:b", kAffineStep));
  Arrays in;
  in["k"] = ones({1});
  in["x"] = Array({2, 3, 1, 1}, {1, 2, 3, 4, 5, 6});
  in["a"] = Array({2}, {1, .5});
  Arrays out = model.run(in);
  expectValues(out["o"], {1, 3, 6, 4, 7, 9.5}, 1e-12);
  expectValues(out["final_state"], {6, 9.5}, 1e-12);
}

/// Two heads, K = 2, V = 3: S = sum of k x^T, y = S^T k. The input x is
/// "hvtb", the output "vhbt", the state "hknv" in memory.
static const char *const kTurnedAxes = R"(
    func.func @entry(%k: tensor<2x?xf64> {scan.name = "k"}, %x: tensor<2x3x?x?xf64> {scan.name = "x"})
        -> (tensor<3x2x?x?xf64> {scan.name = "o"}, tensor<2x2x?x3xf64> {scan.name = "final_state"}) {
      %o, %f = scan.recurrence ins(%k as "kt", %x as "hvtb" : tensor<2x?xf64>, tensor<2x3x?x?xf64>)
          outs("vhbt") finals("hknv") {
      ^bb0(%S: tensor<2x3xf64>, %kt: tensor<2xf64>, %xt: tensor<3xf64>):
        %1 = scan.inject %S key %kt value %xt : tensor<2x3xf64>, tensor<2xf64>, tensor<3xf64>
        %y = scan.read %1 query %kt : tensor<2x3xf64>, tensor<2xf64> -> tensor<3xf64>
        scan.yield %1, %y : tensor<2x3xf64>, tensor<3xf64>
      } -> (tensor<3x2x?x?xf64>), (tensor<2x2x?x3xf64>)
      return %o, %f : tensor<3x2x?x?xf64>, tensor<2x2x?x3xf64>
    })";

TEST(Semantics, AxesInAnyOrder) {
  Arrays in;
  in["k"] = Array({2, 2}, {1, 0, 0, 2}); // k_0 = (1, 0), k_1 = (0, 2)
  in["x"] = Array({2, 3, 2, 1});
  for (int64_t h = 0; h < 2; ++h)
    for (int64_t v = 0; v < 3; ++v)
      for (int64_t t = 0; t < 2; ++t)
        in["x"].data[(h * 3 + v) * 2 + t] = 100 * h + 10 * v + t;
  Arrays out = TestModel(kTurnedAxes).run(in);
  // y_0 = x_0, y_1 = 4 x_1; S row 0 = x_0, row 1 = 2 x_1.
  expectValues(out["o"], {0, 4, 100, 404, 10, 44, 110, 444, 20, 84, 120, 484});
  expectValues(out["final_state"],
               {0, 10, 20, 2, 22, 42, 100, 110, 120, 202, 222, 242});
}

/// Two states that change places: (A, B) <- (B + x, A); y = A before.
TEST(Semantics, StatesMayChangePlaces) {
  TestModel model(R"(
    func.func @entry(%x: tensor<?x?x1x1xf64> {scan.name = "x"})
        -> (tensor<?x?x1x1xf64> {scan.name = "o"}, tensor<?x1x1x1xf64> {scan.name = "a"},
            tensor<?x1x1x1xf64> {scan.name = "b"}) {
      %o, %a, %b = scan.recurrence ins(%x as "bthv" : tensor<?x?x1x1xf64>)
          outs("bthv") finals("nhkv", "nhkv") {
      ^bb0(%A: tensor<1x1xf64>, %B: tensor<1x1xf64>, %xt: tensor<1xf64>):
        %one = arith.constant dense<1.0> : tensor<1xf64>
        %1 = scan.inject %B key %one value %xt : tensor<1x1xf64>, tensor<1xf64>, tensor<1xf64>
        %y = scan.read %A query %one : tensor<1x1xf64>, tensor<1xf64> -> tensor<1xf64>
        scan.yield %1, %A, %y : tensor<1x1xf64>, tensor<1x1xf64>, tensor<1xf64>
      } -> (tensor<?x?x1x1xf64>), (tensor<?x1x1x1xf64>, tensor<?x1x1x1xf64>)
      return %o, %a, %b : tensor<?x?x1x1xf64>, tensor<?x1x1x1xf64>, tensor<?x1x1x1xf64>
    })");
  Arrays in;
  in["x"] = Array({1, 5, 1, 1}, {1, 2, 4, 8, 16});
  // (1,0) (2,1) (5,2) (10,5) (21,10)
  Arrays out = model.run(in);
  expectValues(out["o"], {0, 1, 2, 5, 10});
  expectValues(out["a"], {21});
  expectValues(out["b"], {10});
}

/// A read before the update and one after it see different states.
TEST(Semantics, ReadsSeeTheStateTheyName) {
  TestModel model(makeEntry(1, 1, "k:bthk x:bthv", R"(
    %before = scan.read %S query %k_t {scale = 2.0 : f64} : tensor<1x1xf64>, tensor<1xf64> -> tensor<1xf64>
    %1 = scan.inject %S key %k_t value %x_t : tensor<1x1xf64>, tensor<1xf64>, tensor<1xf64>
    %late = scan.read %S query %k_t : tensor<1x1xf64>, tensor<1xf64> -> tensor<1xf64>
    %y = arith.addf %before, %late : tensor<1xf64>
    scan.yield %1, %y : tensor<1x1xf64>, tensor<1xf64>)"));
  Arrays in;
  in["k"] = ones({1, 3, 1, 1});
  in["x"] = Array({1, 3, 1, 1}, {1, 2, 3});
  expectValues(model.run(in)["o"], {0, 3, 9});
}

TEST(Semantics, ResultDoesNotDependOnThreads) {
  TestModel model(makeEntry(1, 1, "k:k x:bthv a:b", kAffineStep));
  Arrays in;
  in["k"] = ones({1});
  in["x"] = Array({64, 50, 1, 1});
  in["a"] = Array({64});
  for (size_t i = 0; i < in["x"].data.size(); ++i)
    in["x"].data[i] = std::sin(double(i));
  for (size_t i = 0; i < 64; ++i)
    in["a"].data[i] = 0.5 + i / 200.0;
  std::vector<double> first = model.run(in)["o"].data;
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(model.run(in)["o"].data, first);
}

//===----------------------------------------------------------------------===//
// What a call may get wrong
//===----------------------------------------------------------------------===//

static Arrays goodCall() {
  Arrays in;
  in["k"] = ones({1});
  in["x"] = ones({1, 3, 1, 1});
  in["a"] = ones({1, 3, 1});
  return in;
}

static std::string errorOf(const Arrays &in) {
  return TestModel(makeEntry(1, 1, "k:k x:bthv a:bth", kAffineStep)).error(in);
}

TEST(Errors, MissingInput) {
  Arrays in = goodCall();
  in.erase("a");
  EXPECT_EQ(errorOf(in), "argument 'a' is missing\n");
}

TEST(Errors, UnknownNameHasTheNearest) {
  Arrays in = goodCall();
  in["ofsets"] = Array({2}, {0, 3});
  EXPECT_EQ(errorOf(in), "has no argument 'ofsets'; did you mean 'offsets'?\n");
}

TEST(Errors, Shape) {
  Arrays in = goodCall();
  in["x"] = ones({1, 3, 2, 1});
  EXPECT_EQ(errorOf(in), "argument 'x' expects shape ?x?x1x1, found 1x3x2x1\n");
  in["x"] = ones({1, 3, 1});
  EXPECT_EQ(errorOf(in), "argument 'x' expects shape ?x?x1x1, found 1x3x1\n");
  in["x"] = ones({1, 3, 1, 1});
  in["x"].data.pop_back();
  EXPECT_EQ(errorOf(in), "argument 'x' of shape 1x3x1x1 holds 2 elements\n");
}

TEST(Errors, ExtentsDisagree) {
  Arrays in = goodCall();
  in["a"] = ones({1, 4, 1});
  EXPECT_EQ(errorOf(in), "input 2 has extent 4 on axis 't', expected 3\n");
  in = goodCall();
  in["initial_state"] = ones({2, 1, 1, 1});
  EXPECT_EQ(errorOf(in), "without offsets every batch row is a sequence, found "
                         "1 rows and 2 states\n");
}

TEST(Errors, Offsets) {
  Arrays in = goodCall();
  const std::string want =
      "offsets must rise from 0 to the number of steps, 3\n";
  for (std::vector<double> offsets :
       {std::vector<double>{}, {0, 2}, {1, 3}, {0, 2, 1, 3}}) {
    in["offsets"] = Array({int64_t(offsets.size())}, offsets);
    EXPECT_EQ(errorOf(in), want);
  }
  in["offsets"] = Array({2}, {0, 3});
  in["initial_state"] = ones({2, 1, 1, 1});
  EXPECT_EQ(errorOf(in), "offsets tell 1 sequences, the states have 2\n");
  in.erase("initial_state");
  in["x"] = ones({2, 3, 1, 1});
  in["a"] = ones({2, 3, 1});
  EXPECT_EQ(errorOf(in), "packed sequences need a batch of 1, found 2\n");
}

TEST(Errors, UnsupportedOpIsNamed) {
  TestModel model(makeEntry(1, 1, "k:bthk x:bthv", R"(
    %i = arith.constant 1 : i64
    %j = arith.shli %i, %i : i64
    %y = scan.read %S query %k_t : tensor<1x1xf64>, tensor<1xf64> -> tensor<1xf64>
    scan.yield %S, %y : tensor<1x1xf64>, tensor<1xf64>)"));
  Arrays in;
  in["k"] = ones({1, 1, 1, 1});
  in["x"] = ones({1, 1, 1, 1});
  EXPECT_EQ(model.error(in),
            "the interpreter has no evaluation of 'arith.shli'\n");
}
