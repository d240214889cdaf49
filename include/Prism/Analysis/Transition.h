//===- Transition.h - What a step multiplies a state by ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reads the transition A of S' = A S + B off the form of a next state: what it
// multiplies elementwise, and by which rank it mixes the keys.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_ANALYSIS_TRANSITION_H
#define PRISM_ANALYSIS_TRANSITION_H

#include "Prism/Analysis/StateFlow.h"

namespace prism::analysis {

/// The transition of one state whose recurrence is affine.
struct Transition {
  enum Diagonal {
    zero,     // the state is not kept
    identity, // kept as it is
    scalar,   // one factor for all elements
    key,      // one along the first axis
    value,    // one along the last of two axes
    element,  // one for each
  };
  Diagonal diagonal = zero;
  /// Rank of what is taken from the state in sums over it (erases).
  int64_t rank = 0;
  /// Mixes elements in another way, of full rank as far as is known.
  bool dense = false;
  /// Other states, or this one at the mini-batch's entry, are added.
  bool coupled = false;
};

Transition transitionOf(const StateFlow &flow, unsigned state);

/// "scalar decay, rank 2", as it is shown to people.
std::string describeTransition(const Transition &transition);

/// What a recurrence is as a scan. n steps; an affine one composes in any
/// order, a serial one has to be taken step by step.
struct ScanClass {
  enum Kind { diagonal, affine, serial };
  Kind kind = serial;
  Granularity granularity = Granularity::none;
  llvm::SmallVector<Transition, 2> transitions; // of each state, if affine
};

ScanClass classOf(const StateFlow &flow);
llvm::StringRef stringify(ScanClass::Kind kind);
/// One line for people: the class, work, depth and memory.
std::string describeClass(const ScanClass &scanClass);

} // namespace prism::analysis

#endif // PRISM_ANALYSIS_TRANSITION_H
