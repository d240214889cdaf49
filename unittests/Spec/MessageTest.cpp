//===- MessageTest.cpp - Every message of the spec reader -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One row per message. The base spec is right; a row replaces a piece of its
// text once, and the whole message is compared, place included where it is the
// point of the row.
//
//===----------------------------------------------------------------------===//

#include "Prism/Spec/Spec.h"
#include "gtest/gtest.h"
#include <ostream>
#include <random>

using namespace prism::spec;

namespace {

constexpr const char *kBase = R"json({ "prism_spec": 1, "name": "base",
  "dims": { "B": null, "T": null, "Hk": 2, "Hv": 4, "K": 8, "V": 16, "L": 2 },
  "dtype": { "io": "f32" },
  "inputs": { "q": ["B","T","Hk","K"], "k": ["B","T","Hk","K"], "v": ["B","T","Hv","V"],
    "g": ["B","T","Hv"], "u": ["B","T","Hv","V"], "p": ["B","T","Hv","L","V"],
    "c": ["B","T","Hv","L","K"], "b": ["B","T","Hv","L"] },
  "let": { "beta": "sigmoid(g)" },
  "steps": [ { "decay": "g" },
    { "erase": { "key": "k", "strength": "beta" } },
    { "inject": { "key": "k", "value": "v", "scale": "beta" } },
    { "inject": { "key": "c", "scale": "b", "refine": { "anchor": "u", "value": "v", "gain": "p" } } },
    { "read": { "query": "q" } } ],
  "entries": ["forward", "decode"], "target": ["cpu"]
})json";

constexpr const char *kShort = R"json({ "prism_spec": 1, "name": "short",
  "dims": { "H": 2, "K": 8, "V": 8 },
  "inputs": { "q": ["B","T","H","K"], "v": ["B","T","H","V"] },
  "inject": { "key": "q", "value": "v" },
  "read": { "query": "q" }
})json";

constexpr const char *kFamily = R"json({ "prism_spec": 1,
  "family": "prism",
  "dims": { "H": 2, "K": 8, "V": 8, "L": 1 }
})json";

constexpr const char *kStates = R"json({ "prism_spec": 1, "name": "states",
  "dims": { "H": 2, "K": 8, "V": 8 },
  "inputs": { "q": ["B","T","H","K"], "v": ["B","T","H","V"], "g": ["B","T","H"] },
  "states": { "S": ["K","V"], "z": ["K"], "m": [] },
  "let": { "next": "max(m + g, 0)" },
  "steps": [ { "decay": "g" }, { "inject": { "key": "q", "value": "v" } },
    { "inject": { "key": "q", "state": "z" } }, { "set": { "state": "m", "value": "next" } },
    { "read": { "query": "q", "output": "num" } }, { "read": { "query": "q", "state": "z", "output": "den" } } ],
  "outputs": { "o": "num / max(den, next)" }
})json";

constexpr const char *kConvolved =
    R"json({ "prism_spec": 1, "name": "convolved",
  "dims": { "Hk": 1, "Hv": 2, "K": 8, "V": 8, "W": 4, "Nine": 9 },
  "inputs": { "q": ["B","T","Hk","K"], "k": ["B","T","Hk","K"], "v": ["B","T","Hv","V"],
    "q_taps": ["Hk","K","W"], "q_bias": ["Hk","K"], "v_taps": ["Hv","V","W"] },
  "short_convolution": { "q": { "weight": "q_taps", "bias": "q_bias", "activation": "silu" }, "v": "v_taps" },
  "inject": { "key": "k", "value": "v" },
  "read": { "query": "q" }
})json";

struct Row {
  const char *base, *piece, *replacement, *message;
};

/// What a test list shows of a row.
void PrintTo(const Row &row, std::ostream *os) { *os << row.message; }

std::string replaceOnce(std::string text, const std::string &piece,
                        const std::string &replacement) {
  size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << "the base has no " << piece;
  if (at != std::string::npos)
    text.replace(at, piece.size(), replacement);
  return text;
}

class Messages : public testing::TestWithParam<Row> {};

TEST_P(Messages, AreExact) {
  const Row &row = GetParam();
  std::string text = replaceOnce(row.base, row.piece, row.replacement);
  SpecDiagnostic diagnostic;
  ASSERT_TRUE(failed(readSpec(text, "s.json", diagnostic))) << text;
  std::string message = diagnostic.str();
  EXPECT_EQ(message.find('\n'), std::string::npos);
  // Rows that leave the place out begin with the pointer.
  std::string expected = row.message;
  if (expected.rfind("s.json:", 0) != 0)
    message = message.substr(message.find("error: ") + 7);
  EXPECT_EQ(message, expected);
}

const Row kText[] = {
    {kBase, "\"prism_spec\": 1,", "\"prism_spec\": 1",
     "s.json:1:19: error: not JSON: syntax error while parsing object - "
     "unexpected string literal; expected '}'"},
    {kBase, "\"io\": \"f32\"", "\"io\": 1e999",
     "s.json:3:20: error: /dtype/io: not JSON: number out of range"},
    {kBase, "\"io\": \"f32\"", "\"io\": \"f32\",\n \"io\": \"f32\"",
     "s.json:4:2: error: /dtype/io: duplicate key 'io'"},
    {kBase, "\"cpu\"",
     "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
     "s.json:13:110: error: "
     "/target/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/"
     "0/0/0/0/0/0/0/0/0/"
     "0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0: nested deeper than 64 "
     "levels"},
};
INSTANTIATE_TEST_SUITE_P(Text, Messages, testing::ValuesIn(kText));

