//===- LayoutsTest.cpp - The maps of roles, element by element --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the maps are compared with is written out again from the PTX ISA.
//
//===----------------------------------------------------------------------===//

#include "Roles/Layouts.h"
#include "gtest/gtest.h"
#include <set>

using namespace prism::tiletogpu;

namespace {

/// Of each 16 columns the registers of the warp that holds them, transposed, as
/// the chain has a state.
TEST(MapsInSlabs, LieAsAccumulators) {
  constexpr int64_t kColumns = 128;
  for (int64_t keys : {64, 80, 256}) {
    Slabs slabs{keys};
    Accumulator shape{keys};
    std::set<int64_t> bytes;
    for (int64_t warp = 0; warp < 8; ++warp)
      for (int64_t lane = 0; lane < 32; ++lane)
        for (int64_t r = 0; r < shape.registers(); ++r) {
          int64_t column = warp / 4 * kRowsOfGroup +
                           Accumulator::firstRow(warp, lane) + shape.rowOf(r),
                  key = Accumulator::firstColumn(lane) + shape.columnOf(r),
                  byte = slabs.byteOf(key, column);
          EXPECT_EQ(byte, warp * slabs.slabBytes() + r / 4 * 512 + lane * 16 +
                              r % 4 * 4);
          EXPECT_TRUE(bytes.insert(byte).second);
        }
    EXPECT_EQ(*bytes.rbegin(), keys * kColumns * 4 - 4);
  }
}

using Place = std::pair<int64_t, int64_t>;

Place placeOf(Accumulator shape, int64_t warp, int64_t lane, int64_t r) {
  return {Accumulator::firstRow(warp, lane) + shape.rowOf(r),
          Accumulator::firstColumn(lane) + shape.columnOf(r)};
}

TEST(Accumulators, HoldEveryElementOnce) {
  for (int64_t blocks : {1, 2, 3})
    for (int64_t columns = 8; columns <= 256; columns += 8) {
      Accumulator shape{columns, blocks};
      std::set<Place> places;
      for (int64_t warp = 0; warp < kWarpsOfGroup; ++warp)
        for (int64_t lane = 0; lane < 32; ++lane)
          for (int64_t r = 0; r < shape.registers(); ++r) {
            auto [row, column] = placeOf(shape, warp, lane, r);
            EXPECT_TRUE(row >= 0 && row < blocks * kRowsOfGroup);
            EXPECT_TRUE(column >= 0 && column < columns);
            EXPECT_TRUE(places.insert({row, column}).second)
                << row << " " << column;
          }
      EXPECT_EQ(int64_t(places.size()), blocks * kRowsOfGroup * columns);
    }
}

/// "Register Fragments for wgmma.mma_async.m64nNk16", matrix D:
///   row = 16 (warpid % 4) + groupID      for di where i % 4 is 0 or 1,
///         16 (warpid % 4) + groupID + 8  where it is 2 or 3;
///   column = 8 (i / 4) + 2 threadID_in_group + i % 2.
TEST(Accumulators, AreThoseOfWgmma) {
  for (int64_t columns : {8, 64, 128, 256})
    for (int64_t warp = 0; warp < 8; ++warp)
      for (int64_t lane = 0; lane < 32; ++lane)
        for (int64_t i = 0; i < columns / 2; ++i)
          EXPECT_EQ(placeOf({columns}, warp, lane, i),
                    Place(warp % 4 * 16 + lane / 4 + (i % 4 >= 2 ? 8 : 0),
                          i / 4 * 8 + lane % 4 * 2 + i % 2));
  // Some squares of the figure.
  EXPECT_EQ(placeOf({64}, 0, 0, 2), Place(8, 0));
  EXPECT_EQ(placeOf({64}, 0, 1, 1), Place(0, 3));
  EXPECT_EQ(placeOf({64}, 0, 4, 4), Place(1, 8));
  EXPECT_EQ(placeOf({64}, 3, 31, 31), Place(63, 63));
}

/// Matrix C of mma.m16n8k8 and m16n8k16: c0 c1 in row groupID, c2 c3 in
/// groupID + 8, columns 2 threadID_in_group + i % 2. A 16 x 16 block is two.
TEST(Accumulators, AreThoseOfMmaSync) {
  for (int64_t lane = 0; lane < 32; ++lane)
    for (int64_t half = 0; half < 2; ++half)
      for (int64_t i = 0; i < 4; ++i)
        EXPECT_EQ(
            placeOf({16}, 0, lane, 4 * half + i),
            Place(lane / 4 + (i < 2 ? 0 : 8), 8 * half + lane % 4 * 2 + i % 2));
}

/// Matrix A of wgmma m64k16 and of mma m16n8k16, elements a0 .. a7 of a thread:
/// rows groupID for i = 0 1 4 5, else groupID + 8; columns
/// 2 threadID_in_group + i % 2, and 8 more for i >= 4.
TEST(Accumulators, PackedAreTheOperandA) {
  for (int64_t columns : {64, 128, 192})
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t step = 0; step < columns / 16; ++step)
        for (int64_t i = 0; i < 8; ++i)
          EXPECT_EQ(placeOf({columns}, 0, lane, 8 * step + i),
                    Place(lane / 4 + (i % 4 < 2 ? 0 : 8),
                          16 * step + lane % 4 * 2 + i % 2 + (i < 4 ? 0 : 8)));
}

