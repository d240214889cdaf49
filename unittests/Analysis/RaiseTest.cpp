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
#include "Speller.h"
#include "StateMap.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
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
           "        %p = arith.mulf %e0, %e1 : f64\n        %r = arith.subf "
           "%e2, %p : f64\n        linalg.yield %r : f64\n"
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
    {"sigmoid_gate", "decay inject",
     [](Speller &s, bool expanded) {
       // sigmoid(-g), as it is or as the exponential of its logarithm
       std::string one = s.op("arith.constant 1.0 : f64");
       std::string e = s.op("math.exp %g_t : f64");
       std::string sum = s.binary("addf", one, e, "f64");
       std::string log = s.op("math.log1p " + e + " : f64");
       std::string gate =
           expanded ? s.op("math.exp " + s.op("arith.negf " + log + " : f64") +
                           " : f64")
                    : s.binary("divf", one, sum, "f64");
       return s.add(s.outer("%k_t", "%v_t"),
                    s.binary("mulf", "%S", s.spread(gate, "f64"), s.S));
     }},
    {"ranked_injection", "decay inject",
     [](Speller &s, bool expanded) {
       std::string written = s.rankedOuter(s.scaleRanks("%d_t", 2));
       std::string kept = s.decay("%S", "%g_t", "f64");
       return expanded ? s.add(written, kept) : s.add(kept, written);
     }},
    {"delta_rule_ranked_injection", "decay erase inject inject",
     [](Speller &s, bool expanded) {
       std::string base =
           s.delta(s.decay("%S", "%g_t", "f64"), "%k_t", expanded);
       std::string refined = s.op("math.tanh %d_t : tensor<2x2xf64>");
       return s.add(base, s.rankedOuter(s.scaleRanks(refined, 2)));
     }},
    {"ranked_delta_rule", "erase inject",
     [](Speller &s, bool expanded) {
       std::string seen = s.rankedRead("%S"), rows = s.matrix(2, 2);
       if (!expanded)
         return s.add("%S", s.rankedOuter(s.scaleRanks(
                                s.binary("subf", "%d_t", seen, rows), 2)));
       std::string less = s.sub("%S", s.rankedOuter(s.scaleRanks(seen, 2)));
       return s.add(less, s.rankedOuter(s.scaleRanks("%d_t", 2)));
     }},
    {"gated_ranked_delta_rule", "decay erase inject",
     [](Speller &s, bool expanded) {
       std::string kept = s.decay("%S", "%w_t", s.K), rows = s.matrix(2, 2);
       std::string seen = s.rankedRead(kept);
       if (!expanded)
         return s.add(kept, s.rankedOuter(s.scaleRanks(
                                s.binary("subf", "%d_t", seen, rows), 2)));
       std::string less = s.sub(kept, s.rankedOuter(s.scaleRanks(seen, 2)));
       return s.add(s.rankedOuter(s.scaleRanks("%d_t", 2)), less);
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

static std::string entryOf(const std::string &body, bool valueFirst) {
  std::string inputs = "q:btk k:btk v:btv a:btk w:btk g:bt b:bt c:btlk d:btlv "
                       "e:btl m:bt";
  return interpreter::makeEntry(3, 2, inputs + (valueFirst ? "vk" : "kv"), body,
                                /*reverse=*/false, valueFirst);
}

static interpreter::Arrays randomInputs(bool valueFirst) {
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
           {"c", {2, 7, 2, 3}},
           {"d", {2, 7, 2, 2}},
           {"e", {2, 7, 2}},
           {"initial_state", {2, 1, 3, 2}}}) {
    bool isState = StringRef(name) == "m" || StringRef(name) == "initial_state";
    SmallVector<int64_t> extents = shape;
    if (valueFirst && isState)
      std::swap(extents[2], extents[3]);
    Array array(extents);
    for (double &x : array.data)
      x = uniform(random);
    inputs[name] = array;
  }
  return inputs;
}

