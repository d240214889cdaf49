//===- OpsTest.cpp - Each tile op, compiled, against its definition -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "OpsHarness.h"
#include <cmath>
#include <limits>

using namespace prism;
using namespace prism::test;

namespace {

/// The first column of a matrix as a vector of the program, through
/// sum_columns.
std::string vectorOf(const char *name, const char *matrix, int64_t rows) {
  std::string n = std::to_string(rows);
  return std::string("%") + name + " = tile.sum_columns %" + matrix +
         " : tensor<" + n + "x1xf32> -> tensor<" + n + "xf32>\n";
}

TEST_P(TileOps, DotsOfAllShapes) {
  for (auto [m, k, n] : std::vector<std::array<int64_t, 3>>{{1, 1, 1},
                                                            {3, 5, 7},
                                                            {16, 64, 64},
                                                            {17, 33, 50},
                                                            {5, 20, 130},
                                                            {1, 60, 100},
                                                            {64, 2, 48},
                                                            {33, 1, 20},
                                                            {2, 37, 3}})
    for (int transposes = 0; transposes < 4; ++transposes) {
      bool left = transposes & 1, right = transposes & 2;
      Matrix a = left ? random(k, m, 1) : random(m, k, 1),
             b = right ? random(n, k, 2) : random(k, n, 2), c = random(m, n, 3);
      auto type = [](const Matrix &x) {
        return "tensor<" + std::to_string(x.rows) + "x" +
               std::to_string(x.columns) + "xf32>";
      };
      Matrix got =
          run(std::string("%R = tile.dot %A ") + (left ? "transposed" : "") +
                  ", %B " + (right ? "transposed" : "") + ", %C : " + type(a) +
                  ", " + type(b) + " -> " + type(c),
              {a, b, c}, m, n);
      expectNear(
          got,
          [&, k = k](int64_t r, int64_t col) {
            double sum = c(r, col);
            for (int64_t i = 0; i < k; ++i)
              sum +=
                  (left ? a(i, r) : a(r, i)) * (right ? b(col, i) : b(i, col));
            return sum;
          },
          1e-5);
    }
}

TEST_P(TileOps, DotsOfUniformTiles) {
  Matrix a = random(5, 20, 1);
  std::string body = R"(
    %ones = arith.constant dense<1.0> : tensor<3x5xf32>
    %twos = arith.constant dense<2.0> : tensor<20x4xf32>
    %z = arith.constant dense<0.0> : tensor<3x20xf32>
    %y = arith.constant dense<0.5> : tensor<3x4xf32>
    %s = tile.dot %ones, %A, %z : tensor<3x5xf32>, tensor<5x20xf32> -> tensor<3x20xf32>
    %R = tile.dot %s, %twos, %y : tensor<3x20xf32>, tensor<20x4xf32> -> tensor<3x4xf32>)";
  double sum = 0;
  for (double x : a.data)
    sum += x;
  expectNear(
      run(body, {a}, 3, 4), [&](int64_t, int64_t) { return 2 * sum + 0.5; },
      1e-5);
}

TEST_P(TileOps, SolveReadsOnlyBelowTheDiagonal) {
  for (auto [n, v] : std::vector<std::array<int64_t, 2>>{
           {1, 3}, {5, 20}, {8, 16}, {16, 64}, {37, 50}, {64, 33}}) {
    Matrix a = random(n, n, 1), b = random(n, v, 2);
    for (int64_t r = 0; r < n; ++r)
      for (int64_t c = 0; c < n; ++c)
        a(r, c) = c < r ? 0.1 * a(r, c) : std::nan("");
    std::string square = std::to_string(n) + "x" + std::to_string(n),
                wide = std::to_string(n) + "x" + std::to_string(v);
    Matrix got = run("%R = tile.solve %A, %B : tensor<" + square +
                         "xf32>, tensor<" + wide + "xf32>",
                     {a, b}, n, v);
    Matrix x(n, v);
    for (int64_t r = 0; r < n; ++r)
      for (int64_t c = 0; c < v; ++c) {
        x(r, c) = b(r, c);
        for (int64_t j = 0; j < r; ++j)
          x(r, c) -= roundTo("f32", a(r, j)) * x(j, c);
      }
    expectNear(got, [&](int64_t r, int64_t c) { return x(r, c); }, 1e-5);
  }
}

