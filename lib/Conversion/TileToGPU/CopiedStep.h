//===- CopiedStep.h - One step beside bulk copies of its state --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The plan of a kernel for one step of a state of 16 bits. Warps bring rows of
// it to shared memory by bulk copies and write them back so; a thread has eight
// columns of eight rows, whose tiles it computes from their words again at each
// use. Sums over keys run over threads, lanes and warps, and those of one level
// are made together:
//
//   level 0     what follows from the inputs
//   level n     sums over keys of what is known on the levels before, and what
//               follows from them
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOGPU_COPIEDSTEP_H
#define PRISM_LIB_CONVERSION_TILETOGPU_COPIEDSTEP_H

#include "Prism/TargetInfo/TargetInfo.h"
#include "RegisterPlan.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace prism::tiletogpu {

/// A sum over keys, and where in shared memory the warps' parts of it meet.
struct KeySum {
  mlir::Operation *op;
  int64_t level, place; ///< the latter in bytes
  int64_t rows, columns;
  bool hasValues; ///< else it is the same for all columns
};

class CopiedStep {
public:
  /// `plan` is the program's; fails with `reason` set where the program or the
  /// chip is none for it.
  static llvm::FailureOr<CopiedStep> make(tile::ProgramOp program,
                                          const RegisterPlan &plan,
                                          const targetinfo::GPUInfo &gpu,
                                          std::string &reason);

  /// Key lanes over the lanes and warps of a block, and for other calls few
  /// elements in a thread, so that both need few registers.
  RegisterPlan rows, small;
  mlir::scf::ForOp loop;
  tile::LoadOp load;
  tile::StoreOp store;
  llvm::SmallVector<KeySum> sums;
  int64_t keys = 0, values = 0;
  /// What threads know of the step before they write their rows.
  int64_t storeLevel = 0;

  static bool isStateShaped(const RegisterPlan &plan, mlir::Value tile);
  int64_t warps() const { return rows.warpsPerItem; }
  int64_t rowsOfWarp() const { return keys / warps(); }
  int64_t rowBytes() const { return 2 * values; }
  int64_t stateBytes() const { return keys * rowBytes(); }
  int64_t bytesOfWarp() const { return stateBytes() / warps(); }
  /// Where a warp's barrier lies, and how much there is.
  int64_t firstBarrier() const { return stateBytes(); }
  int64_t bytes() const { return endOfSums; }
  /// Blocks that a multiprocessor is to have at once.
  int64_t blocksAtOnce() const;
  /// The block whose state a block asks the L2 cache for starts so many later:
  /// one of each multiprocessor, about as long as memory takes to answer.
  int64_t blocksAhead = 0;

  int64_t levelOf(mlir::Value value) const { return levels.lookup(value); }
  const KeySum *sumOf(mlir::Operation *op) const;
  /// Do only outputs follow from it? Then one warp computes it, last.
  bool isForOutputs(mlir::Operation *op) const {
    return !needed.contains(op) && !mlir::isa<tile::LoadOp>(op);
  }

private:
  llvm::LogicalResult findStates(tile::ProgramOp program, std::string &reason);
  llvm::LogicalResult placeThreads(const RegisterPlan &plan, int64_t warpSize,
                                   std::string &reason);
  llvm::LogicalResult checkOp(mlir::Operation *op, std::string &reason) const;
  bool isKeySum(mlir::Operation *op) const;
  int64_t levelOfOperands(mlir::Operation *op) const;
  bool readsState(const KeySum &sum) const;
  llvm::LogicalResult findLevels(std::string &reason);
  llvm::LogicalResult addSum(mlir::Operation *op, std::string &reason);
  void findNeeded();

  llvm::DenseMap<mlir::Value, int64_t> levels;
  llvm::SmallPtrSet<mlir::Operation *, 16> needed;
  int64_t endOfSums = 0;
};

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_COPIEDSTEP_H
