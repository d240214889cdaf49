//===- Native.h - The parts of the extension module -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_PYTHON_NATIVE_H
#define PRISM_PYTHON_NATIVE_H

#include "prism-c/Prism.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

namespace prism::python {

/// A program; copies share it.
struct Program {
  std::shared_ptr<PrismProgram> handle;
};

/// Raises the exception of `prism._errors` that the error is, and destroys it.
[[noreturn]] void raise(PrismDiagnostic *error);

/// Raises prism.ArgumentError about one argument, with the pending exception
/// (if any) as its cause.
[[noreturn]] void raiseArgument(const std::string &argument,
                                const std::string &message);

/// The same parts as a prism.Diagnostic.
nanobind::object toPython(const PrismDiagnostic *diagnostic);

void defineCompile(nanobind::module_ &module);
void defineEntry(nanobind::module_ &module);

} // namespace prism::python

#endif // PRISM_PYTHON_NATIVE_H
