//===- DecaysTest.cpp - Decays per channel in shared memory ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// tile.decayed_dot, tile.decay_product and tile.last_row as kernels, run in the
// interpreter and compared with their definitions.
//
//===----------------------------------------------------------------------===//

#include "KernelInterpreter.h"
#include "Prism/Conversion/TileToGPU/TileToGPU.h"
#include "Programs.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace prism;

namespace {

struct Matrix {
  int64_t rows, columns;
  std::vector<float> data;
  Matrix(int64_t rows, int64_t columns)
      : rows(rows), columns(columns), data(rows * columns) {}
  float &operator()(int64_t r, int64_t c) { return data[r * columns + c]; }
  float operator()(int64_t r, int64_t c) const { return data[r * columns + c]; }
};

Matrix random(int64_t rows, int64_t columns, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  Matrix m(rows, columns);
  for (float &x : m.data)
    x = normal(engine);
  return m;
}

Matrix randomDecays(int64_t rows, int64_t columns, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(0.5, 1);
  Matrix m(rows, columns);
  for (float &x : m.data) {
    const float special[] = {0, 1, std::exp(-20.0f), std::exp(-60.0f)};
    x = engine() % 8 == 0 ? special[engine() % 4] : uniform(engine);
  }
  return m;
}

std::string type(int64_t rows, int64_t columns) {
  return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) +
         "xf32>";
}

/// Runs a body on parameters %a, %b, ... (loaded whole as %A, %B, ...) that
/// ends by defining %R.
Matrix run(const std::string &body, std::vector<Matrix> arrays, int64_t rows,
           int64_t columns) {
  int64_t inputs = arrays.size();
  arrays.emplace_back(rows, columns);
  std::string arguments, loads;
  for (auto [i, m] : llvm::enumerate(arrays)) {
    bool isResult = int64_t(i) == inputs;
    std::string low = isResult ? "r" : std::string(1, char('a' + i)),
                view = "!tile.view<" + std::to_string(m.rows) + "x" +
                       std::to_string(m.columns) + "xf32>";
    arguments += (i ? ", %" : "%") + low + ": " + view + " as <name = \"" +
                 low + "\", axes = \"kv\", heads = 0, role = \"" +
                 (isResult ? "output" : "input") + "\", optional = false>";
    if (!isResult)
      loads += std::string("%") + char('A' + i) + " = tile.load %" + low +
               "[%c0, %c0] : " + view + " -> " + type(m.rows, m.columns) + "\n";
  }
  std::string text =
      "tile.program @kernel(" + arguments +
      ") heads 1 values 1 block 1 chunk 1 {\n%c0 = arith.constant 0 : index\n" +
      loads + body + "\ntile.store %R, %r[%c0, %c0] : " + type(rows, columns) +
      ", !tile.view<" + std::to_string(rows) + "x" + std::to_string(columns) +
      "xf32>\ntile.return\n}";
  MLIRContext context;
  test::prepare(context);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module) << text;
  tiletogpu::GPUOptions options;
  options.target = *targetinfo::lookupChip("sm_90a");
  options.strategy = tiletogpu::Strategy::Shared;
  options.threads = 64;
  FailureOr<tiletogpu::GPUKernelInfo> info =
      tiletogpu::convertTileToGPU(*module, options);
  if (failed(info) || failed(verify(*module))) {
    ADD_FAILURE() << "no kernel for\n" << text;
    return arrays.back();
  }
  test::KernelInterpreter interpreter(
      module->lookupSymbol<LLVM::LLVMFuncOp>("kernel"), info->threads,
      info->sharedBytes);
  std::vector<uint64_t> words;
  for (const Matrix &m : arrays) {
    words.push_back(reinterpret_cast<uint64_t>(m.data.data()));
    interpreter.allow(m.data.data(), m.data.size() * sizeof(float));
  }
  words.push_back(1); // sequences
  words.push_back(1); // steps
  for (const Matrix &m : arrays) {
    words.push_back(m.columns);
    words.push_back(1);
  }
  EXPECT_TRUE(interpreter.runBlock(0, words)) << interpreter.error();
  return arrays.back();
}

