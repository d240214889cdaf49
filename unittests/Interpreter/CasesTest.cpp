//===- CasesTest.cpp - Published trouble spots with known values ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each test is one small recurrence whose right values are known from outside:
// worked by hand or in closed form.
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <limits>

using namespace prism::interpreter;

static constexpr double kInf = std::numeric_limits<double>::infinity();

/// y_t = a_t y_{t-1} + x_t as a recurrence with K = V = 1.
static std::string affine() {
  return makeEntry(1, 1, "k:bthk x:bthv g:bth", R"(
    %1 = scan.decay %S by %g_t along scalar : tensor<1x1xf64>, f64
    %2 = scan.inject %1 key %k_t value %x_t : tensor<1x1xf64>, tensor<1xf64>, tensor<1xf64>
    %y = scan.read %2 query %k_t : tensor<1x1xf64>, tensor<1xf64> -> tensor<1xf64>
    scan.yield %2, %y : tensor<1x1xf64>, tensor<1xf64>)");
}

/// Decay by a scalar, then the delta rule, then the read.
static std::string gatedDelta(int64_t K, int64_t V, bool withGate = true) {
  std::string decay = llvm::formatv(
      "%1 = scan.decay %S by %g_t along scalar : tensor<{0}x{1}xf64>, f64", K,
      V);
  std::string body = llvm::formatv(
      R"({2}
    %2 = scan.erase %{3} read %k_t write %k_t strength %b_t : tensor<{0}x{1}xf64>, tensor<{0}xf64>, tensor<{0}xf64>, f64
    %3 = scan.inject %2 key %k_t value %v_t scale %b_t : tensor<{0}x{1}xf64>, tensor<{0}xf64>, tensor<{1}xf64>, f64
    %y = scan.read %3 query %q_t : tensor<{0}x{1}xf64>, tensor<{0}xf64> -> tensor<{1}xf64>
    scan.yield %3, %y : tensor<{0}x{1}xf64>, tensor<{1}xf64>)",
      K, V, withGate ? decay : "", withGate ? "1" : "S");
  return makeEntry(K, V,
                   withGate ? "q:bthk k:bthk v:bthv g:bth b:bth"
                            : "q:bthk k:bthk v:bthv b:bth",
                   body);
}

static Array filled(llvm::ArrayRef<int64_t> shape, double value) {
  Array array(shape);
  for (double &x : array.data)
    x = value;
  return array;
}

static Array affineInput(std::vector<double> x) {
  int64_t steps = x.size();
  return Array({1, steps, 1, 1}, std::move(x));
}

/// Inputs of affine() with one gate for all steps.
static Arrays affineInputs(std::vector<double> x, double gate) {
  int64_t steps = x.size();
  Arrays in;
  in["k"] = filled({1, steps, 1, 1}, 1.0);
  in["g"] = filled({1, steps, 1}, gate);
  in["x"] = affineInput(std::move(x));
  return in;
}

/// k_t = (cos 0.3t, sin 0.3t), q = (1, 0), v_t = (t mod 5) - 2.
static Arrays turningKeys(int64_t first, int64_t steps, double gate,
                          double strength) {
  Arrays in;
  in["q"] = Array({1, steps, 1, 2});
  in["k"] = Array({1, steps, 1, 2});
  in["v"] = Array({1, steps, 1, 1});
  in["g"] = filled({1, steps, 1}, gate);
  in["b"] = filled({1, steps, 1}, strength);
  for (int64_t i = 0; i < steps; ++i) {
    double t = first + i;
    in["q"].data[2 * i] = 1.0;
    in["k"].data[2 * i] = std::cos(0.3 * t);
    in["k"].data[2 * i + 1] = std::sin(0.3 * t);
    in["v"].data[i] = double((first + i) % 5) - 2.0;
  }
  return in;
}

// A04: a log-gate of 0 keeps all, of minus infinity drops all, both exactly.
TEST(Cases, A04ZeroGateIsNoGate) {
  Arrays in = turningKeys(0, 80, 0.0, 0.5);
  Arrays gated = TestModel(gatedDelta(2, 1)).run(in);
  in.erase("g");
  Arrays plain = TestModel(gatedDelta(2, 1, /*withGate=*/false)).run(in);
  expectValues(gated["o"], plain["o"].data);
  const std::vector<double> &o = gated["o"].data;
  for (auto [t, want] : {std::pair(0, -1.0),
                         {1, -1.021334341},
                         {63, 0.326134269},
                         {64, 1.086308872},
                         {79, 0.256041041}})
    EXPECT_NEAR(o[t], want, 1e-9) << t;
}

