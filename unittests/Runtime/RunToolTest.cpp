//===- RunToolTest.cpp - The tool prism-run --------------------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TestBundle.h"
#include "prism-runtime/Npy.h"

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

using namespace prism::runtime;
using namespace prism::runtime::test;

namespace {

struct Output {
  int status = -1;
  std::string text; // stdout and stderr
};

struct RunTool : testing::Test {
  TempFolder folder;
  Floats x{{2, 65, 3, 8}}, y{{2, 65, 3, 8}}, final{{2, 3, 8}};

  void SetUp() override {
    writeBundle(folder / "b");
    save("x.npy", DType::F32, x.shape, x.values.data());
    reference(x, nullptr, nullptr, {}, y, final);
  }
  void save(const std::string &name, DType dtype,
            const std::vector<int64_t> &shape, const void *data) {
    Result<NpyWriter> writer = NpyWriter::open(folder / name);
    ASSERT_TRUE(writer) << writer.error();
    ASSERT_TRUE(writer->write(dtype, shape, data));
    ASSERT_TRUE(writer->commit());
  }
  /// Runs the tool in the folder.
  Output run(const std::string &arguments) {
    std::string command =
        "cd '" + folder.path() + "' && '" PRISM_RUN "' " + arguments + " 2>&1";
    Output output;
    FILE *pipe = popen(command.c_str(), "r");
    char part[4096];
    while (pipe && std::fgets(part, sizeof(part), pipe))
      output.text += part;
    int status = pipe ? pclose(pipe) : -1;
    output.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return output;
  }
  /// Runs it, which must fail with that sentence and leave no new file.
  void fails(const std::string &arguments, const std::string &message) {
    std::vector<std::string> before = folder.names();
    Output output = run(arguments);
    EXPECT_EQ(output.text, "prism-run: error: " + message + "\n");
    EXPECT_EQ(output.status, 1);
    EXPECT_EQ(folder.names(), before);
  }
  void holds(const std::string &name, const Floats &wanted) {
    Result<NpyFile> file = NpyFile::open(folder / name);
    ASSERT_TRUE(file) << file.error();
    EXPECT_EQ(file->header().shape, wanted.shape);
    EXPECT_TRUE(wanted.values.empty() ||
                std::memcmp(file->data(), wanted.values.data(),
                            wanted.values.size() * 4) == 0);
  }
};

TEST_F(RunTool, Runs) {
  for (const char *more : {"", " --schedule recurrent --threads 2",
                           " --isa x86-64 --device=cpu"}) {
    Output output = run("b forward --in x=x.npy --out y=y.npy --out "
                        "final_state=s.npy" +
                        std::string(more));
    EXPECT_EQ(output.status, 0) << output.text;
    EXPECT_EQ(output.text, "");
    holds("y.npy", y);
    holds("s.npy", final);
    std::remove((folder / "y.npy").c_str());
    std::remove((folder / "s.npy").c_str());
  }
  // A required output that is not asked for; arrays before the positionals.
  EXPECT_EQ(run("--in x=x.npy --out final_state=s.npy b forward").status, 0);
  holds("s.npy", final);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"b", "s.npy", "x.npy"}));
}

TEST_F(RunTool, PackedAndEmpty) {
  int64_t offsets[] = {0, 3, 3};
  Floats packed({1, 3, 3, 8}), sums({1, 3, 3, 8}), states({2, 3, 8});
  reference(packed, nullptr, nullptr, {0, 3, 3}, sums, states);
  save("p.npy", DType::F32, packed.shape, packed.values.data());
  save("o.npy", DType::I64, {3}, offsets);
  Output output = run("b forward --in x=p.npy --in offsets=o.npy "
                      "--out y=y.npy --out final_state=s.npy");
  EXPECT_EQ(output.status, 0) << output.text;
  holds("y.npy", sums);
  holds("s.npy", states);
  save("e.npy", DType::F32, {2, 0, 3, 8}, nullptr);
  output = run("b forward --in x=e.npy --out y=y.npy --out final_state=s.npy");
  EXPECT_EQ(output.status, 0) << output.text;
  holds("y.npy", Floats({2, 0, 3, 8}));
}

