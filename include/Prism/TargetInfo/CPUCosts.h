//===- CPUCosts.h - What a CPU's kernels spend their time on ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A kernel's time is taken as a sum: so many vectors of each kind of work,
// times what one of them costs. The counts follow from the recurrence and the
// plan (Prism/Dialect/Scan/Transforms/CostModel.h); the costs are a CPU's, from
// a table of one machine per level or from a calibration file. Why a sum, and
// how well it does: docs/decisions/20261130-chunk-choice.md.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_TARGETINFO_CPUCOSTS_H
#define PRISM_TARGETINFO_CPUCOSTS_H

#include "Prism/Support/TextDiagnostic.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace prism::targetinfo {

/// Kinds of work. A vector is one register of a level; names as in calibration
/// files are cpuWorkNames().
enum class CPUWork {
  Product,        // a vector multiply-add of a full dot
  MaskedProduct,  // one of a dot, or a solve, with a masked left side
  DecayedProduct, // one of a dot that decays key by key, or its decay
  StateVector,    // a vector of the state, updated once a chunk
  Transpose,      // a vector transposed
  Function,       // exp, erf and the like of a vector
  Elementwise,    // other arithmetic on a vector, or a conversion
  Tile,           // a register tile begun
  Chunk,          // a chunk, or a step of the recurrent form
  StepRead,       // a vector of the state read in a step
  StepUpdate,     // a vector of the state updated in a step
  StepWait,       // a sum or function of a step that the rest of it waits for
  NearByte,       // a byte of inputs and outputs that the caches hold
  FarByte,        // one from or to memory
};
constexpr size_t kNumCPUWork = size_t(CPUWork::FarByte) + 1;
llvm::ArrayRef<llvm::StringLiteral> cpuWorkNames();

/// How often each kind of work is done.
struct CPUCounts {
  std::array<double, kNumCPUWork> of = {};
  double &operator[](CPUWork work) { return of[size_t(work)]; }
  double operator[](CPUWork work) const { return of[size_t(work)]; }
};

/// What one piece of each kind of work costs one core at a level, in ns.
struct CPUCosts {
  std::string level;
  std::array<double, kNumCPUWork> ns = {};
  /// Up to so many bytes of inputs and outputs are near.
  double cacheBytes = 0;

  double timeOf(const CPUCounts &counts) const;
};

/// Vector registers of a CPU level.
struct VectorRegisters {
  int64_t bits = 256, count = 16;
  int64_t lanes(int64_t elementBits) const { return bits / elementBits; }
};
VectorRegisters vectorRegisters(llvm::StringRef level);

/// The table: measured on one core for each level, the same on every machine
/// that compiles.
CPUCosts builtinCPUCosts(llvm::StringRef level);

/// A calibration file: costs by level.
struct Calibration {
  std::string file;
  std::map<std::string, CPUCosts> levels;
  SourceLoc levelsLoc = {};
};
/// Reads one; of a wrong one `diagnostic` is the one message.
llvm::FailureOr<Calibration> readCalibration(llvm::StringRef text,
                                             llvm::StringRef file,
                                             TextDiagnostic &diagnostic);

/// One timed kernel, for fitCPUCosts.
struct CPUSample {
  CPUCounts counts;
  double ns = 0;
};
/// The costs, none negative, that explain the samples best: the sum of squared
/// relative errors is least. What no sample counts costs nothing.
std::array<double, kNumCPUWork> fitCPUCosts(llvm::ArrayRef<CPUSample> samples);

} // namespace prism::targetinfo

#endif // PRISM_TARGETINFO_CPUCOSTS_H
