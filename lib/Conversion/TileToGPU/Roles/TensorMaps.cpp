//===- TensorMaps.cpp - Which loads the copy engine may do ----------------===//
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
         slice.extents[0] % 8 == 0 && hasWholeSlabs(slice);
}

TensorMaps::TensorMaps(ProgramOp program) {
  for (auto role : program.getBody().getOps<RoleOp>()) {
    if (role.getName() != "load")
      continue;
    for (auto send : loopOf(role).getOps<SendOp>())
      for (Value part : send.getValues()) {
        std::optional<Slice> slice = Slice::ofLoaded(part);
        if (slice && canBeMapped(*slice, program) && !numberOf(*slice, program))
          maps.push_back(
              {slice->view.getArgNumber(), slice->steps(), slice->ranks});
      }
  }
}

std::optional<int64_t> TensorMaps::numberOf(const Slice &slice,
                                            ProgramOp program) const {
  if (!canBeMapped(slice, program))
    return std::nullopt;
  for (auto [i, map] : llvm::enumerate(maps))
    if (map.argument == slice.view.getArgNumber() &&
        map.rows == slice.steps() && map.ranks == slice.ranks)
      return int64_t(i);
  return std::nullopt;
}
