//===- StepTest.cpp - Every op that a step may hold -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TestModel.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <cmath>

using namespace prism::interpreter;

/// y = f(x) for one token of `values` values; S stays.
static Array elementwise(llvm::StringRef ops, std::vector<double> x) {
  int64_t V = x.size();
  std::string body = llvm::formatv(
      R"(%zero = arith.constant dense<0.0> : tensor<{0}xf64>
    {1}
    scan.yield %S, %y : tensor<1x{0}xf64>, tensor<{0}xf64>)",
      V, ops);
  Arrays in;
  in["x"] = Array({1, 1, 1, V}, x);
  return TestModel(makeEntry(1, V, "x:bthv", body)).run(in)["o"];
}

TEST(Step, Math) {
  // Values at x = -0.7 from tables.
  for (auto [name, want] : {std::pair("exp", .4965853038),
                            {"tanh", -.6043677771},
                            {"erf", -.6778011938},
                            {"absf", .7},
                            {"expm1", -.5034146962},
                            {"log1p", -1.2039728043},
                            {"exp2", .6155722067},
                            {"sin", -.6442176872},
                            {"cos", .7648421873}})
    expectValues(
        elementwise(
            llvm::formatv("%y = math.{0} %x_t : tensor<1xf64>", name).str(),
            {-0.7}),
        {want}, 2e-10);
  expectValues(elementwise("%y = math.rsqrt %x_t : tensor<2xf64>", {4, 0.25}),
               {0.5, 2});
  expectValues(elementwise("%y = math.sqrt %x_t : tensor<2xf64>", {4, 0.25}),
               {2, 0.5});
  expectValues(elementwise("%y = math.powf %x_t, %x_t : tensor<2xf64>", {2, 3}),
               {4, 27});
  expectValues(
      elementwise("%y = math.fma %x_t, %x_t, %x_t : tensor<1xf64>", {3}), {12});
}

TEST(Step, Arith) {
  expectValues(elementwise(R"(%a = arith.mulf %x_t, %x_t : tensor<2xf64>
                              %b = arith.subf %a, %x_t : tensor<2xf64>
                              %c = arith.divf %b, %x_t : tensor<2xf64>
                              %y = arith.negf %c : tensor<2xf64>)",
                           {3, 5}),
               {-2, -4});
  expectValues(elementwise("%y = arith.maximumf %x_t, %zero : tensor<3xf64>",
                           {-1, 0, 2}),
               {0, 0, 2});
  expectValues(elementwise("%y = arith.minimumf %x_t, %zero : tensor<3xf64>",
                           {-1, 0, 2}),
               {-1, 0, 0});
  EXPECT_TRUE(
      std::isnan(elementwise("%y = arith.maximumf %x_t, %zero : tensor<1xf64>",
                             {std::nan("")})
                     .data[0]));
  expectValues(elementwise("%y = arith.maxnumf %x_t, %zero : tensor<1xf64>",
                           {std::nan("")}),
               {0});
  expectValues(elementwise(R"(%c = arith.cmpf olt, %x_t, %zero : tensor<3xf64>
                              %n = arith.negf %x_t : tensor<3xf64>
                              %y = arith.select %c, %n, %x_t : tensor<3xi1>, tensor<3xf64>)",
                           {-1, 0, 2}),
               {1, 0, 2});
}

TEST(Step, BooleansAsNumbers) {
  // The signed bit counts -1, the unsigned one 1.
  expectValues(elementwise(R"(%c = arith.cmpf ogt, %x_t, %zero : tensor<2xf64>
                              %y = arith.sitofp %c : tensor<2xi1> to tensor<2xf64>)",
                           {-1, 1}),
               {0, -1});
  expectValues(elementwise(R"(%c = arith.cmpf ogt, %x_t, %zero : tensor<2xf64>
                              %d = arith.cmpf oeq, %x_t, %x_t : tensor<2xf64>
                              %e = arith.andi %c, %d : tensor<2xi1>
                              %y = arith.uitofp %e : tensor<2xi1> to tensor<2xf64>)",
                           {-1, 1}),
               {0, 1});
}

