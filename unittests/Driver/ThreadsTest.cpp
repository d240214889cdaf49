//===- ThreadsTest.cpp - A program that compiles in several threads -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every thread has a context of its own; what is shared is tables made when
// they are first asked for, temporary files and the libraries below. Threads
// that start together must get what one alone gets. Under ThreadSanitizer the
// same tests find races in our code (docs/Testing.md).
//
//===----------------------------------------------------------------------===//

#include "Prism/Driver/Driver.h"
#include "Prism/Registration/Registration.h"
#include "Prism/Target/Bundle/Bundle.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <atomic>
#include <thread>

using namespace mlir;
using namespace prism;

namespace {

constexpr unsigned kThreads = 4;

/// Calls `work(i)` in threads that begin at once.
template <typename Work> void inThreads(Work work) {
  std::atomic<unsigned> ready{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      for (++ready; ready < kThreads;)
        std::this_thread::yield();
      work(i);
    });
  for (std::thread &thread : threads)
    thread.join();
}

std::string textOf(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

std::string exampleOf(const std::string &name) {
  return textOf(PRISM_EXAMPLES "/" + name);
}

/// What compiling a spec came to: a bundle's files, or what was said.
struct Outcome {
  runtime::FileContents files;
  std::string said;
};

Outcome compile(const std::string &spec, std::vector<std::string> targets,
                bool assemble = false) {
  DialectRegistry registry;
  registerPrismDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  Outcome outcome;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    outcome.said += diagnostic.str() + "\n";
    return success();
  });
  spec::SpecDiagnostic diagnostic;
  auto model = driver::readSpec(spec, "s.json", context, diagnostic);
  if (!model) {
    outcome.said += diagnostic.str();
    return outcome;
  }
  CompileOptions options;
  options.targets = std::move(targets);
  options.entries = {"forward"};
  options.assemble = assemble;
  auto result = driver::compileModel(*model, options);
  if (succeeded(result))
    outcome.files = bundleFiles(result->bundle);
  return outcome;
}

TEST(Threads, CompileTheSameTogetherAsAlone) {
  struct Case {
    std::string spec;
    std::vector<std::string> targets;
    bool assemble; // by a program that is started, with temporary files
  };
  std::string half = exampleOf("gated_deltanet.json");
  size_t at = half.find("\"io\": \"f32\"");
  ASSERT_NE(at, std::string::npos);
  half.replace(at, 11, "\"io\": \"bf16\""); // for tensor cores
  const Case cases[kThreads] = {
      {exampleOf("gated_deltanet.json"), {"cpu:x86-64-v3"}, false},
      {half, {"cuda:sm_90a"}, false},
      {exampleOf("deltanet.json"), {"cuda:sm_80"}, true},
      {exampleOf("prism_l2.json"), {"cpu:x86-64-v4"}, false}};
  // All at once first, so that what is made once is made by them.
  Outcome together[kThreads], again[kThreads];
  inThreads([&](unsigned i) {
    together[i] = compile(cases[i].spec, cases[i].targets, cases[i].assemble);
  });
  // The same one in every thread; the first is the one alone.
  Outcome alone = compile(cases[0].spec, cases[0].targets);
  inThreads(
      [&](unsigned i) { again[i] = compile(cases[0].spec, cases[0].targets); });
  for (unsigned i = 0; i < kThreads; ++i) {
    EXPECT_EQ(together[i].said, "") << i;
    EXPECT_TRUE(together[i].files.size() >= 3) << i;
    EXPECT_TRUE(again[i].files == alone.files) << i;
  }
  EXPECT_TRUE(together[0].files == alone.files);
}

TEST(Threads, EveryThreadHasItsOwnMessage) {
  std::string words[kThreads], plans[kThreads];
  inThreads([&](unsigned i) {
    std::string name = std::string(i + 1, 'x') + "_unknown";
    words[i] =
        compile(R"({"prism_spec": 1, "name": "s", ")" + name + R"(": 1})",
                {"cpu"})
            .said;
    MLIRContext context;
    context.loadDialect<func::FuncDialect>();
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
    TextDiagnostic diagnostic;
    EXPECT_TRUE(failed(driver::readPlans("{\"" + name + "\": 1}", "p.json",
                                         *module, diagnostic)));
    plans[i] = diagnostic.message;
  });
  for (unsigned i = 0; i < kThreads; ++i) {
    std::string name = "unknown key '" + std::string(i + 1, 'x') + "_unknown'";
    EXPECT_EQ(words[i].find("s.json:1:32: error: /"), 0u) << words[i];
    EXPECT_NE(words[i].find(name), std::string::npos) << words[i];
    EXPECT_EQ(plans[i].find(name), 0u) << plans[i];
  }
}

TEST(Threads, BundlesAreWrittenBesideEachOther) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("prism-threads", folder));
  std::string top = folder.str().str();
  std::string errors[kThreads];
  inThreads([&](unsigned i) {
    std::string number = std::to_string(i);
    for (const char *name : {"/own", "/shared"}) {
      bool isOwn = name[1] == 'o';
      llvm::Error error = writeFileAtomically(
          top + name + (isOwn ? number : ""), std::string(5000, '0' + i));
      if (error)
        errors[i] += llvm::toString(std::move(error));
    }
  });
  for (unsigned i = 0; i < kThreads; ++i) {
    EXPECT_EQ(errors[i], "");
    EXPECT_EQ(textOf(top + "/own" + std::to_string(i)),
              std::string(5000, '0' + i));
  }
  // One writer's file, whole.
  std::string shared = textOf(top + "/shared");
  ASSERT_EQ(shared.size(), 5000u);
  EXPECT_EQ(shared, std::string(5000, shared[0]));
  llvm::sys::fs::remove_directories(folder);
}

} // namespace
