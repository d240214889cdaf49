//===- Diagnostic.h - What is wrong with a spec -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A wrong spec gets exactly one of these: where (file, JSON pointer, line,
// column), what was expected and found, and the nearest right name.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_SPEC_DIAGNOSTIC_H
#define PRISM_SPEC_DIAGNOSTIC_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace prism::spec {

/// A place in the JSON text. Lines and columns count from 1, columns in bytes.
struct SourceLoc {
  unsigned line = 1;
  unsigned column = 1;
  /// RFC 6901 pointer to the element; empty for the whole document.
  std::string pointer;
};

/// The stage that refused a spec. `Text` is JSON itself (syntax, duplicate
/// keys, depth), `Structure` is what the published JSON Schema says, `Meaning`
/// is everything that needs names, shapes and types.
enum class Stage { Text, Structure, Meaning };

struct SpecDiagnostic {
  Stage stage = Stage::Text;
  std::string file;
  SourceLoc loc;
  /// Lower-case start, no full stop; says what was expected and what was found.
  std::string message;
  /// The nearest right name, or empty.
  std::string nearest;

  /// `file:line:col: error: /pointer: message; did you mean 'nearest'?`
  std::string str() const;
};

/// The candidate with the smallest edit distance to `name`, if it is near
/// enough to be a misspelling of it; else empty.
llvm::StringRef nearestName(llvm::StringRef name,
                            llvm::ArrayRef<llvm::StringRef> candidates);

/// `a, b or c`.
std::string joinNames(llvm::ArrayRef<llvm::StringRef> names);

} // namespace prism::spec

#endif // PRISM_SPEC_DIAGNOSTIC_H
