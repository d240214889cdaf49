//===- Boxes.cpp - Boxes of arrays on their way ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include <cstring>

using namespace mlir;
using namespace prism::test;
using llvm::Twine;

/// What the swizzle permutes.
static constexpr unsigned kPieceBytes = 16;
static constexpr unsigned kAlignment = 128;

/// Bytes that follow each other, as a box in rows of one piece: no swizzle.
static TensorMap plainMap(uint64_t address, uint64_t bytes) {
  TensorMap map;
  map.address = address;
  map.rank = 2;
  map.box[0] = map.extents[0] = kPieceBytes / 2;
  map.box[1] = map.extents[1] = uint32_t(bytes / kPieceBytes);
  map.strides[1] = kPieceBytes;
  return map;
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

static uint64_t rowBytesOf(const TensorMap &map) { return 2 * map.box[0]; }

/// Of its place in shared memory.
static unsigned alignmentOf(const TensorMap &map) {
  return rowBytesOf(map) == kPieceBytes ? kPieceBytes : kAlignment;
}

static uint64_t bytesOfBox(const TensorMap &map) {
  uint64_t bytes = 2;
  for (unsigned axis = 0; axis < map.rank; ++axis)
    bytes *= map.box[axis];
  return bytes;
}

/// PTX ISA, "Swizzling Modes": of 128 bytes bits 4-6 of an address by its bits
/// 7-9, of 32 bytes bit 4 by bit 7.
static uint64_t swizzle(uint64_t address, const TensorMap &map) {
  return address ^ ((address >> 3) & (rowBytesOf(map) - kPieceBytes));
}

/// Where in the array a piece of a box lies.
static Coordinates placeOf(const TensorMap &map, const Coordinates &first,
                           uint64_t byte) {
  Coordinates at = first;
  at[0] += int32_t(byte % rowBytesOf(map) / 2);
  uint64_t row = byte / rowBytesOf(map);
  for (unsigned axis = 1; axis < map.rank; ++axis) {
    at[axis] += int32_t(row % map.box[axis]);
    row /= map.box[axis];
  }
  return at;
}

/// Runs `f(address, offset)` for those of the piece's elements that are inside
/// the array: where they lie there, and in the piece.
template <typename F>
static void forElements(const TensorMap &map, const Coordinates &at, F f) {
  uint64_t address = map.address;
  for (unsigned axis = 1; axis < map.rank; ++axis) {
    if (at[axis] < 0 || uint32_t(at[axis]) >= map.extents[axis])
      return;
    address += at[axis] * map.strides[axis];
  }
  for (unsigned i = 0; i < kPieceBytes / 2; ++i) {
    int64_t element = int64_t(at[0]) + i;
    if (element >= 0 && element < map.extents[0])
      f(address + 2 * element, 2 * i);
  }
}

//===----------------------------------------------------------------------===//
// To shared memory
//===----------------------------------------------------------------------===//

void BoxQueue::issue(unsigned thread, uint64_t to, const TensorMap &map,
                     const Coordinates &first, uint64_t barrier) {
  Box box{thread, to, barrier, map, first};
  if (to % alignmentOf(map))
    return machine.fail("a box to an address that " + Twine(alignmentOf(map)) +
                        " does not divide");
  if (!machine.barriers.find(barrier, thread))
    return;
  for (uint64_t at = 0; at < bytesOfBox(map) && !machine.hasFailed();
       at += kPieceBytes)
    machine.shared.beginBox(to + at, kPieceBytes, thread);
  if (machine.hasFailed())
    return;
  ++issued;
  if (isLate)
    boxes.push_back(box);
  else
    land(box);
}

/// What lies outside the array is zero.
void BoxQueue::land(const Box &box) {
  Moment moment =
      machine.clocks.tickAgent(machine.clocks.boxAgent(box.thread / 32));
  uint64_t bytes = bytesOfBox(box.map);
  for (uint64_t byte = 0; byte < bytes; byte += kPieceBytes) {
    uint8_t data[kPieceBytes] = {};
    forElements(box.map, placeOf(box.map, box.first, byte),
                [&](uint64_t address, unsigned offset) {
                  machine.loadGlobal(address, 2, data + offset, box.thread);
                });
    if (machine.hasFailed())
      return;
    uint64_t to = swizzle(box.to + byte, box.map);
    machine.shared.land(to, kPieceBytes, data);
    machine.shared.endCopy(to, kPieceBytes, moment);
  }
  MBarrier *object = machine.barriers.find(box.barrier, box.thread);
  if (!object)
    return;
  Clock release(machine.clocks.countAgents());
  release[moment.agent] = moment.clock;
  machine.barriers.completeBytes(*object, int64_t(bytes), release);
  ++machine.events;
}

bool BoxQueue::landOne() {
  if (boxes.empty())
    return false;
  Box last = boxes.back();
  boxes.pop_back();
  land(last);
  return true;
}

//===----------------------------------------------------------------------===//
// To global memory
//===----------------------------------------------------------------------===//

void StoreQueue::issue(unsigned thread, uint64_t from, const TensorMap &map,
                       const Coordinates &first) {
  if (from % alignmentOf(map))
    return machine.fail("a box from an address that " +
                        Twine(alignmentOf(map)) + " does not divide");
  for (uint64_t at = 0; at < bytesOfBox(map) && !machine.hasFailed();
       at += kPieceBytes)
    machine.shared.beginRead(from + at, kPieceBytes, thread);
  if (machine.hasFailed())
    return;
  ++issued;
  Moment written =
      machine.clocks.tickAgent(machine.clocks.storeAgent(thread / 32));
  Box box{from, map, first, written, kOpen};
  if (!isLate)
    write(box, thread);
  queues[thread].boxes.push_back(box);
}

/// Nothing goes where the array is not.
void StoreQueue::write(const Box &box, unsigned thread) {
  for (uint64_t byte = 0; byte < bytesOfBox(box.map); byte += kPieceBytes) {
    const uint8_t *data =
        machine.shared.peek(swizzle(box.from + byte, box.map));
    forElements(box.map, placeOf(box.map, box.first, byte),
                [&](uint64_t address, unsigned offset) {
                  machine.storeGlobal(address, 2, data + offset, thread,
                                      box.written);
                });
  }
}

void StoreQueue::commit(unsigned thread) {
  Queue &queue = queues[thread];
  for (Box &box : queue.boxes)
    if (box.group == kOpen)
      box.group = queue.committed;
  ++queue.committed;
}

void StoreQueue::endRead(Box &box, unsigned thread) {
  if (box.isRead)
    return;
  if (isLate)
    write(box, thread);
  for (uint64_t at = 0; at < bytesOfBox(box.map); at += kPieceBytes)
    machine.shared.endRead(box.from + at, kPieceBytes, thread);
  box.isRead = true;
}

void StoreQueue::wait(unsigned thread, uint32_t left, bool readsOnly) {
  Queue &queue = queues[thread];
  uint32_t end = queue.committed > left ? queue.committed - left : 0;
  std::vector<Box> remaining;
  for (Box &box : queue.boxes) {
    bool isAwaited = box.group < end; // kOpen is not
    if (isAwaited)
      endRead(box, thread);
    if (isAwaited && !readsOnly)
      machine.clocks.acquire(thread, box.written);
    else
      remaining.push_back(box);
  }
  queue.boxes = std::move(remaining);
}

bool StoreQueue::isEmpty() const {
  return llvm::all_of(queues, [](const Queue &queue) {
    return llvm::all_of(queue.boxes, [](const Box &box) { return box.isRead; });
  });
}

//===----------------------------------------------------------------------===//
// The instructions
//===----------------------------------------------------------------------===//

static std::optional<TensorMap> findMap(Machine &machine, uint64_t address) {
  const void *bytes = machine.parameterAt(address, sizeof(TensorMap));
  if (!bytes || address % 64) {
    machine.fail("a tensor map that is not at a multiple of 64 bytes of the "
                 "parameter");
    return std::nullopt;
  }
  TensorMap map;
  std::memcpy(&map, bytes, sizeof(map));
  if (map.magic == TensorMap::kMagic &&
      (rowBytesOf(map) == 32 || rowBytesOf(map) == 128))
    return map;
  machine.fail("a box by a tensor map that the call does not have");
  return std::nullopt;
}

namespace {
/// A lane's map and coordinates.
struct Operands {
  uint32_t map;
  Registers coordinates;

  template <typename Box> Operands(Decoder &decoder, Box box) {
    map = decoder.scalar(box.getTmaDescriptor());
    for (Value coordinate : box.getCoordinates())
      coordinates.push_back(decoder.scalar(coordinate));
  }

  Registers with(ArrayRef<uint32_t> others) const {
    Registers all = coordinates;
    all.push_back(map);
    all.append(others.begin(), others.end());
    return all;
  }

  /// Runs `f(lane, map, first)` for each running lane.
  template <typename F> void forBoxes(Machine &machine, Warp &warp, F f) const {
    forLanes(warp.mask, [&](unsigned lane) {
      if (machine.hasFailed())
        return;
      std::optional<TensorMap> found = findMap(machine, warp.lane(map)[lane]);
      if (!found)
        return;
      if (found->rank != coordinates.size())
        return machine.fail("a box of " + Twine(coordinates.size()) +
                            " coordinates in an array of " +
                            Twine(found->rank) + " axes");
      Coordinates first = {};
      for (size_t axis = 0; axis < coordinates.size(); ++axis)
        first[axis] = int32_t(warp.lane(coordinates[axis])[lane]);
      f(lane, *found, first);
    });
    ++machine.events;
  }
};
} // namespace

static bool decodeLoad(Decoder &decoder, Operation *op) {
  auto box = dyn_cast<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(op);
  if (!box || box.getMode() != NVVM::TMALoadMode::TILE ||
      !box.getIm2colOffsets().empty() || box.getMulticastMask() ||
      box.getL2CacheHint() || box.getPredicate())
    return false;
  uint32_t to = decoder.scalar(box.getDstMem()),
           barrier = decoder.scalar(box.getMbar());
  Operands operands(decoder, box);
  decoder.emit(
      operands.with({to, barrier}), {}, [=](Machine &machine, Warp &warp) {
        operands.forBoxes(
            machine, warp,
            [&](unsigned lane, const TensorMap &map, const Coordinates &first) {
              machine.boxes.issue(warp.thread(lane), warp.lane(to)[lane], map,
                                  first, warp.lane(barrier)[lane]);
            });
      });
  return true;
}

static bool decodeStore(Decoder &decoder, Operation *op) {
  auto box = dyn_cast<NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp>(op);
  if (!box || box.getMode() != NVVM::TMAStoreMode::TILE ||
      box.getL2CacheHint() || box.getPredicate())
    return false;
  uint32_t from = decoder.scalar(box.getSrcMem());
  Operands operands(decoder, box);
  decoder.emit(operands.with({from}), {}, [=](Machine &machine, Warp &warp) {
    operands.forBoxes(
        machine, warp,
        [&](unsigned lane, const TensorMap &map, const Coordinates &first) {
          machine.stores.issue(warp.thread(lane), warp.lane(from)[lane], map,
                               first);
        });
  });
  return true;
}

/// The piece of global memory that a copy without a map names.
static std::optional<TensorMap> plainOf(Machine &machine, uint64_t address,
                                        uint64_t bytes) {
  if (address % kPieceBytes == 0 && bytes % kPieceBytes == 0 && bytes > 0)
    return plainMap(address, bytes);
  machine.fail("a bulk copy of " + Twine(bytes) +
               " bytes of global memory, or from where, that 16 does not "
               "divide");
  return std::nullopt;
}

/// Runs `f(lane, map)` for each running lane's copy.
template <typename F>
static void forCopies(Machine &machine, Warp &warp, uint32_t address,
                      uint32_t bytes, F f) {
  forLanes(warp.mask, [&](unsigned lane) {
    if (machine.hasFailed())
      return;
    auto map = plainOf(machine, warp.lane(address)[lane],
                       uint32_t(warp.lane(bytes)[lane]));
    if (map)
      f(lane, *map);
  });
  ++machine.events;
}

static bool decodeBulk(Decoder &decoder, Operation *op) {
  if (auto copy = dyn_cast<NVVM::CpAsyncBulkGlobalToSharedClusterOp>(op)) {
    if (copy.getMulticastMask() || copy.getL2CacheHint())
      return false;
    uint32_t to = decoder.scalar(copy.getDstMem()),
             from = decoder.scalar(copy.getSrcMem()),
             barrier = decoder.scalar(copy.getMbar()),
             bytes = decoder.scalar(copy.getSize());
    decoder.emit({to, from, barrier, bytes}, {},
                 [=](Machine &machine, Warp &warp) {
                   forCopies(machine, warp, from, bytes,
                             [&](unsigned lane, const TensorMap &map) {
                               machine.boxes.issue(warp.thread(lane),
                                                   warp.lane(to)[lane], map, {},
                                                   warp.lane(barrier)[lane]);
                             });
                 });
    return true;
  }
  auto copy = dyn_cast<NVVM::CpAsyncBulkSharedCTAToGlobalOp>(op);
  if (!copy || copy.getByteMask() || copy.getL2CacheHint())
    return false;
  uint32_t to = decoder.scalar(copy.getDstMem()),
           from = decoder.scalar(copy.getSrcMem()),
           bytes = decoder.scalar(copy.getSize());
  decoder.emit({to, from, bytes}, {}, [=](Machine &machine, Warp &warp) {
    forCopies(machine, warp, to, bytes,
              [&](unsigned lane, const TensorMap &map) {
                machine.stores.issue(warp.thread(lane), warp.lane(from)[lane],
                                     map, {});
              });
  });
  return true;
}

/// Groups of what each thread had stored.
static bool decodeGroup(Decoder &decoder, Operation *op) {
  auto wait = dyn_cast<NVVM::CpAsyncBulkWaitGroupOp>(op);
  if (!wait && !isa<NVVM::CpAsyncBulkCommitGroupOp>(op))
    return false;
  bool waits = bool(wait), readsOnly = wait && wait.getRead();
  uint32_t left = wait ? uint32_t(wait.getGroup()) : 0;
  decoder.emit({}, {}, [=](Machine &machine, Warp &warp) {
    forLanes(warp.mask, [&](unsigned lane) {
      if (waits)
        machine.stores.wait(warp.thread(lane), left, readsOnly);
      else
        machine.stores.commit(warp.thread(lane));
    });
  });
  return true;
}

/// Shared memory of this block, as that of its cluster.
static bool decodeCast(Decoder &decoder, Operation *op) {
  auto cast = dyn_cast<LLVM::AddrSpaceCastOp>(op);
  auto spaceOf = [](Value pointer) {
    return mlir::cast<LLVM::LLVMPointerType>(pointer.getType())
        .getAddressSpace();
  };
  if (!cast || spaceOf(cast.getArg()) != 3 || spaceOf(cast.getRes()) != 7)
    return false;
  decoder.bind(cast, decoder.of(cast.getArg()));
  return true;
}

bool prism::test::decodeBox(Decoder &decoder, Operation *op) {
  return decodeCast(decoder, op) || decodeLoad(decoder, op) ||
         decodeStore(decoder, op) || decodeBulk(decoder, op) ||
         decodeGroup(decoder, op);
}