TEST(Cases, A04InfiniteGateStartsAnew) {
  for (double drop : {-kInf, -1e38}) {
    Arrays in = affineInputs({1, 2, 3, 4, 5, 6, 7, 8}, 0.0);
    in["g"] = Array({1, 8, 1}, {drop, -.1, -.1, -.1, drop, -.1, -.1, -.1});
    Arrays out = TestModel(affine()).run(in);
    expectValues(out["o"],
                 {1, 2.904837418, 5.628405589, 9.092791981, 5, 10.52418709,
                  16.52267827, 22.95033755},
                 1e-8);
  }
}

// A07: every length is the prefix of a longer one.
TEST(Cases, A07Lengths) {
  TestModel model(gatedDelta(2, 1));
  std::vector<double> longest =
      model.run(turningKeys(0, 129, std::log(0.9), 0.5))["o"].data;
  for (auto [steps, want] : {std::pair(1, -1.0),
                             {2, -0.966967731208},
                             {63, -0.293806210894},
                             {64, 0.362462808153},
                             {65, 1.091880133714},
                             {127, -0.728796061294},
                             {128, -0.350112648230},
                             {129, 0.164620662854}}) {
    Arrays out = model.run(turningKeys(0, steps, std::log(0.9), 0.5));
    EXPECT_NEAR(out["o"].data.back(), want, 1e-11) << steps;
    longest.resize(std::max<size_t>(longest.size(), steps));
    EXPECT_TRUE(std::equal(out["o"].data.begin(), out["o"].data.end(),
                           longest.begin()));
    if (steps == 65)
      expectValues(out["final_state"], {1.091880133714, 0.463924069913}, 1e-11);
    if (steps == 129)
      expectValues(out["final_state"], {0.164620662854, 0.382229522938}, 1e-11);
  }
}

// A08: an empty sequence returns its own initial state.
TEST(Cases, A08EmptySequences) {
  TestModel model(affine());
  Arrays in = affineInputs({1, 2, 3, 4, 5}, std::log(0.5));
  in["offsets"] = Array({5}, {0, 0, 3, 3, 5});
  in["initial_state"] = Array({4, 1, 1, 1}, {10, 20, 30, 40});
  Arrays out = model.run(in);
  expectValues(out["o"], {11, 7.5, 6.75, 24, 17});
  expectValues(out["final_state"], {10, 6.75, 30, 17});

  in.erase("initial_state");
  expectValues(model.run(in)["final_state"], {0, 4.25, 0, 7});
}

TEST(Cases, A08NoSteps) {
  TestModel model(affine());
  Arrays in = affineInputs({}, 0.0);
  in["initial_state"] = Array({1, 1, 1, 1}, {10});
  Arrays out = model.run(in);
  expectValues(out["o"], {});
  expectValues(out["final_state"], {10});

  in["offsets"] = Array({3}, {0, 0, 0});
  in["initial_state"] = Array({2, 1, 1, 1}, {10, 20});
  expectValues(model.run(in)["final_state"], {10, 20});
}

// A12: extents that are no powers of two, tiny or large, with K != V.
TEST(Cases, A12Extents) {
  struct Case {
    int64_t K, V;
    double first, sum, norm;
  };
  for (Case c :
       {Case{1, 1, 0.023445810449, 0.023445810449, 0.331449504589},
        {3, 5, -0.000572845287, 0.152552128406, 1.375427269025},
        {100, 7, -0.022986063899, -0.260847145011, 1.808577451859},
        {320, 300, 0.000029244525, -0.025675517162, 12.334427566220}}) {
    Arrays in;
    in["q"] = Array({1, 5, 1, c.K});
    in["k"] = Array({1, 5, 1, c.K});
    in["v"] = Array({1, 5, 1, c.V});
    in["g"] = filled({1, 5, 1}, std::log(0.95));
    in["b"] = filled({1, 5, 1}, 0.7);
    double root = std::sqrt(double(c.K));
    for (int64_t t = 0; t < 5; ++t) {
      for (int64_t i = 0; i < c.K; ++i) {
        in["k"].data[t * c.K + i] = std::sin(.7 * (t + 1) * (i + 1)) / root;
        in["q"].data[t * c.K + i] = std::cos(.3 * (t + 1) * (i + 1)) / root;
      }
      for (int64_t j = 0; j < c.V; ++j)
        in["v"].data[t * c.V + j] = std::sin(.11 * (t + 1) * (j + 2));
    }
    Arrays out = TestModel(gatedDelta(c.K, c.V)).run(in);
    llvm::ArrayRef<double> last = llvm::ArrayRef(out["o"].data).take_back(c.V);
    double sum = 0.0, square = 0.0;
    for (double x : last)
      sum += x;
    for (double x : out["final_state"].data)
      square += x * x;
    EXPECT_NEAR(last[0], c.first, 1e-11) << c.K;
    EXPECT_NEAR(sum, c.sum, 1e-11) << c.K;
    EXPECT_NEAR(std::sqrt(square), c.norm, 1e-11) << c.K;
  }
}

