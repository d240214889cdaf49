//===- ManifestNames.cpp - Words and facts of a manifest ------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ManifestNames.h"
#include "Support.h"
#include "prism-runtime/Manifest.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace prism::runtime {

bool isIdentifier(const std::string &name) {
  auto isWord = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !name.empty() && name.size() <= 200 &&
         std::all_of(name.begin(), name.end(), isWord) &&
         !std::isdigit(static_cast<unsigned char>(name[0]));
}

const std::vector<std::string> &dtypeNames() {
  static const std::vector<std::string> names = {"f64", "f32", "bf16", "f16",
                                                 "i64"};
  return names;
}

const std::vector<std::string> &roleNames() {
  static const std::vector<std::string> names = {
      "input",       "initial_state",  "offsets",      "output",
      "final_state", "initial_window", "final_window", "intermediate"};
  return names;
}

const std::vector<std::string> &itemsNames() {
  static const std::vector<std::string> names = {"sequences", "segments",
                                                 "inner_segments"};
  return names;
}

const std::vector<std::string> &targetNames() {
  static const std::vector<std::string> names = {"cpu", "cuda"};
  return names;
}

const char *toString(DType dtype) {
  return dtypeNames()[static_cast<size_t>(dtype)].c_str();
}

int64_t byteSize(DType dtype) {
  static const std::array<int64_t, 5> sizes = {8, 4, 2, 2, 8};
  return sizes[static_cast<size_t>(dtype)];
}

const char *toString(Role role) {
  return roleNames()[static_cast<size_t>(role)].c_str();
}

const char *toString(Items items) {
  return itemsNames()[static_cast<size_t>(items)].c_str();
}

const char *toString(Target target) {
  return targetNames()[static_cast<size_t>(target)].c_str();
}

std::string toString(const Dim &dim) {
  static const std::array<const char *, 6> symbols = {"",  "B",   "T",
                                                      "N", "N+1", "S"};
  return dim.kind == Dim::Number ? std::to_string(dim.number)
                                 : symbols[dim.kind];
}

std::string toString(const std::vector<Dim> &shape) {
  std::vector<std::string> parts;
  for (const Dim &dim : shape)
    parts.push_back(toString(dim));
  return "[" + join(parts) + "]";
}

const ArgumentInfo *EntryInfo::argument(const std::string &wanted) const {
  for (const ArgumentInfo &candidate : arguments)
    if (candidate.name == wanted)
      return &candidate;
  return nullptr;
}

bool EntryInfo::locate(TensorMapInfo &map, size_t intermediates) const {
  size_t word = arguments.size() + intermediates + 2;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ArgumentInfo &candidate = arguments[i];
    const std::string &axes = candidate.axes;
    if (candidate.name != map.argument) {
      word += axes.size();
      continue;
    }
    map.info = candidate;
    map.pointerWord = i;
    map.strideWord = word;
    auto isFeature = [&](size_t fromEnd) {
      return axes.size() > fromEnd &&
             std::string("bthn").find(axes[axes.size() - 1 - fromEnd]) ==
                 std::string::npos;
    };
    bool isRows = axes.size() <= 5 && axes.find('t') != std::string::npos &&
                  isFeature(0) && (map.ranks == 1 || isFeature(1));
    return isRows && byteSize(candidate.dtype) == 2;
  }
  return false;
}

} // namespace prism::runtime
