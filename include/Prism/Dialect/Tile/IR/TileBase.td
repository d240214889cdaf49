//===- TileBase.td - Tile dialect and types -----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_TILE_IR_TILEBASE_TD
#define PRISM_DIALECT_TILE_IR_TILEBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::prism::tile";
  let summary = "What one thread block does, on small statically shaped tensors.";
  let description = [{
    A `tile.program` is the work on one sequence, one value head and one block
    of value columns: loads of slices, dots, solves, a loop over chunks that
    carries the state as an SSA value, stores. Tiles are builtin tensors;
    elementwise work is arith and math on them. State 0 (this) is the algebra
    alone; state 1 puts layout encodings on the same tensor types.
    docs/decisions/20261129-tile-program.md says why.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

class Tile_Type<string name, string typeMnemonic> : TypeDef<Tile_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Tile_ViewType : Tile_Type<"View", "view"> {
  let summary = "One argument as one work item sees it";
  let description = [{
    The part of a global array that belongs to this work item's sequence and
    head: `!tile.view<?x128xbf16>` has one row per time step (`?`, only ever the
    first extent, only if the array has a time axis) and static feature axes;
    `!tile.view<128x64xf32>` (a state) has none. Where the array lies, its
    strides, packed offsets, head groups and reversed time are the lowering's
    business: a row index is a step index. An argument without axis `t` (a
    parameter) may be viewed with a `?` axis: every step sees the same row
    (stride 0); likewise one without `b` or `h`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool hasTime() const { return !getShape().empty() && getShape()[0] < 0; }
    int64_t getRank() const { return getShape().size(); }
  }];
}

def Tile_ChannelType : Tile_Type<"Channel", "channel"> {
  let summary = "A ring of buffers in shared memory between roles of one block";
  let description = [{
    `!tile.channel<2 x (tensor<64x128xbf16>, tensor<64xf32>)>` has two slots, each
    holding one message: a matrix and a vector that one role sends and others
    receive. The n-th iteration of the loop around a send or receive uses slot n
    modulo the number of slots. A slot is *full* from the send until every
    receiving role has released it; a send waits for an empty slot, a receive for
    a full one.
  }];
  let parameters = (ins "int64_t":$slots, ArrayRefParameter<"::mlir::Type">:$message);
  let assemblyFormat = "`<` $slots `x` `(` $message `)` `>`";
  let genVerifyDecl = 1;
}

def Tile_ArgumentAttr : AttrDef<Tile_Dialect, "Argument"> {
  let mnemonic = "arg";
  let summary = "Which global array a program argument views";
  let description = [{
    `name` of the array in spec and manifest; `axes`, its axis letters in memory
    order as in `scan.recurrence` (features in the order of the view); `heads`,
    the extent of its head axis (0: none); `optional`, if the pointer may be
    null; `role`: input, initial_state, output, final_state, initial_window or
    final_window (of a short convolution), or intermediate, an array of the
    workspace.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::StringAttr":$axes,
                        "int64_t":$heads, "::mlir::StringAttr":$role, "bool":$optional);
  let assemblyFormat = "`<` struct(params) `>`";
}

class Tile_Op<string opMnemonic, list<Trait> traits = []> : Op<Tile_Dialect, opMnemonic, traits>;

#endif // PRISM_DIALECT_TILE_IR_TILEBASE_TD
