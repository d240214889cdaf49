//===- CoupledFormTest.cpp - Several states in mini-batches ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Random steps of coupled states (decays, sums of multiples, erases that read a
// state at the mini-batch's entry, injections, reads of any state value)
// against the float64 recurrence, on packed sequences whose lengths lie around
// the mini-batch's.
//
//===----------------------------------------------------------------------===//

#include "ProgramHarness.h"
#include "llvm/Support/FormatVariadic.h"
#include <random>

using namespace mlir;
using namespace prism;
using namespace prism::test;
using llvm::formatv;

namespace {

/// Writes a step on 5 x 3 states.
class CoupledStep {
public:
  CoupledStep(uint64_t seed, int states, StringRef type)
      : states(states), f(type), S(formatv("tensor<5x3x{0}>", f)),
        K(formatv("tensor<5x{0}>", f)), V(formatv("tensor<3x{0}>", f)),
        random(seed) {
    for (int i = 0; i < states; ++i)
      values.push_back("%S" + std::to_string(i));
    next = values;
    for (int i = 0; i < states; ++i)
      values.push_back("%E" + std::to_string(i));
  }

  void write(int steps) {
    for (int i = 0; i < states; ++i)
      decay(next[i]); // no state grows
    for (int step = 0; step < steps; ++step)
      change(next[pick(states)]);
    read("%q");
    read(values[pick(values.size())]);
  }

  /// The module: states, their entries and inputs, in chunks of `miniBatch`.
  std::string module(int miniBatch, bool reverse) const;

private:
  unsigned pick(unsigned count) { return random() % count; }
  std::string scalar() {
    const char *scalars[] = {"%a", "%b"};
    return scalars[pick(2)];
  }
  std::string key() { return pick(2) ? "%k" : "%q"; }
  std::string op(const std::string &text) {
    std::string name = "%x" + std::to_string(count++);
    body += "    " + name + " = " + text + "\n";
    return name;
  }
  void set(std::string &state, const std::string &text) {
    state = op(text);
    values.push_back(state);
  }
  void decay(std::string &state) {
    set(state, formatv("scan.decay {0} by %g{1} along scalar : {2}, {3}", state,
                       pick(2), S, f));
  }
  void change(std::string &state);
  void read(const std::string &state);

  int states, count = 0;
  std::string f, S, K, V, body;
  std::vector<std::string> values, next, outputs;
  std::mt19937_64 random;
};

} // namespace

void CoupledStep::change(std::string &state) {
  switch (pick(6)) {
  case 0:
    return decay(state);
  case 1:
    return set(
        state,
        formatv("scan.erase {0} of %E{1} read {2} write {3} strength {4} "
                ": {5} of {5}, {6}, {6}, {7}",
                state, pick(states), key(), key(), scalar(), S, K, f));
  case 2:
    return set(state, formatv("scan.inject {0} key {1} value %v scale {2} : "
                              "{3}, {4}, {5}, {6}",
                              state, key(), scalar(), S, K, V, f));
  case 3: { // a value made of what is read at the entry
    std::string seen = op(formatv("scan.read %E{0} query {1} : {2}, {3} -> {4}",
                                  pick(states), key(), S, K, V));
    std::string error = op(formatv("arith.subf %v, {0} : {1}", seen, V));
    return set(state, formatv("scan.inject {0} key {1} value {2} : {3}, {4}, "
                              "{5}",
                              state, key(), error, S, K, V));
  }
  case 4: { // a multiple of another state
    std::string all = op(formatv("tensor.splat {0} : {1}", scalar(), S));
    std::string part = op(formatv("arith.mulf {0}, {1} : {2}",
                                  values[pick(values.size())], all, S));
    return set(state, formatv("arith.{0} {1}, {2} : {3}",
                              pick(2) ? "addf" : "subf", state, part, S));
  }
  default: {
    std::string quarter = op(formatv("arith.constant dense<0.25> : {0}", S));
    std::string part = op(
        formatv("arith.mulf {0}, {1} : {2}", quarter, next[pick(states)], S));
    return set(state, formatv("arith.addf {0}, {1} : {2}", part, state, S));
  }
  }
}

void CoupledStep::read(const std::string &state) {
  std::string from = state == "%q" ? next[0] : state;
  outputs.push_back(op(formatv("scan.read {0} query %q {{scale = 0.5 : f64} : "
                               "{1}, {2} -> {3}",
                               from, S, K, V)));
}

