//===- Fuzz.h - What every fuzzing target uses ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_FUZZ_FUZZ_H
#define PRISM_UNITTESTS_FUZZ_FUZZ_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace prism::fuzz {

/// Ends the process, which a fuzzer counts as a crash, unless `holds`.
inline void require(bool holds, const char *fault) {
  if (holds)
    return;
  std::fprintf(stderr, "fault: %s\n", fault);
  std::abort();
}

} // namespace prism::fuzz

#endif // PRISM_UNITTESTS_FUZZ_FUZZ_H
