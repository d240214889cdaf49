//===- WarpOps.cpp - Special registers, shuffles and votes ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace prism::test;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Special registers
//===----------------------------------------------------------------------===//

static bool decodeSpecial(Decoder &decoder, Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (!name.consume_front("nvvm.read.ptx.sreg."))
    return false;
  using Read = std::function<uint64_t(Machine &, Warp &, unsigned lane)>;
  Read zero = [](Machine &, Warp &, unsigned) { return uint64_t(0); };
  Read one = [](Machine &, Warp &, unsigned) { return uint64_t(1); };
  Read read =
      llvm::StringSwitch<Read>(name)
          .Case("tid.x",
                [](Machine &machine, Warp &warp, unsigned lane) -> uint64_t {
                  return warp.thread(lane) % machine.threadsOfBlock;
                })
          .Case("ctaid.x",
                [](Machine &machine, Warp &warp, unsigned) -> uint64_t {
                  return uint64_t(machine.firstBlock + warp.rank);
                })
          .Case("ntid.x",
                [](Machine &machine, Warp &, unsigned) -> uint64_t {
                  return machine.threadsOfBlock;
                })
          .Case("nctaid.x",
                [](Machine &machine, Warp &, unsigned) -> uint64_t {
                  return uint64_t(machine.gridSize);
                })
          .Case(
              "laneid",
              [](Machine &, Warp &, unsigned lane) -> uint64_t { return lane; })
          .Case("warpid",
                [](Machine &machine, Warp &warp, unsigned) -> uint64_t {
                  return warp.index % (machine.threadsOfBlock / 32);
                })
          .Cases({"cluster.ctarank", "cluster.ctaid.x"},
                 [](Machine &, Warp &warp, unsigned) -> uint64_t {
                   return warp.rank;
                 })
          .Cases({"cluster.nctarank", "cluster.nctaid.x"},
                 [](Machine &machine, Warp &, unsigned) -> uint64_t {
                   return machine.blocks;
                 })
          .Case("smid",
                [](Machine &machine, Warp &warp, unsigned) -> uint64_t {
                  return machine.options.multiprocessor + warp.rank;
                })
          .Case("warpsize",
                [](Machine &, Warp &, unsigned) -> uint64_t { return 32; })
          .Cases({"tid.y", "tid.z", "ctaid.y", "ctaid.z", "cluster.ctaid.y",
                  "cluster.ctaid.z"},
                 zero)
          .Cases({"ntid.y", "ntid.z", "nctaid.y", "nctaid.z"}, one)
          .Default(nullptr);
  if (!read)
    return false;
  uint32_t to = decoder.fresh();
  decoder.bind(op->getResult(0), {to});
  decoder.emit({}, {to}, [=](Machine &machine, Warp &warp) {
    for (unsigned lane = 0; lane < 32; ++lane)
      warp.lane(to)[lane] = read(machine, warp, lane);
  });
  return true;
}

//===----------------------------------------------------------------------===//
// Shuffles and votes
//===----------------------------------------------------------------------===//

/// All lanes that `members` names must be here.
static bool checkMembers(Machine &machine, Warp &warp, uint32_t members,
                         const char *what) {
  bool isGood = true;
  forLanes(warp.mask, [&](unsigned lane) {
    uint32_t mask = uint32_t(warp.lane(members)[lane]) & warp.lanes;
    if (mask == warp.mask || !isGood)
      return;
    isGood = false;
    uint32_t missing = mask & ~warp.mask;
    machine.fail(missing
                     ? Twine(what) + " that lane " +
                           Twine(llvm::countr_zero(missing)) + " does not reach"
                     : Twine(what) + " by lanes outside its mask");
  });
  return isGood;
}

/// The lane a shuffle reads and whether it lies in its segment.
static std::pair<unsigned, bool> shuffleSource(NVVM::ShflKind kind,
                                               unsigned lane, uint32_t distance,
                                               uint32_t maskAndClamp) {
  unsigned clamp = maskAndClamp & 31, segment = maskAndClamp >> 8 & 31;
  unsigned last = (lane & segment) | (clamp & ~segment);
  unsigned first = lane & segment;
  int source = int(lane);
  distance &= 31;
  bool isValid = true;
  switch (kind) {
  case NVVM::ShflKind::up:
    source = int(lane) - int(distance);
    isValid = source >= int(last);
    break;
  case NVVM::ShflKind::down:
    source = int(lane + distance);
    isValid = source <= int(last);
    break;
  case NVVM::ShflKind::bfly:
    source = int(lane ^ distance);
    isValid = source <= int(last);
    break;
  case NVVM::ShflKind::idx:
    source = int(first | (distance & ~segment));
    isValid = source <= int(last);
    break;
  }
  return {isValid ? unsigned(source) : lane, isValid};
}

