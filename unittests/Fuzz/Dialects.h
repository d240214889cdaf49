//===- Dialects.h - The registry of all inputs' contexts --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_FUZZ_DIALECTS_H
#define PRISM_UNITTESTS_FUZZ_DIALECTS_H

#include "Prism/Registration/Registration.h"
#include "mlir/IR/DialectRegistry.h"

namespace prism::fuzz {

/// Every dialect. Each input has a context of its own: what a fault needs is in
/// its input.
inline const mlir::DialectRegistry &dialects() {
  static const mlir::DialectRegistry registry = [] {
    mlir::DialectRegistry registry;
    registerPrismDialects(registry);
    return registry;
  }();
  return registry;
}

} // namespace prism::fuzz

#endif // PRISM_UNITTESTS_FUZZ_DIALECTS_H
