//===- Speller.h - One recurrence in many spellings -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_ANALYSIS_SPELLER_H
#define PRISM_UNITTESTS_ANALYSIS_SPELLER_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <string>
#include <vector>

namespace prism::analysis {

/// Writes a step of a state of 3 keys by 2 values in one of three styles, keys
/// first or values first.
class Speller {
public:
  explicit Speller(int style, bool valueFirst = false)
      : S(valueFirst ? "tensor<2x3xf64>" : "tensor<3x2xf64>"), style(style),
        valueFirst(valueFirst) {}

  std::string op(const std::string &text) {
    std::string name = "%x" + std::to_string(next++);
    body += "      " + name + " = " + text + "\n";
    return name;
  }
  std::string add(llvm::StringRef a, llvm::StringRef b) {
    return binary("addf", a, b, S);
  }
  std::string sub(llvm::StringRef a, llvm::StringRef b) {
    return binary("subf", a, b, S);
  }
  std::string binary(llvm::StringRef name, llvm::StringRef a, llvm::StringRef b,
                     llvm::StringRef type) {
    return op(llvm::formatv("arith.{0} {1}, {2} : {3}", name, a, b, type));
  }
  /// A scalar, a key or a value all over the state.
  std::string spread(const std::string &x, llvm::StringRef type) {
    if (type == "f64")
      return op(llvm::formatv("tensor.splat {0} : {1}", x, S));
    bool isRow = (type == K) != valueFirst;
    if (style == 1)
      return generic({x}, {type.str()},
                     {isRow ? "(i, j) -> (i)" : "(i, j) -> (j)"}, "%e0");
    std::string empty = op(llvm::formatv("tensor.empty() : {0}", S));
    return op(llvm::formatv("linalg.broadcast ins({0} : {1}) outs({2} : {3}) "
                            "dimensions = [{4}]",
                            x, type, empty, S, isRow ? 1 : 0));
  }
  std::string outer(const std::string &k, const std::string &v) {
    int keys = 3, values = 2;
    if (style == 0) {
      auto expand = [&](const std::string &x, llvm::StringRef type, int rows,
                        int columns) {
        return op(
            llvm::formatv("tensor.expand_shape {0} [[0, 1]] output_shape [{1}, "
                          "{2}] : {3} into tensor<{1}x{2}xf64>",
                          x, rows, columns, type));
      };
      if (valueFirst)
        return matmul(expand(v, V, values, 1), expand(k, K, 1, keys), values, 1,
                      keys);
      return matmul(expand(k, K, keys, 1), expand(v, V, 1, values), keys, 1,
                    values);
    }
    if (style == 1)
      return generic({k, v}, {K, V},
                     {valueFirst ? "(i, j) -> (j)" : "(i, j) -> (i)",
                      valueFirst ? "(i, j) -> (i)" : "(i, j) -> (j)"},
                     "%p", "%p = arith.mulf %e0, %e1 : f64");
    return binary("mulf", spread(k, K), spread(v, V), S);
  }
  static std::string matrix(int rows, int columns) {
    return llvm::formatv("tensor<{0}x{1}xf64>", rows, columns);
  }
  std::string transpose(const std::string &a, int rows, int columns) {
    std::string empty =
        op(llvm::formatv("tensor.empty() : {0}", matrix(columns, rows)));
    return op(llvm::formatv("linalg.transpose ins({0} : {1}) outs({2} : {3}) "
                            "permutation = [1, 0]",
                            a, matrix(rows, columns), empty,
                            matrix(columns, rows)));
  }
  /// The product of an m x k and a k x n matrix.
  std::string matmul(const std::string &a, const std::string &b, int m, int k,
                     int n) {
    std::string left = matrix(m, k), right = matrix(k, n), type = matrix(m, n);
    std::string zero =
        op(llvm::formatv("arith.constant dense<0.0> : {0}", type));
    if (style == 0)
      return op(
          llvm::formatv("linalg.matmul ins({0}, {1} : {2}, {3}) outs({4} : "
                        "{5}) -> {5}",
                        a, b, left, right, zero, type));
    if (style == 1)
      return op(llvm::formatv(
          "linalg.generic {{indexing_maps = [affine_map<(i, j, p) -> (i, p)>, "
          "affine_map<(i, j, p) -> (p, j)>, affine_map<(i, j, p) -> (i, j)>], "
          "iterator_types = [\"parallel\", \"parallel\", \"reduction\"]} "
          "ins({0}, {1} : {2}, {3}) outs({4} : {5}) {{\n"
          "      ^bb0(%e0: f64, %e1: f64, %e2: f64):\n        %p = arith.mulf "
          "%e0, %e1 : f64\n        %s = arith.addf %p, %e2 : f64\n"
          "        linalg.yield %s : f64\n      } -> {5}",
          a, b, left, right, zero, type));
    std::string cube = llvm::formatv("tensor<{0}x{1}x{2}xf64>", m, k, n);
    auto everywhere = [&](const std::string &x, llvm::StringRef from,
                          int axis) {
      std::string empty = op(llvm::formatv("tensor.empty() : {0}", cube));
      return op(llvm::formatv("linalg.broadcast ins({0} : {1}) outs({2} : {3}) "
                              "dimensions = [{4}]",
                              x, from, empty, cube, axis));
    };
    std::string product =
        binary("mulf", everywhere(a, left, 2), everywhere(b, right, 0), cube);
    return op(
        llvm::formatv("linalg.reduce {{ arith.addf } ins({0} : {1}) outs({2} : "
                      "{3}) dimensions = [1]",
                      product, cube, zero, type));
  }
  /// The rows of a 2 x n matrix times the two numbers of %e_t.
  std::string scaleRanks(const std::string &rows, int columns) {
    std::string type = matrix(2, columns);
    std::string empty = op(llvm::formatv("tensor.empty() : {0}", type));
    std::string all =
        op(llvm::formatv("linalg.broadcast ins(%e_t : tensor<2xf64>) "
                         "outs({0} : {1}) dimensions = [1]",
                         empty, type));
    return binary("mulf", rows, all, type);
  }
  /// Sum over two ranks of keys %c_t times rows of values.
  std::string rankedOuter(const std::string &rows) {
    if (valueFirst)
      return matmul(transpose(rows, 2, 2), "%c_t", 2, 2, 3);
    return matmul(transpose("%c_t", 2, 3), rows, 3, 2, 2);
  }
  /// What the two keys of %c_t read.
  std::string rankedRead(const std::string &state) {
    if (valueFirst)
      return transpose(matmul(state, transpose("%c_t", 2, 3), 2, 3, 2), 2, 2);
    return matmul("%c_t", state, 2, 3, 2);
  }
  /// S^T k
  std::string read(const std::string &state, const std::string &k) {
    std::string zero = op(llvm::formatv("arith.constant dense<0.0> : {0}", V));
    if (style == 0 && valueFirst)
      return op(llvm::formatv(
          "linalg.matvec ins({0}, {1} : {2}, {3}) outs({4} : {5}) -> {5}",
          state, k, S, K, zero, V));
    if (style == 0)
      return op(llvm::formatv(
          "linalg.vecmat ins({0}, {1} : {2}, {3}) outs({4} : {5}) -> {5}", k,
          state, K, S, zero, V));
    if (style == 1)
      return op(llvm::formatv(
          "linalg.generic {{indexing_maps = [affine_map<(j, i) -> (i)>, "
          "affine_map<(j, i) -> ({6})>, affine_map<(j, i) -> (j)>], "
          "iterator_types = [\"parallel\", \"reduction\"]} ins({0}, {1} : {2}, "
          "{3}) outs({4} : {5}) {{\n"
          "      ^bb0(%e0: f64, %e1: f64, %e2: f64):\n        %p = arith.mulf "
          "%e0, %e1 : f64\n"
          "        %s = arith.addf %p, %e2 : f64\n        linalg.yield %s : "
          "f64\n      } -> {5}",
          k, state, K, S, zero, V, valueFirst ? "j, i" : "i, j"));
    std::string product = binary("mulf", state, spread(k, K), S);
    return op(
        llvm::formatv("linalg.reduce {{ arith.addf } ins({0} : {1}) outs({2} : "
                      "{3}) dimensions = [{4}]",
                      product, S, zero, V, valueFirst ? 1 : 0));
  }
  /// exp(gate) state, the gate of a type: f64, K or S.
  std::string decay(const std::string &state, const std::string &gate,
                    llvm::StringRef type) {
    if (style == 2 && type != S) {
      std::string all = spread(gate, type);
      return binary("mulf", op(llvm::formatv("math.exp {0} : {1}", all, S)),
                    state, S);
    }
    std::string factor = op(llvm::formatv("math.exp {0} : {1}", gate, type));
    return binary("mulf", state, type == S ? factor : spread(factor, type), S);
  }
  std::string scaled(const std::string &x, const std::string &scale,
                     llvm::StringRef type) {
    return binary("mulf", x,
                  op(llvm::formatv("tensor.splat {0} : {1}", scale, type)),
                  type);
  }
  /// State + b k (v - S^T k)^T, or written out.
  std::string delta(const std::string &state, const std::string &k,
                    bool expanded) {
    if (!expanded) {
      std::string error = binary("subf", "%v_t", read(state, k), V);
      return add(state, outer(scaled(k, "%b_t", K), error));
    }
    std::string less = sub(state, scaled(outer(k, read(state, k)), "%b_t", S));
    return add(less, outer(k, scaled("%v_t", "%b_t", V)));
  }
  std::string finish(const std::string &next) {
    std::string y = read(next, "%q_t");
    return body + llvm::formatv("      scan.yield {0}, {1} : {2}, {3}\n", next,
                                y, S, V)
                      .str();
  }

