//===- CompilerTest.cpp - Compiling from a program with threads -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Compiler/Compiler.h"
#include "TestEntry.h"
#include <fstream>
#include <thread>

using namespace mlir;
using namespace prism;

namespace {

int64_t residentKiB() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word)
    if (word == "VmRSS:") {
      int64_t amount = 0;
      status >> amount;
      return amount;
    }
  return 0;
}

/// Compiles one spec, CPU and GPU, in a context of its own; true if it went
/// well.
bool compileOnce(const std::string &spec) {
  test::Context context;
  OwningOpRef<ModuleOp> module = test::importText(spec, context.mlir);
  if (!module)
    return false;
  CompileOptions options;
  options.targets = {"cpu:x86-64-v3", "cuda:sm_90a"};
  options.assemble = false;
  FailureOr<CompileResult> result = compileModule(*module, options);
  return succeeded(result) && result->bundle.manifest.entries.size() == 1 &&
         result->bundle.manifest.entries[0].kernels.size() == 4;
}

std::string variant(int i) {
  std::string text =
      i % 2 ? test::specText(test::gatedDelta, test::gatedDeltaInputs,
                             i % 3 ? "f32" : "bf16")
            : test::specText(test::nameless, test::namelessInputs);
  size_t at = text.find("\"K\": 5");
  return text.replace(at, 6, "\"K\": " + std::to_string(3 + i % 30));
}

// PRISM_COMPILES_PER_THREAD=125 is the full run; fewer in everyday testing.
TEST(Compiler, EightThreads) {
  const char *wanted = getenv("PRISM_COMPILES_PER_THREAD");
  int perThread = wanted ? atoi(wanted) : 2;
  std::vector<std::thread> threads;
  std::atomic<int> done{0}, failed{0};
  std::atomic<int64_t> half{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < perThread; ++i) {
        if (!compileOnce(variant(t * 31 + i)))
          ++failed;
        if (++done == 4 * perThread)
          half = residentKiB();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(done, 8 * perThread);
  // No growth: the second half may not add more than allocator noise.
  if (perThread >= 50)
    EXPECT_LT(residentKiB(), half + half / 5)
        << "at half time " << half << " KiB";
}

TEST(Compiler, SameBytesEveryTime) {
  auto once = [] {
    test::Context context;
    OwningOpRef<ModuleOp> module = test::importText(
        test::specText(test::nameless, test::namelessInputs), context.mlir);
    CompileOptions options;
    options.targets = {"cuda:sm_80", "cuda:sm_90a"};
    options.assemble = false;
    FailureOr<CompileResult> result = compileModule(*module, options);
    EXPECT_TRUE(succeeded(result));
    return result->bundle.files;
  };
  EXPECT_EQ(once(), once());
}

} // namespace