// A13: value head h uses key head floor(h * Hk / Hv).
TEST(Cases, A13HeadGroups) {
  TestModel model(R"(
    func.func @entry(%q: tensor<?x?x2x1xf64> {scan.name = "q"}, %k: tensor<?x?x2x1xf64> {scan.name = "k"},
                     %v: tensor<?x?x4x1xf64> {scan.name = "v"})
        -> (tensor<?x?x4x1xf64> {scan.name = "o"}) {
      %o, %f = scan.recurrence ins(%q as "bthk", %k as "bthk", %v as "bthv"
          : tensor<?x?x2x1xf64>, tensor<?x?x2x1xf64>, tensor<?x?x4x1xf64>) outs("bthv") finals("nhkv") {
      ^bb0(%S: tensor<1x1xf64>, %qt: tensor<1xf64>, %kt: tensor<1xf64>, %vt: tensor<1xf64>):
        %1 = scan.inject %S key %kt value %vt : tensor<1x1xf64>, tensor<1xf64>, tensor<1xf64>
        %y = scan.read %1 query %qt : tensor<1x1xf64>, tensor<1xf64> -> tensor<1xf64>
        scan.yield %1, %y : tensor<1x1xf64>, tensor<1xf64>
      } -> (tensor<?x?x4x1xf64>), (tensor<?x4x1x1xf64>)
      return %o : tensor<?x?x4x1xf64>
    })");
  Arrays in;
  in["q"] = filled({1, 2, 2, 1}, 1.0);
  in["k"] = Array({1, 2, 2, 1}, {1, 10, 2, 20});
  in["v"] = Array({1, 2, 4, 1}, {1, 2, 3, 4, 5, 6, 7, 8});
  expectValues(model.run(in)["o"], {1, 2, 30, 40, 11, 14, 170, 200});
}

