//===- RegisterPlan.h - Which axes lie across threads -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// For programs of chunk 1. Each axis of each tile is
//   value       C neighbouring columns in a thread,
//   key         spread over the LK lanes of these columns: lane l has G
//               neighbouring rows of each LK G, from l G on,
//   replicated  whole in every thread.
// Which is which follows from the program: what is loaded or stored at
// tile.value_offset is a value axis, time, solves and gate sums are replicated,
// and ops tie their operands' axes together. An axis that would be two things
// makes the plan fail with a reason. Tiles of one repeated scalar have no axes:
// they fit every use.
//
//   warp of 32:   columns 0 .. C-1   C .. 2C-1   ...
//     l = 0       lane 0             lane 1            32 / LK lanes
//     l = 1       lane 32 / LK       ...
//
// So neighbouring lanes have neighbouring columns, and what one thread has of a
// row of the state, or of a vector of keys, is one wide access.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOGPU_REGISTERPLAN_H
#define PRISM_LIB_CONVERSION_TILETOGPU_REGISTERPLAN_H

#include "KernelBuilder.h"
#include "TileOpKinds.h"
#include "llvm/ADT/DenseMap.h"
#include <string>

namespace prism::tiletogpu {

enum class AxisKind { Unknown, Key, Value, Replicated };

class RegisterPlan {
public:
  /// Fails with `reason` set; emits nothing.
  static llvm::FailureOr<RegisterPlan>
  make(tile::ProgramOp program, int64_t warpSize, std::string &reason);

  AxisKind kind(mlir::Value tile, unsigned axis) const;
  /// Of the axis that a dot sums over.
  AxisKind contractionKind(tile::DotOp dot) const;
  /// Elements of an axis that one thread holds.
  int64_t perThread(mlir::Value tile, unsigned axis) const {
    return elementsOf(kind(tile, axis), tensorType(tile).getDimSize(axis));
  }
  int64_t elementsOf(AxisKind kind, int64_t extent) const;

  /// Of element `i` that a lane holds of a key axis: its row is this much more
  /// than the lane's number times `rowsInTurn`.
  int64_t rowOffset(int64_t i) const {
    return i / rowsInTurn * lanesPerColumn * rowsInTurn + i % rowsInTurn;
  }

  int64_t lanesPerColumn = 1;   ///< LK
  int64_t columnsPerThread = 1; ///< C
  int64_t rowsInTurn = 1;       ///< G
  int64_t columnsPerWarp = 32;  ///< C times warp size / LK
  int64_t warpsPerItem = 1;     ///< of one group of columns
  int64_t keyWarps = 1;         ///< of those, ones that have the same columns
  int64_t columnGroups = 1;     ///< groups that an item goes through one by one
  int64_t itemsPerBlock = 1;
  int64_t columnsPerGroup() const {
    return columnsPerWarp * warpsPerItem / keyWarps;
  }
  /// Lanes of a warp that have the same columns.
  int64_t lanesOfWarp() const { return lanesPerColumn / keyWarps; }

private:
  using Node = std::pair<mlir::Value, unsigned>;
  unsigned nodeOf(mlir::Value tile, unsigned axis);
  unsigned find(unsigned node) const;
  void tie(mlir::Value a, unsigned axisA, mlir::Value b, unsigned axisB);
  void fix(mlir::Value tile, unsigned axis, AxisKind kind);
  void constrain(mlir::Operation *op);
  void constrainSlice(const Slice &slice, tile::ProgramOp program,
                      mlir::Value tile);
  llvm::LogicalResult settle(tile::ProgramOp program, std::string &reason);
  llvm::LogicalResult checkReductions(tile::ProgramOp program,
                                      std::string &reason) const;
  bool hasFunctionsOfColumns(tile::ProgramOp program) const;
  void chooseLanes(tile::ProgramOp program, int64_t warpSize);
  int64_t scalarsOf(mlir::Value tile) const;

  llvm::DenseMap<Node, unsigned> nodes;
  llvm::SmallVector<unsigned> parent;
  llvm::SmallVector<AxisKind> kinds;
  llvm::SmallVector<int64_t> extents;
  bool conflict = false;
  std::string conflictText;
};

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_REGISTERPLAN_H
