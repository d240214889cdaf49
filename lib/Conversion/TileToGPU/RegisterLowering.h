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

#include "CopiedStep.h"
#include "KernelBuilder.h"
#include "RegisterPlan.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace prism::tiletogpu {

class Instructions;

class RegisterLowering {
public:
  RegisterLowering(KernelBuilder &kernel, ScalarBuilder &b,
                   const RegisterPlan &plan, int64_t warpSize)
      : kernel(kernel), b(b), plan(plan), warpSize(warpSize) {}

  static int64_t threadsOf(const RegisterPlan &plan, int64_t warpSize) {
    return plan.warpsPerItem * plan.itemsPerBlock * warpSize;
  }
  /// Calls `memory` for the address of the block's shared memory, if it needs
  /// any.
  void emit(llvm::function_ref<mlir::Value()> memory);
  /// Emits a kernel that takes a step beside bulk copies of its state, and
  /// other calls slowly; fails with `reason` set.
  llvm::LogicalResult emitCopied(const CopiedStep &step, mlir::Value memory,
                                 std::string &reason);
  /// Bytes of it that it needs, once it has emitted.
  int64_t sharedBytes() const { return ringBytes; }

private:
  using Scalars = llvm::SmallVector<mlir::Value>;

  /// Which keys and columns are this thread's.
  void placeThread();
  /// Goes through the groups of columns, if there are several.
  void enterGroups();
  void emitVersions();
  void emitVersion(mlir::Block &body, bool isWide);
  void emitOps(mlir::Block &block);
  void emitOp(mlir::Operation *op);
  void emitFor(mlir::scf::ForOp loop);
  void emitLoad(tile::LoadOp op);
  void emitStore(tile::StoreOp op);
  void emitDot(tile::DotOp op);
  /// Of element (i, j) the product at `k` of the axis summed over.
  std::pair<mlir::Value, mlir::Value> factorsOf(tile::DotOp op, int64_t i,
                                                int64_t j, int64_t k);
  mlir::Value elementOfDot(tile::DotOp op, int64_t i, int64_t j);
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
  /// Is it known that this element lies in the tile?
  bool isInside(AxisKind kind, int64_t extent, int64_t i);
  /// Condition that it does; null when known.
  mlir::Value localInside(AxisKind kind, int64_t extent, int64_t i);
  /// Sum over an axis of products (or of single factors), over lanes too. It is
  /// one of so many that do not wait for each other.
  mlir::Value sumOver(
      AxisKind kind, int64_t extent, mlir::Type type, int64_t sums,
      llvm::function_ref<std::pair<mlir::Value, mlir::Value>(int64_t)> factors);

  //===--------------------------------------------------------------------===//
  // Transfers
  //===--------------------------------------------------------------------===//

  /// Elements of the last axis that one access may take.
  int64_t widthOf(const Slice &slice, mlir::Value tile);
  /// Condition that the arrays are aligned for all of these accesses; null
  /// where none takes more than one element.
  mlir::Value allAligned();
  /// Elements from column `first` on of a row of a tile, whose number is
  /// ignored for a vector.
  llvm::SmallVector<mlir::Value> localIndices(const Slice &slice,
                                              mlir::Value tile, int64_t row,
                                              int64_t column);
  mlir::Value localCondition(const Slice &slice, mlir::Value tile, int64_t row,
                             int64_t column);
  /// Is an index the number of a step that there is: that of a loop over steps?
  static bool isStep(mlir::Value index);
  /// What is the same for all elements of a row; null when known.
  mlir::Value rowCondition(const Slice &slice, int64_t row);
  void loadRow(const Slice &slice, mlir::Value tile, int64_t row, Scalars &to);
  void storeRow(const Slice &slice, mlir::Value tile, int64_t row);

  //===--------------------------------------------------------------------===//
  // One step (RegisterOneStep.cpp)
  //===--------------------------------------------------------------------===//

  /// Has the kernel a version for calls of one step?
  bool hasOneStep();
  bool isCopy(mlir::scf::ForOp loop);
  /// Emits it; returns whether the call is another one, i1.
  mlir::Value emitOneStep(mlir::Block &body, mlir::Value aligned);
  /// A loop, or in that version its only step.
  void emitLoop(mlir::scf::ForOp loop);
  void emitOnce(mlir::scf::ForOp loop);
  /// Condition that all states of a role are there; null where it is known.
  mlir::Value statesThere(llvm::StringRef role);
  /// Is it a state's slice, which the version knows to be there?
  bool isKnownThere(const Slice &slice);
  /// Asks for the words of the states and of the only step's inputs.
  void askForAll(mlir::Block &body);
  bool canAskForState(tile::LoadOp op);
  void askForState(tile::LoadOp op);

  //===--------------------------------------------------------------------===//
  // One step beside bulk copies (RegisterCopies.cpp)
  //===--------------------------------------------------------------------===//

