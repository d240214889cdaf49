//===- Machine.h - The threads of one block and what they share -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A kernel is decoded once into a flat list of instructions over numbered
// registers (Decoder.h). Each warp runs that list by itself until it ends or
// blocks; its lanes go together, under a mask where they diverge.
//
// The blocks of a cluster run together: their warps follow each other, and a
// shared address has the block's rank in its upper bits.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_TILETOGPU_INTERPRETER_MACHINE_H
#define PRISM_UNITTESTS_TILETOGPU_INTERPRETER_MACHINE_H

#include "Barriers.h"
#include "Boxes.h"
#include "Cluster.h"
#include "Copies.h"
#include "SharedMemory.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/bit.h"
#include <optional>
#include <random>
#include <unordered_map>

namespace prism::test {

struct InterpreterOptions {
  /// When the bytes of a copy arrive: at once, or as late as waits allow.
  enum class Copies { Early, Late } copies = Copies::Early;
  /// Which warp goes first, and in Random for how long.
  enum class Order { Ascending, Descending, Random } order = Order::Ascending;
  uint32_t seed = 0;
  /// Of a cluster's first block; the others have those that follow.
  uint32_t multiprocessor = 0;
  /// Instructions of warps after which a kernel is taken to run for ever.
  uint64_t limit = 1000000000;
};

class Machine;
struct Warp;

/// An op as messages name it: the start of its text, and its location.
std::string describe(mlir::Operation *op);

enum class Step { Next, Jumped, Blocked, Polled, Finished };

struct Instruction {
  std::function<Step(Machine &, Warp &)> run;
  mlir::Operation *op = nullptr;
  llvm::SmallVector<uint32_t, 4> reads, writes; ///< registers
};

struct Program {
  std::vector<Instruction> code;
  uint32_t registers = 0;
  std::vector<std::pair<uint32_t, uint64_t>> constants; ///< register, bits
  uint32_t undefined = 0; ///< the register of every undefined value
  std::vector<uint32_t> arguments;
  bool hasParameterBlock = false; ///< one pointer to all words
  uint64_t sharedBytes = 0;       ///< of static variables
};

/// What is known of a register beside its bits.
struct RegisterState {
  uint32_t product = 0; ///< the wgmma that writes it; undefined if kUndefined
  uint32_t stamp = 0;   ///< when anything but a wgmma wrote it
  uint32_t reader = 0;  ///< the last wgmma that takes it as A
};
constexpr uint32_t kUndefined = ~0u;

struct Warp {
  unsigned index = 0;
  uint32_t lanes = 0; ///< those that exist
  uint32_t mask = 0;  ///< those that run now
  uint32_t pc = 0;
  std::vector<uint64_t> bits; ///< [register][lane]
  std::vector<RegisterState> states;
  llvm::SmallVector<std::pair<uint32_t, uint32_t>, 8> frames; ///< masks

  uint32_t time = 1, fenced = 0; ///< instructions; when the last wgmma.fence
  uint32_t issued = 0, retired = 0;
  llvm::SmallVector<uint32_t, 4> groups; ///< last wgmma of each, committed

  bool isFinished = false;
  /// What a blocked instruction has already done.
  bool hasArrived = false, isReleased = false;
  uint32_t generation = 0, satisfied = 0;
  uint32_t clusterGeneration = 0;
  unsigned rank = 0; ///< of its block in the cluster

  uint64_t *lane(uint32_t reg) { return &bits[size_t(reg) * 32]; }
  unsigned thread(unsigned lane) const { return 32 * index + lane; }
  bool isWhole() const { return mask == lanes; }
};

template <typename F> void forLanes(uint32_t mask, F f) {
  if (mask == ~0u) {
    for (unsigned lane = 0; lane < 32; ++lane)
      f(lane);
    return;
  }
  for (; mask; mask &= mask - 1)
    f(unsigned(llvm::countr_zero(mask)));
}

class Machine {
public:
  /// `threads` and `sharedBytes` of each of the `blocks` of one cluster.
  Machine(const Program &program, unsigned threads, uint64_t sharedBytes,
          unsigned blocks, InterpreterOptions options);

  /// Runs to the end or the first fault.
  void run(llvm::ArrayRef<uint64_t> words);

  void fail(const llvm::Twine &what);
  /// A fault if no warp of the block runs any more.
  void checkAlive(unsigned rank);
  const std::string &error() const { return fault; }
  bool hasFailed() const { return !fault.empty(); }

  /// Collective over the four warps of a warp group: true once, for the last
  /// warp to come; the others go on when the last one has run.
  enum class Gathering { Incomplete, Last, Released };
  Gathering gather(Warp &warp);

  void loadGlobal(uint64_t address, unsigned bytes, void *to, unsigned thread);
  /// `as`: what the write is known by, if not by what `thread` does now.
  void storeGlobal(uint64_t address, unsigned bytes, const void *from,
                   unsigned thread, std::optional<Moment> as = std::nullopt);
  void loadParameter(uint64_t address, unsigned bytes, void *to);
  /// Null if that is outside.
  const void *parameterAt(uint64_t address, unsigned bytes) const;
  uint64_t parameterBytes() const { return parameter.size() * 8; }

  const Program &program;
  const unsigned threadsOfBlock, blocks, threads; ///< threads: of all blocks
  const InterpreterOptions options;
  Clocks clocks;
  SharedMemory shared;
  Barriers barriers;
  CopyQueue copies;
  BoxQueue boxes;
  StoreQueue stores;
  MessageQueue messages;
  std::vector<Warp> warps;
  std::vector<std::vector<uint16_t>> shapes; ///< N of each group's wgmmas
  std::vector<std::pair<uint64_t, size_t>> allowed;
  int64_t firstBlock = 0, gridSize = 1;
  uint64_t events = 0; ///< changes that another warp may wait for

private:
  /// False if the warp did nothing that could help another one.
  bool runWarp(Warp &warp, uint64_t steps);
  bool checkReads(Warp &warp, const Instruction &instruction);
  void finishWrites(Warp &warp, const Instruction &instruction);
  void start(Warp &warp, llvm::ArrayRef<uint64_t> words);
  void reportDeadlock();
  bool isAllowed(uint64_t address, unsigned bytes) const;
  std::string nameOf(unsigned agent) const;

  llvm::ArrayRef<uint64_t> parameter;
  /// Who wrote which two bytes of global memory.
  std::unordered_map<uint64_t, Moment> written;
  mlir::Operation *current = nullptr;
  std::string fault;
  uint64_t executed = 0;
  std::mt19937 random;
};

} // namespace prism::test

#endif // PRISM_UNITTESTS_TILETOGPU_INTERPRETER_MACHINE_H