const Row kStructure[] = {
    {kBase, "\"dims\"", "\"dimz\"",
     "s.json:2:3: error: /dimz: unknown key 'dimz'; did you mean 'dims'?"},
    {kBase, "\"io\"", "\"quality\"",
     "s.json:3:14: error: /dtype/quality: unknown key 'quality', expected io, "
     "gate or state"},
    {kBase, "\"K\": 8,", "", "s.json:2:11: error: /dims: missing key 'K'"},
    {kBase, "\"K\": 8", "\"K\": 0",
     "s.json:2:58: error: /dims/K: expected an integer from 1 to 1048576, "
     "found number 0"},
    {kBase, "\"K\": 8", "\"K\": 8.5",
     "/dims/K: expected an integer from 1 to 1048576, found number 8.5"},
    {kBase, "\"T\": null", "\"T\": \"many\"",
     "/dims/T: expected an integer from 1 to 1073741824 or null, found string "
     "'many'"},
    {kBase, "\"prism_spec\": 1", "\"prism_spec\": 2",
     "/prism_spec: expected 1, found number 2"},
    {kBase, "\"f32\"", "\"fp32\"",
     "/dtype/io: expected f32, f64, bf16 or f16, found string 'fp32'; did you "
     "mean 'f32'?"},
    {kBase, "\"base\"", "\"a model\"",
     "/name: expected a name (letters, digits and _, no digit first), found "
     "string 'a model'"},
    {kBase, "\"base\"",
     "\"line\\nbreak, much too long to be shown whole in a message\"",
     "/name: expected a name (letters, digits and _, no digit first), found "
     "string 'line\\x0Abreak, much too long to "
     "be shown...'"},
    {kBase, "\"base\"", "[]",
     "/name: expected a name (letters, digits and _, no digit first), found an "
     "empty array"},
    {kBase, "\"L\": 2", "\"l\": 2",
     "s.json:2:70: error: /dims/l: expected the name of a dim (a capital "
     "letter first, then letters, digits and _), "
     "found 'l'"},
    {kBase, "\"cpu\"", "",
     "/target: expected at least 1 element, found an empty array"},
    {kBase, "\"cpu\"", "\"\"",
     "/target/0: expected a string that is not empty, found string ''"},
    {kBase, "[\"B\",\"T\",\"Hk\",\"K\"]",
     "[\"B\",\"T\",\"Hk\",\"K\",\"V\",\"L\"]",
     "/inputs/q: expected at most 5 elements, found 6"},
    {kBase, "{ \"decay\": \"g\" }",
     "{ \"decay\": \"g\", \"read\": { \"query\": \"q\" } }",
     "/steps/0: expected exactly one key, decay, erase, inject, read, "
     "repeat, set or add, found 2"},
    {kBase, "\"L\": 2",
     "\"A\":1,\"C\":1,\"D\":1,\"E\":1,\"F\":1,\"G\":1,\"I\":1,\"J\":1,\"M\":1,"
     "\"O\":1,\"P\":1,\"Q\":1,\"R\":1,\"S\":1,"
     "\"U\":1,\"W\":1,\"X\":1",
     "/dims: expected at most 22 keys, found 23"},
    {kBase, "\"entries\"", "\"outputs\": {}, \"entries\"",
     "/outputs: expected at least one key, found 0"},
    {kBase, "\"entries\"", "\"reverse\": 1, \"entries\"",
     "/reverse: expected true or false, found number 1"},
    {kBase, "{ \"decay\": \"g\" }", "7",
     "/steps/0: expected an object, found number 7"},
    {kBase, "\"entries\"", "\"description\": { \"a\": 1 }, \"entries\"",
     "/description: expected a string, found an object"},
    {kBase, "\"entries\"", "\"reverse\": null, \"entries\"",
     "/reverse: expected true or false, found null"},
    {kBase, "\"base\"", "true",
     "/name: expected a name (letters, digits and _, no digit first), found "
     "true"},
    {kBase, "[\"forward\", \"decode\"]", "{}",
     "/entries: expected an array, found an empty object"},
    {kFamily, "\"family\"", "\"options\": { \"l2norm\": 0 }, \"family\"",
     "/options/l2norm: expected a number above 0, found number 0"},
};
INSTANTIATE_TEST_SUITE_P(Structure, Messages, testing::ValuesIn(kStructure));

const Row kUnbuilt[] = {
    {kBase, "\"entries\"", "\"psm\": { \"chunk\": 4 }, \"entries\"",
     "/psm: general prefix-scannable models are not built yet"},
    {kBase, "\"entries\"", "\"matmul\": \"tf32\", \"entries\"",
     "/matmul: matmul 'tf32' is not built yet, expected ieee"},
    {kBase, "\"decode\"", "\"backward\"",
     "/entries/1: the entry 'backward' comes later; expected forward or "
     "decode"},
};
INSTANTIATE_TEST_SUITE_P(Unbuilt, Messages, testing::ValuesIn(kUnbuilt));

