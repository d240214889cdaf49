//===- Sections.h - Parts of the explanation's page -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_COMPILER_EXPLAIN_SECTIONS_H
#define PRISM_LIB_COMPILER_EXPLAIN_SECTIONS_H

#include "Markup.h"
#include "Prism/Compiler/Explain.h"

namespace prism::explain {

/// Opens a table in a frame that scrolls where it is too wide: two elements to
/// close.
void openTable(Markup &page, const std::string &kind,
               const std::string &caption);

/// A target's plans, those taken and those refused, and its roofline.
void writeTarget(Markup &page, const Entry &entry, const Target &target,
                 const std::string &anchor);

} // namespace prism::explain

#endif // PRISM_LIB_COMPILER_EXPLAIN_SECTIONS_H