std::string CoupledStep::module(int miniBatch, bool reverse) const {
  std::string keys = formatv("tensor<?x?x5x{0}>", f),
              rows = formatv("tensor<?x?x3x{0}>", f),
              numbers = formatv("tensor<?x?x{0}>", f),
              state = formatv("tensor<?x1x5x3x{0}>", f);
  std::string inits, initTypes, initNames, finals, results, stateArguments,
      entryArguments, finalNames;
  for (int i = 0; i < states; ++i) {
    std::string comma = i ? ", " : "";
    initNames += formatv(", %i{0}: {1} {{scan.name = \"i{0}\", scan.optional}",
                         i, state);
    inits += comma + formatv("%i{0} as \"nhkv\"", i).str();
    initTypes += comma + state;
    finals += comma + "\"nhkv\"";
    finalNames += formatv(", {0} {{scan.name = \"f{1}\"}", state, i);
    stateArguments += formatv("%S{0}: {1}, ", i, S);
    entryArguments += formatv("%E{0}: {1}, ", i, S);
    results += ", " + state;
  }
  std::string yielded =
      llvm::join(next, ", ") + ", " + llvm::join(outputs, ", ");
  std::string yieldTypes;
  for (int i = 0; i < states; ++i)
    yieldTypes += S + ", ";
  std::string head =
      formatv("func.func @forward(%q: {0} {{scan.name = \"q\"}, %k: {0} "
              "{{scan.name = \"k\"}, %v: {1} {{scan.name = \"v\"}, %a: {2} "
              "{{scan.name = \"a\"}, %b: {2} {{scan.name = \"b\"}, %g0: {2} "
              "{{scan.name = \"g0\"}, %g1: {2} {{scan.name = \"g1\"}{3}, "
              "%offsets: tensor<?xi64> {{scan.name = \"offsets\", "
              "scan.optional}) -> ({1} {{scan.name = \"o\"}, {1} {{scan.name = "
              "\"p\"}{4}) attributes {{scan.entry = \"forward\"} {{\n",
              keys, rows, numbers, initNames, finalNames);
  // The step's names are the function's: it sees the tokens, not the arrays.
  std::string recurrence = formatv(
      "  %o:{0} = scan.recurrence {1} mini_batch {2} ins(%q as \"btk\", %k as "
      "\"btk\", %v as \"btv\", %a as \"bt\", %b as \"bt\", %g0 as \"bt\", %g1 "
      "as \"bt\" : {3}, {3}, {4}, {5}, {5}, {5}, {5}) init({6} : {7}) "
      "offsets(%offsets : tensor<?xi64>) outs(\"btv\", \"btv\") finals({8}) "
      "{{\n",
      2 + states, reverse ? "reverse" : "", miniBatch, keys, rows, numbers,
      inits, initTypes, finals);
  std::string arguments =
      formatv("  ^bb0({0}{1}%qt: {2}, %kt: {2}, %vt: {3}, %at: {4}, %bt: {4}, "
              "%g0t: {4}, %g1t: {4}):\n",
              stateArguments, entryArguments, K, V, f);
  std::string inner = body + "    scan.yield " + yielded + " : " + yieldTypes +
                      V + ", " + V + "\n";
  for (const char *name : {"q", "k", "v", "a", "b", "g0", "g1"})
    for (const char *after : {" ", ","}) {
      std::string from = std::string("%") + name + after,
                  to = std::string("%") + name + "t" + after;
      for (size_t at = inner.find(from); at != std::string::npos;
           at = inner.find(from, at + to.size()))
        inner.replace(at, from.size(), to);
    }
  std::string returned;
  for (int i = 0; i < 2 + states; ++i)
    returned += (i ? ", %o#" : "%o#") + std::to_string(i);
  return head + recurrence + arguments + inner +
         formatv("  } -> ({0}, {0}), ({1})\n  return {2} : {0}, {0}{3}\n}\n",
                 rows, initTypes, returned, results)
             .str();
}

/// The worst error of a random step, and its text on failure.
static void expectAgrees(uint64_t seed, StringRef type, double limit) {
  std::mt19937_64 random(seed);
  int miniBatches[] = {2, 5, 8, 16};
  int64_t length = miniBatches[random() % 4];
  CoupledStep step(seed, 1 + random() % 3, type);
  step.write(3 + random() % 4);
  std::string text = step.module(length, random() % 4 == 0);
  check::InputOptions options;
  options.seed = seed;
  options.gates = seed % 3 == 0 ? check::GateSet::mixed : check::GateSet::mild;
  options.lengths = {0, 1, length - 1, length, length + 1, 3 * length + 1};
  options.initialState = seed % 4 != 1;
  ProgramHarness harness(text, length, options);
  if (!harness.ok())
    return;
  auto program = harness.program();
  for (const check::TensorError &error : harness.run(*program, limit))
    EXPECT_TRUE(error.passed)
        << seed << " " << error.name << " " << error.ratio << "\n"
        << text;
}

TEST(CoupledForm, RandomStepsInDouble) {
  for (uint64_t seed = 0; seed < 12; ++seed)
    expectAgrees(seed, "f64", 1e-12);
}

TEST(CoupledForm, RandomStepsInFloat) {
  for (uint64_t seed = 100; seed < 106; ++seed)
    expectAgrees(seed, "f32", 1e-5);
}
