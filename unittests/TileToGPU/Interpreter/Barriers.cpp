//===- Barriers.cpp - Named barriers and mbarriers ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Barriers.h"
#include "llvm/ADT/ArrayRef.h"
#include <algorithm>

using namespace prism::test;
using llvm::Twine;

void Barriers::arrive(unsigned id, uint32_t expected,
                      llvm::ArrayRef<unsigned> group, bool waits) {
  NamedBarrier &barrier = named[id];
  if (barrier.arrived && barrier.expected != expected)
    return fail("barrier " + Twine(id) + " with " + Twine(expected) +
                " threads, others came to it with " + Twine(barrier.expected));
  barrier.expected = expected;
  barrier.arrived += group.size();
  for (unsigned thread : group)
    clocks.release(thread, barrier.clock);
  if (waits)
    barrier.waiting.insert(barrier.waiting.end(), group.begin(), group.end());
  if (barrier.arrived > expected)
    return fail("barrier " + Twine(id) + " of " + Twine(expected) +
                " threads gets more arrivals than that");
  if (barrier.arrived < expected)
    return;
  for (unsigned thread : barrier.waiting)
    clocks.acquire(thread, barrier.clock);
  uint32_t generation = barrier.generation + 1;
  barrier = NamedBarrier();
  barrier.generation = generation;
}

void Barriers::init(uint64_t address, uint32_t count, unsigned thread) {
  if (count == 0 || count >= 1u << 20)
    return fail("an mbarrier for " + Twine(count) + " arrivals");
  MBarrier barrier;
  barrier.expected = count;
  barrier.pending = count;
  barrier.initialised = clocks.now(thread);
  objects[address] = barrier;
}

MBarrier *Barriers::find(uint64_t address, unsigned thread) {
  auto it = objects.find(address);
  if (it == objects.end()) {
    fail("no mbarrier was initialised at byte " + Twine(address));
    return nullptr;
  }
  if (!clocks.knows(thread, it->second.initialised)) {
    fail("missing barrier: thread " + Twine(thread) +
         " uses the mbarrier at byte " + Twine(address) + " that thread " +
         Twine(it->second.initialised.agent) + " initialised");
    return nullptr;
  }
  return &it->second;
}

void Barriers::completePhase(MBarrier &barrier) {
  if (barrier.pending || barrier.bytes)
    return;
  barrier.pending = barrier.expected;
  ++barrier.phase;
  barrier.completed.resize(clocks.countAgents());
  for (size_t i = 0; i < barrier.current.size(); ++i)
    barrier.completed[i] = std::max(barrier.completed[i], barrier.current[i]);
  barrier.current.clear();
}

static void addTo(Clock &sum, const Clock &clock, unsigned agents) {
  sum.resize(agents);
  for (size_t i = 0; i < clock.size(); ++i)
    sum[i] = std::max(sum[i], clock[i]);
}

void Barriers::arrive(MBarrier &barrier, int64_t count, const Clock &release) {
  if (count < 1 || count > barrier.pending)
    return fail("an mbarrier of " + Twine(barrier.expected) +
                " arrivals gets " + Twine(count) + " where " +
                Twine(barrier.pending) + " are pending");
  addTo(barrier.current, release, clocks.countAgents());
  barrier.pending -= count;
  completePhase(barrier);
}

void Barriers::completeBytes(MBarrier &barrier, int64_t bytes,
                             const Clock &release) {
  addTo(barrier.current, release, clocks.countAgents());
  barrier.bytes -= bytes;
  completePhase(barrier);
}

std::string Barriers::describeOwed() const {
  std::string text;
  for (const auto &[address, barrier] : objects)
    if (barrier.bytes)
      text += (Twine("; on the mbarrier at byte ") + Twine(address) + " " +
               Twine(barrier.bytes) + " bytes are to come")
                  .str();
  return text;
}
