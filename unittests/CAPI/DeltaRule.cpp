//===- DeltaRule.cpp - A model and its recurrence in double ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "DeltaRule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace prism::capi::test {

std::string deltaRule(const std::string &io, const std::string &more) {
  return R"({ "prism_spec": 1, "name": "delta_rule", )" + more + R"(
  "dims": { "B": null, "T": null, "H": 2, "K": 8, "V": 4 },
  "dtype": { "io": ")" +
         io + R"(" },
  "inputs": { "q": ["B","T","H","K"], "k": ["B","T","H","K"],
              "v": ["B","T","H","V"], "g": ["B","T","H"],
              "beta": ["B","T","H"] },
  "steps": [ { "decay": "g" },
             { "erase": { "key": "k", "strength": "beta" } },
             { "inject": { "key": "k", "value": "v", "scale": "beta" } },
             { "read": { "query": "q" } } ] })";
}

std::string take(PrismDiagnostic *error) {
  std::string text = prismDiagnosticText(error);
  prismDiagnosticDestroy(error);
  return text;
}

Program compile(const std::string &spec, const PrismCompileOptions *options) {
  PrismDiagnostic *error = nullptr;
  Program program(prismCompile(spec.data(), spec.size(), options, &error));
  EXPECT_TRUE(program) << take(error);
  return program;
}

const PrismEntry *entryOf(const Program &program, const char *name) {
  PrismDiagnostic *error = nullptr;
  const PrismEntry *entry = prismProgramEntry(program.get(), name, &error);
  EXPECT_TRUE(entry) << take(error);
  return entry;
}

Device cpu(unsigned threads) {
  PrismDiagnostic *error = nullptr;
  Device device(prismDeviceCreateCpu(threads, &error));
  EXPECT_TRUE(device) << take(error);
  return device;
}

Call::Call(int64_t batch, int64_t steps, const std::vector<int64_t> &lengths,
           unsigned seed)
    : batch(batch), steps(steps),
      sequences(lengths.empty() ? batch : int64_t(lengths.size())) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> number(-0.5f, 0.5f);
  auto fill = [&](std::vector<float> &array, int64_t count, float scale,
                  float shift) {
    for (int64_t i = 0; i < count; ++i)
      array.push_back(number(random) * scale + shift);
  };
  int64_t tokens = batch * steps * heads;
  fill(q, tokens * keys, 1, 0);
  fill(k, tokens * keys, 1, 0);
  fill(v, tokens * values, 1, 0);
  fill(g, tokens, 0.3f, -0.2f);
  fill(beta, tokens, 1, 0.6f);
  fill(initial, sequences * heads * keys * values, 1, 0);
  // What is not written shows.
  o.assign(tokens * values, NAN);
  final.assign(initial.size(), NAN);
  shapes = {{batch, steps, heads, keys},
            {batch, steps, heads, values},
            {batch, steps, heads},
            {sequences, heads, keys, values},
            {sequences + 1}};
  auto add = [&](const char *name, void *data, PrismDType dtype,
                 const std::vector<int64_t> &shape) {
    arrays.push_back({name, data, dtype, shape.size(), shape.data(), nullptr});
  };
  add("q", q.data(), PRISM_DTYPE_F32, shapes[0]);
  add("k", k.data(), PRISM_DTYPE_F32, shapes[0]);
  add("v", v.data(), PRISM_DTYPE_F32, shapes[1]);
  add("g", g.data(), PRISM_DTYPE_F32, shapes[2]);
  add("beta", beta.data(), PRISM_DTYPE_F32, shapes[2]);
  add("initial_state", initial.data(), PRISM_DTYPE_F32, shapes[3]);
  add("o", o.data(), PRISM_DTYPE_F32, shapes[1]);
  add("final_state", final.data(), PRISM_DTYPE_F32, shapes[3]);
  if (lengths.empty())
    return;
  offsets = {0};
  for (int64_t length : lengths)
    offsets.push_back(offsets.back() + length);
  add("offsets", offsets.data(), PRISM_DTYPE_I64, shapes[4]);
}

PrismArray &Call::array(const char *name) {
  return *std::find_if(arrays.begin(), arrays.end(), [&](const PrismArray &a) {
    return std::string(a.name) == name;
  });
}

void Call::remove(const char *name) {
  arrays.erase(arrays.begin() + (&array(name) - arrays.data()));
}

std::string Call::run(const PrismEntry *entry, PrismDevice *device,
                      const PrismRunOptions *options) {
  PrismDiagnostic *error = nullptr;
  PrismStatus status = prismEntryRun(entry, device, arrays.data(),
                                     arrays.size(), options, &error);
  EXPECT_EQ(status == PRISM_SUCCESS, error == nullptr);
  return take(error);
}

double rmsRatio(const std::vector<float> &a, const std::vector<double> &b) {
  double difference = 0, reference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    reference += b[i] * b[i];
  }
  return difference == 0 ? 0 : std::sqrt(difference / reference);
}

double Call::error(bool withInitial) const {
  std::vector<double> outputs(o.size()), states(final.size());
  for (int64_t n = 0; n < sequences; ++n)
    for (int h = 0; h < heads; ++h) {
      double *S = &states[(n * heads + h) * keys * values];
      for (int i = 0; withInitial && i < keys * values; ++i)
        S[i] = initial[(n * heads + h) * keys * values + i];
      int64_t begin = offsets.empty() ? n * steps : offsets[n],
              end = offsets.empty() ? begin + steps : offsets[n + 1];
      for (int64_t t = begin; t < end; ++t) {
        int64_t token = t * heads + h;
        for (int j = 0; j < values; ++j) {
          double held = 0, read = 0;
          for (int i = 0; i < keys; ++i)
            held += k[token * keys + i] *
                    (S[i * values + j] *= std::exp(double(g[token])));
          for (int i = 0; i < keys; ++i) {
            S[i * values + j] += double(beta[token]) * k[token * keys + i] *
                                 (v[token * values + j] - held);
            read += q[token * keys + i] * S[i * values + j];
          }
          outputs[token * values + j] = read;
        }
      }
    }
  return std::max(rmsRatio(o, outputs), rmsRatio(final, states));
}

} // namespace prism::capi::test
