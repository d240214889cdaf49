//===- CompileTest.cpp - Compiling through the C API ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "DeltaRule.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <thread>

using namespace prism::capi::test;

namespace {

/// The error of a compilation that must fail; the test destroys it.
std::unique_ptr<PrismDiagnostic, Deleter>
failing(const std::string &text, const PrismCompileOptions *options = nullptr) {
  PrismDiagnostic *error = nullptr;
  EXPECT_FALSE(prismCompile(text.data(), text.size(), options, &error));
  EXPECT_TRUE(error);
  EXPECT_EQ(prismDiagnosticSeverity(error), PRISM_SEVERITY_ERROR);
  return std::unique_ptr<PrismDiagnostic, Deleter>(error);
}

Options optionsWith(const char *target) {
  Options options(prismCompileOptionsCreate());
  prismCompileOptionsAddTarget(options.get(), target);
  return options;
}

std::string replaced(std::string text, const std::string &part,
                     const std::string &by) {
  return text.replace(text.find(part), part.size(), by);
}

const char *module = R"(
func.func @forward(%a: tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
  %b = arith.addi %a, %a : tensor<?x?x4xf32>
  return %b : tensor<?x?x4xf32>
}
)";

TEST(Compile, SaysWhatAProgramHolds) {
  Program program = compile(deltaRule());
  EXPECT_STREQ(prismProgramName(program.get()), "delta_rule");
  EXPECT_EQ(std::string(prismProgramCompiler(program.get())).find("prism "),
            0u);
  EXPECT_NE(
      strstr(prismProgramManifest(program.get()), "\"prism_manifest\": 1"),
      nullptr);
  ASSERT_EQ(prismProgramEntryCount(program.get()), 2u);
  const PrismEntry *entry = prismProgramEntryAt(program.get(), 0);
  EXPECT_STREQ(prismEntryName(entry), "forward");
  EXPECT_STREQ(prismEntryName(prismProgramEntryAt(program.get(), 1)), "decode");
  EXPECT_FALSE(prismProgramEntryAt(program.get(), 2));
  EXPECT_EQ(prismEntryArgumentCount(entry), 9u);
  const PrismArgument *q = prismEntryArgumentAt(entry, 0);
  EXPECT_STREQ(q->name, "q");
  EXPECT_STREQ(q->axes, "bthk");
  EXPECT_EQ(q->role, PRISM_ROLE_INPUT);
  EXPECT_EQ(q->dtype, PRISM_DTYPE_F32);
  EXPECT_FALSE(q->optional);
  EXPECT_EQ(std::vector<int64_t>(q->extents, q->extents + q->rank),
            (std::vector<int64_t>{PRISM_EXTENT_B, PRISM_EXTENT_T, 2, 8}));
  const PrismArgument *offsets = prismEntryArgument(entry, "offsets");
  EXPECT_EQ(offsets->role, PRISM_ROLE_OFFSETS);
  EXPECT_EQ(offsets->dtype, PRISM_DTYPE_I64);
  EXPECT_TRUE(offsets->optional);
  EXPECT_EQ(offsets->extents[0], PRISM_EXTENT_N_PLUS_1);
  EXPECT_FALSE(prismEntryArgument(entry, "none"));
  EXPECT_FALSE(prismEntryArgumentAt(entry, 9));
  EXPECT_EQ(prismDTypeSize(PRISM_DTYPE_BF16), 2u);
  EXPECT_STREQ(prismDTypeName(PRISM_DTYPE_I64), "i64");
}

