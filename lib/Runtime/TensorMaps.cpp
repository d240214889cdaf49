//===- TensorMaps.cpp - Arrays as the copy engine knows them ---------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "prism-runtime/TensorMaps.h"

#include <cstring>

namespace prism::runtime {

// The engine's limits.
static constexpr int64_t alignment = 16, maxStride = int64_t(1) << 40,
                         maxExtent = INT32_MAX; // coordinates are 32 bits

/// Adds an axis; false where the engine cannot step along it.
static bool addAxis(TensorMap &map, int64_t extent, int64_t stride,
                    int64_t box) {
  if (extent < 1 || extent > maxExtent)
    return false;
  // Along an axis of one nothing has a neighbour: any stride will do.
  if (extent == 1 && map.rank > 0)
    stride = alignment;
  if (stride <= 0 || stride >= maxStride ||
      (map.rank > 0 && stride % alignment != 0))
    return false;
  map.extents[map.rank] = static_cast<uint64_t>(extent);
  map.strides[map.rank] = static_cast<uint64_t>(stride);
  map.box[map.rank] = static_cast<uint32_t>(box);
  ++map.rank;
  return true;
}

std::optional<TensorMap> tensorMapOf(const TensorMapInfo &info,
                                     const Call &call) {
  TensorMap map;
  map.dtype = info.info.dtype;
  map.address = call.words[info.pointerWord];
  if (map.address == 0 || map.address % alignment != 0)
    return std::nullopt;
  std::vector<int64_t> shape = shapeOf(info.info, call.sizes);
  auto add = [&](size_t axis, int64_t box) {
    auto stride = static_cast<int64_t>(call.words[info.strideWord + axis]);
    // What is beyond the limits anyway must not overflow.
    if (stride < 0 || stride >= maxStride)
      stride = 0;
    return addAxis(map, shape[axis], stride * byteSize(map.dtype), box);
  };
  const std::string &axes = info.info.axes;
  size_t last = axes.size() - 1, time = axes.find('t');
  // Several rows of a step lie together in the box.
  size_t ranks = info.ranks > 1 && last > 0 ? last - 1 : last;
  if (!add(last, info.columns) || (ranks != last && !add(ranks, info.ranks)) ||
      !add(time, info.rows))
    return std::nullopt;
  for (size_t axis = 0; axis < last; ++axis)
    if (axis != time && axis != ranks && !add(axis, 1))
      return std::nullopt;
  return map;
}

/// The words and the flags, up to where the maps begin.
static size_t bytesBeforeMaps(const Call &call) {
  size_t bytes = (call.words.size() + 1) * sizeof(uint64_t);
  return (bytes + tensorMapAlignment - 1) / tensorMapAlignment *
         tensorMapAlignment;
}

size_t parameterBytes(const std::vector<TensorMapInfo> &maps,
                      const Call &call) {
  return maps.empty() ? call.words.size() * sizeof(uint64_t)
                      : bytesBeforeMaps(call) + maps.size() * tensorMapBytes;
}

void writeParameter(const std::vector<TensorMapInfo> &maps, const Call &call,
                    const EncodeTensorMap &encode, void *to) {
  auto *bytes = static_cast<unsigned char *>(to);
  size_t wordBytes = call.words.size() * sizeof(uint64_t);
  std::memset(bytes, 0, parameterBytes(maps, call));
  std::memcpy(bytes, call.words.data(), wordBytes);
  if (maps.empty())
    return;
  uint64_t flags = 0;
  for (size_t i = 0; i < maps.size(); ++i) {
    std::optional<TensorMap> map = tensorMapOf(maps[i], call);
    void *place = bytes + bytesBeforeMaps(call) + i * tensorMapBytes;
    if (map && encode(*map, place))
      flags |= uint64_t(1) << i;
  }
  std::memcpy(bytes + wordBytes, &flags, sizeof(flags));
}

} // namespace prism::runtime
