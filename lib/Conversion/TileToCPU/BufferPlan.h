//===- BufferPlan.h - Which tiles exist, and where --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Decides for every tensor value of a tile program whether it is
//   a scalar   all its elements are equal: one SSA scalar,
//   lazy       evaluated inside the register tile of whatever uses it, or
//   buffered   stored in the workspace, at a fixed offset that it shares with
//              values that are not alive at the same time.
//
// A point where a buffer is filled or a tile is stored is an anchor. Everything
// lazy between buffers and anchor is evaluated there, so what a value reads is
// read at its anchors' positions: lifetimes and the in-place update of a
// carried state follow from the anchors' reads.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOCPU_BUFFERPLAN_H
#define PRISM_LIB_CONVERSION_TILETOCPU_BUFFERPLAN_H

#include "Prism/Conversion/TileToCPU/TileToCPU.h"
#include "Prism/Dialect/Tile/IR/Tile.h"

namespace prism::tiletocpu {

enum class Form { scalar, lazy, buffer };

/// A matrix (or a vector: one row) in the workspace. Rows are padded to whole
/// vectors; pads hold finite or unused numbers and never reach a real element.
struct Buffer {
  int64_t rows, columns, stride; // stride: elements from row to row
  mlir::Type element;
  int64_t begin, end; // first and last position at which it is alive
  int64_t offset = 0; // bytes
  int64_t bytes() const;
};

/// How one carried tile of a loop is renewed.
struct CarriedTile {
  int buffer = -1;
  bool initInPlace = false; // the initial value's load writes the buffer itself
  bool yieldInPlace = false; // the yielded value is evaluated into the buffer
  int temporary = -1;        // else it goes here first and is copied
};

class BufferPlan {
public:
  BufferPlan(tile::ProgramOp program, const CPUOptions &options);

  Form formOf(mlir::Value v) const { return forms.lookup(v); }
  const Buffer &bufferOf(mlir::Value v) const {
    return buffers[bufferIds.lookup(v)];
  }
  const Buffer &transposedOf(mlir::Value v) const {
    return buffers[transposedIds.lookup(v)];
  }
  /// Where a decayed dot keeps its columns, decayed so far.
  const Buffer &runningOf(tile::DecayedDotOp op) const {
    return buffers[runningIds.lookup(op)];
  }
  bool needsTransposed(mlir::Value v) const { return transposedIds.count(v); }
  const Buffer &buffer(int id) const { return buffers[id]; }
  /// May readers use the argument's own memory instead of a copy?
  bool mayReadInPlace(tile::LoadOp load) const {
    return inPlace.contains(load);
  }
  llvm::ArrayRef<CarriedTile> carriedOf(mlir::Operation *loop) const {
    return carried.find(loop)->second;
  }
  /// Does evaluating the lazy value (or the operands of a buffered one) run a
  /// dot?
  bool containsDot(mlir::Value v) const;
  int64_t workspaceBytes() const { return total; }
  /// Room for one register tile, used where a tile hangs over the edge.
  int64_t edgeTileOffset() const { return 0; }

private:
  struct Read {
    mlir::Value value;
    bool samePlace, transposed;
  };
  struct Anchor {
    mlir::Operation *at;
    mlir::Value result; // null for stores and scalars
    llvm::SmallVector<Read> reads;
  };

  void classify();
  Form decide(mlir::Value v);
  bool isScalar(mlir::Value v) const;
  bool needsBuffer(mlir::OpOperand &use) const;
  int64_t costOf(mlir::Operation *op);
  void collectReads(mlir::Value v, bool samePlace,
                    llvm::SmallVectorImpl<Read> &reads) const;
  void collectOperandReads(mlir::Operation *op, bool samePlace,
                           llvm::SmallVectorImpl<Read> &reads) const;
  void findAnchors();
  void planLoop(mlir::scf::ForOp loop);
  bool mayOverwrite(mlir::Value carriedArg, mlir::Value next,
                    mlir::Operation *at, mlir::Operation *yield) const;
  void findInPlaceLoads();
  int addBuffer(int64_t rows, int64_t columns, mlir::Type element,
                int64_t position);
  int bufferFor(mlir::Value v, int64_t position);
  void extend(int id, mlir::Operation *definition, mlir::Operation *reader);
  void computeLifetimes();
  void assignOffsets();
  int64_t positionOf(mlir::Operation *op) const { return positions.lookup(op); }

  tile::ProgramOp program;
  const CPUOptions &options;
  llvm::DenseMap<mlir::Value, Form> forms;
  llvm::DenseMap<mlir::Value, int> bufferIds, transposedIds;
  llvm::DenseMap<mlir::Operation *, int> runningIds;
  llvm::DenseMap<mlir::Operation *, int64_t> positions, costs, loopEnds;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<CarriedTile>> carried;
  llvm::SmallPtrSet<mlir::Operation *, 8> inPlace;
  llvm::SmallVector<Buffer> buffers;
  llvm::SmallVector<mlir::Operation *>
      bufferDefinitions; // by buffer id; null: the program
  llvm::SmallVector<Anchor> anchors;
  int64_t total = 0;
};

/// A dot with few columns whose right side is transposed: both sides are read
/// along their rows and summed across lanes.
bool isRowDot(tile::DotOp dot);

/// Which elements of a block lower triangular matrix are none, by the places of
/// a token's rows and columns in the chain (tile.decay_matrix).
struct Mask {
  llvm::ArrayRef<int64_t> rowOrder, columnOrder;
  explicit operator bool() const { return !rowOrder.empty(); }
  int64_t perRow() const { return rowOrder.size(); }
  int64_t perColumn() const { return columnOrder.size(); }
  /// How many columns of its own token a reader of it sees.
  int64_t ownSeen(int64_t reader) const {
    return llvm::count_if(
        columnOrder, [&](int64_t writer) { return writer < rowOrder[reader]; });
  }
};

/// The mask that makes `v` lower block triangular, if one does.
Mask findMask(mlir::Value v);

inline mlir::RankedTensorType tileType(mlir::Value v) {
  return mlir::cast<mlir::RankedTensorType>(v.getType());
}
inline bool isTile(mlir::Value v) {
  return mlir::isa<mlir::RankedTensorType>(v.getType());
}
inline int64_t rowsOf(mlir::RankedTensorType t) {
  return t.getRank() == 2 ? t.getDimSize(0) : 1;
}
inline int64_t columnsOf(mlir::RankedTensorType t) {
  return t.getShape().back();
}
inline bool isElementwise(mlir::Operation *op) {
  return mlir::OpTrait::hasElementwiseMappableTraits(op);
}

} // namespace prism::tiletocpu

#endif // PRISM_LIB_CONVERSION_TILETOCPU_BUFFERPLAN_H
