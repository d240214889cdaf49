//===- Replay.cpp - Runs a fuzzing target on given inputs -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The main function of a target where no fuzzer is linked. Each argument is a
// file or a folder of files, its subfolders included.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" __attribute__((weak)) int LLVMFuzzerInitialize(int *, char ***);

static void run(const std::filesystem::path &file) {
  std::ifstream stream(file, std::ios::binary);
  std::vector<char> bytes(std::istreambuf_iterator<char>(stream), {});
  std::fprintf(stderr, "%s: %zu bytes\n", file.c_str(), bytes.size());
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(bytes.data()),
                         bytes.size());
}

int main(int argc, char **argv) {
  if (LLVMFuzzerInitialize)
    LLVMFuzzerInitialize(&argc, &argv);
  size_t count = 0;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      run(argv[i]), ++count;
      continue;
    }
    for (auto &entry : std::filesystem::recursive_directory_iterator(argv[i]))
      if (entry.is_regular_file())
        run(entry.path()), ++count;
  }
  std::fprintf(stderr, "%zu inputs\n", count);
  return count == 0; // nothing to run is no success
}
