//===- ManifestTest.cpp - The manifest reader ------------------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TestBundle.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

using namespace prism::runtime;
using namespace prism::runtime::test;

namespace {

/// One part of the manifest replaced, and what the reader must say.
struct Wrong {
  const char *part, *by, *message;
};

TEST(Manifest, ReadsAll) {
  EntryInfo entry = testEntry();
  ASSERT_EQ(entry.arguments.size(), 6u);
  EXPECT_EQ(toString(entry.arguments[0].shape), "[B, T, 3, 8]");
  EXPECT_EQ(toString(entry.arguments[3].shape), "[N+1]");
  EXPECT_EQ(entry.arguments[5].role, Role::FinalState);
  ASSERT_EQ(entry.kernels.size(), 5u);
  EXPECT_EQ(entry.kernels[1].workspace, 100);
  EXPECT_EQ(entry.kernels[3].itemsPerBlock, 4);
  EXPECT_EQ(entry.kernels[4].itemsPerBlock, 1);
  EXPECT_EQ(entry.choice[0].maxSteps, 32);
  EXPECT_EQ(entry.choice[0].maxHeads, INT64_MAX);
  EXPECT_EQ(entry.choice[0].valueBlock, 0);
  EXPECT_EQ(entry.choice[1].maxSteps, INT64_MAX);
  EXPECT_EQ(entry.choice[1].maxHeads, 66);
  EXPECT_EQ(entry.choice[1].valueBlock, 4);
  EXPECT_EQ(entry.choice[2].maxHeads, INT64_MAX);
}

TEST(Manifest, SaysWhatIsWrong) {
  const Wrong cases[] = {
      {"\"prism_manifest\": 1", "\"prism_manifest\": 4",
       "/prism_manifest: expected a manifest of version 3 at most, found "
       "version 4; a newer runtime is needed to play this bundle"},
      {"\"prism_manifest\": 1", "\"prism_manifest\": \"1\"",
       "/prism_manifest: expected an integer from 1 to 9223372036854775807, "
       "found \"1\""},
      {"\"prism_manifest\": 1, ", "",
       "/prism_manifest: expected an integer, found nothing"},
      {"\"name\": \"sums\"", "\"nane\": \"sums\"",
       "/name: expected a string, found nothing (there is a key 'nane')"},
      {"\"reverse\": false", "\"reverse\": 0",
       "/entries/0/reverse: expected true or false, found 0"},
      {"\"value_heads\": 3", "\"value_heads\": 0",
       "/entries/0/value_heads: expected an integer from 1 to 16777216, found "
       "0"},
      {"\"value_heads\": 3", "\"value_heads\": 18446744073709551615",
       "/entries/0/value_heads: expected an integer from 1 to 16777216, found "
       "18446744073709551615"},
      {"\"name\": \"forward\"", "\"name\": \"for ward\"",
       "/entries/0/name: expected a name of letters, digits and _, found "
       "\"for ward\""},
      {"\"name\": \"copy\"", "\"name\": \"forward\"",
       "/entries: expected distinct names, found 'forward' twice"},
      {"\"name\": \"g\"", "\"name\": \"x\"",
       "/entries/0/arguments: expected distinct names, found 'x' twice"},
      {"\"role\": \"input\"", "\"role\": \"imput\"",
       "/entries/0/arguments/0/role: expected one of input, initial_state, "
       "offsets, output, final_state, initial_window, final_window, found "
       "\"imput\"; did you mean 'input'?"},
      {"\"dtype\": \"f32\"", "\"dtype\": \"f62\"",
       "/entries/0/arguments/0/dtype: expected one of f64, f32, bf16, f16, "
       "i64, found \"f62\"; did you mean 'f64'?"},
      {"\"dtype\": \"i64\"", "\"dtype\": \"f64\"",
       "/entries/0/arguments/3: expected offsets with dtype \"i64\" and shape "
       "[\"N+1\"], found f64 and [N+1]"},
      {"\"axes\": \"bthv\"", "\"axes\": \"bth\"",
       "/entries/0/arguments/0/axes: expected one lower-case letter for each "
       "of the 4 dimensions, found \"bth\""},
      {"[\"B\", \"T\", 3, 8]", "[\"B\", \"S\", 3, 8]",
       "/entries/0/arguments/0/shape/1: expected one of B, T, N, N+1, found "
       "\"S\"; did you mean 'B'?"},
      {"[\"B\", \"T\", 3, 8]", "[\"B\", \"T\", 3, -8]",
       "/entries/0/arguments/0/shape/3: expected an integer from 0 to "
       "1099511627776, found -8"},
      {"[\"B\", \"T\", 3, 8]", "[1,1,1,1,1,1,1,1,1]",
       "/entries/0/arguments/0/shape: expected at most 8 dimensions, found an "
       "array of 9"},
      {"[\"B\", \"T\", 3, 8]", "7",
       "/entries/0/arguments/0/shape: expected an array, found 7"},
      {"\"file\": \"kernels.so\"", "\"file\": \"../kernels.so\"",
       "/entries/0/kernels/0/file: expected a file inside the bundle, found "
       "\"../kernels.so\""},
      {"\"file\": \"kernels.so\"", "\"file\": \"/lib/kernels.so\"",
       "/entries/0/kernels/0/file: expected a file inside the bundle, found "
       "\"/lib/kernels.so\""},
      {"\"file\": \"kernels.so\", ", "",
       "/entries/0/kernels/0/file: expected a string, found nothing"},
      {"\"target\": \"cpu\"", "\"target\": \"gpu\"",
       "/entries/0/kernels/0/target: expected one of cpu, cuda, found \"gpu\"; "
       "did you mean 'cpu'?"},
      {"\"chip\": \"sm_90a\"", "\"chip\": \"h100\"",
       "/entries/0/kernels/3/chip: expected a chip such as \"sm_90a\", found "
       "\"h100\""},
      {"\"ptx_version\": \"8.0\"", "\"ptx_version\": \"8\"",
       "/entries/0/kernels/3/ptx_version: expected a PTX version such as "
       "\"8.0\", found \"8\""},
      {"\"ptx\": \"k.ptx\", \"cubin\": \"k.cubin\", ", "",
       "/entries/0/kernels/3: expected a key 'ptx' or 'cubin', found neither"},
      {"\"threads\": 128", "\"threads\": 1025",
       "/entries/0/kernels/3/threads: expected an integer from 1 to 1024, "
       "found 1025"},
      {"\"items_per_block\": 4",
       "\"tensor_maps\": [{ \"argument\": \"x\", \"rows\": 64, \"columns\": 64 "
       "}]",
       "/entries/0/kernels/3/tensor_maps/0/argument: expected the name of an "
       "argument of bf16 or f16, of at most 5 axes, one of them t and the last "
       "none of b, t, h, n, nor the one before it where boxes have ranks, "
       "found \"x\""},
      {"\"items_per_block\": 4",
       "\"tensor_maps\": [{ \"argument\": \"x\", \"rows\": 257, \"columns\": "
       "64 }]",
       "/entries/0/kernels/3/tensor_maps/0/rows: expected an integer from 1 to "
       "256, found 257"},
      {"\"items_per_block\": 4",
       "\"tensor_maps\": [{ \"argument\": \"x\", \"rows\": 64, \"columns\": 32 "
       "}]",
       "/entries/0/kernels/3/tensor_maps/0/columns: expected 16 or 64, found "
       "32"},
      {"\"items_per_block\": 4",
       "\"tensor_maps\": [{ \"argument\": \"x\", \"rows\": 64, \"columns\": 65 "
       "}]",
       "/entries/0/kernels/3/tensor_maps/0/columns: expected an integer from 1 "
       "to 64, found 65"},
      {"\"items_per_block\": 4", "\"tensor_maps\": 3",
       "/entries/0/kernels/3/tensor_maps: expected an array, found 3"},
      {"\"schedule\": \"chunk\" }", "\"schedule\": \"chnk\" }",
       "/entries/0/choice/2/schedule: expected one of recurrent, chunk, "
       "failing, found \"chnk\"; did you mean 'chunk'?"},
      {"\"value_block\": 4 }", "\"value_block\": 8 }",
       "/entries/0/choice/1/value_block: expected one of 4, found 8"},
      {"\"value_block\": 4 }", "\"value_block\": 0 }",
       "/entries/0/choice/1/value_block: expected an integer from 1 to "
       "1048576, found 0"},
      {"\"value_block\": 4 }", "\"value_block\": 4, \"prepare_blocks\": 1 }",
       "/entries/0/choice/1/prepare_blocks: expected those of a kernel with "
       "the schedule and the value block, found 1"},
      {"\"value_block\": 4 }", "\"value_block\": 4, \"prepare_blocks\": 17 }",
       "/entries/0/choice/1/prepare_blocks: expected an integer from 0 to 16, "
       "found 17"},
      {"\"max_heads\": 66", "\"max_heads\": -1",
       "/entries/0/choice/1/max_heads: expected an integer from 0 to "
       "9223372036854775807, found -1"},
      {"\"plan\": { \"schedule\": \"recurrent\", \"chunk\": 1,",
       "\"plan\": { \"schedule\": \"recurrent\",",
       "/entries/0/kernels/0/plan/chunk: expected an integer, found nothing"},
      {"\"plan\": {", "\"plan\": 3, \"planned\": {",
       "/entries/0/kernels/0/plan: expected an object, found 3"},
      {"\"matmul\": \"ieee\"", "\"matmul\": \"\"",
       "/entries/0/kernels/0/matmul: expected a string that is not empty, "
       "found \"\""},
  };
  for (const Wrong &wrong : cases) {
    Result<Manifest> manifest =
        parseManifest(manifestWith(wrong.part, wrong.by), "b/manifest.json");
    ASSERT_FALSE(manifest) << wrong.by;
    EXPECT_EQ(manifest.error(),
              std::string("b/manifest.json: ") + wrong.message);
  }
}

/// A kernel that splits sequences, in place of the one for sm_80.
std::string splitManifest(const std::string &part = "",
                          const std::string &by = "") {
  std::string text = manifestWith(
      R"("threads": 64, "shared": 0, "workspace": 0, "matmul": "ieee" })",
      R"("threads": 64, "shared": 0, "workspace": 0, "matmul": "ieee",
          "items": "segments",
          "intermediates": [
            { "name": "map", "role": "intermediate", "dtype": "f32", "axes": "nhs", "shape": ["N", 3, "S"], "optional": false } ],
          "before": [
            { "target": "cuda", "chip": "sm_80", "ptx_version": "9.0", "ptx": "m.ptx", "symbol": "m80",
              "plan": { "schedule": "recurrent", "chunk": 1, "value_block": 4, "stages": 1 }, "items": "inner_segments",
              "value_blocks": 3, "threads": 32, "shared": 0, "workspace": 0, "matmul": "ieee" } ] })");
  size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), by);
}

