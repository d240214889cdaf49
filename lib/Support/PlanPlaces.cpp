//===- PlanPlaces.cpp - Where a text has the keys of a plan ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Support/PlanPlaces.h"
#include "Prism/Support/Json.h"

using namespace prism;

const SourceLoc &PlanPlaces::at(llvm::StringRef key) const {
  auto found = keys.find(key.str());
  return found == keys.end() ? whole : found->second;
}

PlanPlaces prism::placesOfKeys(llvm::StringRef file, const JsonNode &plan) {
  PlanPlaces places{file.str(), plan.loc, {}};
  for (const JsonMember &member : plan.members)
    places.keys[member.key] = member.value.loc;
  return places;
}
