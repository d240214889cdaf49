//===- Clocks.h - Who knows of what, by vector clocks -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Everything that touches memory on its own account is an *agent*: each thread,
// and for each warp its copies that an mbarrier tracks, its share of a wgmma,
// the boxes that it had loaded and those that it had stored. An agent's clock
// counts its releases. A thread's row says up to which clock it knows each
// agent, so whether an access happened before it is one comparison, in whatever
// order the threads were run.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_TILETOGPU_INTERPRETER_CLOCKS_H
#define PRISM_UNITTESTS_TILETOGPU_INTERPRETER_CLOCKS_H

#include <cstdint>
#include <vector>

namespace prism::test {

/// Clock 0 means never.
struct Moment {
  uint32_t clock = 0;
  uint16_t agent = 0;
};

using Clock = std::vector<uint32_t>;

class Clocks {
public:
  explicit Clocks(unsigned threads);

  unsigned countAgents() const { return agents; }
  unsigned copyAgent(unsigned warp) const { return threads + warp; }
  unsigned wgmmaAgent(unsigned warp) const { return threads + warps + warp; }
  unsigned boxAgent(unsigned warp) const { return threads + 2 * warps + warp; }
  unsigned storeAgent(unsigned warp) const {
    return threads + 3 * warps + warp;
  }
  bool isThread(unsigned agent) const { return agent < threads; }
  bool isBox(unsigned agent) const {
    return agent >= boxAgent(0) && agent < storeAgent(0);
  }

  const uint32_t *row(unsigned thread) const { return &rows[thread * agents]; }
  Moment now(unsigned thread) const {
    return {row(thread)[thread], uint16_t(thread)};
  }
  /// Up to which clock `thread` knows an agent.
  uint32_t known(unsigned thread, unsigned agent) const {
    return row(thread)[agent];
  }
  bool knows(unsigned thread, Moment moment) const {
    return known(thread, moment.agent) >= moment.clock;
  }

  /// What `thread` knows goes into `clock`; what it does from now on does not.
  void release(unsigned thread, Clock &clock);
  void acquire(unsigned thread, const Clock &clock);
  void acquire(unsigned thread, Moment moment);
  /// All of `group` learn what any of them knows.
  void meet(const std::vector<unsigned> &group);
  /// What every one of the threads knows.
  Clock common(unsigned firstThread, unsigned count) const;
  Moment tickAgent(unsigned agent) { return {++own[agent], uint16_t(agent)}; }

  void fenceProxy(unsigned thread);
  /// Did the writer fence after `write` and before what `reader` knows of it?
  bool isFenced(Moment write, uint32_t reader) const;
  /// Did all these threads fence after they learned of `write`?
  bool isFencedByReaders(Moment write, unsigned firstThread,
                         unsigned count) const;

private:
  uint32_t *row(unsigned thread) { return &rows[thread * agents]; }

  unsigned threads, warps, agents;
  std::vector<uint32_t> rows, own;
  std::vector<std::vector<uint32_t>> fences; ///< clocks, of each thread
  std::vector<Clock> atFence; ///< of each thread, what it knew of the copies
};

} // namespace prism::test

#endif // PRISM_UNITTESTS_TILETOGPU_INTERPRETER_CLOCKS_H
