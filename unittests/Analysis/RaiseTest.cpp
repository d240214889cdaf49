//===- RaiseTest.cpp - Recurrences in many spellings become factors -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each recurrence is written in three styles (named linalg ops, generic ones,
// broadcasts and sums), factored and expanded, and must become the same chain
// of factors with the same values. One op away from it (a sign, an operand, an
// operation) the values must stay those of what was written.
//
//===----------------------------------------------------------------------===//

#include "../Interpreter/TestModel.h"
#include "Prism/Dialect/Scan/Transforms/Passes.h"
#include "StateMap.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace prism;
using namespace prism::analysis;
using interpreter::Array;
using llvm::formatv;

namespace {
/// Writes a step of a 3 x 2 state in one of three styles.
class Speller {
public:
  explicit Speller(int style) : style(style) {}

  std::string op(const std::string &text) {
    std::string name = "%x" + std::to_string(next++);
    body += "      " + name + " = " + text + "\n";
    return name;
  }
  std::string add(StringRef a, StringRef b) { return binary("addf", a, b, S); }
  std::string sub(StringRef a, StringRef b) { return binary("subf", a, b, S); }
  std::string binary(StringRef name, StringRef a, StringRef b, StringRef type) {
    return op(formatv("arith.{0} {1}, {2} : {3}", name, a, b, type));
  }
  /// A scalar, a key or a value all over the state.
  std::string spread(const std::string &x, StringRef type) {
    if (type == "f64")
      return op(formatv("tensor.splat {0} : {1}", x, S));
    bool isKey = type == K;
    if (style == 1)
      return generic({x}, {type.str()},
                     {isKey ? "(i, j) -> (i)" : "(i, j) -> (j)"}, "%e0");
    std::string empty = op(formatv("tensor.empty() : {0}", S));
    return op(formatv("linalg.broadcast ins({0} : {1}) outs({2} : {3}) "
                      "dimensions = [{4}]",
                      x, type, empty, S, isKey ? 1 : 0));
  }
  std::string outer(const std::string &k, const std::string &v) {
    if (style == 0) {
      std::string column =
          op(formatv("tensor.expand_shape {0} [[0, 1]] output_shape [3, 1] : "
                     "{1} into tensor<3x1xf64>",
                     k, K));
      std::string row =
          op(formatv("tensor.expand_shape {0} [[0, 1]] output_shape [1, 2] : "
                     "{1} into tensor<1x2xf64>",
                     v, V));
      std::string zero = op(formatv("arith.constant dense<0.0> : {0}", S));
      return op(formatv("linalg.matmul ins({0}, {1} : tensor<3x1xf64>, "
                        "tensor<1x2xf64>) outs({2} : {3}) -> {3}",
                        column, row, zero, S));
    }
    if (style == 1)
      return generic({k, v}, {K, V}, {"(i, j) -> (i)", "(i, j) -> (j)"}, "%p",
                     "%p = arith.mulf %e0, %e1 : f64");
    return binary("mulf", spread(k, K), spread(v, V), S);
  }
  /// S^T k
  std::string read(const std::string &state, const std::string &k) {
    std::string zero = op(formatv("arith.constant dense<0.0> : {0}", V));
    if (style == 0)
      return op(formatv(
          "linalg.vecmat ins({0}, {1} : {2}, {3}) outs({4} : {5}) -> {5}", k,
          state, K, S, zero, V));
    if (style == 1)
      return op(formatv(
          "linalg.generic {{indexing_maps = [affine_map<(j, i) -> (i)>, "
          "affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>], "
          "iterator_types = [\"parallel\", \"reduction\"]} ins({0}, {1} : {2}, "
          "{3}) outs({4} : {5}) {{\n"
          "      ^bb0(%e0: f64, %e1: f64, %e2: f64):\n        %p = arith.mulf "
          "%e0, %e1 : f64\n"
          "        %s = arith.addf %p, %e2 : f64\n        linalg.yield %s : "
          "f64\n      } -> {5}",
          k, state, K, S, zero, V));
    std::string product = binary("mulf", state, spread(k, K), S);
    return op(formatv("linalg.reduce {{ arith.addf } ins({0} : {1}) outs({2} : "
                      "{3}) dimensions = [0]",
                      product, S, zero, V));
  }
  /// exp(gate) state, the gate of a type: f64, K or S.
  std::string decay(const std::string &state, const std::string &gate,
                    StringRef type) {
    if (style == 2 && type != S) {
      std::string all = spread(gate, type);
      return binary("mulf", op(formatv("math.exp {0} : {1}", all, S)), state,
                    S);
    }
    std::string factor = op(formatv("math.exp {0} : {1}", gate, type));
    return binary("mulf", state, type == S ? factor : spread(factor, type), S);
  }
  std::string scaled(const std::string &x, const std::string &scale,
                     StringRef type) {
    return binary("mulf", x, op(formatv("tensor.splat {0} : {1}", scale, type)),
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
    return body +
           formatv("      scan.yield {0}, {1} : {2}, {3}\n", next, y, S, V)
               .str();
  }

  const std::string S = "tensor<3x2xf64>", K = "tensor<3xf64>",
                    V = "tensor<2xf64>";

private:
  std::string generic(std::vector<std::string> ins,
                      std::vector<std::string> types,
                      std::vector<std::string> maps, StringRef result,
                      StringRef inner = "") {
    std::string empty = op(formatv("tensor.empty() : {0}", S));
    std::string mapText, arguments;
    for (size_t i = 0; i < ins.size(); ++i) {
      mapText += "affine_map<" + maps[i] + ">, ";
      arguments += formatv("%e{0}: f64, ", i).str();
    }
    return op(
        formatv("linalg.generic {{indexing_maps = [{0}affine_map<(i, j) -> (i, "
                "j)>], iterator_types = "
                "[\"parallel\", \"parallel\"]} ins({1} : {2}) outs({3} : {4}) "
                "{{\n      ^bb0({5}%last: f64):\n"
                "        {6}\n        linalg.yield {7} : f64\n      } -> {4}",
                mapText, llvm::join(ins, ", "), llvm::join(types, ", "), empty,
                S, arguments, inner, result));
  }

  int style, next = 0;
  std::string body;
};

struct Recurrence {
  const char *name;
  const char *factors; // what it must become
  std::string (*write)(Speller &, bool expanded);
};
void PrintTo(const Recurrence &recurrence, std::ostream *os) {
  *os << recurrence.name;
}
} // namespace

static const Recurrence kRecurrences[] = {
    {"sum", "inject",
     [](Speller &s, bool) { return s.add("%S", s.outer("%k_t", "%v_t")); }},
    {"scalar_decay", "decay inject",
     [](Speller &s, bool) {
       return s.add(s.outer("%k_t", "%v_t"), s.decay("%S", "%g_t", "f64"));
     }},
    {"decay_per_key", "decay inject",
     [](Speller &s, bool) {
       return s.add(s.decay("%S", "%w_t", s.K), s.outer("%k_t", "%v_t"));
     }},
    {"decay_per_element", "decay inject",
     [](Speller &s, bool) {
       return s.add(s.decay("%S", "%m_t", s.S), s.outer("%k_t", "%v_t"));
     }},
    {"delta_rule", "erase inject",
     [](Speller &s, bool expanded) { return s.delta("%S", "%k_t", expanded); }},
    {"delta_rule_by_matrix", "erase inject",
     [](Speller &s, bool expanded) {
       // (I - b k k^T) S + b k v^T
       std::string eye = s.op("arith.constant dense<[[1.0, 0.0, 0.0], [0.0, "
                              "1.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf64>");
       std::string empty = s.op("tensor.empty() : tensor<3x3xf64>");
       std::string bk = s.scaled("%k_t", "%b_t", s.K);
       std::string square = s.op(formatv(
           "linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i)>, "
           "affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>, "
           "affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", "
           "\"parallel\"]} ins({0}, %k_t, {1} : {2}, {2}, "
           "tensor<3x3xf64>) outs({3} : tensor<3x3xf64>) {{\n      ^bb0(%e0: "
           "f64, %e1: f64, %e2: f64, %e3: f64):\n"
           "        %p = arith.mulf %e0, %e1 : f64\n        %d = arith.subf "
           "%e2, %p : f64\n        linalg.yield %d : f64\n"
           "      } -> tensor<3x3xf64>",
           bk, eye, s.K, empty));
       std::string start =
           expanded ? s.outer(bk, "%v_t")
                    : s.op("arith.constant dense<0.0> : tensor<3x2xf64>");
       std::string product =
           s.op(formatv("linalg.matmul ins({0}, %S : tensor<3x3xf64>, {1}) "
                        "outs({2} : {1}) -> {1}",
                        square, s.S, start));
       return expanded ? product : s.add(product, s.outer(bk, "%v_t"));
     }},
    {"gated_delta_rule", "decay erase inject",
     [](Speller &s, bool expanded) {
       if (!expanded)
         return s.delta(s.decay("%S", "%g_t", "f64"), "%k_t", false);
       // a S - a b k (S^T k)^T + b k v^T, all from the state before.
       std::string gone =
           s.decay(s.scaled(s.outer("%k_t", s.read("%S", "%k_t")), "%b_t", s.S),
                   "%g_t", "f64");
       std::string less = s.sub(s.decay("%S", "%g_t", "f64"), gone);
       return s.add(less, s.outer(s.scaled("%k_t", "%b_t", s.K), "%v_t"));
     }},
    {"delta_rule_decay_per_key", "decay erase inject",
     [](Speller &s, bool expanded) {
       return s.delta(s.decay("%S", "%w_t", s.K), "%k_t", expanded);
     }},
    {"removal_before_decay", "decay erase inject",
     [](Speller &s, bool expanded) {
       std::string gone = s.outer("%a_t", s.read("%S", "%q_t"));
       std::string kept = s.decay("%S", "%w_t", s.K),
                   written = s.outer("%k_t", "%v_t");
       return expanded ? s.sub(s.add(kept, written), gone)
                       : s.add(s.sub(kept, gone), written);
     }},
    {"two_delta_rules", "decay erase inject erase inject",
     [](Speller &s, bool expanded) {
       std::string first =
           s.delta(s.decay("%S", "%g_t", "f64"), "%k_t", expanded);
       return s.delta(first, "%a_t", expanded);
     }},
    {"two_injections", "decay erase inject inject",
     [](Speller &s, bool expanded) {
       std::string base =
           s.delta(s.decay("%S", "%g_t", "f64"), "%k_t", expanded);
       return s.add(base,
                    s.outer("%a_t", s.op("math.tanh %v_t : tensor<2xf64>")));
     }},
};

static std::string entryOf(const std::string &body) {
  return interpreter::makeEntry(
      3, 2, "q:btk k:btk v:btv a:btk w:btk m:btkv g:bt b:bt", body);
}

static interpreter::Arrays randomInputs() {
  interpreter::Arrays inputs;
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (auto [name, shape] :
       std::initializer_list<std::pair<const char *, SmallVector<int64_t>>>{
           {"q", {2, 7, 3}},
           {"k", {2, 7, 3}},
           {"v", {2, 7, 2}},
           {"a", {2, 7, 3}},
           {"w", {2, 7, 3}},
           {"m", {2, 7, 3, 2}},
           {"g", {2, 7}},
           {"b", {2, 7}},
           {"initial_state", {2, 1, 3, 2}}}) {
    Array array(shape);
    for (double &x : array.data)
      x = uniform(random);
    inputs[name] = array;
  }
  return inputs;
}

/// Outputs and final states, one after the other; nothing if they are
/// undefined.
static std::optional<std::vector<double>> valuesOf(ModuleOp module) {
  auto results = interpreter::evaluate(*module.getOps<func::FuncOp>().begin(),
                                       randomInputs());
  if (failed(results))
    return std::nullopt;
  std::vector<double> all = (*results)["o"].data;
  llvm::append_range(all, (*results)["final_state"].data);
  for (double x : all)
    if (!std::isfinite(x))
      return std::nullopt;
  return all;
}

static double distance(ArrayRef<double> a, ArrayRef<double> b) {
  double size = 1e-300, error = 0.0;
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    size = std::max({size, std::abs(x), std::abs(y)});
    error = std::max(error, std::abs(x - y));
  }
  return error / size;
}

