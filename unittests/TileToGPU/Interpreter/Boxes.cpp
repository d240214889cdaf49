//===- Boxes.cpp - Boxes of arrays on their way ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include <cstring>

using namespace mlir;
using namespace prism::test;
using llvm::Twine;

/// A row of a box, and what the swizzle permutes in it.
static constexpr unsigned kRowBytes = 128, kPieceBytes = 16;

//===----------------------------------------------------------------------===//
// The engine
//===----------------------------------------------------------------------===//

uint64_t BoxQueue::Box::bytes() const {
  uint64_t bytes = 2;
  for (unsigned axis = 0; axis < map.rank; ++axis)
    bytes *= map.box[axis];
  return bytes;
}

/// PTX ISA, "Swizzling Modes": bits 4-6 of an address by its bits 7-9.
static uint64_t swizzle(uint64_t address) {
  return address ^ ((address >> 3) & 0x70);
}

void BoxQueue::issue(unsigned thread, uint64_t to, const TensorMap &map,
                     const Coordinates &first, uint64_t barrier) {
  Box box{thread, to, barrier, map, first};
  if (to % kRowBytes)
    return machine.fail("a box to an address that 128 does not divide");
  if (!machine.barriers.find(barrier, thread))
    return;
  for (uint64_t at = 0; at < box.bytes() && !machine.hasFailed();
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

/// 16 bytes from `at` on along axis 0; outside the array they are zero.
void BoxQueue::fetchPiece(const Box &box, const Coordinates &at,
                          uint8_t *data) {
  uint64_t address = box.map.address;
  for (unsigned axis = 1; axis < box.map.rank; ++axis) {
    if (at[axis] < 0 || uint32_t(at[axis]) >= box.map.extents[axis])
      return;
    address += at[axis] * box.map.strides[axis];
  }
  for (unsigned i = 0; i < kPieceBytes / 2; ++i) {
    int64_t element = int64_t(at[0]) + i;
    if (element >= 0 && element < box.map.extents[0])
      machine.loadGlobal(address + 2 * element, 2, data + 2 * i, box.thread);
  }
}

void BoxQueue::land(const Box &box) {
  Moment moment =
      machine.clocks.tickAgent(machine.clocks.boxAgent(box.thread / 32));
  for (uint64_t byte = 0; byte < box.bytes(); byte += kPieceBytes) {
    Coordinates at = box.first;
    at[0] += int32_t(byte % kRowBytes / 2);
    uint64_t row = byte / kRowBytes;
    for (unsigned axis = 1; axis < box.map.rank; ++axis) {
      at[axis] += int32_t(row % box.map.box[axis]);
      row /= box.map.box[axis];
    }
    uint8_t data[kPieceBytes] = {};
    fetchPiece(box, at, data);
    if (machine.hasFailed())
      return;
    uint64_t to = swizzle(box.to + byte);
    machine.shared.land(to, kPieceBytes, data);
    machine.shared.endCopy(to, kPieceBytes, moment);
  }
  MBarrier *object = machine.barriers.find(box.barrier, box.thread);
  if (!object)
    return;
  Clock release(machine.clocks.countAgents());
  release[moment.agent] = moment.clock;
  machine.barriers.completeBytes(*object, int64_t(box.bytes()), release);
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
// The instruction
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
  if (map.magic == TensorMap::kMagic && map.box[0] * 2 == kRowBytes)
    return map;
  machine.fail("a box by a tensor map that the call does not have");
  return std::nullopt;
}

bool prism::test::decodeBox(Decoder &decoder, Operation *op) {
  if (auto cast = dyn_cast<LLVM::AddrSpaceCastOp>(op)) {
    auto spaceOf = [](Value pointer) {
      return mlir::cast<LLVM::LLVMPointerType>(pointer.getType())
          .getAddressSpace();
    };
    // Shared memory of this block, as that of its cluster.
    if (spaceOf(cast.getArg()) != 3 || spaceOf(cast.getRes()) != 7)
      return false;
    decoder.bind(cast, decoder.of(cast.getArg()));
    return true;
  }
  auto box = dyn_cast<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(op);
  if (!box || box.getMode() != NVVM::TMALoadMode::TILE ||
      !box.getIm2colOffsets().empty() || box.getMulticastMask() ||
      box.getL2CacheHint() || box.getPredicate())
    return false;
  uint32_t to = decoder.scalar(box.getDstMem()),
           map = decoder.scalar(box.getTmaDescriptor()),
           barrier = decoder.scalar(box.getMbar());
  Registers coordinates, reads = {to, map, barrier};
  for (Value coordinate : box.getCoordinates())
    coordinates.push_back(decoder.scalar(coordinate));
  reads.append(coordinates);
  decoder.emit(reads, {}, [=](Machine &machine, Warp &warp) {
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
      BoxQueue::Coordinates first = {};
      for (size_t axis = 0; axis < coordinates.size(); ++axis)
        first[axis] = int32_t(warp.lane(coordinates[axis])[lane]);
      machine.boxes.issue(warp.thread(lane), warp.lane(to)[lane], *found, first,
                          warp.lane(barrier)[lane]);
    });
    ++machine.events;
  });
  return true;
}
