//===- Cluster.cpp - What the blocks of a cluster do together -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace prism::test;
using llvm::Twine;

static constexpr unsigned kPieceBytes = 16;

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void MessageQueue::issue(unsigned thread, uint64_t to, uint64_t from,
                         uint64_t bytes, uint64_t barrier) {
  if (to % kPieceBytes || from % kPieceBytes || bytes % kPieceBytes || !bytes)
    return machine.fail("a copy between blocks of " + Twine(bytes) +
                        " bytes that is not in pieces of 16");
  if (SharedMemory::rankOf(to) != SharedMemory::rankOf(barrier))
    return machine.fail("a copy to one block, counted on another's mbarrier");
  if (!machine.barriers.find(barrier, thread))
    return;
  for (uint64_t at = 0; at < bytes && !machine.hasFailed(); at += kPieceBytes) {
    uint8_t data[kPieceBytes];
    machine.shared.readByCopy(from + at, kPieceBytes, data, thread);
    if (!machine.hasFailed())
      machine.shared.beginBox(to + at, kPieceBytes, thread);
  }
  if (machine.hasFailed())
    return;
  Message message{thread, to, from, bytes, barrier, {}};
  machine.clocks.release(thread, message.issuer);
  if (isLate)
    messages.push_back(message);
  else
    land(message);
}

/// The bytes are read as late as they are written: whoever changed them before
/// sends what it wrote.
void MessageQueue::land(const Message &message) {
  machine.checkAlive(SharedMemory::rankOf(message.to));
  machine.checkAlive(SharedMemory::rankOf(message.from));
  Moment moment =
      machine.clocks.tickAgent(machine.clocks.boxAgent(message.thread / 32));
  for (uint64_t at = 0; at < message.bytes; at += kPieceBytes) {
    machine.shared.land(message.to + at, kPieceBytes,
                        machine.shared.peek(message.from + at));
    machine.shared.endCopy(message.to + at, kPieceBytes, moment);
  }
  MBarrier *object = machine.barriers.find(message.barrier, message.thread);
  if (!object)
    return;
  Clock release = message.issuer;
  release[moment.agent] = moment.clock;
  machine.barriers.completeBytes(*object, int64_t(message.bytes), release);
  ++machine.events;
}

bool MessageQueue::landOne() {
  if (messages.empty())
    return false;
  Message last = messages.back();
  messages.pop_back();
  land(last);
  return true;
}

//===----------------------------------------------------------------------===//
// The barrier of all threads
//===----------------------------------------------------------------------===//

/// Beside those of the blocks.
static unsigned clusterBarrier(const Machine &machine) {
  return Barriers::kOfBlock * machine.blocks;
}

static bool decodeBarrier(Decoder &decoder, Operation *op) {
  if (isa<NVVM::ClusterArriveOp>(op)) {
    decoder.emit({}, {}, [](Machine &machine, Warp &warp) {
      if (!warp.isWhole())
        return machine.fail("a barrier that some thread does not reach");
      std::vector<unsigned> group;
      forLanes(warp.mask,
               [&](unsigned lane) { group.push_back(warp.thread(lane)); });
      unsigned id = clusterBarrier(machine);
      warp.clusterGeneration = machine.barriers.generation(id);
      machine.barriers.arrive(id, machine.threads, group, /*waits=*/true);
      ++machine.events;
    });
    return true;
  }
  if (!isa<NVVM::ClusterWaitOp>(op))
    return false;
  decoder.emitStep({}, {}, [](Machine &machine, Warp &warp) {
    bool isOver = machine.barriers.generation(clusterBarrier(machine)) !=
                  warp.clusterGeneration;
    return isOver ? Step::Next : Step::Blocked;
  });
  return true;
}

//===----------------------------------------------------------------------===//
// Addresses and assembly
//===----------------------------------------------------------------------===//

static bool decodeMap(Decoder &decoder, Operation *op) {
  auto map = dyn_cast<NVVM::MapaOp>(op);
  if (!map ||
      cast<LLVM::LLVMPointerType>(map.getA().getType()).getAddressSpace() != 3)
    return false;
  uint32_t from = decoder.scalar(map.getA()), rank = decoder.scalar(map.getB()),
           to = decoder.fresh();
  decoder.bind(map, {to});
  decoder.emit({from, rank}, {to}, [=](Machine &machine, Warp &warp) {
    forLanes(warp.mask, [&](unsigned lane) {
      uint64_t block = warp.lane(rank)[lane];
      if (block >= machine.blocks)
        return machine.fail("block " + Twine(block) + " of a cluster of " +
                            Twine(machine.blocks));
      warp.lane(to)[lane] = SharedMemory::mapTo(warp.lane(from)[lane], block);
    });
  });
  return true;
}

static void arrive(Machine &machine, uint64_t address, uint64_t bytes,
                   unsigned thread) {
  MBarrier *object = machine.barriers.find(address, thread);
  if (!object)
    return;
  machine.checkAlive(SharedMemory::rankOf(address));
  object->bytes += int64_t(bytes);
  Clock release;
  machine.clocks.release(thread, release);
  machine.barriers.arrive(*object, 1, release);
}

/// Arrivals at barriers of any block, and copies: operands are addresses as
/// numbers.
static bool decodeAssembly(Decoder &decoder, Operation *op) {
  auto assembly = dyn_cast<LLVM::InlineAsmOp>(op);
  if (!assembly || op->getNumResults())
    return false;
  StringRef text = assembly.getAsmString();
  bool expects =
           text == "mbarrier.arrive.expect_tx.shared::cluster.b64 _, [$0], $1;",
       arrives = text == "mbarrier.arrive.shared::cluster.b64 _, [$0];",
       copies = text == "cp.async.bulk.shared::cluster.shared::cta.mbarrier::"
                        "complete_tx::bytes [$0], [$1], $2, [$3];";
  if (!expects && !arrives && !copies)
    return false;
  Registers operands;
  for (Value operand : op->getOperands())
    operands.push_back(decoder.scalar(operand));
  decoder.emit(operands, {}, [=](Machine &machine, Warp &warp) {
    forLanes(warp.mask, [&](unsigned lane) {
      auto value = [&](unsigned i) { return warp.lane(operands[i])[lane]; };
      if (machine.hasFailed())
        return;
      if (copies)
        machine.messages.issue(warp.thread(lane), value(0), value(1), value(2),
                               value(3));
      else
        arrive(machine, value(0), expects ? value(1) : 0, warp.thread(lane));
    });
    ++machine.events;
  });
  return true;
}

bool prism::test::decodeCluster(Decoder &decoder, Operation *op) {
  return decodeBarrier(decoder, op) || decodeMap(decoder, op) ||
         decodeAssembly(decoder, op);
}