const Row kNames[] = {
    {kBase, "\"name\": \"base\",", "", "s.json:1:1: error: missing key 'name'"},
    {kBase, "\"Hk\": 2,", "\"H\": 4,",
     "/dims/Hv: 'H' sets Hk and Hv already; expected either H or both Hk and "
     "Hv"},
    {kBase, "\"Hk\": 2,", "",
     "/dims: expected the dim 'H' or both 'Hk' and 'Hv'"},
    {kBase, "\"Hk\": 2", "\"Hk\": 3",
     "/dims/Hv: expected Hv to be a multiple of Hk = 3, found 4"},
    {kBase, "\"L\": 2", "\"L\": 2, \"N\": 2",
     "/dims/N: 'N' is the number of sequences, which a call decides; expected "
     "another name"},
    {kBase, "\"io\": \"f32\"", "\"gate\": \"f64\"",
     "/dtype/gate: gates of f64 need dtype.io f64, found f32"},
    {kBase, "\"io\": \"f32\"", "\"state\": \"f64\"",
     "/dtype/state: expected f32 or bf16 states with dtype.io f32, found f64"},
    {kBase, "\"io\": \"f32\"", "\"io\": \"f64\", \"state\": \"bf16\"",
     "/dtype/state: expected f64 states with dtype.io f64, found bf16"},
    {kBase, "\"g\": [\"B\",\"T\",\"Hv\"]",
     "\"g\": { \"axes\": [\"B\",\"T\",\"Hv\"], \"dtype\": \"f64\" }",
     "/inputs/g/dtype: an f64 input needs dtype.io f64, found f32"},
    {kShort,
     "\"inputs\": { \"q\": [\"B\",\"T\",\"H\",\"K\"], \"v\": "
     "[\"B\",\"T\",\"H\",\"V\"] }",
     "\"inputs\": {}",
     "s.json:3:13: error: /inputs: expected at least one input under 'inputs'"},
    {kBase, "\"q\":", "\"offsets\":",
     "/inputs/offsets: the name 'offsets' is reserved; every model has it"},
    {kBase, "\"q\":", "\"tanh\":",
     "/inputs/tanh: the name 'tanh' is a function of let"},
    {kBase, "[\"B\",\"T\",\"Hk\",\"K\"]", "[\"B\",\"T\",\"Hq\",\"K\"]",
     "s.json:4:29: error: /inputs/q/2: unknown axis 'Hq' of input 'q', "
     "expected B, T, Hk, Hv, K, V or L; did you mean "
     "'Hk'?"},
    {kBase, "[\"B\",\"T\",\"Hk\",\"K\"]", "[\"B\",\"T\",\"T\",\"K\"]",
     "/inputs/q/2: axis 'T' twice in input 'q'"},
    {kBase, "[\"B\",\"T\",\"Hk\",\"K\"]", "[\"B\",\"T\",\"Hk\",\"Hv\"]",
     "/inputs/q/3: second head axis 'Hv' of input 'q'"},
    {kBase, "[\"B\",\"T\",\"Hk\",\"K\"]", "[\"B\",\"T\",\"K\",\"Hk\"]",
     "/inputs/q/3: axis 'Hk' of input 'q' after one of a token's own axes; B, "
     "T and the head axis come first, in any "
     "order"},
    {kBase, "[\"B\",\"T\",\"Hk\",\"K\"]", "[\"B\",\"T\",\"K\",\"V\",\"L\"]",
     "/inputs/q/4: input 'q' has more than two axes besides B, T and the head "
     "axis"},
    {kShort,
     "\"q\": [\"B\",\"T\",\"H\",\"K\"], \"v\": [\"B\",\"T\",\"H\",\"V\"]",
     "\"q\": [\"B\",\"H\",\"K\"]",
     "/inputs: no input has the axis 'T'; a recurrence needs one that changes "
     "with time"},
    {kShort,
     "\"q\": [\"B\",\"T\",\"H\",\"K\"], \"v\": [\"B\",\"T\",\"H\",\"V\"]",
     "\"q\": [\"T\",\"H\",\"K\"]",
     "/inputs: no input has the axis 'B'; the outputs have it"},
    {kBase, "\"b\": [", "\"spare\": [\"T\"], \"b\": [",
     "s.json:6:34: error: /inputs/spare: input 'spare' is never used"},
    {kBase, "\"let\": {", "\"let\": { \"spare\": \"g\", ",
     "/let/spare: let 'spare' is never used"},
    {kBase, "\"decode\"", "\"decoder\"",
     "/entries/1: unknown entry 'decoder', expected forward or decode; did you "
     "mean 'decode'?"},
    {kBase, "\"decode\"", "\"forward\"", "/entries/1: entry 'forward' twice"},
    {kBase, "[\"cpu\"]", "[\"cdua:sm_90a\"]",
     "/target/0: unknown target 'cdua:sm_90a', expected one like cpu, "
     "cpu:x86-64-v4 or cuda:sm_90a"},
    {kBase, "[\"cpu\"]", "[\"CUDA:sm_90a\"]",
     "/target/0: unknown target 'CUDA:sm_90a', expected one like cpu, "
     "cpu:x86-64-v4 or cuda:sm_90a; did you mean "
     "'cuda'?"},
    {kBase, "[\"cpu\"]", "[\"cpu\", \"cpu\"]", "/target/1: target 'cpu' twice"},
};
INSTANTIATE_TEST_SUITE_P(Names, Messages, testing::ValuesIn(kNames));

const Row kPlans[] = {
    {kBase, "\"entries\"", "\"plan\": { \"chunk\": 64 }, \"entries\"",
     "/plan: missing key 'schedule'"},
    {kBase, "\"entries\"",
     "\"plan\": { \"schedule\": \"recurrent\", \"chunk\": 2 }, \"entries\"",
     "/plan/chunk: the recurrent schedule has chunks of 1 step, found 2"},
    {kBase, "\"entries\"",
     "\"plan\": { \"schedule\": \"chunk\", \"value_block\": 17 }, \"entries\"",
     "/plan/value_block: expected a value_block of at most V = 16, found 17"},
    {kBase, "\"entries\"",
     "\"plan\": { \"schedule\": \"recurrent\", \"segments\": 2 }, \"entries\"",
     "/plan/segments: the recurrent schedule splits sequences only where a "
     "decay along value or element leaves no chunk form, found 2 segments"},
    {kBase, "\"entries\"",
     "\"plan\": { \"stages\": 1, \"decode\": { \"schedule\": \"recurrent\" } "
     "}, \"entries\"",
     "/plan/stages: 'stages' beside the plan of entry 'decode'; expected "
     "either one plan or a plan by entry"},
    {kBase, "\"entries\"",
     "\"plan\": { \"backward\": { \"schedule\": \"chunk\" } }, \"entries\"",
     "/plan/backward: a plan of entry 'backward', which 'entries' does not "
     "name"},
};
INSTANTIATE_TEST_SUITE_P(Plans, Messages, testing::ValuesIn(kPlans));

