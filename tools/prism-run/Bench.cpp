//===- Bench.cpp - Times of repeated runs ----------------------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Bench.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace prism::run {

using namespace prism::runtime;

static Result<double> timeOnce(const std::function<Status()> &once) {
  auto start = std::chrono::steady_clock::now();
  Status done = once();
  if (!done)
    return done.failure();
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

int repeatsFor(double milliseconds) {
  return static_cast<int>(
      std::clamp(500.0 / std::max(milliseconds, 1e-3), 10.0, 1000.0));
}

Result<std::vector<double>> measure(int repeats,
                                    const std::function<Status()> &once) {
  std::vector<double> times;
  double last = 0;
  for (int i = 0; i < 3; ++i) {
    Result<double> warm = timeOnce(once);
    if (!warm)
      return warm.failure();
    last = *warm;
  }
  int count = repeats > 0 ? repeats : repeatsFor(last);
  for (int i = 0; i < count; ++i) {
    Result<double> time = timeOnce(once);
    if (!time)
      return time.failure();
    times.push_back(*time);
  }
  return times;
}

std::string summary(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  auto at = [&](double part) {
    return times[static_cast<size_t>(part * double(times.size() - 1) + 0.5)];
  };
  char text[200];
  std::snprintf(text, sizeof(text),
                "min %.4f ms, median %.4f ms, spread %.4f ms (quartiles %.4f "
                "to %.4f), %zu runs",
                times.front(), at(0.5), at(0.75) - at(0.25), at(0.25), at(0.75),
                times.size());
  return text;
}

} // namespace prism::run
