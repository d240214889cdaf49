//===- PlanFile.cpp - Plans given by hand ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Compiler/PlanFile.h"
#include "Prism/Support/ReadJson.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <nlohmann/json.hpp>

using namespace llvm;
using namespace prism;
using Json = nlohmann::ordered_json;

static Error planError(StringRef file, const std::string &pointer,
                       const Twine &message) {
  return createStringError(file + ": " + (pointer.empty() ? "/" : pointer) +
                           ": " + message);
}

static Error readNumber(const Json &value, StringRef file,
                        const std::string &pointer, int64_t low, int64_t high,
                        std::optional<int64_t> &out) {
  if (!value.is_number_integer() || value.get<int64_t>() < low ||
      value.get<int64_t>() > high)
    return planError(file, pointer,
                     "expected an integer from " + Twine(low) + " to " +
                         Twine(high) + ", found " + value.dump());
  out = value.get<int64_t>();
  return Error::success();
}

static Error readPlan(const Json &json, StringRef file,
                      const std::string &pointer, PlanOverride &plan) {
  if (!json.is_object())
    return planError(file, pointer,
                     "expected an object with a plan, found " + json.dump());
  for (const auto &[key, value] : json.items()) {
    std::string at = pointer + "/" + key;
    if (key == "schedule") {
      std::optional<scan::Schedule> schedule;
      if (value.is_string())
        schedule = scan::symbolizeSchedule(value.get<std::string>());
      if (!schedule)
        return planError(file, at,
                         "expected \"chunk\" or \"recurrent\", found " +
                             value.dump());
      plan.schedule = schedule;
    } else if (key == "chunk") {
      if (Error error = readNumber(value, file, at, 1, 256, plan.chunk))
        return error;
    } else if (key == "value_block") {
      if (Error error =
              readNumber(value, file, at, 0, 1 << 20, plan.valueBlock))
        return error;
    } else if (key == "stages") {
      if (Error error = readNumber(value, file, at, 1, 8, plan.stages))
        return error;
    } else if (key == "segments") {
      if (Error error = readNumber(value, file, at, 1, 4096, plan.segments))
        return error;
    } else {
      StringRef nearest;
      unsigned best = 4;
      for (StringRef name :
           {"schedule", "chunk", "value_block", "stages", "segments"})
        if (unsigned distance = name.edit_distance(key); distance < best)
          best = distance, nearest = name;
      return planError(
          file, at,
          "is not a key of a plan (schedule, chunk, value_block, stages, "
          "segments)" +
              (nearest.empty() ? std::string()
                               : "; did you mean '" + nearest.str() + "'?"));
    }
  }
  if (plan.schedule == scan::Schedule::recurrent && plan.chunk &&
      *plan.chunk != 1)
    return planError(file, pointer + "/chunk",
                     "the recurrent schedule has chunk 1, found " +
                         Twine(*plan.chunk));
  return Error::success();
}

Expected<std::map<std::string, PlanOverride>>
prism::readPlanFile(StringRef text, StringRef file) {
  std::string reason;
  std::optional<Json> read = readJson(text, reason);
  if (!read)
    return planError(file, "", reason);
  const Json &json = *read;
  if (!json.is_object())
    return planError(file, "", "expected an object, found " + json.dump());
  std::map<std::string, PlanOverride> plans;
  bool perEntry = false;
  for (const auto &[key, value] : json.items())
    perEntry |= value.is_object();
  if (!perEntry) {
    if (Error error = readPlan(json, file, "", plans[""]))
      return error;
    return plans;
  }
  for (const auto &[key, value] : json.items())
    if (Error error = readPlan(value, file, "/" + key, plans[key]))
      return error;
  return plans;
}
