//===- ShortConvolutionTest.cpp - Convolutions against a plain loop -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TestModel.h"
#include <cmath>
#include <random>

using namespace prism::interpreter;
using llvm::ArrayRef;

namespace {

struct Shape {
  int64_t heads = 1, channels = 1, taps = 4;
  std::string axes = "bthk", activation = "identity";
  bool reverse = false;
};

/// An entry that is one convolution: x, w, bias, window, offsets to y, after.
std::string entryOf(const Shape &shape) {
  std::string heads = std::to_string(shape.heads),
              channels = std::to_string(shape.channels),
              x = shape.axes == "bhtk" ? "tensor<?x" + heads + "x?x" + channels
                                       : "tensor<?x?x" + heads + "x" + channels,
              pair = "tensor<" + heads + "x" + channels,
              window = "tensor<?x" + heads + "x" + channels + "x" +
                       std::to_string(shape.taps - 1) + "xf64>",
              weight = pair + "x" + std::to_string(shape.taps) + "xf64>";
  x += "xf64>";
  pair += "xf64>";
  return "func.func @f(%x: " + x + " {scan.name = \"x\"}, %w: " + weight +
         " {scan.name = \"w\"}, %b: " + pair +
         " {scan.name = \"b\"}, %s: " + window +
         " {scan.name = \"window\", scan.optional}, " +
         "%o: tensor<?xi64> {scan.name = \"offsets\", scan.optional}) -> (" +
         x + " {scan.name = \"y\"}, " + window +
         " {scan.name = \"after\"}) {\n" +
         "  %y, %a = scan.short_convolution " +
         (shape.reverse ? "reverse " : "") + "%x as \"" + shape.axes +
         "\" weight %w bias %b window %s offsets %o activation " +
         shape.activation + " : (" + x + ", " + weight + ", " + pair + ", " +
         window + ", tensor<?xi64>) -> (" + x + ", " + window + ")\n" +
         "  return %y, %a : " + x + ", " + window + "\n}";
}

Array random(ArrayRef<int64_t> shape, std::mt19937_64 &engine) {
  Array array(shape);
  for (double &x : array.data)
    x = std::normal_distribution<double>()(engine);
  return array;
}

/// One channel of one sequence: what stands before it, then its tokens.
std::vector<double> convolve(ArrayRef<double> window, ArrayRef<double> x,
                             ArrayRef<double> taps, double bias) {
  std::vector<double> all(window), y;
  all.insert(all.end(), x.begin(), x.end());
  for (size_t t = 0; t < x.size(); ++t) {
    double sum = bias;
    for (size_t j = 0; j < taps.size(); ++j)
      sum += taps[j] * all[t + j];
    y.push_back(sum);
  }
  return y;
}

} // namespace

// A17: fewer new tokens than taps.
TEST(ShortConvolution, A17FewTokens) {
  TestModel model(entryOf({}));
  auto run = [&](std::vector<double> window, std::vector<double> x) {
    Arrays in;
    int64_t steps = x.size();
    in["x"] = Array({1, steps, 1, 1}, std::move(x));
    in["w"] = Array({1, 1, 4}, {1000, 100, 10, 1});
    in["b"] = Array({1, 1});
    in["window"] = Array({1, 1, 1, 3}, std::move(window));
    return model.run(in);
  };
  Arrays out = run({1, 2, 3}, {4});
  expectValues(out["y"], {1234});
  expectValues(out["after"], {2, 3, 4});
  out = run({2, 3, 4}, {5, 6});
  expectValues(out["y"], {2345, 3456});
  expectValues(out["after"], {4, 5, 6});
  out = run({1, 2, 3}, {4, 5, 6});
  expectValues(out["y"], {1234, 2345, 3456});
  expectValues(out["after"], {4, 5, 6});
  out = run({1, 2, 3}, {});
  expectValues(out["after"], {1, 2, 3});
}

