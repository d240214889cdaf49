//===- VectorMath.h - Math functions without a library ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_SUPPORT_VECTORMATH_H
#define PRISM_SUPPORT_VECTORMATH_H

#include "mlir/IR/BuiltinOps.h"

namespace prism {

/// A math op that every target has instructions for, or that MathToLLVM writes
/// with them.
bool isNativeMath(mlir::Operation *op);

/// Writes the other math ops as polynomials, those on f32 scalars and vectors
/// of it. What has no such form stays; a diagnostic only if this does not end.
llvm::LogicalResult approximateMath(mlir::ModuleOp module);

} // namespace prism

#endif // PRISM_SUPPORT_VECTORMATH_H
