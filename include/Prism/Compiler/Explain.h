//===- Explain.h - What was recognised, chosen, and what limits it *- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_COMPILER_EXPLAIN_H
#define PRISM_COMPILER_EXPLAIN_H

#include "Prism/Compiler/Compiler.h"

namespace prism {

/// In words: the factor chain of an entry, its work and bytes, and the plan of
/// each unit with what it costs.
void explainEntry(llvm::raw_ostream &os, mlir::func::FuncOp entry,
                  llvm::ArrayRef<Unit> units,
                  llvm::ArrayRef<std::string> notes);

/// The prefix scans of an entry that has no recurrence: what their elements are
/// and which class they have. False if there are none.
bool explainPrefixes(llvm::raw_ostream &os, mlir::func::FuncOp entry);

} // namespace prism

#endif // PRISM_COMPILER_EXPLAIN_H
