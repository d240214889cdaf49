//===- OpsHarness.h - Tile ops compiled alone, in tests ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_TILETOCPU_OPSHARNESS_H
#define PRISM_UNITTESTS_TILETOCPU_OPSHARNESS_H

#include "KernelHarness.h"
#include "gtest/gtest.h"
#include <cmath>
#include <functional>
#include <random>

namespace prism::test {

/// A matrix of doubles.
struct Matrix {
  int64_t rows, columns;
  std::vector<double> data;
  Matrix(int64_t rows, int64_t columns)
      : rows(rows), columns(columns), data(rows * columns) {}
  double &operator()(int64_t r, int64_t c) { return data[r * columns + c]; }
  double operator()(int64_t r, int64_t c) const {
    return data[r * columns + c];
  }
};

inline Matrix random(int64_t rows, int64_t columns, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  Matrix m(rows, columns);
  for (double &x : m.data)
    x = roundTo("f32", normal(engine));
  return m;
}

class TileOps : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    llvm::StringRef host = getHostCPUIsa();
    if (host.empty() ||
        (host == "x86-64-v3" && llvm::StringRef(GetParam()) == "x86-64-v4"))
      GTEST_SKIP() << "this machine does not run " << GetParam();
  }

  /// Runs a body on parameters %a, %b, ... (loaded whole as tiles %A, %B, ...)
  /// that ends by defining %R of the result's extents; returns R.
  Matrix run(const std::string &body, std::vector<Matrix> inputs, int64_t rows,
             int64_t columns, const std::string &type = "f32") {
    auto shape = [&](const Matrix &m) {
      return std::to_string(m.rows) + "x" + std::to_string(m.columns) + "x" +
             type;
    };
    std::string arguments, loads;
    for (size_t i = 0; i < inputs.size(); ++i) {
      std::string low(1, char('a' + i)), high(1, char('A' + i));
      arguments +=
          "%" + low + ": !tile.view<" + shape(inputs[i]) + "> as <name = \"" +
          low +
          "\", axes = \"kv\", heads = 0, role = \"input\", optional = false>, ";
      loads += "%" + high + " = tile.load %" + low +
               "[%c0, %c0] : !tile.view<" + shape(inputs[i]) + "> -> tensor<" +
               shape(inputs[i]) + ">\n";
    }
    Matrix result(rows, columns);
    std::string text =
        "tile.program @kernel(" + arguments + "%r: !tile.view<" +
        shape(result) +
        "> as <name = \"r\", axes = \"kv\", heads = 0, role = \"output\", "
        "optional = false>) heads 1 "
        "values 1 block 1 chunk 1 {\n%c0 = arith.constant 0 : index\n%c1 = "
        "arith.constant 1 : index\n"
        "%T = tile.length : index\n" +
        loads + body + "\ntile.store %R, %r[%c0, %c0] : tensor<" +
        shape(result) + ">, !tile.view<" + shape(result) + ">\ntile.return\n}";
    CompiledProgram program(text, GetParam());
    EXPECT_TRUE(program.ok()) << program.messages() << text;
    if (!program.ok())
      return result;
    std::vector<std::unique_ptr<GuardedArray>> arrays;
    std::vector<GuardedArray *> pointers;
    for (const Matrix &input : inputs) {
      arrays.push_back(std::make_unique<GuardedArray>(
          type, std::vector<int64_t>{input.rows, input.columns}, 1));
      for (size_t i = 0; i < input.data.size(); ++i)
        arrays.back()->set(i, input.data[i]);
      pointers.push_back(arrays.back().get());
    }
    GuardedArray out(type, {rows, columns}, 3);
    pointers.push_back(&out);
    std::vector<size_t> axes(pointers.size(), 2);
    EXPECT_EQ(program.run(pointers, axes, nullptr, 1, steps, 1), 0);
    EXPECT_TRUE(out.guardsIntact());
    for (int64_t i = 0; i < rows * columns; ++i)
      result.data[i] = out.get(i);
    return result;
  }

  void expectNear(const Matrix &got,
                  const std::function<double(int64_t, int64_t)> &want,
                  double tolerance = 2e-6) {
    for (int64_t r = 0; r < got.rows; ++r)
      for (int64_t c = 0; c < got.columns; ++c) {
        double w = want(r, c);
        if (std::isnan(w))
          ASSERT_TRUE(std::isnan(got(r, c))) << r << ", " << c;
        else
          ASSERT_NEAR(got(r, c), w, tolerance * std::max(1.0, std::abs(w)))
              << r << ", " << c;
      }
  }

  int64_t steps = 5;
};

} // namespace prism::test

#endif // PRISM_UNITTESTS_TILETOCPU_OPSHARNESS_H