TEST(ChannelDecays, Products) {
  for (auto [n, k] : {std::pair<int64_t, int64_t>{1, 3}, {7, 70}, {16, 20}})
    for (int variant = 0; variant < 4; ++variant) {
      bool reverse = variant & 1, exclusive = variant & 2;
      Matrix a = randomDecays(n, k, 1);
      Matrix got =
          run(std::string("%R = tile.decay_product ") +
                  (reverse ? "reverse " : "") +
                  (exclusive ? "exclusive " : "") + "%A : " + type(n, k),
              {a}, n, k);
      for (int64_t r = 0; r < n; ++r)
        for (int64_t c = 0; c < k; ++c) {
          double want = 1;
          for (int64_t i = 0; i < n; ++i)
            if (i == r ? !exclusive : (i > r) == reverse)
              want *= a(i, c);
          // What underflows has no relative accuracy.
          ASSERT_NEAR(got(r, c), want, 1e-5 * want + 1e-37) << r << ", " << c;
        }
    }
}

TEST(ChannelDecays, LastRow) {
  Matrix a = random(7, 20, 1), b = random(20, 3, 2);
  Matrix got = run(R"(%l = tile.last_row %A : tensor<7x20xf32> -> tensor<20xf32>
    %R = tile.scale_rows %B by %l : tensor<20x3xf32>, tensor<20xf32>)",
                   {a, b}, 20, 3);
  for (int64_t r = 0; r < 20; ++r)
    for (int64_t c = 0; c < 3; ++c)
      ASSERT_FLOAT_EQ(got(r, c), a(6, r) * b(r, c));
}

struct DecayedDot {
  int64_t tokens, channels;
  std::vector<int64_t> rows, columns, decays;
};

std::string list(llvm::ArrayRef<int64_t> places) {
  std::string text;
  for (int64_t place : places)
    text += (text.empty() ? "" : ", ") + std::to_string(place);
  return "[" + text + "]";
}

/// The definition, in double.
double want(const DecayedDot &c, const std::vector<Matrix> &inputs, int64_t r,
            int64_t col) {
  int64_t reader = r / c.rows.size(), readPlace = c.rows[r % c.rows.size()],
          writer = col / c.columns.size(),
          writePlace = c.columns[col % c.columns.size()];
  if (writer > reader || (writer == reader && writePlace >= readPlace))
    return 0;
  double sum = 0;
  for (int64_t d = 0; d < c.channels; ++d) {
    double product = double(inputs[0](r, d)) * inputs[1](col, d);
    for (int64_t token = writer; token <= reader; ++token)
      for (size_t i = 0; i < c.decays.size(); ++i)
        if ((token > writer || c.decays[i] > writePlace) &&
            (token < reader || c.decays[i] < readPlace))
          product *= inputs[2 + i](token, d);
    sum += product;
  }
  return sum;
}

TEST(ChannelDecays, DecayedDots) {
  const DecayedDot cases[] = {{16, 64, {1}, {0}, {-1}},
                              {1, 3, {1}, {0}, {-1}},
                              {7, 37, {0}, {0}, {1}},
                              {9, 20, {2, 5}, {1, 4, 6}, {3}},
                              {6, 70, {2, 5}, {1, 1, 6}, {0, 3, 7}}};
  for (const DecayedDot &c : cases) {
    int64_t m = c.tokens * c.rows.size(), n = c.tokens * c.columns.size();
    std::vector<Matrix> inputs = {random(m, c.channels, 1),
                                  random(n, c.channels, 2)};
    std::string names, types;
    for (size_t i = 0; i < c.decays.size(); ++i) {
      inputs.push_back(randomDecays(c.tokens, c.channels, 3 + i));
      names += (i ? ", %" : "%") + std::string(1, char('C' + i));
      types += (i ? ", " : "") + type(c.tokens, c.channels);
    }
    Matrix got =
        run("%R = tile.decayed_dot %A at " + list(c.rows) + ", %B at " +
                list(c.columns) + " by " + names + " at " + list(c.decays) +
                " : " + type(m, c.channels) + ", " + type(n, c.channels) +
                ", " + types + " -> " + type(m, n),
            inputs, m, n);
    for (int64_t r = 0; r < m; ++r)
      for (int64_t col = 0; col < n; ++col) {
        double expected = want(c, inputs, r, col);
        ASSERT_NEAR(got(r, col), expected,
                    1e-5 * std::max(1.0, std::abs(expected)))
            << r << ", " << col << " of " << c.tokens << " tokens";
      }
  }
}

} // namespace
