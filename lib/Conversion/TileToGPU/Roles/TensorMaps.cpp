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
static bool hasWholeSlabs(LoadOp load) {
  int64_t columns = tensorType(load.getResult()).getDimSize(1);
  return columns % kSlabColumns == 0 ||
         (matchPattern(load.getIndices().back(), m_Zero()) &&
          columns == load.getView().getType().getShape().back());
}

static bool canBeMapped(LoadOp load, ProgramOp program) {
  auto tile = tensorType(load.getResult());
  ViewType view = load.getView().getType();
  if (program.getReverse() || tile.getRank() != 2 || !view.hasTime() ||
      load.getOneStep() ||
      !isa<BFloat16Type, Float16Type>(view.getElementType()))
    return false;
  unsigned argument = cast<BlockArgument>(load.getView()).getArgNumber();
  StringRef axes = program.getArgument_(argument).getAxes().getValue();
  return int64_t(axes.size()) <= kMostAxes && isFeatureAxis(axes.back()) &&
         axes.contains('t') && tile.getDimSize(0) <= kMostRows &&
         tile.getDimSize(0) % 8 == 0 && hasWholeSlabs(load);
}

TensorMaps::TensorMaps(ProgramOp program) {
  for (auto role : program.getBody().getOps<RoleOp>()) {
    if (role.getName() != "load")
      continue;
    for (auto load : loopOf(role).getOps<LoadOp>())
      if (canBeMapped(load, program) && !numberOf(load))
        maps.push_back({cast<BlockArgument>(load.getView()).getArgNumber(),
                        tensorType(load.getResult()).getDimSize(0)});
  }
}

std::optional<int64_t> TensorMaps::numberOf(LoadOp load) const {
  auto program = load->getParentOfType<ProgramOp>();
  if (!canBeMapped(load, program))
    return std::nullopt;
  for (auto [i, map] : llvm::enumerate(maps))
    if (map.argument == cast<BlockArgument>(load.getView()).getArgNumber() &&
        map.rows == tensorType(load.getResult()).getDimSize(0))
      return int64_t(i);
  return std::nullopt;
}