TEST(Manifest, KernelThatSplits) {
  Result<Manifest> manifest = parseManifest(
      splitManifest(
          R"({ "target": "cpu", "max_steps": 32,)",
          R"({ "target": "cuda", "schedule": "recurrent", "segments": 4 },
        { "target": "cpu", "max_steps": 32,)"),
      "m");
  ASSERT_TRUE(manifest) << manifest.error();
  const KernelInfo &kernel = manifest->entries[0].kernels.back();
  EXPECT_TRUE(kernel.isSplit());
  EXPECT_EQ(kernel.items, Items::Segments);
  EXPECT_EQ(toString(kernel.intermediates[0].shape), "[N, 3, S]");
  ASSERT_EQ(kernel.before.size(), 1u);
  EXPECT_EQ(kernel.before[0].symbol, "m80");
  EXPECT_EQ(kernel.before[0].items, Items::InnerSegments);
  EXPECT_EQ(manifest->entries[0].choice[0].segments, 4);
  EXPECT_EQ(manifest->entries[0].choice[1].segments, 1);
}

TEST(Manifest, WrongSplits) {
  struct Wrong {
    const char *part, *by, *message;
  };
  const Wrong cases[] = {
      {"\"items\": \"segments\"", "\"items\": \"segment\"",
       "/entries/0/kernels/4/items: expected one of sequences, segments, "
       "inner_segments, found \"segment\"; did you mean 'segments'?"},
      {"\"intermediates\": [", "\"arrays\": [",
       "/entries/0/kernels/4: expected a key 'intermediates' beside items "
       "'segments', found none"},
      {R"({ "name": "map", "role": "intermediate", "dtype": "f32", "axes": "nhs", "shape": ["N", 3, "S"], "optional": false })",
       "",
       "/entries/0/kernels/4/intermediates: expected at least one array, found "
       "an array of 0"},
      {"\"before\": [", "\"after\": [",
       "/entries/0/kernels/4/before: expected an array, found nothing"},
      {"\"role\": \"intermediate\"", "\"role\": \"input\"",
       "/entries/0/kernels/4/intermediates/0/role: expected one of "
       "intermediate, found \"input\""},
      {"\"target\": \"cuda\", \"chip\": \"sm_80\", \"ptx_version\": \"9.0\", "
       "\"ptx\": \"m.ptx\"",
       "\"target\": \"cpu\", \"isa\": \"x86-64\", \"file\": \"m.so\"",
       "/entries/0/kernels/4/before/0: expected the target of the kernel, "
       "'cuda', found 'cpu'"},
      {"\"max_steps\": 32", "\"max_steps\": 32, \"segments\": 2",
       "/entries/0/choice/0/segments: expected 1, as no kernel of the "
       "schedule splits sequences, found 2"},
      {"\"max_steps\": 32", "\"max_steps\": 32, \"segments\": 0",
       "/entries/0/choice/0/segments: expected an integer from 1 to 1048576, "
       "found 0"},
  };
  for (const Wrong &wrong : cases) {
    Result<Manifest> manifest =
        parseManifest(splitManifest(wrong.part, wrong.by), "m");
    ASSERT_FALSE(manifest) << wrong.by;
    EXPECT_EQ(manifest.error(), std::string("m: ") + wrong.message);
  }
}

TEST(Manifest, Windows) {
  std::string text = manifestWith("\"role\": \"initial_state\"",
                                  "\"role\": \"initial_window\"");
  const std::string state = "\"role\": \"final_state\"";
  text.replace(text.find(state), state.size(), "\"role\": \"final_window\"");
  text.replace(text.find("\"prism_manifest\": 1"), 19, "\"prism_manifest\": 3");
  Result<Manifest> manifest = parseManifest(text, "m");
  ASSERT_TRUE(manifest) << manifest.error();
  const std::vector<ArgumentInfo> &arguments = manifest->entries[0].arguments;
  EXPECT_EQ(arguments[2].role, Role::InitialWindow);
  EXPECT_FALSE(isWritten(arguments[2].role));
  EXPECT_EQ(arguments[5].role, Role::FinalWindow);
  EXPECT_TRUE(isWritten(arguments[5].role));
}

TEST(Manifest, TensorMaps) {
  std::string text =
      manifestWith("\"prism_manifest\": 1", "\"prism_manifest\": 2");
  const std::string f32 = "\"x\", \"role\": \"input\", \"dtype\": \"f32\"",
                    four = "\"items_per_block\": 4";
  text.replace(text.find(f32), f32.size(),
               "\"x\", \"role\": \"input\", \"dtype\": \"bf16\"");
  text.replace(text.find(four), four.size(),
               "\"tensor_maps\": [{ \"argument\": \"x\", \"rows\": 32, "
               "\"columns\": 64 }, { \"argument\": \"x\", \"rows\": 32, "
               "\"columns\": 16 }]");
  Result<Manifest> manifest = parseManifest(text, "m");
  ASSERT_TRUE(manifest) << manifest.error();
  const std::vector<TensorMapInfo> &maps =
      manifest->entries[0].kernels[3].tensorMaps;
  ASSERT_EQ(maps.size(), 2u);
  EXPECT_EQ(maps[0].argument, "x");
  EXPECT_EQ(maps[0].rows, 32);
  EXPECT_EQ(maps[0].columns, 64);
  EXPECT_EQ(maps[1].columns, 16);
  EXPECT_EQ(maps[0].info.axes, "bthv");
  EXPECT_EQ(maps[0].pointerWord, 0u);
  EXPECT_EQ(maps[0].strideWord, 8u);
  EXPECT_TRUE(manifest->entries[0].kernels[4].tensorMaps.empty());
}

TEST(Manifest, SeveralOffsets) {
  Result<Manifest> manifest = parseManifest(
      manifestWith("{ \"name\": \"y\"",
                   "{ \"name\": \"more\", \"role\": \"offsets\", \"dtype\": "
                   "\"i64\", \"axes\": \"n\", \"shape\": [\"N+1\"], "
                   "\"optional\": true }, { \"name\": \"y\""),
      "m");
  EXPECT_EQ(manifest.error(), "m: /entries/0/arguments: expected one argument "
                              "with role \"offsets\", found several");
}

TEST(Manifest, NotJson) {
  EXPECT_EQ(
      parseManifest("{\n  \"a\" 1 }", "m").error().substr(0, 65),
      "m: expected JSON, found a parse error at line 2, column 7: syntax");
  EXPECT_EQ(parseManifest("[]", "m").error(),
            "m: /: expected an object, found an array of 0");
  // What stands after a NUL byte is not left unread.
  std::string whole = manifestWith("{", "{");
  EXPECT_EQ(parseManifest(whole + std::string(1, '\0') + "{", "m").error(),
            "m: expected JSON, found a NUL byte after " +
                std::to_string(whole.size()) + " bytes");
  // Deep nesting must not use up the stack.
  EXPECT_FALSE(parseManifest(std::string(1000000, '['), "m"));
}

TEST(Manifest, MissingFile) {
  TempFolder folder;
  EXPECT_EQ(readManifest(folder / "no").error(),
            (folder / "no") +
                "/manifest.json: cannot open: No such file or directory");
  std::filesystem::create_directories(folder / "manifest.json");
  EXPECT_EQ(readManifest(folder.path()).error(),
            (folder / "manifest.json") + ": expected a file, found a folder");
}

/// Whatever is read must be sound enough to be listed and bound.
void useManifest(const Manifest &manifest) {
  for (const EntryInfo &entry : manifest.entries) {
    Floats x({1, 2, 3, 8});
    Result<Sizes> sizes = inferSizes(entry, {{"x", x.array()}});
    EXPECT_NE(bool(sizes), !sizes.error().empty());
    for (const ArgumentInfo &argument : entry.arguments)
      EXPECT_EQ(argument.axes.size(), argument.shape.size());
    Sizes steps;
    steps.longest = 5;
    EXPECT_TRUE(selectCpuKernel(entry, steps, 4) ||
                !selectCpuKernel(entry, steps, 4).error().empty());
    EXPECT_TRUE(selectCudaKernel(entry, steps, 90) ||
                !selectCudaKernel(entry, steps, 90).error().empty());
  }
}

TEST(Manifest, ThousandMutations) {
  std::mt19937 random(20240601);
  const std::string original = manifestText();
  const std::string pieces[] = {"{",     "}",       "[",
                                "]",     "\"",      "-1",
                                "1e300", "null",    "99999999999999999999",
                                "\xff",  ",",       "\"B\"",
                                "true",  "\\u0000", ":"};
  int refused = 0;
  for (int round = 0; round < 1000; ++round) {
    std::string text = original;
    for (unsigned left = 1 + random() % 4; left > 0 && !text.empty(); --left) {
      size_t at = random() % text.size();
      switch (random() % 4) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + random() % 12);
        break;
      case 2:
        text.insert(at, pieces[random() % std::size(pieces)]);
        break;
      default:
        text.resize(std::max<size_t>(1, random() % 8 ? text.size() : at));
      }
    }
    Result<Manifest> manifest = parseManifest(text, "m");
    if (manifest) {
      useManifest(*manifest);
      continue;
    }
    ++refused;
    EXPECT_EQ(manifest.error().substr(0, 3), "m: ");
    EXPECT_EQ(manifest.error().find('\n'), std::string::npos)
        << manifest.error();
  }
  EXPECT_GT(refused, 500);
  EXPECT_LT(refused, 1000);
}

