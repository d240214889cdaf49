//===- PlanPlaces.cpp - Where the keys of a plan were written -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Scan/IR/PlanPlaces.h"

using namespace mlir;
using namespace prism;

/// Of the metadata in the recurrence's location, and of the whole plan in it.
static constexpr StringLiteral kPlaces = "scan.plan", kWhole = "plan";

Location scan::withPlanPlaces(Location loc, const PlanPlaces &places) {
  MLIRContext *context = loc.getContext();
  auto locate = [&](const SourceLoc &place) -> Attribute {
    return NameLoc::get(
        StringAttr::get(context, place.pointer),
        FileLineColLoc::get(context, places.file, place.line, place.column));
  };
  SmallVector<NamedAttribute> keys;
  for (const auto &[key, place] : places.keys)
    keys.emplace_back(StringAttr::get(context, key), locate(place));
  keys.emplace_back(StringAttr::get(context, kWhole), locate(places.whole));
  NamedAttribute all(StringAttr::get(context, kPlaces),
                     DictionaryAttr::get(context, keys));
  return FusedLoc::get(context, {loc}, DictionaryAttr::get(context, all));
}

std::optional<PlanPlaces> scan::planPlacesOf(RecurrenceOp op) {
  auto fused = dyn_cast<FusedLoc>(op.getLoc());
  auto metadata = fused ? dyn_cast_or_null<DictionaryAttr>(fused.getMetadata())
                        : DictionaryAttr();
  auto all =
      metadata ? metadata.getAs<DictionaryAttr>(kPlaces) : DictionaryAttr();
  if (!all)
    return std::nullopt;
  PlanPlaces places;
  for (NamedAttribute key : all) {
    auto named = dyn_cast<NameLoc>(key.getValue());
    auto at = named ? dyn_cast<FileLineColLoc>(named.getChildLoc())
                    : FileLineColLoc();
    if (!at)
      continue;
    places.file = at.getFilename().str();
    SourceLoc place{at.getLine(), at.getColumn(), named.getName().str()};
    (key.getName() == kWhole ? places.whole
                             : places.keys[key.getName().str()]) = place;
  }
  return places;
}
