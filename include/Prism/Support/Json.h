//===- Json.h - A JSON tree that knows where it was written -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Text to a tree in which every value and every key has its line, column and
// JSON pointer, the first stage of all readers: of specs, plans and
// calibrations. Duplicate keys and nesting beyond `kMaxDepth` are errors;
// nothing throws.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_SUPPORT_JSON_H
#define PRISM_SUPPORT_JSON_H

#include "Prism/Support/TextDiagnostic.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/LogicalResult.h"
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace prism {

inline constexpr unsigned kMaxDepth = 64;

enum class JsonKind { Null, Boolean, Number, String, Array, Object };

struct JsonMember;

/// One JSON value. Plain data: the stages read it and presets build it.
struct JsonNode {
  JsonKind kind = JsonKind::Null;
  SourceLoc loc;
  bool boolean = false;
  double number = 0;
  std::string string;
  /// Of a string: written without escapes, so that byte i of the value stands
  /// i + 1 columns after the opening quote.
  bool verbatim = false;
  std::vector<JsonNode> items;
  std::vector<JsonMember> members;

  bool is(JsonKind k) const { return kind == k; }
  /// True for 3 and 3.0, as in JSON Schema.
  bool isInteger() const;
  int64_t integer() const { return static_cast<int64_t>(number); }
  /// The member of that name, or its value, or null.
  const JsonMember *findMember(llvm::StringRef key) const;
  const JsonNode *find(llvm::StringRef key) const;
};

struct JsonMember {
  std::string key;
  SourceLoc keyLoc;
  JsonNode value;
};

/// Reads a whole document. On failure `diagnostic` is the one message.
llvm::FailureOr<JsonNode> parseJson(llvm::StringRef text, llvm::StringRef file,
                                    TextDiagnostic &diagnostic);

/// A tree of values made by the compiler; all of it stands where `loc` is.
JsonNode fromOrderedJson(const nlohmann::ordered_json &json,
                         const SourceLoc &loc);
/// Whole numbers become JSON integers.
nlohmann::ordered_json toOrderedJson(const JsonNode &node);

/// "string 'abc'", "number 3", "an object": a value in a message, cut if long.
std::string describe(const JsonNode &node);

} // namespace prism

#endif // PRISM_SUPPORT_JSON_H
