//===- ReadJson.h - JSON that people wrote ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_SUPPORT_READJSON_H
#define PRISM_SUPPORT_READJSON_H

#include "llvm/ADT/StringRef.h"
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace prism {

/// The value of a text; nothing and a reason for a text that is no JSON, nests
/// deeper than 64 levels, or has a key twice in one object.
std::optional<nlohmann::ordered_json> readJson(llvm::StringRef text,
                                               std::string &error);

} // namespace prism

#endif // PRISM_SUPPORT_READJSON_H
