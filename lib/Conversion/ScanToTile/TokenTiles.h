//===- TokenTiles.h - Values of a step, for a chunk of tokens ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The loader slice: what one step computes from its inputs alone (gates, norms,
// the refinement loop) becomes tiles for all C tokens of a chunk. A scalar of
// the step is a tile of C elements, a vector one of C rows; a leading rank axis
// is unrolled: each rank has its own tile. Built on demand, so only what a
// factor needs is loaded.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_SCANTOTILE_TOKENTILES_H
#define PRISM_LIB_CONVERSION_SCANTOTILE_TOKENTILES_H

#include "Prism/Dialect/Scan/IR/Scan.h"
#include "ShortConvolution.h"
#include "TileBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"

namespace prism {

/// Which axis of the state the last axis of a step value runs along.
enum class Along { none, key, value, element };

class TokenTiles {
public:
  /// `inputs[i]` is the program's view of input i, or the convolution that it
  /// is a result of. `first` is the step of the chunk's first row, `columns`
  /// the work item's first value column.
  struct Input {
    mlir::Value view;
    ShortConvolution *convolution = nullptr;
  };
  TokenTiles(TileBuilder &tb, scan::RecurrenceOp op,
             llvm::ArrayRef<Input> inputs, int64_t chunk, int64_t valueBlock,
             mlir::Value first, mlir::Value columns)
      : tb(tb), op(op), inputs(inputs.begin(), inputs.end()), chunk(chunk),
        valueBlock(valueBlock), first(first), columns(columns) {}

  /// Tile of a step value; `rank` picks a row of its leading rank axis (-1: it
  /// has none). Null, with a diagnostic, when it cannot be a tile.
  mlir::Value get(mlir::Value stepValue, int64_t rank, Along along);

  /// Says what a value is that depends on states: of one token a state (K x V)
  /// or what is read of one (1 x V), of a chunk what is read, or a state of one
  /// number (C x V). Others are computed from inputs and from these.
  void define(mlir::Value stepValue, mlir::Value tile) {
    defined[stepValue] = tile;
  }

  /// As get, and inert on rows past the sequence's end: 0 there, whatever was
  /// computed.
  mlir::Value getInert(mlir::Value stepValue, int64_t rank, Along along);

  /// The tile, but 0 on rows past the sequence's end.
  mlir::Value inside(mlir::Value tile) {
    return tb.create<tile::MaskRowsOp>(tile.getType(), tile, first);
  }

private:
  mlir::Value load(unsigned input, int64_t rank, Along along);
  mlir::Value convolved(unsigned input, int64_t rank, Along along);
  mlir::Value elementwise(mlir::Operation *producer, int64_t rank, Along along);
  mlir::Value onlyElement(mlir::tensor::ExtractOp extract);
  mlir::Value row(mlir::Operation *producer, int64_t rank, Along along);
  mlir::Value repeat(mlir::linalg::BroadcastOp op, int64_t rank, Along along);
  mlir::Value l2norm(scan::L2NormOp norm, int64_t rank, Along along);
  mlir::Value refine(scan::RefineOp refine, int64_t rank, Along along);
  mlir::Value splat(mlir::Value tokenVector, mlir::RankedTensorType type);
  mlir::RankedTensorType tileType(mlir::Type stepType, int64_t rank,
                                  Along along);
  bool isInert(mlir::Value stepValue);

  TileBuilder &tb;
  scan::RecurrenceOp op;
  llvm::SmallVector<Input> inputs;
  int64_t chunk, valueBlock;
  mlir::Value first, columns;
  llvm::DenseMap<std::tuple<mlir::Value, int64_t, int>, mlir::Value> known;
  llvm::DenseMap<mlir::Value, mlir::Value> defined;
  llvm::DenseMap<std::pair<mlir::Value, int>, llvm::SmallVector<mlir::Value>>
      refined;
};

} // namespace prism

#endif // PRISM_LIB_CONVERSION_SCANTOTILE_TOKENTILES_H
