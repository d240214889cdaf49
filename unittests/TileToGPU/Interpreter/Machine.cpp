//===- Machine.cpp - The threads of one block and what they share ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cstring>

using namespace prism::test;
using llvm::Twine;

Machine::Machine(const Program &program, unsigned threadsOfBlock,
                 uint64_t sharedBytes, unsigned blocks,
                 InterpreterOptions options)
    : program(program), threadsOfBlock(threadsOfBlock), blocks(blocks),
      threads(threadsOfBlock * blocks), options(options), clocks(threads),
      shared(sharedBytes, threadsOfBlock, blocks, clocks,
             [this](const Twine &what) { fail(what); }),
      barriers(clocks, [this](const Twine &what) { fail(what); }),
      copies(*this, threads,
             options.copies == InterpreterOptions::Copies::Late),
      boxes(*this, options.copies == InterpreterOptions::Copies::Late),
      stores(*this, threads,
             options.copies == InterpreterOptions::Copies::Late),
      messages(*this, options.copies == InterpreterOptions::Copies::Late),
      warps((threads + 31) / 32), shapes((threads + 127) / 128),
      random(options.seed) {
  for (unsigned i = 0; i < warps.size(); ++i) {
    warps[i].index = i;
    warps[i].rank = 32 * i / threadsOfBlock;
    unsigned count = std::min(32u, threads - 32 * i);
    warps[i].lanes = warps[i].mask = count == 32 ? ~0u : (1u << count) - 1;
  }
}

std::string prism::test::describe(mlir::Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os, mlir::OpPrintingFlags().skipRegions().useLocalScope());
  if (text.size() > 300)
    text.resize(300);
  os << " (";
  op->getLoc().print(os);
  os << ")";
  return text;
}

void Machine::fail(const Twine &what) {
  if (!fault.empty())
    return;
  fault = what.str();
  if (current)
    fault += " at " + describe(current);
}

void Machine::checkAlive(unsigned rank) {
  for (const Warp &warp : warps)
    if (warp.rank == rank && !warp.isFinished)
      return;
  fail("access to the shared memory of block " + Twine(rank) +
       ", which has ended");
}

//===----------------------------------------------------------------------===//
// Global memory and the parameter
//===----------------------------------------------------------------------===//

bool Machine::isAllowed(uint64_t address, unsigned bytes) const {
  for (auto [base, size] : allowed)
    if (address >= base && bytes <= size && address - base <= size - bytes)
      return true;
  return false;
}

std::string Machine::nameOf(unsigned agent) const {
  return clocks.isThread(agent) ? "thread " + std::to_string(agent)
                                : "a box that was stored";
}

void Machine::loadGlobal(uint64_t address, unsigned bytes, void *to,
                         unsigned thread) {
  if (!isAllowed(address, bytes))
    return fail("global read out of bounds by thread " + Twine(thread));
  for (uint64_t at = address / 2; 2 * at < address + bytes; ++at)
    if (auto it = written.find(at);
        it != written.end() && !clocks.knows(thread, it->second))
      return fail("missing barrier: thread " + Twine(thread) +
                  " reads global memory that " + nameOf(it->second.agent) +
                  " wrote");
  std::memcpy(to, reinterpret_cast<const void *>(address), bytes);
}

void Machine::storeGlobal(uint64_t address, unsigned bytes, const void *from,
                          unsigned thread, std::optional<Moment> as) {
  if (!isAllowed(address, bytes))
    return fail("global write out of bounds by thread " + Twine(thread));
  for (uint64_t at = address / 2; 2 * at < address + bytes; ++at) {
    Moment &writer = written[at];
    if (!clocks.knows(thread, writer))
      return fail("missing barrier: " + nameOf(writer.agent) + " and thread " +
                  Twine(thread) + " write the same global memory");
    writer = as.value_or(clocks.now(thread));
  }
  std::memcpy(reinterpret_cast<void *>(address), from, bytes);
}

const void *Machine::parameterAt(uint64_t address, unsigned bytes) const {
  if (bytes > parameterBytes() || address > parameterBytes() - bytes)
    return nullptr;
  return reinterpret_cast<const char *>(parameter.data()) + address;
}