const Row kLets[] = {
    {kBase, "\"beta\": \"sigmoid(g)\"",
     "\"beta\": \"sigmoid(g)\", \"g\": \"1\"",
     "/let/g: let 'g' has the name of an input"},
    {kBase, "\"beta\": ", "\"exp\": ",
     "/let/exp: the name 'exp' is a function of let"},
    {kBase, "sigmoid(g)", "sigmod(g)",
     "s.json:7:21: error: /let/beta: unknown function 'sigmod'; did you mean "
     "'sigmoid'?"},
    {kBase, "sigmoid(g)", "blend(g)",
     "/let/beta: unknown function 'blend', expected abs, erf, exp, expm1, "
     "gelu, l2norm, log, log1p, logsigmoid, max, "
     "min, pow, relu, row, rsqrt, sigmoid, silu, softplus, sqrt or tanh"},
    {kBase, "sigmoid(g)", "1 + sigmoid(gg)",
     "s.json:7:33: error: /let/beta: unknown name 'gg', expected an input or "
     "an earlier let; did you mean 'g'?"},
    {kBase, "\"beta\": \"sigmoid(g)\"", "\"beta\": \"late\", \"late\": \"g\"",
     "/let/beta: 'late' is not an earlier let; a let sees those before it"},
    {kBase, "sigmoid(g)", "pow(g)",
     "/let/beta: function 'pow' takes 2 arguments, found 1"},
    {kBase, "sigmoid(g)", "exp(g, g)",
     "/let/beta: function 'exp' takes 1 argument, found 2"},
    {kBase, "sigmoid(g)", "l2norm(k, g)",
     "/let/beta: the second argument of 'l2norm' is a plain number"},
    {kBase, "sigmoid(g)", "l2norm(k, 0)",
     "/let/beta: expected an epsilon above 0 (a zero vector is divided by its "
     "root)"},
    {kBase, "sigmoid(g)", "l2norm(k, 1e-38)",
     "/let/beta: expected an epsilon of at least 1.1754944e-38, the least "
     "normal f32, below which chips take it for 0"},
    {kBase, "sigmoid(g)", "l2norm(g, 1)",
     "/let/beta: l2norm of a scalar; expected a vector such as one of axes "
     "[K]"},
    {kBase, "sigmoid(g)", "row(g, 0)",
     "/let/beta: row of a scalar; expected a value with axes such as [L, K]"},
    {kBase, "sigmoid(g)", "row(b, 2)",
     "/let/beta: expected a row from 0 to 1 of axis 'L'"},
    {kBase, "sigmoid(g)", "row(b, 0.5)",
     "/let/beta: expected a row from 0 to 1 of axis 'L'"},
    {kBase, "sigmoid(g)", "c + v",
     "/let/beta: operands of axes [L, K] and [V] do not combine; expected at "
     "most two axes together, in the order own dims, K, V"},
    {kBase, "sigmoid(g)", "max(g, p * k)",
     "/let/beta: operands of axes [L, V] and [K] do not combine; expected at "
     "most two axes together, in the order own dims, K, V"},
    {kBase, "sigmoid(g)", "max(c, p)",
     "/let/beta: arguments of axes [L, K] and [L, V] do not combine; expected "
     "at most two axes together, in the order own dims, K, V"},
    {kBase, "sigmoid(g)", "g g",
     "s.json:7:23: error: /let/beta: expected an operator or the end, found "
     "'g'"},
    {kBase, "sigmoid(g)", "(g",
     "s.json:7:23: error: /let/beta: expected ')', found the end"},
    {kBase, "sigmoid(g)", "exp(g",
     "/let/beta: expected ',' or ')', found the end"},
    {kBase, "sigmoid(g)", "g * \u00e9",
     "/let/beta: expected a number, a name, a function or '(', found "
     "'\u00e9'"},
    {kBase, "sigmoid(g)", "g * %",
     "/let/beta: expected a number, a name, a function or '(', found '%'"},
    {kBase, "sigmoid(g)", "1e", "/let/beta: expected a number, found '1e'"},
    {kBase, "sigmoid(g)", "1e999",
     "/let/beta: expected a number, found '1e999'"},
};
INSTANTIATE_TEST_SUITE_P(Lets, Messages, testing::ValuesIn(kLets));

