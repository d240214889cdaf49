/*===- Run.h - Running an entry on arrays ------------------------*- C -*-===*\
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* A call names the caller's arrays; nothing is copied. B, T and N follow     *|
|* from the shapes. docs/Runtime.md says what is checked.                     *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef PRISM_C_RUN_H
#define PRISM_C_RUN_H

#include "prism-c/Program.h"

PRISM_C_BEGIN

/** The caller's array for one argument. */
typedef struct PrismArray {
  const char *name; /* the argument's */
  void *data;       /* host memory, or memory of the GPU that runs the call */
  PrismDType dtype;
  size_t rank;
  const int64_t *shape;
  const int64_t *strides; /* in elements; NULL: row-major without gaps */
} PrismArray;

/** Where calls run: the CPU with its own threads, or one GPU. May be used by
 *  several threads; calls on one CPU device take turns. */
typedef struct PrismDevice PrismDevice;

/** `threads` 0: the number in $PRISM_NUM_THREADS, else one per hardware
 *  thread. The calling thread is one of them. */
PRISM_API PrismDevice *prismDeviceCreateCpu(unsigned threads,
                                            PrismDiagnostic **error);
/** The GPU's primary context, which the CUDA runtime uses too. `driver` names
 *  the driver's shared object; NULL: "libcuda.so.1". */
PRISM_API PrismDevice *prismDeviceCreateCuda(int ordinal, const char *driver,
                                             PrismDiagnostic **error);
PRISM_API void prismDeviceDestroy(PrismDevice *);
/** Threads of a CPU device; 0 for a GPU. */
PRISM_API unsigned prismDeviceThreads(const PrismDevice *);

/** All fields may be 0. Later versions may add fields at the end: `size` says
 *  how many the caller knows. */
typedef struct PrismRunOptions {
  size_t size; /* sizeof(PrismRunOptions) */
  /** CUstream or cudaStream_t; NULL: the default stream. For a GPU only. The
   *  call is enqueued; nothing is allocated and nothing waited for, but for the
   *  first call of a kernel, which loads it. */
  void *stream;
  /** prismEntryWorkspace's bytes, aligned to 256: memory of the GPU that runs
   *  the call, in use until the call has ended there, or host memory. NULL, on
   *  the CPU: the device keeps its own, which is allocated when it is first
   *  needed. */
  void *workspace;
  int64_t workspaceBytes;
  /** For offsets in device memory: a copy in host memory, without gaps. */
  const int64_t *hostOffsets;
  /** 1: offsets are right and are not read; wrong ones are undefined. */
  int trustOffsets;
  /** Pins a schedule ("chunk", "recurrent"), and on a CPU a level
   *  ("x86-64-v3"); NULL: the bundle's choice. */
  const char *schedule, *isa;
  /** Into how many segments a sequence is split: 1 not at all, 0 the bundle's
   *  choice. */
  int64_t segments;
} PrismRunOptions;

/** The sizes of a call. */
typedef struct PrismSizes {
  int64_t batch, steps, sequences;
  int64_t longest; /* steps of the longest sequence */
} PrismSizes;

/** Checks the inputs (outputs may be left out) and finds a call's sizes. */
PRISM_API PrismStatus prismEntrySizes(const PrismEntry *, const PrismDevice *,
                                      const PrismArray *arrays, size_t count,
                                      const PrismRunOptions *options,
                                      PrismSizes *sizes,
                                      PrismDiagnostic **error);

/** The shape of an argument in a call of these sizes: `argument->rank` numbers
 *  into `shape`. Returns the number of elements, -1 if 64 bits do not count
 *  them. */
PRISM_API int64_t prismArgumentShape(const PrismArgument *argument,
                                     const PrismSizes *sizes, int64_t *shape);

/** Bytes of workspace of a call of these sizes on this device: 0 on a GPU but
 *  for kernels that split sequences. Loads the kernel. */
PRISM_API PrismStatus prismEntryWorkspace(const PrismEntry *, PrismDevice *,
                                          const PrismSizes *sizes,
                                          const PrismRunOptions *options,
                                          int64_t *bytes,
                                          PrismDiagnostic **error);

/** Runs an entry. On the CPU it returns when all is done, on a GPU when the
 *  call is enqueued. A final state may be the same array as its initial state,
 *  which is then updated in place. `options` may be NULL. */
PRISM_API PrismStatus prismEntryRun(const PrismEntry *, PrismDevice *,
                                    const PrismArray *arrays, size_t count,
                                    const PrismRunOptions *options,
                                    PrismDiagnostic **error);

/** Loads the kernel that a call of these sizes would run: what the first call
 *  does otherwise (and may not do while a CUDA graph is captured). `text`, if
 *  not NULL, is set to what it is ("chunk 64, x86-64-v4"), and belongs to the
 *  program. */
PRISM_API PrismStatus prismEntryPrepare(const PrismEntry *, PrismDevice *,
                                        const PrismSizes *sizes,
                                        const PrismRunOptions *options,
                                        const char **text,
                                        PrismDiagnostic **error);

PRISM_C_END

#endif /* PRISM_C_RUN_H */
