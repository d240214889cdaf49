//===- Passes.h - Passes within the scan dialect ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_SCAN_TRANSFORMS_PASSES_H
#define PRISM_DIALECT_SCAN_TRANSFORMS_PASSES_H

#include "Prism/Analysis/StateFlow.h"
#include "Prism/Dialect/Scan/IR/Scan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace prism::scan {

enum class PlanTarget { cpu, cuda };

/// The plans to try for a schedule on a target, best first. A GPU has several:
/// the first whose tiles fit the chip's shared memory is taken.
llvm::SmallVector<PlanAttr> candidatePlans(RecurrenceOp op, Schedule schedule,
                                           PlanTarget target);

/// Longest sequence for which the recurrent schedule is the faster one, beside
/// a chunk form on tensor cores or without.
int64_t recurrentUpTo(RecurrenceOp op, PlanTarget target, bool tensorCores);

/// Proves that `op` is affine in its states at a granularity not above
/// `wanted`, and attaches it; or reports why not.
mlir::LogicalResult verifyStateIndependence(
    RecurrenceOp op, analysis::Granularity wanted,
    mlir::DiagnosticSeverity severity = mlir::DiagnosticSeverity::Error);

/// True if `op` has to be taken step by step. States of one element that read
/// no other state (stabilisers) may be anything: they are known before the
/// others.
bool isSerial(RecurrenceOp op);

/// Turns plain ops of the step into state factors where they are some; remarks
/// say where they are not.
void raiseAffine(RecurrenceOp op, bool assumeNonNegativeGates);

/// Writes an affine recurrence as a prefix scan over its carried maps, in its
/// place; or says by a remark why not, and leaves it.
mlir::FailureOr<PrefixOp> recurrenceToPrefix(RecurrenceOp op);

/// Says by a remark that the chunk of a prefix scan is part of its meaning.
void keepPrefixChunk(PrefixOp op);

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Prism/Dialect/Scan/Transforms/Passes.h.inc"

} // namespace prism::scan

#endif // PRISM_DIALECT_SCAN_TRANSFORMS_PASSES_H
