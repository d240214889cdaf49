//===- EmitDiagnostic.cpp - A text's fault among MLIR's -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Support/EmitDiagnostic.h"
#include "mlir/IR/Location.h"

using namespace mlir;

InFlightDiagnostic prism::emitTextError(MLIRContext *context,
                                        const TextDiagnostic &diagnostic) {
  const SourceLoc &place = diagnostic.loc;
  Location loc =
      FileLineColLoc::get(context, diagnostic.file, place.line, place.column);
  if (!place.pointer.empty())
    loc = NameLoc::get(StringAttr::get(context, place.pointer), loc);
  return emitError(loc, diagnostic.sentence());
}
