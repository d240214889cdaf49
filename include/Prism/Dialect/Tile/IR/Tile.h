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
#define GET_OP_CLASSES
#include "Prism/Dialect/Tile/IR/TileOps.h.inc"

#endif // PRISM_DIALECT_TILE_IR_TILE_H
