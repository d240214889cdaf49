//===- StepPrograms.h - Programs of plain ops -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_TILE_IR_STEPPROGRAMS_H
#define PRISM_DIALECT_TILE_IR_STEPPROGRAMS_H

#include "Prism/Dialect/Tile/IR/Tile.h"

namespace prism::tile {

/// On a program that steps token by token through plain ops (linalg, scf, arith
/// on whole tensors) between its loads and stores, in place of tile ops.
inline constexpr llvm::StringLiteral kStepsAttr = "tile.steps";

inline bool hasPlainSteps(ProgramOp program) {
  return program->hasAttr(kStepsAttr);
}

} // namespace prism::tile

#endif // PRISM_DIALECT_TILE_IR_STEPPROGRAMS_H
