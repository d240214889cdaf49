//===- Cluster.h - Copies between the blocks of a cluster -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// cp.async.bulk from shared memory to that of another block: one thread issues
// it, an engine reads and writes past all threads, and counts the bytes down on
// an mbarrier of the other block.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_TILETOGPU_INTERPRETER_CLUSTER_H
#define PRISM_UNITTESTS_TILETOGPU_INTERPRETER_CLUSTER_H

#include "Clocks.h"

namespace prism::test {

class Machine;

class MessageQueue {
public:
  MessageQueue(Machine &machine, bool isLate)
      : machine(machine), isLate(isLate) {}

  void issue(unsigned thread, uint64_t to, uint64_t from, uint64_t bytes,
             uint64_t barrier);
  /// Lands the copy issued last; false if none is left.
  bool landOne();
  bool isEmpty() const { return messages.empty(); }

private:
  struct Message {
    unsigned thread;
    uint64_t to, from, bytes, barrier;
    Clock issuer; ///< what the thread knew
  };
  void land(const Message &message);

  Machine &machine;
  bool isLate;
  std::vector<Message> messages;
};

} // namespace prism::test

#endif // PRISM_UNITTESTS_TILETOGPU_INTERPRETER_CLUSTER_H
