//===- Buffer.cpp - Arrays that this module allocates ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Views.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace nb = nanobind;
using namespace prism::python;

struct Buffer::Memory {
  void *data = nullptr;
  std::vector<int64_t> shape, strides;
  dlpack::DataType dtype;

  ~Memory() { std::free(data); }
  dlpack::Tensor tensor() {
    return {data,  {dlpack::deviceCpu, 0}, int32_t(shape.size()),
            dtype, shape.data(),           strides.data(),
            0};
  }
};

static dlpack::DataType dataType(PrismDType dtype) {
  uint8_t code = dtype == PRISM_DTYPE_I64    ? dlpack::codeInt
                 : dtype == PRISM_DTYPE_BF16 ? dlpack::codeBFloat
                                             : dlpack::codeFloat;
  return {code, uint8_t(8 * prismDTypeSize(dtype)), 1};
}

Buffer::Buffer(std::vector<int64_t> shape, PrismDType dtype)
    : memory(std::make_shared<Memory>()) {
  memory->strides.assign(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    memory->strides[i - 1] =
        memory->strides[i] * std::max<int64_t>(shape[i], 1);
  int64_t bytes = int64_t(prismDTypeSize(dtype));
  for (int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes))
      throw std::bad_alloc();
  memory->shape = std::move(shape);
  memory->dtype = dataType(dtype);
  constexpr int64_t alignment = 64;
  memory->data = std::aligned_alloc(
      alignment, size_t(std::max<int64_t>(bytes, 1) + alignment - 1) /
                     alignment * alignment);
  if (!memory->data)
    throw std::bad_alloc();
}

Buffer::~Buffer() = default;

/// A tensor that holds the memory until its deleter is called.
template <typename Tensor> static Tensor *share(std::shared_ptr<void> memory) {
  auto *managed = new Tensor();
  managed->context = new std::shared_ptr<void>(std::move(memory));
  managed->deleter = [](Tensor *self) {
    delete static_cast<std::shared_ptr<void> *>(self->context);
    delete self;
  };
  return managed;
}

/// A capsule that deletes the tensor unless a consumer took and renamed it.
template <typename Tensor>
static nb::object wrap(Tensor *managed, const char *name) {
  PyObject *capsule = PyCapsule_New(managed, name, [](PyObject *self) {
    const char *held = PyCapsule_GetName(self);
    if (std::strncmp(held, "used_", 5) == 0)
      return;
    auto *owned = static_cast<Tensor *>(PyCapsule_GetPointer(self, held));
    owned->deleter(owned);
  });
  if (!capsule) {
    managed->deleter(managed);
    throw nb::python_error();
  }
  return nb::steal(capsule);
}

nb::object Buffer::capsule(bool versioned) {
  if (versioned) {
    auto *managed = share<dlpack::VersionedTensor>(memory);
    managed->version = {1, 0};
    managed->flags = 0;
    managed->tensor = memory->tensor();
    return wrap(managed, "dltensor_versioned");
  }
  auto *managed = share<dlpack::ManagedTensor>(memory);
  managed->tensor = memory->tensor();
  return wrap(managed, "dltensor");
}
