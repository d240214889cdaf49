//===- CostModel.h - Predicted times of plans -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What a recurrence's kernels do under a plan, counted from its chain of
// factors, and how long a CPU takes for it. The counts are those of the forms
// that convert-scan-to-tile writes and of the register tiles that they are
// evaluated in. One thread; threads share the work items.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_SCAN_TRANSFORMS_COSTMODEL_H
#define PRISM_DIALECT_SCAN_TRANSFORMS_COSTMODEL_H

#include "Prism/Dialect/Scan/IR/Scan.h"
#include "Prism/TargetInfo/CPUCosts.h"

namespace prism::scan {

/// What one step does to a state that is a chain of factors.
struct ChainWork {
  enum class Decay { none, scalar, key };

  int64_t keys = 0, values = 0;
  int64_t erases = 0;  // ranks, solved for together
  int64_t writers = 0; // ranks whose values are known before the chunk
  int64_t reads = 0;
  Decay decay = Decay::none;
  /// Scores, decays and decayed keys are those of a state before it, and
  /// computed once.
  bool sharesScores = false;
};

/// What one step of a recurrence does, without a plan; the first state's chain,
/// and what all have in common.
struct ScanWork : ChainWork {
  llvm::SmallVector<ChainWork> others; // the other states' chains
  int64_t valueHeads = 1;
  int64_t elementBits = 32;
  /// States of one number that chunks are stepped through for: ops of a token,
  /// and functions among them.
  int64_t numberOps = 0, numberFunctions = 0;
  /// Elements of what exp, erf and the like are taken of in a step, and of what
  /// is converted from or to 16 bits or computed from reads.
  llvm::SmallVector<int64_t> functions, conversions;
  /// Inputs and outputs of a token and value head.
  double bytes = 0;
  /// Sequences and steps; kAssumedSteps where they are known at run time only.
  int64_t batch = 1, steps = 0;

  static constexpr int64_t kAssumedSteps = 4096;

  /// Nothing for what the model does not describe: states that meet, decays per
  /// value or element, plain ops in the chain.
  static std::optional<ScanWork> of(RecurrenceOp op);
};

/// The part of a plan that the time depends on.
struct PlanShape {
  Schedule schedule;
  int64_t chunk;
  int64_t valueBlock; // 0: all value columns
};

/// Counts of `steps` steps of one value head; a chunk that hangs over the end
/// is a whole one.
targetinfo::CPUCounts countWork(const ScanWork &work, const PlanShape &plan,
                                targetinfo::VectorRegisters registers,
                                int64_t steps, double cacheBytes);

/// Predicted ns of a step and value head, in a sequence of so many steps.
double predictStep(const ScanWork &work, const PlanShape &plan,
                   const targetinfo::CPUCosts &costs, int64_t steps);

/// Chunks that are tried.
llvm::ArrayRef<int64_t> chunkCandidates();

/// The candidate with the least predicted time; of several levels, the one that
/// loses least where it loses most.
int64_t chooseChunk(const ScanWork &work,
                    llvm::ArrayRef<targetinfo::CPUCosts> levels);

/// Value columns a work item of the recurrent form.
int64_t recurrentValueBlock(int64_t keys, int64_t values, int64_t elementBits);

/// The length up to which stepping is taken, such that what is lost at all
/// lengths is least; INT64_MAX where stepping is better in long sequences.
int64_t stepsUpTo(const ScanWork &work, int64_t chunk,
                  llvm::ArrayRef<targetinfo::CPUCosts> levels);

/// "predicted ns a step and value head on x86-64-v4, 4096 steps: chunk 4 331.0,
/// chunk 8 ..., chunk 16 290.1 (this plan), ..., recurrent 360.2".
std::string describePredictions(const ScanWork &work, const PlanShape &chosen,
                                const targetinfo::CPUCosts &costs);

} // namespace prism::scan

#endif // PRISM_DIALECT_SCAN_TRANSFORMS_COSTMODEL_H
