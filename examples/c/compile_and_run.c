/*===- compile_and_run.c - A model from C
----------------------------------===*\
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Compiles a recurrence in this process, runs a prompt through its forward   *|
|* and the next tokens one by one through its decode, the state updated in    *|
|* place, and compares both with the recurrence written out in double.        *|
|*                                                                            *|
|*   compile_and_run [BUNDLE]     BUNDLE: also saves the program there, loads *|
|*                                it again and runs that                      *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include "prism-c/Prism.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADS = 2, KEYS = 8, VALUES = 4, STEPS = 37, PROMPT = 30 };

/* S <- exp(g) S;  S <- S - beta k (k^T S);  S <- S + beta k v^T;  o = S^T q */
static const char spec[] =
    "{ \"prism_spec\": 1, \"name\": \"delta_rule\",\n"
    "  \"dims\": { \"B\": null, \"T\": null, \"H\": 2, \"K\": 8, \"V\": 4 },\n"
    "  \"inputs\": { \"q\": [\"B\",\"T\",\"H\",\"K\"],\n"
    "              \"k\": [\"B\",\"T\",\"H\",\"K\"],\n"
    "              \"v\": [\"B\",\"T\",\"H\",\"V\"],\n"
    "              \"g\": [\"B\",\"T\",\"H\"], \"beta\": [\"B\",\"T\",\"H\"] "
    "},\n"
    "  \"steps\": [ { \"decay\": \"g\" },\n"
    "             { \"erase\": { \"key\": \"k\", \"strength\": \"beta\" } },\n"
    "             { \"inject\": { \"key\": \"k\", \"value\": \"v\",\n"
    "                           \"scale\": \"beta\" } },\n"
    "             { \"read\": { \"query\": \"q\" } } ] }\n";

static float q[STEPS][HEADS][KEYS], k[STEPS][HEADS][KEYS];
static float v[STEPS][HEADS][VALUES], g[STEPS][HEADS], beta[STEPS][HEADS];
static float o[STEPS][HEADS][VALUES], state[HEADS][KEYS][VALUES];
static double expected[STEPS][HEADS][VALUES], S[HEADS][KEYS][VALUES];

/** Prints an error with its place, and gives up. */
static void fail(PrismDiagnostic *error) {
  fprintf(stderr, "%s\n", prismDiagnosticText(error));
  prismDiagnosticDestroy(error);
  exit(1);
}

static float number(void) { return (float)rand() / (float)RAND_MAX - 0.5f; }

static void fillInputs(void) {
  int t, h, i;
  for (t = 0; t < STEPS; ++t)
    for (h = 0; h < HEADS; ++h) {
      for (i = 0; i < KEYS; ++i) {
        q[t][h][i] = number();
        k[t][h][i] = number();
      }
      for (i = 0; i < VALUES; ++i)
        v[t][h][i] = number();
      g[t][h] = -0.2f - number() * 0.2f;
      beta[t][h] = 0.5f + number();
    }
}

/** One step of the recurrence, as the spec says it, in double. */
static void step(int t, int h) {
  int i, j;
  for (j = 0; j < VALUES; ++j) {
    double held = 0;
    for (i = 0; i < KEYS; ++i) {
      S[h][i][j] *= exp(g[t][h]);
      held += k[t][h][i] * S[h][i][j];
    }
    expected[t][h][j] = 0;
    for (i = 0; i < KEYS; ++i) {
      S[h][i][j] += beta[t][h] * k[t][h][i] * (v[t][h][j] - held);
      expected[t][h][j] += q[t][h][i] * S[h][i][j];
    }
  }
}

/** Runs steps [first, end) through an entry; the state is updated in place. */
static void run(const PrismProgram *program, PrismDevice *device,
                const char *name, int first, int end, int hasState) {
  PrismDiagnostic *error = NULL;
  const PrismEntry *entry = prismProgramEntry(program, name, &error);
  int64_t keys[] = {1, 0, HEADS, KEYS}, values[] = {1, 0, HEADS, VALUES},
          gates[] = {1, 0, HEADS}, states[] = {1, HEADS, KEYS, VALUES};
  PrismArray arrays[8];
  size_t count = 0;
  if (!entry)
    fail(error);
  keys[1] = values[1] = gates[1] = end - first;
#define GIVE(argument, pointer, extents, dimensions)                           \
  arrays[count].name = (argument), arrays[count].data = (pointer),             \
  arrays[count].dtype = PRISM_DTYPE_F32, arrays[count].rank = (dimensions),    \
  arrays[count].shape = (extents), arrays[count].strides = NULL, ++count
  GIVE("q", q[first], keys, 4);
  GIVE("k", k[first], keys, 4);
  GIVE("v", v[first], values, 4);
  GIVE("g", g[first], gates, 3);
  GIVE("beta", beta[first], gates, 3);
  GIVE("o", o[first], values, 4);
  GIVE("final_state", state, states, 4);
  if (hasState)
    GIVE("initial_state", state, states, 4);
  if (prismEntryRun(entry, device, arrays, count, NULL, &error))
    fail(error);
}

/** The prompt in one call, the rest token by token. */
static void runAll(const PrismProgram *program, PrismDevice *device) {
  int t;
  memset(o, 0, sizeof(o));
  run(program, device, "forward", 0, PROMPT, 0);
  for (t = PROMPT; t < STEPS; ++t)
    run(program, device, "decode", t, t + 1, 1);
}

/** The error figure of docs/Testing.md. */
static double ratio(const float *found, const double *wanted, int count) {
  double difference = 0, reference = 0;
  int i;
  for (i = 0; i < count; ++i) {
    difference += (found[i] - wanted[i]) * (found[i] - wanted[i]);
    reference += wanted[i] * wanted[i];
  }
  return sqrt(difference / reference);
}

static void compare(const char *what) {
  double outputs =
             ratio(&o[0][0][0], &expected[0][0][0], STEPS * HEADS * VALUES),
         states = ratio(&state[0][0][0], &S[0][0][0], HEADS * KEYS * VALUES);
  int good = outputs < 1e-5 && states < 1e-5;
  printf("%s: o %.1e, final_state %.1e from the recurrence in double: %s\n",
         what, outputs, states, good ? "ok" : "WRONG");
  if (!good)
    exit(1);
}

int main(int argc, char **argv) {
  PrismDiagnostic *error = NULL;
  PrismProgram *program = prismCompile(spec, strlen(spec), NULL, &error);
  PrismDevice *device = program ? prismDeviceCreateCpu(2, &error) : NULL;
  int t, h;
  if (!device)
    fail(error);
  printf("'%s' by %s\n", prismProgramName(program),
         prismProgramCompiler(program));
  fillInputs();
  for (t = 0; t < STEPS; ++t)
    for (h = 0; h < HEADS; ++h)
      step(t, h);
  runAll(program, device);
  compare("compiled");
  if (argc > 1) {
    if (prismProgramSave(program, argv[1], &error))
      fail(error);
    prismProgramDestroy(program);
    program = prismProgramLoad(argv[1], &error);
    if (!program)
      fail(error);
    runAll(program, device);
    compare("loaded");
  }
  prismDeviceDestroy(device);
  prismProgramDestroy(program);
  return 0;
}
