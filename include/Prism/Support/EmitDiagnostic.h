//===- EmitDiagnostic.h - A text's fault among MLIR's -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_SUPPORT_EMITDIAGNOSTIC_H
#define PRISM_SUPPORT_EMITDIAGNOSTIC_H

#include "Prism/Support/TextDiagnostic.h"
#include "mlir/IR/Diagnostics.h"

namespace prism {

/// Tells the context's diagnostics, with the place in the text; the location is
/// named after the JSON pointer.
mlir::InFlightDiagnostic emitTextError(mlir::MLIRContext *context,
                                       const TextDiagnostic &diagnostic);

} // namespace prism

#endif // PRISM_SUPPORT_EMITDIAGNOSTIC_H
