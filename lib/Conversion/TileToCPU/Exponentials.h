//===- Exponentials.h - exp and expm1 that share their parts ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOCPU_EXPONENTIALS_H
#define PRISM_LIB_CONVERSION_TILETOCPU_EXPONENTIALS_H

#include "mlir/IR/BuiltinOps.h"

namespace prism::tiletocpu {

/// In functions that have `math.expm1` on f32, writes it and `math.exp` as
/// polynomials of the same parts; other functions stay as they are.
void lowerExponentials(mlir::ModuleOp module);

} // namespace prism::tiletocpu

#endif // PRISM_LIB_CONVERSION_TILETOCPU_EXPONENTIALS_H