TEST_P(TileOps, InvertReadsOnlyBelowTheDiagonal) {
  for (int64_t n : {1, 5, 16, 33, 64}) {
    Matrix a = random(n, n, 1), want(n, n);
    for (int64_t r = 0; r < n; ++r)
      for (int64_t c = 0; c < n; ++c)
        a(r, c) = c >= r ? std::nan("") : 0.3 * a(r, c);
    for (int64_t c = 0; c < n; ++c)
      for (int64_t r = 0; r < n; ++r) {
        want(r, c) = r == c;
        for (int64_t k = 0; k < r; ++k)
          want(r, c) -= a(r, k) * want(k, c);
      }
    std::string type = "tensor<" + std::to_string(n) + "x" + std::to_string(n);
    Matrix got = run("%R = tile.invert %A : " + type + "xf32>", {a}, n, n);
    expectNear(got, [&](int64_t r, int64_t c) { return want(r, c); }, 1e-4);
  }
}

TEST_P(TileOps, RoundedTiles) {
  Matrix a = random(6, 20, 1), b = random(12, 20, 2);
  for (std::string type : {"bf16", "f16"}) {
    Matrix got = run(
        "%a16 = arith.truncf %A : tensor<6x20xf32> to tensor<6x20x" + type +
            ">\n%ones = arith.constant dense<1.0> : tensor<6x20x" + type +
            ">\n%b16 = arith.truncf %B : tensor<12x20xf32> to tensor<12x20x" +
            type + ">\n%h = tile.interleave %a16, %ones : tensor<6x20x" + type +
            ">, tensor<6x20x" + type + "> -> tensor<12x20x" + type +
            ">\n%zero = arith.constant dense<0.0> : tensor<12x12xf32>\n"
            "%d = tile.dot %h, %b16 transposed, %zero : tensor<12x20x" +
            type + ">, tensor<12x20x" + type +
            "> -> tensor<12x12xf32>\n%R = arith.negf %d : tensor<12x12xf32>",
        {a, b}, 12, 12);
    expectNear(got, [&](int64_t r, int64_t c) {
      double sum = 0;
      for (int64_t k = 0; k < 20; ++k)
        sum -=
            (r % 2 ? 1.0 : roundTo(type, a(r / 2, k))) * roundTo(type, b(c, k));
      return sum;
    });
  }
}

/// Values beside the middle of two of the type are nearer to one of them than
/// an f32 can say: rounded to f32 first they would be ties.
TEST_P(TileOps, DoublesAreRoundedToSixteenBitsOnce) {
  for (auto [type, bits] : {std::pair<std::string, int>("bf16", 8),
                            std::pair<std::string, int>("f16", 11)}) {
    double last = std::ldexp(1.0, 1 - bits), little = std::ldexp(1.0, -40);
    std::vector<double> values = {std::nan(""), INFINITY, 1e300, -1e-300, 0.0};
    for (double tie : {1 + 0.5 * last, 1 + 1.5 * last, 64 + 32.5 * 64 * last})
      for (double sign : {1.0, -1.0})
        for (double off : {-1.0, 0.0, 1.0})
          values.push_back(sign * tie * (1 + off * little));
    Matrix a(2, values.size());
    for (int64_t r = 0; r < 2; ++r)
      std::copy(values.begin(), values.end(), &a(r, 0));
    std::string shape = "tensor<2x" + std::to_string(values.size()) + "x";
    Matrix got = run("%n = arith.truncf %A : " + shape + "f64> to " + shape +
                         type + ">\n%R = arith.extf %n : " + shape + type +
                         "> to " + shape + "f64>",
                     {a}, 2, a.columns, "f64");
    for (int64_t r = 0; r < 2; ++r)
      for (int64_t c = 0; c < a.columns; ++c) {
        double want = roundTo(type, a(r, c));
        EXPECT_TRUE(got(r, c) == want || std::isnan(want))
            << type << " " << a(r, c) << ": " << got(r, c) << ", not " << want;
        EXPECT_EQ(std::isnan(got(r, c)), std::isnan(want));
      }
  }
}

