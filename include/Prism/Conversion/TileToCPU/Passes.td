//===- Passes.td - Conversion from tile to the CPU ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_CONVERSION_TILETOCPU_PASSES_TD
#define PRISM_CONVERSION_TILETOCPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertTileToCPU : Pass<"convert-tile-to-cpu", "::mlir::ModuleOp"> {
  let summary = "Lower every tile program to an LLVM function over a range of work items";
  let description = [{
    Each `tile.program` becomes an `llvm.func` with the C interface of the CPU
    kernels (docs/Bundle.md), in register-blocked vector code: tiles that must
    exist lie in the caller's workspace at fixed offsets, elementwise chains are
    evaluated inside the register tile that uses them, dots chain through their
    accumulators. docs/CPU.md describes it.

    The attribute `prism.workspace` of the function holds the bytes of workspace
    that one thread needs. Whatever has no lowering is an error at the op.
  }];
  let options = [
    Option<"isa", "isa", "std::string", "\"x86-64-v4\"",
           "Instruction set the code is shaped for: x86-64-v3 or x86-64-v4">,
    Option<"vectorBits", "vector-bits", "unsigned", "0",
           "Width of a vector register in bits: 256 or 512 (0: by the instruction set)">,
    Option<"stopBefore", "stop-before-llvm", "bool", "false",
           "Stop at scf, arith, math, vector and LLVM memory ops (for tests and for reading)">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::cf::ControlFlowDialect", "::mlir::func::FuncDialect",
                           "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect",
                           // of programs of plain ops
                           "::mlir::affine::AffineDialect", "::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // PRISM_CONVERSION_TILETOCPU_PASSES_TD