void Machine::loadParameter(uint64_t address, unsigned bytes, void *to) {
  const void *from = parameterAt(address, bytes);
  if (address % bytes || !from)
    return fail("parameter read out of bounds");
  std::memcpy(to, from, bytes);
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

void Machine::start(Warp &warp, llvm::ArrayRef<uint64_t> words) {
  warp.bits.assign(size_t(program.registers) * 32, 0);
  warp.states.assign(program.registers, RegisterState());
  warp.states[program.undefined].product = kUndefined;
  auto set = [&](uint32_t reg, uint64_t bits) {
    std::fill_n(warp.lane(reg), 32, bits);
  };
  for (auto [reg, bits] : program.constants)
    set(reg, bits);
  for (size_t i = 0; i < program.arguments.size(); ++i)
    set(program.arguments[i], program.hasParameterBlock ? 0 : words[i]);
}

Machine::Gathering Machine::gather(Warp &warp) {
  if (warp.isReleased) {
    warp.isReleased = false;
    return Gathering::Released;
  }
  unsigned first = warp.index / 4 * 4;
  if (first + 4 > warps.size() || !warp.isWhole() || warp.lanes != ~0u) {
    fail("an instruction of a whole warp group, reached by part of it");
    return Gathering::Incomplete;
  }
  warp.hasArrived = true;
  for (unsigned i = first; i < first + 4; ++i)
    if (!warps[i].hasArrived || warps[i].pc != warp.pc)
      return Gathering::Incomplete;
  // One that comes again in a loop must find none of this round.
  for (unsigned i = first; i < first + 4; ++i) {
    warps[i].isReleased = &warps[i] != &warp;
    warps[i].hasArrived = false;
  }
  ++events;
  return Gathering::Last;
}

bool Machine::checkReads(Warp &warp, const Instruction &instruction) {
  for (uint32_t reg : instruction.reads) {
    uint32_t product = warp.states[reg].product;
    if (product <= warp.retired)
      continue;
    fail(product == kUndefined
             ? Twine("use of an undefined value")
             : "warp " + Twine(warp.index) +
                   " uses an accumulator whose wgmma has not been waited for");
    return false;
  }
  return true;
}

void Machine::finishWrites(Warp &warp, const Instruction &instruction) {
  for (uint32_t reg : instruction.writes) {
    RegisterState &state = warp.states[reg];
    if (state.reader > warp.retired)
      fail("warp " + Twine(warp.index) +
           " overwrites a register that a wgmma still reads as A");
    state = {0, warp.time, 0};
  }
}

bool Machine::runWarp(Warp &warp, uint64_t steps) {
  uint64_t before = events;
  bool isPolling = false;
  while (!hasFailed() && steps--) {
    const Instruction &instruction = program.code[warp.pc];
    current = instruction.op;
    if (!checkReads(warp, instruction))
      return true;
    Step step = instruction.run(*this, warp);
    if (step == Step::Blocked)
      return events != before;
    ++warp.time;
    ++executed;
    finishWrites(warp, instruction);
    if (step == Step::Finished) {
      warp.isFinished = true;
      return true;
    }
    warp.pc += step != Step::Jumped;
    isPolling = step == Step::Polled;
    if (isPolling)
      break;
  }
  return !isPolling || events != before;
}

void Machine::reportDeadlock() {
  current = nullptr;
  std::string text = "deadlock: no thread can go on";
  for (Warp &warp : warps)
    if (!warp.isFinished)
      text += "; warp " + std::to_string(warp.index) + " waits at " +
              describe(program.code[warp.pc].op);
  fail(text + barriers.describeOwed());
}

void Machine::run(llvm::ArrayRef<uint64_t> words) {
  parameter = words;
  if (!program.hasParameterBlock && words.size() < program.arguments.size())
    return fail("too few words for the kernel's arguments");
  std::vector<Warp *> order;
  for (Warp &warp : warps) {
    start(warp, words);
    order.push_back(&warp);
  }
  if (options.order == InterpreterOptions::Order::Descending)
    std::reverse(order.begin(), order.end());
  bool isRandom = options.order == InterpreterOptions::Order::Random;
  // Polls may repeat a little before they count as waiting for nothing.
  for (unsigned idle = 0; !hasFailed();) {
    if (isRandom)
      std::shuffle(order.begin(), order.end(), random);
    bool isAlive = false, hasProgress = false;
    for (Warp *warp : order) {
      if (warp->isFinished || hasFailed())
        continue;
      isAlive = true;
      hasProgress |= runWarp(*warp, isRandom ? 1 + random() % 200 : 1 << 20);
    }
    if (!isAlive && !(boxes.isEmpty() && messages.isEmpty()))
      fail("the block ends while a copy is on its way to it");
    if (!isAlive && !stores.isEmpty())
      fail("the block ends while a box is being stored from it");
    if (!isAlive || hasFailed())
      return;
    idle = hasProgress ? 0 : idle + 1;
    if (idle && (copies.landOne() || boxes.landOne() || messages.landOne()))
      idle = 0;
    if (idle > 64)
      return reportDeadlock();
    if (executed > options.limit)
      return fail("the kernel does not end");
  }
}
