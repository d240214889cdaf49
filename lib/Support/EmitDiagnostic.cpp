//===- EmitDiagnostic.cpp - A text's fault among MLIR's -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Support/EmitDiagnostic.h"
#include "mlir/IR/Location.h"

using namespace mlir;

InFlightDiagnostic prism::emitTextError(MLIRContext *context,
                                        const TextDiagnostic &diagnostic) {
  return emitError(FileLineColLoc::get(context, diagnostic.file,
                                       diagnostic.loc.line,
                                       diagnostic.loc.column),
                   diagnostic.sentence());
}
