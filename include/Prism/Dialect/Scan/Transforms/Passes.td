//===- Passes.td - Passes within the scan dialect -----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_SCAN_TRANSFORMS_PASSES_TD
#define PRISM_DIALECT_SCAN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ScanVerifyStateIndependence
    : Pass<"scan-verify-state-independence", "::mlir::ModuleOp"> {
  let summary = "Prove that recurrences are affine in their states, or say where they are not";
  let description = [{
    A recurrence has parallel forms if its step is `S' = A S + B` and A and B do
    not depend on the state. The pass follows the states through the step:
    factors, plain ops, nested regions, control flow, calls. What it proves is
    attached as `scan.state_independent`, `"token"` or `"mini_batch"`, the
    smallest granularity that holds. `"mini_batch"` means that the step reads the
    states at the mini-batch's entry as well, and is affine in both.

    What is not proved at the granularity asked for is an error at the op to
    blame, with the path from the state to it as notes. Values are those of the
    reals: what is added and subtracted again cancels, casts change nothing.
    Ops that may read memory, and ops that are not known, count as functions of
    the state.

    ```mlir
    // before
    %o, %final = scan.recurrence ins(...) outs("bthv") finals("nhkv") { ... }
    // after --scan-verify-state-independence
    %o, %final = scan.recurrence ins(...) outs("bthv") finals("nhkv") { ... }
        attributes {scan.state_independent = "token"}
    ```
  }];
  let options = [
    Option<"granularity", "granularity", "std::string", "\"token\"",
           "what to prove it for: token, or mini_batch">,
    Option<"serial", "serial", "bool", "false",
           "what is not proved is to be taken step by step: a warning with the path, no error">
  ];
}

def ScanClassify : Pass<"scan-classify", "::mlir::ModuleOp"> {
  let summary = "Attach to every recurrence what it is as a scan";
  let description = [{
    The kind is `diagonal` (every state is multiplied elementwise), `affine`, or
    `serial` (not affine in its states, or not proved to be). For each state of
    an affine recurrence the transition tells what is kept of it (`scalar decay`,
    `decay per key`, ...), the rank of what is erased, whether the mixing is
    `dense`, and whether it is `coupled` to another state or to the one at the
    mini-batch's entry. Affine maps compose in any order: they are associative
    by proof. Work and depth count steps, memory counts states, n is the length.

    A serial recurrence has a remark that says which op makes it so.

    ```mlir
    // before
    %o, %final = scan.recurrence ins(...) outs("bthv") finals("nhkv") { ... }
    // after --scan-classify
    %o, %final = scan.recurrence ins(...) outs("bthv") finals("nhkv") { ... }
        attributes {scan.class = {associative = "by proof", depth = "log n", granularity = "token", kind = "affine",
                                  memory = "1", transition = ["scalar decay, rank 1"], work = "n"}}
    ```
  }];
}

def ScanRaiseAffine : Pass<"scan-raise-affine", "::mlir::ModuleOp"> {
  let summary = "Turn plain ops of a step into state factors";
  let description = [{
    Works on what the ops compute, not on how they are written: the next state is
    taken as a sum of terms of the state before. Terms that multiply it
    elementwise become `scan.decay`, those that read it through a sum over its
    keys `scan.erase`, those without it `scan.inject`; vectors that are read
    through such a sum become `scan.read`. So factored and expanded spellings,
    named linalg ops, generic ones and tensor arithmetic all end in one chain.

    A decay takes a logarithm. Of a factor that is no exponential it is computed,
    if the factor cannot be negative, or with `assume-nonnegative-gates`.

    What is not recognised stays as it is and has a remark: at which op the chain
    stops, and what it would have needed. States are matrices, keys first.

    ```mlir
    // before
    %a = math.exp %g : f32
    %as = tensor.splat %a : tensor<4x2xf32>
    %kept = arith.mulf %S, %as : tensor<4x2xf32>
    %written = linalg.generic {...} ins(%k, %v) outs(%kept) { // k v^T + kept }
    %y = linalg.vecmat ins(%q, %written : ...) outs(%zeros : ...) -> tensor<2xf32>
    // after --scan-raise-affine
    %1 = scan.decay %S by %g along scalar : tensor<4x2xf32>, f32
    %2 = scan.inject %1 key %k value %v : tensor<4x2xf32>, tensor<4xf32>, tensor<2xf32>
    %y = scan.read %2 query %q : tensor<4x2xf32>, tensor<4xf32> -> tensor<2xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"assumeNonnegativeGates", "assume-nonnegative-gates", "bool", "false",
           "take every factor that multiplies a state for one that is not negative">
  ];
}

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