TEST(Compile, ASpecsErrorHasItsPlace) {
  Options options(prismCompileOptionsCreate());
  prismCompileOptionsSetFile(options.get(), "model.json");
  std::string spec = replaced(deltaRule(), "\"strength\": \"beta\"",
                              "\"strength\": \"betta\"");
  auto error = failing(spec, options.get());
  EXPECT_EQ(prismDiagnosticKind(error.get()), PRISM_KIND_SPEC);
  EXPECT_STREQ(prismDiagnosticFile(error.get()), "model.json");
  EXPECT_STREQ(prismDiagnosticPointer(error.get()), "/steps/1/erase/strength");
  EXPECT_EQ(prismDiagnosticLine(error.get()), 8u);
  EXPECT_EQ(prismDiagnosticColumn(error.get()), 51u);
  EXPECT_STREQ(prismDiagnosticNearest(error.get()), "beta");
  EXPECT_STREQ(prismDiagnosticArgument(error.get()), "");
  EXPECT_STREQ(prismDiagnosticMessage(error.get()),
               "unknown name 'betta', expected an input or a let (q, k, v, g "
               "or beta)");
  EXPECT_STREQ(prismDiagnosticText(error.get()),
               "model.json:8:51: error: /steps/1/erase/strength: unknown name "
               "'betta', expected an input or a let (q, k, v, g or beta); did "
               "you mean 'beta'?");
}

/// A calibration in which one vector of a state costs so much, a product of a
/// score so much, and a step a microsecond.
std::string costs(const std::string &state, const std::string &score) {
  return R"({"prism_calibration": 1, "cache_bytes": 0, "levels": {"x86-64-v3": {
    "masked_product": )" +
         score + R"(, "state_vector": )" + state +
         R"(, "step_update": 1000, "product": 1e-9,
    "decayed_product": 0, "transpose": 0, "function": 0, "elementwise": 0,
    "tile": 0, "chunk": 0, "step_read": 0, "near_byte": 0, "far_byte": 0}}})";
}

TEST(Compile, Calibration) {
  auto manifest = [](const std::string &json) {
    Options options = optionsWith("cpu:x86-64-v3");
    prismCompileOptionsSetCalibration(options.get(), json.c_str(), nullptr);
    Program program = compile(deltaRule(), options.get());
    return std::string(prismProgramManifest(program.get()));
  };
  EXPECT_NE(manifest(costs("10", "1e-9")).find("\"chunk\": 64"),
            std::string::npos);
  EXPECT_NE(manifest(costs("1e-9", "10")).find("\"chunk\": 4"),
            std::string::npos);

  Options options = optionsWith("cuda:sm_90a");
  prismCompileOptionsSetCalibration(options.get(), costs("1", "1").c_str(), "");
  EXPECT_STREQ(prismDiagnosticText(failing(deltaRule(), options.get()).get()),
               "error: calibration: expected a CPU among the targets, found "
               "cuda:sm_90a");
  options = optionsWith("cpu");
  prismCompileOptionsSetCalibration(options.get(), "[]", "cpu.json");
  auto wrong = failing(deltaRule(), options.get());
  EXPECT_EQ(prismDiagnosticKind(wrong.get()), PRISM_KIND_COMPILE);
  EXPECT_STREQ(prismDiagnosticFile(wrong.get()), "cpu.json");
  prismCompileOptionsSetCalibration(options.get(), nullptr, nullptr);
  EXPECT_TRUE(compile(deltaRule(), options.get()));
}

