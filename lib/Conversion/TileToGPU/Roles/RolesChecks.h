//===- RolesChecks.h - What of roles there is code for ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each check fails with `reason` set; none emits anything.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOGPU_ROLES_ROLESCHECKS_H
#define PRISM_LIB_CONVERSION_TILETOGPU_ROLES_ROLESCHECKS_H

#include "Prism/Dialect/Tile/IR/Tile.h"
#include <string>

namespace prism::tiletogpu {

/// Whether there is code for a role's loop and warps.
llvm::LogicalResult checkRole(tile::RoleOp role, mlir::Type operands,
                              std::string &reason);

/// For an op that is computed by slabs of keys (KeyDecayChecks.cpp).
llvm::LogicalResult checkKeyDecays(mlir::Operation *op, bool isChain,
                                   mlir::Type operands, std::string &reason);

/// Whether slabs of a tile, 16 keys of 64 rows, can be computed, and of a tile
/// of this size (KeyDecayChecks.cpp).
bool hasSlabs(mlir::Value tile);
llvm::LogicalResult checkSlabs(mlir::RankedTensorType tile,
                               std::string &reason);

/// For a sum along rows, or a mask of rows (RowSumChecks.cpp).
llvm::LogicalResult checkRows(mlir::Operation *op, bool isChain,
                              mlir::Type operands, std::string &reason);

/// For what the role `load` sends: a load, or an interleave of loads
/// (LoadChecks.cpp).
llvm::LogicalResult checkLoaded(mlir::Operation *op, mlir::Type operands,
                                std::string &reason);

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_ROLES_ROLESCHECKS_H