TEST_F(RunTool, Bf16) {
  std::vector<uint16_t> bits(48);
  for (size_t i = 0; i < bits.size(); ++i)
    bits[i] = static_cast<uint16_t>(i * 1000);
  save("h.npy", DType::BF16, {1, 2, 3, 8}, bits.data());
  // The same with the other type that stands for bf16.
  std::string file = readBytes(folder / "h.npy");
  file.replace(file.find("<u2"), 3, "<V2");
  writeFile(folder / "v.npy", file);
  for (const char *in : {"h.npy", "v.npy"}) {
    Output output = run("b copy --in x=" + std::string(in) + " --out y=y.npy");
    EXPECT_EQ(output.status, 0) << output.text;
    EXPECT_EQ(readBytes(folder / "y.npy"), readBytes(folder / "h.npy"));
  }
  fails("b copy --in x=x.npy --out z.npy=z",
        "entry 'copy' has no argument 'z.npy' (it has x, y)");
  fails("b copy --in x=x.npy --out y=y.npy",
        "argument 'x': x.npy: expected dtype bf16 (as <u2 or <V2), found <f4");
}

TEST_F(RunTool, HelpListBench) {
  Output help = run("--help");
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.text.find("Example:\n  prism-run bundle --list"),
            std::string::npos);
  Output list = run("b --list");
  EXPECT_EQ(list.status, 0) << list.text;
  for (const char *line :
       {"bundle sums, compiled by prism test\n",
        "entry forward (3 value heads)\n", "  arguments\n",
        "    in  x              f32   [B, T, 3, 8]        axes bthv \n",
        "    out final_state    f32   [N, 3, 8]           axes nhv    "
        "optional\n",
        "    cpu x86-64, schedule chunk (chunk 64, value block 4, stages 1), "
        "matmul ieee, workspace 100 bytes per work item\n",
        "128 threads, 70000 bytes shared, PTX 8.0, cubin\n",
        "    cpu: recurrent up to 32 steps, chunk (value block 4) up to 66 "
        "sequences x value heads, chunk\n",
        "entry copy"})
    EXPECT_NE(list.text.find(line), std::string::npos) << line << list.text;
  EXPECT_EQ(run("b copy --list").text.find("entry forward"), std::string::npos);
  Output bench = run("b forward --in x=x.npy --bench --repeat 5 --threads 2");
  EXPECT_EQ(bench.status, 0) << bench.text;
  EXPECT_NE(bench.text.find("cpu x86-64, schedule chunk"), std::string::npos);
  EXPECT_NE(bench.text.find(", 2 threads\nmin "), std::string::npos);
  EXPECT_NE(bench.text.find(", 5 runs\n"), std::string::npos);
}