TEST(Compile, WrongTextsAndOptions) {
  EXPECT_EQ(std::string(prismDiagnosticText(failing("{").get()))
                .find("spec:1:2: error: "),
            0u);
  EXPECT_EQ(prismDiagnosticKind(failing("").get()), PRISM_KIND_SPEC);
  auto target = failing(deltaRule(), optionsWith("cpu,gpu").get());
  EXPECT_EQ(prismDiagnosticKind(target.get()), PRISM_KIND_COMPILE);
  EXPECT_EQ(
      std::string(prismDiagnosticText(target.get())).find("error: target: "),
      0u)
      << prismDiagnosticText(target.get());
  Options entry(prismCompileOptionsCreate());
  prismCompileOptionsAddEntry(entry.get(), "forwards");
  EXPECT_NE(strstr(prismDiagnosticText(failing(deltaRule(), entry.get()).get()),
                   "no entry 'forwards'; did you mean 'forward'?"),
            nullptr);
  Options plan(prismCompileOptionsCreate());
  prismCompileOptionsSetPlan(plan.get(), R"({"chunks": 3})", "p.json");
  auto wrongKey = failing(deltaRule(), plan.get());
  EXPECT_STREQ(prismDiagnosticText(wrongKey.get()),
               "p.json:1:2: error: /chunks: unknown key 'chunks'; did you mean "
               "'chunk'?");
  EXPECT_EQ(prismDiagnosticKind(wrongKey.get()), PRISM_KIND_COMPILE);
  EXPECT_STREQ(prismDiagnosticFile(wrongKey.get()), "p.json");
  EXPECT_STREQ(prismDiagnosticPointer(wrongKey.get()), "/chunks");
  EXPECT_STREQ(prismDiagnosticNearest(wrongKey.get()), "chunk");
  EXPECT_EQ(prismDiagnosticColumn(wrongKey.get()), 2u);
  prismCompileOptionsSetPlan(plan.get(), R"({"decoded": {"chunk": 1}})",
                             nullptr);
  EXPECT_STREQ(prismDiagnosticText(failing(deltaRule(), plan.get()).get()),
               "plan:1:2: error: /decoded: unknown key 'decoded'; did you mean "
               "'decode'?");
  // What only the model shows to be wrong has the same fields.
  prismCompileOptionsSetPlan(plan.get(), R"({"value_block": 4096})", "p.json");
  auto wide = failing(deltaRule(), plan.get());
  EXPECT_EQ(std::string(prismDiagnosticText(wide.get()))
                .find("p.json:1:17: error: /value_block: expected a "
                      "value_block of at most "),
            0u)
      << prismDiagnosticText(wide.get());
  EXPECT_STREQ(prismDiagnosticPointer(wide.get()), "/value_block");
  EXPECT_EQ(std::string(prismDiagnosticMessage(wide.get()))
                .find("expected a value_block of at most "),
            0u);
  prismCompileOptionsSetPlan(plan.get(), nullptr, nullptr);
  EXPECT_TRUE(compile(deltaRule(), plan.get()));
}

TEST(Compile, AnUnknownSyntaxIsRefused) {
  Options options(prismCompileOptionsCreate());
  prismCompileOptionsSetSyntax(options.get(), PrismSyntax(2));
  auto error = failing(deltaRule(), options.get());
  EXPECT_EQ(prismDiagnosticKind(error.get()), PRISM_KIND_USAGE);
  EXPECT_STREQ(prismDiagnosticMessage(error.get()),
               "expected a PrismSyntax, found 2");
}

TEST(Compile, AModulesErrorHasItsPlaceAndIsTold) {
  Options options(prismCompileOptionsCreate());
  prismCompileOptionsSetSyntax(options.get(), PRISM_SYNTAX_MLIR);
  prismCompileOptionsSetFile(options.get(), "model.mlir");
  std::vector<std::string> told;
  prismCompileOptionsSetDiagnosticCallback(
      options.get(),
      [](const PrismDiagnostic *diagnostic, void *user) {
        static_cast<std::vector<std::string> *>(user)->push_back(
            prismDiagnosticText(diagnostic));
      },
      &told);
  auto error = failing(module, options.get());
  EXPECT_EQ(prismDiagnosticKind(error.get()), PRISM_KIND_COMPILE);
  EXPECT_STREQ(prismDiagnosticFile(error.get()), "model.mlir");
  EXPECT_EQ(prismDiagnosticLine(error.get()), 3u);
  EXPECT_EQ(std::string(prismDiagnosticText(error.get()))
                .find("model.mlir:3:8: error: 'arith.addi' op operand #0 must"),
            0u)
      << prismDiagnosticText(error.get());
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0], prismDiagnosticText(error.get()));
}

TEST(Compile, TellsItsProgress) {
  Options options(prismCompileOptionsCreate());
  std::vector<std::string> told;
  prismCompileOptionsSetProgressCallback(
      options.get(),
      [](const char *what, void *user) {
        static_cast<std::vector<std::string> *>(user)->push_back(what);
      },
      &told);
  ASSERT_TRUE(compile(deltaRule(), options.get()));
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told[0], "entry forward, schedule chunk, cpu");
}

