//===- Views.h - Python's arrays as plain memory ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A View is an array of Python's, whoever made it, as address, dtype, shape and
// strides; nothing is copied. It is taken in one of three ways: by DLPack's C
// functions where the type has them, by the buffer protocol for NumPy, by
// `__dlpack__` for all others.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_PYTHON_VIEWS_H
#define PRISM_PYTHON_VIEWS_H

#include "DLPack.h"
#include "prism-c/Prism.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace prism::python {

/// Why an object is no array that can be taken; without the argument's name.
struct ViewError {
  std::string message;
};

class View {
public:
  /// Takes an object. Throws ViewError, or what the object's own methods throw.
  /// `stream`: the CUDA stream that the caller names for its call, or None.
  static View of(nanobind::handle object, nanobind::handle stream);

  View(View &&other) noexcept { *this = std::move(other); }
  View &operator=(View &&other) noexcept;
  ~View();

  void *data = nullptr;
  /// Nothing where the C API has no such dtype; `dtypeName` then says it.
  std::optional<PrismDType> dtype;
  std::string dtypeName;
  std::vector<int64_t> shape, strides; // strides in elements
  dlpack::Device device = {dlpack::deviceCpu, 0};
  bool readOnly = false;
  /// Taken by `__dlpack__`, which does not always say what is read-only.
  bool byMethod = false;
  /// The stream that the array's library works on now, if it says so.
  std::optional<void *> stream;

  bool isCuda() const {
    return device.type == dlpack::deviceCuda ||
           device.type == dlpack::deviceCudaManaged;
  }

private:
  View() = default;
  bool takeByFunctions(nanobind::handle object);
  bool takeBuffer(nanobind::handle object);
  void takeCapsule(nanobind::handle object, nanobind::handle stream);
  void read(const dlpack::Tensor &tensor);

  nanobind::object capsule; // keeps the memory, with what it holds
  std::optional<Py_buffer> buffer;
};

/// "cpu", "cuda:0".
std::string toString(const dlpack::Device &device);

/// A row-major array that this module allocates, aligned for everybody, and
/// gives away by `__dlpack__`.
class Buffer {
public:
  Buffer(std::vector<int64_t> shape, PrismDType dtype);
  Buffer(const Buffer &) = delete;
  ~Buffer();

  nanobind::object capsule(bool versioned);

private:
  struct Memory;
  std::shared_ptr<Memory> memory;
};

} // namespace prism::python

#endif // PRISM_PYTHON_VIEWS_H
