//===- ScanOps.td - Operations of the scan dialect ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_SCAN_IR_SCANOPS_TD
#define PRISM_DIALECT_SCAN_IR_SCANOPS_TD

include "Prism/Dialect/Scan/IR/ScanBase.td"
include "Prism/Dialect/Scan/IR/ScanInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Scan_Float : AnyTypeOf<[BF16, F16, F32, F64], "floating-point scalar">;
def Scan_State : 2DTensorOf<[F32, F64]>;
// Per-token values: no batch, time or head axis; all extents static.
def Scan_Vector : 1DTensorOf<[BF16, F16, F32, F64]>;
def Scan_VectorOrRanks : TensorRankOf<[BF16, F16, F32, F64], [1, 2]>;
def Scan_ScalarOrTensor : AnyTypeOf<[Scan_Float, TensorRankOf<[BF16, F16, F32, F64], [1, 2]>]>;
def Scan_ScalarOrRanks : AnyTypeOf<[Scan_Float, 1DTensorOf<[BF16, F16, F32, F64]>]>;
def Scan_AnyOperand : RankedTensorOf<[BF16, F16, F32, F64]>;

//===----------------------------------------------------------------------===//
// The recurrence
//===----------------------------------------------------------------------===//

def Scan_RecurrenceOp : Scan_Op<"recurrence", [
    SingleBlock, RecursiveMemoryEffects, AttrSizedOperandSegments, AttrSizedResultSegments,
    SingleBlockImplicitTerminator<"::prism::scan::YieldOp">]> {
  let summary = "One recurrence over time: a step region, its inputs, states and outputs";
  let description = [{
    The region computes one step. Its block arguments are the previous states
    (`tensor<KxV>`), then one value per input: the input's feature axes of this
    token, a scalar if it has none. `scan.yield` returns the next states, then
    the outputs of the step. It may hold state factors or any other ops.

    With `mini_batch n` every sequence is cut into mini-batches of n steps, the
    last of them maybe shorter. The step then also has the states as they were
    at the entry of the current mini-batch: one block argument for each state,
    after the states and before the inputs.

    Every operand and result names its axes by one letter each, in memory
    order: `b` batch, `t` time, `h` head, `n` sequence; any other letter is a
    feature axis, and one letter has one extent throughout. An input without `b`
    or `t` is the same for every batch row or step; without `h`, for every head.
    Outputs have Hv heads, inputs Hv or a divisor Hk of it; value head h uses
    head floor(h * Hk / Hv) of such an input.

    `reverse` flips time, steps, flips back, per sequence. With `offsets`
    (i64, N + 1, from 0 to T, non-decreasing; B must be 1) the rows are N packed
    sequences; sequence i is rows offsets[i] to offsets[i+1], and an empty one
    returns its own initial state. Without initial states the states start at 0.

    An operand that is a function argument marked `scan.optional` may be absent
    in a call: absent initial states are zeros, absent offsets mean that every
    batch row is one sequence.

    ```mlir
    %o, %final = scan.recurrence
        ins(%q as "bthk", %k as "bthk", %v as "bthv", %g as "bth", %beta as "bth"
            : tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>,
              tensor<?x?x4xf32>, tensor<?x?x4xf32>)
        init(%s0 as "nhkv" : tensor<?x4x64x64xf32>)
        outs("bthv") finals("nhkv") {
    ^bb0(%S: tensor<64x64xf32>, %qt: tensor<64xf32>, %kt: tensor<64xf32>,
         %vt: tensor<64xf32>, %gt: f32, %bt: f32):
      %1 = scan.decay %S by %gt along scalar : tensor<64x64xf32>, f32
      %2 = scan.erase %1 read %kt write %kt strength %bt
         : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>, f32
      %3 = scan.inject %2 key %kt value %vt scale %bt
         : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>, f32
      %y = scan.read %3 query %qt : tensor<64x64xf32>, tensor<64xf32> -> tensor<64xf32>
      scan.yield %3, %y : tensor<64x64xf32>, tensor<64xf32>
    } -> (tensor<?x?x4x64xf32>), (tensor<?x4x64x64xf32>)
    ```
  }];
  let arguments = (ins
    Variadic<Scan_AnyOperand>:$inputs,
    Variadic<Scan_AnyOperand>:$initial_states,
    Optional<1DTensorOf<[I64]>>:$offsets,
    StrArrayAttr:$input_axes,
    StrArrayAttr:$initial_axes,
    StrArrayAttr:$output_axes,
    StrArrayAttr:$final_axes,
    UnitAttr:$reverse,
    OptionalAttr<I64Attr>:$mini_batch,
    OptionalAttr<Scan_PlanAttr>:$plan);
  let results = (outs
    Variadic<Scan_AnyOperand>:$outputs,
    Variadic<Scan_AnyOperand>:$final_states);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Number of states; equals the number of final states.
    unsigned getNumStates() { return getFinalStates().size(); }
    ::mlir::Block *getStepBlock() { return &getBody().front(); }
    ::mlir::BlockArgument getStateArgument(unsigned i) { return getStepBlock()->getArgument(i); }
    /// Number of states at a mini-batch's entry: all, or none without
    /// mini-batches.
    unsigned getNumEntryStates() { return getMiniBatch() ? getNumStates() : 0; }
    ::mlir::BlockArgument getEntryStateArgument(unsigned i) {
      return getStepBlock()->getArgument(getNumStates() + i);
    }
    ::mlir::BlockArgument getInputArgument(unsigned i) {
      return getStepBlock()->getArgument(getNumStates() + getNumEntryStates() + i);
    }
    YieldOp getYield();
    /// Axis letters of input i, e.g. "bthk".
    ::llvm::StringRef getInputAxes(unsigned i) {
      return ::llvm::cast<::mlir::StringAttr>(getInputAxesAttr()[i]).getValue();
    }
    /// Heads of values, outputs and states (Hv).
    int64_t getNumValueHeads();
    /// Part of the verifier: constraints C7 and C8.
    ::mlir::LogicalResult verifyHeads();
  }];
}

