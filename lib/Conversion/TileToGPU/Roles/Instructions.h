//===- Instructions.h - Warp and warpgroup instructions ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One function for each instruction that the roles are made of, with the
// operands a lowering has in hand. All offsets are bytes.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOGPU_ROLES_INSTRUCTIONS_H
#define PRISM_LIB_CONVERSION_TILETOGPU_ROLES_INSTRUCTIONS_H

#include "../KernelBuilder.h"
#include "Layouts.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace prism::tiletogpu {

/// exp(x) = 2^(x log2(e)).
inline constexpr double kLog2E = 1.4426950408889634;

/// Which way the elements that a product contracts run in a swizzled tile.
enum class Contracted { AlongColumns, AlongRows };

class Instructions {
public:
  /// `operands`: bf16 or f16, of warpgroup products and packed pairs.
  Instructions(ScalarBuilder &b, mlir::Type operands)
      : b(b), operands(operands) {}

  // Addresses.
  mlir::Value advance(mlir::Value pointer, int64_t bytes);
  mlir::Value advance(mlir::Value pointer, mlir::Value bytes);
  mlir::Value load(mlir::Type type, mlir::Value pointer, int64_t alignment);
  void store(mlir::Value value, mlir::Value pointer, int64_t alignment);
  /// Two neighbouring f32 at an address that 8 divides.
  std::pair<mlir::Value, mlir::Value> loadPair(mlir::Value pointer);
  void storePair(mlir::Value first, mlir::Value second, mlir::Value pointer);
  mlir::Value bitAnd(mlir::Value a, int64_t mask);
  mlir::Value bitXor(mlir::Value a, mlir::Value c);
  mlir::Value equals(mlir::Value a, int64_t constant);
  /// The same i32, of which the compiler knows nothing. What is computed from
  /// it is not moved out of a loop: addresses are cheaper than registers.
  mlir::Value opaque(mlir::Value a);

  // Barriers between roles, and within one.
  void initialise(mlir::Value barrier, int64_t arrivals);
  void arrive(mlir::Value barrier, int64_t count = 1);
  void wait(mlir::Value barrier, mlir::Value parity);
  void fenceForAsync();

  // Blocks of a cluster. A rank is an i32.
  mlir::Value rank();
  /// From here on block r of what follows is the one whose rank is r + `turn`,
  /// 0 or 1, of so many.
  void turnRanks(mlir::Value turn, int64_t blocks);
  mlir::Value multiprocessor();
  /// The i32 that lies there in another block, or in this.
  mlir::Value loadFrom(mlir::Value pointer, mlir::Value rank);
  /// All threads of the cluster, whatever else their warps do.
  void syncCluster();
  /// One arrival on the barrier that lies there in another block, or in this.
  void arriveAt(mlir::Value barrier, mlir::Value rank);
  /// The same, and the announcement of `bytes` that will come.
  void announceAt(mlir::Value barrier, mlir::Value rank, int64_t bytes);
  /// Copies to the same place of another block, whose barrier counts the bytes
  /// as they come.
  void copyTo(mlir::Value rank, mlir::Value memory, int64_t bytes,
              mlir::Value barrier);
  void syncWarp();
  void syncThreads(mlir::Value id, int64_t threads);

  // Products of a warpgroup.
  void fence();
  void commit();
  void waitForAllBut(int64_t groups);
  mlir::Type accumulatorType(int64_t registers);
  mlir::Value pack(mlir::ValueRange registers);
  llvm::SmallVector<mlir::Value> unpack(mlir::Value accumulator);
  /// The lower half, i32, of a swizzled tile's descriptor, and the descriptor
  /// for its `step`-th 16 contracted elements: all that differs between the
  /// tiles of a kernel lies in the lower half.
  mlir::Value descriptor(mlir::Value tile, Swizzled layout, Contracted along);
  mlir::Value descriptorStep(mlir::Value lower, Swizzled layout,
                             Contracted along, int64_t step);
  /// acc + A B for A in shared memory, of 64 rows; A B where `acc` is null.
  mlir::Value multiply(mlir::Value acc, int64_t columns, mlir::Value a,
                       Contracted alongA, mlir::Value b, Contracted alongB);
  /// The same for A in four registers of packed pairs.
  mlir::Value multiply(mlir::Value acc, int64_t columns, mlir::ValueRange a,
                       mlir::Value b, Contracted alongB);

