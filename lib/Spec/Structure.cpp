//===- Structure.cpp - The shape of a spec, as one table ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Spec/Structure.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <cmath>
#include <nlohmann/json.hpp>

using namespace prism::spec;
using nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

static bool matches(Pattern pattern, llvm::StringRef text) {
  auto tail = [](llvm::StringRef rest) {
    return llvm::all_of(rest,
                        [](char c) { return llvm::isAlnum(c) || c == '_'; });
  };
  switch (pattern) {
  case Pattern::Any:
    return true;
  case Pattern::NonEmpty:
    return !text.empty();
  case Pattern::Name:
    return !text.empty() && (llvm::isAlpha(text[0]) || text[0] == '_') &&
           tail(text);
  case Pattern::DimName:
    return !text.empty() && text[0] >= 'A' && text[0] <= 'Z' && tail(text);
  }
  return false;
}

static void schemaOf(Pattern pattern, ordered_json &schema) {
  if (pattern == Pattern::NonEmpty)
    schema["minLength"] = 1;
  if (pattern == Pattern::Name)
    schema["pattern"] = "^[A-Za-z_][A-Za-z0-9_]*$";
  if (pattern == Pattern::DimName)
    schema["pattern"] = "^[A-Z][A-Za-z0-9_]*$";
}

static llvm::StringRef describe(Pattern pattern) {
  switch (pattern) {
  case Pattern::Any:
    return "a string";
  case Pattern::NonEmpty:
    return "a string that is not empty";
  case Pattern::Name:
    return "a name (letters, digits and _, no digit first)";
  case Pattern::DimName:
    return "the name of a dim (a capital letter first, then letters, digits "
           "and _)";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Check
//===----------------------------------------------------------------------===//

namespace {

class Checker {
public:
  explicit Checker(SpecDiagnostic &diagnostic) : diagnostic(diagnostic) {}
  bool check(const JsonNode &node, const Shape &shape);

private:
  bool checkNumber(const JsonNode &node, const Shape &shape);
  bool checkString(const JsonNode &node, const Shape &shape);
  bool checkArray(const JsonNode &node, const Shape &shape);
  bool checkObject(const JsonNode &node, const Shape &shape);
  bool unknownKey(const JsonMember &member, const Shape &shape);
  bool fail(const SourceLoc &loc, const llvm::Twine &message,
            llvm::StringRef nearest = "") {
    diagnostic.stage = Stage::Structure;
    diagnostic.loc = loc;
    diagnostic.message = message.str();
    diagnostic.nearest = nearest.str();
    return false;
  }

  SpecDiagnostic &diagnostic;
};

} // namespace

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
    else if (shape.minimum)
      word += " of at least " + formatNumber(*shape.minimum);
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
                              prism::spec::describe(node));
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
                            prism::spec::describe(node));
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
                  prism::spec::describe(node),
              nearestName(node.string, shape.choices));
}

bool Checker::checkArray(const JsonNode &node, const Shape &shape) {
  if (node.items.size() < shape.minItems)
    return fail(node.loc, "expected at least " + llvm::Twine(shape.minItems) +
                              " element, found " + prism::spec::describe(node));
  if (shape.maxItems && node.items.size() > *shape.maxItems)
    return fail(node.loc, "expected at most " + llvm::Twine(*shape.maxItems) +
                              " elements, found " +
                              llvm::Twine(node.items.size()));
  return llvm::all_of(node.items, [&](const JsonNode &item) {
    return check(item, *shape.items);
  });
}

