//===- KernelBuilder.h - What both GPU strategies share ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The kernel's frame: its parameter (the words of docs/Bundle.md), which work
// item a block or warp works on, where that item's part of each array lies, and
// loads and stores of single elements.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOGPU_KERNELBUILDER_H
#define PRISM_LIB_CONVERSION_TILETOGPU_KERNELBUILDER_H

#include "Prism/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <optional>

namespace prism::tiletogpu {

/// Whether an argument's axis of that letter is one of its view, and not batch,
/// time, heads or sequences.
inline bool isFeatureAxis(char letter) {
  return !llvm::StringRef("bthn").contains(letter);
}

/// Scalar arithmetic in one word each.
class ScalarBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;
  mlir::Value integer(mlir::Type type, int64_t value);
  mlir::Value i32(int64_t value) { return integer(getI32Type(), value); }
  mlir::Value i64(int64_t value) { return integer(getI64Type(), value); }
  mlir::Value real(mlir::Type type, double value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value divide(mlir::Value a, int64_t b);
  mlir::Value remainder(mlir::Value a, int64_t b);
  /// Unsigned a < b: false for negative a too.
  mlir::Value below(mlir::Value a, mlir::Value b);
  mlir::Value minimum(mlir::Value a, mlir::Value b);
  mlir::Value both(mlir::Value a, mlir::Value b); ///< either may be null: true
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  /// i32 or index to i64.
  mlir::Value wide(mlir::Value a);
  /// f32 to f64 or back where they differ.
  mlir::Value castReal(mlir::Value a, mlir::Type type);
};

/// How the axes of a tile lie on the axes of its view.
struct Slice {
  llvm::SmallVector<int64_t, 3> axisOfTile;  ///< per tile axis
  llvm::SmallVector<mlir::Value, 3> offsets; ///< per view axis, in the program
  mlir::BlockArgument view;
  llvm::SmallVector<int64_t, 2> extents; ///< of the tile
  /// Rows of a step: row t * ranks + r of the tile is element r of view axis
  /// `rankAxis` at step t.
  int64_t ranks = 1, rankAxis = 0;
  static Slice of(tile::LoadOp op);
  static Slice of(tile::StoreOp op);
  /// Of an interleave of loads that differ in one index, 0, 1, ...; none of
  /// others.
  static std::optional<Slice> of(tile::InterleaveOp op);
  /// Of either of them.
  static std::optional<Slice> ofLoaded(mlir::Value tile);

  int64_t steps() const { return extents.front() / ranks; }
  /// Whether every element is known to lie inside view axis `axis`: never on
  /// time.
  bool isWhole(int64_t axis, tile::ProgramOp program) const;
};

class KernelBuilder {
public:
  KernelBuilder(tile::ProgramOp program, ScalarBuilder &b)
      : program(program), b(b) {}

  /// Creates the kernel beside the program and puts the builder into its body.
  /// So many tensor maps follow the words. Blocks that follow each other form
  /// clusters of so many.
  mlir::LLVM::LLVMFuncOp createKernel(llvm::StringRef symbol, int64_t threads,
                                      int64_t tensorMaps = 0,
                                      int64_t cluster = 1);
  /// Ends the kernel at the builder's place.
  void finish();

  /// Number of work items of the launch, i64.
  mlir::Value countItems();
  /// Takes the item apart and finds its part of every array, for a call whose
  /// sequences share no batch row if `isUnpacked`.
  void enterItem(mlir::Value item, bool isUnpacked = false);

  /// Where `tile.sum_steps` may write, before anything else does: 8 bytes for
  /// each thread.
  void setScratch(mlir::Value shared) { scratch = shared; }

  mlir::Value thread() const { return threadId; }
  mlir::Value block() const { return blockId; }
  mlir::Value length() const { return steps; }
  /// Which of its sequence's segments the item is, i64; null where it is none.
  mlir::Value segment() const { return item.segment; }
  /// Whether the call has offsets, i1; null where it never does.
  mlir::Value hasOffsets();
  /// Whether sequences share a batch row, i1; null where they never do.
  mlir::Value packed() const { return isPacked; }
  tile::ProgramOp getProgram() const { return program; }

  /// Program scalars as kernel scalars.
  mlir::IRMapping scalars;
  /// Clones an op on scalars only, or one of tile.length, tile.value_offset and
  /// tile.sum_steps; false if the op is none of these.
  bool cloneScalarOp(mlir::Operation *op);

  /// Index on every view axis of the tile element at `local` (i32 or i64).
  llvm::SmallVector<mlir::Value, 3> viewIndices(const Slice &slice,
                                                mlir::ValueRange local);
  /// Condition under which view axis `axis` is inside, for tile-local indices
  /// below `extent`; null when that is known. The time axis is checked against
  /// the length.
  mlir::Value axisInside(const Slice &slice, int64_t axis, mlir::Value index);
  /// Condition that the argument is there; null when it must be.
  mlir::Value present(const Slice &slice);
  /// The same for all axes of an element from `first` on.
  mlir::Value indicesInside(const Slice &slice, mlir::ValueRange indices,
                            unsigned first = 0);
  /// All of these for one element.
  mlir::Value elementInside(const Slice &slice, mlir::ValueRange indices);

