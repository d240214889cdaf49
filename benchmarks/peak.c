/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * The peak of f32 fused multiply-adds on one core: independent chains in
 * registers, as wide as the vectors of the processor. Compiled by run.py for
 * the machine it runs on, with 512-bit vectors allowed: clang splits them
 * otherwise, spills, and the peak would look six times too low. */

#ifdef __AVX512F__
typedef float Vector __attribute__((vector_size(64)));
enum { chains = 16 };
#else
typedef float Vector __attribute__((vector_size(32)));
enum { chains = 12 };
#endif

/* Runs `rounds` rounds and returns the flops they took; *sink keeps them alive.
 */
double prism_peak(long rounds, float *sink) {
  Vector sums[chains];
  Vector factor = {0}, term = {0};
  factor += 0.999f;
  term += *sink;
  for (int i = 0; i < chains; ++i)
    sums[i] = term * (float)i;
  for (long round = 0; round < rounds; ++round) {
#pragma clang loop unroll(full)
    for (int i = 0; i < chains; ++i)
      sums[i] = sums[i] * factor + term;
  }
  Vector total = {0};
  for (int i = 0; i < chains; ++i)
    total += sums[i];
  *sink = total[0];
  return 2.0 * chains * (sizeof(Vector) / sizeof(float)) * rounds;
}
