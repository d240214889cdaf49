/*===- time_calls.c - What a call costs from C
-----------------------------===*\
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Loads the program that compile_and_run saved and calls its decode, one     *|
|* token with the state updated in place, many times. Prints the time of a    *|
|* call and how much more memory the process has than after its first calls.  *|
|*                                                                            *|
|*   time_calls BUNDLE [CALLS]        10,000 calls unless said                *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#define _POSIX_C_SOURCE 199309L
#include "prism-c/Prism.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { HEADS = 2, KEYS = 8, VALUES = 4, ARGUMENTS = 8, FIRST_CALLS = 1000 };

static void fail(PrismDiagnostic *error) {
  fprintf(stderr, "%s\n", prismDiagnosticText(error));
  prismDiagnosticDestroy(error);
  exit(1);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/** Pages of the process that lie in memory, to some 64 that the kernel counts
    later; -1 where the system has no such file. */
static long residentPages(void) {
  FILE *file = fopen("/proc/self/statm", "r");
  long size = -1, resident = -1;
  if (!file)
    return -1;
  if (fscanf(file, "%ld %ld", &size, &resident) != 2)
    resident = -1;
  fclose(file);
  return resident;
}

int main(int argc, char **argv) {
  static float q[KEYS * HEADS], k[KEYS * HEADS], v[VALUES * HEADS], g[HEADS],
      beta[HEADS], o[VALUES * HEADS], state[KEYS * VALUES * HEADS];
  const int64_t keys[] = {1, 1, HEADS, KEYS}, values[] = {1, 1, HEADS, VALUES},
                gates[] = {1, 1, HEADS}, states[] = {1, HEADS, KEYS, VALUES};
  const PrismArray arrays[ARGUMENTS] = {
      {"q", q, PRISM_DTYPE_F32, 4, keys, NULL},
      {"k", k, PRISM_DTYPE_F32, 4, keys, NULL},
      {"v", v, PRISM_DTYPE_F32, 4, values, NULL},
      {"g", g, PRISM_DTYPE_F32, 3, gates, NULL},
      {"beta", beta, PRISM_DTYPE_F32, 3, gates, NULL},
      {"o", o, PRISM_DTYPE_F32, 4, values, NULL},
      {"initial_state", state, PRISM_DTYPE_F32, 4, states, NULL},
      {"final_state", state, PRISM_DTYPE_F32, 4, states, NULL}};
  PrismDiagnostic *error = NULL;
  long calls = argc > 2 ? strtol(argv[2], NULL, 10) : 10000, call, pages = 0;
  double start = 0, taken;
  PrismProgram *program = argc > 1 ? prismProgramLoad(argv[1], &error) : NULL;
  PrismDevice *device;
  const PrismEntry *entry;
  if (argc < 2 || calls < 1) {
    fprintf(stderr, "usage: time_calls BUNDLE [CALLS]\n");
    return 2;
  }
  if (!program)
    fail(error);
  device = prismDeviceCreateCpu(1, &error);
  entry = device ? prismProgramEntry(program, "decode", &error) : NULL;
  if (!entry)
    fail(error);
  for (call = -FIRST_CALLS; call < calls; ++call) {
    if (call == 0) {
      pages = residentPages();
      start = seconds();
    }
    if (prismEntryRun(entry, device, arrays, ARGUMENTS, NULL, &error))
      fail(error);
  }
  taken = seconds() - start;
  printf("%ld calls of '%s', decode: %.2f us a call, %ld pages more\n", calls,
         prismProgramName(program), 1e6 * taken / (double)calls,
         residentPages() - pages);
  prismDeviceDestroy(device);
  prismProgramDestroy(program);
  return 0;
}
