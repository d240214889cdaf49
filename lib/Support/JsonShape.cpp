//===- JsonShape.cpp - What a JSON value must look like -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Support/JsonShape.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <cmath>
#include <nlohmann/json.hpp>

using namespace prism;
using nlohmann::ordered_json;

static bool matches(TextPattern pattern, llvm::StringRef text) {
  auto tail = [](llvm::StringRef rest) {
    return llvm::all_of(rest,
                        [](char c) { return llvm::isAlnum(c) || c == '_'; });
  };
  switch (pattern) {
  case TextPattern::Any:
    return true;
  case TextPattern::NonEmpty:
    return !text.empty();
  case TextPattern::Name:
    return !text.empty() && (llvm::isAlpha(text[0]) || text[0] == '_') &&
           tail(text);
  case TextPattern::DimName:
    return !text.empty() && text[0] >= 'A' && text[0] <= 'Z' && tail(text);
  }
  return false;
}

static llvm::StringRef describe(TextPattern pattern) {
  switch (pattern) {
  case TextPattern::Any:
    return "a string";
  case TextPattern::NonEmpty:
    return "a string that is not empty";
  case TextPattern::Name:
    return "a name (letters, digits and _, no digit first)";
  case TextPattern::DimName:
    return "the name of a dim (a capital letter first, then letters, digits "
           "and _)";
  }
  return "";
}

namespace {

class Checker {
public:
  explicit Checker(TextDiagnostic &diagnostic) : diagnostic(diagnostic) {}
  bool check(const JsonNode &node, const Shape &shape);

private:
  bool checkNumber(const JsonNode &node, const Shape &shape);
  bool checkString(const JsonNode &node, const Shape &shape);
  bool checkArray(const JsonNode &node, const Shape &shape);
  bool checkObject(const JsonNode &node, const Shape &shape);
  bool checkCount(const JsonNode &node, const Shape &shape);
  bool unknownKey(const JsonMember &member, const Shape &shape);
  bool fail(const SourceLoc &loc, const llvm::Twine &message,
            llvm::StringRef nearest = "") {
    diagnostic.loc = loc;
    diagnostic.message = message.str();
    diagnostic.nearest = nearest.str();
    return false;
  }

  TextDiagnostic &diagnostic;
};

} // namespace

static std::vector<llvm::StringRef> fieldNames(const Shape &shape) {
  std::vector<llvm::StringRef> names;
  for (const Field &field : shape.fields)
    names.push_back(field.name);
  return names;
}

static bool admits(const JsonNode &node, unsigned types) {
  switch (node.kind) {
  case JsonKind::Null:
    return types & kNull;
  case JsonKind::Boolean:
    return types & kBoolean;
  case JsonKind::Number:
    return (types & kNumber) || ((types & kInteger) && node.isInteger());
  case JsonKind::String:
    return types & kString;
  case JsonKind::Array:
    return types & kArray;
  case JsonKind::Object:
    return types & kObject;
  }
  return false;
}

static std::string formatNumber(double value) {
  return value == std::floor(value)
             ? std::to_string(static_cast<int64_t>(value))
             : ordered_json(value).dump();
}

/// "an integer from 1 to 1024 or null".
static std::string expected(const Shape &shape) {
  std::vector<std::string> words;
  if (shape.types & (kInteger | kNumber)) {
    std::string word = shape.types & kNumber ? "a number" : "an integer";
    if (shape.minimum && shape.maximum && *shape.minimum == *shape.maximum)
      word = formatNumber(*shape.minimum);
    else if (shape.minimum && shape.maximum)
      word += " from " + formatNumber(*shape.minimum) + " to " +
              formatNumber(*shape.maximum);
    else if (shape.exclusiveMinimum)
      word += " above " + formatNumber(*shape.exclusiveMinimum);
    words.push_back(word);
  }
  if (shape.types & kBoolean)
    words.push_back("true or false");
  if (shape.types & kString)
    words.push_back(shape.choices.empty() ? describe(shape.pattern).str()
                                          : joinNames(shape.choices));
  if (shape.types & kArray)
    words.push_back("an array");
  if (shape.types & kObject)
    words.push_back("an object");
  if (shape.types & kNull)
    words.push_back("null");
  std::vector<llvm::StringRef> refs(words.begin(), words.end());
  return joinNames(refs);
}

