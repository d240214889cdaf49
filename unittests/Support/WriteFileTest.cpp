//===- WriteFileTest.cpp - A whole file, or an error ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Support/WriteFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace prism;

namespace {

TEST(WriteFile, Writes) {
  llvm::SmallString<128> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("prism-test", "txt", path));
  EXPECT_FALSE(bool(writeFile(path, "whole")));
  auto text = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(bool(text));
  EXPECT_EQ((*text)->getBuffer(), "whole");
  llvm::sys::fs::remove(path);
}

TEST(WriteFile, SaysWhyNot) {
  EXPECT_EQ(llvm::toString(writeFile("/no/such/folder/file", "x")),
            "cannot write '/no/such/folder/file': No such file or directory");
}

TEST(WriteFile, AFullDiskIsAnError) {
  EXPECT_EQ(llvm::toString(writeFile("/dev/full", "x")),
            "cannot write '/dev/full': No space left on device");
}

} // namespace