// Rows, heads and channels each have taps and a window of their own.
TEST(ShortConvolution, LikeALoop) {
  std::mt19937_64 engine(1);
  constexpr int64_t rows = 2, steps = 5, heads = 3, channels = 2;
  for (int64_t taps : {2, 4, 8})
    for (bool reverse : {false, true})
      for (std::string axes : {"bthk", "bhtk"}) {
        TestModel model(
            entryOf({heads, channels, taps, axes, "identity", reverse}));
        bool headFirst = axes == "bhtk";
        Arrays in;
        in["x"] = headFirst ? random({rows, heads, steps, channels}, engine)
                            : random({rows, steps, heads, channels}, engine);
        in["w"] = random({heads, channels, taps}, engine);
        in["b"] = random({heads, channels}, engine);
        in["window"] = random({rows, heads, channels, taps - 1}, engine);
        Arrays out = model.run(in);
        auto place = [&](int64_t row, int64_t t, int64_t h, int64_t d) {
          if (reverse)
            t = steps - 1 - t;
          return (headFirst ? (row * heads + h) * steps + t
                            : (row * steps + t) * heads + h) *
                     channels +
                 d;
        };
        for (int64_t row = 0; row < rows; ++row)
          for (int64_t h = 0; h < heads; ++h)
            for (int64_t d = 0; d < channels; ++d) {
              std::vector<double> x;
              for (int64_t t = 0; t < steps; ++t)
                x.push_back(in["x"].data[place(row, t, h, d)]);
              int64_t channel = h * channels + d,
                      at = (row * heads * channels + channel) * (taps - 1);
              ArrayRef<double> window =
                  ArrayRef(in["window"].data).slice(at, taps - 1);
              std::vector<double> want = convolve(
                  window, x, ArrayRef(in["w"].data).slice(channel * taps, taps),
                  in["b"].data[channel]);
              for (int64_t t = 0; t < steps; ++t)
                EXPECT_NEAR(out["y"].data[place(row, t, h, d)], want[t], 1e-12);
              std::vector<double> all(window);
              all.insert(all.end(), x.begin(), x.end());
              for (int64_t i = 0; i < taps - 1; ++i)
                EXPECT_EQ(out["after"].data[at + i], all[steps + i]);
            }
      }
}

// Packed sequences do not see each other; an empty one keeps its window.
TEST(ShortConvolution, PackedSequencesEndWhereTheyEnd) {
  TestModel model(entryOf({1, 1, 3}));
  Arrays in;
  in["x"] = Array({1, 5, 1, 1}, {1, 2, 3, 4, 5});
  in["w"] = Array({1, 1, 3}, {100, 10, 1});
  in["b"] = Array({1, 1});
  in["offsets"] = Array({5}, {0, 1, 1, 4, 5});
  in["window"] = Array({4, 1, 1, 2}, {7, 8, 5, 6, 0, 9, 0, 0});
  Arrays out = model.run(in);
  expectValues(out["y"], {781, 92, 923, 234, 5});
  expectValues(out["after"], {8, 1, 5, 6, 3, 4, 0, 5});
  in.erase("window"); // zeros
  out = model.run(in);
  expectValues(out["y"], {1, 2, 23, 234, 5});
  expectValues(out["after"], {0, 1, 0, 0, 3, 4, 0, 5});
}

// Of the sum with its bias.
TEST(ShortConvolution, Activations) {
  auto run = [](const char *activation) {
    TestModel model(entryOf({1, 1, 2, "bthk", activation}));
    Arrays in;
    in["x"] = Array({1, 2, 1, 1}, {1, -3});
    in["w"] = Array({1, 1, 2}, {0.5, 1});
    in["b"] = Array({1, 1}, {0.25});
    return model.run(in)["y"];
  }; // of 1.25 and -2.25
  expectValues(run("silu"),
               {1.25 / (1 + std::exp(-1.25)), -2.25 / (1 + std::exp(2.25))},
               1e-15);
  expectValues(run("gelu"),
               {0.625 * (1 + std::erf(1.25 / std::sqrt(2.0))),
                -1.125 * (1 + std::erf(-2.25 / std::sqrt(2.0)))},
               1e-15);
  expectValues(run("tanh"), {std::tanh(1.25), std::tanh(-2.25)}, 1e-15);
  expectValues(run("relu"), {1.25, 0});
}