TEST_P(TileOps, ScalesAndBroadcasts) {
  Matrix a = random(7, 20, 1), b = random(7, 1, 2), c = random(20, 1, 3);
  std::string body = vectorOf("row", "B", 7) + vectorOf("col", "C", 20) + R"(
    %s = tile.scale_rows %A by %row : tensor<7x20xf32>, tensor<7xf32>
    %u = tile.scale_columns %s by %col : tensor<7x20xf32>, tensor<20xf32>
    %v = tile.broadcast %row : tensor<7xf32> -> tensor<7x20xf32>
    %w = tile.broadcast rows %col : tensor<20xf32> -> tensor<7x20xf32>
    %x = arith.addf %u, %v : tensor<7x20xf32>
    %R = arith.subf %x, %w : tensor<7x20xf32>)";
  expectNear(run(body, {a, b, c}, 7, 20), [&](int64_t r, int64_t k) {
    return a(r, k) * b(r, 0) * c(k, 0) + b(r, 0) - c(k, 0);
  });
}

TEST_P(TileOps, SumColumnsLeavesPadsOut) {
  for (int64_t columns : {1, 8, 15, 16, 17, 60}) {
    Matrix a = random(9, columns, 1);
    std::string type = "tensor<9x" + std::to_string(columns) + "xf32>";
    // exp makes the pads (zeros) ones.
    std::string body =
        "%e = math.exp %A : " + type + "\n%s = tile.sum_columns %e : " + type +
        " -> tensor<9xf32>\n" +
        "%R = tile.broadcast %s : tensor<9xf32> -> tensor<9x3xf32>";
    expectNear(run(body, {a}, 9, 3), [&](int64_t r, int64_t) {
      double sum = 0;
      for (int64_t c = 0; c < columns; ++c)
        sum += std::exp(a(r, c));
      return sum;
    });
  }
}

TEST_P(TileOps, Interleave) {
  Matrix a = random(5, 20, 1), b = random(5, 20, 2), c = random(5, 1, 3),
         d = random(5, 1, 4);
  std::string body = vectorOf("cs", "C", 5) + vectorOf("ds", "D", 5) + R"(
    %n = arith.negf %B : tensor<5x20xf32>
    %dn = arith.negf %ds : tensor<5xf32>
    %m = tile.interleave %A, %n : tensor<5x20xf32>, tensor<5x20xf32> -> tensor<10x20xf32>
    %s = tile.interleave %cs, %dn : tensor<5xf32>, tensor<5xf32> -> tensor<10xf32>
    %R = tile.scale_rows %m by %s : tensor<10x20xf32>, tensor<10xf32>)";
  expectNear(run(body, {a, b, c, d}, 10, 20), [&](int64_t r, int64_t k) {
    return r % 2 ? b(r / 2, k) * d(r / 2, 0) : a(r / 2, k) * c(r / 2, 0);
  });
}

