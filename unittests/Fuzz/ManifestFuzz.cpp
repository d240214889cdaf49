//===- ManifestFuzz.cpp - Any text as a bundle's manifest -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A text is refused with a message, or is a manifest: then kernels can be
// chosen by it, and the sizes of arrays computed, for calls of any size.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "prism-runtime/Program.h"

using namespace prism;
using namespace prism::runtime;

static void choose(const EntryInfo &entry, const Sizes &sizes) {
  for (const ArgumentInfo &argument : entry.arguments)
    byteSize(argument.dtype, shapeOf(argument, sizes));
  for (int level : {0, 1, 3, 4}) {
    auto kernel = selectCpuKernel(entry, sizes, level);
    fuzz::require(kernel || !kernel.failure().message.empty(),
                  "no kernel and no message");
  }
  for (int capability : {80, 90, 100}) {
    auto kernel = selectCudaKernel(entry, sizes, capability);
    if (kernel)
      intermediateBytes(kernel->info->intermediates, sizes, kernel->segments);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  auto manifest = parseManifest(text, "manifest.json");
  if (!manifest) {
    fuzz::require(!manifest.failure().message.empty(),
                  "a manifest is refused without a message");
    return 0;
  }
  for (const EntryInfo &entry : manifest->entries)
    for (Sizes sizes :
         {Sizes{0, 0, 0, 0}, Sizes{1, 1, 1, 1}, Sizes{2, 65536, 2, 65536},
          Sizes{INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX}})
      choose(entry, sizes);
  auto program = Program::load(BundleFiles({{"manifest.json", text}}, "fuzz"));
  fuzz::require(bool(program), "a manifest that reads does not load");
  return 0;
}
