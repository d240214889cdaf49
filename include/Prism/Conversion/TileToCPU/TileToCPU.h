//===- TileToCPU.h - From tile programs to CPU code -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Lowers tile programs to LLVM functions with the C interface of
// docs/Bundle.md.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_CONVERSION_TILETOCPU_TILETOCPU_H
#define PRISM_CONVERSION_TILETOCPU_TILETOCPU_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace prism {

#define GEN_PASS_DECL
#include "Prism/Conversion/TileToCPU/Passes.h.inc"

/// Discardable attribute of a lowered function: bytes of workspace per thread.
constexpr llvm::StringLiteral kWorkspaceAttr = "prism.workspace";

/// Attribute of a function, also of the LLVM one, whose loops are over scalars:
/// LLVM's vectorizer is to run on it.
constexpr llvm::StringLiteral kLoopsAttr = "prism-loops";

/// What shapes the code: the vector registers. Which instructions are then
/// chosen is the target machine's business (Prism/Target/CPU).
struct CPUOptions {
  int64_t vectorBits = 512;
  int64_t numRegisters = 32;
  /// Stop before the conversion to the LLVM dialect.
  bool stopBeforeLLVM = false;

  /// Options for "x86-64-v3" or "x86-64-v4"; failure on any other name.
  static llvm::FailureOr<CPUOptions> forIsa(llvm::StringRef isa);

  int64_t lanes(unsigned bits) const { return vectorBits / int64_t(bits); }
};

/// What a caller of the compiled function must know.
struct CPUKernelInfo {
  std::string symbol;
  int64_t workspaceBytes = 0;
};

/// Replaces every tile.program of the module by a function of the LLVM dialect.
llvm::LogicalResult convertTileToCPU(mlir::ModuleOp module,
                                     const CPUOptions &options);

/// The kernels of a converted module, in order.
llvm::SmallVector<CPUKernelInfo> getCPUKernels(mlir::ModuleOp module);

#define GEN_PASS_REGISTRATION
#include "Prism/Conversion/TileToCPU/Passes.h.inc"

} // namespace prism

#endif // PRISM_CONVERSION_TILETOCPU_TILETOCPU_H
