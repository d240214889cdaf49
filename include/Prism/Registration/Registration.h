//===- Registration.h - What every Prism program registers ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One place that knows which dialects, interfaces and passes exist, so that
// prism-opt, prism-compile, the tests and embedders agree. A new library adds
// its line to the lists in lib/Registration.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_REGISTRATION_REGISTRATION_H
#define PRISM_REGISTRATION_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace prism {

/// Our dialects, the upstream ones that our pipelines pass through, and the
/// interfaces and LLVM IR translations that their lowerings need.
void registerPrismDialects(mlir::DialectRegistry &registry);

/// Our passes and pipelines by name, for command lines. Needed once a process,
/// by programs that parse pass pipelines; the drivers build theirs in C++.
void registerPrismPasses();

} // namespace prism

#endif // PRISM_REGISTRATION_REGISTRATION_H
