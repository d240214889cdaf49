//===- JsonShape.h - What a JSON value must look like -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A table of `Shape`s says which keys a document has and what their values look
// like; checkShape compares. A shape has the semantics of one JSON Schema
// object with `type` as a list: the limits for numbers apply to numbers only,
// `properties` to objects only, and so on. No shape needs `anyOf`, hence a
// wrong value has one reason.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_SUPPORT_JSONSHAPE_H
#define PRISM_SUPPORT_JSONSHAPE_H

#include "Prism/Support/Json.h"
#include <optional>

namespace prism {

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
enum class TextPattern { Any, NonEmpty, Name, DimName };

struct Shape;

struct Field {
  llvm::StringRef name;
  const Shape *shape = nullptr;
  bool required = false;
  /// The `description` in the schema, for editors.
  llvm::StringRef doc = {};
};

struct Shape {
  /// A number from `least` to `most`, of these types.
  static Shape between(unsigned types, double least, double most) {
    Shape shape;
    shape.types = types;
    shape.minimum = least;
    shape.maximum = most;
    return shape;
  }

  unsigned types = 0;
  /// Admits any value at all.
  bool open = false;
  /// Name under `$defs`, or empty for a shape written in place.
  llvm::StringRef def;
  // Numbers: a minimum has a maximum.
  std::optional<double> minimum, exclusiveMinimum, maximum;
  // Strings.
  TextPattern pattern = TextPattern::Any;
  std::vector<llvm::StringRef> choices;
  // Arrays.
  const Shape *items = nullptr;
  unsigned minItems = 0;
  std::optional<unsigned> maxItems;
  // Objects. Keys that no field names need `additional`, or are errors.
  std::vector<Field> fields;
  const Shape *additional = nullptr;
  TextPattern keyPattern = TextPattern::Any;
  unsigned minProperties = 0;
  std::optional<unsigned> maxProperties;
};

/// True if the value has the shape; else `diagnostic` is the one message, but
/// for the file, which it keeps.
llvm::LogicalResult checkShape(const JsonNode &node, const Shape &shape,
                               TextDiagnostic &diagnostic);

} // namespace prism

#endif // PRISM_SUPPORT_JSONSHAPE_H
