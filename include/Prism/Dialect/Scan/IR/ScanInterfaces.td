//===- ScanInterfaces.td - Interfaces of the scan dialect ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_SCAN_IR_SCANINTERFACES_TD
#define PRISM_DIALECT_SCAN_IR_SCANINTERFACES_TD

include "mlir/IR/OpBase.td"

def Scan_StateOpInterface : OpInterface<"StateOpInterface"> {
  let cppNamespace = "::prism::scan";
  let description = [{
    A state factor: an op that maps a state to a state, affine in it, with
    coefficients that are free of it. Analyses and lowerings see a recurrence
    as a chain of these and know nothing else about a model; a new factor
    implements this interface and no family is named anywhere.
  }];
  let methods = [
    InterfaceMethod<"The state this factor maps.",
      "::mlir::OpOperand &", "getStateOperand">,
    InterfaceMethod<"The state it yields.",
      "::mlir::Value", "getStateResult">,
    InterfaceMethod<"True if the map is linear (adds nothing of its own).",
      "bool", "isLinear">,
    InterfaceMethod<[{
        True if the factor has a contribution to the chunk form; else `reason`
        says in a few words what is missing.}],
      "bool", "hasChunkForm", (ins "std::string &":$reason)>,
    InterfaceMethod<[{
        Adds this factor's contribution to the chunk form at its place in the
        chain. The builder keeps the log-gate sums, writers and readers; see
        ChunkAssembler in Prism/Dialect/Scan/IR/StateFactor.h.}],
      "void", "contributeToChunk", (ins "::prism::scan::ChunkAssembler &":$assembler)>,
    InterfaceMethod<[{
        Applies one step of this factor to a state of f64 values, row major
        K x V; `operands` yields the f64 values of its other operands.}],
      "void", "applyStep", (ins "::prism::scan::StepState &":$step)>
  ];
}

#endif // PRISM_DIALECT_SCAN_IR_SCANINTERFACES_TD
