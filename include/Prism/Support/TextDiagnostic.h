//===- TextDiagnostic.h - What is wrong with a text -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A wrong JSON text gets exactly one of these: where (file, JSON pointer, line,
// column), what was expected and found, and the nearest right name.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_SUPPORT_TEXTDIAGNOSTIC_H
#define PRISM_SUPPORT_TEXTDIAGNOSTIC_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace prism {

/// A place in the JSON text. Lines and columns count from 1, columns in bytes.
struct SourceLoc {
  unsigned line = 1;
  unsigned column = 1;
  /// RFC 6901 pointer to the element; empty for the whole document.
  std::string pointer;
};

struct TextDiagnostic {
  std::string file;
  SourceLoc loc;
  /// Lower-case start, no full stop; says what was expected and what was found.
  std::string message;
  /// The nearest right name, or empty.
  std::string nearest;

  /// `/pointer: message; did you mean 'nearest'?`, where a place is said
  /// otherwise.
  std::string sentence() const;
  /// `file:line:col: error: /pointer: message; did you mean 'nearest'?`
  std::string str() const;
};

/// The candidate with the smallest edit distance to `name`, if it is near
/// enough to be a misspelling of it; else empty.
llvm::StringRef nearestName(llvm::StringRef name,
                            llvm::ArrayRef<llvm::StringRef> candidates);

/// `a, b or c`.
std::string joinNames(llvm::ArrayRef<llvm::StringRef> names);

} // namespace prism

#endif // PRISM_SUPPORT_TEXTDIAGNOSTIC_H
