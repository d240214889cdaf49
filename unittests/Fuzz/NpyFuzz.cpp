//===- NpyFuzz.cpp - Any bytes as an .npy file ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Bytes are refused with a message, or hold an array that lies inside them.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "prism-runtime/Bind.h"
#include "prism-runtime/Npy.h"

using namespace prism;
using namespace prism::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto header = parseNpy(data, int64_t(size), "fuzz.npy");
  if (!header) {
    fuzz::require(!header.failure().message.empty(),
                  "a file is refused without a message");
    return 0;
  }
  fuzz::require(header->dataOffset >= 0 && header->dataBytes >= 0 &&
                    header->dataOffset <= int64_t(size) &&
                    header->dataBytes <= int64_t(size) - header->dataOffset,
                "an array lies outside its file");
  for (DType dtype :
       {DType::F64, DType::F32, DType::BF16, DType::F16, DType::I64}) {
    auto bytes = byteSize(dtype, header->shape);
    if (npyHolds(header->descr, dtype))
      fuzz::require(bytes && *bytes == header->dataBytes,
                    "an array's bytes are not those of its shape");
  }
  return 0;
}
