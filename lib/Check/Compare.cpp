//===- Compare.cpp - The RMS ratio ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Check/Check.h"
#include <cmath>

using namespace prism;
using namespace prism::check;

double check::errorLimit(runtime::DType io) {
  switch (io) {
  case runtime::DType::F64:
    return 1e-12;
  case runtime::DType::BF16:
    return 0.005;
  case runtime::DType::F16:
    return 0.002;
  default:
    return 1e-5;
  }
}

/// Differences that rounding to the range of the type explains: f32 arithmetic
/// flushes below 1.2e-38, f16 has no steps below 2^-24.
static double absoluteFloor(runtime::DType dtype) {
  switch (dtype) {
  case runtime::DType::F64:
    return 0.0;
  case runtime::DType::F16:
    return std::ldexp(1.001, -25);
  default:
    return 1e-37;
  }
}

namespace {
struct Sums {
  double error = 0, reference = 0;
  double floor = 0;
  void add(double out, double ref) {
    // Equal infinities and NaN on both sides agree.
    if (out == ref || (std::isnan(out) && std::isnan(ref)))
      out = ref = std::isfinite(ref) ? ref : 0.0;
    double difference = out - ref;
    if (ref != 0.0 && std::abs(difference) <= floor)
      difference = 0.0;
    error += std::isnan(difference) ? INFINITY : difference * difference;
    reference += ref * ref;
  }
  double ratio() const {
    if (reference == 0.0)
      return error == 0.0 ? 0.0 : INFINITY;
    return std::sqrt(error / reference);
  }
};
} // namespace

std::vector<TensorError> check::compare(const runtime::EntryInfo &info,
                                        const HostArrays &outputs,
                                        const HostArrays &references,
                                        double limit) {
  std::vector<TensorError> errors;
  for (const runtime::ArgumentInfo &argument : info.arguments) {
    if (!runtime::isWritten(argument.role))
      continue;
    const HostArray &out = outputs.at(argument.name),
                    &ref = references.at(argument.name);
    size_t headAxis = argument.axes.find('h');
    int64_t inner = 1, heads = 1;
    if (headAxis != std::string::npos) {
      heads = out.shape[headAxis];
      for (size_t i = headAxis + 1; i < out.shape.size(); ++i)
        inner *= out.shape[i];
    }
    Sums all{0, 0, absoluteFloor(argument.dtype)};
    std::vector<Sums> perHead(heads, all);
    for (size_t i = 0; i < out.values.size(); ++i) {
      all.add(out.values[i], ref.values[i]);
      perHead[(int64_t(i) / inner) % heads].add(out.values[i], ref.values[i]);
    }
    TensorError error;
    error.name = argument.name;
    error.ratio = all.ratio();
    for (const Sums &head : perHead)
      error.worstHead = std::max(error.worstHead, head.ratio());
    // The state's own dtype may be coarser or finer than the outputs'.
    error.limit = argument.role == runtime::Role::FinalState
                      ? std::max(limit, errorLimit(argument.dtype))
                      : limit;
    error.passed = out.values.size() == ref.values.size() &&
                   error.ratio <= error.limit &&
                   error.worstHead <= 1.5 * error.limit;
    errors.push_back(error);
  }
  return errors;
}
