//===- Diagnostic.h - What is wrong with a spec -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_SPEC_DIAGNOSTIC_H
#define PRISM_SPEC_DIAGNOSTIC_H

#include "Prism/Support/TextDiagnostic.h"

namespace prism::spec {

/// The stage that refused a spec. `Text` is JSON itself (syntax, duplicate
/// keys, depth), `Structure` is what the published JSON Schema says, `Meaning`
/// is everything that needs names, shapes and types.
enum class Stage { Text, Structure, Meaning };

/// A wrong spec gets exactly one of these.
struct SpecDiagnostic : TextDiagnostic {
  Stage stage = Stage::Text;
};

} // namespace prism::spec

#endif // PRISM_SPEC_DIAGNOSTIC_H
