//===- Structure.h - The shape of a spec, as one table ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The structural stage. One table of `Shape`s says which keys exist and what
// their values look like. It drives the check, and printed it is the published
// JSON Schema (docs/schema/prism-spec-1.schema.json), so the two cannot differ.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_SPEC_STRUCTURE_H
#define PRISM_SPEC_STRUCTURE_H

#include "Prism/Spec/Diagnostic.h"
#include "Prism/Support/JsonShape.h"
#include <memory>

namespace prism::spec {

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