TEST(Step, NarrowTypesDoNotRound) {
  expectValues(
      elementwise(R"(%h = arith.truncf %x_t : tensor<1xf64> to tensor<1xbf16>
                              %y = arith.extf %h : tensor<1xbf16> to tensor<1xf64>)",
                  {1.0 + 1e-12}),
      {1.0 + 1e-12});
}

TEST(Step, TensorOps) {
  expectValues(elementwise(R"(%i = arith.constant 2 : index
                              %a = tensor.extract %x_t[%i] : tensor<3xf64>
                              %s = tensor.splat %a : tensor<3xf64>
                              %y = arith.addf %x_t, %s : tensor<3xf64>)",
                           {1, 2, 4}),
               {5, 6, 8});
  expectValues(
      elementwise(
          R"(%t = tensor.extract_slice %x_t[1] [2] [1] : tensor<3xf64> to tensor<2xf64>
                              %h = tensor.extract_slice %x_t[0] [1] [1] : tensor<3xf64> to tensor<1xf64>
                              %y = tensor.concat dim(0) %t, %h : (tensor<2xf64>, tensor<1xf64>) -> tensor<3xf64>)",
          {1, 2, 4}),
      {2, 4, 1});
  expectValues(elementwise(R"(%i = arith.constant 0 : index
                              %a = tensor.extract %x_t[%i] : tensor<2xf64>
                              %b = math.exp %a : f64
                              %y = tensor.from_elements %b, %a : tensor<2xf64>)",
                           {0, 4}),
               {1, 0});
  expectValues(
      elementwise(
          R"(%m = tensor.expand_shape %x_t [[0, 1]] output_shape [2, 2] : tensor<4xf64> into tensor<2x2xf64>
                              %r = tensor.extract_slice %m[0, 1] [2, 1] [1, 1] : tensor<2x2xf64> to tensor<2xf64>
                              %y = tensor.concat dim(0) %r, %r : (tensor<2xf64>, tensor<2xf64>) -> tensor<4xf64>)",
          {1, 2, 3, 4}),
      {2, 4, 2, 4});
}

/// y = delta_2 of a refinement of two steps: r = v - u = 3.
static double refineOf(llvm::StringRef activation) {
  std::string body = llvm::formatv(
      R"(%d = scan.refine anchor %u_t value %v_t gain %p_t activation {0} : tensor<1xf64>, tensor<1xf64>, tensor<2x1xf64> -> tensor<2x1xf64>
    %y = tensor.extract_slice %d[1, 0] [1, 1] [1, 1] : tensor<2x1xf64> to tensor<1xf64>
    scan.yield %S, %y : tensor<1x1xf64>, tensor<1xf64>)",
      activation);
  std::string text = makeEntry(1, 1, "u:bthv v:bthv p:bthlv", body);
  // makeEntry has no letter for ranks: two steps.
  auto replaceAll = [&](const std::string &from, const std::string &to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
         at += to.size())
      text.replace(at, from.size(), to);
  };
  replaceAll("tensor<?x?x1x?x1xf64>", "tensor<?x?x1x2x1xf64>");
  replaceAll("tensor<?x1xf64>", "tensor<2x1xf64>");
  Arrays in;
  in["u"] = Array({1, 1, 1, 1}, {1});
  in["v"] = Array({1, 1, 1, 1}, {4});
  in["p"] = Array({1, 1, 1, 2, 1}, {0.5, -1});
  return TestModel(text).run(in)["o"].data[0];
}