  /// Address of an element; where `inside` is false, one that may be read all
  /// the same (if the argument is there at all).
  mlir::Value safeAddress(const Slice &slice, mlir::ValueRange indices,
                          mlir::Value inside);
  /// Where a slab of an array of maps begins (tile.store_map): of a segment,
  /// i64, or, where that is null, of the item's own.
  mlir::Value addressOfSlab(mlir::Value map, mlir::Value segment,
                            mlir::Value slab);
  /// Elements from one step's row to the next one's, i64: negative in reverse.
  /// The view has time.
  mlir::Value stepStride(const Slice &slice);
  /// Elements from one row of a matrix tile to the next, i64.
  mlir::Value rowStride(const Slice &slice);
  /// Address and strides of the slice's argument in bytes, or-ed: what no row's
  /// start can be aligned better than. 0 for an absent argument.
  mlir::Value alignmentBits(const Slice &slice);

  /// Whether the call has all the tensor maps of a set of bits, i1; where a map
  /// lies, !llvm.ptr; and its coordinates of an element of this item, of which
  /// `row` and `column` are indices on the view's axes, i64.
  mlir::Value hasTensorMaps(uint64_t bits);
  /// Whether the rows of a slice's box are the sequence's, or such as the array
  /// does not have, i1; null where they always are.
  mlir::Value isOfOneSequence(const Slice &slice);
  mlir::Value tensorMap(int64_t map, mlir::Value zero);
  llvm::SmallVector<mlir::Value> mapCoordinates(const Slice &slice,
                                                mlir::Value row,
                                                mlir::Value column,
                                                mlir::Value zero);
  /// Emits `body` with the address and strides of the slice's argument computed
  /// anew. Here and above `zero` is an i32 0 of which the compiler knows
  /// nothing: what seldom runs, or in one thread, keeps no registers through a
  /// loop.
  void withOwnPlace(const Slice &slice, mlir::Value zero,
                    llvm::function_ref<void()> body);
  /// Emits `body` with those of another item; the argument has no time.
  void withItem(const Slice &slice, mlir::Value item,
                llvm::function_ref<void()> body);

  /// The element at an address, converted.
  mlir::Value loadFrom(const Slice &slice, mlir::Value address,
                       mlir::Type type);
  mlir::Value loadElement(const Slice &slice, mlir::ValueRange indices,
                          mlir::Type type);
  void storeElement(const Slice &slice, mlir::ValueRange indices,
                    mlir::Value value);

  /// Are neighbours on the slice's last axis neighbours in memory? Not on time.
  bool isContiguous(const Slice &slice);
  /// What of an argument's address and strides, or-ed, is no multiple of so
  /// many bytes, i64; 0 for an absent one.
  mlir::Value misalignment(unsigned argument, int64_t bytes);
  /// So many neighbours in one access, up to 16 bytes, from an element on that
  /// is aligned so: as they come, and what they are.
  /// States' words are read with a hint for the L2 cache where PTX has it.
  void allowCacheHints(bool isAllowed) { hintsCache = isAllowed; }
  llvm::SmallVector<mlir::Value> loadWords(const Slice &slice,
                                           mlir::Value address, int64_t offset,
                                           int64_t count);
  mlir::Type wordType(const Slice &slice, int64_t count);
  llvm::SmallVector<mlir::Value>
  unpackWords(const Slice &slice, mlir::ValueRange words, mlir::Type type);
  /// The address so many elements further.
  mlir::Value advance(const Slice &slice, mlir::Value address,
                      mlir::Value elements);
  /// Has a line brought to the L2 cache, if the condition holds.
  void prefetch(mlir::Value address, mlir::Value condition);
  void storeElements(const Slice &slice, mlir::ValueRange indices,
                     mlir::ValueRange values);
  /// The same at an address, in whatever memory.
  void storeWords(const Slice &slice, mlir::Value address,
                  mlir::ValueRange values);

private:
  bool hintsCache = false;
  struct Access {
    mlir::Value pointer; ///< !llvm.ptr<1> to the item's part
    mlir::Value present; ///< i1, null unless optional
    llvm::SmallVector<mlir::Value, 3> strides; ///< i64, per view axis; null: 1
  };

  mlir::Value word(int64_t index);
  /// Which part of the work an item is, each i64; no segment where sequences
  /// are not cut.
  struct Item {
    mlir::Value sequence, batch, head, firstColumn, segment;
  };
  Item takeApart(mlir::Value number);
  Item itemAnew(mlir::Value zero);
  mlir::Value headOf(tile::ArgumentAttr argument, const Item &item);
  mlir::Value sumSteps(tile::SumStepsOp op);
  mlir::Value sumOfThreads(mlir::Value mine);
  mlir::Value segmentsOfSequence();
  std::optional<unsigned> offsetsArgument();
  void readLength(bool isUnpacked);
  void cutSegment();
  Access locate(unsigned argument, const Item &item, mlir::Value zero = {});
  void withAccess(unsigned argument, const Access &access,
                  llvm::function_ref<void()> body);
  mlir::Value addressOf(const Slice &slice, mlir::ValueRange indices);

  tile::ProgramOp program;
  ScalarBuilder &b;
  mlir::LLVM::LLVMFuncOp kernel;
  mlir::Value words, threadId, blockId, scratch;
  Item item;
  mlir::Value itemNumber, firstRow, steps, isPacked;
  mlir::Value segments; ///< of a sequence; null where they are not cut
  int64_t numThreads = 0;
  int64_t segmentsWord = 0;               ///< word index
  int64_t flagsWord = 0, mapsByte = 0;    ///< of the parameter
  llvm::SmallVector<int64_t> firstStride; ///< word index, per argument
  llvm::SmallVector<Access> accesses;
};

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_KERNELBUILDER_H
