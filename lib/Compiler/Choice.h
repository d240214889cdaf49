//===- Choice.h - Which kernel, in how many segments ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Of several kernels of a schedule on a GPU a call takes the one with the least
// predicted time; rows of the decision table say which, by sequences x value
// heads and by steps.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_COMPILER_CHOICE_H
#define PRISM_LIB_COMPILER_CHOICE_H

#include "Predict.h"
#include "StepSegments.h"

namespace prism {

/// Up to so many sequences x value heads, above those of the range before.
struct HeadRange {
  int64_t maxHeads;
  const Unit *unit;
};

/// The kernels of one schedule on one GPU. Units outlive it.
class KernelChoice {
public:
  /// `units` may hold one that splits sequences. Of several all have predicted
  /// times: only chips that were measured have several.
  explicit KernelChoice(llvm::ArrayRef<Unit> units);

  /// Which kernel takes whole sequences; the last range has no bound.
  std::vector<HeadRange> wholeRanges() const;
  const Unit &whole(int64_t heads) const;

  /// Into how many segments sequences of so many steps are best split, for so
  /// many sequences x value heads; 1: not at all.
  int64_t segments(int64_t steps, int64_t heads) const;
  /// The same for all calls, by their length.
  std::vector<SegmentRange> segmentRanges() const;

  /// Numbers of segments that are tried, and whether so many of a sequence keep
  /// enough chunks each.
  static llvm::ArrayRef<int64_t> segmentCandidates();
  static bool keepsChunks(const Unit &split, int64_t steps, int64_t segments);

  /// Rows of the decision table.
  std::vector<runtime::ChoiceRow> rows() const;

private:
  struct Kernel {
    const Unit *unit;
    std::optional<Prediction> prediction;
  };
  double time(const Kernel &kernel, int64_t steps, int64_t heads,
              int64_t segments = 1) const;
  runtime::ChoiceRow rowFor(const HeadRange &range) const;

  std::vector<Kernel> kernels; // of whole sequences
  std::optional<Kernel> split;
  /// Of elementwise steps, which have no chunk; else nothing.
  std::optional<StepCosts> elementwise;
  std::vector<HeadRange> ranges;
};

/// From how many sequences x value heads on a unit that copies its state is
/// faster than one that does not, for calls of one step; nothing: never.
std::optional<int64_t> headsOfCopies(const Unit &usual, const Unit &copying);

/// Adds to each of several kernels of whole sequences for which numbers of
/// heads it is taken.
void sayWhichHeads(llvm::MutableArrayRef<Unit> units);

/// Rows of the decision table for the units of one target.
std::vector<runtime::ChoiceRow> makeChoice(scan::RecurrenceOp op,
                                           llvm::ArrayRef<Unit> units,
                                           const CompileOptions &options);

} // namespace prism

#endif // PRISM_LIB_COMPILER_CHOICE_H
