//===- RandomOps.cpp - Ops without regions in random steps ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RandomWriter.h"

using namespace prism::analysis::random;
using llvm::formatv;

void Writer::elementwise() {
  Kind kind = Kind(below(5));
  const char *type = kTypes[kind];
  Value a = pick(kind), b = pick(kind);
  switch (below(affineOnly ? 6 : 8)) {
  case 0:
    add(kind, joined(a, b),
        formatv("arith.addf {0}, {1} : {2}", a.name, b.name, type));
    break;
  case 1:
    add(kind, joined(a, b),
        formatv("arith.subf {0}, {1} : {2}", a.name, b.name, type));
    break;
  case 2:
  case 3:
    if (affineOnly)
      b = pick(kind, a.cls == isFree ? isAffine : isFree);
    add(kind, multiplied(a, b),
        formatv("arith.mulf {0}, {1} : {2}", a.name, b.name, type));
    break;
  case 4:
    add(kind, a.cls, formatv("arith.negf {0} : {1}", a.name, type));
    break;
  case 5: {
    static const char *numbers[] = {"0.5", "2.0", "-1.0", "0.25"};
    std::string c = constant(kind, numbers[below(4)]);
    add(kind, a.cls, formatv("arith.mulf {0}, {1} : {2}", a.name, c, type));
    break;
  }
  case 6:
    add(kind, b.cls == isFree ? a.cls : isOther,
        formatv("arith.divf {0}, {1} : {2}", a.name, b.name, type));
    break;
  default:
    add(kind, joined(a, b) == isFree ? isFree : isOther,
        formatv("arith.{0} {1}, {2} : {3}",
                chance(50) ? "maximumf" : "minimumf", a.name, b.name, type));
  }
}

void Writer::functions() {
  Kind kind = Kind(below(5));
  Value a = pick(kind, affineOnly ? isFree : isOther);
  for (int i = 0; i < 3 && !affineOnly && a.cls == isFree; ++i)
    a = pick(kind);
  static const char *names[] = {"exp",  "tanh", "absf", "erf",
                                "sqrt", "log",  "sin"};
  add(kind, a.cls == isFree ? isFree : isOther,
      formatv("math.{0} {1} : {2}", names[below(affineOnly ? 4 : 7)], a.name,
              kTypes[kind]));
}

void Writer::products() {
  auto factorOf = [&](const Value &a, Kind kind) {
    return pick(kind, !affineOnly       ? isOther
                      : a.cls == isFree ? isAffine
                                        : isFree);
  };
  switch (below(5)) {
  case 0: {
    Value s = pick(state), k = factorOf(s, keys);
    std::string zero = constant(values, "0.0");
    add(values, multiplied(s, k),
        formatv("linalg.vecmat ins({0}, {1} : tensor<3xf64>, tensor<3x2xf64>) "
                "outs({2} : tensor<2xf64>) -> tensor<2xf64>",
                k.name, s.name, zero));
    break;
  }
  case 1: {
    Value s = pick(state), v = factorOf(s, values);
    std::string zero = constant(keys, "0.0");
    add(keys, multiplied(s, v),
        formatv("linalg.matvec ins({0}, {1} : tensor<3x2xf64>, tensor<2xf64>) "
                "outs({2} : tensor<3xf64>) -> tensor<3xf64>",
                s.name, v.name, zero));
    break;
  }
  case 2: {
    Value a = pick(keys), b = factorOf(a, keys);
    std::string zero = line("arith.constant dense<0.0> : tensor<f64>");
    std::string sum = line(formatv(
        "linalg.dot ins({0}, {1} : tensor<3xf64>, tensor<3xf64>) outs({2} : "
        "tensor<f64>) -> tensor<f64>",
        a.name, b.name, zero));
    add(scalar, multiplied(a, b),
        formatv("tensor.extract {0}[] : tensor<f64>", sum));
    break;
  }
  case 3: {
    Value k = pick(keys), v = factorOf(k, values);
    std::string empty = line("tensor.empty() : tensor<3x2xf64>");
    add(state, multiplied(k, v),
        formatv("linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i)>, "
                "affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], "
                "iterator_types = [\"parallel\", \"parallel\"]} ins({0}, {1} : "
                "tensor<3xf64>, tensor<2xf64>) outs({2} : tensor<3x2xf64>) {{\n"
                "      ^bb0(%e: f64, %d: f64, %c: f64):\n"
                "        %ed = arith.mulf %e, %d : f64\n"
                "        linalg.yield %ed : f64\n"
                "      } -> tensor<3x2xf64>",
                k.name, v.name, empty));
    break;
  }
  default: {
    // Sums over the keys, or takes their maximum.
    bool most = !affineOnly && chance(25);
    Value s = pick(state);
    std::string init = constant(values, "0.0");
    add(values, most && s.cls != isFree ? isOther : s.cls,
        formatv("linalg.reduce {{ arith.{0} } ins({1} : tensor<3x2xf64>) "
                "outs({2} : tensor<2xf64>) dimensions = [0]",
                most ? "maximumf" : "addf", s.name, init));
  }
  }
}