def Scan_YieldOp : Scan_Op<"yield", [Pure, ReturnLike, Terminator,
                                     ParentOneOf<["RecurrenceOp", "PrefixOp"]>]> {
  let summary = "Ends a region: of a step the next states and its outputs; an element; a prefix's outputs";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{}]>];
}

include "Prism/Dialect/Scan/IR/ScanPrefix.td"

//===----------------------------------------------------------------------===//
// State factors
//===----------------------------------------------------------------------===//

class Scan_StateFactor<string mnemonic> : Scan_Op<mnemonic, [
    Pure, AllTypesMatch<["state", "result"]>, DeclareOpInterfaceMethods<Scan_StateOpInterface>]> {
  let results = (outs Scan_State:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Scan_DecayOp : Scan_StateFactor<"decay"> {
  let summary = "S <- exp(log_gate) * S, per scalar, key row, value column or element";
  let description = [{
    The gate is a natural logarithm: 0 keeps all, minus infinity drops all, both
    exactly; a positive gate (growth) is allowed. `along scalar` takes a scalar,
    `key` a `tensor<K>`, `value` a `tensor<V>`, `element` a `tensor<KxV>`.
    Source: GLA, Mamba-2, Gated DeltaNet; PRISM (arXiv 2602.10796) eq. 18, alpha.
  }];
  let arguments = (ins Scan_State:$state, Scan_ScalarOrTensor:$log_gate, Scan_DecayAlong:$along);
  let assemblyFormat = [{
    $state `by` $log_gate `along` $along attr-dict `:` type($state) `,` type($log_gate)
  }];
}

def Scan_EraseOp : Scan_StateFactor<"erase"> {
  let summary = "S <- S - sum_r strength_r write_r (read_r^T P), P = S unless `of` names another";
  let description = [{
    With `read` = `write` (the same SSA value) this is the delta rule's erase.
    `of %P` reads an earlier state of the same chain (DPLR, RWKV-7 read the state
    before the decay). A rank axis (`tensor<RxK>`, strength `tensor<R>`) is the
    *simultaneous* sum: no rank sees another's write; products of erases are
    chained ops. Source: Gated DeltaNet; PRISM eq. 17.
  }];
  let arguments = (ins Scan_State:$state, Optional<Scan_State>:$of, Scan_VectorOrRanks:$read,
                       Scan_VectorOrRanks:$write, Scan_ScalarOrRanks:$strength);
  let assemblyFormat = [{
    $state (`of` $of^)? `read` $read `write` $write `strength` $strength attr-dict
    `:` type($state) (`of` type($of)^)? `,` type($read) `,` type($write) `,` type($strength)
  }];
}

def Scan_InjectOp : Scan_StateFactor<"inject"> {
  let hasCanonicalizer = 1;
  let summary = "S <- S + sum_l scale_l key_l value_l^T";
  let description = [{
    Rank L along a leading axis (`key : tensor<LxK>`, `value : tensor<LxV>`,
    `scale : tensor<L>`), or rank 1 without it; without `scale` it is 1.
    Source: PRISM eq. 10.
  }];
  let arguments = (ins Scan_State:$state, Scan_VectorOrRanks:$key, Scan_VectorOrRanks:$value,
                       Optional<Scan_ScalarOrRanks>:$scale);
  let assemblyFormat = [{
    $state `key` $key `value` $value (`scale` $scale^)? attr-dict
    `:` type($state) `,` type($key) `,` type($value) (`,` type($scale)^)?
  }];
}

def Scan_ReadOp : Scan_Op<"read", [Pure]> {
  let summary = "y = scale * S^T query, of whichever state it names";
  let arguments = (ins Scan_State:$state, Scan_Vector:$query,
                       DefaultValuedAttr<F64Attr, "1.0">:$scale);
  let results = (outs Scan_Vector:$result);
  let assemblyFormat = [{
    $state `query` $query attr-dict `:` type($state) `,` type($query) `->` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// The loader slice: what does not depend on the state
//===----------------------------------------------------------------------===//

def Scan_RefineOp : Scan_Op<"refine", [Pure]> {
  let summary = "PRISM's input-anchored refinement loop, L steps";
  let description = [{
    r_1 = value - anchor; delta_l = activation(gain_l * r_l) elementwise;
    r_{l+1} = r_l - delta_l. Anchor and value are `tensor<V>`, gain and the
    result `tensor<LxV>`. Source: PRISM eqs. 14 to 16.
  }];
  let arguments = (ins Scan_Vector:$anchor, Scan_Vector:$value,
                       2DTensorOf<[BF16, F16, F32, F64]>:$gain,
                       DefaultValuedAttr<Scan_Activation, "Activation::gelu">:$activation);
  let results = (outs 2DTensorOf<[BF16, F16, F32, F64]>:$result);
  let assemblyFormat = [{
    `anchor` $anchor `value` $value `gain` $gain `activation` $activation attr-dict
    `:` type($anchor) `,` type($value) `,` type($gain) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Scan_L2NormOp : Scan_Op<"l2norm", [Pure, SameOperandsAndResultShape]> {
  let summary = "x / sqrt(sum x^2 + epsilon) along the last axis";
  let arguments = (ins Scan_VectorOrRanks:$input, DefaultValuedAttr<F64Attr, "1.0e-6">:$epsilon);
  let results = (outs Scan_VectorOrRanks:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Before the recurrence
//===----------------------------------------------------------------------===//

def Scan_ShortConvolutionOp : Scan_Op<"short_convolution", [Pure, AttrSizedOperandSegments]> {
  let summary = "Depthwise causal convolution of a few taps over time, with a carried window";
  let description = [{
    Of a whole array, for a recurrence to take in its place. Per head and channel

        y_t = activation(bias + sum_j weight_j x_(t - (W - 1) + j)),  j = 0 ... W - 1

    The input has the axes b, t, h in any order and one feature axis, the last. The
    weight is `H x D x W`, taps from the oldest to the newest, the bias `H x D`.
    What a sequence's first tokens see before it is the window, `N x H x D x (W - 1)`,
    oldest first, zeros where it is absent; the second result is the window after
    the sequence's last token, also where it has fewer than W - 1 of them. Sequences
    (`offsets`) do not see each other; `reverse` flips each, convolves and flips back.

    ```mlir
    %k1, %window = scan.short_convolution %k as "bthk" weight %w window %w0 offsets %offsets
        activation silu : (tensor<?x?x4x64xbf16>, tensor<4x64x4xbf16>, tensor<?x4x64x3xbf16>,
                           tensor<?xi64>) -> (tensor<?x?x4x64xf32>, tensor<?x4x64x3xbf16>)
    ```
  }];
  let arguments = (ins Scan_AnyOperand:$input, Scan_AnyOperand:$weight,
                       Optional<Scan_AnyOperand>:$bias,
                       Optional<Scan_AnyOperand>:$initial_window,
                       Optional<1DTensorOf<[I64]>>:$offsets,
                       StrAttr:$input_axes, Scan_Activation:$activation, UnitAttr:$reverse);
  let results = (outs Scan_AnyOperand:$result, Scan_AnyOperand:$final_window);
  let assemblyFormat = [{
    (`reverse` $reverse^)? $input `as` $input_axes `weight` $weight (`bias` $bias^)?
    (`window` $initial_window^)? (`offsets` $offsets^)? `activation` $activation attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getTaps() { return getWeight().getType().getShape().back(); }
    int64_t getHeads() { return getWeight().getType().getDimSize(0); }
    int64_t getChannels() { return getWeight().getType().getDimSize(1); }
    /// Axes of the weight, the bias and the windows: letters of their own beside
    /// that of the input's channels.
    std::string getWeightAxes();
    std::string getBiasAxes();
    std::string getWindowAxes();
  }];
}

#endif // PRISM_DIALECT_SCAN_IR_SCANOPS_TD
