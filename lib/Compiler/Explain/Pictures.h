//===- Pictures.h - The pictures of an explanation, in SVG ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// They are drawn for the width of a phone and grow with the page; colours come
// from the page's style sheet.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_COMPILER_EXPLAIN_PICTURES_H
#define PRISM_LIB_COMPILER_EXPLAIN_PICTURES_H

#include "Markup.h"
#include "Prism/Compiler/Explain.h"

namespace prism::explain {

/// A state's chain from one step to the next, from top to bottom: what each
/// factor takes at its left, what is read at its right. `id` is unique in the
/// page.
void drawChain(Markup &page, const State &state, const std::string &title,
               const std::string &id);

/// Attainable speed over arithmetic intensity, both logarithmic: the target's
/// roofs, and its plans as points with their numbers.
void drawRoofline(Markup &page, const Target &target, const std::string &title,
                  const std::string &id);

/// FLOP per second of a GPU, per cycle of a CPU's core, that a limit allows.
double attainable(const Target &target, const Plan &plan, const Limit &limit);

/// "12.3 TFLOP/s", "64 FLOP a cycle".
std::string speedInWords(const Target &target, double speed);

} // namespace prism::explain

#endif // PRISM_LIB_COMPILER_EXPLAIN_PICTURES_H