bool Checker::unknownKey(const JsonMember &member, const Shape &shape) {
  std::vector<llvm::StringRef> names;
  for (const Field &field : shape.fields)
    names.push_back(field.name);
  llvm::StringRef nearest = nearestName(member.key, names);
  if (!nearest.empty())
    return fail(member.keyLoc, "unknown key '" + member.key + "'", nearest);
  return fail(member.keyLoc,
              "unknown key '" + member.key + "', expected " + joinNames(names));
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
  if (node.members.size() < shape.minProperties ||
      node.members.size() > shape.maxProperties.value_or(~0u)) {
    if (shape.minProperties == 1 && shape.maxProperties == 1u) {
      std::vector<llvm::StringRef> names;
      for (const Field &field : shape.fields)
        names.push_back(field.name);
      return fail(node.loc, "expected exactly one key, " + joinNames(names) +
                                ", found " + llvm::Twine(node.members.size()));
    }
    return fail(node.loc,
                "expected at most " + llvm::Twine(*shape.maxProperties) +
                    " keys, found " + llvm::Twine(node.members.size()));
  }
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

static const SpecStructure &structure() {
  static const SpecStructure table; // immutable
  return table;
}

llvm::LogicalResult prism::spec::checkStructure(const JsonNode &document,
                                                SpecDiagnostic &diagnostic) {
  return llvm::success(Checker(diagnostic).check(document, structure().root()));
}

//===----------------------------------------------------------------------===//
// Schema
//===----------------------------------------------------------------------===//

namespace {

class SchemaPrinter {
public:
  ordered_json document(const Shape &root) {
    ordered_json schema = {
        {"$schema", "https://json-schema.org/draft/2020-12/schema"},
        {"$id", "prism-spec-1.schema.json"},
        {"title", "Prism spec, version 1"}};
    ordered_json body = inPlace(root);
    for (auto &[key, value] : body.items())
      schema[key] = value;
    schema["$defs"] = defs;
    return schema;
  }

private:
  ordered_json reference(const Shape &shape) {
    if (shape.open)
      return true;
    if (shape.def.empty())
      return inPlace(shape);
    std::string name = shape.def.str();
    if (!defs.contains(name)) {
      ordered_json body = inPlace(shape);
      defs[name] = std::move(body);
    }
    return {{"$ref", "#/$defs/" + name}};
  }
  ordered_json inPlace(const Shape &shape);
  void objectKeywords(const Shape &shape, ordered_json &schema);

  ordered_json defs = ordered_json::object();
};

} // namespace

ordered_json SchemaPrinter::inPlace(const Shape &shape) {
  static constexpr std::pair<unsigned, const char *> kTypes[] = {
      {kNull, "null"},     {kBoolean, "boolean"}, {kInteger, "integer"},
      {kNumber, "number"}, {kString, "string"},   {kArray, "array"},
      {kObject, "object"}};
  std::vector<std::string> types;
  for (auto [bit, name] : kTypes)
    if (shape.types & bit)
      types.push_back(name);
  ordered_json schema;
  if (types.size() == 1)
    schema["type"] = types.front();
  else
    schema["type"] = types;
  auto limit = [&](const char *keyword, std::optional<double> value) {
    if (value)
      schema[keyword] = static_cast<int64_t>(*value);
  };
  limit("minimum", shape.minimum);
  limit("exclusiveMinimum", shape.exclusiveMinimum);
  limit("maximum", shape.maximum);
  schemaOf(shape.pattern, schema);
  // `enum` would refuse an object in the place of a choice, too.
  if (shape.types & kObject && !shape.choices.empty())
    schema["pattern"] = "^(" + llvm::join(shape.choices, "|") + ")$";
  else
    for (llvm::StringRef name : shape.choices)
      schema["enum"].push_back(name.str());
  if (shape.types & kArray && shape.items) {
    schema["items"] = reference(*shape.items);
    if (shape.minItems)
      schema["minItems"] = shape.minItems;
    if (shape.maxItems)
      schema["maxItems"] = *shape.maxItems;
  }
  if (shape.types & kObject && (shape.additional || !shape.fields.empty()))
    objectKeywords(shape, schema);
  return schema;
}

void SchemaPrinter::objectKeywords(const Shape &shape, ordered_json &schema) {
  ordered_json required = ordered_json::array();
  for (const Field &field : shape.fields) {
    ordered_json inner = reference(*field.shape);
    if (!field.doc.empty())
      inner["description"] = field.doc.str();
    schema["properties"][field.name.str()] = std::move(inner);
    if (field.required)
      required.push_back(field.name.str());
  }
  if (!required.empty())
    schema["required"] = std::move(required);
  if (shape.keyPattern != Pattern::Any)
    schemaOf(shape.keyPattern, schema["propertyNames"]);
  if (shape.additional)
    schema["additionalProperties"] = reference(*shape.additional);
  else
    schema["additionalProperties"] = false;
  if (shape.minProperties)
    schema["minProperties"] = shape.minProperties;
  if (shape.maxProperties)
    schema["maxProperties"] = *shape.maxProperties;
}

ordered_json prism::spec::publishedSchema() {
  return SchemaPrinter().document(structure().root());
}
