//===- Boxes.h - Boxes of arrays on their way -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// cp.async.bulk.tensor from global to shared memory: one thread issues a box,
// an engine writes it, past all threads, and counts its bytes down on an
// mbarrier. Nothing else tells when it has landed.
//
// From shared to global memory: the engine reads the box when it likes, until
// the thread that issued it has waited for its group; and what it writes is
// known to nobody before that thread has waited for more than the reads.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_TILETOGPU_INTERPRETER_BOXES_H
#define PRISM_UNITTESTS_TILETOGPU_INTERPRETER_BOXES_H

#include "Clocks.h"
#include "TensorMap.h"
#include <array>

namespace prism::test {

class Machine;

using Coordinates = std::array<int32_t, TensorMap::kAxes>;

class BoxQueue {
public:
  BoxQueue(Machine &machine, bool isLate) : machine(machine), isLate(isLate) {}

  void issue(unsigned thread, uint64_t to, const TensorMap &map,
             const Coordinates &first, uint64_t barrier);
  /// Lands the box issued last; false if none is left.
  bool landOne();
  bool isEmpty() const { return boxes.empty(); }
  int64_t countIssued() const { return issued; }

private:
  struct Box {
    unsigned thread;
    uint64_t to, barrier;
    TensorMap map;
    Coordinates first;
  };
  void land(const Box &box);

  Machine &machine;
  bool isLate;
  std::vector<Box> boxes;
  int64_t issued = 0;
};

class StoreQueue {
public:
  StoreQueue(Machine &machine, unsigned threads, bool isLate)
      : machine(machine), isLate(isLate), queues(threads) {}

  void issue(unsigned thread, uint64_t from, const TensorMap &map,
             const Coordinates &first);
  void commit(unsigned thread);
  /// All committed groups but the last `left` have read, or ended altogether.
  void wait(unsigned thread, uint32_t left, bool readsOnly);
  /// Whether all have been read.
  bool isEmpty() const;
  int64_t countIssued() const { return issued; }

private:
  struct Box {
    uint64_t from;
    TensorMap map;
    Coordinates first;
    Moment written; ///< when it is
    uint32_t group; ///< kOpen until committed
    bool isRead = false;
  };
  static constexpr uint32_t kOpen = ~0u;
  struct Queue {
    std::vector<Box> boxes;
    uint32_t committed = 0;
  };
  void write(const Box &box, unsigned thread);
  void endRead(Box &box, unsigned thread);

  Machine &machine;
  bool isLate;
  std::vector<Queue> queues;
  int64_t issued = 0;
};

} // namespace prism::test

#endif // PRISM_UNITTESTS_TILETOGPU_INTERPRETER_BOXES_H