const Row kSteps[] = {
    {kBase, "\"entries\"", "\"inject\": [], \"entries\"",
     "/inject: 'inject' beside 'steps'; expected either steps or transition, "
     "inject and read"},
    {kBase, ",\n    { \"read\": { \"query\": \"q\" } }", "",
     "/steps: expected a read; the model has no output"},
    {kShort, ",\n  \"read\": { \"query\": \"q\" }", "",
     "s.json:1:1: error: expected a read; the model has no output"},
    {kBase, "\"query\": \"q\"", "\"query\": \"q\", \"when\": \"before\"",
     "/steps/4/read/when: 'when' inside 'steps'; the place of a read in the "
     "list says when it reads"},
    {kBase, "\"strength\": \"beta\"", "\"strength\": \"betta\"",
     "s.json:9:42: error: /steps/1/erase/strength: unknown name 'betta', "
     "expected an input or a let (q, k, v, g, u, p, "
     "c, b or beta); did you mean 'beta'?"},
    {kBase, "{ \"decay\": \"g\" }", "{ \"decay\": \"b\" }",
     "/steps/0/decay: expected a log-gate of axes [], [K], [V] or [K, V]; 'b' "
     "has [L]"},
    {kBase, "{ \"decay\": \"g\" }",
     "{ \"decay\": { \"gate\": \"g\", \"along\": \"key\" } }",
     "/steps/0/decay/along: decay along key, but the axes [] of 'g' mean along "
     "scalar"},
    {kBase, "\"key\": \"k\", \"strength\"",
     "\"key\": \"k\", \"read\": \"k\", \"strength\"",
     "/steps/1/erase/read: 'key' is read and write key in one; expected either "
     "key or both read and write"},
    {kBase, "\"key\": \"k\", \"strength\"", "\"read\": \"k\", \"strength\"",
     "/steps/1/erase: expected 'key' or both 'read' and 'write'"},
    {kBase, "\"key\": \"k\", \"strength\"", "\"key\": \"v\", \"strength\"",
     "/steps/1/erase/key: expected a key of axes [K], or [L, K] with ranks; "
     "'v' has [V]"},
    {kBase, "\"key\": \"k\", \"strength\"",
     "\"read\": \"v\", \"write\": \"k\", \"strength\"",
     "/steps/1/erase/read: expected a read key of axes [K], or [L, K] with "
     "ranks; 'v' has [V]"},
    {kBase, "\"key\": \"k\", \"strength\"",
     "\"read\": \"k\", \"write\": \"g\", \"strength\"",
     "/steps/1/erase/write: expected a write key of axes [K], or [L, K] with "
     "ranks; 'g' has []"},
    {kBase, "\"key\": \"k\", \"strength\"",
     "\"read\": \"k\", \"write\": \"c\", \"strength\"",
     "/steps/1/erase/write: read key 'k' has axes [K] and write key 'c' [L, "
     "K]; expected the same"},
    {kBase, "\"strength\": \"beta\"", "\"strength\": \"b\"",
     "/steps/1/erase/strength: expected the strength to be a scalar; 'b' has "
     "axes [L]"},
    {kBase, "\"scale\": \"b\"", "\"scale\": \"k\"",
     "/steps/3/inject/scale: expected the scale to be a scalar or of axes [L]; "
     "'k' has axes [K]"},
    {kBase, "\"value\": \"v\", \"scale\": \"beta\"", "\"scale\": \"beta\"",
     "/steps/2/inject: expected 'value' or 'refine'"},
    {kBase, "\"scale\": \"b\", \"refine\"", "\"value\": \"v\", \"refine\"",
     "/steps/3/inject/value: 'value' beside 'refine', which makes the value; "
     "expected one of them"},
    {kBase, "\"key\": \"k\", \"value\": \"v\"",
     "\"key\": \"v\", \"value\": \"v\"",
     "/steps/2/inject/key: expected a key of axes [K], or [L, K] with ranks; "
     "'v' has [V]"},
    {kBase, "\"key\": \"k\", \"value\": \"v\"",
     "\"key\": \"k\", \"value\": \"p\"",
     "/steps/2/inject/value: expected a value of axes [V], as key 'k' has [K]; "
     "'p' has [L, V]"},
    {kBase, "\"anchor\": \"u\"", "\"anchor\": \"q\"",
     "/steps/3/inject/refine/anchor: expected an anchor of axes [V]; 'q' has "
     "[K]"},
    {kBase, "\"anchor\": \"u\", \"value\": \"v\"",
     "\"anchor\": \"u\", \"value\": \"q\"",
     "/steps/3/inject/refine/value: expected a value of axes [V]; 'q' has [K]"},
    {kBase, "\"gain\": \"p\"", "\"gain\": \"b\"",
     "/steps/3/inject/refine/gain: expected a gain of axes [V], or [L, V] with "
     "ranks; 'b' has [L]"},
    {kBase, "\"gain\": \"p\"", "\"gain\": \"u\"",
     "/steps/3/inject/refine/gain: expected a gain of axes [L, V]; 'u' has "
     "[V]"},
    {kBase, "\"key\": \"c\", \"scale\": \"b\"", "\"key\": \"k\"",
     "/steps/3/inject/refine/gain: key 'k' has axes [K] and gain 'p' [L, V]; "
     "expected the same ranks"},
    {kBase, "\"query\": \"q\"", "\"query\": \"v\"",
     "/steps/4/read/query: expected a query of axes [K]; 'v' has [V]"},
    {kBase, "\"query\": \"q\"", "\"query\": \"q\", \"output\": \"final_state\"",
     "/steps/4/read/output: the name 'final_state' is reserved; every model "
     "has it"},
    {kBase, "\"query\": \"q\"", "\"query\": \"q\", \"output\": \"k\"",
     "/steps/4/read/output: output 'k' has the name of an input"},
    {kBase, "{ \"query\": \"q\" } }",
     "{ \"query\": \"q\" } }, { \"read\": { \"query\": \"q\", \"output\": "
     "\"o\" } }",
     "/steps/5/read/output: output 'o' twice"},
    {kBase, "\"key\": \"k\", \"value\"", "\"value\"",
     "/steps/2/inject: expected 'key'; it may be left out only where K is 1, "
     "and here K is 8"},
    {kBase, "\"query\": \"q\"", "\"scale\": 2",
     "/steps/4/read: expected 'query'; it may be left out only where K is 1, "
     "and here K is 8"},
    {kBase, "{ \"decay\": \"g\" }",
     "{ \"repeat\": { \"axis\": \"K\", \"steps\": [ { \"decay\": \"g\" } ] } }",
     "/steps/0/repeat/axis: expected a dim of your own, such as M, found 'K'"},
    {kBase, "{ \"decay\": \"g\" }",
     "{ \"repeat\": { \"axis\": \"M\", \"steps\": [ { \"decay\": \"g\" } ] } }",
     "/steps/0/repeat/axis: expected a dim of your own, such as M, found 'M'"},
    {kBase, "{ \"decay\": \"g\" }",
     "{ \"repeat\": { \"axis\": \"L\", \"steps\": [] } }",
     "/steps/0/repeat/steps: expected at least 1 element, found an empty "
     "array"},
    {kBase, "{ \"decay\": \"g\" }",
     "{ \"repeat\": { \"axis\": \"L\", \"steps\": [ { \"read\": { \"query\": "
     "\"q\" } } ] } }",
     "/steps/0/repeat/steps/0/read: unknown key 'read', expected decay, erase "
     "or "
     "inject"},
    {kBase, "\"beta\": \"sigmoid(g)\" },\n  \"steps\": [",
     "\"beta\": \"sigmoid(g)\", \"b_0\": \"2 * g\" }, \"steps\": [ { "
     "\"repeat\": { "
     "\"axis\": \"L\", \"steps\": [ { \"decay\": \"b\" } ] } }, { \"decay\": "
     "\"b_0\" },",
     "/steps/0/repeat/steps/0/decay: micro-step 0 of 'b' is the let 'b_0', and "
     "that name is taken"},
};
INSTANTIATE_TEST_SUITE_P(Steps, Messages, testing::ValuesIn(kSteps));

