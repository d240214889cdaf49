//===- RoundFloats.h - Roundings to 16 bits ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Of numbers and of vectors alike, to the nearest, ties to even, and once.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOCPU_ROUNDFLOATS_H
#define PRISM_LIB_CONVERSION_TILETOCPU_ROUNDFLOATS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace prism::tiletocpu {

/// The bits of f32 or f64 values as bf16, integers of 16 bits. By integer
/// arithmetic: the conversion is a library call otherwise. A NaN stays one, and
/// quiet.
mlir::Value roundToBFloat(mlir::ImplicitLocOpBuilder &b, mlir::Value value);

/// f32 or f64 values as f16.
mlir::Value roundToHalf(mlir::ImplicitLocOpBuilder &b, mlir::Value value);

} // namespace prism::tiletocpu

#endif // PRISM_LIB_CONVERSION_TILETOCPU_ROUNDFLOATS_H
