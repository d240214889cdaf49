//===- SplitSequence.h - One chunk loop as three launches -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A step's map of the state is affine, and so is that of a segment of steps:
// S -> M S + B. A program that runs a sequence chunk by chunk becomes three:
//
//  * maps: for every segment but the last, B (the state it ends in from 0) and
//    M. The state gets further value columns that start as the identity; what
//    is injected there is zero, as values read beyond their array are, so they
//    end as the columns of M. A chain that only decays needs one column, of
//    ones: M is diagonal. Where each element has a factor of its own, M is a
//    tile like the state, which the loop carries beside it.
//  * combine: S <- M S + B from segment to segment, which yields the state that
//    each of them starts from. Where M is diagonal, segments can fold the maps
//    before them as they start, and it is left out.
//  * segments: the program as it was, each segment as a sequence with an
//    initial state.
//
// They meet in two arrays of the workspace, or in that of the maps.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_TILE_TRANSFORMS_SPLITSEQUENCE_H
#define PRISM_DIALECT_TILE_TRANSFORMS_SPLITSEQUENCE_H

#include "Prism/Dialect/Tile/IR/Tile.h"
#include <string>

namespace prism::tile {

/// Names of the arrays between the launches: [N, heads, P, K, V + columns of M]
/// (where M has the state's shape, [N, heads, P, 2 K, V]) and
/// [N, heads, P, K, V]. Maps that are folded are [N, heads, P, slabs, 16 K], a
/// slab as tile.store_map says.
inline constexpr llvm::StringLiteral kSegmentMap = "segment_map",
                                     kSegmentStart = "segment_start";

struct SplitOptions {
  /// Value columns of a block of `combine`, at least.
  int64_t combineBlock = 8;
  /// Whether segments fold the maps before them, where these are diagonal.
  /// There is code for that in roles.
  bool foldsMaps = false;
};

struct SplitPrograms {
  mlir::OwningOpRef<ProgramOp> maps, combine,
      segments;             ///< no `combine`: folded
  std::string whyNotFolded; ///< where that was asked for
};

/// The programs that do what `program` does, with its arguments and the arrays
/// between them. Fails, with `whyNot` set, where a segment's map is not found
/// to be affine.
llvm::FailureOr<SplitPrograms> splitSequence(ProgramOp program,
                                             const SplitOptions &options,
                                             std::string &whyNot);

/// Whether the maps of a program's segments are a factor and a term for each
/// element of the state.
bool hasElementwiseMaps(ProgramOp program);

/// Whether columns of the maps of a program's segments take no steps, since a
/// sum of log-gates tells them.
bool knowsMaps(ProgramOp program);

} // namespace prism::tile

#endif // PRISM_DIALECT_TILE_TRANSFORMS_SPLITSEQUENCE_H
