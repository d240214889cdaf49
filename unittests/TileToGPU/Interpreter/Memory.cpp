//===- Memory.cpp - Addresses, loads and stores ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Decoder.h"

using namespace mlir;
using namespace prism::test;

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

static bool decodeAddress(Decoder &decoder, LLVM::GEPOp gep) {
  struct Term {
    uint32_t reg;
    unsigned shift;
    int64_t stride;
  };
  std::vector<Term> terms;
  int64_t offset = 0;
  Type type = gep.getElemType();
  bool isFirst = true;
  Registers reads = {decoder.scalar(gep.getBase())};
  for (auto index : gep.getIndices()) {
    if (!isFirst) {
      auto array = dyn_cast<LLVM::LLVMArrayType>(type);
      if (!array)
        return false;
      type = array.getElementType();
    }
    isFirst = false;
    int64_t stride = bytesOf(type);
    if (auto constant = dyn_cast<IntegerAttr>(index)) {
      offset += constant.getInt() * stride;
      continue;
    }
    Value dynamic = cast<Value>(index);
    reads.push_back(decoder.scalar(dynamic));
    terms.push_back({reads.back(), 64 - widthOf(dynamic.getType()), stride});
  }
  uint32_t to = decoder.fresh(), base = reads.front();
  decoder.bind(gep, {to});
  decoder.emit(reads, {to}, [=](Machine &, Warp &warp) {
    uint64_t *out = warp.lane(to), *from = warp.lane(base);
    forLanes(warp.mask, [&](unsigned lane) {
      int64_t sum = offset;
      for (const Term &term : terms)
        sum +=
            (int64_t(warp.lane(term.reg)[lane] << term.shift) >> term.shift) *
            term.stride;
      out[lane] = from[lane] + sum;
    });
  });
  return true;
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

namespace {
/// How a value lies in memory and in registers.
struct Access {
  uint32_t address;
  unsigned space, bytes, each, alignment; ///< each: bytes of a register
  Registers registers;
};
} // namespace

static std::optional<Access> makeAccess(Decoder &decoder, Value address,
                                        Type type, Registers registers,
                                        std::optional<uint64_t> alignment) {
  Access access;
  access.address = decoder.scalar(address);
  access.space =
      cast<LLVM::LLVMPointerType>(address.getType()).getAddressSpace();
  if (isa<LLVM::LLVMStructType, LLVM::LLVMArrayType>(type))
    return std::nullopt;
  access.bytes = unsigned(bytesOf(type));
  if (access.bytes > 16 || access.bytes % registers.size())
    return std::nullopt;
  access.each = access.bytes / unsigned(registers.size());
  access.alignment =
      alignment && *alignment ? unsigned(*alignment) : access.bytes;
  access.registers = std::move(registers);
  return access;
}

/// Of a block that has not ended.
static void readOfCluster(Machine &machine, uint64_t address, unsigned bytes,
                          void *to, unsigned thread) {
  machine.checkAlive(SharedMemory::rankOf(address));
  machine.shared.readRemote(address, bytes, to, thread);
}

static void loadLane(Machine &machine, Warp &warp, const Access &access,
                     unsigned lane) {
  uint64_t address = warp.lane(access.address)[lane];
  unsigned thread = warp.thread(lane);
  uint8_t data[16] = {};
  if (access.space == 3)
    machine.shared.read(address, access.bytes, data, thread);
  else if (access.space == 7)
    readOfCluster(machine, address, access.bytes, data, thread);
  else if (access.space == 0 && address < machine.parameterBytes())
    machine.loadParameter(address, access.bytes, data);
  else if (address % access.alignment)
    machine.fail("unaligned global read by thread " + llvm::Twine(thread));
  else
    machine.loadGlobal(address, access.bytes, data, thread);
  for (size_t i = 0; i < access.registers.size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, data + i * access.each, access.each);
    warp.lane(access.registers[i])[lane] = bits;
  }
}

static void storeLane(Machine &machine, Warp &warp, const Access &access,
                      unsigned lane) {
  uint64_t address = warp.lane(access.address)[lane];
  unsigned thread = warp.thread(lane);
  uint8_t data[16] = {};
  for (size_t i = 0; i < access.registers.size(); ++i)
    std::memcpy(data + i * access.each, &warp.lane(access.registers[i])[lane],
                access.each);
  if (access.space == 3)
    machine.shared.write(address, access.bytes, data, thread);
  else if (address % access.alignment)
    machine.fail("unaligned global write by thread " + llvm::Twine(thread));
  else
    machine.storeGlobal(address, access.bytes, data, thread);
}

static void emitLoad(Decoder &decoder, const Access &access) {
  decoder.emit(
      {access.address}, access.registers, [=](Machine &machine, Warp &warp) {
        forLanes(warp.mask,
                 [&](unsigned lane) { loadLane(machine, warp, access, lane); });
      });
}

/// Four words by an instruction with a hint for the L2 cache.
static bool decodeHintedLoad(Decoder &decoder, LLVM::InlineAsmOp op) {
  if (op.getAsmString() != "ld.global.L2::256B.v4.b32 {$0, $1, $2, $3}, [$4];")
    return false;
  Registers to = decoder.fresh(op.getResult(0).getType());
  decoder.bind(op.getResult(0), to);
  emitLoad(decoder, {decoder.scalar(op.getOperand(0)), /*space=*/1,
                     /*bytes=*/16, /*each=*/4, /*alignment=*/16, to});
  return true;
}

bool prism::test::decodeMemory(Decoder &decoder, Operation *op) {
  if (auto assembly = dyn_cast<LLVM::InlineAsmOp>(op))
    return decodeHintedLoad(decoder, assembly);
  if (auto gep = dyn_cast<LLVM::GEPOp>(op))
    return decodeAddress(decoder, gep);
  if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
    Registers to = decoder.fresh(load.getType());
    std::optional<Access> access = makeAccess(
        decoder, load.getAddr(), load.getType(), to, load.getAlignment());
    if (!access)
      return false;
    decoder.bind(load, to);
    emitLoad(decoder, *access);
    return true;
  }
  auto store = dyn_cast<LLVM::StoreOp>(op);
  if (!store)
    return false;
  Registers from = decoder.of(store.getValue());
  std::optional<Access> access =
      makeAccess(decoder, store.getAddr(), store.getValue().getType(), from,
                 store.getAlignment());
  if (!access)
    return false;
  Registers reads = from;
  reads.push_back(access->address);
  decoder.emit(reads, {}, [access = *access](Machine &machine, Warp &warp) {
    forLanes(warp.mask,
             [&](unsigned lane) { storeLane(machine, warp, access, lane); });
    ++machine.events;
  });
  return true;
}