TEST_P(TileOps, MaskRows) {
  steps = 5;
  Matrix a = random(8, 20, 1), b = random(8, 1, 2);
  std::string body = vectorOf("v", "B", 8) + R"(
    %m = tile.mask_rows %A from %c1 : tensor<8x20xf32>
    %w = tile.mask_rows %v from %c0 : tensor<8xf32>
    %s = tile.broadcast %w : tensor<8xf32> -> tensor<8x20xf32>
    %R = arith.addf %m, %s : tensor<8x20xf32>)";
  expectNear(run(body, {a, b}, 8, 20), [&](int64_t r, int64_t c) {
    return (r + 1 < 5 ? a(r, c) : 0) + (r < 5 ? b(r, 0) : 0);
  });
}

TEST_P(TileOps, DecayMatrixOfSeveralPlaces) {
  // Two readers and three writers a token, 12 tokens.
  Matrix a = random(24, 1, 1), b = random(36, 1, 2);
  std::string body = vectorOf("r1", "A", 24) + vectorOf("w1", "B", 36) + R"(
    %rs = arith.extf %r1 : tensor<24xf32> to tensor<24xf64>
    %w = arith.extf %w1 : tensor<36xf32> to tensor<36xf64>
    %R = tile.decay_matrix %rs at [2, 5], %w at [1, 4, 6] : tensor<24xf64>, tensor<36xf64> -> tensor<24x36xf32>)";
  const int64_t rowOrder[] = {2, 5}, columnOrder[] = {1, 4, 6};
  expectNear(run(body, {a, b}, 24, 36), [&](int64_t r, int64_t c) {
    bool seen = c / 3 < r / 2 ||
                (c / 3 == r / 2 && columnOrder[c % 3] < rowOrder[r % 2]);
    return seen ? std::exp(a(r, 0) - b(c, 0)) : 0;
  });
}

TEST_P(TileOps, MaskedDotsStopInTime) {
  // lhs * decay, then times values: the product must equal the whole one.
  for (int64_t n : {5, 16, 33, 64}) {
    Matrix a = random(n, n, 1), b = random(n, 20, 2), g = random(n, 1, 3);
    std::string s = std::to_string(n),
                square = "tensor<" + s + "x" + s + "xf32>",
                wide = "tensor<" + s + "x20xf32>";
    std::string body =
        vectorOf("g1", "C", n) + "%g = arith.extf %g1 : tensor<" + s +
        "xf32> to tensor<" + s +
        "xf64>\n%d = tile.decay_matrix %g at [3], %g at [2] : tensor<" + s +
        "xf64>, tensor<" + s + "xf64> -> " + square +
        "\n%p = arith.mulf %A, %d : " + square +
        "\n%z = arith.constant dense<0.0> : " + wide +
        "\n%R = tile.dot %p, %B, %z : " + square + ", " + wide + " -> " + wide;
    expectNear(
        run(body, {a, b, g}, n, 20),
        [&](int64_t r, int64_t c) {
          double sum = 0;
          for (int64_t j = 0; j <= r; ++j)
            sum += a(r, j) * std::exp(g(r, 0) - g(j, 0)) * b(j, c);
          return sum;
        },
        2e-5);
  }
}

TEST_P(TileOps, GateSumAndSplatLast) {
  Matrix a = random(21, 1, 1);
  std::string body = vectorOf("a1", "A", 21) + R"(
    %g = arith.extf %a1 : tensor<21xf32> to tensor<21xf64>
    %s = tile.gate_sum %g : tensor<21xf64>
    %l = tile.splat_last %s : tensor<21xf64> -> tensor<21xf64>
    %d = arith.subf %l, %s : tensor<21xf64>
    %t = arith.truncf %d : tensor<21xf64> to tensor<21xf32>
    %R = tile.broadcast %t : tensor<21xf32> -> tensor<21x2xf32>)";
  expectNear(run(body, {a}, 21, 2), [&](int64_t r, int64_t) {
    double sum = 0;
    for (int64_t j = r + 1; j < 21; ++j)
      sum += a(j, 0);
    return sum;
  });
}

