//===- ResponsesTest.cpp - Coupled numbers against their definitions ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "OpsHarness.h"

using namespace prism;
using namespace prism::test;

namespace {

class Responses : public TileOps {};

/// A system of `count` numbers over some tokens; one row of each matrix is one
/// vector of coefficients.
struct System {
  int64_t tokens, count;
  Matrix transition, output, input, direct;

  System(int64_t tokens, int64_t count)
      : tokens(tokens), count(count), transition(count * count, tokens),
        output(count, tokens), input(count, tokens), direct(1, tokens) {
    unsigned seed = 0;
    for (Matrix *m : {&transition, &output, &input, &direct}) {
      *m = random(m->rows, m->columns, ++seed);
      for (double &x : m->data)
        x = roundTo("f32", x * 0.5);
    }
  }

  /// The vectors as %A0, %A1, ..., from matrices %A, %B, ...
  std::string vectors() const {
    std::string text;
    const Matrix *all[] = {&transition, &output, &input, &direct};
    for (int i = 0; i < 4; ++i)
      for (int64_t row = 0; row < all[i]->rows; ++row) {
        std::string name = "%" + std::string(1, char('A' + i)),
                    one = "tensor<1x" + std::to_string(tokens) + "xf32>";
        std::string view = "!tile.view<" + std::to_string(all[i]->rows) + "x" +
                           std::to_string(tokens) + "xf32>";
        std::string place = name + "at" + std::to_string(row);
        text += place + " = arith.constant " + std::to_string(row) +
                " : index\n" + name + "row" + std::to_string(row) +
                " = tile.load %" + std::string(1, char('a' + i)) + "[" + place +
                ", %c0] : " + view + " -> " + one + "\n" + name +
                std::to_string(row) + " = tile.last_row " + name + "row" +
                std::to_string(row) + " : " + one + " -> " + type() + "\n";
      }
    return text;
  }
  std::string type() const {
    return "tensor<" + std::to_string(tokens) + "xf32>";
  }
  static std::string list(char name, int64_t count) {
    std::string text;
    for (int64_t i = 0; i < count; ++i)
      text += (i ? ", %" : "%") + std::string(1, name) + std::to_string(i);
    return "(" + text + ")";
  }
  std::string types(int64_t vectors) const {
    std::string text;
    for (int64_t i = 0; i < vectors; ++i)
      text += (i ? ", " : "") + type();
    return text;
  }
  std::vector<Matrix> inputs() const {
    return {transition, output, input, direct};
  }

  /// What is put out at every token of x before the first one and input u.
  std::vector<double> run(std::vector<double> x,
                          const std::vector<double> &u) const {
    std::vector<double> out;
    for (int64_t t = 0; t < tokens; ++t) {
      double y = u[t] != 0 ? direct(0, t) * u[t] : 0;
      std::vector<double> next(count);
      for (int64_t i = 0; i < count; ++i) {
        if (x[i] != 0)
          y += output(i, t) * x[i];
        next[i] = u[t] != 0 ? input(i, t) * u[t] : 0;
        for (int64_t j = 0; j < count; ++j)
          if (x[j] != 0)
            next[i] += transition(i * count + j, t) * x[j];
      }
      out.push_back(y);
      x = next;
    }
    return out;
  }
};

TEST_P(Responses, Impulses) {
  for (auto [tokens, count] : std::vector<std::array<int64_t, 2>>{
           {2, 1}, {7, 2}, {16, 2}, {37, 3}, {64, 2}}) {
    System system(tokens, count);
    // A token that is no number is seen from that token on.
    if (tokens == 37)
      for (Matrix *m : {&system.transition, &system.input, &system.direct})
        (*m)(0, 20) = std::nan("");
    std::string body =
        system.vectors() + "%R = tile.impulse_response by" +
        System::list('A', count * count) + " to" + System::list('B', count) +
        " from" + System::list('C', count) + " direct %D0 : (" +
        system.types(count * count + 2 * count + 1) + ") -> tensor<" +
        std::to_string(tokens) + "x" + std::to_string(tokens) + "xf32>";
    Matrix want(tokens, tokens);
    for (int64_t s = 0; s < tokens; ++s) {
      std::vector<double> u(tokens, 0.0);
      u[s] = 1;
      std::vector<double> y = system.run(std::vector<double>(count, 0.0), u);
      for (int64_t t = 0; t < tokens; ++t)
        want(t, s) = y[t];
    }
    expectNear(
        run(body, system.inputs(), tokens, tokens),
        [&](int64_t t, int64_t s) { return want(t, s); }, 1e-5);
  }
}

TEST_P(Responses, Initial) {
  for (auto [tokens, count] :
       std::vector<std::array<int64_t, 2>>{{2, 1}, {16, 2}, {19, 3}})
    for (int64_t state = 0; state < count; ++state) {
      System system(tokens, count);
      std::string matrix = "tensor<" + std::to_string(tokens) + "x1xf32>";
      std::string body =
          system.vectors() + "%r0 = tile.initial_response " +
          std::to_string(state) + " by" + System::list('A', count * count) +
          " to" + System::list('B', count) + " : (" +
          system.types(count * count + count) + ") -> " + system.type() +
          "\n%ones = arith.constant dense<1.0> : " + matrix +
          "\n%R = tile.scale_rows %ones by %r0 : " + matrix + ", " +
          system.type();
      std::vector<double> x(count, 0.0), u(tokens, 0.0);
      x[state] = 1;
      std::vector<double> want = system.run(x, u);
      expectNear(
          run(body, system.inputs(), tokens, 1),
          [&](int64_t t, int64_t) { return want[t]; }, 1e-5);
    }
}

INSTANTIATE_TEST_SUITE_P(Isa, Responses,
                         testing::Values("x86-64-v3", "x86-64-v4"),
                         [](auto &info) {
                           return std::string(info.param).substr(7);
                         });

} // namespace