TEST_F(RunTool, CommandLineErrors) {
  Output none = run("");
  EXPECT_EQ(none.status, 2);
  EXPECT_EQ(none.text.find("prism-run: error: BUNDLE is required"), 0u)
      << none.text;
  EXPECT_EQ(run("b forward --thread 3").status, 2);
  fails("b", "expected an entry to run after the bundle, found none; --list "
             "shows them");
  fails("b forwrad --list", "bundle 'sums' has no entry 'forwrad'; did you "
                            "mean 'forward'? (it has forward, copy)");
  fails("b forward --in x=x.npy", "expected an output to write (--out "
                                  "NAME=FILE) or --bench, found neither");
  fails("b forward --in x.npy --out y=y.npy",
        "--in: expected NAME=FILE, found 'x.npy'");
  fails("b forward --in x=x.npy --in x=x.npy --out y=y.npy",
        "--in: 'x' is given twice");
  fails("b forward --in y=x.npy --out y=y.npy",
        "'y' is an output of entry 'forward': ask for it with --out y=FILE");
  fails("b forward --in x=x.npy --out x=y.npy",
        "'x' is an input of entry 'forward': give it with --in x=FILE");
  fails("b forward --in x=x.npy --out final_stat=y.npy",
        "entry 'forward' has no argument 'final_stat'; did you mean "
        "'final_state'? (it has x, g, initial_state, offsets, y, "
        "final_state)");
  fails("b forward --in x=x.npy --out y=o.npy --out final_state=./o.npy",
        "outputs 'y' and 'final_state' go to the same file ./o.npy");
  fails("b forward --in x=x.npy --out y=no/y.npy",
        "output 'y': no/y.npy: expected a file in a folder that exists");
  fails("b forward --in x=x.npy --out y=y.npy --device gpu",
        "--device: expected cpu or cuda:N, found 'gpu'");
  fails("b forward --in x=x.npy --out y=y.npy --device cuda:0 --isa x86-64",
        "--isa is for --device cpu");
  fails("b forward --in x=x.npy --out y=y.npy --schedule tree",
        "entry 'forward': no kernel with schedule 'tree' for cpu; the bundle "
        "holds recurrent, chunk, failing");
}

TEST_F(RunTool, ArrayErrorsLeaveNoOutput) {
  fails("b forward --in x=no.npy --out y=y.npy",
        "argument 'x': no.npy: cannot open: No such file or directory");
  fails("b forward --out y=y.npy",
        "argument 'x' is missing: expected input f32 [B, T, 3, 8]");
  save("swapped.npy", DType::F32, {2, 3, 65, 8}, x.values.data());
  fails("b forward --in x=swapped.npy --out y=y.npy",
        "argument 'x': expected shape [B, T, 3, 8], found [2, 3, 65, 8]: axis "
        "2 (h) must be 3; the array looks like 'bhtv', this argument's axes "
        "are 'bthv'");
  int64_t offsets[] = {0, 66};
  save("o.npy", DType::I64, {2}, offsets);
  save("one.npy", DType::F32, {1, 65, 3, 8}, x.values.data());
  fails("b forward --in x=one.npy --in offsets=o.npy --out y=y.npy",
        "argument 'offsets': the last element must be T = 65, found 66");
  fails("b forward --in x=x.npy --out y=y.npy --out final_state=s.npy "
        "--schedule failing",
        "the kernel returned status 3, expected 0");
}

TEST_F(RunTool, NoGpuHereIsOneSentence) {
  if (CudaDevice::open(0))
    GTEST_SKIP() << "there is a GPU";
  Output output = run("b forward --in x=x.npy --out y=y.npy --device cuda:0");
  EXPECT_EQ(output.status, 1);
  EXPECT_EQ(output.text.find("prism-run: error: no "), 0u) << output.text;
  EXPECT_EQ(output.text.find('\n'), output.text.size() - 1);
}

// Whole runs on broken files: an error, and no output.
TEST_F(RunTool, MutatedFiles) {
  std::mt19937 random(7);
  std::string array = readBytes(folder / "x.npy");
  std::string manifest = manifestText();
  for (int round = 0; round < 60; ++round) {
    std::string badArray = array, badManifest = manifest;
    std::string &bad = round % 2 ? badArray : badManifest;
    bad.erase(random() % (round % 2 ? 100 : bad.size()), 1 + random() % 9);
    writeFile(folder / "x.npy", badArray);
    writeFile(folder / "b/manifest.json", badManifest);
    Output output = run("b forward --in x=x.npy --out y=y.npy");
    if (output.status == 0) {
      EXPECT_TRUE(NpyFile::open(folder / "y.npy"));
      std::remove((folder / "y.npy").c_str());
      continue;
    }
    EXPECT_EQ(output.status, 1) << output.text;
    EXPECT_EQ(output.text.find("prism-run: error: "), 0u) << output.text;
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"b", "x.npy"}));
  }
}

} // namespace
