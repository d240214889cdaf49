//===- Bench.h - Times of repeated runs -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Repeats a run and says how long it took.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_TOOLS_PRISM_RUN_BENCH_H
#define PRISM_TOOLS_PRISM_RUN_BENCH_H

#include "prism-runtime/Result.h"

#include <functional>
#include <string>
#include <vector>

namespace prism::run {

/// Milliseconds of each of `repeats` runs (0: as many as fill half a second,
/// at least 10 and at most 1,000), after some that warm up.
runtime::Result<std::vector<double>>
measure(int repeats, const std::function<runtime::Status()> &once);

/// How many repeats fill half a second, at least 10 and at most 1,000.
int repeatsFor(double milliseconds);

/// "min 1.234 ms, median 1.300 ms, spread 5.1 % (quartiles 1.28 to 1.35), 30
/// runs".
std::string summary(std::vector<double> times);

} // namespace prism::run

#endif // PRISM_TOOLS_PRISM_RUN_BENCH_H