TEST_P(TileOps, MathFunctions) {
  struct Function {
    const char *op;
    double (*f)(double);
    bool positive;
  };
  const Function functions[] = {
      {"math.exp", std::exp, false},     {"math.exp2", std::exp2, false},
      {"math.expm1", std::expm1, false}, {"math.log", std::log, true},
      {"math.log1p", std::log1p, true},  {"math.tanh", std::tanh, false},
      {"math.erf", std::erf, false},     {"math.sqrt", std::sqrt, true},
      {"math.absf", std::fabs, false},   {"math.sin", std::sin, false},
      {"math.cos", std::cos, false},     {"math.floor", std::floor, false}};
  for (const char *type : {"f32", "f64"})
    for (const Function &function : functions) {
      Matrix a = random(3, 37, 1);
      if (function.positive)
        for (double &x : a.data)
          x = std::fabs(x) + 0.01;
      std::string tile = std::string("tensor<3x37x") + type + ">";
      Matrix got = run(std::string("%R = ") + function.op + " %A : " + tile,
                       {a}, 3, 37, type);
      expectNear(
          got, [&](int64_t r, int64_t c) { return function.f(a(r, c)); },
          type[1] == '3' ? 1e-6 : 1e-14);
    }
}

TEST_P(TileOps, ExpOfExtremes) {
  Matrix a(1, 6);
  const double inf = std::numeric_limits<double>::infinity();
  a.data = {-inf, inf, std::nan(""), 0.0, -1024.0, 88.0};
  Matrix got = run("%R = math.exp %A : tensor<1x6xf32>", {a}, 1, 6);
  EXPECT_EQ(got(0, 0), 0.0);
  EXPECT_EQ(got(0, 1), inf);
  EXPECT_TRUE(std::isnan(got(0, 2)));
  EXPECT_EQ(got(0, 3), 1.0);
  EXPECT_EQ(got(0, 4), 0.0);
  EXPECT_NEAR(got(0, 5), std::exp(88.0), 1e-6 * std::exp(88.0));
}

TEST_P(TileOps, ExpBesideExpm1) {
  // Both have another form where a program has expm1.
  const double inf = std::numeric_limits<double>::infinity();
  Matrix a(1, 40), zero(1, 40);
  for (int64_t c = 0; c < 33; ++c)
    a(0, c) = float(std::pow(-1.9, c - 26)); // 6e-8 to 47, signs in turn
  const double extremes[] = {-inf, inf, std::nan(""), -1024.0, 0.0, 1e30, 88.0};
  std::copy(std::begin(extremes), std::end(extremes), a.data.begin() + 33);
  const std::string one = "%e = math.exp %A : tensor<1x40xf32>\n"
                          "%m = math.expm1 %A : tensor<1x40xf32>\n"
                          "%n = math.expm1 %B : tensor<1x40xf32>\n";
  auto check = [&](const char *which, double (*f)(double)) {
    Matrix got =
        run(one + "%R = arith.addf " + which + ", %n : tensor<1x40xf32>",
            {a, zero}, 1, 40);
    for (int64_t c = 0; c < 40; ++c) {
      double want = f(a(0, c));
      if (std::isnan(want))
        EXPECT_TRUE(std::isnan(got(0, c)));
      else if (std::isinf(want) || want > 3.4e38)
        EXPECT_EQ(got(0, c), inf) << which << " of " << a(0, c);
      else
        EXPECT_NEAR(got(0, c), want, 1.5e-7 * std::fabs(want))
            << which << " of " << a(0, c);
    }
  };
  check("%e", std::exp);
  check("%m", std::expm1);
}

TEST_P(TileOps, SelectAndCompare) {
  Matrix a = random(3, 20, 1), b = random(3, 20, 2);
  std::string body = R"(
    %l = arith.cmpf olt, %A, %B : tensor<3x20xf32>
    %R = arith.select %l, %A, %B : tensor<3x20xi1>, tensor<3x20xf32>)";
  expectNear(run(body, {a, b}, 3, 20),
             [&](int64_t r, int64_t c) { return std::min(a(r, c), b(r, c)); });
}

