//===- Import.h - From a spec to the scan dialect ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One `func.func` per entry, named after it, whose body is one scan.recurrence,
// after a scan.short_convolution for each input that has one. Arguments are the
// spec's inputs in order, then `initial_state`, `offsets` and initial windows
// (all `scan.optional`); results are the outputs in the order of their reads,
// then `final_state` and final windows; all carry `scan.name`. Every op has the
// line and column of the JSON element it comes from, so diagnostics point into
// the spec.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_IMPORT_IMPORT_H
#define PRISM_IMPORT_IMPORT_H

#include "Prism/Spec/Spec.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace prism::spec {

/// Loads the dialects it needs. The result is verified; null if that failed,
/// which the context's diagnostic handler has then been told.
mlir::OwningOpRef<mlir::ModuleOp> importSpec(const Spec &spec,
                                             mlir::MLIRContext *context);

} // namespace prism::spec

#endif // PRISM_IMPORT_IMPORT_H
