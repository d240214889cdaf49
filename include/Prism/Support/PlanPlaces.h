//===- PlanPlaces.h - Where a text has the keys of a plan -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_SUPPORT_PLANPLACES_H
#define PRISM_SUPPORT_PLANPLACES_H

#include "Prism/Support/TextDiagnostic.h"
#include <map>

namespace prism {

struct JsonNode;

/// Places of the values of a plan's keys, by key.
struct PlanPlaces {
  std::string file;
  SourceLoc whole; // of the plan
  std::map<std::string, SourceLoc> keys;

  /// The key's, or that of the whole plan, which does not have it.
  const SourceLoc &at(llvm::StringRef key) const;
};

/// Of a plan, an object, in a file.
PlanPlaces placesOfKeys(llvm::StringRef file, const JsonNode &plan);

} // namespace prism

#endif // PRISM_SUPPORT_PLANPLACES_H
