//===- Copies.cpp - cp.async on its way -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Machine.h"

using namespace prism::test;
using llvm::Twine;

void CopyQueue::fetch(const Copy &copy, unsigned thread) {
  uint8_t data[16] = {};
  if (copy.valid)
    machine.loadGlobal(copy.source, copy.valid, data, thread);
  if (!machine.hasFailed())
    machine.shared.land(copy.to, copy.bytes, data);
}

void CopyQueue::issue(unsigned thread, uint64_t to, uint64_t source,
                      unsigned bytes, unsigned valid) {
  if (valid > bytes)
    return machine.fail("cp.async of " + Twine(bytes) +
                        " bytes with a size of " + Twine(valid));
  if (source % bytes && valid)
    return machine.fail("cp.async from an unaligned address");
  machine.shared.beginCopy(to, bytes, thread);
  if (machine.hasFailed())
    return;
  Queue &queue = queues[thread];
  queue.copies.push_back({to, source, bytes, valid, ++queue.issued, kOpen});
  if (!isLate)
    fetch(queue.copies.back(), thread);
}

void CopyQueue::commit(unsigned thread) {
  Queue &queue = queues[thread];
  for (Copy &copy : queue.copies)
    if (copy.group == kOpen)
      copy.group = queue.committed;
  ++queue.committed;
}

void CopyQueue::wait(unsigned thread, uint32_t left) {
  Queue &queue = queues[thread];
  uint32_t end = queue.committed > left ? queue.committed - left : 0;
  unsigned agent = machine.clocks.copyAgent(thread / 32);
  std::vector<Copy> remaining;
  for (const Copy &copy : queue.copies) {
    if (copy.group >= end) { // kOpen too
      remaining.push_back(copy);
    } else if (copy.seenBy) {
      machine.clocks.acquire(thread, Moment{copy.seenBy, uint16_t(agent)});
    } else {
      if (isLate)
        fetch(copy, thread);
      machine.shared.endCopy(copy.to, copy.bytes, machine.clocks.now(thread));
    }
  }
  queue.copies = std::move(remaining);
}

void CopyQueue::arriveAfter(unsigned thread, uint64_t barrier, bool isCounted) {
  MBarrier *object = machine.barriers.find(barrier, thread);
  if (!object)
    return;
  if (!isCounted)
    ++object->pending;
  Arrival arrival{thread, barrier, queues[thread].issued};
  if (isLate)
    arrivals.push_back(arrival);
  else
    fire(arrival);
}

void CopyQueue::fire(const Arrival &arrival) {
  Moment moment =
      machine.clocks.tickAgent(machine.clocks.copyAgent(arrival.thread / 32));
  Queue &queue = queues[arrival.thread];
  std::vector<Copy> remaining;
  for (Copy &copy : queue.copies) {
    bool isMine = copy.number <= arrival.last && !copy.seenBy;
    if (isMine) {
      if (isLate)
        fetch(copy, arrival.thread);
      machine.shared.endCopy(copy.to, copy.bytes, moment);
      copy.seenBy = moment.clock;
    }
    // One that no commit will name is forgotten.
    if (!isMine || copy.group != kOpen)
      remaining.push_back(copy);
  }
  queue.copies = std::move(remaining);
  MBarrier *object = machine.barriers.find(arrival.barrier, arrival.thread);
  if (!object)
    return;
  Clock release(machine.clocks.countAgents());
  release[moment.agent] = moment.clock;
  machine.barriers.arrive(*object, 1, release);
  ++machine.events;
}

bool CopyQueue::landOne() {
  if (arrivals.empty())
    return false;
  Arrival first = arrivals.front();
  arrivals.pop_front();
  fire(first);
  return true;
}
