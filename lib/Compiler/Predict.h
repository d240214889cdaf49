//===- Predict.h - How long a unit's launches take on a GPU -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_COMPILER_PREDICT_H
#define PRISM_LIB_COMPILER_PREDICT_H

#include "Prism/Compiler/Compiler.h"
#include "Prism/TargetInfo/GPUCosts.h"

namespace prism {

/// Whether all states are of 16 bits in memory.
bool hasHalves(tile::ProgramOp program);

/// What of a launch does not depend on the call.
struct LaunchWork {
  targetinfo::GPULaunch launch; ///< kind, work and who prepares
  tile::SegmentItems items = tile::SegmentItems::None;
  int64_t chunk = 1;
  int64_t blocks = 1;     ///< of values of a sequence and head that take steps
  int64_t cluster = 1;    ///< blocks of one, with those that only prepare
  bool foldsMaps = false; ///< of the segments before a block's
  double bytesOfStep = 0, bytesOfSequence = 0, elements = 0; ///< a head's
};

/// A unit's launches, and their time for any call.
class Prediction {
public:
  /// Nothing for a target without measured costs.
  static std::optional<Prediction> of(const Unit &unit);

  /// Microseconds; nothing where a launch of the unit was never measured.
  std::optional<double> time(int64_t steps, int64_t heads,
                             int64_t segments = 1) const;
  llvm::StringRef measured() const { return costs->measured; }
  /// The launches of a call.
  llvm::SmallVector<targetinfo::GPULaunch>
  launches(int64_t steps, int64_t heads, int64_t segments) const;

private:
  targetinfo::GPUInfo gpu;
  const targetinfo::GPUCosts *costs = nullptr;
  llvm::SmallVector<LaunchWork> parts;
};

} // namespace prism

#endif // PRISM_LIB_COMPILER_PREDICT_H
