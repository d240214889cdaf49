//===- PlanFile.h - Plans given by hand -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_COMPILER_PLANFILE_H
#define PRISM_COMPILER_PLANFILE_H

#include "Prism/Compiler/Compiler.h"
#include "Prism/Support/TextDiagnostic.h"

namespace prism {

/// Reads {"schedule": "chunk", "chunk": 64, "value_block": 0, "stages": 1,
/// "segments": 1} for all entries, or {"forward": {...}, "decode": {...}} for
/// some of `entries`. Keys may be left out; a wrong one is an error, of which
/// `diagnostic` is the one message.
llvm::FailureOr<std::map<std::string, PlanOverride>>
readPlanFile(llvm::StringRef text, llvm::StringRef file,
             llvm::ArrayRef<llvm::StringRef> entries,
             TextDiagnostic &diagnostic);

} // namespace prism

#endif // PRISM_COMPILER_PLANFILE_H
