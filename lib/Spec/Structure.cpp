//===- Structure.cpp - The shape of a spec, as one table ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Spec/Structure.h"
#include "llvm/ADT/StringExtras.h"
#include <nlohmann/json.hpp>

using namespace prism;
using namespace prism::spec;
using nlohmann::ordered_json;

static const SpecStructure &structure() {
  static const SpecStructure table; // immutable
  return table;
}

llvm::LogicalResult prism::spec::checkStructure(const JsonNode &document,
                                                SpecDiagnostic &diagnostic) {
  diagnostic.stage = Stage::Structure;
  return checkShape(document, structure().root(), diagnostic);
}

//===----------------------------------------------------------------------===//
// Schema
//===----------------------------------------------------------------------===//

static void schemaOf(TextPattern pattern, ordered_json &schema) {
  if (pattern == TextPattern::NonEmpty)
    schema["minLength"] = 1;
  if (pattern == TextPattern::Name)
    schema["pattern"] = "^[A-Za-z_][A-Za-z0-9_]*$";
  if (pattern == TextPattern::DimName)
    schema["pattern"] = "^[A-Z][A-Za-z0-9_]*$";
}

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
  if (shape.keyPattern != TextPattern::Any)
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
