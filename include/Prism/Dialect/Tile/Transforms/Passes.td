//===- Passes.td - Passes within the tile dialect -----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_TILE_TRANSFORMS_PASSES_TD
#define PRISM_DIALECT_TILE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileInvertSystems : Pass<"tile-invert-systems", "::prism::tile::ProgramOp"> {
  let summary = "Invert systems that do not depend on the state";
  let description = [{
    `tile.solve %A, %rhs` becomes `tile.dot` with `tile.invert %A` where %A does not
    depend on a loop-carried value and %rhs does, or where several solves share %A.
    The inverse is then computed beside the chain of states, and what stays on the
    chain is a product. A system that depends on the state stays a solve, with a
    missed remark.

    ```mlir
    // before
    %x = tile.solve %system, %rhs : tensor<64x64xf32>, tensor<64x128xf32>
    // after --tile-invert-systems
    %inverse = tile.invert %system : tensor<64x64xf32>
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    %x = tile.dot %inverse, %rhs, %zero : tensor<64x64xf32>, tensor<64x128xf32> -> tensor<64x128xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TileMoveScales : Pass<"tile-move-scales", "::prism::tile::ProgramOp"> {
  let summary = "Leave loaded operands of dots as they were loaded";
  let description = [{
    A scale along the contracted axis belongs to either operand. Where it stands on
    a loaded tile (a load, or an interleave of loads) it moves to the other one:
    what lies in shared memory is then what was loaded, and the scale is applied to
    a tile that passes through registers anyway. Where both are loaded it moves from
    the left operand to the right one, which holds the values. A scale on a computed
    tile stays, with a missed remark.

    ```mlir
    // before
    %kept = tile.scale_rows %k by %decay : tensor<64x128xf32>, tensor<64xf32>
    %next = tile.dot %kept transposed, %writes, %state : tensor<64x128xf32>, tensor<64x64xf32> -> tensor<128x64xf32>
    // after --tile-move-scales
    %kept = tile.scale_rows %writes by %decay : tensor<64x64xf32>, tensor<64xf32>
    %next = tile.dot %k transposed, %kept, %state : tensor<64x128xf32>, tensor<64x64xf32> -> tensor<128x64xf32>
    ```
  }];
}

def TileRoundDotOperands : Pass<"tile-round-dot-operands", "::prism::tile::ProgramOp"> {
  let summary = "Round operands of dots to 16 bits; sums stay in f32";
  let description = [{
    Loads of views of the type become tiles of it, widened by `arith.extf` where
    they are used in f32; an interleave of such tiles is one itself. In front of
    every dot into f32 the operands are rounded by `arith.truncf`, unless they are
    of the type as they lie. Left alone, with a missed remark, are dots of two
    tiles loaded in another type, which no register passes on their way to the
    tensor cores, and dots that sum in f64.

    ```mlir
    // before
    %k = tile.load %keys[%t, %c0] : <?x128xbf16> -> tensor<64x128xf32>
    %x = tile.dot %k, %state, %zero : tensor<64x128xf32>, tensor<128x64xf32> -> tensor<64x64xf32>
    // after --tile-round-dot-operands="type=bf16"
    %k = tile.load %keys[%t, %c0] : <?x128xbf16> -> tensor<64x128xbf16>
    %state16 = arith.truncf %state : tensor<128x64xf32> to tensor<128x64xbf16>
    %x = tile.dot %k, %state16, %zero : tensor<64x128xbf16>, tensor<128x64xbf16> -> tensor<64x64xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [Option<"type", "type", "std::string", "\"bf16\"", "bf16 or f16">];
}

#endif // PRISM_DIALECT_TILE_TRANSFORMS_PASSES_TD
