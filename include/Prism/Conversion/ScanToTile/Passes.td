//===- Passes.td - Conversion from scan to tile -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_CONVERSION_SCANTOTILE_PASSES_TD
#define PRISM_CONVERSION_SCANTOTILE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertScanToTile : Pass<"convert-scan-to-tile", "::mlir::ModuleOp"> {
  let summary = "Turn every entry function's recurrence into a tile program";
  let description = [{
    Each `func.func` with `scan.entry` holds one planned `scan.recurrence`
    (`scan-choose-chunk-size` writes the plan). It becomes a `tile.program` of
    the same name: the factors' own contributions, collected in chain order, are
    assembled into the chunk form (one unit-triangular system for all erases of
    a token, interleaved; known writers couple through masked decay matrices).
    The recurrent schedule is the same program with chunk 1; a chain with a decay
    that has no chunk form is stepped factor by factor there.

    What has no lowering yet is an error at the factor, with what would take it.
  }];
  let dependentDialects = ["::prism::tile::TileDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // PRISM_CONVERSION_SCANTOTILE_PASSES_TD
