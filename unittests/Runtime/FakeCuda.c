//===- FakeCuda.c - A stand-in for the CUDA driver -------------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Exports what the runtime looks up in libcuda.so.1, with host memory as device
// memory and a launch that records its arguments. `fake` is what a test sets
// and reads.
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct FakeCuda fake;
// For who knows the struct by another language.
const unsigned fakeSize = sizeof(fake);

static int marker; /* what handles point to */

int cuInit(unsigned flags) { return flags ? 1 : fake.initResult; }

int cuDriverGetVersion(int *version) {
  *version = fake.version;
  return 0;
}

int cuGetErrorName(int error, const char **name) {
  *name = error == 209 ? "CUDA_ERROR_NO_BINARY_FOR_GPU" : "CUDA_ERROR_FAKE";
  return 0;
}

int cuGetErrorString(int error, const char **text) {
  *text = error == 209 ? "no kernel image" : "made up";
  return 0;
}

int cuDeviceGetCount(int *count) {
  *count = 1;
  return 0;
}

int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return 0;
}

int cuDeviceGetName(char *name, int size, int device) {
  snprintf(name, (size_t)size, "Fake GPU %d", device);
  return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  *value = attribute == 75   ? fake.capability / 10
           : attribute == 76 ? fake.capability % 10
                             : 100000;
  return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
  (void)device;
  ++fake.retained;
  *context = &marker;
  return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  (void)device;
  --fake.retained;
  return 0;
}

int cuCtxPushCurrent_v2(void *context) {
  ++fake.pushed;
  return context == &marker ? 0 : 201;
}

int cuCtxPopCurrent_v2(void **context) {
  --fake.pushed;
  *context = &marker;
  return 0;
}

int cuModuleLoadDataEx(void **module, const void *image, unsigned count,
                       int *options, void **values) {
  if (fake.pushed != 1 || count != 2 || options[0] != 5 || options[1] != 6)
    return 1;
  if (strstr(image, "REFUSED")) {
    snprintf(values[0], (size_t)values[1], "line 1: refused\nline 2: really");
    return 209;
  }
  snprintf(fake.image, sizeof(fake.image), "%s", (const char *)image);
  ++fake.modules;
  *module = &marker;
  return 0;
}

int cuModuleUnload(void *module) {
  (void)module;
  --fake.modules;
  return 0;
}

int cuModuleGetFunction(void **function, void *module, const char *name) {
  (void)module;
  *function = &marker;
  return strcmp(name, "missing") ? 0 : 500;
}

int cuFuncGetParamInfo(void *function, size_t index, size_t *offset,
                       size_t *size) {
  (void)function;
  *offset = 0;
  *size = (size_t)fake.parameterBytes;
  return index ? 1 : 0;
}

int cuFuncSetAttribute(void *function, int attribute, int value) {
  (void)function;
  if (attribute != 8)
    return 1;
  fake.sharedAttribute = value;
  return 0;
}

/* Of 4 axes. */
int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address,
                           const uint64_t *extents, const uint64_t *strides,
                           const uint32_t *box, const uint32_t *steps,
                           int interleave, int swizzle, int promotion,
                           int fill) {
  uint64_t told[16] = {(uint64_t)type, rank, (uint64_t)(uintptr_t)address};
  if ((uintptr_t)map % 64)
    return 1;
  memcpy(told + 3, extents, 32);
  memcpy(told + 7, strides, 24);
  memcpy(told + 10, box, 8);
  memcpy(told + 11, steps, 8);
  told[12] = (uint64_t)interleave;
  told[13] = (uint64_t)swizzle;
  told[14] = (uint64_t)promotion;
  told[15] = (uint64_t)fill;
  memcpy(map, told, sizeof(told));
  return fake.encodeResult;
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz,
                   unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void *stream, void **parameters, void **extra) {
  (void)function;
  if (!parameters || extra || gy != 1 || gz != 1 || by != 1 || bz != 1)
    return 1;
  // As a driver, it knows from the kernel how much to read.
  size_t bytes = fake.parameterBytes > 0 ? (size_t)fake.parameterBytes
                                         : sizeof(fake.words);
  if (fake.launches < 8)
    fake.grids[fake.launches] = gx;
  ++fake.launches;
  fake.grid = gx;
  fake.block = bx;
  fake.shared = shared;
  fake.stream = stream;
  fake.wordCount = (int)(bytes / 8);
  memcpy(fake.words, parameters[0],
         bytes < sizeof(fake.words) ? bytes : sizeof(fake.words));
  return 0;
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  if (bytes > 1000000000)
    return 2;
  *address = (uint64_t)(uintptr_t)malloc(bytes);
  ++fake.allocations;
  return 0;
}

int cuMemFree_v2(uint64_t address) {
  free((void *)(uintptr_t)address);
  --fake.allocations;
  return 0;
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes,
                         void *stream) {
  (void)stream;
  memcpy((void *)(uintptr_t)to, from, bytes);
  return 0;
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
  (void)stream;
  memcpy(to, (void *)(uintptr_t)from, bytes);
  return 0;
}

int cuStreamCreate(void **stream, unsigned flags) {
  *stream = &marker;
  return flags == 1 ? 0 : 1;
}

int cuStreamDestroy_v2(void *stream) { return stream == &marker ? 0 : 400; }

int cuStreamSynchronize(void *stream) {
  (void)stream;
  ++fake.synchronizations;
  return fake.syncResult;
}

int cuEventCreate(void **event, unsigned flags) {
  (void)flags;
  ++fake.events;
  *event = &marker;
  return 0;
}

int cuEventDestroy_v2(void *event) {
  (void)event;
  --fake.events;
  return 0;
}

int cuEventRecord(void *event, void *stream) {
  (void)event, (void)stream;
  return 0;
}

int cuEventElapsedTime(float *milliseconds, void *begin, void *end) {
  (void)begin, (void)end;
  *milliseconds = 1.5f;
  return 0;
}
