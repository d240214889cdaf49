//===- Segments.h - Sequences split into segments ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_COMPILER_SEGMENTS_H
#define PRISM_LIB_COMPILER_SEGMENTS_H

#include "Prism/Compiler/Compiler.h"
#include "StepSegments.h"

namespace prism {

/// The unit that runs the program of `unit` in segments, with the units
/// launched before it; their maps are made in blocks of as many value columns
/// as `wide`, the same program, has, and so are the outputs of programs without
/// a triangular system. Nothing, with `whyNot` set, where it
/// cannot be split or, if the unit runs on tensor cores, its parts cannot.
std::optional<Unit> splitUnit(const Unit &unit, const Unit &wide,
                              std::string &whyNot);

/// Whether segments of a unit's program are mapped elementwise, by a factor and
/// a term for each element of the state.
bool splitsElementwise(const Unit &unit);

/// What decides about the number of segments.
struct SegmentCosts {
  int64_t multiprocessors = 1;
  int64_t chunk = 64;
  int64_t blocks = 1;    ///< work items of a sequence and head
  int64_t mapBlocks = 1; ///< the same of the launch that makes the maps
  bool wideMaps = false; ///< two warpgroups of value columns in a map's block
  bool solves = false;   ///< a triangular system in each chunk
  /// Up to so many heads, whole sequences have blocks that only prepare.
  int64_t apartHeads = 0;
  /// Of elementwise steps, which have no chunk; else nothing.
  std::optional<StepCosts> steps = std::nullopt;
};

/// The costs of a split unit for a GPU.
SegmentCosts costsOf(const Unit &split);

/// Into how many segments sequences of so many steps are best split, for so
/// many sequences x value heads; 1: not at all.
int64_t bestSegments(const SegmentCosts &costs, int64_t steps, int64_t heads);

/// When sequences are split into how many segments, by their length.
std::vector<SegmentRange> segmentRanges(const SegmentCosts &costs);

/// Rows of the decision table: `whole` are those without a split, for sequences
/// of any length, by heads; where a split is better, rows with it come before.
std::vector<runtime::ChoiceRow>
addSegmentRows(const Unit &split, llvm::ArrayRef<runtime::ChoiceRow> whole);

} // namespace prism

#endif // PRISM_LIB_COMPILER_SEGMENTS_H