const Row kFamilies[] = {
    {kFamily, "\"prism\"", "\"prisms\"",
     "s.json:2:13: error: /family: unknown family 'prisms', expected "
     "linear_attention, retnet, gla, mamba, mamba2, deltanet, gated_deltanet, "
     "gated_deltanet2, kda, gated_deltaproduct, rwkv7, mlstm, gated_rfa, hgrn, "
     "mingru, rg_lru, "
     "first_order or prism; did you mean 'prism'?"},
    {kFamily, "\"family\"", "\"read\": { \"query\": \"q\" }, \"family\"",
     "/read: 'read' beside the family 'prism', which says it already"},
    {kFamily, "\"family\": \"prism\"",
     "\"family\": \"retnet\", \"variant\": \"v3\"",
     "/variant: the family 'retnet' has no variants"},
    {kFamily, "\"family\"", "\"variant\": \"v4\", \"family\"",
     "/variant: unknown variant 'v4', expected v3 or v2; did you mean 'v3'?"},
    {kFamily, ", \"L\": 1", "", "/dims: the family 'prism' needs the dim 'L'"},
    {kFamily, "\"L\": 1", "\"L\": 0 }, \"variant\": \"v2\", \"let\": {",
     "/dims/L: variant v2 has no L = 0, as its erase takes the key of the "
     "first injection; expected L of at least 1"},
    {kFamily, "\"family\": \"prism\"",
     "\"family\": \"retnet\", \"options\": { \"activation\": \"gelu\" }",
     "/options/activation: the family 'retnet' has no option 'activation'"},
    {kFamily, "\"family\"",
     "\"variant\": \"v2\", \"options\": { \"l2norm\": 1e-6 }, \"family\"",
     "/options/l2norm: variant v2 has no option 'l2norm'; it erases with the "
     "first key of c"},
    {kFamily, "\"prism\"", "\"gated_deltaproduct\"",
     "/dims: the family 'gated_deltaproduct' needs the dim 'M'"},
    {kFamily, "\"family\": \"prism\"",
     "\"family\": \"mamba2\", \"options\": { \"l2norm\": 1e-6 }",
     "/options/l2norm: the family 'mamba2' has no option 'l2norm'"},
    {kFamily, "\"family\"", "\"options\": { \"l2norm\": 1e-45 }, \"family\"",
     "/options/l2norm: expected an epsilon of at least 1.1754944e-38, the "
     "least normal f32, below which chips take it for 0"},
    {kFamily, "\"family\": \"prism\"",
     "\"family\": \"rwkv7\", \"variant\": \"dplr\", \"options\": { "
     "\"l2norm\": 1e-6 }",
     "/options/l2norm: the family 'rwkv7' has no option 'l2norm' in the "
     "variant dplr"},
    {kFamily, "\"prism\"", "\"hgrn\"",
     "s.json:3:26: error: /dims/K: the family 'hgrn' is elementwise: its state "
     "has K = 1, found 8"},
    {kShort, "\"name\"", "\"variant\": \"v2\", \"name\"",
     "/variant: 'variant' without 'family'"},
    {kShort, "\"name\"", "\"options\": {}, \"name\"",
     "/options: 'options' without 'family'"},
};
INSTANTIATE_TEST_SUITE_P(Families, Messages, testing::ValuesIn(kFamilies));

const Row kStateRows[] = {
    {kStates,
     "\"m\": [] },\n  \"let\": { \"next\": \"max(m + g, 0)\" },\n  \"steps\": "
     "[ ",
     "\"m\": [], \"w\": [\"V\"] }, \"let\": { \"next\": \"max(m + g, 0)\" }, "
     "\"steps\": [ { \"erase\": { \"key\": \"q\", \"strength\": \"g\", "
     "\"state\": \"w\" } }, ",
     "/steps/0/erase/state: an erase of state 'w', which has no axis K"},
    {kStates,
     "\"m\": [] },\n  \"let\": { \"next\": \"max(m + g, 0)\" },\n  \"steps\": "
     "[ ",
     "\"m\": [], \"w\": [\"V\"] }, \"let\": { \"next\": \"max(m + g, 0)\" }, "
     "\"steps\": [ { \"inject\": { \"key\": \"q\", \"value\": \"v\", "
     "\"state\": \"w\" } }, ",
     "/steps/0/inject/key: state 'w' has no axis K: the key is 1, leave it "
     "out"},
    {kStates,
     "\"m\": [] },\n  \"let\": { \"next\": \"max(m + g, 0)\" },\n  \"steps\": "
     "[ ",
     "\"m\": [], \"w\": [\"V\"] }, \"let\": { \"next\": \"max(m + g, 0)\" }, "
     "\"steps\": [ { \"inject\": { \"value\": \"g\", \"state\": \"w\" } }, ",
     "/steps/0/inject/value: expected a value of axes [V] without a key; 'g' "
     "has []"},
    {kStates, "\"z\": [\"K\"]", "\"z\": [\"V\", \"K\"]",
     "s.json:4:36: error: /states/z: expected a state of axes [K, V], [K], [V] "
     "or [], found [V, K]"},
    {kStates, "\"m\": []", "\"m\": [], \"exp\": []",
     "/states/exp: the name 'exp' is a function of let"},
    {kStates, "\"state\": \"z\" }", "\"state\": \"Z\" }",
     "/steps/2/inject/state: unknown state 'Z', expected S, z or m; did you "
     "mean "
     "'z'?"},
    {kStates, "\"key\": \"q\", \"state\": \"z\"",
     "\"key\": \"q\", \"value\": \"v\", \"state\": \"z\"",
     "/steps/2/inject/value: state 'z' has no axis V: the value is 1, leave it "
     "out"},
    {kStates, "{ \"decay\": \"g\" }",
     "{ \"decay\": { \"gate\": \"v\", \"state\": \"z\" } }",
     "/steps/0/decay/gate: expected a log-gate of axes [], [K]; 'v' has [V]"},
    {kStates, "{ \"decay\": \"g\" }",
     "{ \"decay\": { \"gate\": \"g\", \"state\": \"m\" } }",
     "/steps/0/decay/state: state 'm' has no axes: lets see it, and only 'set' "
     "changes it"},
    {kStates, "\"state\": \"m\", \"value\"", "\"state\": \"z\", \"value\"",
     "/steps/3/set/state: 'set' of state 'z', which has axes; it changes by "
     "decay, erase and inject"},
    {kStates, "\"value\": \"next\"", "\"value\": \"v\"",
     "/steps/3/set/value: expected a scalar; 'v' has axes [V]"},
    {kStates, "{ \"decay\": \"g\" }",
     "{ \"set\": { \"state\": \"m\", \"value\": \"g\" } }",
     "/steps/3/set: state 'm' is set twice"},
    {kStates, "max(m + g, 0)", "max(z, 0)",
     "/let/next: state 'z' has axes; a let sees only states without"},
    {kStates, "max(m + g, 0)", "max(num, 0)",
     "/let/next: unknown name 'num', expected an input or an earlier let"},
    {kStates, "num / max(den, next)", "num / max(dem, next)",
     "/outputs/o: unknown name 'dem', expected an input or an earlier let"},
    {kStates, "num / max(den, next)", "den",
     "/outputs/o: expected an output of axes [V], found []"},
    {kStates, "num / max(den, next)", "num + next",
     "/steps/5/read: read 'den' is never used"},
    {kStates, "\"o\": ", "\"q\": ",
     "/outputs/q: output 'q' has the name of an input, a let or a read"},
    {kStates, "\"output\": \"num\"", "\"output\": \"next\"",
     "/steps/4/read/output: read 'next' has the name of a let"},
    {kStates, ",\n  \"outputs\": { \"o\": \"num / max(den, next)\" }", "",
     "/steps/5/read/output: a read of state 'z' has no axis V, and an output "
     "has "
     "one; compute it from the reads under 'outputs'"},
    {kStates, "\"g\": [\"B\",\"T\",\"H\"]",
     "\"initial_z\": [\"B\",\"T\",\"H\"]",
     "/inputs/initial_z: the name 'initial_z' is reserved; every model has it"},
    {kStates, "\"g\": [\"B\",\"T\",\"H\"]", "\"m\": [\"B\",\"T\",\"H\"]",
     "/inputs/m: the name 'm' is that of a state"},
    {kFamily, "\"family\"", "\"states\": { \"a\": [] }, \"family\"",
     "/states: 'states' beside the family 'prism', which says it already"},
};
const Row kMiniBatches[] = {
    {kStates, "\"steps\": [ { \"decay\": \"g\" }",
     "\"granularity\": { \"mini_batch\": 4 }, \"steps\": [ { \"erase\": { "
     "\"key\": \"q\", \"strength\": \"g\", \"of\": { \"entry\": \"z\" } } }, { "
     "\"decay\": \"g\" }",
     "/steps/0/erase/of/entry: expected a state of axes [K, V], as 'S' has; "
     "'z' has [K]"},
    {kBase, "\"entries\"",
     "\"granularity\": { \"mini_batch\": 4 }, \"entries\"",
     "/entries/1: a decode takes one token a call, and no argument holds the "
     "state at its mini-batch's entry; call the forward with whole "
     "mini-batches"},
    {kBase, "\"entries\"",
     "\"granularity\": { \"mini_batch\": 257 }, \"entries\"",
     "/granularity/mini_batch: expected an integer from 1 to 256, found number "
     "257"},
    {kBase, "\"entries\"", "\"granularity\": \"tokens\", \"entries\"",
     "/granularity: expected token or an object, found string 'tokens'; did "
     "you mean "
     "'token'?"},
    {kBase, "\"strength\": \"beta\"",
     "\"of\": \"entry\", \"strength\": \"beta\"",
     "/steps/1/erase/of: an erase of the state at a mini-batch's entry needs "
     "mini-batches: \"granularity\": { \"mini_batch\": 16 }"},
    {kBase, "\"strength\": \"beta\"",
     "\"of\": \"entri\", \"strength\": \"beta\"",
     "/steps/1/erase/of: expected previous or entry or an object, found string "
     "'entri'; did you mean 'entry'?"},
    {kStates, "{ \"decay\": \"g\" }", "{ \"add\": { \"from\": \"Z\" } }",
     "/steps/0/add/from: unknown state 'Z', expected S, z or m; did you mean "
     "'z'?"},
    {kStates, "{ \"decay\": \"g\" }", "{ \"add\": { \"from\": \"z\" } }",
     "/steps/0/add/from: expected a state of axes [K, V], as 'S' has; 'z' has "
     "[K]"},
    {kStates, "{ \"decay\": \"g\" }",
     "{ \"add\": { \"from\": \"S\", \"scale\": \"v\" } }",
     "/steps/0/add/scale: expected a scalar; 'v' has axes [V]"},
    {kStates, "{ \"decay\": \"g\" }",
     "{ \"add\": { \"from\": \"m\", \"state\": \"m\" } }",
     "/steps/0/add/state: state 'm' has no axes: lets see it, and only 'set' "
     "changes it"},
    {kStates, "{ \"decay\": \"g\" }",
     "{ \"erase\": { \"key\": \"q\", \"strength\": 1, \"of\": { "
     "\"entry\": \"z\" } } }",
     "/steps/0/erase/of: an erase of the state at a mini-batch's entry needs "
     "mini-batches: \"granularity\": { \"mini_batch\": 16 }"},
};
const Row kConvolutions[] = {
    {kConvolved, "{ \"q\": {", "{ \"x\": {",
     "/short_convolution/x: unknown input 'x', expected q, k, v, q_taps, "
     "q_bias or v_taps; did you mean 'q'?"},
    {kConvolved, "{ \"q\": {", "{ \"v_taps\": {",
     "/short_convolution/v_taps: expected an input of axes B, T, heads and K "
     "or "
     "V, such as [B, T, H, K]; 'v_taps' has [Hv, V, W]"},
    {kConvolved, "\"weight\": \"q_taps\"", "\"weight\": \"q_tap\"",
     "/short_convolution/q/weight: unknown input 'q_tap', expected q, k, "
     "v, q_taps, q_bias or v_taps; did you mean 'q_taps'?"},
    {kConvolved, "\"weight\": \"q_taps\"", "\"weight\": \"v_taps\"",
     "/short_convolution/q/weight: expected a weight of axes [Hk, K, W], W of "
     "taps; 'v_taps' has [Hv, V, W]"},
    {kConvolved, "\"weight\": \"q_taps\", ", "",
     "/short_convolution/q: missing key 'weight'"},
    {kConvolved, "\"bias\": \"q_bias\"", "\"bias\": \"q_taps\"",
     "/short_convolution/q/bias: expected a bias of axes [Hk, K]; 'q_taps' has "
     "[Hk, K, W]"},
    {kConvolved, "[\"Hk\",\"K\",\"W\"]", "[\"Hk\",\"K\",\"Nine\"]",
     "/short_convolution/q/weight: expected 2 to 8 taps, found 9 on axis "
     "'Nine' of 'q_taps'"},
    {kConvolved, "\"silu\"", "\"silo\"",
     "/short_convolution/q/activation: expected identity, gelu, silu, tanh or "
     "relu, found string 'silo'; did you mean 'silu'?"},
    {kConvolved, "\"v\": \"v_taps\"", "\"v\": \"q_taps\"",
     "/short_convolution/v: expected a weight of axes [Hv, V, W], W of taps; "
     "'q_taps' has [Hk, K, W]"},
    {kConvolved, "\"query\": \"q\"", "\"query\": \"q_bias\"",
     "/read/query: 'q_bias' is a weight of a short convolution, which no step "
     "sees; expected an input of its own or a let"},
    {kConvolved, "\"inject\"", "\"let\": { \"x\": \"q_bias * 2\" }, \"inject\"",
     "/let/x: 'q_bias' is a weight of a short convolution, which no step sees; "
     "expected an input of its own or a let"},
    {kConvolved, "\"inject\"",
     "\"let\": { \"final_q_window\": \"q * 2\" }, \"inject\"",
     "/let/final_q_window: the name 'final_q_window' is that of a window"},
    {kConvolved, "\"v\": [\"B\"",
     "\"initial_v_window\": [\"B\",\"T\"], \"v\": [\"B\"",
     "/inputs/initial_v_window: the name 'initial_v_window' is that of a "
     "window"},
    {kConvolved, "\"inject\"",
     "\"states\": { \"q_window\": [\"K\",\"V\"] }, \"inject\"",
     "/short_convolution/q: the window of 'q' and the state 'q_window' would "
     "both be called 'initial_q_window'; give one of them another name"},
    {kConvolved, "\"v\": \"v_taps\"", "\"k\": \"q_taps\"",
     "/short_convolution/k: 'q_taps' is the weight of two short convolutions; "
     "give each its own"},
    {kConvolved, ", \"v\": \"v_taps\"", "",
     "/inputs/v_taps: input 'v_taps' is never used"},
};
INSTANTIATE_TEST_SUITE_P(Convolutions, Messages,
                         testing::ValuesIn(kConvolutions));