/// Outputs and final states, one after the other; nothing if they are
/// undefined.
static std::optional<std::vector<double>> valuesOf(ModuleOp module,
                                                   bool valueFirst) {
  auto results = interpreter::evaluate(*module.getOps<func::FuncOp>().begin(),
                                       randomInputs(valueFirst));
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

/// The factors from the state to its next value; of a state that is written
/// values first they stand between two transposes.
static std::string factorsOf(ModuleOp module, bool valueFirst) {
  std::string text;
  module.walk([&](scan::RecurrenceOp op) {
    auto pass = [&](Value state) {
      auto transpose = state.getDefiningOp<linalg::TransposeOp>();
      return valueFirst && transpose ? transpose.getInput() : state;
    };
    Value state = pass(op.getYield().getValues()[0]);
    while (auto factor = state.getDefiningOp<scan::StateOpInterface>()) {
      text = factor->getName().stripDialect().str() +
             (text.empty() ? "" : " ") + text;
      state = factor.getStateOperand().get();
    }
    if (pass(state) != op.getStateArgument(0))
      text = "none";
  });
  return text;
}

namespace {
class Raise : public testing::TestWithParam<Recurrence> {
protected:
  TestContext test;

  OwningOpRef<ModuleOp> parse(const std::string &body,
                              bool valueFirst = false) {
    return parseSourceString<ModuleOp>(entryOf(body, valueFirst),
                                       &test.context);
  }
};
} // namespace

TEST_P(Raise, EverySpelling) {
  for (int style : {0, 1, 2})
    for (bool valueFirst : {false, true})
      for (bool expanded : {false, true}) {
        if (valueFirst && StringRef(GetParam().name).ends_with("by_matrix"))
          continue; // the matrix stands on the keys' side
        Speller speller(style, valueFirst);
        std::string next = GetParam().write(speller, expanded);
        std::string body = speller.finish(next);
        auto module = parse(body, valueFirst);
        ASSERT_TRUE(module) << test.messages << body;
        auto before = valuesOf(*module, valueFirst);
        ASSERT_TRUE(before) << test.messages << body;
        raise(*module);
        std::string text;
        llvm::raw_string_ostream(text) << *module;
        EXPECT_EQ(factorsOf(*module, valueFirst), GetParam().factors)
            << body << text;
        EXPECT_NE(text.find("scan.read"), std::string::npos) << text;
        auto after = valuesOf(*module, valueFirst);
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
           {"ins(%e_t", "ins(%v_t"},
           {"dense<0.0>", "dense<0.5>"}})
    for (size_t at = body.find(from); at != std::string::npos;
         at = body.find(from, at + 1))
      mutants.push_back(body.substr(0, at) + to.str() +
                        body.substr(at + from.size()));
  return mutants;
}

TEST_P(Raise, MutantsKeepTheirMeaning) {
  unsigned different = 0, raisedAlike = 0;
  for (int style : {0, 1, 2, 3})
    for (bool expanded : {false, true}) {
      // The last style: the second one, values first.
      bool valueFirst = style == 3;
      if (valueFirst &&
          (expanded || StringRef(GetParam().name).ends_with("by_matrix")))
        continue;
      Speller speller(valueFirst ? 1 : style, valueFirst);
      std::string next = GetParam().write(speller, expanded);
      std::string body = speller.finish(next);
      auto original = parse(body, valueFirst);
      auto wanted = valuesOf(*original, valueFirst);
      ASSERT_TRUE(wanted);
      for (const std::string &mutant : mutate(body)) {
        auto module = parse(mutant, valueFirst);
        if (!module)
          continue;
        auto before = valuesOf(*module, valueFirst);
        if (!before || distance(*wanted, *before) < 1e-9)
          continue; // undefined, or another spelling of the same
        ++different;
        raise(*module);
        auto after = valuesOf(*module, valueFirst);
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
