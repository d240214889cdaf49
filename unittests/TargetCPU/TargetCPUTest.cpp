//===- TargetCPUTest.cpp - Objects, shared objects, threads ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../TileToCPU/KernelHarness.h"
#include "Prism/Dialect/Tile/IR/Tile.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"
#include "gtest/gtest.h"
#include <dlfcn.h>
#include <thread>

using namespace mlir;
using namespace prism;
using namespace prism::test;

namespace {

TEST(TargetCPU, SharedObjectLoads) {
  SmallString<128> folder;
  ASSERT_FALSE(
      llvm::sys::fs::createUniqueDirectory("prism-target-cpu", folder));
  std::string object = (folder + "/k.o").str(),
              shared = (folder + "/k.so").str(), error;
  CompiledProgram program(GatedDelta{16, 20, 16, 33}.text(), "x86-64-v3");
  ASSERT_TRUE(program.ok()) << program.messages();
  std::error_code code;
  {
    llvm::raw_fd_ostream out(object, code);
    ASSERT_FALSE(code);
    ASSERT_TRUE(succeeded(program.writeObject("x86-64-v3", out)));
  }
  ASSERT_TRUE(succeeded(linkShared(object, shared, error))) << error;
  void *library = dlopen(shared.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_NE(dlsym(library, "kernel"), nullptr);
  dlclose(library);
  // A linker's complaint arrives as text.
  EXPECT_TRUE(failed(linkShared((folder + "/none.o").str(), shared, error)));
  EXPECT_NE(error.find("none.o"), std::string::npos) << error;
  llvm::sys::fs::remove_directories(folder);
}

/// Links a kernel that calls a function; the error, or empty.
static std::string linkCallOf(const std::string &function) {
  DialectRegistry registry;
  registry.insert<LLVM::LLVMDialect>();
  registerCPUTranslations(registry);
  MLIRContext context(registry);
  std::string text = "llvm.func @" + function +
                     "(f64) -> f64\n"
                     "llvm.func @kernel(%x: f64) -> f64 {\n%y = llvm.call @" +
                     function +
                     "(%x) : (f64) -> f64\nllvm.return %y : f64\n}\n";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  SmallString<128> folder;
  if (!module ||
      llvm::sys::fs::createUniqueDirectory("prism-target-cpu", folder))
    return "cannot begin";
  std::string object = (folder + "/k.o").str(),
              shared = (folder + "/k.so").str(), error;
  std::error_code code;
  {
    llvm::raw_fd_ostream out(object, code);
    if (code || failed(emitObject(*module, "x86-64-v3", out)))
      return "cannot write the object";
  }
  EXPECT_EQ(succeeded(linkShared(object, shared, error)), error.empty());
  llvm::sys::fs::remove_directories(folder);
  return error;
}

TEST(TargetCPU, SymbolsAreTheCLibrarys) {
  for (const char *function :
       {"exp", "tanh", "erf", "erfc", "cbrt", "roundeven"})
    EXPECT_EQ(linkCallOf(function), "");
  EXPECT_EQ(linkCallOf("__truncdfbf2"),
            "the code calls '__truncdfbf2', which kernels are not linked with; "
            "expected functions of the C library alone");
}

TEST(TargetCPU, NoLibraryCallsForF32AndSixteenBits) {
  for (const char *isa : {"x86-64-v3", "x86-64-v4"})
    for (const char *io : {"f32", "bf16", "f16"})
      for (int64_t chunk : {1, 16}) {
        GatedDelta c{60, 20, chunk, 33};
        c.io = io;
        CompiledProgram program(c.text(), isa);
        ASSERT_TRUE(program.ok()) << program.messages();
        std::string text = program.assembly(isa);
        for (const char *symbol : {"__truncsfbf2", "__extendhfsf2",
                                   "__truncsfhf2", "expf", "malloc", "exp@"})
          EXPECT_EQ(text.find(symbol), std::string::npos)
              << isa << " " << io << " calls " << symbol;
      }
}

TEST(TargetCPU, V4UsesWholeRegistersAndV3NoneOfThem) {
  GatedDelta c{64, 64, 16, 33};
  CompiledProgram wide(c.text(), "x86-64-v4"), narrow(c.text(), "x86-64-v3");
  ASSERT_TRUE(wide.ok() && narrow.ok());
  EXPECT_NE(wide.assembly("x86-64-v4").find("zmm"), std::string::npos);
  EXPECT_EQ(narrow.assembly("x86-64-v3").find("zmm"), std::string::npos);
}

TEST(TargetCPU, UnknownIsaIsOneMessage) {
  CompiledProgram program(GatedDelta{16, 16, 16, 33}.text(), "x86-64-v3");
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program.assembly("x86-64-v9"), "");
}

TEST(TargetCPU, EightThreadsCompileAtOnce) {
  std::string expected =
      CompiledProgram(GatedDelta{20, 24, 16, 33}.text(), "x86-64-v3")
          .assembly("x86-64-v3");
  std::vector<std::string> texts(8);
  std::vector<std::thread> threads;
  for (std::string &text : texts)
    threads.emplace_back([&text] {
      text = CompiledProgram(GatedDelta{20, 24, 16, 33}.text(), "x86-64-v3")
                 .assembly("x86-64-v3");
    });
  for (std::thread &thread : threads)
    thread.join();
  ASSERT_FALSE(expected.empty());
  for (const std::string &text : texts)
    EXPECT_EQ(text, expected);
}

} // namespace