  /// In that version: is it a tile that is never held, but computed from a
  /// row's words again wherever an element of it is used?
  bool isRecomputed(mlir::Value tile) const;
  Instructions instructions();
  mlir::Value recompute(mlir::Value tile, int64_t i, int64_t j);
  mlir::Value isCopiedCall();
  mlir::Value emitCopiedCall(bool isUnpacked);
  void emitCopiedStep();
  void emitLevel(int64_t level);
  void emitOutputs();
  llvm::LogicalResult checkCopied(std::string &reason);
  void startCopies();
  void prefetchLater();
  void passOverRows(int64_t level);
  void storeCopiedRow(int64_t row);
  void sendState();

  //===--------------------------------------------------------------------===//
  // Its sums over keys (CopiedSums.cpp)
  //===--------------------------------------------------------------------===//

  /// A summand of each element of a sum over keys, of one of this thread's
  /// rows.
  void addRow(const KeySum &sum, int64_t row, Scalars &elements);
  void shareSum(const KeySum &sum, Scalars &elements, int64_t turn);
  Scalars addParts(const KeySum &sum, mlir::Value first, int64_t count);
  void takeSum(const KeySum &sum);
  mlir::Value placeOf(const KeySum &sum, int64_t row, mlir::Value warp);

  //===--------------------------------------------------------------------===//
  // Loads ahead
  //===--------------------------------------------------------------------===//

  /// Loads whose words of the next step are asked for in this one.
  using StepsAhead = llvm::SmallVector<tile::LoadOp>;
  bool canLoadAhead(tile::LoadOp op, mlir::scf::ForOp loop);
  int64_t wordsOf(tile::LoadOp op);
  StepsAhead loadsAhead(mlir::scf::ForOp loop);
  /// The words at an address, which is that of this thread's first element.
  void loadAt(tile::LoadOp op, mlir::Value address, Scalars &to);
  mlir::Value addressOfFirst(tile::LoadOp op);
  /// Appends what such a loop carries beside its own values: the words of its
  /// first step, and where they lie.
  StepsAhead loadFirst(mlir::scf::ForOp loop, Scalars &inits);
  /// Takes this step's words from what the loop carries, asks for those of the
  /// next one and returns what to carry on.
  Scalars loadNext(mlir::scf::ForOp loop, const StepsAhead &loads,
                   mlir::ValueRange carried);

  //===--------------------------------------------------------------------===//
  // Steps in shared memory
  //===--------------------------------------------------------------------===//

  /// Loads whose words of several steps are on their way at once, each to a
  /// slot of this thread's own.
  struct Ring {
    StepsAhead loads;
    int64_t slots = 0, slotBytes = 0; ///< of a slot of all threads
    mlir::Value memory;               ///< what this thread has of slot 0
    explicit operator bool() const { return slots > 0; }
  };
  int64_t bytesOf(tile::LoadOp op);
  Ring planRing(mlir::scf::ForOp loop);
  void copyStep(const Ring &ring, llvm::ArrayRef<mlir::Value> addresses,
                mlir::Value slot, mlir::Value isThere);
  /// Asks for the first steps; appends what such a loop carries.
  Ring startRing(mlir::scf::ForOp loop, Scalars &inits);
  /// Asks for one more step, takes this step's words and returns what to carry
  /// on.
  Scalars turnRing(mlir::scf::ForOp loop, const Ring &ring,
                   mlir::ValueRange carried);

  //===--------------------------------------------------------------------===//
  // What is the same in every step
  //===--------------------------------------------------------------------===//

  bool isInvariant(mlir::Operation *op, mlir::scf::ForOp loop);
  void findInvariants(mlir::scf::ForOp loop);
  /// Emits before a loop what it would compute anew in every step.
  void emitInvariants(mlir::scf::ForOp loop);

  KernelBuilder &kernel;
  ScalarBuilder &b;
  RegisterPlan plan; ///< of what is emitted
  int64_t warpSize;
  bool wide = false, oneStep = false;
  llvm::function_ref<mlir::Value()> memoryOfBlock;
  int64_t ringBytes = 0;
  llvm::SmallPtrSet<mlir::Operation *, 8> invariants;
  mlir::Value keyLane, firstKey, column;
  const CopiedStep *copied = nullptr;
  /// Its block's memory, where this thread's part of the state lies there, its
  /// warp's and that one's barrier; and the words of the row at which it is.
  mlir::Value copies, copiedRows, copiedPart, copiedBarrier;
  Scalars rowWords;
  llvm::DenseMap<mlir::Value, Scalars> held;
  /// Words of this step, by the load whose result they are.
  llvm::DenseMap<mlir::Operation *, Scalars> ahead;
};

/// Emits what is done under a condition.
void emitIf(ScalarBuilder &b, mlir::Value condition,
            llvm::function_ref<void()> emit);
/// Emits what is done under a condition; returns whether it remains to be done,
/// i1. No condition: always.
mlir::Value emitUnder(ScalarBuilder &b, mlir::Value condition,
                      llvm::function_ref<mlir::Value()> emit);

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_REGISTERLOWERING_H
