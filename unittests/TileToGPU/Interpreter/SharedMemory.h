//===- SharedMemory.h - Shared memory that knows its accesses ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Bytes, and for every two of them who wrote them, who read them since, and
// whether a copy is on its way to them. An access that is not ordered with
// those by the clocks is a race, whether or not it did harm in this run.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_TILETOGPU_INTERPRETER_SHAREDMEMORY_H
#define PRISM_UNITTESTS_TILETOGPU_INTERPRETER_SHAREDMEMORY_H

#include "Clocks.h"
#include "llvm/ADT/Twine.h"
#include <functional>
#include <string>

namespace prism::test {

using Fail = std::function<void(const llvm::Twine &)>;

/// Four warps about to read by descriptor.
struct WgmmaReader {
  unsigned group = 0;  ///< warp group
  uint32_t number = 0; ///< of the wgmma in its group
  Clock knows;         ///< what all its threads know
};

class SharedMemory {
public:
  /// Addresses start here, not at 0: an address that was never set is a fault.
  static constexpr uint64_t kBase = 1024;
  /// Above these bits stands the block of the cluster.
  static constexpr unsigned kRankShift = 24;
  static unsigned rankOf(uint64_t address) {
    return unsigned(address >> kRankShift);
  }
  /// The same place in another block.
  static uint64_t mapTo(uint64_t address, uint64_t rank) {
    return (address & ((uint64_t(1) << kRankShift) - 1)) | rank << kRankShift;
  }

  /// `bytes` and `threads` for each of so many blocks.
  SharedMemory(uint64_t bytes, unsigned threads, unsigned blocks,
               Clocks &clocks, Fail fail);

  void read(uint64_t address, unsigned bytes, void *to, unsigned thread);
  /// The same of any block of the cluster.
  void readRemote(uint64_t address, unsigned bytes, void *to, unsigned thread);
  void write(uint64_t address, unsigned bytes, const void *from,
             unsigned thread);

  /// A cp.async is issued; until endCopy the bytes belong to it.
  void beginCopy(uint64_t address, unsigned bytes, unsigned thread);
  /// The same for a box, which comes by another path than what threads wrote.
  void beginBox(uint64_t address, unsigned bytes, unsigned thread);
  void land(uint64_t address, unsigned bytes, const void *from);
  void endCopy(uint64_t address, unsigned bytes, Moment as);

  /// The bytes at an address that was checked before.
  const uint8_t *peek(uint64_t address) const { return &data[place(address)]; }
  /// Bytes that a copy to another block reads.
  void readByCopy(uint64_t address, unsigned bytes, void *to, unsigned thread);
  /// The engine reads a box from now on, until it has: then `thread` knows.
  void beginRead(uint64_t address, unsigned bytes, unsigned thread);
  void endRead(uint64_t address, unsigned bytes, unsigned thread);

  /// The 16 bytes at `address`, read by a wgmma from now until its wait.
  const uint8_t *readByWgmma(uint64_t address, const WgmmaReader &reader);

  /// Eight bytes become an mbarrier, or memory again.
  bool setBarrier(uint64_t address, bool isBarrier, unsigned thread);

private:
  struct Cell {
    Moment written;
    Moment readers[2];
    int32_t many = -1; ///< index into readersOf, when two don't suffice
    bool isPending = false, isBarrier = false;
    uint8_t engineReads = 0; ///< boxes that are being stored from here
  };

  bool isInside(uint64_t address, unsigned bytes, const char *what);
  bool isOwn(uint64_t address, unsigned thread);
  /// Where the byte lies in `data`.
  uint64_t place(uint64_t address) const {
    return rankOf(address) * bytesOfBlock + mapTo(address, 0) - kBase;
  }
  Cell &cell(uint64_t address) { return cells[place(address) / 2]; }
  void checkFenced(uint64_t address, unsigned bytes, unsigned thread,
                   const char *reader);
  void checkWritten(const Cell &cell, uint64_t address, unsigned thread);
  void addReader(Cell &cell, unsigned thread);
  void readCells(uint64_t address, unsigned bytes, void *to, unsigned thread);
  void checkOverwrite(Cell &cell, uint64_t address, unsigned thread);
  void checkWgmmaReads(uint64_t address, unsigned thread);
  void checkWgmmaCell(const Cell &cell, uint64_t address,
                      const WgmmaReader &reader);

  std::vector<uint8_t> data;
  std::vector<Cell> cells;          ///< one for two bytes
  std::vector<Clock> readersOf;     ///< by thread
  std::vector<int32_t> freeReaders; ///< of those, unused ones
  std::vector<uint32_t> wgmmaReads; ///< [16 bytes][warp group]
  uint64_t bytes, bytesOfBlock;     ///< the latter a multiple of 16
  unsigned threadsOfBlock, blocks, threads, groups;
  Clocks &clocks;
  Fail fail;
};

} // namespace prism::test

#endif // PRISM_UNITTESTS_TILETOGPU_INTERPRETER_SHAREDMEMORY_H