static void raise(ModuleOp module) {
  PassManager pm(module.getContext());
  pm.addPass(scan::createScanRaiseAffine());
  ASSERT_TRUE(succeeded(pm.run(module)));
}

static std::string factorsOf(ModuleOp module) {
  std::string text;
  module.walk([&](scan::RecurrenceOp op) {
    auto chain = scan::getFactorChain(op, 0);
    if (failed(chain)) {
      text = "none";
      return;
    }
    for (scan::StateOpInterface factor : *chain)
      text +=
          (text.empty() ? "" : " ") + factor->getName().stripDialect().str();
  });
  return text;
}

namespace {
class Raise : public testing::TestWithParam<Recurrence> {
protected:
  TestContext test;

  OwningOpRef<ModuleOp> parse(const std::string &body) {
    return parseSourceString<ModuleOp>(entryOf(body), &test.context);
  }
};
} // namespace

TEST_P(Raise, EverySpelling) {
  for (int style : {0, 1, 2})
    for (bool expanded : {false, true}) {
      Speller speller(style);
      std::string next = GetParam().write(speller, expanded);
      std::string body = speller.finish(next);
      auto module = parse(body);
      ASSERT_TRUE(module) << test.messages << body;
      auto before = valuesOf(*module);
      ASSERT_TRUE(before) << test.messages << body;
      raise(*module);
      std::string text;
      llvm::raw_string_ostream(text) << *module;
      EXPECT_EQ(factorsOf(*module), GetParam().factors) << body << text;
      EXPECT_NE(text.find("scan.read"), std::string::npos) << text;
      auto after = valuesOf(*module);
      ASSERT_TRUE(after) << test.messages << text;
      EXPECT_LT(distance(*before, *after), 1e-12) << body << text;
    }
}

