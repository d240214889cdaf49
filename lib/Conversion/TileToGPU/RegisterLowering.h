//===- RegisterLowering.h - A value column per group of lanes ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Emits a program of chunk 1 under a RegisterPlan: every tile is a list of SSA
// scalars, row-major over what one thread holds. Sums over keys are butterfly
// shuffles in the lanes of a column; nothing else crosses threads, so there are
// no barriers and no shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOGPU_REGISTERLOWERING_H
#define PRISM_LIB_CONVERSION_TILETOGPU_REGISTERLOWERING_H

#include "KernelBuilder.h"
#include "RegisterPlan.h"

namespace prism::tiletogpu {

class RegisterLowering {
public:
  RegisterLowering(KernelBuilder &kernel, ScalarBuilder &b,
                   const RegisterPlan &plan)
      : kernel(kernel), b(b), plan(plan) {}

  static int64_t threadsOf(const RegisterPlan &plan, int64_t warpSize) {
    return plan.warpsPerItem * plan.itemsPerBlock * warpSize;
  }
  void emit(int64_t warpSize);

private:
  using Scalars = llvm::SmallVector<mlir::Value>;

  void emitOps(mlir::Block &block);
  void emitOp(mlir::Operation *op);
  void emitFor(mlir::scf::ForOp loop);
  void emitLoad(tile::LoadOp op);
  void emitStore(tile::StoreOp op);
  void emitDot(tile::DotOp op);
  void emitSolve(tile::SolveOp op);
  void emitSumColumns(tile::SumColumnsOp op);
  void emitElements(mlir::Operation *op);
  mlir::Value elementOf(mlir::Operation *op, int64_t i, int64_t j);
  mlir::Value decayOf(tile::DecayMatrixOp op, int64_t i, int64_t j);

  /// Extents of what one thread holds; a vector is one row.
  std::pair<int64_t, int64_t> shapeOf(mlir::Value tile);
  /// Scalar (i, j) of a tile; a vector's i is ignored.
  mlir::Value get(mlir::Value tile, int64_t i, int64_t j);
  /// Tile-local index, i32, of a thread's element number i of an axis.
  mlir::Value localIndex(AxisKind kind, int64_t i);
  /// Condition that this element lies in the tile; null when known.
  mlir::Value localInside(AxisKind kind, int64_t extent, int64_t i);
  /// Sum over an axis of products (or of single factors), over lanes too.
  mlir::Value sumOver(
      AxisKind kind, int64_t extent, mlir::Type type,
      llvm::function_ref<std::pair<mlir::Value, mlir::Value>(int64_t)> factors);

  KernelBuilder &kernel;
  ScalarBuilder &b;
  const RegisterPlan &plan;
  mlir::Value keyLane, column;
  llvm::DenseMap<mlir::Value, Scalars> held;
};

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_REGISTERLOWERING_H
