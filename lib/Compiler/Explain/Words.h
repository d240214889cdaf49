//===- Words.h - Phrases that text and page share ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_COMPILER_EXPLAIN_WORDS_H
#define PRISM_LIB_COMPILER_EXPLAIN_WORDS_H

#include "Prism/Compiler/Explain.h"

namespace prism::explain {

inline constexpr const char *prefixesAreNotCompiled =
    "prefix scans are not compiled yet; --evaluate runs them in float64";

/// "one state of 64 keys x 64 values, 4 value heads".
std::string statesInWords(const Recurrence &recurrence);
/// "28.7 kFLOP token by token, 1032 bytes of inputs and outputs".
std::string workInWords(const Recurrence &recurrence);
/// "schedule chunk, chunk 64, blocks of 64 value columns".
std::string planInWords(const Plan &plan);
/// "450.6 kFLOP, 194.2 FLOP per byte".
std::string costInWords(const Plan &plan);
/// "load on 4 warps, prepare on 4 warps".
std::string rolesInWords(const Plan &plan);
/// How segments are launched.
std::string splitInWords(const Split &split);
/// "up to 1024 steps", "longer sequences".
std::string stepsInWords(const SegmentRange &range);
/// "limit" of a GPU, "limit on x86-64-v4" of a CPU.
std::string limitName(const Target &target, const Limit &limit);
std::string limitInWords(const Target &target, const Limit &limit);
/// "1 sequence of 4096 steps".
std::string shapeInWords(const CallShape &shape);
/// "105.2 us", "2 segments 80.1 us, 4 segments 60.3 us (taken)"; "" where the
/// plan was not measured.
std::string predictedInWords(const Plan &plan);
/// Where a GPU's predicted times come from, or why there are none.
std::string measuredInWords(const Target &target);
/// When the plans of a target are taken: "recurrent up to 15 steps, ...".
/// Empty where there is one schedule.
std::string choiceInWords(const Target &target);

} // namespace prism::explain

#endif // PRISM_LIB_COMPILER_EXPLAIN_WORDS_H
