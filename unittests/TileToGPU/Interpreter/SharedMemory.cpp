//===- SharedMemory.cpp - Shared memory that knows its accesses -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SharedMemory.h"
#include <cstring>

using namespace prism::test;
using llvm::Twine;

SharedMemory::SharedMemory(uint64_t bytes, unsigned threads, unsigned blocks,
                           Clocks &clocks, Fail fail)
    : bytes(bytes), bytesOfBlock((bytes + 15) / 16 * 16),
      threadsOfBlock(threads), blocks(blocks), threads(threads * blocks),
      groups((threads * blocks + 127) / 128), clocks(clocks),
      fail(std::move(fail)) {
  data.resize(bytesOfBlock * blocks);
  cells.resize(data.size() / 2);
  wgmmaReads.resize(data.size() / 16 * groups);
}

/// An ordinary access goes to the thread's own block.
bool SharedMemory::isOwn(uint64_t address, unsigned thread) {
  if (rankOf(address) == thread / threadsOfBlock)
    return true;
  fail("thread " + Twine(thread) + " of block " +
       Twine(thread / threadsOfBlock) + " accesses byte " +
       Twine(mapTo(address, 0)) + " of block " + Twine(rankOf(address)));
  return false;
}

bool SharedMemory::isInside(uint64_t address, unsigned bytes,
                            const char *what) {
  // Without sums that could wrap around.
  uint64_t local = mapTo(address, 0);
  if (local < kBase || bytes > this->bytes || rankOf(address) >= blocks ||
      local - kBase > this->bytes - bytes) {
    fail(Twine("shared ") + what + " out of bounds, byte " + Twine(address));
    return false;
  }
  if (address % bytes || bytes < 2) {
    fail(Twine("shared ") + what + " of " + Twine(bytes) + " bytes at byte " +
         Twine(address) +
         ": unaligned, or single bytes, which are not watched");
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

void SharedMemory::checkWritten(const Cell &cell, uint64_t address,
                                unsigned thread) {
  if (cell.isBarrier)
    return fail("access to byte " + Twine(address) + " of an mbarrier");
  if (cell.isPending)
    return fail("thread " + Twine(thread) + " reads byte " + Twine(address) +
                ", to which a copy is on its way: its wait is missing");
  if (!cell.written.clock)
    return fail("missing barrier or write: thread " + Twine(thread) +
                " reads byte " + Twine(address) + ", not written so far");
  if (clocks.knows(thread, cell.written))
    return;
  if (clocks.isThread(cell.written.agent))
    return fail("missing barrier: thread " + Twine(thread) + " reads byte " +
                Twine(address) + " that thread " + Twine(cell.written.agent) +
                " wrote");
  fail("missing wait: thread " + Twine(thread) + " reads byte " +
       Twine(address) +
       " that a copy wrote, without having waited for its mbarrier");
}

void SharedMemory::addReader(Cell &cell, unsigned thread) {
  Moment now = clocks.now(thread);
  if (cell.many >= 0) {
    readersOf[cell.many][thread] = now.clock;
    return;
  }
  for (Moment &reader : cell.readers)
    if (!reader.clock || reader.agent == thread ||
        clocks.knows(thread, reader)) {
      reader = now;
      return;
    }
  if (freeReaders.empty()) {
    freeReaders.push_back(int32_t(readersOf.size()));
    readersOf.emplace_back(threads);
  }
  cell.many = freeReaders.back();
  freeReaders.pop_back();
  Clock &all = readersOf[cell.many];
  std::fill(all.begin(), all.end(), 0);
  all[thread] = now.clock;
  for (Moment &reader : cell.readers) {
    all[reader.agent] = reader.clock;
    reader = Moment();
  }
}

void SharedMemory::read(uint64_t address, unsigned bytes, void *to,
                        unsigned thread) {
  if (isInside(address, bytes, "read") && isOwn(address, thread))
    readCells(address, bytes, to, thread);
}

void SharedMemory::readRemote(uint64_t address, unsigned bytes, void *to,
                              unsigned thread) {
  if (isInside(address, bytes, "read"))
    readCells(address, bytes, to, thread);
}

void SharedMemory::readCells(uint64_t address, unsigned bytes, void *to,
                             unsigned thread) {
  for (uint64_t at = address; at < address + bytes; at += 2) {
    Cell &touched = cell(at);
    checkWritten(touched, at, thread);
    addReader(touched, thread);
  }
  std::memcpy(to, &data[place(address)], bytes);
}

void SharedMemory::checkWgmmaReads(uint64_t address, unsigned thread) {
  const uint32_t *reads = &wgmmaReads[place(address) / 16 * groups];
  for (unsigned group = 0; group < groups; ++group)
    for (unsigned warp = 4 * group; reads[group] && warp < 4 * group + 4;
         ++warp)
      if (!clocks.knows(thread,
                        {reads[group], uint16_t(clocks.wgmmaAgent(warp))}))
        return fail("thread " + Twine(thread) + " writes byte " +
                    Twine(address) + " that a wgmma of warp " + Twine(warp) +
                    " reads: its wait, or the barrier after it, is missing");
}

void SharedMemory::checkOverwrite(Cell &cell, uint64_t address,
                                  unsigned thread) {
  if (cell.isBarrier)
    return fail("access to byte " + Twine(address) + " of an mbarrier");
  if (cell.isPending)
    return fail("thread " + Twine(thread) + " writes byte " + Twine(address) +
                ", to which a copy is on its way");
  if (cell.engineReads)
    return fail("missing wait: thread " + Twine(thread) + " writes byte " +
                Twine(address) + " of a box that is being stored");
  if (!clocks.knows(thread, cell.written))
    return fail("missing barrier: two threads write byte " + Twine(address) +
                ", " + Twine(thread) + " after " + Twine(cell.written.agent));
  auto complain = [&](unsigned reader) {
    fail("missing barrier: thread " + Twine(thread) + " writes byte " +
         Twine(address) + " that thread " + Twine(reader) + " reads");
  };
  for (Moment &reader : cell.readers) {
    if (!clocks.knows(thread, reader))
      return complain(reader.agent);
    reader = Moment();
  }
  if (cell.many < 0)
    return;
  for (unsigned reader = 0; reader < threads; ++reader)
    if (!clocks.knows(thread, {readersOf[cell.many][reader], uint16_t(reader)}))
      return complain(reader);
  freeReaders.push_back(cell.many);
  cell.many = -1;
}

void SharedMemory::write(uint64_t address, unsigned bytes, const void *from,
                         unsigned thread) {
  if (!isInside(address, bytes, "write") || !isOwn(address, thread))
    return;
  checkWgmmaReads(address, thread);
  for (uint64_t at = address; at < address + bytes; at += 2) {
    Cell &touched = cell(at);
    checkOverwrite(touched, at, thread);
    touched.written = clocks.now(thread);
  }
  std::memcpy(&data[place(address)], from, bytes);
}

//===----------------------------------------------------------------------===//
// Copies, wgmmas, mbarriers
//===----------------------------------------------------------------------===//

void SharedMemory::beginCopy(uint64_t address, unsigned bytes,
                             unsigned thread) {
  if (!isInside(address, bytes, "copy"))
    return;
  checkWgmmaReads(address, thread);
  for (uint64_t at = address; at < address + bytes; at += 2) {
    Cell &touched = cell(at);
    checkOverwrite(touched, at, thread);
    touched.isPending = true;
  }
}

void SharedMemory::beginBox(uint64_t address, unsigned bytes, unsigned thread) {
  if (!isInside(address, bytes, "box"))
    return;
  for (uint64_t at = address; at < address + bytes; at += 2) {
    Moment write = cell(at).written;
    if (write.clock && clocks.isThread(write.agent) &&
        clocks.knows(thread, write) &&
        !clocks.isFenced(write, clocks.known(thread, write.agent)))
      return fail("missing fence.proxy: a box overwrites byte " + Twine(at) +
                  " that thread " + Twine(write.agent) +
                  " wrote and handed over without a fence.proxy async");
  }
  beginCopy(address, bytes, thread);
}

/// What threads wrote, and another path than theirs reads.
void SharedMemory::checkFenced(uint64_t address, unsigned bytes,
                               unsigned thread, const char *reader) {
  for (uint64_t at = address; at < address + bytes; at += 2) {
    Moment write = cell(at).written;
    if (clocks.isThread(write.agent) &&
        !clocks.isFenced(write, clocks.known(thread, write.agent)))
      return fail(Twine("missing fence.proxy: ") + reader + " reads byte " +
                  Twine(mapTo(at, 0)) + " that thread " + Twine(write.agent) +
                  " wrote and handed over without a fence.proxy async");
  }
}

void SharedMemory::readByCopy(uint64_t address, unsigned bytes, void *to,
                              unsigned thread) {
  read(address, bytes, to, thread);
  checkFenced(address, bytes, thread, "a copy to another block");
}

void SharedMemory::beginRead(uint64_t address, unsigned bytes,
                             unsigned thread) {
  if (!isInside(address, bytes, "box") || !isOwn(address, thread))
    return;
  for (uint64_t at = address; at < address + bytes; at += 2) {
    checkWritten(cell(at), at, thread);
    ++cell(at).engineReads;
  }
  checkFenced(address, bytes, thread, "a box that is stored");
}

void SharedMemory::endRead(uint64_t address, unsigned bytes, unsigned thread) {
  for (uint64_t at = address; at < address + bytes; at += 2) {
    --cell(at).engineReads;
    addReader(cell(at), thread);
  }
}

void SharedMemory::land(uint64_t address, unsigned bytes, const void *from) {
  std::memcpy(&data[place(address)], from, bytes);
}

void SharedMemory::endCopy(uint64_t address, unsigned bytes, Moment as) {
  for (uint64_t at = address; at < address + bytes; at += 2) {
    cell(at).isPending = false;
    cell(at).written = as;
  }
}

void SharedMemory::checkWgmmaCell(const Cell &cell, uint64_t address,
                                  const WgmmaReader &reader) {
  Moment write = cell.written;
  if (cell.isBarrier)
    return fail("a wgmma reads byte " + Twine(address) + " of an mbarrier");
  if (cell.isPending)
    return fail("a wgmma reads byte " + Twine(address) +
                ", to which a copy is on its way: its wait is missing");
  if (!write.clock)
    return fail("missing barrier or write: a wgmma reads byte " +
                Twine(address) + ", not written so far");
  uint32_t known = reader.knows[write.agent];
  if (known < write.clock)
    return fail("missing barrier or wait: a wgmma reads byte " +
                Twine(address) + " that " +
                (clocks.isThread(write.agent) ? "thread " + Twine(write.agent)
                                              : Twine("a copy")) +
                " wrote, and some thread of its warp group did not wait");
  if (clocks.isBox(write.agent))
    return; // written by the path by which wgmmas read
  bool isFenced =
      clocks.isThread(write.agent)
          ? clocks.isFenced(write, known)
          : clocks.isFencedByReaders(write, 128 * reader.group, 128);
  if (!isFenced)
    fail("missing fence.proxy: a wgmma reads byte " + Twine(address) +
         (clocks.isThread(write.agent)
              ? " that thread " + Twine(write.agent) +
                    " wrote and handed over without a fence.proxy async"
              : Twine(" that a cp.async wrote, and the readers have no "
                      "fence.proxy async after the wait for its mbarrier")));
}

const uint8_t *SharedMemory::readByWgmma(uint64_t address,
                                         const WgmmaReader &reader) {
  if (!isInside(address, 16, "read by wgmma"))
    return nullptr;
  for (uint64_t at = address; at < address + 16; at += 2)
    checkWgmmaCell(cell(at), at, reader);
  wgmmaReads[place(address) / 16 * groups + reader.group] = reader.number;
  return &data[place(address)];
}

bool SharedMemory::setBarrier(uint64_t address, bool isBarrier,
                              unsigned thread) {
  if (!isInside(address, 8, "mbarrier"))
    return false;
  for (uint64_t at = address; at < address + 8; at += 2) {
    Cell &touched = cell(at);
    touched.isBarrier = false;
    if (isBarrier)
      checkOverwrite(touched, at, thread);
    touched = Cell();
    touched.isBarrier = isBarrier;
  }
  return true;
}
