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
  let summary = "Attach to every recurrence and prefix scan what it is as a scan";
  let description = [{
    The kind of a recurrence is `diagonal` (every state is multiplied elementwise),
    `affine`, or `serial` (not affine in its states, or not proved to be). For each
    state of an affine recurrence the transition tells what is kept of it (`scalar
    decay`, `decay per key`, ...), the rank of what is erased, whether the mixing is
    `dense`, and whether it is `coupled` to another state or to the one at the
    mini-batch's entry. Affine maps compose in any order: they are associative
    by proof.

    The kind of a prefix scan is `associative` or `non-associative`. `agg` is
    associative `by proof` if both orders of joining three elements are the same
    polynomials, sums, exponentials, maxima and minima of their components: so
    elementwise sums, products, maxima, matrix products, compositions of affine
    maps, decays in log space, a stabilised softmax. It is so `by declaration`
    where it says `associative` and there is no proof, which a remark says, and `no`
    where it does not: then its tree is part of the model.

    `spd` is the class SPD-(work, memory) of the scan: what a parallel forward
    computes in all, in `depth` steps, and how many elements a decode keeps. Work
    and depth count steps or chunks, memory counts states or elements, n is the
    length. A serial recurrence has none.

    A serial recurrence has a remark that says which op makes it so.

    ```mlir
    // before
    %o, %final = scan.recurrence ins(...) outs("bthv") finals("nhkv") { ... }
    // after --scan-classify
    %o, %final = scan.recurrence ins(...) outs("bthv") finals("nhkv") { ... }
        attributes {scan.class = {associative = "by proof", depth = "log n", granularity = "token", kind = "affine",
                                  memory = "1", spd = "SPD-(n, 1)", transition = ["scalar decay, rank 1"], work = "n"}}
    ```
  }];
}

def ScanRecurrenceToPrefix : Pass<"scan-recurrence-to-prefix", "::mlir::ModuleOp"> {
  let summary = "Write affine recurrences as prefix scans over their carried maps";
  let description = [{
    The element of a token is the map `S -> M S + N` that its factors are. `agg`
    composes two maps, the older one first: `(M_new M_old, M_new N_old + N_new)`.
    The prefix of what stands before a token is the map whose N is the state that
    the token's step begins with, and `inf` is that step, without its next state.
    Initial states are the N of an identity that is evaluated. N of the final
    element is the final state.

    M is carried as what it is: not at all, where nothing is decayed or erased; as
    the sum of log-gates (a scalar, `K`, `V` or `K x V` of them), where nothing is
    erased; else as a `K x K` matrix. The result is marked `associative`.

    Each state must be a chain of factors whose other operands do not depend on a
    state (see scan-raise-affine), at token granularity. An erase together with a
    decay per value or element has no one matrix for all columns; states with
    values first are not taken. What is
    declined stays as it is and has a remark that says why. A plan is dropped.

    ```mlir
    // before
    %o, %final = scan.recurrence ins(...) outs("bthv") finals("nhkv") {
      ...
      %1 = scan.decay %S by %g along scalar
      %2 = scan.inject %1 key %k value %v
      %y = scan.read %2 query %q
      scan.yield %2, %y
    }
    // after --scan-recurrence-to-prefix
    %o, %gates, %final = scan.prefix associative ins(...) identity(%zero as "", %none as "kv" : ...)
        outs("bthv") finals("nh", "nhkv")
    enc { ... // (g, k v^T)
    } agg { ... // (g_old + g_new, exp(g_new) N_old + N_new)
    } inf { ... // the step from N
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
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

    Sums over a further axis become ranks. Other states of the step may be added,
    and read by erases; with mini-batches so may the states at the entry. States
    are matrices, keys first; one that is written values first is raised between
    two `linalg.transpose` if more is recognised so.

    What is not recognised stays as it is and has a remark: at which op the chain
    stops, and what it would have needed.

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
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"assumeNonnegativeGates", "assume-nonnegative-gates", "bool", "false",
           "take every factor that multiplies a state for one that is not negative">
  ];
}

def ScanInlineCalls : Pass<"scan-inline-calls", "::mlir::ModuleOp"> {
  let summary = "Put the bodies of functions in the place of calls in steps";
  let description = [{
    A step may call functions of its module, and these others. Lowerings want one
    step: this pass inlines every call below a `scan.recurrence`, by upstream's
    inliner and its interfaces. Calls elsewhere stay, and so do the functions
    (`symbol-dce` removes those that are private and not called any more). An op
    that was inlined keeps its own location and the call's.

    Refused, at the call: a function without a body, one that calls itself, directly
    or not, one of several blocks, one that holds a scan, calls nested more than 32
    deep, more than 10,000 bodies to inline in a step.

    Analyses look into calls that are nested no deeper, so a verdict is the same
    before and after. Deeper ones they take for unknown ops.

    ```mlir
    // before, in a step
    %a = func.call @gate(%x) : (f32) -> f32
    // after --scan-inline-calls
    %0 = math.exp %x : f32   // loc(callsite("gate's line" at "the call's"))
    ```
  }];
}

def ScanChooseChunkSize : Pass<"scan-choose-chunk-size", "::mlir::func::FuncOp"> {
  let summary = "Write a plan (schedule, chunk, value block) to every recurrence without one";
  let description = [{
    On CPUs the chunk is that with the least predicted time: how often the
    kernel's loops do each kind of work follows from the chain of factors and
    the sizes, what one costs is taken from a table of one machine per level, or
    from a file that `prism-calibrate` wrote. A remark has the predicted times.
    With several levels the chunk is that which loses least on any of them.
    On GPUs it is the chunk that was measured best.

    A recurrence that has a plan keeps it; chunk 0 in it is filled in. A chain with a factor that has no
    chunk form gets the recurrent schedule, and a remark says which factor. The
    size of mini-batches belongs to the model: it is the chunk, and a serial
    recurrence is taken step by step, whatever the times would be. The chunk
    of a `scan.prefix` is part of the model too and stays; a remark says so.

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
           "schedule to plan for: chunk, or recurrent">,
    ListOption<"levels", "levels", "std::string",
               "CPU levels to plan for: x86-64-v3, x86-64-v4 (default: both)">,
    Option<"calibration", "calibration", "std::string", "\"\"",
           "file with the costs of a CPU, written by prism-calibrate">
  ];
}

#endif // PRISM_DIALECT_SCAN_TRANSFORMS_PASSES_TD
