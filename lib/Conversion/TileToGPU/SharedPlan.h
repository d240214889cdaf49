//===- SharedPlan.h - Which tiles live where in shared memory ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Decides which tiles of a program must exist (the rest is computed where it is
// read), which of them may share one buffer (a loop-carried state is updated in
// place where no one still needs the old one), how long each lives, and at
// which byte it starts. The plan of a program depends on the program alone.
//
// Positions number the ops in program order; a loop's yield ends it. A buffer's
// life is a closed interval of positions.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOGPU_SHAREDPLAN_H
#define PRISM_LIB_CONVERSION_TILETOGPU_SHAREDPLAN_H

#include "StreamedDots.h"
#include "llvm/ADT/DenseMap.h"
#include <string>

namespace prism::tiletogpu {

/// A tile in shared memory: rows of `stride` elements. A vector is one row.
struct Buffer {
  int64_t rows = 1, columns = 1, stride = 1;
  mlir::Type element;
  int64_t offset = 0, bytes = 0;
  int64_t begin = 0, end = 0; ///< life, in positions
  bool carried = false;       ///< by a loop: a state
  bool overlaps(const Buffer &other) const {
    return offset < other.offset + other.bytes && other.offset < offset + bytes;
  }
};

/// A tile that an op reads, directly or through tiles that don't exist.
struct Source {
  mlir::Value value;
  /// Only the element that the reader writes is read.
  bool pointwise;
};

class SharedPlan {
public:
  static llvm::FailureOr<SharedPlan> make(tile::ProgramOp program,
                                          int64_t threads);

  /// The buffer of a tile; null if the tile does not exist.
  const Buffer *lookup(mlir::Value tile) const {
    auto it = bufferOf.find(tile);
    return it == bufferOf.end() ? nullptr : &buffers[it->second];
  }
  /// Where the loop's yield must put operand i first, because the copies into
  /// the carried buffers would overwrite what others read; null: nowhere.
  const Buffer *yieldTemporary(mlir::scf::ForOp loop, unsigned i) const {
    auto it = temporaries.find({loop, i});
    return it == temporaries.end() ? nullptr : &buffers[it->second];
  }
  /// Existing tiles that evaluating an element of `tile` reads.
  llvm::SmallVector<Source> sourcesOf(mlir::Value tile) const;
  /// The same for computing the tile itself, which exists.
  llvm::SmallVector<Source> sourcesOfDefinition(mlir::Value tile) const;

  /// Products whose left operand never comes to shared memory; of a loop, and
  /// one of them or null.
  llvm::SmallVector<StreamedDot> streamsOf(mlir::scf::ForOp loop) const;
  const StreamedDot *streamOf(tile::DotOp dot) const;
  bool isStreamed(mlir::Operation *load) const;

  int64_t getBytes() const { return bytes; }
  /// Which dimension to reduce for a plan of at most `limit` bytes, as a
  /// sentence's end (SharedAdvice.cpp).
  std::string advice(tile::ProgramOp program, int64_t limit) const;

private:
  struct Reader {
    mlir::Operation *op;
    bool pointwise;
  };
  llvm::LogicalResult check(tile::ProgramOp program);
  void number(tile::ProgramOp program);
  void chooseExisting(tile::ProgramOp program);
  int64_t cost(mlir::Value tile,
               llvm::DenseMap<mlir::Value, int64_t> &costs) const;
  void collectReaders(tile::ProgramOp program);
  void addReads(llvm::ArrayRef<Source> sources, mlir::Operation *op);
  void addExisting(mlir::Value tile);
  bool mustExist(mlir::Value tile,
                 llvm::DenseMap<mlir::Value, int64_t> &costs) const;
  void shareLoopBuffers(mlir::scf::ForOp loop);
  void shareInPlace(tile::ProgramOp program);
  bool isReadAfter(mlir::Value tile, mlir::Operation *writer,
                   bool pointwiseAtWriter) const;
  bool mayReplace(mlir::Value next, mlir::Value old) const;
  bool mayCarry(mlir::Value init, mlir::scf::ForOp loop,
                mlir::Value carried) const;
  void makeBuffers();
  unsigned addBuffer(mlir::RankedTensorType type);
  void findTemporaries(mlir::scf::ForOp loop);
  int64_t endOfLife(mlir::Value tile) const;
  void place();
  void collectSources(mlir::Value tile, bool pointwise,
                      llvm::SmallVectorImpl<Source> &out,
                      llvm::SmallVectorImpl<Source> &seen) const;

  llvm::SmallVector<StreamedDot> streams;
  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  llvm::DenseMap<mlir::Value, bool> existing;
  llvm::SmallVector<mlir::Value> order; ///< existing tiles, in program order
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Reader, 2>> readers;
  llvm::DenseMap<mlir::Value, mlir::Value>
      leaders; ///< union-find, smallest first
  llvm::SmallVector<Buffer> buffers;
  llvm::DenseMap<mlir::Value, unsigned> bufferOf;
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, unsigned> temporaries;
  int64_t bytes = 0;

  mlir::Value leader(mlir::Value tile) const;
  void unite(mlir::Value a, mlir::Value b);
  llvm::SmallVector<mlir::Value> membersOf(mlir::Value tile) const;
  bool exists(mlir::Value tile) const { return existing.count(tile); }
};

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_SHAREDPLAN_H
