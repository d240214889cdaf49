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

#endif // PRISM_DIALECT_TILE_TRANSFORMS_PASSES_TD
