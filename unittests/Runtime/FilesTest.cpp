//===- FilesTest.cpp - Bundles in memory and their saving ------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TestBundle.h"

#include <gtest/gtest.h>

#include <filesystem>

using namespace prism::runtime;
using namespace prism::runtime::test;

namespace {

FileContents testFiles() {
  FileContents files;
  files["manifest.json"] = manifestText();
  files["kernels.so"] = readBytes(PRISM_TEST_KERNELS);
  files["k.ptx"] = files["k.cubin"] = files["k80.ptx"] = "image";
  files["beside.txt"] = "not of the manifest";
  return files;
}

TEST(Files, ABundleInMemoryRuns) {
  Result<Program> program = Program::load(BundleFiles(testFiles(), "sums"));
  ASSERT_TRUE(program) << program.error();
  EXPECT_EQ(program->folder(), "sums");
  EXPECT_TRUE(program->files().inMemory());
  Floats x({2, 5, 3, 8}), y({2, 5, 3, 8}), wanted({2, 5, 3, 8});
  Floats final({2, 3, 8});
  reference(x, nullptr, nullptr, {}, wanted, final);
  Result<Entry> entry = program->entry("forward");
  Result<Call> call =
      bindCall(entry->info(), {{"x", x.array()}, {"y", y.array()}});
  ASSERT_TRUE(call) << call.error();
  Result<LoadedCpuKernel> kernel = entry->cpuKernel(call->sizes);
  ASSERT_TRUE(kernel) << kernel.error();
  // Asked again it is the same: a library is opened once.
  EXPECT_EQ(entry->cpuKernel(call->sizes)->library, kernel->library);
  auto player = CpuPlayer::create(2);
  ASSERT_TRUE((*player)->run(*kernel, *call));
  EXPECT_EQ(y.values, wanted.values);
}

TEST(Files, WhatIsMissingInMemory) {
  BundleFiles files({{"a", "12345"}, {"b.so", "no library"}}, "some");
  EXPECT_EQ(Program::load(files).error(),
            "bundle 'some': manifest.json: cannot open: no such file");
  EXPECT_EQ(files.openLibrary("c.so").error(),
            "bundle 'some': c.so: cannot open: no such file");
  EXPECT_EQ(files.openLibrary("b.so").error().find(
                "bundle 'some': b.so: cannot load: "),
            0u);
  EXPECT_EQ(files.read("a", 4).error(),
            "bundle 'some': a: expected at most 4 bytes, found 5");
  EXPECT_EQ(*files.read("a", 5), "12345");
}

/// Of a bundle's files, those that its manifest names are saved.
TEST(Files, Saving) {
  TempFolder folder;
  Result<Program> program = Program::load(BundleFiles(testFiles(), "sums"));
  ASSERT_TRUE(program) << program.error();
  std::string path = folder / "new/bundle";
  ASSERT_TRUE(program->save(path + "/"));
  EXPECT_EQ(readBytes(path + "/manifest.json"), manifestText());
  EXPECT_EQ(readBytes(path + "/kernels.so"), readBytes(PRISM_TEST_KERNELS));
  EXPECT_FALSE(std::filesystem::exists(path + "/beside.txt"));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"new"});

  Result<Program> loaded = Program::load(path);
  ASSERT_TRUE(loaded) << loaded.error();
  ASSERT_TRUE(loaded->save(folder / "copy"));
  EXPECT_EQ(readBytes(folder / "copy/kernels.so"),
            readBytes(PRISM_TEST_KERNELS));
  std::filesystem::remove(path + "/k.ptx");
  EXPECT_EQ(loaded->save(folder / "copy").error(),
            path + "/k.ptx: cannot open: No such file or directory");
  // What failed has left the older one.
  EXPECT_EQ(readBytes(folder / "copy/k.ptx"), "image");
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"copy", "new"}));

  writeFile(folder / "file", "");
  EXPECT_EQ(program->save(folder / "file").error(),
            "'" + (folder / "file") +
                "' exists and is no bundle (it has no manifest.json); name "
                "another folder or remove it");
}

/// A folder is replaced only if nothing is lost but an older bundle.
TEST(Files, SavingBesideOthers) {
  TempFolder folder;
  Result<Program> program = Program::load(BundleFiles(testFiles(), "sums"));
  ASSERT_TRUE(program) << program.error();
  std::string path = folder / "bundle";
  ASSERT_TRUE(program->save(path));
  writeFile(path + "/prism_sums.h", "");
  EXPECT_TRUE(program->save(path)); // of which the header is part
  writeFile(path + "/notes.txt", "precious");
  EXPECT_EQ(program->save(path).error(),
            "'" + path +
                "' holds 'notes.txt', which is no part of its bundle; name "
                "another folder or move it away");
  EXPECT_EQ(readBytes(path + "/notes.txt"), "precious");
  std::filesystem::remove(path + "/notes.txt");
  writeFile(path + "/manifest.json", "{\"manifest_version\": 3}");
  EXPECT_EQ(program->save(path).error(),
            "'" + path +
                "' exists and is no bundle (its manifest.json has no "
                "prism_manifest); name another folder or remove it");

  std::filesystem::remove_all(path);
  std::filesystem::create_directory(folder / "real");
  std::filesystem::create_directory_symlink(folder / "real", path);
  ASSERT_TRUE(program->save(path));
  EXPECT_TRUE(std::filesystem::is_symlink(path));
  EXPECT_EQ(readBytes(folder / "real/manifest.json"), manifestText());
}

} // namespace
