//===- Kernels.c - Kernels of the documented ABI, by hand ------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A gated cumulative sum, s <- g_t s + x_t, y_t = s, per head and value, in
// blocks of 4 values. Arguments, in order (f32 but for the offsets):
//
//   x [B, T, 3, 8]   g [B, T, 3] optional   initial_state [N, 3, 8] optional
//   offsets [N+1] optional   y [B, T, 3, 8]   final_state [N, 3, 8] optional
//
//===----------------------------------------------------------------------===//

#include <stdint.h>

enum { X, G, INITIAL, OFFSETS, Y, FINAL, COUNT };
enum { HEADS = 3, VALUES = 8, BLOCK = 4, BLOCKS = VALUES / BLOCK };

static float *at(const uint64_t *words, int argument) {
  return (float *)(uintptr_t)words[argument];
}

/* Strides of x: 4 words, g: 3, initial_state: 3, offsets: 1, y: 4, ... */
static const int64_t *strides(const uint64_t *words, int argument) {
  static const int first[COUNT] = {0, 4, 7, 10, 11, 15};
  return (const int64_t *)words + COUNT + 2 + first[argument];
}

static void item(const uint64_t *words, float *state, int64_t index) {
  int64_t sequence = index / BLOCKS / HEADS, head = index / BLOCKS % HEADS;
  int64_t value = index % BLOCKS * BLOCK;
  int64_t row = sequence, begin = 0, end = (int64_t)words[COUNT + 1];
  if (words[OFFSETS]) {
    const int64_t *offsets = (const int64_t *)(uintptr_t)words[OFFSETS];
    int64_t step = strides(words, OFFSETS)[0];
    row = 0;
    begin = offsets[sequence * step];
    end = offsets[(sequence + 1) * step];
  }
  const int64_t *sx = strides(words, X), *sg = strides(words, G);
  const int64_t *si = strides(words, INITIAL), *sy = strides(words, Y);
  const int64_t *sf = strides(words, FINAL);
  for (int64_t v = 0; v < BLOCK; ++v)
    state[v] =
        words[INITIAL]
            ? at(words,
                 INITIAL)[sequence * si[0] + head * si[1] + (value + v) * si[2]]
            : 0.0f;
  for (int64_t t = begin; t < end; ++t) {
    float gate =
        words[G] ? at(words, G)[row * sg[0] + t * sg[1] + head * sg[2]] : 1.0f;
    for (int64_t v = 0; v < BLOCK; ++v) {
      state[v] =
          gate * state[v] +
          at(words,
             X)[row * sx[0] + t * sx[1] + head * sx[2] + (value + v) * sx[3]];
      at(words,
         Y)[row * sy[0] + t * sy[1] + head * sy[2] + (value + v) * sy[3]] =
          state[v];
    }
  }
  if (words[FINAL])
    for (int64_t v = 0; v < BLOCK; ++v)
      at(words, FINAL)[sequence * sf[0] + head * sf[1] + (value + v) * sf[2]] =
          state[v];
}

int32_t test_recurrent(const uint64_t *words, void *workspace, int64_t begin,
                       int64_t end) {
  float state[BLOCK];
  (void)workspace;
  for (int64_t i = begin; i < end; ++i)
    item(words, state, i);
  return 0;
}

/* The same in the workspace, 100 bytes of it, all of which it overwrites. */
int32_t test_chunk(const uint64_t *words, void *workspace, int64_t begin,
                   int64_t end) {
  if (!workspace || (uintptr_t)workspace % 64)
    return 64;
  for (int64_t i = begin; i < end; ++i) {
    for (int byte = 0; byte < 100; ++byte)
      ((unsigned char *)workspace)[byte] = 0xff;
    item(words, (float *)workspace, i);
  }
  return 0;
}

int32_t test_failing(const uint64_t *words, void *workspace, int64_t begin,
                     int64_t end) {
  (void)words, (void)workspace, (void)begin, (void)end;
  return 3;
}

/* Copies two-byte elements: x [B, T, 3, 8] to y of the same shape. */
int32_t test_copy(const uint64_t *words, void *workspace, int64_t begin,
                  int64_t end) {
  const uint16_t *x = (const uint16_t *)(uintptr_t)words[0];
  uint16_t *y = (uint16_t *)(uintptr_t)words[1];
  const int64_t *sx = (const int64_t *)words + 4, *sy = sx + 4;
  (void)workspace;
  for (int64_t i = begin; i < end; ++i)
    for (int64_t t = 0; t < (int64_t)words[3]; ++t)
      for (int64_t v = 0; v < VALUES; ++v)
        y[i / HEADS * sy[0] + t * sy[1] + i % HEADS * sy[2] + v * sy[3]] =
            x[i / HEADS * sx[0] + t * sx[1] + i % HEADS * sx[2] + v * sx[3]];
  return 0;
}