/// The bodies that differ from `body` in one place.
static std::vector<std::string> mutate(const std::string &body) {
  std::vector<std::string> mutants;
  for (auto [from, to] : std::initializer_list<std::pair<StringRef, StringRef>>{
           {"addf", "subf"},
           {"subf", "addf"},
           {"mulf", "addf"},
           {"mulf", "divf"},
           {"%k_t", "%q_t"},
           {"%k_t", "%a_t"},
           {"%b_t", "%g_t"},
           {"%S", "%m_t"},
           {"math.exp", "math.tanh"},
           {"math.exp", "math.absf"},
           {"%g_t", "%b_t"},
           {"%w_t", "%q_t"},
           {"dense<0.0>", "dense<0.5>"}})
    for (size_t at = body.find(from); at != std::string::npos;
         at = body.find(from, at + 1))
      mutants.push_back(body.substr(0, at) + to.str() +
                        body.substr(at + from.size()));
  return mutants;
}

TEST_P(Raise, MutantsKeepTheirMeaning) {
  unsigned different = 0, raisedAlike = 0;
  for (int style : {0, 1, 2})
    for (bool expanded : {false, true}) {
      Speller speller(style);
      std::string next = GetParam().write(speller, expanded);
      std::string body = speller.finish(next);
      auto original = parse(body);
      auto wanted = valuesOf(*original);
      ASSERT_TRUE(wanted);
      for (const std::string &mutant : mutate(body)) {
        auto module = parse(mutant);
        if (!module)
          continue;
        auto before = valuesOf(*module);
        if (!before || distance(*wanted, *before) < 1e-9)
          continue; // undefined, or another spelling of the same
        ++different;
        raise(*module);
        auto after = valuesOf(*module);
        ASSERT_TRUE(after) << test.messages << mutant;
        EXPECT_LT(distance(*before, *after), 1e-12) << mutant;
        raisedAlike += distance(*wanted, *after) < 1e-9;
      }
    }
  EXPECT_GE(different, 20u);
  EXPECT_EQ(raisedAlike, 0u);
}

INSTANTIATE_TEST_SUITE_P(Recurrences, Raise, testing::ValuesIn(kRecurrences),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });
