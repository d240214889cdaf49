//===- ModelTest.cpp - Examples, expansion, types, places -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Spec/Spec.h"
#include "Prism/Support/Json.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

using namespace prism;
using namespace prism::spec;

static Spec read(llvm::StringRef text) {
  SpecDiagnostic diagnostic;
  auto spec = readSpec(text, "s.json", diagnostic);
  EXPECT_TRUE(succeeded(spec)) << diagnostic.str();
  return succeeded(spec) ? *spec : Spec();
}

static std::string expand(llvm::StringRef text) {
  return printSpec(expandSpec(read(text)));
}

TEST(Model, EveryExampleExpandsToItself) {
  unsigned count = 0;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator
           it(PRISM_SOURCE_DIR "/examples", error),
       end;
       it != end && !error; it.increment(error)) {
    if (llvm::sys::path::extension(it->path()) != ".json")
      continue;
    SCOPED_TRACE(it->path());
    auto buffer = llvm::MemoryBuffer::getFile(it->path());
    ASSERT_TRUE(bool(buffer));
    std::string once = expand((*buffer)->getBuffer());
    EXPECT_EQ(once.find("\"family\""), std::string::npos);
    EXPECT_EQ(expand(once), once);
    ++count;
  }
  EXPECT_FALSE(error);
  EXPECT_GE(count, 24u);
}

static constexpr const char *kL0 =
    R"json({ "prism_spec": 1, "name": "m", "family": "prism",
  "dims": { "H": 2, "K": 8, "V": 8, "L": 0 } })json";

TEST(Model, PrismOfRankZeroIsGatedDeltaNet) {
  std::string prism = expand(kL0);
  std::string gated =
      expand(R"json({ "prism_spec": 1, "name": "m", "family": "gated_deltanet",
    "dims": { "H": 2, "K": 8, "V": 8, "L": 0 } })json");
  EXPECT_EQ(prism, gated);
}

TEST(Model, PrismOfVersionTwoTiesTheErase) {
  Spec spec = read(R"json({ "prism_spec": 1, "family": "prism", "variant": "v2",
    "dims": { "H": 2, "K": 8, "V": 8, "L": 2 } })json");
  EXPECT_FALSE(spec.findInput("k"));
  EXPECT_FALSE(spec.findInput("beta"));
  ASSERT_EQ(spec.steps.size(), 4u); // decay, erase, one injection, read
  EXPECT_EQ(std::get<EraseStep>(spec.steps[1].factor).read.name, "erase_key");
  EXPECT_EQ(spec.findLet("erase_key")->text, "row(c, 0)");
}

TEST(Model, ShorthandIsTransitionInjectRead) {
  auto text = [](const char *when) {
    return std::string(
               R"json({ "prism_spec": 1, "name": "m", "dims": { "H": 1, "K": 4, "V": 4 },
      "inputs": { "k": ["B","T","H","K"], "v": ["B","T","H","V"], "g": ["B","T","H"] },
      "read": { "query": "k", "when": ")json") +
           when + R"json(" },
      "inject": { "key": "k", "value": "v" }, "transition": [ { "decay": "g" } ] })json";
  };
  Spec after = read(text("after")), before = read(text("before"));
  ASSERT_EQ(after.steps.size(), 3u);
  EXPECT_EQ(after.steps[0].factor.index(), 0u); // decay
  EXPECT_EQ(after.steps[1].factor.index(), 2u); // inject
  EXPECT_EQ(after.steps[2].factor.index(), 3u); // read
  EXPECT_EQ(before.steps[0].factor.index(), 3u);
}

TEST(Model, Defaults) {
  Spec spec = read(kL0);
  EXPECT_EQ(spec.io, ElementType::F32);
  EXPECT_EQ(spec.state, ElementType::F32);
  EXPECT_EQ(std::get<ReadStep>(spec.steps.back().factor).scale, 1.0);
  EXPECT_EQ(spec.targets, std::vector<std::string>{"cpu"});
  ASSERT_EQ(spec.entries.size(), 2u);
  EXPECT_EQ(spec.entries[1].name, "decode");
  EXPECT_FALSE(spec.entries[0].plan);
  EXPECT_FALSE(spec.findDim("T")->extent);
}

TEST(Model, GateInputsHaveTheGateType) {
  Spec spec = read(
      R"json({ "prism_spec": 1, "name": "m", "dims": { "H": 1, "K": 4, "V": 4 },
    "dtype": { "io": "bf16" },
    "inputs": { "k": ["B","T","H","K"], "v": ["B","T","H","V"], "g": ["B","T","H","K"], "s": ["H"],
                "w": { "axes": ["B","T","H"], "dtype": "bf16" } },
    "steps": [ { "decay": "g" }, { "inject": { "key": "k", "value": "v", "scale": "s" } },
               { "erase": { "key": "k", "strength": "w" } }, { "read": { "query": "k" } } ] })json");
  EXPECT_EQ(spec.findInput("k")->type, ElementType::BF16);
  EXPECT_EQ(spec.findInput("g")->type, ElementType::F32);  // a log-gate
  EXPECT_EQ(spec.findInput("s")->type, ElementType::F32);  // no K or V axis
  EXPECT_EQ(spec.findInput("w")->type, ElementType::BF16); // says so itself
  Spec wide = read(
      R"json({ "prism_spec": 1, "family": "retnet", "dims": { "H": 1, "K": 4, "V": 4 }, "dtype": { "io": "f64" } })json");
  EXPECT_EQ(wide.gate, ElementType::F64);
  EXPECT_EQ(wide.state, ElementType::F64);
}

TEST(Model, InputsAndLetsBesideAFamily) {
  Spec spec = read(
      R"json({ "prism_spec": 1, "family": "gated_deltanet", "dims": { "H": 2, "K": 4, "V": 4 },
    "inputs": { "q": ["B","H","T","K"], "dt": ["B","T","H"] }, "let": { "log_alpha": "-softplus(dt)" } })json");
  std::vector<std::string> names;
  for (const Input &input : spec.inputs)
    names.push_back(input.name);
  EXPECT_EQ(names, (std::vector<std::string>{"q", "k", "v", "beta", "dt"}));
  EXPECT_EQ(spec.inputs[0].axes[1], "H");
  EXPECT_EQ(spec.inputs[1].axes[1], "T");
}

TEST(Model, MicroStepsAreWrittenOut) {
  Spec spec = read(
      R"json({ "prism_spec": 1, "name": "m", "dims": { "H": 1, "K": 4, "V": 4, "M": 2 },
    "inputs": { "q": ["B","T","H","K"], "k": ["B","T","H","M","K"], "v": ["B","T","H","V"], "b": ["B","T","H","M"] },
    "steps": [ { "repeat": { "axis": "M", "steps": [ { "erase": { "key": "k", "strength": "b" } },
                                                     { "inject": { "key": "k", "value": "v" } } ] } },
               { "read": { "query": "q" } } ] })json");
  ASSERT_EQ(spec.steps.size(), 5u);
  auto erase = std::get<EraseStep>(spec.steps[2].factor);
  auto inject = std::get<InjectStep>(spec.steps[3].factor);
  EXPECT_EQ(erase.read.name, "k_1");
  EXPECT_EQ(erase.strength.name, "b_1");
  EXPECT_EQ(inject.key.name, "k_1");
  EXPECT_EQ(inject.value->name, "v"); // the same in each
  ASSERT_EQ(spec.lets.size(), 4u);
  EXPECT_EQ(spec.findLet("k_1")->text, "row(k, 1)");
  EXPECT_EQ(spec.findLet("k_1")->value.axes, std::vector<std::string>{"K"});
}

TEST(Model, AxesOfLetsCombineByName) {
  Spec spec = read(
      R"json({ "prism_spec": 1, "name": "m", "dims": { "H": 1, "K": 4, "V": 8, "L": 2 },
    "inputs": { "k": ["B","T","H","K"], "v": ["B","T","H","V"], "p": ["B","T","H","L","V"], "a": ["B","T","H","V","K"] },
    "let": { "both": "v - k", "ranks": "v * p", "same": "2 * a * a",
             "g": "min(both, k) / v + row(row(same, 0), 1)", "value": "row(ranks, 1)" },
    "steps": [ { "decay": "g" }, { "inject": { "key": "k", "value": "value" } }, { "read": { "query": "k" } } ] })json");
  auto axes = [&](const char *name) { return spec.findLet(name)->value.axes; };
  EXPECT_EQ(axes("both"), (std::vector<std::string>{"K", "V"}));
  EXPECT_EQ(axes("ranks"), (std::vector<std::string>{"L", "V"}));
  EXPECT_EQ(axes("same"), (std::vector<std::string>{"V", "K"}));
  EXPECT_EQ(axes("g"), (std::vector<std::string>{"K", "V"}));
}

TEST(Model, FamiliesOfElementwiseStatesNeedNoKeys) {
  std::string text = R"json({ "prism_spec": 1, "family": "first_order",
    "dims": { "H": 2, "V": 8 }, "dtype": { "io": "bf16" } })json";
  Spec spec = read(text);
  EXPECT_EQ(spec.extent("K"), 1);
  EXPECT_EQ(std::get<InjectStep>(spec.steps[1].factor).key.number, 1.0);
  EXPECT_EQ(expand(text).find("\"key\""), std::string::npos);
  EXPECT_EQ(expand(text).find("\"query\""), std::string::npos);
}

TEST(Model, LettersOfOtherDims) {
  Spec spec = read(
      R"json({ "prism_spec": 1, "name": "m", "dims": { "H": 1, "K": 4, "V": 4, "R": 2, "Rank": 3 },
    "inputs": { "k": ["B","T","H","R","K"], "j": ["B","T","H","Rank","K"], "q": ["B","T","H","K"] },
    "steps": [ { "erase": { "key": "k", "strength": 1 } }, { "erase": { "key": "j", "strength": 1 } },
               { "read": { "query": "q" } } ] })json");
  EXPECT_EQ(spec.findDim("R")->letter, 'r');
  EXPECT_EQ(spec.findDim("Rank")->letter, 'a');
}

TEST(Json, PlacesOfValuesAndKeys) {
  SpecDiagnostic diagnostic;
  auto node = parseJson("\xEF\xBB\xBF{\n \"a\" : [ 1,-2.5e3 "
                        ",\"x\\n\"],\n\t\"b/~\": { \"c\":null } }",
                        "f", diagnostic);
  ASSERT_TRUE(succeeded(node));
  const JsonNode *a = node->find("a");
  EXPECT_EQ(a->loc.line, 2u);
  EXPECT_EQ(a->loc.column, 8u);
  EXPECT_EQ(a->items[0].loc.column, 10u);
  EXPECT_EQ(a->items[1].loc.column, 12u);
  EXPECT_EQ(a->items[1].number, -2500);
  EXPECT_EQ(a->items[2].loc.column, 20u);
  EXPECT_EQ(a->items[2].loc.pointer, "/a/2");
  EXPECT_FALSE(a->items[2].verbatim);
  EXPECT_EQ(node->members[1].keyLoc.line, 3u);
  EXPECT_EQ(node->members[1].keyLoc.column, 2u);
  EXPECT_EQ(node->members[1].value.find("c")->loc.pointer, "/b~1~0/c");
  EXPECT_EQ(node->members[1].value.find("c")->loc.column, 15u);
}

/// What stands after it would be left unread.
TEST(Json, ANulByteIsNoEndOfText) {
  using llvm::StringRef;
  for (StringRef text : {StringRef("{}\n \0 {\"a\": 1}", 14),
                         StringRef("{}\n \0", 5), StringRef("{,\n \0}", 6)}) {
    SpecDiagnostic diagnostic;
    EXPECT_TRUE(failed(parseJson(text, "f", diagnostic)));
    EXPECT_EQ(diagnostic.str(),
              "f:2:2: error: not JSON: a NUL byte, expected text");
  }
}

TEST(Json, NearestNames) {
  EXPECT_EQ(nearestName("schdule", {"chunk", "schedule"}), "schedule");
  EXPECT_EQ(nearestName("Beta", {"b", "beta"}), "beta");
  EXPECT_EQ(nearestName("colour", {"chunk", "schedule"}), "");
}
