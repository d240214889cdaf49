//===- SharedLowering.h - One block per work item, shared memory -*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Emits a program under a SharedPlan. Threads stride over the elements of what
// exists; what does not exist is computed where it is read. A barrier stands
// between two ops whenever one writes bytes that the other reads or writes:
// the plan's byte ranges decide, so a barrier can't be forgotten.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOGPU_SHAREDLOWERING_H
#define PRISM_LIB_CONVERSION_TILETOGPU_SHAREDLOWERING_H

#include "KernelBuilder.h"
#include "SharedPlan.h"

namespace prism::tiletogpu {

class SharedLowering {
public:
  SharedLowering(KernelBuilder &kernel, ScalarBuilder &b,
                 const SharedPlan &plan, mlir::Value memory, int64_t threads,
                 int64_t warpSize)
      : kernel(kernel), b(b), plan(plan), memory(memory), threads(threads),
        warpSize(warpSize) {}
  void emit() { emitBlock(kernel.getProgram().getBody().front()); }

private:
  using Index = std::pair<mlir::Value, mlir::Value>; ///< row and column, i32
  using Known = llvm::DenseMap<std::pair<mlir::Value, Index>, mlir::Value>;

  void emitBlock(mlir::Block &block);
  void emitOp(mlir::Operation *op);
  void emitFor(mlir::scf::ForOp loop);
  void emitYieldCopies(mlir::scf::ForOp loop);
  void emitStore(tile::StoreOp op);
  void emitDot(tile::DotOp op);
  void emitStreamedDot(const StreamedDot &stream);
  std::pair<mlir::Value, mlir::Value> placeOfElement(tile::LoadOp load,
                                                     Index at);
  llvm::SmallVector<mlir::Value> loadAhead(const StreamedDot &stream,
                                           mlir::scf::ForOp loop,
                                           mlir::Value iteration);
  llvm::SmallVector<mlir::Value>
  multiplyStreamed(const StreamedDot &stream,
                   llvm::ArrayRef<mlir::Value> matrix);
  llvm::SmallVector<mlir::Value>
  addUpHalves(llvm::SmallVector<mlir::Value> sums, mlir::Value lane,
              int64_t lanes);
  void emitSolve(tile::SolveOp op);
  void emitLoad(tile::LoadOp op);
  llvm::SmallVector<mlir::Value> loadRow(const Slice &slice,
                                         mlir::Value address, int64_t count,
                                         mlir::Type element);
  void loadInBatches(const Slice &slice, const Buffer &to);
  mlir::Value sliceIsThere(const Slice &slice);
  void emitGateSum(tile::GateSumOp op);
  void emitSumColumns(tile::SumColumnsOp op);
  void emitDecayProduct(tile::DecayProductOp op);
  void emitDecayedDot(tile::DecayedDotOp op);
  void copyInto(const Buffer &to, mlir::Value tile);

  /// Declares what the next op reads and writes; puts a barrier where needed.
  void access(llvm::ArrayRef<Source> reads, const Buffer *write);
  void barrier();

  /// Runs `body` once for every number below `count`, spread over the threads.
  void forEach(int64_t count, llvm::function_ref<void(mlir::Value)> body);
  void forEachElement(int64_t rows, int64_t columns,
                      llvm::function_ref<void(Index)> body);
  mlir::Value
  sumOver(mlir::Value lower, mlir::Value upper, mlir::Value start,
          llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> body);

  /// Element of a tile; a vector's row is ignored.
  mlir::Value evaluate(mlir::Value tile, Index at);
  mlir::Value evaluate(mlir::Value tile, Index at, Known &known);
  /// The same by the tile's definition, although it has a buffer.
  mlir::Value define(mlir::Value tile, Index at, Known &known);
  mlir::Value defineDecay(tile::DecayMatrixOp op, Index at, Known &known);
  mlir::Value placeInToken(mlir::Value position, llvm::ArrayRef<int64_t> order);

  mlir::Value address(const Buffer &buffer, Index at);
  mlir::Value read(const Buffer &buffer, Index at);
  void write(const Buffer &buffer, Index at, mlir::Value value);
  mlir::Value zero() { return b.i32(0); }

  KernelBuilder &kernel;
  ScalarBuilder &b;
  const SharedPlan &plan;
  mlir::Value memory;
  int64_t threads, warpSize;
  /// Of a product that is streamed, what was loaded for this iteration.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> streamed;
  llvm::SmallVector<Buffer> pendingReads,
      pendingWrites; ///< since the last barrier
};

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_SHAREDLOWERING_H