INSTANTIATE_TEST_SUITE_P(MiniBatches, Messages,
                         testing::ValuesIn(kMiniBatches));

INSTANTIATE_TEST_SUITE_P(States, Messages, testing::ValuesIn(kStateRows));

TEST(Messages, BasesAreRight) {
  for (const char *base : {kBase, kShort, kFamily, kStates, kConvolved}) {
    SpecDiagnostic diagnostic;
    EXPECT_TRUE(succeeded(readSpec(base, "s.json", diagnostic)))
        << diagnostic.str();
  }
}

TEST(Messages, EmptyAndTruncatedTextsAreRefused) {
  std::string base = kBase;
  for (size_t size = 0; size < base.size(); ++size) {
    SpecDiagnostic diagnostic;
    ASSERT_TRUE(failed(readSpec(base.substr(0, size), "s.json", diagnostic)))
        << size;
    EXPECT_EQ(diagnostic.stage, Stage::Text);
    EXPECT_EQ(diagnostic.message.rfind("not JSON: ", 0), 0u)
        << diagnostic.message;
  }
}

/// Bytes changed at random: no crash, and one line of message if refused.
TEST(Messages, ChangedBytesDoNoHarm) {
  std::mt19937 random(1);
  const std::string base = kBase;
  const std::string alphabet =
      "{}[]\",:0123456789-.eE\\untfals \n\x01\x80\xC3\xFF()*+/";
  unsigned refused = 0;
  for (unsigned i = 0; i < 5000; ++i) {
    std::string text = base;
    for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
      size_t at = random() % text.size();
      char byte = alphabet[random() % alphabet.size()];
      switch (random() % 3) {
      case 0:
        text[at] = byte;
        break;
      case 1:
        text.insert(at, 1, byte);
        break;
      default:
        text.erase(at, 1 + random() % 8);
      }
    }
    SpecDiagnostic diagnostic;
    if (succeeded(readSpec(text, "s.json", diagnostic)))
      continue;
    ++refused;
    EXPECT_FALSE(diagnostic.message.empty());
    EXPECT_EQ(diagnostic.str().find('\n'), std::string::npos);
  }
  EXPECT_GT(refused, 3000u);
}

TEST(Messages, MicroStepsAreBounded) {
  std::string most = replaceOnce(
      kBase, "{ \"decay\": \"g\" }",
      R"({ "repeat": { "axis": "L", "steps": [ { "decay": "b" } ] } })");
  SpecDiagnostic diagnostic;
  ASSERT_TRUE(failed(readSpec(replaceOnce(most, "\"L\": 2", "\"L\": 65"),
                              "s.json", diagnostic)));
  EXPECT_EQ(diagnostic.loc.pointer, "/steps/0/repeat/axis");
  EXPECT_EQ(diagnostic.message, "expected 1 to 64 micro-steps, 'L' has 65");
  EXPECT_TRUE(succeeded(readSpec(replaceOnce(most, "\"L\": 2", "\"L\": 64"),
                                 "s.json", diagnostic)))
      << diagnostic.str();
}

TEST(Messages, NestedExpressionsAreBounded) {
  SpecDiagnostic diagnostic;
  std::string deep = replaceOnce(
      kBase, "sigmoid(g)", std::string(100, '(') + "g" + std::string(100, ')'));
  ASSERT_TRUE(failed(readSpec(deep, "s.json", diagnostic)));
  EXPECT_EQ(diagnostic.message, "expression nested deeper than 64 levels");
  std::string text = "g";
  for (int i = 0; i < 1001; ++i)
    text += "+g";
  ASSERT_TRUE(failed(
      readSpec(replaceOnce(kBase, "sigmoid(g)", text), "s.json", diagnostic)));
  EXPECT_EQ(diagnostic.message, "expression of more than 1000 parts");
}

} // namespace
