//===- ScanBase.td - Scan dialect, enums, attributes --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The dialect itself and the attributes its operations share. The conventions
// every op follows (orientation, order, numbered constraints) stand in
// docs/Dialects/Scan.md; verifier messages cite the numbers.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_SCAN_IR_SCANBASE_TD
#define PRISM_DIALECT_SCAN_IR_SCANBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Scan_Dialect : Dialect {
  let name = "scan";
  let cppNamespace = "::prism::scan";
  let summary = "Prefix-scannable sequence models: what is computed, free of how.";
  let description = [{
    A `scan.recurrence` states one step of a recurrence over time. The state `S`
    is `K x V` (key first). Inside its region a chain of *state factors*
    (`scan.decay`, `scan.erase`, `scan.inject`) maps the state of the previous
    step to the next one, and `scan.read` produces outputs; order is def-use
    order. Everything that does not depend on the state (gates, norms, the
    refinement loop) is ordinary arith/math on scalars and small tensors.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

def Scan_DecayAlong : I32EnumAttr<"DecayAlong", "what one log-gate of a decay covers", [
    I32EnumAttrCase<"scalar", 0>,   // one gate for the whole state
    I32EnumAttrCase<"key", 1>,      // a gate per key row
    I32EnumAttrCase<"value", 2>,    // a gate per value column
    I32EnumAttrCase<"element", 3>   // a gate per element
  ]> {
  let cppNamespace = "::prism::scan";
}

def Scan_Activation : I32EnumAttr<"Activation", "activation of a refinement loop or a short convolution", [
    I32EnumAttrCase<"identity", 0>,
    I32EnumAttrCase<"gelu", 1>,     // erf form: x/2 (1 + erf(x / sqrt 2))
    I32EnumAttrCase<"silu", 2>,
    I32EnumAttrCase<"tanh", 3>,
    I32EnumAttrCase<"relu", 4>
  ]> {
  let cppNamespace = "::prism::scan";
}

def Scan_Schedule : I32EnumAttr<"Schedule", "how time is cut", [
    I32EnumAttrCase<"recurrent", 0>,  // token by token, chunk 1
    I32EnumAttrCase<"chunk", 1>       // chunk by chunk, state carried
  ]> {
  let cppNamespace = "::prism::scan";
}

class Scan_Attr<string name, string attrMnemonic> : AttrDef<Scan_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Scan_PlanAttr : Scan_Attr<"Plan", "plan"> {
  let summary = "How a recurrence is cut: the choices of scan-choose-chunk-size";
  let description = [{
    `chunk` tokens a step (1 for the recurrent schedule; 0, for chunks: left to
    `scan-choose-chunk-size` or the compiler), `value_block` value
    columns a work item (0: all of them), `stages` of buffering, `segments` that
    every sequence is split into (1: not at all; 0, the default: as the decision
    table says), `prepare_blocks` thread blocks that only prepare for those of a
    head's values (-1, the default: as the decision table says). Written by
    `scan-choose-chunk-size` or given by hand.

    ```mlir
    #scan.plan<schedule = chunk, chunk = 64, value_block = 0, stages = 1>
    ```
  }];
  let parameters = (ins "::prism::scan::Schedule":$schedule, "int64_t":$chunk,
                        "int64_t":$value_block, "int64_t":$stages,
                        DefaultValuedParameter<"int64_t", "0">:$segments,
                        DefaultValuedParameter<"int64_t", "-1">:$prepare_blocks);
  let builders = [AttrBuilder<(ins "::prism::scan::Schedule":$schedule, "int64_t":$chunk,
                                   "int64_t":$value_block, "int64_t":$stages),
                              [{ return $_get($_ctxt, schedule, chunk, value_block, stages, 0, -1); }]>];
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

class Scan_Op<string opMnemonic, list<Trait> traits = []>
    : Op<Scan_Dialect, opMnemonic, traits>;

#endif // PRISM_DIALECT_SCAN_IR_SCANBASE_TD
