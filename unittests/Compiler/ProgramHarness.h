//===- ProgramHarness.h - A tile program against the recurrence -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_COMPILER_PROGRAMHARNESS_H
#define PRISM_UNITTESTS_COMPILER_PROGRAMHARNESS_H

#include "Prism/Check/Check.h"
#include "Prism/Compiler/Compiler.h"
#include "TestEntry.h"

namespace prism::test {

/// The text of an example of that name with another I/O type, and its forward
/// entry only.
std::string exampleText(const std::string &name, llvm::StringRef io = "bf16");

/// The entry of a spec, or of a module, as one tile program in chunk form, with
/// random inputs and what the float64 recurrence makes of them. Programs
/// derived from it are run on the CPU and compared.
class ProgramHarness {
public:
  ProgramHarness(const std::string &text, int64_t chunk,
                 const check::InputOptions &options, bool serial = false);

  /// False, with a test failure, if it was not built.
  bool ok() const { return unit.has_value(); }

  /// A copy of the program's module, to be changed and given to `run`.
  mlir::OwningOpRef<mlir::ModuleOp> program() {
    return unit->module.get().clone();
  }

  /// Lowers a changed program to the CPU (in place), runs it and compares;
  /// empty, with a test failure, if there is no code.
  std::vector<check::TensorError> run(mlir::ModuleOp program, double limit);

private:
  test::Context context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp entry;
  std::optional<Unit> unit;
  runtime::EntryInfo info;
  check::HostArrays inputs, blank, references;
};

} // namespace prism::test

#endif // PRISM_UNITTESTS_COMPILER_PROGRAMHARNESS_H
