//===- Segments.h - Sequences split into segments ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_COMPILER_SEGMENTS_H
#define PRISM_LIB_COMPILER_SEGMENTS_H

#include "Prism/Compiler/Compiler.h"

namespace prism {

/// The unit that runs the program of `unit` in segments, with the units
/// launched before it; their maps are made in blocks of as many value columns
/// as `wide`, the same program, has, and so are the outputs of programs without
/// a triangular system. Nothing, with `whyNot` set, where it
/// cannot be split or, if the unit runs on tensor cores, its parts cannot.
std::optional<Unit> splitUnit(const Unit &unit, const Unit &wide,
                              std::string &whyNot);

/// Whether segments of a unit's program are mapped elementwise, by a factor and
/// a term for each element of the state.
bool splitsElementwise(const Unit &unit);

} // namespace prism

#endif // PRISM_LIB_COMPILER_SEGMENTS_H
