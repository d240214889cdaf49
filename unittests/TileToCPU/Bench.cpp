//===- Bench.cpp - Time of one kernel on one thread -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// prism-cpu-bench [K V T H isa]: minima over many runs of the chunk form at 16,
// 32 and 64 tokens and of the recurrent form, beside the FMA peak of the core
// measured in the same run.
//
//===----------------------------------------------------------------------===//

#include "KernelHarness.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace prism;
using namespace prism::test;

static double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// 16 independent chains of 512-bit multiply-adds: what one core can do.
__attribute__((target("avx512f"), noinline)) static double measurePeak() {
  typedef float Vec __attribute__((vector_size(64)));
  Vec acc[16], x = {}, y = {};
  for (int i = 0; i < 16; ++i) {
    acc[i] = Vec{} + float(i);
    x[i] = 0.999f;
    y[i] = 0.001f;
  }
  constexpr int64_t rounds = 400000;
  double best = 1e9;
  for (int repeat = 0; repeat < 5; ++repeat) {
    double start = now();
    for (int64_t r = 0; r < rounds; ++r) {
#pragma clang fp contract(fast)
#pragma clang loop unroll(full)
      for (int i = 0; i < 16; ++i)
        acc[i] = acc[i] * x + y;
      asm volatile("" ::: "memory");
    }
    best = std::min(best, now() - start);
  }
  Vec sum{};
  for (int i = 0; i < 16; ++i)
    sum += acc[i];
  volatile float sink = sum[0];
  (void)sink;
  return rounds * 16 * 32 / best;
}

/// prism-cpu-bench --asm K V C isa: the kernel as assembly text.
static int printAssembly(int argc, char **argv) {
  if (argc < 6)
    return 1;
  GatedDelta c{std::atoll(argv[2]),
               std::atoll(argv[3]),
               std::atoll(argv[4]),
               4096,
               1,
               4,
               4};
  CompiledProgram program(c.text(), argv[5]);
  std::fputs(program.ok() ? program.assembly(argv[5]).c_str()
                          : program.messages().c_str(),
             stdout);
  return !program.ok();
}

int main(int argc, char **argv) {
  if (argc > 1 && std::string(argv[1]) == "--asm")
    return printAssembly(argc, argv);
  auto number = [&](int i, int64_t fallback) {
    return argc > i ? std::atoll(argv[i]) : fallback;
  };
  int64_t K = number(1, 64), V = number(2, 64), T = number(3, 4096),
          H = number(4, 4);
  std::string isa = argc > 5 ? argv[5] : getHostCPUIsa().str();
  std::string io = argc > 6 ? argv[6] : "f32";
  double peak = getHostCPUIsa() == "x86-64-v4" ? measurePeak() : 0;
  std::printf("K=%ld V=%ld T=%ld H=%ld %s %s, peak %.0f GF/s\n", long(K),
              long(V), long(T), long(H), isa.c_str(), io.c_str(), peak / 1e9);
  for (int64_t C : {16, 32, 64, 1}) {
    GatedDelta c{K, V, C, T, 1, H, H};
    c.io = io;
    CompiledProgram program(c.text(), isa);
    if (!program.ok()) {
      std::fprintf(stderr, "%s\n", program.messages().c_str());
      return 1;
    }
    GuardedArray q(io, {1, T, H, K}), k(io, {1, T, H, K}), v(io, {1, T, H, V}),
        g("f32", {1, T, H}), b("f32", {1, T, H}), s("f32", {1, H, K, V}),
        o(io, {1, T, H, V});
    auto fill = [](GuardedArray &a, double scale, double shift) {
      for (int64_t i = 0; i < a.size(); ++i)
        a.set(i, shift + scale * (std::rand() / double(RAND_MAX) - 0.5));
    };
    fill(q, 0.2, 0), fill(k, 0.2, 0), fill(v, 1, 0), fill(g, 0.1, -0.06),
        fill(b, 0.5, 0.5);
    GuardedArray *arrays[] = {&q, &k, &v, &g, &b, nullptr, nullptr, &o, &s};
    size_t axes[] = {4, 4, 4, 3, 3, 4, 1, 4, 4};
    double best = 1e9,
           flops =
               C == 1 ? 0 : double(T) * H * (C * (4 * K + 3 * V) + 6 * K * V);
    program.run(arrays, axes, nullptr, 1, T, H);
    for (int i = 0; i < 60; ++i) {
      double start = now();
      program.run(arrays, axes, nullptr, 1, T, H);
      best = std::min(best, now() - start);
    }
    if (C == 1)
      flops = double(T) * H * 7 * K * V;
    std::printf("chunk %2ld: %7.3f ms  %6.1f GF/s  %4.1f %% of peak   compile "
                "%.0f ms, workspace %ld\n",
                long(C), best * 1e3, flops / best / 1e9,
                peak > 0 ? 100 * flops / best / peak : 0,
                program.compileSeconds() * 1e3, long(program.workspaceBytes()));
  }
  return 0;
}
