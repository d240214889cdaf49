//===- Copies.h - cp.async on its way ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_TILETOGPU_INTERPRETER_COPIES_H
#define PRISM_UNITTESTS_TILETOGPU_INTERPRETER_COPIES_H

#include "Clocks.h"
#include <deque>

namespace prism::test {

class Machine;

class CopyQueue {
public:
  CopyQueue(Machine &machine, unsigned threads, bool isLate)
      : machine(machine), isLate(isLate), queues(threads) {}

  /// `bytes` to shared memory, of which `valid` come from `source` and the rest
  /// is zero.
  void issue(unsigned thread, uint64_t to, uint64_t source, unsigned bytes,
             unsigned valid);
  void commit(unsigned thread);
  /// All committed groups but the last `left` end.
  void wait(unsigned thread, uint32_t left);
  /// An arrival on the mbarrier once this thread's copies so far have ended.
  void arriveAfter(unsigned thread, uint64_t barrier, bool isCounted);
  /// Ends the copies of one such arrival; false if none is left.
  bool landOne();

private:
  struct Copy {
    uint64_t to, source;
    unsigned bytes, valid;
    uint32_t number, group; ///< group kOpen until committed
    uint32_t seenBy = 0;    ///< clock of the agent that ended it
  };
  static constexpr uint32_t kOpen = ~0u;
  struct Queue {
    std::vector<Copy> copies;
    uint32_t issued = 0, committed = 0;
  };
  struct Arrival {
    unsigned thread;
    uint64_t barrier;
    uint32_t last; ///< number of the last copy it stands for
  };

  void fetch(const Copy &copy, unsigned thread);
  void fire(const Arrival &arrival);

  Machine &machine;
  bool isLate;
  std::vector<Queue> queues;
  std::deque<Arrival> arrivals;
};

} // namespace prism::test

#endif // PRISM_UNITTESTS_TILETOGPU_INTERPRETER_COPIES_H
