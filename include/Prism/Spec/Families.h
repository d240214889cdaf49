//===- Families.h - The presets by name -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_SPEC_FAMILIES_H
#define PRISM_SPEC_FAMILIES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <vector>

namespace prism::spec {

/// What a list of families says of one.
struct FamilySummary {
  llvm::StringRef name;
  /// One line: what it computes.
  llvm::StringRef summary;
  /// Values of "variant", the default first; empty: it has none.
  llvm::ArrayRef<llvm::StringLiteral> variants;
};

/// All presets, in the order of the documentation.
std::vector<FamilySummary> listFamilies();

} // namespace prism::spec

#endif // PRISM_SPEC_FAMILIES_H
