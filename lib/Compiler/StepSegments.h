//===- StepSegments.h - Segments of elementwise steps -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Where each element of a state has a factor of its own, steps have no chunk
// form: what limits them is how long one step takes, how many instructions
// schedulers issue, and the bytes.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_COMPILER_STEPSEGMENTS_H
#define PRISM_LIB_COMPILER_STEPSEGMENTS_H

#include "Prism/Compiler/Compiler.h"

namespace prism {

/// What a step of one value head costs.
struct StepCosts {
  double inputBytes = 0, outputBytes = 0;
  double mapInstructions = 0, instructions = 0; ///< of a warp
  int64_t warps = 1;                            ///< of a head
  int64_t schedulers = 1;                       ///< of the chip
  int64_t mapsTogether = 1; ///< combined with one wait for memory
  double bandwidth = 1;     ///< bytes a microsecond

  /// Of a unit that splits sequences.
  static StepCosts of(const Unit &split);

  /// Microseconds of all launches, for so many sequences x value heads.
  double time(int64_t segments, int64_t steps, int64_t heads) const;
  int64_t bestSegments(int64_t steps, int64_t heads) const;
  /// Why sequences are split, in predicted figures.
  std::vector<Remark> explain() const;

private:
  double timeOfLaunch(int64_t warps, int64_t steps, double instructions,
                      double bytes) const;
};

} // namespace prism

#endif // PRISM_LIB_COMPILER_STEPSEGMENTS_H