TEST(Program, EntryByName) {
  TempFolder folder;
  writeBundle(folder / "b");
  Result<Program> program = Program::load(folder / "b");
  ASSERT_TRUE(program) << program.error();
  EXPECT_TRUE(program->entry("copy"));
  EXPECT_EQ(program->entry("foward").error(),
            "bundle 'sums' has no entry 'foward'; did you mean 'forward'? (it "
            "has forward, copy)");
}

TEST(Program, KernelFiles) {
  TempFolder folder;
  std::string bundle = folder / "b";
  writeBundle(bundle, manifestWith("test_recurrent", "no_such_function"));
  Result<Entry> entry = Program::load(bundle)->entry("forward");
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->cpuKernel(Sizes()).error(),
            bundle + "/kernels.so: expected a function 'no_such_function', "
                     "found none");
  std::filesystem::remove(bundle + "/kernels.so");
  std::filesystem::create_symlink(PRISM_TEST_KERNELS, bundle + "/kernels.so");
  entry = Program::load(bundle)->entry("forward");
  EXPECT_NE(entry->cpuKernel(Sizes()).error().find(
                "kernels.so: expected a file inside the bundle, found"),
            std::string::npos);
  std::filesystem::remove(bundle + "/kernels.so");
  EXPECT_EQ(entry->cpuKernel(Sizes()).error(),
            bundle + "/kernels.so: cannot open: No such file or directory");
  // Elsewhere: a library that was loaded under this path may still be there.
  std::string other = folder / "other";
  writeBundle(other);
  std::filesystem::remove(other + "/kernels.so");
  writeFile(other + "/kernels.so", "not a library");
  entry = Program::load(other)->entry("forward");
  EXPECT_EQ(entry->cpuKernel(Sizes()).error().find(
                other + "/kernels.so: cannot load: "),
            0u)
      << entry->cpuKernel(Sizes()).error();
}

} // namespace
