//===- DLPack.h - The structs of DLPack -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The ABI by which array libraries hand each other their arrays (dmlc/dlpack,
// version 1.3), as far as it is used here.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_PYTHON_DLPACK_H
#define PRISM_PYTHON_DLPACK_H

#include <cstdint>

namespace prism::python::dlpack {

struct Version {
  uint32_t major, minor;
};

enum DeviceType : int32_t {
  deviceCpu = 1,
  deviceCuda = 2,
  deviceCudaHost = 3, // pinned host memory
  deviceCudaManaged = 13
};

struct Device {
  int32_t type, id;
};

enum TypeCode : uint8_t { codeInt = 0, codeFloat = 2, codeBFloat = 4 };

struct DataType {
  uint8_t code, bits;
  uint16_t lanes;
};

struct Tensor {
  void *data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t *shape, *strides; // strides in elements; null: row-major
  uint64_t byteOffset;
};

/// What a capsule "dltensor" holds.
struct ManagedTensor {
  Tensor tensor;
  void *context;
  void (*deleter)(ManagedTensor *);
};

constexpr uint64_t flagReadOnly = 1;

/// What a capsule "dltensor_versioned" holds.
struct VersionedTensor {
  Version version;
  void *context;
  void (*deleter)(VersionedTensor *);
  uint64_t flags;
  Tensor tensor;
};

/// The C functions that a type offers as `__dlpack_c_exchange_api__`, a capsule
/// "dlpack_exchange_api". They save the way through Python.
struct ExchangeApi {
  Version version;
  ExchangeApi *previous;
  void *allocate, *fromObject, *toObject;
  /// A view that lives as long as the object is left alone.
  int (*viewObject)(void *object, Tensor *view);
  int (*currentStream)(int32_t type, int32_t id, void **stream);
};

} // namespace prism::python::dlpack

#endif // PRISM_PYTHON_DLPACK_H
