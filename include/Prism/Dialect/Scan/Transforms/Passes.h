//===- Passes.h - Passes within the scan dialect ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_SCAN_TRANSFORMS_PASSES_H
#define PRISM_DIALECT_SCAN_TRANSFORMS_PASSES_H

#include "Prism/Analysis/StateFlow.h"
#include "Prism/Dialect/Scan/IR/Scan.h"
#include "Prism/TargetInfo/CPUCosts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace prism::scan {

enum class PlanTarget { cpu, cuda };

/// What plans are made for.
struct PlanMachine {
  PlanTarget target = PlanTarget::cpu;
  /// Of a CPU the costs at each level that is compiled for.
  std::vector<targetinfo::CPUCosts> cpu;

  /// CPUs of these levels, by the built-in table.
  static PlanMachine cpuLevels(llvm::ArrayRef<std::string> levels);
  /// Takes the costs of a calibration, and no levels but those that it has. An
  /// error if it has none of them: `diagnostic` is the one message.
  llvm::LogicalResult calibrate(const targetinfo::Calibration &calibration,
                                TextDiagnostic &diagnostic);
};

/// The plans to try for a schedule, best first. A GPU has several: the first
/// whose tiles fit the chip's shared memory is taken.
llvm::SmallVector<PlanAttr> candidatePlans(RecurrenceOp op, Schedule schedule,
                                           const PlanMachine &machine);

/// Longest sequence for which the recurrent schedule is the faster one, beside
/// a chunk form by the plan `chunked`, on tensor cores or without.
int64_t recurrentUpTo(RecurrenceOp op, PlanAttr chunked,
                      const PlanMachine &machine, bool tensorCores);

/// Why a plan is what it is, a line for each level of a CPU: the predicted
/// times of the candidates; or that the chunk was not to be chosen.
llvm::SmallVector<std::string> explainPlan(RecurrenceOp op, PlanAttr plan,
                                           const PlanMachine &machine);

/// Proves that `op` is affine in its states at a granularity not above
/// `wanted`, and attaches it; or reports why not.
mlir::LogicalResult verifyStateIndependence(
    RecurrenceOp op, analysis::Granularity wanted,
    mlir::DiagnosticSeverity severity = mlir::DiagnosticSeverity::Error);

/// True if `op` has to be taken step by step. States of one element that read
/// no other state (stabilisers) may be any function that tiles stand for: they
/// are known before the others.
bool isSerial(RecurrenceOp op);

/// Can what the step calls be inlined? Else an error at the call.
mlir::LogicalResult checkCalls(RecurrenceOp op);

/// Inlines what the step calls, and what that calls; or says, at the call, why
/// it cannot.
mlir::LogicalResult inlineCalls(RecurrenceOp op);

/// Makes inputs of the entry's arguments that the step takes from outside.
mlir::LogicalResult passCaptures(RecurrenceOp op);

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
