//===- PlanFile.h - Plans given by hand -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_COMPILER_PLANFILE_H
#define PRISM_COMPILER_PLANFILE_H

#include "Prism/Compiler/Compiler.h"
#include "llvm/Support/Error.h"

namespace prism {

/// Reads {"schedule": "chunk", "chunk": 64, "value_block": 0, "stages": 1,
/// "segments": 1} for all entries, or {"forward": {...}, "decode": {...}}. Keys
/// may be left out; a wrong one is an error that names the JSON pointer, what
/// was expected and found.
llvm::Expected<std::map<std::string, PlanOverride>>
readPlanFile(llvm::StringRef text, llvm::StringRef file);

} // namespace prism

#endif // PRISM_COMPILER_PLANFILE_H
