//===- RandomWriter.h - Writes random steps, op by op -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_ANALYSIS_RANDOMWRITER_H
#define PRISM_UNITTESTS_ANALYSIS_RANDOMWRITER_H

#include "llvm/Support/FormatVariadic.h"
#include <random>
#include <string>
#include <vector>

namespace prism::analysis::random {
enum Kind { scalar, keys, values, state, flipped };
inline constexpr const char *kTypes[] = {"f64", "tensor<3xf64>",
                                         "tensor<2xf64>", "tensor<3x2xf64>",
                                         "tensor<2x3xf64>"};
/// What the generator knows of a value.
enum Class { isFree, isAffine, isOther };

struct Value {
  std::string name;
  Kind kind;
  Class cls;
};

class Writer {
public:
  Writer(uint64_t seed, bool affineOnly)
      : random(seed), affineOnly(affineOnly) {}
  std::string write();

private:
  int below(int n) { return int(random() % uint64_t(n)); }
  bool chance(int percent) { return below(100) < percent; }
  std::string fresh() { return "%x" + std::to_string(next++); }
  std::string line(const std::string &text) {
    std::string name = fresh();
    body += "      " + name + " = " + text + "\n";
    return name;
  }
  Value add(Kind kind, Class cls, const std::string &text) {
    Value value{line(text), kind, cls};
    pool.push_back(value);
    return value;
  }
  const Value &pick(Kind kind, Class most = isOther);
  std::string constant(Kind kind, const std::string &number);
  static Class joined(const Value &a, const Value &b) {
    return std::max(a.cls, b.cls);
  }
  static Class multiplied(const Value &a, const Value &b) {
    return a.cls == isFree ? b.cls : b.cls == isFree ? a.cls : isOther;
  }

  void step();
  void elementwise();
  void functions();
  void products();
  void moves();
  void control();
  void factors();
  void detours();
  void bend();

  std::mt19937_64 random;
  bool affineOnly;
  int next = 0;
  std::string body;
  std::vector<Value> pool;
};
} // namespace prism::analysis::random

#endif // PRISM_UNITTESTS_ANALYSIS_RANDOMWRITER_H