/// Matrix B of mma m16n8k16, elements b0 .. b3: rows 2 threadID_in_group +
/// i % 2, and 8 more for i >= 2; column groupID. Of a transposed 16 x 16 block,
/// columns 0 - 7 are registers 0 1 4 5, columns 8 - 15 the others.
TEST(Accumulators, TransposedAreTheOperandB) {
  for (int64_t lane = 0; lane < 32; ++lane)
    for (int64_t half = 0; half < 2; ++half)
      for (int64_t i = 0; i < 4; ++i) {
        auto [row, column] =
            placeOf({16}, 0, lane, i / 2 * 4 + 2 * half + i % 2);
        EXPECT_EQ(
            Place(column, row),
            Place(lane % 4 * 2 + i % 2 + (i < 2 ? 0 : 8), 8 * half + lane / 4));
      }
}

const Swizzled kSwizzled[] = {{64, 64}, {64, 128}, {64, 72}, {128, 192},
                              {8, 8},   {128, 64}, {64, 96}, {192, 256}};

TEST(SwizzledTiles, HoldEveryElementOnce) {
  for (Swizzled tile : kSwizzled) {
    std::set<int64_t> bytes;
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t column = 0; column < tile.columns; ++column) {
        int64_t byte = tile.byteOf(row, column);
        EXPECT_EQ(byte % 2, 0);
        EXPECT_TRUE(byte >= 0 && byte < tile.bytes());
        EXPECT_TRUE(bytes.insert(byte).second) << row << " " << column;
      }
    EXPECT_EQ(int64_t(bytes.size()), tile.rows * tile.columns);
    EXPECT_EQ(tile.slabBytes() % kSwizzleBytes, 0);
  }
}

/// "Strides" and "Swizzling Modes": in 128-byte mode the address bits 4 - 6 are
/// xor-ed with the bits 7 - 9. K-major, a row of 64 elements is 128 bytes and
/// eight rows are 1024, the stride in a descriptor.
TEST(SwizzledTiles, AreThoseOfDescriptors) {
  for (Swizzled tile : kSwizzled)
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t column = 0; column < tile.columns; ++column) {
        int64_t plain = column / 64 * (tile.rows * 128) + row / 8 * 1024 +
                        row % 8 * 128 + column % 64 * 2;
        EXPECT_EQ(tile.byteOf(row, column), plain ^ (plain >> 7 & 7) << 4);
      }
}

/// The eight rows that ldmatrix and stmatrix take at once.
TEST(SwizzledTiles, RowsMeetInNoBank) {
  for (Swizzled tile : kSwizzled)
    for (int64_t row = 0; row < tile.rows; row += 8)
      for (int64_t column = 0; column < tile.columns; column += 8) {
        std::set<int64_t> banks;
        for (int64_t i = 0; i < 8; ++i)
          banks.insert(tile.byteOf(row + i, column) % 128 / 16);
        EXPECT_EQ(banks.size(), 8u);
      }
}

const Staged kStaged[] = {{16}, {32}, {64}};

/// "Swizzling Modes": in 32-byte mode the address bit 4 is xor-ed with bit 7.
TEST(StagedTiles, AreThoseOfTheEngine) {
  for (Staged tile : kStaged) {
    EXPECT_EQ(tile.bytes() % Staged::kAlignment, 0);
    std::set<int64_t> bytes;
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t column = 0; column < Staged::kColumns; ++column) {
        int64_t plain = row * 32 + column * 2;
        EXPECT_EQ(tile.byteOf(row, column), plain ^ (plain >> 7 & 1) << 4);
        EXPECT_TRUE(bytes.insert(tile.byteOf(row, column)).second);
      }
    EXPECT_EQ(int64_t(bytes.size()) * 2, tile.bytes());
  }
}

/// The eight rows of 16 bytes that stmatrix writes at once.
TEST(StagedTiles, RowsMeetInNoBank) {
  Staged tile{64};
  for (int64_t row = 0; row < tile.rows; row += 8)
    for (int64_t column = 0; column < Staged::kColumns; column += 8) {
      std::set<int64_t> banks;
      for (int64_t i = 0; i < 8; ++i)
        banks.insert(tile.byteOf(row + i, column) % 128 / 16);
      EXPECT_EQ(banks.size(), 8u);
    }
}

const Wide kWide[] = {{64, 64}, {64, 80}, {64, 112}, {64, 128}};

TEST(WideTiles, HoldEveryElementOnce) {
  for (Wide tile : kWide) {
    std::set<int64_t> bytes;
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t column = 0; column < tile.columns; ++column) {
        int64_t byte = tile.byteOf(row, column);
        EXPECT_EQ(byte % 4, 0);
        EXPECT_TRUE(byte >= 0 && byte < tile.bytes());
        EXPECT_TRUE(bytes.insert(byte).second) << row << " " << column;
      }
  }
}

/// Sixteen lanes read a pair each at once: four rows of eight columns.
TEST(WideTiles, PairsOfAnAccumulatorMeetInNoBank) {
  for (Wide tile : kWide)
    for (int64_t row = 0; row < tile.rows; row += 4)
      for (int64_t column = 0; column < tile.columns; column += 8) {
        std::set<int64_t> banks;
        for (int64_t i = 0; i < 16; ++i)
          banks.insert(tile.byteOf(row + i / 4, column + i % 4 * 2) % 128 / 8);
        EXPECT_EQ(banks.size(), 16u);
      }
}

} // namespace