// A16: the state carries a run over every split of it.
TEST(Cases, A16Splits) {
  const std::vector<double> want = {
      -1.0,         -0.9669677312, -0.5695216287, -0.1437350041, 0.1452575448,
      0.0191446096, 0.0880774949,  -0.0653806213, -0.4945095422, -1.1557842226};
  TestModel model(gatedDelta(2, 1));
  std::vector<double> whole =
      model.run(turningKeys(0, 10, std::log(0.9), 0.5))["o"].data;
  for (std::vector<int64_t> split : {std::vector<int64_t>{10},
                                     {1, 9},
                                     {7, 3},
                                     {9, 1},
                                     {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                                     {3, 3, 4}}) {
    Array state({1, 1, 2, 1});
    std::vector<double> o;
    for (int64_t steps : split) {
      Arrays in = turningKeys(o.size(), steps, std::log(0.9), 0.5);
      in["initial_state"] = state;
      Arrays out = model.run(in);
      state = out["final_state"];
      o.insert(o.end(), out["o"].data.begin(), out["o"].data.end());
    }
    EXPECT_EQ(o, whole);
    expectValues(Array({10}, o), want, 1e-9);
    expectValues(state, {-1.1557842226, 0.3953145735}, 1e-9);
  }
}

// A25: outside the contracting range the state grows, and that is the answer.
TEST(Cases, A25Growth) {
  auto run = [](double key, double strength, int64_t steps) {
    Arrays in;
    in["q"] = filled({1, steps, 1, 1}, 1.0);
    in["k"] = filled({1, steps, 1, 1}, key);
    in["v"] = filled({1, steps, 1, 1}, 1.0);
    in["g"] = filled({1, steps, 1}, 0.0);
    in["b"] = filled({1, steps, 1}, strength);
    return TestModel(gatedDelta(1, 1)).run(in)["o"];
  };
  expectValues(run(2, 1, 14), {2, -4, 14, -40, 122, -364, 1094, -3280, 9842,
                               -29524, 88574, -265720, 797162, -2391484});
  expectValues(run(1, 2, 6), {2, 0, 2, 0, 2, 0});
}

// A26: decay first, then error; the read comes after the update.
TEST(Cases, A26Order) {
  for (auto [strength, want] : {std::pair(0.25, 1.75), {1.0, 1.0}}) {
    Arrays in;
    for (const char *name : {"q", "k", "v"})
      in[name] = filled({1, 1, 1, 1}, 1.0);
    in["g"] = filled({1, 1, 1}, std::log(0.5));
    in["b"] = filled({1, 1, 1}, strength);
    in["initial_state"] = filled({1, 1, 1, 1}, 4.0);
    Arrays out = TestModel(gatedDelta(1, 1)).run(in);
    expectValues(out["o"], {want});
    expectValues(out["final_state"], {want});
  }
}

// A28: a masked input and an all-zero normalised key are inert.
TEST(Cases, A28Padding) {
  TestModel model(makeEntry(1, 1, "k:bthk x:bthv g:bth m:bth", R"(
    %zero = arith.constant 0.0 : f64
    %one = arith.cmpf one, %m_t, %zero : f64
    %mm = tensor.splat %m_t : tensor<1xf64>
    %mx = arith.mulf %mm, %x_t : tensor<1xf64>
    %gm = arith.select %one, %g_t, %zero : f64
    %1 = scan.decay %S by %gm along scalar : tensor<1x1xf64>, f64
    %2 = scan.inject %1 key %k_t value %mx : tensor<1x1xf64>, tensor<1xf64>, tensor<1xf64>
    %y = scan.read %2 query %k_t : tensor<1x1xf64>, tensor<1xf64> -> tensor<1xf64>
    scan.yield %2, %y : tensor<1x1xf64>, tensor<1xf64>)"));
  Arrays in = affineInputs({9, 9, 1, 2, 3}, std::log(0.5));
  in["m"] = Array({1, 5, 1}, {0, 0, 1, 1, 1});
  Arrays out = model.run(in);
  expectValues(out["o"], {0, 0, 1, 2.5, 4.25});
  expectValues(out["final_state"], {4.25});
}

TEST(Cases, A28ZeroKey) {
  TestModel model(makeEntry(2, 1, "q:bthk k:bthk v:bthv g:bth b:bth", R"(
    %kn = scan.l2norm %k_t {epsilon = 1.0e-6} : tensor<2xf64> -> tensor<2xf64>
    %qn = scan.l2norm %q_t {epsilon = 1.0e-6} : tensor<2xf64> -> tensor<2xf64>
    %1 = scan.decay %S by %g_t along scalar : tensor<2x1xf64>, f64
    %2 = scan.erase %1 read %kn write %kn strength %b_t : tensor<2x1xf64>, tensor<2xf64>, tensor<2xf64>, f64
    %3 = scan.inject %2 key %kn value %v_t scale %b_t : tensor<2x1xf64>, tensor<2xf64>, tensor<1xf64>, f64
    %y = scan.read %3 query %qn : tensor<2x1xf64>, tensor<2xf64> -> tensor<1xf64>
    scan.yield %3, %y : tensor<2x1xf64>, tensor<1xf64>)"));
  Arrays in;
  in["q"] = Array({1, 1, 1, 2});
  in["k"] = Array({1, 1, 1, 2});
  in["v"] = filled({1, 1, 1, 1}, 7.0);
  in["g"] = filled({1, 1, 1}, std::log(0.5));
  in["b"] = filled({1, 1, 1}, 0.5);
  in["initial_state"] = Array({1, 1, 2, 1}, {4, -6});
  Arrays out = model.run(in);
  expectValues(out["o"], {0});
  expectValues(out["final_state"], {2, -3});

  // The norm of a key that is not zero: (3, 4) becomes (0.6, 0.8).
  in["k"].data = {3, 4};
  in["initial_state"].data = {0, 0};
  expectValues(model.run(in)["final_state"], {0.6 * 3.5, 0.8 * 3.5}, 1e-6);
}