TEST(Compile, Files) {
  PrismDiagnostic *error = nullptr;
  EXPECT_FALSE(prismCompileFile("/no/such.json", nullptr, &error));
  EXPECT_EQ(take(error),
            "cannot read '/no/such.json': No such file or directory");
  EXPECT_FALSE(prismCompileFile("/tmp", nullptr, &error));
  EXPECT_EQ(take(error), "cannot read '/tmp': Is a directory");
  std::string path = testing::TempDir() + "prism-capi-model.mlir";
  std::ofstream(path) << module;
  EXPECT_FALSE(prismCompileFile(path.c_str(), nullptr, &error));
  EXPECT_EQ(take(error).find(path + ":3:8: error: "), 0u);
}

TEST(Compile, Expands) {
  PrismDiagnostic *error = nullptr;
  std::string spec = deltaRule();
  char *text = prismExpand(spec.data(), spec.size(), nullptr, &error);
  ASSERT_TRUE(text) << take(error);
  EXPECT_NE(strstr(text, "\"when\""), text);
  EXPECT_NE(strstr(text, "\"reverse\": false"), nullptr);
  // Expanding what is written out changes nothing.
  char *again = prismExpand(text, strlen(text), nullptr, &error);
  EXPECT_STREQ(again, text);
  prismStringDestroy(again);
  prismStringDestroy(text);
  EXPECT_FALSE(prismExpand("[]", 2, "x.json", &error));
  EXPECT_EQ(take(error).find("x.json:1:1: error: "), 0u);
}

TEST(Compile, NullHandles) {
  PrismDiagnostic *error = nullptr;
  EXPECT_FALSE(prismCompile(nullptr, 3, nullptr, &error));
  EXPECT_EQ(prismDiagnosticKind(error), PRISM_KIND_USAGE);
  EXPECT_EQ(take(error), "expected a text, found null");
  EXPECT_FALSE(prismCompile(nullptr, 3, nullptr, nullptr));
  EXPECT_FALSE(prismCompileFile(nullptr, nullptr, nullptr));
  EXPECT_FALSE(prismExpand(nullptr, 0, nullptr, nullptr));
  prismCompileOptionsAddTarget(nullptr, "cpu");
  prismCompileOptionsDestroy(nullptr);
  prismProgramDestroy(nullptr);
  prismDeviceDestroy(nullptr);
  prismDiagnosticDestroy(nullptr);
  EXPECT_STREQ(prismDiagnosticText(nullptr), "");
  EXPECT_STREQ(prismProgramName(nullptr), "");
  EXPECT_EQ(prismProgramEntryCount(nullptr), 0u);
  EXPECT_FALSE(prismProgramEntry(nullptr, "x", &error));
  EXPECT_EQ(take(error), "expected a program and the name of an entry, found "
                         "null");
  EXPECT_EQ(prismEntryArgumentCount(nullptr), 0u);
}

TEST(Compile, UnknownEntry) {
  Program program = compile(deltaRule());
  PrismDiagnostic *error = nullptr;
  EXPECT_FALSE(prismProgramEntry(program.get(), "foward", &error));
  EXPECT_STREQ(prismDiagnosticNearest(error), "forward");
  EXPECT_EQ(take(error), "bundle 'delta_rule' has no entry 'foward'; did you "
                         "mean 'forward'? (it has forward, decode)");
}

/// Several models at once, some wrong: each thread gets its own answer.
TEST(Compile, InThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([i] {
      std::string io = i % 3 == 0 ? "f32" : i % 3 == 1 ? "bf16" : "f23";
      PrismDiagnostic *error = nullptr;
      std::string spec = deltaRule(io);
      Program program(prismCompile(spec.data(), spec.size(), nullptr, &error));
      EXPECT_EQ(program != nullptr, io != "f23");
      if (!program) {
        EXPECT_STREQ(prismDiagnosticPointer(error), "/dtype/io");
        EXPECT_NE(take(error).find("'f23'"), std::string::npos);
        return;
      }
      EXPECT_STREQ(
          prismDTypeName(
              prismEntryArgument(entryOf(program, "forward"), "q")->dtype),
          io.c_str());
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
