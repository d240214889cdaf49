//===- StreamedDots.h - Products with a matrix from memory ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A product M S in a loop whose left operand is loaded for it alone and has
// many rows, while S has few columns, reads each element of M once: through
// shared memory that would be a store and several loads for a multiply-add
// each. Such a matrix goes from memory to registers, one iteration ahead, and
// only S is exchanged.
//
//     thread t        lane t % lanes, group t / lanes
//     its rows        group, group + groups, ...            (kStreamedRows)
//     its columns     4 (lane + i lanes) ... + 3            i = 0, 1, ...
//
// So neighbouring lanes read neighbouring 16 bytes. Their sums are exchanged by
// shuffles, of which each halves what a lane still has to add up.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOGPU_STREAMEDDOTS_H
#define PRISM_LIB_CONVERSION_TILETOGPU_STREAMEDDOTS_H

#include "TileOpKinds.h"
#include <optional>

namespace prism::tiletogpu {

struct Slice;

/// Rows of M of a thread, and elements of a row that it reads at once.
inline constexpr int64_t kStreamedRows = 4, kStreamedElements = 4;

struct StreamedDot {
  tile::DotOp dot;
  tile::LoadOp matrix;
  tile::LoadOp start; ///< what is added, if it too is loaded for this alone
  int64_t lanes = 0, groups = 0;

  int64_t columns() const;         ///< of S
  int64_t vectorsPerRow() const;   ///< of a thread
  int64_t elementsPerLane() const; ///< of the result, in the end
  bool reads(mlir::Operation *load) const {
    return load == tile::LoadOp(matrix).getOperation() ||
           (start && load == tile::LoadOp(start).getOperation());
  }
};

/// Whether a product goes this way.
std::optional<StreamedDot> streamedDotOf(tile::DotOp dot, int64_t threads);

/// Whether an array's rows, and the slice's part of them, are made of whole
/// pieces of 16 bytes: known of arrays of the workspace.
bool isAlignedSlice(tile::ProgramOp program, const Slice &slice);

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_STREAMEDDOTS_H