static bool decodeShuffle(Decoder &decoder, Operation *op) {
  auto shuffle = dyn_cast<NVVM::ShflOp>(op);
  if (!shuffle)
    return false;
  uint32_t members = decoder.scalar(shuffle.getThreadMask()),
           value = decoder.scalar(shuffle.getVal()),
           distance = decoder.scalar(shuffle.getOffset()),
           clamp = decoder.scalar(shuffle.getMaskAndClamp());
  Registers to = decoder.fresh(shuffle.getType());
  decoder.bind(shuffle, to);
  NVVM::ShflKind kind = shuffle.getKind();
  decoder.emit(
      {members, value, distance, clamp}, to, [=](Machine &machine, Warp &warp) {
        if (!checkMembers(machine, warp, members, "a shuffle"))
          return;
        forLanes(warp.mask, [&](unsigned lane) {
          auto [source, isValid] =
              shuffleSource(kind, lane, uint32_t(warp.lane(distance)[lane]),
                            uint32_t(warp.lane(clamp)[lane]));
          if (!(warp.mask >> source & 1))
            return machine.fail("a shuffle that lane " + Twine(source) +
                                " does not reach");
          warp.lane(to[0])[lane] = warp.lane(value)[source];
          if (to.size() > 1)
            warp.lane(to[1])[lane] = isValid;
        });
      });
  return true;
}

static bool decodeVote(Decoder &decoder, Operation *op) {
  auto vote = dyn_cast<NVVM::VoteSyncOp>(op);
  if (!vote)
    return false;
  uint32_t members = decoder.scalar(vote.getMask()),
           predicate = decoder.scalar(vote.getPred()), to = decoder.fresh();
  decoder.bind(vote, {to});
  NVVM::VoteSyncKind kind = vote.getKind();
  decoder.emit({members, predicate}, {to}, [=](Machine &machine, Warp &warp) {
    if (!checkMembers(machine, warp, members, "a vote"))
      return;
    uint32_t ballot = 0;
    forLanes(warp.mask, [&](unsigned lane) {
      ballot |= uint32_t(warp.lane(predicate)[lane] & 1) << lane;
    });
    uint32_t result = ballot;
    if (kind == NVVM::VoteSyncKind::any)
      result = ballot != 0;
    else if (kind == NVVM::VoteSyncKind::all)
      result = ballot == warp.mask;
    else if (kind == NVVM::VoteSyncKind::uni)
      result = ballot == 0 || ballot == warp.mask;
    forLanes(warp.mask, [&](unsigned lane) { warp.lane(to)[lane] = result; });
  });
  return true;
}

static bool decodeElect(Decoder &decoder, Operation *op) {
  auto elect = dyn_cast<NVVM::ElectSyncOp>(op);
  if (!elect)
    return false;
  uint32_t members = elect.getMembermask()
                         ? decoder.scalar(elect.getMembermask())
                         : decoder.constant(0xffffffff);
  uint32_t to = decoder.fresh();
  decoder.bind(elect, {to});
  decoder.emit({members}, {to}, [=](Machine &machine, Warp &warp) {
    if (!checkMembers(machine, warp, members, "an election"))
      return;
    // Which lane it is must not matter.
    bool isFirst =
        machine.options.order != InterpreterOptions::Order::Descending;
    unsigned leader = isFirst ? llvm::countr_zero(warp.mask)
                              : 31 - llvm::countl_zero(warp.mask);
    forLanes(warp.mask,
             [&](unsigned lane) { warp.lane(to)[lane] = lane == leader; });
  });
  return true;
}

bool prism::test::decodeWarp(Decoder &decoder, Operation *op) {
  if (auto sync = dyn_cast<NVVM::SyncWarpOp>(op)) {
    uint32_t members = decoder.scalar(sync.getMask());
    decoder.emit({members}, {}, [=](Machine &machine, Warp &warp) {
      if (!checkMembers(machine, warp, members, "a warp barrier"))
        return;
      std::vector<unsigned> group;
      forLanes(warp.mask,
               [&](unsigned lane) { group.push_back(warp.thread(lane)); });
      machine.clocks.meet(group);
    });
    return true;
  }
  // Prefetching changes no value.
  if (auto assembly = dyn_cast<LLVM::InlineAsmOp>(op);
      assembly && assembly.getAsmString().contains("prefetch.global"))
    return true;
  if (isa<NVVM::SetMaxRegisterOp>(op)) {
    decoder.emitStep({}, {}, [](Machine &machine, Warp &warp) {
      return machine.gather(warp) == Machine::Gathering::Incomplete
                 ? Step::Blocked
                 : Step::Next;
    });
    return true;
  }
  return decodeSpecial(decoder, op) || decodeShuffle(decoder, op) ||
         decodeVote(decoder, op) || decodeElect(decoder, op);
}
