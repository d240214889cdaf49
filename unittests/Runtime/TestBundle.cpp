//===- TestBundle.cpp - Bundles and folders for tests ----------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TestBundle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace prism::runtime::test {

namespace fs = std::filesystem;

TempFolder::TempFolder() {
  std::string pattern = fs::temp_directory_path() / "prism-test-XXXXXX";
  folder = mkdtemp(pattern.data()) ? pattern : "/nonexistent";
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

std::vector<std::string> TempFolder::names() const {
  std::vector<std::string> names;
  for (const auto &item : fs::directory_iterator(folder))
    names.push_back(item.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream stream(path, std::ios::binary);
  stream << bytes;
  ASSERT_TRUE(stream.good()) << path;
}

std::string readBytes(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

std::string manifestText() {
  return R"({
  "prism_manifest": 1, "compiler": "prism test", "name": "sums", "spec": {},
  "unknown": [1, 2],
  "entries": [
    { "name": "forward", "value_heads": 3, "reverse": false,
      "arguments": [
        { "name": "x", "role": "input", "dtype": "f32", "axes": "bthv", "shape": ["B", "T", 3, 8], "optional": false },
        { "name": "g", "role": "input", "dtype": "f32", "axes": "bth", "shape": ["B", "T", 3], "optional": true },
        { "name": "initial_state", "role": "initial_state", "dtype": "f32", "axes": "nhv", "shape": ["N", 3, 8], "optional": true },
        { "name": "offsets", "role": "offsets", "dtype": "i64", "axes": "n", "shape": ["N+1"], "optional": true },
        { "name": "y", "role": "output", "dtype": "f32", "axes": "bthv", "shape": ["B", "T", 3, 8], "optional": false },
        { "name": "final_state", "role": "final_state", "dtype": "f32", "axes": "nhv", "shape": ["N", 3, 8], "optional": true }
      ],
      "kernels": [
        { "target": "cpu", "isa": "x86-64", "file": "kernels.so", "symbol": "test_recurrent",
          "plan": { "schedule": "recurrent", "chunk": 1, "value_block": 4, "stages": 1 },
          "value_blocks": 2, "workspace": 0, "matmul": "ieee" },
        { "target": "cpu", "isa": "x86-64", "file": "kernels.so", "symbol": "test_chunk",
          "plan": { "schedule": "chunk", "chunk": 64, "value_block": 4, "stages": 1 },
          "value_blocks": 2, "workspace": 100, "matmul": "ieee" },
        { "target": "cpu", "isa": "x86-64", "file": "kernels.so", "symbol": "test_failing",
          "plan": { "schedule": "failing", "chunk": 1, "value_block": 4, "stages": 1 },
          "value_blocks": 2, "workspace": 0, "matmul": "ieee" },
        { "target": "cuda", "chip": "sm_90a", "ptx_version": "8.0", "ptx": "k.ptx", "cubin": "k.cubin", "symbol": "k90",
          "plan": { "schedule": "recurrent", "chunk": 1, "value_block": 4, "stages": 1 },
          "value_blocks": 2, "threads": 128, "shared": 70000, "workspace": 0, "matmul": "ieee", "items_per_block": 4 },
        { "target": "cuda", "chip": "sm_80", "ptx_version": "9.0", "ptx": "k80.ptx", "symbol": "k80",
          "plan": { "schedule": "recurrent", "chunk": 1, "value_block": 4, "stages": 1 },
          "value_blocks": 2, "threads": 64, "shared": 0, "workspace": 0, "matmul": "ieee" }
      ],
      "choice": [
        { "target": "cpu", "max_steps": 32, "schedule": "recurrent" },
        { "target": "cpu", "max_heads": 66, "schedule": "chunk", "value_block": 4 },
        { "target": "cpu", "schedule": "chunk" }
      ]
    },
    { "name": "copy", "value_heads": 3, "reverse": false,
      "arguments": [
        { "name": "x", "role": "input", "dtype": "bf16", "axes": "bthv", "shape": ["B", "T", 3, 8], "optional": false },
        { "name": "y", "role": "output", "dtype": "bf16", "axes": "bthv", "shape": ["B", "T", 3, 8], "optional": false }
      ],
      "kernels": [
        { "target": "cpu", "isa": "x86-64", "file": "kernels.so", "symbol": "test_copy",
          "plan": { "schedule": "recurrent", "chunk": 1, "value_block": 8, "stages": 1 },
          "value_blocks": 1, "workspace": 0, "matmul": "ieee" }
      ],
      "choice": []
    }
  ]
})";
}

std::string manifestWith(const std::string &part, const std::string &by) {
  std::string text = manifestText();
  size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return at == std::string::npos ? text : text.replace(at, part.size(), by);
}

EntryInfo testEntry() {
  Result<Manifest> manifest = parseManifest(manifestText(), "manifest.json");
  EXPECT_TRUE(manifest) << manifest.error();
  return manifest ? manifest->entries[0] : EntryInfo();
}

void writeBundle(const std::string &folder, const std::string &manifest) {
  fs::create_directories(folder);
  writeFile(folder + "/manifest.json", manifest);
  fs::copy_file(PRISM_TEST_KERNELS, folder + "/kernels.so");
}

Floats::Floats(std::vector<int64_t> shapeGiven, float first)
    : shape(std::move(shapeGiven)) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(first + static_cast<float>(i % 7));
}

Array Floats::array() { return {values.data(), DType::F32, shape, {}}; }

void reference(const Floats &x, const Floats *g, const Floats *initial,
               const std::vector<int64_t> &offsets, Floats &y, Floats &final) {
  int64_t steps = x.shape[1], width = 3 * 8;
  int64_t sequences =
      offsets.empty() ? x.shape[0] : static_cast<int64_t>(offsets.size()) - 1;
  for (int64_t n = 0; n < sequences; ++n) {
    auto s = static_cast<size_t>(n);
    // Without offsets row n, with them the steps between two of row 0.
    int64_t begin = offsets.empty() ? n * steps : offsets[s];
    int64_t end = offsets.empty() ? begin + steps : offsets[s + 1];
    for (int64_t i = 0; i < width; ++i) {
      float sum = initial ? initial->values[size_t(n * width + i)] : 0.0f;
      for (int64_t t = begin; t < end; ++t) {
        sum = (g ? g->values[size_t(t * 3 + i / 8)] : 1.0f) * sum +
              x.values[size_t(t * width + i)];
        y.values[size_t(t * width + i)] = sum;
      }
      final.values[size_t(n * width + i)] = sum;
    }
  }
}

} // namespace prism::runtime::test
