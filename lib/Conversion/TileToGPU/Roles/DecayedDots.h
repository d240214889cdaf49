//===- DecayedDots.h - Sums of a dot that decays ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOGPU_ROLES_DECAYEDDOTS_H
#define PRISM_LIB_CONVERSION_TILETOGPU_ROLES_DECAYEDDOTS_H

#include "ComputeRole.h"

namespace prism::tiletogpu {

/// What the loop over slabs carries.
struct ComputeRole::PairSums {
  static constexpr int64_t kSums = 4; ///< of a lane, of 16 x 8
  using Four = llvm::SmallVector<mlir::Value, kSums>;
  /// The block itself, columns 0-7 and 8-15: of what multiplies as it is.
  Four itself[2];
  /// Of the blocks 1, 2 and 3 to the left.
  Four left[3][2];
  /// The ladder's: of a lane's two rows with themselves, and with the row
  /// before.
  llvm::SmallVector<mlir::Value, 2> same, next;
  /// The ladder's: upper rows | lower rows of
  ///   0: groups of 4 in columns 0-7 | groups of 8
  ///   1: groups of 2 in columns 0-7 | groups of 4 in columns 8-15
  ///   2: not used                   | groups of 2 in columns 8-15
  Four near[3];

  explicit PairSums(mlir::ValueRange all) {
    auto take = [&](auto &to, int64_t count) {
      to.assign(all.begin(), all.begin() + count);
      all = all.drop_front(count);
    };
    for (Four &four : itself)
      take(four, kSums);
    for (auto &block : left)
      for (Four &four : block)
        take(four, kSums);
    take(same, 2);
    take(next, 2);
    for (Four &four : near)
      take(four, kSums);
  }
  static constexpr int64_t kCount = 4 + 11 * kSums;
  llvm::SmallVector<mlir::Value> all() const {
    llvm::SmallVector<mlir::Value> values;
    for (const Four &four : itself)
      values.append(four.begin(), four.end());
    for (const auto &block : left)
      for (const Four &four : block)
        values.append(four.begin(), four.end());
    values.append(same.begin(), same.end());
    values.append(next.begin(), next.end());
    for (const Four &four : near)
      values.append(four.begin(), four.end());
    return values;
  }
};

/// Where a dot's decay stands between its row and its column.
struct ComputeRole::PlacesOfDot {
  bool rowSeesOwn, columnSeesOwn; ///< of its token's decay
  bool seesItself;                ///< a row its own column

  explicit PlacesOfDot(tile::DecayedDotOp op)
      : rowSeesOwn(op.getDecayOrder()[0] < op.getRowOrder()[0]),
        columnSeesOwn(op.getDecayOrder()[0] > op.getColumnOrder()[0]),
        seesItself(op.getColumnOrder()[0] < op.getRowOrder()[0]) {}
};

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_ROLES_DECAYEDDOTS_H
