//===- Split.cpp - Calls of kernels that split sequences -------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Support.h"
#include "prism-runtime/Bind.h"

namespace prism::runtime {

/// Bytes of one array, rounded up; nothing on overflow.
static std::optional<int64_t> bytesOf(const ArgumentInfo &array,
                                      const Sizes &sizes) {
  std::optional<int64_t> bytes = byteSize(array.dtype, shapeOf(array, sizes));
  if (!bytes || *bytes > INT64_MAX - arrayAlignment)
    return std::nullopt;
  return roundUp(*bytes, arrayAlignment);
}

std::optional<int64_t>
intermediateBytes(const std::vector<ArgumentInfo> &intermediates, Sizes sizes,
                  int64_t segments) {
  sizes.segments = segments;
  int64_t total = 0;
  for (const ArgumentInfo &array : intermediates) {
    std::optional<int64_t> bytes = bytesOf(array, sizes);
    if (!bytes || __builtin_add_overflow(total, *bytes, &total))
      return std::nullopt;
  }
  return total;
}

Call splitCall(const Call &call, const std::vector<ArgumentInfo> &intermediates,
               int64_t segments, void *memory) {
  Call split = call;
  split.sizes.segments = segments;
  std::vector<uint64_t> pointers, strides;
  auto at = reinterpret_cast<uint64_t>(memory);
  for (const ArgumentInfo &array : intermediates) {
    pointers.push_back(at);
    at += static_cast<uint64_t>(bytesOf(array, split.sizes).value_or(0));
    for (int64_t stride : rowMajorStrides(shapeOf(array, split.sizes)))
      strides.push_back(static_cast<uint64_t>(stride));
  }
  split.words.insert(split.words.begin() + call.arguments, pointers.begin(),
                     pointers.end());
  split.words.insert(split.words.end(), strides.begin(), strides.end());
  split.words.push_back(static_cast<uint64_t>(segments));
  return split;
}

} // namespace prism::runtime
