//===- Synchronisation.cpp - Barriers, fences and copies ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace prism::test;
using llvm::Twine;

static std::vector<unsigned> threadsOf(Warp &warp) {
  std::vector<unsigned> threads;
  forLanes(warp.mask,
           [&](unsigned lane) { threads.push_back(warp.thread(lane)); });
  return threads;
}

/// The value that all running lanes have.
static std::optional<uint64_t> uniform(Machine &machine, Warp &warp,
                                       uint32_t reg) {
  uint64_t first = warp.lane(reg)[llvm::countr_zero(warp.mask)];
  bool isUniform = true;
  forLanes(warp.mask,
           [&](unsigned lane) { isUniform &= warp.lane(reg)[lane] == first; });
  if (isUniform)
    return first;
  machine.fail("an operand that must be the same in all lanes is not");
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Named barriers
//===----------------------------------------------------------------------===//

static Step runBarrier(Machine &machine, Warp &warp, unsigned id,
                       uint32_t expected, bool waits) {
  if (!warp.isWhole()) {
    machine.fail("a barrier that some thread does not reach");
    return Step::Next;
  }
  if (id >= Barriers::kOfBlock ||
      (expected % 32 && expected != machine.threadsOfBlock)) {
    machine.fail("barrier " + Twine(id) + " of " + Twine(expected) +
                 " threads");
    return Step::Next;
  }
  unsigned number = id + Barriers::kOfBlock * warp.rank;
  if (!warp.hasArrived) {
    warp.generation = machine.barriers.generation(number);
    machine.barriers.arrive(number, expected, threadsOf(warp), waits);
    warp.hasArrived = waits;
    ++machine.events;
  }
  if (!waits)
    return Step::Next;
  if (machine.barriers.generation(number) == warp.generation)
    return Step::Blocked;
  warp.hasArrived = false;
  return Step::Next;
}

static bool decodeBarrier(Decoder &decoder, Operation *op) {
  Value idValue, countValue;
  bool waits = true;
  if (auto barrier = dyn_cast<NVVM::BarrierOp>(op)) {
    if (barrier.getReductionOp())
      return false;
    idValue = barrier.getBarrierId();
    countValue = barrier.getNumberOfThreads();
  } else if (auto arrive = dyn_cast<NVVM::BarrierArriveOp>(op)) {
    idValue = arrive.getBarrierId();
    countValue = arrive.getNumberOfThreads();
    waits = false;
  } else if (!isa<NVVM::Barrier0Op>(op)) {
    return false;
  }
  Registers reads;
  uint32_t id = idValue ? decoder.scalar(idValue) : decoder.constant(0);
  uint32_t count = countValue ? decoder.scalar(countValue) : 0;
  reads.push_back(id);
  if (countValue)
    reads.push_back(count);
  bool isCounted = bool(countValue);
  decoder.emitStep(reads, {}, [=](Machine &machine, Warp &warp) {
    std::optional<uint64_t> number = uniform(machine, warp, id);
    std::optional<uint64_t> expected =
        isCounted ? uniform(machine, warp, count) : machine.threadsOfBlock;
    if (!number || !expected)
      return Step::Next;
    return runBarrier(machine, warp, unsigned(*number), uint32_t(*expected),
                      waits);
  });
  return true;
}

//===----------------------------------------------------------------------===//
// mbarriers
//===----------------------------------------------------------------------===//

/// Runs `f(object, thread, lane)` for each running lane.
template <typename F>
static void forBarriers(Machine &machine, Warp &warp, uint32_t address, F f) {
  forLanes(warp.mask, [&](unsigned lane) {
    if (machine.hasFailed())
      return;
    unsigned thread = warp.thread(lane);
    if (SharedMemory::rankOf(warp.lane(address)[lane]) != warp.rank)
      return machine.fail("an mbarrier of another block");
    if (MBarrier *object =
            machine.barriers.find(warp.lane(address)[lane], thread))
      f(*object, thread, lane);
  });
  ++machine.events;
}

static bool isShared(Value address) {
  return cast<LLVM::LLVMPointerType>(address.getType()).getAddressSpace() == 3;
}

static bool decodeLifetime(Decoder &decoder, Operation *op) {
  if (auto init = dyn_cast<NVVM::MBarrierInitOp>(op)) {
    if (!isShared(init.getAddr()))
      return false;
    uint32_t address = decoder.scalar(init.getAddr()),
             count = decoder.scalar(init.getCount());
    uint32_t predicate = init.getPredicate()
                             ? decoder.scalar(init.getPredicate())
                             : decoder.constant(1);
    decoder.emit(
        {address, count, predicate}, {}, [=](Machine &machine, Warp &warp) {
          forLanes(warp.mask, [&](unsigned lane) {
            uint64_t at = warp.lane(address)[lane];
            if (!warp.lane(predicate)[lane] ||
                !machine.shared.setBarrier(at, true, warp.thread(lane)))
              return;
            machine.barriers.init(at, warp.lane(count)[lane],
                                  warp.thread(lane));
          });
        });
    return true;
  }
  auto inval = dyn_cast<NVVM::MBarrierInvalOp>(op);
  if (!inval || !isShared(inval.getAddr()))
    return false;
  uint32_t address = decoder.scalar(inval.getAddr());
  decoder.emit({address}, {}, [=](Machine &machine, Warp &warp) {
    forBarriers(machine, warp, address,
                [&](MBarrier &, unsigned thread, unsigned lane) {
                  uint64_t at = warp.lane(address)[lane];
                  machine.shared.setBarrier(at, false, thread);
                  machine.barriers.invalidate(at);
                });
  });
  return true;
}

namespace {
struct Arrival {
  Value address, count, bytes, result;
  bool isRelaxed = false, keepsPhase = false, drops = false, arrives = true,
       completesBytes = false;
};
} // namespace

static std::optional<Arrival> describeArrival(Operation *op) {
  if (auto arrive = dyn_cast<NVVM::MBarrierArriveOp>(op))
    return Arrival{arrive.getAddr(),
                   arrive.getCount(),
                   {},
                   arrive.getRes(),
                   arrive.getRelaxed()};
  if (auto arrive = dyn_cast<NVVM::MBarrierArriveDropOp>(op))
    return Arrival{arrive.getAddr(),
                   arrive.getCount(),
                   {},
                   arrive.getRes(),
                   arrive.getRelaxed(),
                   false,
                   true};
  if (auto arrive = dyn_cast<NVVM::MBarrierArriveNocompleteOp>(op))
    return Arrival{
        arrive.getAddr(), arrive.getCount(), {}, arrive.getRes(), false, true};
  if (auto arrive = dyn_cast<NVVM::MBarrierArriveDropNocompleteOp>(op))
    return Arrival{arrive.getAddr(),
                   arrive.getCount(),
                   {},
                   arrive.getRes(),
                   false,
                   true,
                   true};
  if (auto arrive = dyn_cast<NVVM::MBarrierArriveExpectTxOp>(op)) {
    if (arrive.getPredicate())
      return std::nullopt;
    return Arrival{arrive.getAddr(),
                   {},
                   arrive.getTxcount(),
                   arrive.getRes(),
                   arrive.getRelaxed()};
  }
  if (auto expect = dyn_cast<NVVM::MBarrierExpectTxOp>(op))
    return Arrival{expect.getAddr(),
                   {},
                   expect.getTxcount(),
                   {},
                   false,
                   false,
                   false,
                   false};
  if (auto complete = dyn_cast<NVVM::MBarrierCompleteTxOp>(op))
    return Arrival{complete.getAddr(),
                   {},
                   complete.getTxcount(),
                   {},
                   false,
                   false,
                   false,
                   false,
                   true};
  return std::nullopt;
}

static void arriveOnce(Machine &machine, MBarrier &object,
                       const Arrival &arrival, uint64_t count, uint64_t bytes,
                       unsigned thread) {
  object.bytes += arrival.completesBytes ? -int64_t(bytes) : int64_t(bytes);
  if (arrival.drops)
    object.expected -= count;
  Clock release;
  if (!arrival.isRelaxed)
    machine.clocks.release(thread, release);
  uint32_t phase = object.phase;
  if (arrival.arrives)
    machine.barriers.arrive(object, int64_t(count), release);
  else
    machine.barriers.completePhase(object);
  if (arrival.keepsPhase && object.phase != phase)
    machine.fail("an arrival that must not complete the phase does");
}

static bool decodeArrival(Decoder &decoder, Operation *op) {
  std::optional<Arrival> arrival = describeArrival(op);
  if (!arrival || !isShared(arrival->address))
    return false;
  uint32_t address = decoder.scalar(arrival->address);
  uint32_t count =
      arrival->count ? decoder.scalar(arrival->count) : decoder.constant(1);
  uint32_t bytes =
      arrival->bytes ? decoder.scalar(arrival->bytes) : decoder.constant(0);
  Registers writes;
  if (arrival->result) {
    writes = {decoder.fresh()};
    decoder.bind(arrival->result, writes);
  }
  decoder.emit({address, count, bytes}, writes,
               [=, what = *arrival](Machine &machine, Warp &warp) {
                 forBarriers(
                     machine, warp, address,
                     [&](MBarrier &object, unsigned thread, unsigned lane) {
                       if (!writes.empty())
                         warp.lane(writes[0])[lane] = object.phase;
                       arriveOnce(machine, object, what, warp.lane(count)[lane],
                                  warp.lane(bytes)[lane], thread);
                     });
               });
  return true;
}

/// Is the phase that `wanted` names over? A parity, or what an arrival
/// returned.
static bool isComplete(Machine &machine, const MBarrier &object,
                       uint64_t wanted, bool isParity) {
  if (isParity) {
    if (wanted > 1)
      machine.fail("a phase parity of " + Twine(wanted));
    return (object.phase & 1) != wanted;
  }
  if (object.phase - wanted > 1)
    machine.fail("a wait for a phase that is neither the current nor the "
                 "preceding one");
  return object.phase > wanted;
}

static bool decodeTest(Decoder &decoder, Operation *op) {
  Value addressValue, wantedValue;
  bool isRelaxed = false;
  if (auto test = dyn_cast<NVVM::MBarrierTestWaitOp>(op)) {
    addressValue = test.getAddr();
    wantedValue = test.getStateOrPhase();
    isRelaxed = test.getRelaxed();
  } else if (auto test = dyn_cast<NVVM::MBarrierTryWaitOp>(op)) {
    addressValue = test.getAddr();
    wantedValue = test.getStateOrPhase();
    isRelaxed = test.getRelaxed();
  } else {
    return false;
  }
  if (!isShared(addressValue))
    return false;
  uint32_t address = decoder.scalar(addressValue),
           wanted = decoder.scalar(wantedValue), to = decoder.fresh();
  bool isParity = wantedValue.getType().isInteger(32);
  decoder.bind(op->getResult(0), {to});
  decoder.emitStep({address, wanted}, {to}, [=](Machine &machine, Warp &warp) {
    bool isAny = false;
    forLanes(warp.mask, [&](unsigned lane) {
      MBarrier *object =
          machine.barriers.find(warp.lane(address)[lane], warp.thread(lane));
      bool isDone = object && isComplete(machine, *object,
                                         warp.lane(wanted)[lane], isParity);
      warp.lane(to)[lane] = isDone;
      isAny |= isDone;
      if (isDone && !isRelaxed)
        machine.clocks.acquire(warp.thread(lane), object->completed);
    });
    return isAny ? Step::Next : Step::Polled;
  });
  return true;
}

static bool decodeWait(Decoder &decoder, Operation *op) {
  auto wait = dyn_cast<NVVM::MBarrierTryWaitParityOp>(op);
  if (!wait || !isShared(wait.getAddr()))
    return false;
  uint32_t address = decoder.scalar(wait.getAddr()),
           parity = decoder.scalar(wait.getPhase());
  decoder.emitStep({address, parity}, {}, [=](Machine &machine, Warp &warp) {
    // A lane that has seen its phase end is through, whatever comes after.
    forLanes(warp.mask & ~warp.satisfied, [&](unsigned lane) {
      MBarrier *object =
          machine.barriers.find(warp.lane(address)[lane], warp.thread(lane));
      if (!object ||
          !isComplete(machine, *object, warp.lane(parity)[lane], true))
        return;
      machine.clocks.acquire(warp.thread(lane), object->completed);
      warp.satisfied |= 1u << lane;
    });
    if (warp.mask & ~warp.satisfied)
      return Step::Blocked;
    warp.satisfied = 0;
    return Step::Next;
  });
  return true;
}

//===----------------------------------------------------------------------===//
// Fences
//===----------------------------------------------------------------------===//

static bool decodeFence(Decoder &decoder, Operation *op) {
  if (isa<NVVM::FenceMbarrierInitOp>(op))
    return true; // a barrier of the block or of the cluster follows
  auto fence = dyn_cast<NVVM::FenceProxyOp>(op);
  if (!fence)
    return false;
  if (fence.getKind() != NVVM::ProxyKind::async &&
      fence.getKind() != NVVM::ProxyKind::async_shared)
    return fence.getKind() == NVVM::ProxyKind::async_global;
  decoder.emit({}, {}, [](Machine &machine, Warp &warp) {
    for (unsigned thread : threadsOf(warp))
      machine.clocks.fenceProxy(thread);
  });
  return true;
}

bool prism::test::decodeSynchronisation(Decoder &decoder, Operation *op) {
  return decodeBarrier(decoder, op) || decodeLifetime(decoder, op) ||
         decodeArrival(decoder, op) || decodeTest(decoder, op) ||
         decodeWait(decoder, op) || decodeFence(decoder, op);
}

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

bool prism::test::decodeCopy(Decoder &decoder, Operation *op) {
  auto emitForThreads = [&](auto f) {
    decoder.emit({}, {}, [f](Machine &machine, Warp &warp) {
      for (unsigned thread : threadsOf(warp))
        f(machine, thread);
    });
    return true;
  };
  if (isa<NVVM::CpAsyncCommitGroupOp>(op))
    return emitForThreads([](Machine &machine, unsigned thread) {
      machine.copies.commit(thread);
    });
  if (auto wait = dyn_cast<NVVM::CpAsyncWaitGroupOp>(op))
    return emitForThreads(
        [left = uint32_t(wait.getN())](Machine &machine, unsigned thread) {
          machine.copies.wait(thread, left);
        });
  if (auto arrive = dyn_cast<NVVM::CpAsyncMBarrierArriveOp>(op)) {
    if (!isShared(arrive.getAddr()))
      return false;
    uint32_t address = decoder.scalar(arrive.getAddr());
    decoder.emit(
        {address}, {},
        [=, isCounted = bool(arrive.getNoinc())](Machine &machine, Warp &warp) {
          forLanes(warp.mask, [&](unsigned lane) {
            machine.copies.arriveAfter(warp.thread(lane),
                                       warp.lane(address)[lane], isCounted);
          });
          ++machine.events;
        });
    return true;
  }
  auto copy = dyn_cast<NVVM::CpAsyncOp>(op);
  if (!copy)
    return false;
  uint32_t to = decoder.scalar(copy.getDst()),
           from = decoder.scalar(copy.getSrc());
  unsigned bytes = unsigned(copy.getSize());
  uint32_t valid = copy.getCpSize() ? decoder.scalar(copy.getCpSize())
                                    : decoder.constant(bytes);
  decoder.emit({to, from, valid}, {}, [=](Machine &machine, Warp &warp) {
    forLanes(warp.mask, [&](unsigned lane) {
      machine.copies.issue(warp.thread(lane), warp.lane(to)[lane],
                           warp.lane(from)[lane], bytes,
                           unsigned(warp.lane(valid)[lane]));
    });
  });
  return true;
}
