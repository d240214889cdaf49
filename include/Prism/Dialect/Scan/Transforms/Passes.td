//===- Passes.td - Passes within the scan dialect -----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_SCAN_TRANSFORMS_PASSES_TD
#define PRISM_DIALECT_SCAN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ScanChooseChunkSize : Pass<"scan-choose-chunk-size", "::mlir::func::FuncOp"> {
  let summary = "Write a plan (schedule, chunk, value block) to every recurrence without one";
  let description = [{
    One function of the element type, the target and the sizes decides for now.
    A recurrence that has a plan keeps it. A chain with a factor that has no
    chunk form gets the recurrent schedule, and a remark says which factor.

    ```mlir
    // before
    %o, %final = scan.recurrence ins(...) outs("bthv") finals("nhkv") { ... }
    // after --scan-choose-chunk-size="target=cpu"
    %o, %final = scan.recurrence ins(...) outs("bthv") finals("nhkv")
        plan #scan.plan<schedule = chunk, chunk = 16, value_block = 0, stages = 1> { ... }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "cpu or cuda">,
    Option<"schedule", "schedule", "std::string", "\"chunk\"",
           "schedule to plan for: chunk, or recurrent">
  ];
}

#endif // PRISM_DIALECT_SCAN_TRANSFORMS_PASSES_TD