TEST(Step, Refine) {
  // delta_1 = 1.5, r = 1.5, delta_2 = -1.5.
  EXPECT_EQ(refineOf("identity"), -1.5);
  EXPECT_EQ(refineOf("relu"), 0.0);
  auto twoSteps = [](auto f) { return f(-(3.0 - f(1.5))); };
  EXPECT_NEAR(refineOf("tanh"), twoSteps([](double x) { return std::tanh(x); }),
              1e-14);
  EXPECT_NEAR(refineOf("silu"),
              twoSteps([](double x) { return x / (1 + std::exp(-x)); }), 1e-14);
  EXPECT_NEAR(refineOf("gelu"), twoSteps([](double x) {
                return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
              }),
              1e-14);
}

/// One step on S = [[1, 2], [3, 4]] with a = (1, 2), b = (3, 5).
static std::vector<double> factorStep(llvm::StringRef ops) {
  std::string body = llvm::formatv(
      R"(%m = arith.constant dense<[[1.0, 2.0], [3.0, 5.0]]> : tensor<2x2xf64>
    %half = arith.constant 0.5 : f64
    %log2 = arith.constant 0.69314718055994530942 : f64
    %logs = tensor.from_elements %zero, %log2 : tensor<2xf64>
    %w = arith.constant dense<[1.0, 10.0]> : tensor<2xf64>
    {0}
    %y = scan.read %T query %a_t : tensor<2x2xf64>, tensor<2xf64> -> tensor<2xf64>
    scan.yield %T, %y : tensor<2x2xf64>, tensor<2xf64>)",
      ops);
  Arrays in;
  in["a"] = Array({1, 1, 1, 2}, {1, 2});
  in["b"] = Array({1, 1, 1, 2}, {3, 5});
  in["initial_state"] = Array({1, 1, 2, 2}, {1, 2, 3, 4});
  return TestModel(makeEntry(2, 2, "a:bthk b:bthk",
                             "%zero = arith.constant 0.0 : f64\n" + body))
      .run(in)["final_state"]
      .data;
}

static void expectStep(llvm::StringRef ops, llvm::ArrayRef<double> want) {
  std::vector<double> found = factorStep(ops);
  expectValues(Array({int64_t(found.size())}, found), want, 1e-12);
}

TEST(Step, Decay) {
  expectStep("%T = scan.decay %S by %log2 along scalar : tensor<2x2xf64>, f64",
             {2, 4, 6, 8});
  expectStep("%T = scan.decay %S by %logs along key : tensor<2x2xf64>, "
             "tensor<2xf64>",
             {1, 2, 6, 8});
  expectStep("%T = scan.decay %S by %logs along value : tensor<2x2xf64>, "
             "tensor<2xf64>",
             {1, 4, 3, 8});
  expectStep("%e = math.log %m : tensor<2x2xf64>\n"
             "%T = scan.decay %S by %e along element : tensor<2x2xf64>, "
             "tensor<2x2xf64>",
             {1, 4, 9, 20});
}

TEST(Step, DecayByMinusInfinityDropsInfinity) {
  expectStep(R"(%big = arith.constant dense<1.0e308> : tensor<2xf64>
    %hit = scan.inject %S key %big value %big : tensor<2x2xf64>, tensor<2xf64>, tensor<2xf64>
    %drop = arith.constant 0xFFF0000000000000 : f64
    %T = scan.decay %hit by %drop along scalar : tensor<2x2xf64>, f64)",
             {0, 0, 0, 0});
}

