//===- TensorMaps.cpp - What the copy engine may move ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TensorMaps.h"
#include "../TileOpKinds.h"
#include "Layouts.h"
#include "RolesPlan.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// Limits of the engine: dimensions of an array, rows of a box.
static constexpr int64_t kMostAxes = 5, kMostRows = 256;

/// What a slab has beyond the tile's columns must be outside the array too,
/// where the engine writes zeros.
static bool hasWholeSlabs(const Slice &slice) {
  int64_t columns = slice.extents.back();
  return columns % kSlabColumns == 0 ||
         (matchPattern(slice.offsets.back(), m_Zero()) &&
          columns == cast<ViewType>(slice.view.getType()).getShape().back());
}

/// Steps of a box, or rows of a step, lie together: the rank axis is the one
/// before the last.
static bool canBeMapped(const Slice &slice, ProgramOp program) {
  auto view = cast<ViewType>(slice.view.getType());
  bool isRows = slice.extents.size() == 2 && slice.axisOfTile.front() == 0 &&
                view.hasTime() &&
                (slice.ranks == 1 || slice.rankAxis + 2 == view.getRank());
  if (program.getReverse() || !isRows ||
      !isa<BFloat16Type, Float16Type>(view.getElementType()))
    return false;
  StringRef axes =
      program.getArgument_(slice.view.getArgNumber()).getAxes().getValue();
  return int64_t(axes.size()) <= kMostAxes && isFeatureAxis(axes.back()) &&
         axes.contains('t') && slice.extents[0] <= kMostRows &&
         slice.extents[0] % 8 == 0;
}

static std::optional<TensorMap> mapOf(const Slice &slice, int64_t columns) {
  return TensorMap{slice.view.getArgNumber(), slice.steps(), columns,
                   slice.ranks};
}

static std::optional<TensorMap> mapOfLoaded(const Slice &slice,
                                            ProgramOp program) {
  if (!canBeMapped(slice, program) || !hasWholeSlabs(slice))
    return std::nullopt;
  return mapOf(slice, kSlabColumns);
}

/// Of a staged tile. Columns behind those of the array are not stored.
static std::optional<TensorMap> mapOfStored(StoreOp store) {
  Slice slice = Slice::of(store);
  if (!canBeMapped(slice, store->getParentOfType<ProgramOp>()))
    return std::nullopt;
  return mapOf(slice, Staged::kColumns);
}

bool prism::tiletogpu::isStaged(StoreOp store, Type operands) {
  Slice slice = Slice::of(store);
  auto view = cast<ViewType>(slice.view.getType());
  bool hasTime = view.hasTime() && slice.axisOfTile.front() == 0;
  StringRef axes = store->getParentOfType<ProgramOp>()
                       .getArgument_(slice.view.getArgNumber())
                       .getAxes()
                       .getValue();
  // Columns that are neighbours in memory.
  return hasTime && isFeatureAxis(axes.back()) &&
         view.getElementType() == operands &&
         slice.extents.back() % kRowsOfGroup == 0 &&
         view.getShape().back() % 8 == 0;
}

TensorMaps::TensorMaps(ProgramOp program, Type operands) {
  for (auto role : program.getBody().getOps<RoleOp>())
    if (role.getName() == "load") {
      for (auto send : loopOf(role).getOps<SendOp>())
        for (Value part : send.getValues())
          if (std::optional<Slice> slice = Slice::ofLoaded(part))
            add(mapOfLoaded(*slice, program));
    } else if (role.getName() == "chain") {
      for (auto store : loopOf(role).getOps<StoreOp>())
        if (isStaged(store, operands))
          add(mapOfStored(store));
    }
}

void TensorMaps::add(std::optional<TensorMap> map) {
  if (map && !find(map))
    maps.push_back(*map);
}

std::optional<int64_t> TensorMaps::find(std::optional<TensorMap> map) const {
  const TensorMap *found = map ? llvm::find(maps, *map) : maps.end();
  if (found == maps.end())
    return std::nullopt;
  return found - maps.begin();
}

std::optional<int64_t> TensorMaps::numberOf(const Slice &slice,
                                            ProgramOp program) const {
  return find(mapOfLoaded(slice, program));
}

std::optional<int64_t> TensorMaps::numberOf(StoreOp store) const {
  return find(mapOfStored(store));
}
