//===- TensorMap.h - An array as the copy engine knows it -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A chip's tensor map is 128 bytes that only its driver can read. The
// interpreter has a form of its own for them, and takes no other.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_TILETOGPU_INTERPRETER_TENSORMAP_H
#define PRISM_UNITTESTS_TILETOGPU_INTERPRETER_TENSORMAP_H

#include <cstdint>

namespace prism::test {

/// 16-bit elements, axis 0 without gaps, boxes whose rows are 32 or 128 bytes,
/// in the swizzle of so many bytes; zeros outside.
struct alignas(64) TensorMap {
  static constexpr uint64_t kMagic = 0x50414d524f534e54;
  static constexpr unsigned kAxes = 5;
  uint64_t magic = kMagic;
  uint64_t address = 0;
  uint64_t strides[kAxes] = {}; ///< bytes
  uint32_t extents[kAxes] = {}, box[kAxes] = {};
  uint32_t rank = 0;
};
static_assert(sizeof(TensorMap) == 128);

} // namespace prism::test

#endif // PRISM_UNITTESTS_TILETOGPU_INTERPRETER_TENSORMAP_H
