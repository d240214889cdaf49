//===- Clocks.cpp - Who knows of what, by vector clocks -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Clocks.h"
#include <algorithm>

using namespace prism::test;

Clocks::Clocks(unsigned threads)
    : threads(threads), warps((threads + 31) / 32), agents(threads + 4 * warps),
      rows(size_t(threads) * agents), own(agents), fences(threads),
      atFence(threads, Clock(warps)) {
  for (unsigned thread = 0; thread < threads; ++thread)
    row(thread)[thread] = 1;
}

static void join(uint32_t *to, const uint32_t *from, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    to[i] = std::max(to[i], from[i]);
}

void Clocks::release(unsigned thread, Clock &clock) {
  clock.resize(agents);
  join(clock.data(), row(thread), agents);
  ++row(thread)[thread];
}

void Clocks::acquire(unsigned thread, const Clock &clock) {
  join(row(thread), clock.data(), unsigned(clock.size()));
}

void Clocks::acquire(unsigned thread, Moment moment) {
  uint32_t &known = row(thread)[moment.agent];
  known = std::max(known, moment.clock);
}

void Clocks::meet(const std::vector<unsigned> &group) {
  Clock all(agents);
  for (unsigned thread : group)
    release(thread, all);
  for (unsigned thread : group)
    acquire(thread, all);
}

Clock Clocks::common(unsigned firstThread, unsigned count) const {
  Clock all(row(firstThread), row(firstThread) + agents);
  for (unsigned thread = firstThread + 1; thread < firstThread + count;
       ++thread)
    for (unsigned i = 0; i < agents; ++i)
      all[i] = std::min(all[i], row(thread)[i]);
  return all;
}

void Clocks::fenceProxy(unsigned thread) {
  fences[thread].push_back(++row(thread)[thread]);
  for (unsigned warp = 0; warp < warps; ++warp)
    atFence[thread][warp] = row(thread)[copyAgent(warp)];
}

bool Clocks::isFenced(Moment write, uint32_t reader) const {
  const std::vector<uint32_t> &list = fences[write.agent];
  auto next = std::upper_bound(list.begin(), list.end(), write.clock);
  return next != list.end() && *next <= reader;
}

bool Clocks::isFencedByReaders(Moment write, unsigned firstThread,
                               unsigned count) const {
  for (unsigned thread = firstThread; thread < firstThread + count; ++thread)
    if (atFence[thread][write.agent - threads] < write.clock)
      return false;
  return true;
}
