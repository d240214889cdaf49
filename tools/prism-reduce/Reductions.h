//===- Reductions.h - What may be left out of a recurrence ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_TOOLS_PRISM_REDUCE_REDUCTIONS_H
#define PRISM_TOOLS_PRISM_REDUCE_REDUCTIONS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace prism {

/// Teaches the reduction tree what erasing unused ops cannot: to leave single
/// factors out of a chain, and then the inputs that nobody uses any more.
void registerReductions(mlir::DialectRegistry &registry);

} // namespace prism

#endif // PRISM_TOOLS_PRISM_REDUCE_REDUCTIONS_H
