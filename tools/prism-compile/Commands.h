//===- Commands.h - What prism-compile can be asked to do -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_TOOLS_PRISM_COMPILE_COMMANDS_H
#define PRISM_TOOLS_PRISM_COMPILE_COMMANDS_H

#include "Prism/Check/Check.h"
#include "Prism/Compiler/Explain.h"

namespace prism {

/// Says what is wrong with an argument; fails. What is wrong with the model has
/// a place in its file and is a diagnostic there.
mlir::LogicalResult usageError(const llvm::Twine &message);

/// --check and --sample: shapes and data of one call.
struct CallOptions {
  std::string shape; // "B=2,T=65" or "lengths=3+0+5"
  std::string gates = "mild";
  std::string device = "cpu";
  std::string sampleFolder;
  uint64_t seed = 1;
  bool noInitialState = false;
  unsigned threads = 0;
};

/// --shape as --explain takes it.
mlir::FailureOr<explain::CallShape> readCallShape(llvm::StringRef shape);

/// --list-families: a line each.
void printFamilies();

/// Prints a stage of every unit (scan, plan, tile, llvm, ptx), or writes the
/// binary ones (cubin, obj) of the single unit there is. `output` empty:
/// stdout.
mlir::LogicalResult emitStage(mlir::ModuleOp module, llvm::StringRef stage,
                              const CompileOptions &options,
                              llvm::StringRef output);

/// Compiles to a bundle in a temporary folder, plays every kernel it holds for
/// the device and compares with the float64 recurrence. Prints one line a
/// kernel and tensor; fails if any is outside its limit.
mlir::LogicalResult checkEntries(mlir::ModuleOp module,
                                 const CompileOptions &options,
                                 const CallOptions &call);

/// Evaluates an entry in float64 on arrays of .npy files and writes results as
/// such; `in` and `out` are NAME=FILE.
mlir::LogicalResult evaluateEntry(mlir::ModuleOp module,
                                  llvm::ArrayRef<std::string> wanted,
                                  llvm::ArrayRef<std::string> in,
                                  llvm::ArrayRef<std::string> out);

/// Writes random inputs and the float64 recurrence's outputs as .npy files.
mlir::LogicalResult writeSamples(mlir::ModuleOp module,
                                 const CompileOptions &options,
                                 const CallOptions &call);

} // namespace prism

#endif // PRISM_TOOLS_PRISM_COMPILE_COMMANDS_H
