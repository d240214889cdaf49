//===- Context.h - One context for many inputs ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_FUZZ_CONTEXT_H
#define PRISM_UNITTESTS_FUZZ_CONTEXT_H

#include "Prism/Registration/Registration.h"
#include "mlir/IR/MLIRContext.h"
#include <memory>

namespace prism::fuzz {

/// A context with every dialect. Making one takes longer than most inputs do,
/// and one keeps the types and attributes of all inputs: it serves so many.
inline mlir::MLIRContext &context() {
  constexpr int kInputs = 100;
  static std::unique_ptr<mlir::MLIRContext> context;
  static int uses = 0;
  if (uses++ % kInputs == 0) {
    mlir::DialectRegistry registry;
    registerPrismDialects(registry);
    context = std::make_unique<mlir::MLIRContext>(
        registry, mlir::MLIRContext::Threading::DISABLED);
  }
  return *context;
}

} // namespace prism::fuzz

#endif // PRISM_UNITTESTS_FUZZ_CONTEXT_H
