//===- Driver.h - From a text to a bundle -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What prism-compile and the C API do alike: read a model, find out what it is
// to be compiled for, compile it. What is wrong with a text comes back to the
// caller; what is wrong with a module goes to its context's diagnostics.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_DRIVER_DRIVER_H
#define PRISM_DRIVER_DRIVER_H

#include "Prism/Compiler/Compiler.h"
#include "Prism/Spec/Diagnostic.h"
#include "llvm/Support/SourceMgr.h"

namespace prism::driver {

/// A model to compile, and what its text says beside the recurrence.
struct Model {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string name; // of its bundle
  std::string spec; // written out; empty for a module
  std::vector<std::string> targets;
};

/// Reads a spec. Null: `diagnostic` has the message, or no message if the
/// context's diagnostics were told.
std::optional<Model> readSpec(llvm::StringRef text, llvm::StringRef file,
                              mlir::MLIRContext &context,
                              spec::SpecDiagnostic &diagnostic);

/// Parses the module in the source manager's main buffer; `file` names the
/// bundle. Null: the context's diagnostics were told.
std::optional<Model> readModule(llvm::SourceMgr &sources, llvm::StringRef file,
                                mlir::MLIRContext &context);

/// A spec written out: no family, all defaults in place, ends in a line break.
/// Null: `diagnostic` has the message.
std::optional<std::string> expand(llvm::StringRef text, llvm::StringRef file,
                                  spec::SpecDiagnostic &diagnostic);

/// "cpu,cuda:sm_90a{ptx=8.7,smem=99K}" at the commas outside of braces. An
/// empty part stays, to be refused.
std::vector<std::string> splitTargets(llvm::ArrayRef<std::string> given);

/// The targets given, checked, else the model's. Null: `error` says why.
std::optional<std::vector<std::string>>
chooseTargets(llvm::ArrayRef<std::string> given, const Model &model,
              std::string &error);

/// Reads plans (PlanFile.h); one for an entry that the model does not have
/// would be a plan ignored, and is an error.
llvm::FailureOr<std::map<std::string, PlanOverride>>
readPlans(llvm::StringRef text, llvm::StringRef file, mlir::ModuleOp module,
          TextDiagnostic &diagnostic);

/// Reads the costs of a CPU; without one among the targets they would be
/// ignored, which is an error. On failure `error` is a sentence, or empty and
/// `diagnostic` has the message.
llvm::FailureOr<targetinfo::Calibration>
readCalibration(llvm::StringRef text, llvm::StringRef file,
                llvm::ArrayRef<std::string> targets, std::string &error,
                TextDiagnostic &diagnostic);

/// Compiles a model; its bundle has the model's name and spec.
mlir::FailureOr<CompileResult> compileModel(const Model &model,
                                            const CompileOptions &options);

} // namespace prism::driver

#endif // PRISM_DRIVER_DRIVER_H
