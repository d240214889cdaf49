//===- Tile.h - The tile dialect --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_TILE_IR_TILE_H
#define PRISM_DIALECT_TILE_IR_TILE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Prism/Dialect/Tile/IR/TileDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "Prism/Dialect/Tile/IR/TileAttributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "Prism/Dialect/Tile/IR/TileTypes.h.inc"

namespace prism::tile {

/// What happens at a place of a chain of factors within a token: a row reads, a
/// decay acts, a column is written (tile.decayed_dot).
struct ChainEvent {
  enum Kind { read, decay, write }; // in this order at one place
  int64_t place;
  Kind kind;
  int64_t index; // among those of its kind
};

/// What the work items of a program are that cuts sequences into segments.
enum class SegmentItems {
  None,  ///< sequences, uncut
  All,   ///< segments
  Inner, ///< segments, but the last one of each sequence
  Scan   ///< sequences, stepping from segment to segment
};

/// Role of an argument that lies in the workspace.
inline constexpr llvm::StringLiteral kIntermediate = "intermediate";

} // namespace prism::tile

#define GET_OP_CLASSES
#include "Prism/Dialect/Tile/IR/TileOps.h.inc"

#endif // PRISM_DIALECT_TILE_IR_TILE_H
