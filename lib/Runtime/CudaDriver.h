//===- CudaDriver.h - The entry points of the CUDA driver -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A hand-written table of the driver functions that the runtime calls, filled
// by dlopen and dlsym. The few types and numbers that they need are declared
// here, as the driver's ABI fixes them; no header of CUDA is used.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_RUNTIME_CUDADRIVER_H
#define PRISM_LIB_RUNTIME_CUDADRIVER_H

#include "prism-runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace prism::runtime {

// The driver's types: handles are pointers, an address is 64 bits.
using CUresult = int;
using CUdevice = int;
using CUdeviceptr = uint64_t;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;

// The numbers of cuda.h that are used.
constexpr CUresult cudaSuccess = 0;
constexpr CUresult cudaNoDevice = 100;
constexpr int attributeMaxSharedOptIn = 97;
constexpr int attributeMajor = 75, attributeMinor = 76;
constexpr int functionMaxDynamicShared = 8;
constexpr int jitErrorLogBuffer = 5, jitErrorLogBufferBytes = 6;
constexpr unsigned streamNonBlocking = 1;
constexpr int tensorMapFloat16 = 6, tensorMapBfloat16 = 9;
constexpr int tensorMapSwizzle32 = 1, tensorMapSwizzle128 = 3;
constexpr int tensorMapPromote256 = 3;
// name of the field and function, symbol in the library, parameters
#define PRISM_CUDA_FUNCTIONS(F)                                                \
  F(cuInit, "cuInit", (unsigned))                                              \
  F(cuDriverGetVersion, "cuDriverGetVersion", (int *))                         \
  F(cuGetErrorName, "cuGetErrorName", (CUresult, const char **))               \
  F(cuGetErrorString, "cuGetErrorString", (CUresult, const char **))           \
  F(cuDeviceGetCount, "cuDeviceGetCount", (int *))                             \
  F(cuDeviceGet, "cuDeviceGet", (CUdevice *, int))                             \
  F(cuDeviceGetName, "cuDeviceGetName", (char *, int, CUdevice))               \
  F(cuDeviceGetAttribute, "cuDeviceGetAttribute", (int *, int, CUdevice))      \
  F(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain",                      \
    (CUcontext *, CUdevice))                                                   \
  F(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (CUdevice))     \
  F(cuCtxPushCurrent, "cuCtxPushCurrent_v2", (CUcontext))                      \
  F(cuCtxPopCurrent, "cuCtxPopCurrent_v2", (CUcontext *))                      \
  F(cuModuleLoadDataEx, "cuModuleLoadDataEx",                                  \
    (CUmodule *, const void *, unsigned, int *, void **))                      \
  F(cuModuleUnload, "cuModuleUnload", (CUmodule))                              \
  F(cuModuleGetFunction, "cuModuleGetFunction",                                \
    (CUfunction *, CUmodule, const char *))                                    \
  F(cuFuncSetAttribute, "cuFuncSetAttribute", (CUfunction, int, int))          \
  F(cuLaunchKernel, "cuLaunchKernel",                                          \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,   \
     unsigned, CUstream, void **, void **))                                    \
  F(cuMemAlloc, "cuMemAlloc_v2", (CUdeviceptr *, size_t))                      \
  F(cuMemFree, "cuMemFree_v2", (CUdeviceptr))                                  \
  F(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2",                                 \
    (CUdeviceptr, const void *, size_t, CUstream))                             \
  F(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2",                                 \
    (void *, CUdeviceptr, size_t, CUstream))                                   \
  F(cuStreamCreate, "cuStreamCreate", (CUstream *, unsigned))                  \
  F(cuStreamDestroy, "cuStreamDestroy_v2", (CUstream))                         \
  F(cuStreamSynchronize, "cuStreamSynchronize", (CUstream))                    \
  F(cuEventCreate, "cuEventCreate", (CUevent *, unsigned))                     \
  F(cuEventDestroy, "cuEventDestroy_v2", (CUevent))                            \
  F(cuEventRecord, "cuEventRecord", (CUevent, CUstream))                       \
  F(cuEventElapsedTime, "cuEventElapsedTime", (float *, CUevent, CUevent))

class CudaDriver {
public:
  /// Loads the driver and calls cuInit.
  static Result<std::shared_ptr<const CudaDriver>>
  load(const std::string &library);

  /// Nothing for success, else "what: NAME (description)".
  Status check(CUresult result, const std::string &what) const;

  /// 1000 * major + 10 * minor of the CUDA version that the driver serves.
  int version() const { return cudaVersion; }

#define PRISM_CUDA_FIELD(name, symbol, parameters)                             \
  CUresult(*name) parameters = nullptr;
  PRISM_CUDA_FUNCTIONS(PRISM_CUDA_FIELD)
#undef PRISM_CUDA_FIELD

  /// Size of a kernel's parameter; null before CUDA 12.4.
  CUresult (*cuFuncGetParamInfo)(CUfunction, size_t index, size_t *offset,
                                 size_t *size) = nullptr;
  /// Makes the 128 bytes of a tensor map; null before CUDA 12.0. The numbers
  /// are data type, rank, address, extents, strides of all axes but the first,
  /// box, steps within it, interleave, swizzle, L2 promotion, fill.
  CUresult (*cuTensorMapEncodeTiled)(void *, int, unsigned, void *,
                                     const uint64_t *, const uint64_t *,
                                     const uint32_t *, const uint32_t *, int,
                                     int, int, int) = nullptr;

private:
  CudaDriver() = default;
  Status resolve(const std::string &path);

  std::shared_ptr<void> library;
  int cudaVersion = 0;
};

} // namespace prism::runtime

#endif // PRISM_LIB_RUNTIME_CUDADRIVER_H
