//===- GPUCosts.h - What a GPU's kernels spend their time on ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The time of a launch: waves of thread blocks, each of so many iterations, and
// what it takes to start; or the bytes at the memory's bandwidth, where those
// take longer. What an iteration takes is a sum of counted work, as on CPUs
// (CPUCosts.h); the counts follow from the program (lib/Compiler/Predict.h),
// the costs are a chip's, fitted to measurements of it. Why so, and how well it
// does: docs/decisions/20261130-predicted-times-on-gpus.md.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_TARGETINFO_GPUCOSTS_H
#define PRISM_TARGETINFO_GPUCOSTS_H

#include "Prism/TargetInfo/TargetInfo.h"
#include <array>

namespace prism::targetinfo {

/// Kinds of work in a chunk of the roles of a block.
enum class GPUWork {
  Chain,              // a chunk, whatever is in it
  ChainProduct,       // 64 x 64 x 64 multiply-adds of the chain
  ChainFunction,      // 64 x 64 elements of exp, erf and the like; other
                      // arithmetic hides behind the products
  Prepare,            // a chunk, whatever is in it
  PrepareProduct,     // 64 x 64 x 64 multiply-adds of the preparation
  PrepareElementwise, // 64 x 64 elements of arithmetic
  PrepareFunction,    // of exp, erf and the like
  Inverse,            // a triangular system of 64 rows inverted
  DecayedProduct, // 64 x 64 x 64 multiply-adds that decay channel by channel
};
constexpr size_t kNumGPUWork = size_t(GPUWork::DecayedProduct) + 1;

struct GPUCounts {
  std::array<double, kNumGPUWork> of = {};
  double &operator[](GPUWork work) { return of[size_t(work)]; }
  double operator[](GPUWork work) const { return of[size_t(work)]; }
};

/// One launch, of a program whose blocks are alike.
struct GPULaunch {
  enum class Kind {
    Roles,      ///< chunks on tensor cores
    Steps,      ///< steps with the state in registers
    Copies,     ///< one step beside bulk copies of its state
    Matrices,   ///< segments' states from their maps, one after the other
    Diagonals,  ///< the same where maps are diagonal
    Unmeasured, ///< anything else
  };
  Kind kind = Kind::Unmeasured;
  GPUCounts work;         ///< Roles: of a chunk and block
  double turns = 1;       ///< blocks that take turns in preparing
  double teams = 1;       ///< and warpgroups of each that do
  bool isApart = false;   ///< blocks that only prepare do
  double waves = 0;       ///< Roles: of blocks, one after the other
  double share = 0;       ///< of the multiprocessors at work
  double iterations = 0;  ///< of each block: chunks, steps, segments
  double heads = 0;       ///< sequences x value heads
  double elements = 0;    ///< Steps: of all states
  bool hasHalves = false; ///< Steps: states are of 16 bits
  double bytes = 0;       ///< from and to memory
  /// Roles: maps that the last segment folds before its first chunk, and the
  /// bytes that a block reads of each.
  double folds = 0, foldBytes = 0;
};

/// What a launch's time is made of, in microseconds.
struct GPUCosts {
  llvm::StringRef measured; ///< on what, when
  std::array<double, kNumGPUWork> us;
  double call = 0;  ///< a call, whatever it launches; one step hides it
  double start = 0; ///< a launch of roles
  double wave = 0;  ///< of blocks: first loads, last stores
  /// What a further team of a block adds to the first one's preparation, which
  /// the chain beside them slows down; a block that only prepares has all of
  /// it.
  double furtherTeam = 0;
  double crowded = 0; ///< longer chunks where all multiprocessors are at work
  double bytes = 0;   ///< of memory in one
  /// Work and memory overlap: the p-norm of their times.
  double overlap = 0;
  double scanStart = 0; ///< a launch that steps from segment to segment
  /// Such a step, at least and for each head.
  double matrixStep = 0, matrixHead = 0, diagonalStep = 0, diagonalHead = 0;
  /// A segment that folds maps before it: once, and bytes of them that a
  /// multiprocessor reads from the L2 cache in one.
  double foldStart = 0, foldBytes = 1;
  double stepsStart = 0; ///< a launch that steps with the state in registers
  /// Such a step where one block is alone, and an element of the states for
  /// each that a multiprocessor has; both together their hypotenuse.
  double step = 0, stepElement = 0;
  /// Of memory in one, where one step moves states of 16 bits through registers
  /// (sectors of several rows in each access), and where it copies them; the
  /// latter's start.
  double halfBytes = 0, copiedBytes = 0, copiesStart = 0;
};

/// What was fitted to measurements of the chip; null for one that was not
/// measured.
const GPUCosts *gpuCosts(const GPUInfo &gpu);

/// Microseconds from a call's start to its end, of launches one after the
/// other; nothing where one of them was never measured.
std::optional<double> predictLaunches(const GPUCosts &costs, const GPUInfo &gpu,
                                      llvm::ArrayRef<GPULaunch> launches);

} // namespace prism::targetinfo

#endif // PRISM_TARGETINFO_GPUCOSTS_H
