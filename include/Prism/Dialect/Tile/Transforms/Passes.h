//===- Passes.h - Passes within the tile dialect ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_TILE_TRANSFORMS_PASSES_H
#define PRISM_DIALECT_TILE_TRANSFORMS_PASSES_H

#include "Prism/Dialect/Tile/IR/Tile.h"
#include "mlir/Pass/Pass.h"

namespace prism::tile {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Prism/Dialect/Tile/Transforms/Passes.h.inc"

} // namespace prism::tile

#endif // PRISM_DIALECT_TILE_TRANSFORMS_PASSES_H
