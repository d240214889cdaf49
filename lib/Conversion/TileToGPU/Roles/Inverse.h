//===- Inverse.h - Inverting a system of 64 rows ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The steps of an inverse, for one warpgroup. Inverse.cpp says what they are.
//
// SCRATCH holds the blocks on and left of the diagonal, row by row of blocks;
// each is 16 rows of 64 bytes, f32, whose halves are exchanged in every second
// pair of rows: four neighbouring rows' pairs of one column of pairs lie in
// different banks.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOGPU_ROLES_INVERSE_H
#define PRISM_LIB_CONVERSION_TILETOGPU_ROLES_INVERSE_H

#include "Instructions.h"
#include <array>

namespace prism::tiletogpu {

class Inverter {
public:
  static constexpr int64_t kBlock = 16, kBlocks = 4;
  static constexpr int64_t kRowBytes = kBlock * 4,
                           kHalfRowBytes = kRowBytes / 2,
                           kBlockBytes = kBlock * kRowBytes;
  static constexpr int64_t kSystemBytes =
      kBlocks * (kBlocks + 1) / 2 * kBlockBytes;

  /// A 16 x 16 block, as an accumulator: 8 registers. Null: known to be zero,
  /// and not asked for.
  using Block = llvm::SmallVector<mlir::Value, 8>;

  Inverter(ScalarBuilder &b, Instructions &in, mlir::Value warp,
           mlir::Value lane, mlir::Value system);

  /// What the result is multiplied by when it is rounded.
  double resultScale = 1.0;

  /// Writes block (i, k) of -A, given in warp i's registers.
  void writeSystem(int64_t i, int64_t k, llvm::ArrayRef<mlir::Value> registers);
  void substitute();
  Block mergeHalves();
  void makeColumn(int64_t j, const Block &diagonal, mlir::Value result);
  void writeResult(const Block &block, mlir::Value result, mlir::Value i,
                   mlir::Value j);
  void zeroAbove(mlir::Value result);

private:
  mlir::Value blockAt(int64_t i, int64_t k);
  mlir::Value ownBlock();
  mlir::Value pairIn(mlir::Value block, int64_t i, int64_t j);
  std::array<mlir::Value, 2> readPair(mlir::Value block, int64_t i, int64_t j);
  void writePair(mlir::Value low, mlir::Value high, mlir::Value block,
                 int64_t i, int64_t j);
  mlir::Value transposedPairIn(mlir::Value block, int64_t i, int64_t j);
  std::array<mlir::Value, 2> readTransposedPair(mlir::Value block, int64_t i,
                                                int64_t j);
  Block readBlock(int64_t i, int64_t k);
  Block multiply(const Block &sum, const Block &a, const Block &c,
                 bool upperTriangular);
  Block accumulate(const Block &sum, const Block &a, const Block &c);

  ScalarBuilder &b;
  Instructions &in;
  mlir::Value warp, lane;
  mlir::Value system;      ///< scratch
  mlir::Value row, column; ///< of an accumulator's first register
  mlir::Value turned;      ///< what exchanges the halves of `row`
};

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_ROLES_INVERSE_H
