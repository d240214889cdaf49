//===- Interfaces.h - Interfaces of the lowerings ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_REGISTRATION_INTERFACES_H
#define PRISM_LIB_REGISTRATION_INTERFACES_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace prism {
/// ConvertToLLVM interfaces and translations to LLVM IR.
void registerLoweringInterfaces(mlir::DialectRegistry &registry);
} // namespace prism

#endif // PRISM_LIB_REGISTRATION_INTERFACES_H