bool Checker::check(const JsonNode &node, const Shape &shape) {
  if (shape.open)
    return true;
  if (!admits(node, shape.types))
    return fail(node.loc, "expected " + expected(shape) + ", found " +
                              prism::describe(node));
  switch (node.kind) {
  case JsonKind::Number:
    return checkNumber(node, shape);
  case JsonKind::String:
    return checkString(node, shape);
  case JsonKind::Array:
    return checkArray(node, shape);
  case JsonKind::Object:
    return checkObject(node, shape);
  default:
    return true;
  }
}

bool Checker::checkNumber(const JsonNode &node, const Shape &shape) {
  bool inRange =
      (!shape.minimum || node.number >= *shape.minimum) &&
      (!shape.exclusiveMinimum || node.number > *shape.exclusiveMinimum) &&
      (!shape.maximum || node.number <= *shape.maximum);
  if (inRange)
    return true;
  return fail(node.loc, "expected " + expected(shape) + ", found " +
                            prism::describe(node));
}

bool Checker::checkString(const JsonNode &node, const Shape &shape) {
  if (!shape.choices.empty()) {
    if (llvm::is_contained(shape.choices, node.string))
      return true;
  } else if (matches(shape.pattern, node.string)) {
    return true;
  }
  return fail(node.loc,
              "expected " + expected(shape) + ", found " +
                  prism::describe(node),
              nearestName(node.string, shape.choices));
}

bool Checker::checkArray(const JsonNode &node, const Shape &shape) {
  if (node.items.size() < shape.minItems)
    return fail(node.loc, "expected at least " + llvm::Twine(shape.minItems) +
                              " element, found " + prism::describe(node));
  if (shape.maxItems && node.items.size() > *shape.maxItems)
    return fail(node.loc, "expected at most " + llvm::Twine(*shape.maxItems) +
                              " elements, found " +
                              llvm::Twine(node.items.size()));
  return llvm::all_of(node.items, [&](const JsonNode &item) {
    return check(item, *shape.items);
  });
}

/// Of an object: how many keys it has.
bool Checker::checkCount(const JsonNode &node, const Shape &shape) {
  size_t found = node.members.size();
  bool isOne = shape.minProperties == 1 && shape.maxProperties == 1u;
  if (found > shape.maxProperties.value_or(~0u) && !isOne)
    return fail(node.loc, "expected at most " +
                              llvm::Twine(*shape.maxProperties) +
                              " keys, found " + llvm::Twine(found));
  if (found >= shape.minProperties && (!isOne || found == 1))
    return true;
  // No shape asks for more than one.
  std::string names = joinNames(fieldNames(shape));
  return fail(node.loc, llvm::Twine("expected ") +
                            (isOne ? "exactly" : "at least") + " one key" +
                            (names.empty() ? "" : ", " + names) + ", found " +
                            llvm::Twine(found));
}

bool Checker::unknownKey(const JsonMember &member, const Shape &shape) {
  std::vector<llvm::StringRef> names = fieldNames(shape);
  llvm::StringRef nearest = nearestName(member.key, names);
  if (!nearest.empty())
    return fail(member.keyLoc, "unknown key '" + member.key + "'", nearest);
  std::string expected = names.empty() ? "" : ", expected " + joinNames(names);
  return fail(member.keyLoc, "unknown key '" + member.key + "'" + expected);
}

bool Checker::checkObject(const JsonNode &node, const Shape &shape) {
  // Unknown keys before missing ones: a misspelt key is both.
  for (const JsonMember &member : node.members) {
    bool known = llvm::any_of(
        shape.fields, [&](const Field &f) { return f.name == member.key; });
    if (!known && !shape.additional)
      return unknownKey(member, shape);
    if (!matches(shape.keyPattern, member.key))
      return fail(member.keyLoc, "expected " + describe(shape.keyPattern) +
                                     ", found '" + member.key + "'");
  }
  for (const Field &field : shape.fields)
    if (field.required && !node.find(field.name))
      return fail(node.loc, "missing key '" + field.name + "'");
  if (!checkCount(node, shape))
    return false;
  for (const JsonMember &member : node.members) {
    const Shape *inner = shape.additional;
    for (const Field &field : shape.fields)
      if (field.name == member.key)
        inner = field.shape;
    if (!check(member.value, *inner))
      return false;
  }
  return true;
}

llvm::LogicalResult prism::checkShape(const JsonNode &node, const Shape &shape,
                                      TextDiagnostic &diagnostic) {
  return llvm::success(Checker(diagnostic).check(node, shape));
}
