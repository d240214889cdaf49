//===- Structure.h - The shape of a spec, as one table ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The structural stage. One table of `Shape`s says which keys exist and what
// their values look like. It drives the check, and printed it is the published
// JSON Schema (docs/schema/prism-spec-1.schema.json), so the two cannot differ.
//
// A shape has the semantics of one JSON Schema object with `type` as a list:
// the limits for numbers apply to numbers only, `properties` to objects only,
// and so on. No shape needs `anyOf`, hence a wrong value has one reason.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_SPEC_STRUCTURE_H
#define PRISM_SPEC_STRUCTURE_H

#include "Prism/Spec/Json.h"
#include <memory>
#include <optional>

namespace prism::spec {

/// Bits of the JSON types a shape admits.
enum TypeMask : unsigned {
  kNull = 1,
  kBoolean = 2,
  kInteger = 4,
  kNumber = 8,
  kString = 16,
  kArray = 32,
  kObject = 64
};

/// Patterns of strings and keys.
enum class Pattern { Any, NonEmpty, Name, DimName };

struct Shape;

struct Field {
  llvm::StringRef name;
  const Shape *shape = nullptr;
  bool required = false;
  /// The `description` in the schema, for editors.
  llvm::StringRef doc;
};

struct Shape {
  unsigned types = 0;
  /// Admits any value at all.
  bool open = false;
  /// Name under `$defs`, or empty for a shape written in place.
  llvm::StringRef def;
  // Numbers.
  std::optional<double> minimum, exclusiveMinimum, maximum;
  // Strings.
  Pattern pattern = Pattern::Any;
  std::vector<llvm::StringRef> choices;
  // Arrays.
  const Shape *items = nullptr;
  unsigned minItems = 0;
  std::optional<unsigned> maxItems;
  // Objects. Keys that no field names need `additional`, or are errors.
  std::vector<Field> fields;
  const Shape *additional = nullptr;
  Pattern keyPattern = Pattern::Any;
  unsigned minProperties = 0;
  std::optional<unsigned> maxProperties;
};

/// The table. Built once per call site that keeps it; shapes refer to each
/// other.
class SpecStructure {
public:
  SpecStructure();
  const Shape &root() const { return *top; }

private:
  Shape *make(unsigned types);
  const Shape *makeNames();
  const Shape *makeDims();
  const Shape *makeInputs();
  const Shape *makePlan();
  /// One object shape whose only key is one of `fields`.
  const Shape *makeStep(std::vector<Field> fields, llvm::StringRef def);

  std::vector<std::unique_ptr<Shape>> pool;
  const Shape *top = nullptr;
  const Shape *name = nullptr;
  const Shape *nameOrNumber = nullptr;
};

/// True if the document has the right shape; else `diagnostic` is the one
/// message.
llvm::LogicalResult checkStructure(const JsonNode &document,
                                   SpecDiagnostic &diagnostic);

/// The JSON Schema (draft 2020-12) that admits what checkStructure admits.
nlohmann::ordered_json publishedSchema();

} // namespace prism::spec

#endif // PRISM_SPEC_STRUCTURE_H