TEST_P(TileOps, LoopsCarrySeveralTilesAndScalars) {
  // Two tiles that swap at every step, a third that grows by both, and a count.
  steps = 5;
  Matrix a = random(4, 20, 1), b = random(4, 20, 2);
  std::string body = R"(
    %one = arith.constant 1.0 : f32
    %zero = arith.constant dense<0.0> : tensor<4x20xf32>
    %n:4 = scf.for %t = %c0 to %T step %c1 iter_args(%x = %A, %y = %B, %z = %zero, %i = %one)
        -> (tensor<4x20xf32>, tensor<4x20xf32>, tensor<4x20xf32>, f32) {
      %s = tensor.splat %i : tensor<4x20xf32>
      %p = arith.mulf %x, %s : tensor<4x20xf32>
      %q = arith.addf %z, %p : tensor<4x20xf32>
      %j = arith.addf %i, %one : f32
      scf.yield %y, %x, %q, %j : tensor<4x20xf32>, tensor<4x20xf32>, tensor<4x20xf32>, f32
    }
    %d = arith.subf %n#0, %n#1 : tensor<4x20xf32>
    %R = arith.addf %d, %n#2 : tensor<4x20xf32>)";
  // x is A at steps 0, 2, 4 (factors 1, 3, 5) and B at 1, 3 (2, 4); at the end
  // x = B, y = A.
  expectNear(run(body, {a, b}, 4, 20), [&](int64_t r, int64_t c) {
    return b(r, c) - a(r, c) + 9 * a(r, c) + 6 * b(r, c);
  });
}

TEST_P(TileOps, ACarriedTileReadAfterItsUpdateIsTheNewOne) {
  // S' = S + A; both S' and S are read by dots in the same step.
  steps = 3;
  Matrix a = random(6, 6, 1), b = random(6, 6, 2);
  std::string body = R"(
    %zero = arith.constant dense<0.0> : tensor<6x6xf32>
    %n:2 = scf.for %t = %c0 to %T step %c1 iter_args(%S = %A, %O = %zero) -> (tensor<6x6xf32>, tensor<6x6xf32>) {
      %U = tile.dot %A, %B, %S : tensor<6x6xf32>, tensor<6x6xf32> -> tensor<6x6xf32>
      %p = tile.dot %B, %U, %O : tensor<6x6xf32>, tensor<6x6xf32> -> tensor<6x6xf32>
      %q = tile.dot %B, %S, %p : tensor<6x6xf32>, tensor<6x6xf32> -> tensor<6x6xf32>
      scf.yield %U, %q : tensor<6x6xf32>, tensor<6x6xf32>
    }
    %R = arith.addf %n#0, %n#1 : tensor<6x6xf32>)";
  auto multiply = [](const Matrix &x, const Matrix &y) {
    Matrix z(6, 6);
    for (int64_t i = 0; i < 6; ++i)
      for (int64_t j = 0; j < 6; ++j)
        for (int64_t k = 0; k < 6; ++k)
          z(i, j) += x(i, k) * y(k, j);
    return z;
  };
  Matrix s = a, o(6, 6);
  for (int step = 0; step < 3; ++step) {
    Matrix u = multiply(a, b);
    for (int i = 0; i < 36; ++i)
      u.data[i] += s.data[i];
    Matrix p = multiply(b, u), q = multiply(b, s);
    for (int i = 0; i < 36; ++i)
      o.data[i] += p.data[i] + q.data[i];
    s = u;
  }
  expectNear(
      run(body, {a, b}, 6, 6),
      [&](int64_t r, int64_t c) { return s(r, c) + o(r, c); }, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Isa, TileOps,
                         testing::Values("x86-64-v3", "x86-64-v4"),
                         [](auto &info) {
                           return std::string(info.param).substr(7);
                         });

} // namespace