void Writer::moves() {
  switch (below(8)) {
  case 0: {
    Kind from = chance(50) ? state : flipped,
         to = from == state ? flipped : state;
    Value a = pick(from);
    std::string empty = line(formatv("tensor.empty() : {0}", kTypes[to]));
    add(to, a.cls,
        formatv("linalg.transpose ins({0} : {1}) outs({2} : {3}) permutation = "
                "[1, 0]",
                a.name, kTypes[from], empty, kTypes[to]));
    break;
  }
  case 1: {
    Value a = pick(state);
    std::string flat = line(
        formatv("tensor.collapse_shape {0} [[0, 1]] : tensor<3x2xf64> into "
                "tensor<6xf64>",
                a.name));
    add(state, a.cls,
        formatv("tensor.expand_shape {0} [[0, 1]] output_shape [3, 2] : "
                "tensor<6xf64> into tensor<3x2xf64>",
                flat));
    break;
  }
  case 2: {
    Value a = pick(state), b = chance(50) ? a : pick(state);
    std::string top = line(formatv(
        "tensor.extract_slice {0}[0, 0] [1, 2] [1, 1] : tensor<3x2xf64> to "
        "tensor<1x2xf64>",
        a.name));
    std::string rest = line(formatv(
        "tensor.extract_slice {0}[1, 0] [2, 2] [1, 1] : tensor<3x2xf64> to "
        "tensor<2x2xf64>",
        b.name));
    add(state, joined(a, b),
        formatv("tensor.concat dim(0) {0}, {1} : (tensor<1x2xf64>, "
                "tensor<2x2xf64>) -> tensor<3x2xf64>",
                top, rest));
    break;
  }
  case 3: {
    Value a = pick(values);
    std::string at = line(formatv("arith.constant {0} : index", below(2)));
    add(scalar, a.cls,
        formatv("tensor.extract {0}[{1}] : tensor<2xf64>", a.name, at));
    break;
  }
  case 4: {
    Value a = pick(scalar);
    Kind kind = Kind(1 + below(4));
    add(kind, a.cls, formatv("tensor.splat {0} : {1}", a.name, kTypes[kind]));
    break;
  }
  case 5: {
    Value a = pick(values), s = pick(state);
    add(state, joined(a, s),
        formatv("tensor.insert_slice {0} into {1}[{2}, 0] [1, 2] [1, 1] : "
                "tensor<2xf64> into tensor<3x2xf64>",
                a.name, s.name, below(3)));
    break;
  }
  case 6: {
    // Writes one column; the other stays as it was.
    Value a = pick(keys), s = pick(state);
    add(state, joined(a, s),
        formatv("linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, "
                "affine_map<(i) -> (i, {2})>], iterator_types = "
                "[\"parallel\"]} ins({0} : tensor<3xf64>) outs({1} : "
                "tensor<3x2xf64>) {{\n"
                "      ^bb0(%e: f64, %d: f64):\n"
                "        linalg.yield %e : f64\n"
                "      } -> tensor<3x2xf64>",
                a.name, s.name, below(2)));
    break;
  }
  default: {
    bool along = chance(50);
    Value a = pick(along ? keys : values);
    std::string empty = line("tensor.empty() : tensor<3x2xf64>");
    add(state, a.cls,
        formatv("linalg.broadcast ins({0} : {1}) outs({2} : tensor<3x2xf64>) "
                "dimensions = [{3}]",
                a.name, kTypes[a.kind], empty, along ? 1 : 0));
  }
  }
}
