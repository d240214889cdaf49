//===- TensorMaps.h - Arrays as the copy engine knows them ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Some GPU kernels read and write boxes of an array by the chip's copy engine,
// which needs a tensor map of the array: 128 bytes that the driver makes of its
// address, extents and strides. They follow the words in the kernel's
// parameter, behind a word that says which of them are there (docs/Bundle.md).
// Where the engine cannot read an array there is none, and the kernel copies by
// itself.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_RUNTIME_TENSORMAPS_H
#define PRISM_RUNTIME_TENSORMAPS_H

#include "prism-runtime/Bind.h"

#include <array>
#include <functional>

namespace prism::runtime {

/// What the driver is told. Axis 0 has no gaps; the strides are bytes; the
/// swizzle is that of a box's rows, 32 or 128 bytes.
struct TensorMap {
  DType dtype = DType::BF16;
  uint64_t address = 0;
  unsigned rank = 0;
  std::array<uint64_t, 5> extents = {}, strides = {};
  std::array<uint32_t, 5> box = {};
};

constexpr size_t tensorMapBytes = 128, tensorMapAlignment = 64;

/// The map of an array of the call; nothing where the engine cannot move it: it
/// is absent or empty, its address or a stride is no multiple of 16 bytes, or a
/// stride is not above 0.
std::optional<TensorMap> tensorMapOf(const TensorMapInfo &info,
                                     const Call &call);

/// Writes the 128 bytes of a map, if it can.
using EncodeTensorMap = std::function<bool(const TensorMap &map, void *to)>;

/// Bytes of a kernel's parameter.
size_t parameterBytes(const std::vector<TensorMapInfo> &maps, const Call &call);

/// Writes them to `to`, which is aligned to 64 bytes.
void writeParameter(const std::vector<TensorMapInfo> &maps, const Call &call,
                    const EncodeTensorMap &encode, void *to);

} // namespace prism::runtime

#endif // PRISM_RUNTIME_TENSORMAPS_H
