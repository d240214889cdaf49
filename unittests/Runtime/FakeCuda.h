//===- FakeCuda.h - A stand-in for the CUDA driver ----------------*- C -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the stand-in is told and what it recorded; see FakeCuda.c.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_RUNTIME_FAKECUDA_H
#define PRISM_UNITTESTS_RUNTIME_FAKECUDA_H

#include <stdint.h>

struct FakeCuda {
  // Set by the test.
  int initResult, version, capability, syncResult, parameterBytes, encodeResult;
  // Counts that must return to 0.
  int retained, pushed, modules, allocations, events;
  // Counts that only grow.
  int launches, synchronizations;
  // The last module and launch.
  char image[64];
  int sharedAttribute;
  unsigned grid, block, shared;
  void *stream;
  int wordCount;
  uint64_t words[64];
  // Of the first launches.
  unsigned grids[8];
};

#endif // PRISM_UNITTESTS_RUNTIME_FAKECUDA_H
