//===- ParseTarget.cpp - Targets as users write them ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/TargetInfo/TargetInfo.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace prism::targetinfo;

Target Target::cpu(std::vector<std::string> levels) {
  Target target;
  target.text = levels.size() == 1 ? "cpu:" + levels.front() : "cpu";
  target.cpuLevels = std::move(levels);
  return target;
}

Target Target::cuda(GPUInfo info, std::string text) {
  Target target;
  target.gpuInfo = std::move(info);
  target.text = std::move(text);
  return target;
}

std::string prism::targetinfo::formatPtxVersion(int version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

/// PTX versions that LLVM 22 emits and the chips here can need.
static constexpr int ptxVersions[] = {70, 71, 72, 73, 74, 75, 76, 77, 78, 80,
                                      81, 82, 83, 84, 85, 86, 87, 88, 90};

static std::string nearest(StringRef name, ArrayRef<StringLiteral> all) {
  auto found = llvm::min_element(all, [&](StringRef a, StringRef b) {
    return a.edit_distance(name) < b.edit_distance(name);
  });
  return found->edit_distance(name) <= 3
             ? "; did you mean '" + found->str() + "'?"
             : "";
}

static bool parsePtx(StringRef value, GPUInfo &info, const std::string &target,
                     std::string &error) {
  auto [majorText, minorText] = value.split('.');
  int major = 0, minor = 0;
  bool number = !majorText.getAsInteger(10, major) &&
                !minorText.getAsInteger(10, minor) && major >= 0 &&
                minor >= 0 && minor < 10;
  int version = major * 10 + minor;
  if (!number) {
    error = "target '" + target +
            "': expected a PTX version like 8.7, found '" + value.str() + "'";
    return false;
  }
  if (version < info.minimumPtx) {
    error = "target '" + target + "': PTX " + value.str() + " is too old, " +
            info.chip + " needs " + formatPtxVersion(info.minimumPtx) +
            " at least";
    return false;
  }
  if (!llvm::is_contained(ptxVersions, version)) {
    error = "target '" + target + "': PTX " + value.str() +
            " is not known; the newest this compiler emits is " +
            formatPtxVersion(ptxVersions[std::size(ptxVersions) - 1]);
    return false;
  }
  info.ptxVersion = version;
  return true;
}

static bool parseShared(StringRef value, GPUInfo &info,
                        const std::string &target, std::string &error) {
  StringRef digits = value;
  int64_t unit = digits.consume_back("K") ? 1024 : 1, amount = 0;
  if (digits.getAsInteger(10, amount) || amount < 1 ||
      amount > info.sharedMemoryPerBlock / unit) {
    error = "target '" + target + "': expected shared memory of up to " +
            std::to_string(info.sharedMemoryPerBlock / 1024) + "K for " +
            info.chip + ", found '" + value.str() + "'";
    return false;
  }
  info.sharedMemoryPerBlock = amount * unit;
  return true;
}

static std::optional<Target> parseCuda(StringRef rest, StringRef text,
                                       std::string &error) {
  std::string target = text.str();
  auto [chip, braces] = rest.split('{');
  std::optional<GPUInfo> info = lookupChip(chip);
  if (!info) {
    error = "target '" + target + "': unknown chip '" + chip.str() +
            "', expected one of " +
            llvm::join(llvm::map_range(chipNames(),
                                       [](StringRef s) { return s.str(); }),
                       ", ") +
            nearest(chip, chipNames());
    return std::nullopt;
  }
  if (rest.contains('{') && !braces.consume_back("}")) {
    error = "target '" + target + "': expected '}' at the end";
    return std::nullopt;
  }
  SmallVector<StringRef> options;
  braces.split(options, ',', -1, /*KeepEmpty=*/false);
  for (StringRef option : options) {
    auto [key, value] = option.split('=');
    if (key == "ptx"
            ? !parsePtx(value, *info, target, error)
            : key == "smem" && !parseShared(value, *info, target, error))
      return std::nullopt;
    if (key != "ptx" && key != "smem") {
      error = "target '" + target + "': unknown option '" + key.str() +
              "', expected ptx or smem (as in {ptx=8.7,smem=99K})";
      return std::nullopt;
    }
  }
  return Target::cuda(*info, target);
}

std::optional<Target> prism::targetinfo::parseTarget(StringRef text,
                                                     std::string &error) {
  auto [kind, rest] = text.split(':');
  if (kind == "cuda")
    return parseCuda(rest, text, error);
  if (kind != "cpu") {
    error = "target '" + text.str() +
            "': expected cpu, cpu:LEVEL or cuda:CHIP (as in cuda:sm_90a)";
    return std::nullopt;
  }
  if (!text.contains(':'))
    return Target::cpu({cpuLevelNames().begin(), cpuLevelNames().end()});
  if (!llvm::is_contained(cpuLevelNames(), rest)) {
    error = "target '" + text.str() + "': unknown level '" + rest.str() +
            "', expected x86-64-v3 or x86-64-v4" +
            nearest(rest, cpuLevelNames());
    return std::nullopt;
  }
  return Target::cpu({rest.str()});
}
