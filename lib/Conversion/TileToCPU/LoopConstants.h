//===- LoopConstants.h - What is the same at every step ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOCPU_LOOPCONSTANTS_H
#define PRISM_LIB_CONVERSION_TILETOCPU_LOOPCONSTANTS_H

#include "Prism/Dialect/Tile/IR/Tile.h"

namespace prism::tiletocpu {

/// Moves loads of one step of inputs without a time axis, and what is computed
/// from such alone, in front of the loop over time.
void hoistLoopConstants(tile::ProgramOp program);

} // namespace prism::tiletocpu

#endif // PRISM_LIB_CONVERSION_TILETOCPU_LOOPCONSTANTS_H