  const std::string S, K = "tensor<3xf64>", V = "tensor<2xf64>";

private:
  std::string generic(std::vector<std::string> ins,
                      std::vector<std::string> types,
                      std::vector<std::string> maps, llvm::StringRef result,
                      llvm::StringRef inner = "") {
    std::string empty = op(llvm::formatv("tensor.empty() : {0}", S));
    std::string mapText, arguments;
    for (size_t i = 0; i < ins.size(); ++i) {
      mapText += "affine_map<" + maps[i] + ">, ";
      arguments += llvm::formatv("%e{0}: f64, ", i).str();
    }
    return op(llvm::formatv(
        "linalg.generic {{indexing_maps = [{0}affine_map<(i, j) -> (i, "
        "j)>], iterator_types = "
        "[\"parallel\", \"parallel\"]} ins({1} : {2}) outs({3} : {4}) "
        "{{\n      ^bb0({5}%last: f64):\n"
        "        {6}\n        linalg.yield {7} : f64\n      } -> {4}",
        mapText, llvm::join(ins, ", "), llvm::join(types, ", "), empty, S,
        arguments, inner, result));
  }

  int style, next = 0;
  bool valueFirst;
  std::string body;
};

} // namespace prism::analysis

#endif // PRISM_UNITTESTS_ANALYSIS_SPELLER_H