  // Products and tiles of a warp.
  /// acc (4 x f32) + A (4) B (2), m16n8k8 in tf32 on the bits of f32.
  llvm::SmallVector<mlir::Value>
  multiplyWarpTf32(mlir::ValueRange acc, llvm::ArrayRef<mlir::Value> a,
                   llvm::ArrayRef<mlir::Value> b);
  /// acc (4 x f32) + A (4) B (2), m16n8k16 on packed pairs.
  llvm::SmallVector<mlir::Value>
  multiplyWarp(mlir::ValueRange acc, mlir::ValueRange a, mlir::ValueRange b);
  llvm::SmallVector<mlir::Value> loadMatrices(mlir::Value pointer,
                                              bool transposed);
  void storeMatrices(mlir::Value pointer, mlir::ValueRange four,
                     bool transposed);

  // 16 bits.
  mlir::Value packPair(mlir::Value low, mlir::Value high);
  /// The same, neither earlier nor kept for another reader: packing is cheaper
  /// than registers.
  mlir::Value packPairHere(mlir::Value low, mlir::Value high);
  std::pair<mlir::Value, mlir::Value> unpackPair(mlir::Value pair);
  /// 2^a by the chip's function, subnormal results as zero.
  mlir::Value exp2(mlir::Value a);
  /// 1 / a, and its root, likewise.
  mlir::Value reciprocal(mlir::Value a);
  mlir::Value reciprocalRoot(mlir::Value a);
  mlir::Value shuffleUp(mlir::Value f32, int64_t lanes);
  mlir::Value shuffleFrom(mlir::Value f32, mlir::Value lane);
  /// From the lane whose number differs by `mask`.
  mlir::Value shuffleAcross(mlir::Value f32, int64_t mask);

  /// Copies 4 or 16 bytes: the first `bytes` of them as they are, then zeros.
  void copyAsync(mlir::Value to, mlir::Value from, int64_t size,
                 mlir::Value bytes);
  /// The copy engine fills one slab: the box of `map` at `coordinates`, in the
  /// 128-byte swizzle. Its bytes are counted down on `barrier`, which was told
  /// to expect them. One thread.
  void copyBox(mlir::Value to, mlir::Value map, mlir::ValueRange coordinates,
               mlir::Value barrier);
  void expectBytes(mlir::Value barrier, int64_t bytes, bool arrives);
  /// The copy engine stores a box from shared memory, as a group of its own.
  /// One thread, behind a fence of every thread that wrote the box.
  void storeBox(mlir::Value from, mlir::Value map,
                mlir::ValueRange coordinates);
  /// The same of bytes that follow each other in global memory, a multiple of
  /// 16, without a map.
  void copyFromGlobal(mlir::Value to, mlir::Value from, int64_t bytes,
                      mlir::Value barrier);
  void copyToGlobal(mlir::Value to, mlir::Value from, int64_t bytes);
  /// Until the engine has read all that this thread had it store.
  void waitForReads();
  /// Whether it is true in any lane of the warp.
  mlir::Value anyLane(mlir::Value condition);
  /// True in one lane of the warp.
  mlir::Value elect();
  void commitCopies();
  void waitForCopies(int64_t groupsLeft);
  void setRegisters(int64_t count, bool more);

private:
  mlir::Value pointerIn(mlir::Value pointer, mlir::Value rank);
  mlir::Value mapTo(mlir::Value pointer, mlir::Value rank);
  void assembly(llvm::StringRef text, llvm::StringRef constraints,
                mlir::ValueRange operands);

  ScalarBuilder &b;
  mlir::Type operands;
  mlir::Value turn; ///< of ranks; null: 0
  int64_t turnedBlocks = 1;
};

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_ROLES_INSTRUCTIONS_H
