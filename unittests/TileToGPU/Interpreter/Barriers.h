//===- Barriers.h - Named barriers and mbarriers ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_TILETOGPU_INTERPRETER_BARRIERS_H
#define PRISM_UNITTESTS_TILETOGPU_INTERPRETER_BARRIERS_H

#include "Clocks.h"
#include "llvm/ADT/Twine.h"
#include <functional>
#include <map>
#include <string>

namespace prism::test {

struct NamedBarrier {
  uint32_t expected = 0, arrived = 0, generation = 0;
  std::vector<unsigned> waiting; ///< threads
  Clock clock;
};

struct MBarrier {
  uint32_t expected = 0;
  int64_t pending = 0, bytes = 0;
  uint32_t phase = 0; ///< completed phases
  Moment initialised;
  Clock current, completed;
};

class Barriers {
public:
  /// Named barriers of a block; those of the cluster's blocks follow each
  /// other.
  static constexpr unsigned kOfBlock = 16;

  Barriers(Clocks &clocks, std::function<void(const llvm::Twine &)> fail)
      : clocks(clocks), fail(std::move(fail)) {}

  /// Threads arrive at a named barrier, to wait there or not.
  void arrive(unsigned id, uint32_t expected, llvm::ArrayRef<unsigned> group,
              bool waits);
  uint32_t generation(unsigned id) { return named[id].generation; }

  void init(uint64_t address, uint32_t count, unsigned thread);
  void invalidate(uint64_t address) { objects.erase(address); }
  /// The object, if it exists and `thread` knows that.
  MBarrier *find(uint64_t address, unsigned thread);
  /// `count` arrivals with what `release` holds.
  void arrive(MBarrier &barrier, int64_t count, const Clock &release);
  /// An engine has written so many of the bytes expected.
  void completeBytes(MBarrier &barrier, int64_t bytes, const Clock &release);
  void completePhase(MBarrier &barrier);
  /// Those whose phase does not end for bytes that do not come.
  std::string describeOwed() const;

private:
  std::map<unsigned, NamedBarrier> named;
  std::map<uint64_t, MBarrier> objects;
  Clocks &clocks;
  std::function<void(const llvm::Twine &)> fail;
};

} // namespace prism::test

#endif // PRISM_UNITTESTS_TILETOGPU_INTERPRETER_BARRIERS_H
