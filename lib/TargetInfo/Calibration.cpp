//===- Calibration.cpp - Costs of a CPU from a file -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Support/ReadJson.h"
#include "Prism/TargetInfo/CPUCosts.h"
#include "Prism/TargetInfo/TargetInfo.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <nlohmann/json.hpp>

using namespace llvm;
using namespace prism::targetinfo;
using Json = nlohmann::ordered_json;

static constexpr StringLiteral fileKeys[] = {"prism_calibration", "machine",
                                             "cache_bytes", "levels"};

namespace {
/// Reads one file; every check says where, what was expected and found.
class Reader {
public:
  explicit Reader(StringRef file) : file(file) {}
  Error read(const Json &json, Calibration &calibration);

private:
  Error fault(const std::string &pointer, const Twine &message) {
    return createStringError(file + ": " + (pointer.empty() ? "/" : pointer) +
                             ": " + message);
  }
  Error unknown(const std::string &pointer, StringRef key,
                ArrayRef<StringLiteral> known, StringRef what);
  Error readNumber(const Json &value, const std::string &pointer,
                   double &number);
  Error readLevel(const Json &json, const std::string &pointer,
                  CPUCosts &costs);
  Error readLevels(const Json &json, Calibration &calibration);

  StringRef file;
};
} // namespace

/// A value as a message shows it: long ones are cut.
static std::string shown(const Json &value) {
  std::string text =
      value.dump(-1, ' ', false, nlohmann::detail::error_handler_t::replace);
  return text.size() > 60 ? text.substr(0, 60) + "..." : text;
}

Error Reader::unknown(const std::string &pointer, StringRef key,
                      ArrayRef<StringLiteral> known, StringRef what) {
  const StringLiteral *nearest =
      llvm::min_element(known, [&](StringRef a, StringRef b) {
        return a.edit_distance(key) < b.edit_distance(key);
      });
  std::string hint = nearest->edit_distance(key) <= 3
                         ? "; did you mean '" + nearest->str() + "'?"
                         : "";
  return fault(pointer,
               "is not " + what + " (" +
                   llvm::join(llvm::map_range(
                                  known, [](StringRef s) { return s.str(); }),
                              ", ") +
                   ")" + hint);
}

Error Reader::readNumber(const Json &value, const std::string &pointer,
                         double &number) {
  if (!value.is_number() || !std::isfinite(value.get<double>()) ||
      value.get<double>() < 0)
    return fault(pointer,
                 "expected a number of at least 0, found " + shown(value));
  number = value.get<double>();
  return Error::success();
}

Error Reader::readLevel(const Json &json, const std::string &pointer,
                        CPUCosts &costs) {
  if (!json.is_object())
    return fault(pointer, "expected an object with the costs in ns, found " +
                              shown(json));
  for (const auto &[key, value] : json.items())
    if (!llvm::is_contained(cpuWorkNames(), key))
      return unknown(pointer + "/" + key, key, cpuWorkNames(), "a cost");
  for (auto [i, name] : llvm::enumerate(cpuWorkNames())) {
    auto found = json.find(name.str());
    if (found == json.end())
      return fault(pointer, "the cost '" + name + "' is missing");
    if (Error error =
            readNumber(*found, pointer + "/" + name.str(), costs.ns[i]))
      return error;
  }
  for (CPUWork work : {CPUWork::Product, CPUWork::StepUpdate})
    if (costs.ns[size_t(work)] == 0)
      return fault(pointer + "/" + cpuWorkNames()[size_t(work)].str(),
                   "expected a number above 0, found 0");
  return Error::success();
}

Error Reader::readLevels(const Json &json, Calibration &calibration) {
  if (!json.is_object() || json.empty())
    return fault("/levels",
                 "expected an object with the costs of at least one level, "
                 "found " +
                     shown(json));
  for (const auto &[key, value] : json.items()) {
    std::string pointer = "/levels/" + key;
    if (!llvm::is_contained(cpuLevelNames(), key))
      return unknown(pointer, key, cpuLevelNames(), "a level");
    CPUCosts &costs = calibration.levels[key];
    costs.level = key;
    if (Error error = readLevel(value, pointer, costs))
      return error;
  }
  return Error::success();
}

Error Reader::read(const Json &json, Calibration &calibration) {
  if (!json.is_object())
    return fault("", "expected an object, found " + shown(json));
  for (const auto &[key, value] : json.items())
    if (!llvm::is_contained(fileKeys, key))
      return unknown("/" + key, key, fileKeys, "a key of a calibration");
  for (StringRef key : {"prism_calibration", "cache_bytes", "levels"})
    if (!json.contains(key.str()))
      return fault("", "the key '" + key +
                           "' is missing; prism-calibrate "
                           "writes calibration files");
  if (json["prism_calibration"] != 1)
    return fault("/prism_calibration", "expected the version 1, found " +
                                           shown(json["prism_calibration"]));
  double cacheBytes = 0;
  if (Error error = readNumber(json["cache_bytes"], "/cache_bytes", cacheBytes))
    return error;
  if (Error error = readLevels(json["levels"], calibration))
    return error;
  for (auto &[name, costs] : calibration.levels)
    costs.cacheBytes = cacheBytes;
  return Error::success();
}

Expected<Calibration> prism::targetinfo::readCalibration(StringRef text,
                                                         StringRef file) {
  std::string reason;
  std::optional<Json> json = readJson(text, reason);
  if (!json)
    return createStringError(file + ": /: " + reason);
  Calibration calibration;
  calibration.file = file.str();
  if (Error error = Reader(file).read(*json, calibration))
    return std::move(error);
  return calibration;
}
