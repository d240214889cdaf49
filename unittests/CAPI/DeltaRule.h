//===- DeltaRule.h - A model and its recurrence in double -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The gated delta rule as a spec, its arrays, and the same recurrence as a loop
// in double, step by step: what the values of every call are compared with.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_CAPI_DELTARULE_H
#define PRISM_UNITTESTS_CAPI_DELTARULE_H

#include "prism-c/Prism.h"

#include <memory>
#include <string>
#include <vector>

namespace prism::capi::test {

constexpr int heads = 2, keys = 8, values = 4;

/// The spec, with an io dtype and further members ("\"reverse\": true,").
std::string deltaRule(const std::string &io = "f32",
                      const std::string &more = "");

struct Deleter {
  void operator()(PrismProgram *program) const { prismProgramDestroy(program); }
  void operator()(PrismDevice *device) const { prismDeviceDestroy(device); }
  void operator()(PrismDiagnostic *error) const {
    prismDiagnosticDestroy(error);
  }
  void operator()(PrismCompileOptions *options) const {
    prismCompileOptionsDestroy(options);
  }
};
using Program = std::unique_ptr<PrismProgram, Deleter>;
using Device = std::unique_ptr<PrismDevice, Deleter>;
using Options = std::unique_ptr<PrismCompileOptions, Deleter>;

/// A failed test where the function fails.
Program compile(const std::string &spec,
                const PrismCompileOptions *options = nullptr);
const PrismEntry *entryOf(const Program &program, const char *name);
Device cpu(unsigned threads = 2);

/// A call's arrays; `arrays` is what the C API is given.
struct Call {
  int64_t batch, steps, sequences;
  std::vector<float> q, k, v, g, beta, initial, o, final;
  std::vector<int64_t> offsets;
  std::vector<std::vector<int64_t>> shapes;
  std::vector<PrismArray> arrays;

  /// Random inputs. With lengths: packed sequences, B = 1.
  Call(int64_t batch, int64_t steps, const std::vector<int64_t> &lengths = {},
       unsigned seed = 1);
  Call(const Call &) = delete;

  PrismArray &array(const char *name);
  void remove(const char *name);

  /// Runs it; the error's text, or "".
  std::string run(const PrismEntry *entry, PrismDevice *device,
                  const PrismRunOptions *options = nullptr);

  /// Largest of the RMS ratios of o and final_state to the recurrence.
  double error(bool withInitial = true) const;
};

/// sqrt(sum (a - b)^2 / sum b^2); 0 for equal zeros.
double rmsRatio(const std::vector<float> &a, const std::vector<double> &b);

/// The text of an error, destroyed.
std::string take(PrismDiagnostic *error);

} // namespace prism::capi::test

#endif // PRISM_UNITTESTS_CAPI_DELTARULE_H
