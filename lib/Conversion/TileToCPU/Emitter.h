//===- Emitter.h - Vector code of one tile program --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Walks a tile program and emits the function that runs its work items: scf
// loops, arith and math on LLVM-compatible scalars and vectors, loads and
// stores through LLVM pointers. All index arithmetic is i64.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOCPU_EMITTER_H
#define PRISM_LIB_CONVERSION_TILETOCPU_EMITTER_H

#include "BufferPlan.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace prism::tiletocpu {

/// A matrix in memory. The row stride is a number of elements, static for
/// buffers of the workspace, dynamic for an argument read in place.
struct Place {
  mlir::Value pointer;
  int64_t stride = 0;
  mlir::Value dynamicStride; // null: static
  mlir::Type element;
};

/// A register tile: rows [row, row + numRows) by numVectors vectors of `lanes`
/// columns from `column`.
struct RegisterTile {
  mlir::Value row, column;
  int64_t numRows, numVectors, lanes;
  int64_t size() const { return numRows * numVectors; }
};

using Vectors = llvm::SmallVector<mlir::Value, 32>;

/// One argument as the current work item sees it.
struct Argument {
  mlir::Value pointer;
  mlir::Value given;   // i1: the pointer is not null
  mlir::Value present; // i1: for this item
  llvm::SmallVector<mlir::Value> strides;
  mlir::Value base;                              // first element of this item
  mlir::Value timeStride;                        // elements from step to step
  llvm::SmallVector<mlir::Value> featureStrides; // null: 1
};

/// Which part of a view a load or store touches, as rows and columns.
struct Slice {
  mlir::Value pointer;                 // element (0, 0)
  mlir::Value rowStride, columnStride; // elements; null column stride: 1
  mlir::Value firstRow,
      rowExtent;              // rows r with firstRow + r in [0, extent) exist
  mlir::Value validColumns;   // i64
  int64_t staticColumns = -1; // the same if known
  bool isColumn = false;      // a vector along time: one element per row
  mlir::Type element;
};

/// Rows that a later iteration will touch.
struct Prefetch {
  mlir::Value pointer, rowStride;
  mlir::Type element;
  int64_t rows, columns, bytes; // bytes of one row
  bool write;
};

/// Is it a rounding to 16 bits or a widening from them? Values of 16 bits are
/// held as integers of as many.
bool changesRounding(mlir::Operation *op);

class Emitter {
public:
  Emitter(tile::ProgramOp program, const CPUOptions &options);
  /// Emits the function before the program; fails with a diagnostic.
  llvm::LogicalResult emit();

private:
  using Body = llvm::function_ref<void(mlir::Value)>;
  using TileBody = llvm::function_ref<void(const RegisterTile &)>;

  // EmitProgram.cpp: the function, its items, the program's ops in order.
  void emitItem(mlir::Value item);
  mlir::Value enterSegment(mlir::Value sequence);
  void cutSegment();
  mlir::Value presenceOf(unsigned argument);
  mlir::Value sumSteps(tile::SumStepsOp op);
  void emitArgumentBases(mlir::Value sequence, mlir::Value head);
  llvm::LogicalResult emitBlock(mlir::Block &block);
  llvm::LogicalResult emitOp(mlir::Operation *op);
  llvm::LogicalResult emitLoop(mlir::scf::ForOp loop);
  void emitYield(mlir::scf::ForOp loop);
  llvm::LogicalResult emitPlainOp(mlir::Operation *op);
  llvm::LogicalResult emitScalarTile(mlir::Operation *op);
  void emitBuffered(mlir::Operation *op);

  // EmitSteps.cpp: programs of plain ops.
  void emitSteps(mlir::Block &block);
  void emitStepLoop(mlir::scf::ForOp loop);
  void emitStepLoad(tile::LoadOp load);
  void emitStepStore(tile::StoreOp store);
  Slice stepSlice(mlir::Value view, mlir::ValueRange indices,
                  mlir::RankedTensorType type, bool oneStep);
  mlir::Value memoryOf(const Slice &slice, mlir::RankedTensorType type);
  void convertBetween(mlir::Value from, mlir::Value to);

