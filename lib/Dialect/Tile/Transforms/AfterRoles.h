//===- AfterRoles.h - Passes that come before roles -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_DIALECT_TILE_TRANSFORMS_AFTERROLES_H
#define PRISM_LIB_DIALECT_TILE_TRANSFORMS_AFTERROLES_H

#include "Prism/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace prism::tile {

/// Whether a program has been split into roles, in which nothing may be
/// computed anew of what was received: a message is released when the last op
/// that read it has, and one more, elsewhere, would read it later. A remark
/// says so; `what` has a verb, as in "operands are rounded".
inline bool comesAfterRoles(ProgramOp program, llvm::StringRef name,
                            llvm::StringRef what) {
  if (program.getBody().getOps<RoleOp>().empty())
    return false;
  std::string text =
      ("the program has been split into roles: " + llvm::Twine(what) +
       " before")
          .str();
  mlir::remark::missed(program.getLoc(),
                       mlir::remark::RemarkOpts::name(name).category("tile"))
      << text;
  return true;
}

} // namespace prism::tile

#endif // PRISM_LIB_DIALECT_TILE_TRANSFORMS_AFTERROLES_H
