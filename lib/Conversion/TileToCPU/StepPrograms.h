//===- StepPrograms.h - Plain ops from tensors to loops ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOCPU_STEPPROGRAMS_H
#define PRISM_LIB_CONVERSION_TILETOCPU_STEPPROGRAMS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace prism::tiletocpu {

/// Rewrites the tensors of a kernel's function as memory: what the step makes
/// lies in the workspace, whose size is written to the function. What is left
/// are loops over scalars, for LLVM's own vectorizer.
llvm::LogicalResult lowerSteps(mlir::LLVM::LLVMFuncOp function);

/// Computes in f32 what 16-bit floats would, at scalars, and rounds to bf16 in
/// integers.
llvm::LogicalResult widenNarrowFloats(mlir::LLVM::LLVMFuncOp function);

/// Makes integers of a lowered function's bf16 values, or says which op does
/// more than move one.
llvm::LogicalResult moveBFloatsAsIntegers(mlir::LLVM::LLVMFuncOp function);

/// Says of a lowered function's loads and stores which buffer of the workspace
/// they touch: LLVM sees one pointer and would not move or widen them.
void separateBuffers(mlir::LLVM::LLVMFuncOp function);

} // namespace prism::tiletocpu

#endif // PRISM_LIB_CONVERSION_TILETOCPU_STEPPROGRAMS_H