  // EmitMemory.cpp: views.
  Slice sliceOf(mlir::Value view, mlir::ValueRange indices,
                mlir::RankedTensorType type, bool oneStep);
  mlir::Value loadOne(const Slice &slice, mlir::Type element);
  void emitLoad(tile::LoadOp load);
  void copyIn(const Slice &slice, const Place &to, mlir::RankedTensorType type);
  void copyRowIn(const Slice &slice, mlir::Value from, mlir::Value to,
                 mlir::Type element, int64_t columns);
  void emitStore(tile::StoreOp store);
  void storeTile(const Slice &slice, const RegisterTile &tile,
                 mlir::ValueRange values, mlir::RankedTensorType type);
  void storeEdge(const Slice &slice, const RegisterTile &tile,
                 mlir::ValueRange values, mlir::RankedTensorType type);
  mlir::Value rowExists(const Slice &slice, mlir::Value row);
  mlir::Value rowsShareSets(const Slice &slice, mlir::RankedTensorType type);

  // EmitPrefetches.cpp: rows that are asked for ahead of their use.
  void prefetchNext(const Slice &slice, mlir::RankedTensorType type,
                    bool write);
  void emitPrefetch(const Prefetch &prefetch, mlir::Value row);
  void emitPendingPrefetches(mlir::Value row, int64_t numRows, int64_t rows);
  void flushPrefetches();
  void prefetchStores(mlir::Block *block);
  void emitRowPrefetches(mlir::RankedTensorType type, const RegisterTile &tile);
  void flushRowPrefetches();

  // EmitElements.cpp: element types of arrays and tiles.
  mlir::Value convertIn(mlir::Value stored, mlir::Type from, mlir::Type to);
  mlir::Value convertOut(mlir::Value value, mlir::Type from, mlir::Type to);
  mlir::Value changeRounding(mlir::Operation *op, mlir::Value value);

  // EmitTiles.cpp: register tiles.
  RegisterTile shapeFor(mlir::RankedTensorType type, bool dots) const;
  void forTiles(mlir::RankedTensorType type, RegisterTile shape, TileBody body,
                TileBody atPanel = nullptr);
  void forRowTiles(mlir::RankedTensorType type, RegisterTile shape,
                   mlir::Value from, TileBody body);
  void materialize(mlir::Value v, const Place &to, bool define = false);
  void materializeMasked(mlir::Value v, const Mask &mask, const Place &to);
  void copy(const Buffer &from, const Buffer &to);
  Vectors evaluate(mlir::Value v, const RegisterTile &tile);
  Vectors evaluateOp(mlir::Operation *op, const RegisterTile &tile);
  Vectors evaluateDecay(tile::DecayMatrixOp op, const RegisterTile &tile);
  Vectors evaluateElementwise(mlir::Operation *op, const RegisterTile &tile);
  Vectors readTile(const Place &place, const RegisterTile &tile);
  void writeTile(const Place &place, const RegisterTile &tile,
                 mlir::ValueRange values);
  mlir::Value rowScalar(mlir::Value vector, mlir::Value row, int64_t offset);
  /// First column that row `row` + `offset` does not see.
  mlir::Value seenColumns(const Mask &mask, mlir::Value row, int64_t offset);

  // EmitDots.cpp
  Vectors evaluateDot(tile::DotOp op, const RegisterTile &tile);
  Vectors evaluateRowDot(tile::DotOp op, const RegisterTile &tile);
  bool isOuterProduct(mlir::Value v, bool define, int64_t numVectors) const;
  void hoistRightSides(mlir::Value v, bool define, const RegisterTile &tile);
  struct DotTile;
  void contract(const DotTile &dot, mlir::Value k, int64_t count, Vectors &acc,
                llvm::function_ref<bool(int64_t, int64_t)> sees = nullptr);
  Vectors contractMasked(const DotTile &dot, const Mask &mask, Vectors acc);
  void emitSolve(tile::SolveOp op, const Place &to);
  void emitInvert(tile::InvertOp op, const Place &to);
  void substitute(mlir::Value matrix, mlir::RankedTensorType type,
                  llvm::function_ref<Vectors(const RegisterTile &)> rightSide,
                  const Place &to);
  void emitTranspose(mlir::Value v);
  Vectors transposeBlock(Vectors rows);

