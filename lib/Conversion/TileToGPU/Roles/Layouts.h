//===- Layouts.h - Where the elements of a tile lie --------------*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Maps, each a plain function, so that a test can evaluate it everywhere.
//
// ACCUMULATOR: an M x N matrix over the four warps of a warpgroup, as wgmma
// (PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16") and mma.sync
// leave it. Of every 64 rows warp w has 16; lane l has rows l / 4 and l / 4 + 8
// of these and of every 8 columns 2 (l % 4) and the next:
//
//            columns  0 1   2 3   4 5   6 7  | 8 9 ...
//   row 0            L0    L1    L2    L3    | L0      registers 0 1 | 4 5 ...
//   row 1            L4    L5    L6    L7    | L4
//   ...
//   row 8            L0    L1    L2    L3    | L0      registers 2 3 | 6 7 ...
//
// Packed in pairs to 16 bits, the registers of columns 16 s .. 16 s + 15 are,
// in their order, the A operand of a product that contracts these columns: a
// result becomes the operand of the next product without a move. The transposed
// matrix, read as the B operand of mma.sync, has the same map again.
//
// SWIZZLED: a matrix of 16-bit elements in shared memory, as slabs of 64
// columns; a row of a slab is 128 bytes, whose 16-byte pieces are permuted by
// the row's number (the 128-byte swizzle of wgmma descriptors). 8 rows of one
// piece column lie in 8 different groups of 4 banks, so that ldmatrix and
// stmatrix meet none twice.
//
//   byte(r, c) = (c / 64) * rows * 128 + r * 128
//              + ((c / 8) % 8 ^ r % 8) * 16 + (c % 8) * 2
//
// STAGED: a warp's 16 columns of such a matrix, rows of 32 bytes whose two
// 16-byte pieces change places in every other four rows (the 32-byte swizzle of
// tensor maps). 8 rows of one piece column lie in 8 different groups of 4 banks
// here too.
//
//   byte(r, c) = r * 32 + ((c / 8) ^ r / 4 % 2) * 16 + (c % 8) * 2
//
// WIDE: a matrix of f32 in shared memory, rows of whole 128 bytes whose 32-byte
// pieces are permuted by the row's number. The pairs of an accumulator's column
// in four neighbouring rows lie in different banks.
//
//   byte(r, c) = r * row bytes + ((c / 8) ^ r % 4) * 32 + (c % 8) * 4
//
// SLABS: a segment's map in global memory (tile.store_map), of each 16 value
// columns the registers of the warp that has them: it reads 512 bytes at a
// time, a lane 16.
//
//   byte(key, column) = column / 16 * keys * 64 + key / 8 * 512
//                     + (column % 8 * 4 + key % 8 / 2) * 16
//                     + column / 8 % 2 * 8 + key % 2 * 4
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOGPU_ROLES_LAYOUTS_H
#define PRISM_LIB_CONVERSION_TILETOGPU_ROLES_LAYOUTS_H

#include <cstdint>

namespace prism::tiletogpu {

/// Elements that one warpgroup product contracts. Accumulators are packed and
/// written in pieces of as many columns.
inline constexpr int64_t kContracted = 16;

inline constexpr int64_t kWarpsOfGroup = 4;
inline constexpr int64_t kRowsOfGroup = 64;
inline constexpr int64_t kSlabColumns = 64;
inline constexpr int64_t kSlabRowBytes = 128;
/// Of a swizzled tile: eight rows of a slab.
inline constexpr int64_t kSwizzleBytes = 1024;

/// One warpgroup's part of a matrix of `columns` columns.
struct Accumulator {
  int64_t columns;
  int64_t blocks = 1; ///< of 64 rows

  int64_t registersOfBlock() const { return columns / 2; }
  int64_t registers() const { return blocks * registersOfBlock(); }

  /// What a register adds to the lane's first row and column.
  int64_t rowOf(int64_t r) const {
    return r / registersOfBlock() * kRowsOfGroup +
           (r % registersOfBlock() / 2) % 2 * 8;
  }
  int64_t columnOf(int64_t r) const {
    return r % registersOfBlock() / 4 * 8 + r % 2;
  }
  /// First row and column of a lane of a warp.
  static int64_t firstRow(int64_t warp, int64_t lane) {
    return warp % kWarpsOfGroup * 16 + lane / 4;
  }
  static int64_t firstColumn(int64_t lane) { return lane % 4 * 2; }
};

struct Swizzled {
  int64_t rows, columns;

  int64_t slabs() const { return (columns + kSlabColumns - 1) / kSlabColumns; }
  int64_t slabBytes() const { return rows * kSlabRowBytes; }
  int64_t bytes() const { return slabs() * slabBytes(); }
  int64_t byteOf(int64_t row, int64_t column) const {
    return column / kSlabColumns * slabBytes() + row * kSlabRowBytes +
           ((column / 8 % 8) ^ (row % 8)) * 16 + column % 8 * 2;
  }
};

struct Staged {
  int64_t rows;

  static constexpr int64_t kColumns = 16, kRowBytes = 32;
  /// Of the swizzle: eight rows.
  static constexpr int64_t kAlignment = 256;

  int64_t bytes() const { return rows * kRowBytes; }
  int64_t byteOf(int64_t row, int64_t column) const {
    return row * kRowBytes + ((column / 8) ^ (row / 4 % 2)) * 16 +
           column % 8 * 2;
  }
};

struct Wide {
  int64_t rows, columns;

  int64_t rowBytes() const {
    return (columns * 4 + kSlabRowBytes - 1) / kSlabRowBytes * kSlabRowBytes;
  }
  int64_t bytes() const { return rows * rowBytes(); }
  int64_t byteOf(int64_t row, int64_t column) const {
    return row * rowBytes() + ((column / 8) ^ (row % 4)) * 32 + column % 8 * 4;
  }
};

/// A segment's map: a register of a lane is a place in a slab of its columns.
struct Slabs {
  int64_t keys;

  static constexpr int64_t kColumns = 16, kKeysOfPiece = 8, kPieceBytes = 512,
                           kLaneBytes = 16;
  /// Registers of a lane in a piece.
  static constexpr int64_t kRegisters = 4;

  int64_t pieces() const { return keys / kKeysOfPiece; }
  int64_t slabBytes() const { return pieces() * kPieceBytes; }
  int64_t byteOf(int64_t key, int64_t column) const {
    return column / kColumns * slabBytes() + key / kKeysOfPiece * kPieceBytes +
           (column % 8 * 4 + key % kKeysOfPiece / 2) * kLaneBytes +
           column / 8 % 2 * 8 + key % 2 * 4;
  }
};

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_ROLES_LAYOUTS_H
