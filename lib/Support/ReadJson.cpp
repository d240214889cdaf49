//===- ReadJson.cpp - JSON that people wrote ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Support/ReadJson.h"
#include "llvm/ADT/StringSet.h"
#include <nlohmann/json.hpp>
#include <vector>

using Json = nlohmann::ordered_json;

std::optional<Json> prism::readJson(llvm::StringRef text, std::string &error) {
  constexpr int kLevels = 64;
  std::vector<llvm::StringSet<>> keys; // of the objects that are open
  auto watch = [&](int depth, Json::parse_event_t event, Json &parsed) {
    if (event == Json::parse_event_t::object_start)
      keys.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      keys.pop_back();
    else if (event == Json::parse_event_t::key && error.empty() &&
             !keys.back().insert(parsed.get_ref<const std::string &>()).second)
      error = "key '" + parsed.get<std::string>() + "' stands twice";
    if (depth < kLevels)
      return true;
    error = "nests deeper than " + std::to_string(kLevels) + " levels";
    return false; // leaves out what is deeper
  };
  Json json = Json::parse(text.begin(), text.end(), watch,
                          /*allow_exceptions=*/false);
  if (!error.empty())
    return std::nullopt;
  if (!json.is_discarded())
    return json;
  error = "is not JSON";
  return std::nullopt;
}