  // EmitDecays.cpp
  struct DecayedDot;
  void emitDecayedDot(tile::DecayedDotOp op, const Place &to);
  void emitDecayedTile(const DecayedDot &dot, mlir::Value column,
                       mlir::Value token, bool masked);
  void emitDecayProduct(tile::DecayProductOp op, const Place &to);

  // EmitResponses.cpp
  mlir::Value sumOfProducts(llvm::ArrayRef<mlir::Value> coefficients,
                            mlir::ValueRange numbers, mlir::Value token,
                            int64_t lanes);
  Vectors advance(mlir::OperandRange transition, const Vectors &numbers,
                  mlir::Value token, int64_t lanes);
  void emitImpulseResponse(tile::ImpulseResponseOp op, const Place &to);
  void emitInitialResponse(tile::InitialResponseOp op, const Place &to);

  // Small builders.
  mlir::Value c(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t n);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value minI(mlir::Value a, mlir::Value b);
  mlir::Value clampI(mlir::Value a, int64_t high);
  mlir::Value less(mlir::Value a, mlir::Value b, bool isSigned = true);
  mlir::Value gep(mlir::Value pointer, mlir::Type element, mlir::Value index);
  mlir::Value gep(mlir::Value pointer, mlir::Type element, int64_t index);
  mlir::Value loadScalar(mlir::Value pointer, mlir::Type element);
  mlir::Value loadVector(mlir::Value pointer, mlir::Type element,
                         int64_t lanes);
  void storeValue(mlir::Value value, mlir::Value pointer, mlir::Type element);
  mlir::Value broadcast(mlir::Value scalar, int64_t lanes);
  mlir::Value splat(mlir::Type element, double value, int64_t lanes);
  mlir::Value zeros(mlir::Type element, int64_t lanes);
  mlir::Value laneIndices(mlir::Value first, int64_t lanes); // vector of i64
  mlir::Value tailMask(mlir::Value count, int64_t lanes);
  void loop(mlir::Value from, mlir::Value to, int64_t step, Body body);
  void loop(int64_t from, int64_t to, int64_t step, Body body);
  Vectors loopCarrying(mlir::Value from, mlir::Value to, int64_t step,
                       const Vectors &inits,
                       llvm::function_ref<Vectors(mlir::Value, Vectors)> body);
  void ifThen(mlir::Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise = nullptr);
  Place placeOf(mlir::Value v);
  Place placeOf(const Buffer &buffer);
  mlir::Value at(const Place &place, mlir::Value row, mlir::Value column);
  mlir::Value rowPointer(const Place &place, mlir::Value tilePointer,
                         int64_t row);
  mlir::Type lowered(mlir::Type type);
  mlir::Value scalarOf(mlir::Value v);
  mlir::VectorType vectorOf(mlir::Type element, int64_t lanes) {
    return mlir::VectorType::get({lanes}, element);
  }
  int64_t lanes() const { return options.lanes(32); }

  tile::ProgramOp program;
  const CPUOptions &options;
  BufferPlan plan;
  mlir::ImplicitLocOpBuilder b;
  mlir::IRMapping steps; // ops of a program of plain ops
  mlir::IRMapping map;   // index and scalar values, uniform tiles
  llvm::DenseMap<mlir::Value, Place> inPlace;
  llvm::SmallVector<Prefetch> pendingPrefetches;
  /// Long single rows, asked for beside the evaluation of a row of that length.
  llvm::SmallVector<Prefetch> pendingRows;
  llvm::SmallPtrSet<mlir::Operation *, 4> prefetchedStores;
  llvm::DenseMap<mlir::Operation *, Vectors>
      hoisted; // right sides of dots, for the current panel
  llvm::SmallVector<Argument> arguments;
  mlir::Type i64, ptr;
  mlir::Value words, workspace, numSequences, numSteps, length, firstRow,
      stopRow, valueOffset, packed;
  /// How many segments a sequence has and which one this is; null where
  /// sequences are not cut.
  mlir::Value segments, segment;
};

} // namespace prism::tiletocpu

#endif // PRISM_LIB_CONVERSION_TILETOCPU_EMITTER_H
