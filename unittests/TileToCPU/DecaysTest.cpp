//===- DecaysTest.cpp - Decays per channel against their definitions ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "OpsHarness.h"
#include "llvm/ADT/STLExtras.h"

using namespace prism;
using namespace prism::test;

namespace {

class ChannelDecays : public TileOps {};

/// The product of the decays that lie between column c's place and row r's.
double decayBetween(const std::vector<Matrix> &decays,
                    llvm::ArrayRef<int64_t> decayOrder, int64_t writer,
                    int64_t writePlace, int64_t reader, int64_t readPlace,
                    int64_t channel) {
  double product = 1;
  for (int64_t token = writer; token <= reader; ++token)
    for (size_t i = 0; i < decays.size(); ++i)
      if ((token > writer || decayOrder[i] > writePlace) &&
          (token < reader || decayOrder[i] < readPlace))
        product *= decays[i](token, channel);
  return product;
}

/// Decays between 0 and 1, a few of them exactly 0 or 1, or next to nothing.
Matrix randomDecays(int64_t rows, int64_t columns, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(0.5, 1);
  Matrix m(rows, columns);
  for (double &x : m.data) {
    const double special[] = {0, 1, std::exp(-20.0), std::exp(-88.0)};
    x = engine() % 8 == 0 ? special[engine() % 4] : uniform(engine);
    x = roundTo("f32", x);
  }
  return m;
}

TEST_P(ChannelDecays, DecayProducts) {
  for (auto [n, k] :
       std::vector<std::array<int64_t, 2>>{{1, 1}, {7, 20}, {16, 64}, {5, 70}})
    for (int variant = 0; variant < 4; ++variant) {
      bool reverse = variant & 1, exclusive = variant & 2;
      Matrix a = randomDecays(n, k, 1);
      std::string type =
          "tensor<" + std::to_string(n) + "x" + std::to_string(k) + "xf32>";
      Matrix got = run(std::string("%R = tile.decay_product ") +
                           (reverse ? "reverse " : "") +
                           (exclusive ? "exclusive " : "") + "%A : " + type,
                       {a}, n, k);
      expectNear(got, [&, n = n](int64_t r, int64_t c) {
        double product = 1;
        for (int64_t i = 0; i < n; ++i)
          if (i == r ? !exclusive : (i > r) == reverse)
            product *= a(i, c);
        return product;
      });
    }
}

TEST_P(ChannelDecays, LastRow) {
  Matrix a = random(7, 20, 1), b = random(20, 3, 2);
  std::string body = R"(
    %l = tile.last_row %A : tensor<7x20xf32> -> tensor<20xf32>
    %R = tile.scale_rows %B by %l : tensor<20x3xf32>, tensor<20xf32>)";
  expectNear(run(body, {a, b}, 20, 3),
             [&](int64_t r, int64_t c) { return a(6, r) * b(r, c); });
}

/// A decayed dot with these rows, columns and decays a token. Row `poisoned` of
/// the right side and of the decays holds no numbers.
struct DecayedDot {
  int64_t tokens, channels;
  std::vector<int64_t> rows, columns, decays;
  int64_t poisoned = -1;
};

TEST_P(ChannelDecays, DecayedDots) {
  const DecayedDot cases[] = {{16, 64, {1}, {0}, {-1}},
                              {16, 64, {0}, {0}, {1}},
                              {1, 3, {1}, {0}, {-1}},
                              {7, 5, {2}, {0}, {1}},
                              {37, 18, {1}, {0}, {-1}},
                              {64, 33, {2}, {1}, {0}},
                              {12, 20, {2, 5}, {1, 4, 6}, {3}},
                              {40, 6, {2, 5}, {1, 1, 6}, {0, 3, 7}},
                              {16, 64, {1}, {0}, {-1}, 9},
                              {64, 8, {1}, {0}, {-1}, 33},
                              {24, 9, {2, 5}, {1, 4}, {0, 3}, 13}};
  for (const DecayedDot &c : cases) {
    int64_t m = c.tokens * c.rows.size(), n = c.tokens * c.columns.size();
    std::vector<Matrix> inputs = {random(m, c.channels, 1),
                                  random(n, c.channels, 2)},
                        decays;
    for (size_t i = 0; i < c.decays.size(); ++i)
      decays.push_back(randomDecays(c.tokens, c.channels, 3 + i));
    llvm::append_range(inputs, decays);
    std::vector<Matrix> poisoned = inputs;
    if (c.poisoned >= 0)
      for (int64_t d = 0; d < c.channels; ++d) {
        for (size_t i = 0; i < c.columns.size(); ++i)
          poisoned[1](c.poisoned * c.columns.size() + i, d) = std::nan("");
        for (size_t i = 0; i < decays.size(); ++i)
          poisoned[2 + i](c.poisoned, d) = std::nan("");
      }
    auto type = [&](int64_t rows, int64_t columns) {
      return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) +
             "xf32>";
    };
    auto list = [](llvm::ArrayRef<int64_t> places) {
      std::string text;
      for (int64_t place : places)
        text += (text.empty() ? "" : ", ") + std::to_string(place);
      return "[" + text + "]";
    };
    std::string names, types;
    for (size_t i = 0; i < decays.size(); ++i) {
      names += (i ? ", %" : "%") + std::string(1, char('C' + i));
      types += (i ? ", " : "") + type(c.tokens, c.channels);
    }
    Matrix got =
        run("%R = tile.decayed_dot %A at " + list(c.rows) + ", %B at " +
                list(c.columns) + " by " + names + " at " + list(c.decays) +
                " : " + type(m, c.channels) + ", " + type(n, c.channels) +
                ", " + types + " -> " + type(m, n),
            poisoned, m, n);
    expectNear(
        got,
        [&](int64_t r, int64_t col) {
          int64_t perRow = c.rows.size(), perColumn = c.columns.size();
          int64_t reader = r / perRow, readPlace = c.rows[r % perRow],
                  writer = col / perColumn,
                  writePlace = c.columns[col % perColumn];
          if (writer > reader || (writer == reader && writePlace >= readPlace))
            return 0.0;
          // What the row sees of the poisoned token is no number either.
          bool decayed = false;
          for (int64_t place : c.decays)
            decayed |= (writer < c.poisoned || place > writePlace) &&
                       (reader > c.poisoned || place < readPlace);
          if (c.poisoned >= 0 && writer <= c.poisoned && reader >= c.poisoned &&
              (writer == c.poisoned || decayed))
            return double(std::nan(""));
          double sum = 0;
          for (int64_t d = 0; d < c.channels; ++d)
            sum += inputs[0](r, d) * inputs[1](col, d) *
                   decayBetween(decays, c.decays, writer, writePlace, reader,
                                readPlace, d);
          return sum;
        },
        1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Isa, ChannelDecays,
                         testing::Values("x86-64-v3", "x86-64-v4"),
                         [](auto &info) {
                           return std::string(info.param).substr(7);
                         });

} // namespace
