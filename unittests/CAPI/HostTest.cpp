//===- HostTest.cpp - What a host program sees of the compiler ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "DeltaRule.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <dlfcn.h>
#include <fstream>

using namespace prism::capi::test;

namespace {

bool isMapped(const char *library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(library) != std::string::npos)
      return true;
  return false;
}

/// Under ctest every test is a process of its own; in one process with others
/// these have nothing to see.
#define NEEDS_A_FRESH_PROCESS()                                                \
  if (isMapped("libMLIR"))                                                     \
  GTEST_SKIP() << "another test loaded the compiler"

TEST(Host, LLVMIsLoadedButNotVisible) {
  NEEDS_A_FRESH_PROCESS();
  ASSERT_TRUE(compile(deltaRule()));
  EXPECT_TRUE(isMapped("libMLIR"));
  EXPECT_TRUE(isMapped("libLLVM"));
  for (const char *symbol :
       {"LLVMContextCreate", "_ZN4mlir11MLIRContextC1ENS0_9ThreadingE",
        "_ZTIN4mlir9OperationE", "prismCompilerInterface"})
    EXPECT_FALSE(dlsym(RTLD_DEFAULT, symbol)) << symbol;
  EXPECT_TRUE(dlsym(RTLD_DEFAULT, "prismCompile"));
}

TEST(Host, RunningABundleLoadsNoCompiler) {
  NEEDS_A_FRESH_PROCESS();
  std::string folder = testing::TempDir() + "prism-capi-host-bundle";
  // In another process, which may load what it likes.
  EXPECT_EXIT(
      {
        PrismDiagnostic *error = nullptr;
        Program program = compile(deltaRule());
        exit(prismProgramSave(program.get(), folder.c_str(), &error));
      },
      testing::ExitedWithCode(0), "");
  PrismDiagnostic *error = nullptr;
  Program program(prismProgramLoad(folder.c_str(), &error));
  ASSERT_TRUE(program) << take(error);
  Call call(2, 20);
  EXPECT_EQ(call.run(entryOf(program, "forward"), cpu().get()), "");
  EXPECT_LT(call.error(), 1e-5);
  EXPECT_FALSE(isMapped("libMLIR"));
  EXPECT_FALSE(isMapped("libLLVM"));
}

TEST(Host, NoCompiler) {
  NEEDS_A_FRESH_PROCESS();
  setenv("PRISM_COMPILER_LIBRARY", "/no/compiler.so", 1);
  PrismDiagnostic *error = nullptr;
  std::string spec = deltaRule();
  EXPECT_FALSE(prismCompile(spec.data(), spec.size(), nullptr, &error));
  EXPECT_EQ(prismDiagnosticKind(error), PRISM_KIND_COMPILER);
  std::string text = take(error);
  EXPECT_EQ(text.find("cannot load the compiler: /no/compiler.so: "), 0u)
      << text;
  EXPECT_NE(text.find("$PRISM_COMPILER_LIBRARY"), std::string::npos) << text;
  EXPECT_FALSE(prismCompilerVersion(&error));
  take(error);
  EXPECT_EQ(prismLoadCompiler(PRISM_TEST_NO_COMPILER, &error), PRISM_FAILURE);
  EXPECT_EQ(take(error), PRISM_TEST_NO_COMPILER
            ": expected a function 'prismCompilerInterface', found none; it is "
            "no compiler library");
  // A failed try does not spoil the next one.
  unsetenv("PRISM_COMPILER_LIBRARY");
  EXPECT_TRUE(compile(spec));
  EXPECT_EQ(prismLoadCompiler("/no/compiler.so", &error), PRISM_FAILURE);
  EXPECT_EQ(take(error).find("expected to load the compiler from "
                             "'/no/compiler.so', but it is loaded already, "
                             "from '"),
            0u);
  EXPECT_EQ(prismLoadCompiler(nullptr, &error), PRISM_SUCCESS);
}

/// A host may have no PATH and no place of its own to write to.
TEST(Host, WithoutPath) {
  setenv("PATH", "", 1);
  Program program = compile(deltaRule());
  ASSERT_TRUE(program);
  Call call(1, 5);
  EXPECT_EQ(call.run(entryOf(program, "decode"), cpu(1).get()), "");
  EXPECT_LT(call.error(), 1e-5);
}

} // namespace