TEST(Step, Erase) {
  // a^T S = (7, 10); S - 0.5 b (7, 10) = (1-10.5, 2-15, 3-17.5, 4-25).
  expectStep("%T = scan.erase %S read %a_t write %b_t strength %half : "
             "tensor<2x2xf64>, tensor<2xf64>, tensor<2xf64>, f64",
             {-9.5, -13, -14.5, -21});
  // The state before the decay is read: 2S - 0.5 b (7, 10).
  expectStep(
      "%d = scan.decay %S by %log2 along scalar : tensor<2x2xf64>, f64\n"
      "%T = scan.erase %d of %S read %a_t write %b_t strength %half : "
      "tensor<2x2xf64> of tensor<2x2xf64>, tensor<2xf64>, tensor<2xf64>, f64",
      {-8.5, -11, -11.5, -17});
  // Ranks read simultaneously: rows of m are (1,2) and (3,5);
  // m_0^T S = (7, 10), m_1^T S = (18, 26); S - m_0 (7,10) - 10 m_1 (18,26).
  expectStep("%T = scan.erase %S read %m write %m strength %w : "
             "tensor<2x2xf64>, tensor<2x2xf64>, tensor<2x2xf64>, tensor<2xf64>",
             {1 - 7 - 540, 2 - 10 - 780, 3 - 14 - 900, 4 - 20 - 1300});
}

TEST(Step, Inject) {
  expectStep("%T = scan.inject %S key %a_t value %b_t : tensor<2x2xf64>, "
             "tensor<2xf64>, tensor<2xf64>",
             {4, 7, 9, 14});
  // 1 * m_0 m_0^T + 10 * m_1 m_1^T.
  expectStep("%T = scan.inject %S key %m value %m scale %w : tensor<2x2xf64>, "
             "tensor<2x2xf64>, tensor<2x2xf64>, tensor<2xf64>",
             {1 + 1 + 90, 2 + 2 + 150, 3 + 2 + 150, 4 + 4 + 250});
}

TEST(Step, PlainOpsMayMakeAState) {
  expectStep("%T = arith.mulf %S, %m : tensor<2x2xf64>", {1, 4, 9, 20});
  // A constant taken as a state is not written over.
  expectStep("%p = scan.inject %m key %a_t value %b_t : tensor<2x2xf64>, "
             "tensor<2xf64>, tensor<2xf64>\n"
             "%q = scan.inject %m key %a_t value %b_t : tensor<2x2xf64>, "
             "tensor<2xf64>, tensor<2xf64>\n"
             "%T = arith.subf %p, %q : tensor<2x2xf64>",
             {0, 0, 0, 0});
}

// The oracle must stay usable: 1000 steps at K = V = 256.
TEST(Step, LongRunIsFast) {
  const int64_t steps = 1000, size = 256;
  TestModel model(makeEntry(size, size, "q:bthk k:bthk v:bthv g:bth b:bth", R"(
    %1 = scan.decay %S by %g_t along scalar : tensor<256x256xf64>, f64
    %2 = scan.erase %1 read %k_t write %k_t strength %b_t : tensor<256x256xf64>, tensor<256xf64>, tensor<256xf64>, f64
    %3 = scan.inject %2 key %k_t value %v_t scale %b_t : tensor<256x256xf64>, tensor<256xf64>, tensor<256xf64>, f64
    %y = scan.read %3 query %q_t : tensor<256x256xf64>, tensor<256xf64> -> tensor<256xf64>
    scan.yield %3, %y : tensor<256x256xf64>, tensor<256xf64>)"));
  Arrays in;
  for (const char *name : {"q", "k", "v"})
    in[name] = Array({1, steps, 1, size});
  for (size_t i = 0; i < in["k"].data.size(); ++i) {
    in["q"].data[i] = in["v"].data[i] = std::cos(double(i));
    in["k"].data[i] = std::sin(double(i)) / 12;
  }
  in["g"] = Array({1, steps, 1});
  in["b"] = Array({1, steps, 1});
  for (int64_t t = 0; t < steps; ++t)
    in["b"].data[t] = 0.5;
  auto begin = std::chrono::steady_clock::now();
  Arrays out = model.run(in);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  EXPECT_TRUE(std::isfinite(out["o"].data.back()));
  RecordProperty("milliseconds", int(seconds.count() * 1e3));
  EXPECT_LT(seconds.count(), 30.0) << "two orders above what it takes";
}
