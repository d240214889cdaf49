//===- Boxes.h - Boxes of arrays on their way -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// cp.async.bulk.tensor from global to shared memory: one thread issues a box,
// an engine writes it, past all threads, and counts its bytes down on an
// mbarrier. Nothing else tells when it has landed.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_TILETOGPU_INTERPRETER_BOXES_H
#define PRISM_UNITTESTS_TILETOGPU_INTERPRETER_BOXES_H

#include "Clocks.h"
#include "TensorMap.h"
#include <array>

namespace prism::test {

class Machine;

class BoxQueue {
public:
  BoxQueue(Machine &machine, bool isLate) : machine(machine), isLate(isLate) {}

  using Coordinates = std::array<int32_t, TensorMap::kAxes>;
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
    uint64_t bytes() const;
  };
  void land(const Box &box);
  void fetchPiece(const Box &box, const Coordinates &at, uint8_t *data);

  Machine &machine;
  bool isLate;
  std::vector<Box> boxes;
  int64_t issued = 0;
};

} // namespace prism::test

#endif // PRISM_UNITTESTS_TILETOGPU_INTERPRETER_BOXES_H
