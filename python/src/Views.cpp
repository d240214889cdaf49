//===- Views.cpp - Python's arrays as plain memory ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Views.h"

#include <cstring>
#include <unordered_map>

namespace nb = nanobind;
using namespace prism::python;

std::string prism::python::toString(const dlpack::Device &device) {
  switch (device.type) {
  case dlpack::deviceCpu:
  case dlpack::deviceCudaHost:
    return "cpu";
  case dlpack::deviceCuda:
  case dlpack::deviceCudaManaged:
    return "cuda:" + std::to_string(device.id);
  default:
    return "device type " + std::to_string(device.type);
  }
}

View &View::operator=(View &&other) noexcept {
  data = other.data;
  dtype = other.dtype;
  dtypeName = std::move(other.dtypeName);
  shape = std::move(other.shape);
  strides = std::move(other.strides);
  device = other.device;
  readOnly = other.readOnly;
  byMethod = other.byMethod;
  stream = other.stream;
  std::swap(capsule, other.capsule);
  std::swap(buffer, other.buffer);
  return *this;
}

View::~View() {
  if (buffer)
    PyBuffer_Release(&*buffer);
}

/// NumPy's name of a DLPack type.
static std::string nameOf(const dlpack::DataType &type) {
  static const char *const kinds[] = {"int",    "uint",    "float", "opaque",
                                      "bfloat", "complex", "bool"};
  if (type.code == 6)
    return "bool";
  std::string name = type.code < 7 ? kinds[type.code]
                                   : "type " + std::to_string(type.code) + ", ";
  name += std::to_string(type.bits);
  if (type.lanes != 1)
    name += "x" + std::to_string(type.lanes);
  return name;
}

static std::optional<PrismDType> dtypeOf(const dlpack::DataType &type) {
  if (type.lanes != 1)
    return std::nullopt;
  if (type.code == dlpack::codeFloat && type.bits == 32)
    return PRISM_DTYPE_F32;
  if (type.code == dlpack::codeBFloat && type.bits == 16)
    return PRISM_DTYPE_BF16;
  if (type.code == dlpack::codeFloat && type.bits == 16)
    return PRISM_DTYPE_F16;
  if (type.code == dlpack::codeFloat && type.bits == 64)
    return PRISM_DTYPE_F64;
  if (type.code == dlpack::codeInt && type.bits == 64)
    return PRISM_DTYPE_I64;
  return std::nullopt;
}

/// Copies what a DLPack tensor says; its memory stays where it is.
void View::read(const dlpack::Tensor &tensor) {
  data = tensor.data ? static_cast<char *>(tensor.data) + tensor.byteOffset
                     : nullptr;
  dtype = dtypeOf(tensor.dtype);
  if (!dtype)
    dtypeName = nameOf(tensor.dtype);
  device = tensor.device;
  shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  if (tensor.strides) {
    strides.assign(tensor.strides, tensor.strides + tensor.ndim);
    return;
  }
  strides.assign(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
}

/// The C functions of an object's type; null where it has none of version 1.
static dlpack::ExchangeApi *exchangeApi(nb::handle object) {
  // Guarded by the interpreter's lock. Types are kept, so that an address means
  // the same type for ever; there are few.
  static auto *known =
      new std::unordered_map<PyTypeObject *, dlpack::ExchangeApi *>();
  PyTypeObject *type = Py_TYPE(object.ptr());
  auto [place, isNew] = known->try_emplace(type, nullptr);
  if (!isNew)
    return place->second;
  Py_INCREF(reinterpret_cast<PyObject *>(type));
  nb::object capsule =
      nb::getattr(nb::handle(reinterpret_cast<PyObject *>(type)),
                  "__dlpack_c_exchange_api__", nb::none());
  if (capsule.is_none())
    return nullptr;
  auto *api = static_cast<dlpack::ExchangeApi *>(
      PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  if (!api)
    PyErr_Clear();
  while (api && api->version.major != 1)
    api = api->previous;
  if (api && api->viewObject && api->currentStream)
    place->second = api;
  return place->second;
}

/// PyTorch gives away the memory of a tensor whose sign is still to be changed
/// (the imaginary part of a conjugate) and does not say so.
static void refusePendingNegation(nb::handle object) {
  nb::object isNegated = nb::getattr(object, "is_neg", nb::none());
  if (!isNegated.is_none() && nb::cast<bool>(isNegated()))
    throw ViewError{"expected a tensor in memory as it is, found one with a "
                    "pending negation; pass tensor.resolve_neg()"};
}

bool View::takeByFunctions(nb::handle object) {
  dlpack::ExchangeApi *api = exchangeApi(object);
  if (!api)
    return false;
  refusePendingNegation(object);
  // The functions know nothing of gradients, which a call would lose.
  if (nb::object needs = nb::getattr(object, "requires_grad", nb::none());
      needs.ptr() == Py_True)
    nb::module_::import_("prism._arrays").attr("check_gradient")(object);
  dlpack::Tensor tensor;
  if (api->viewObject(object.ptr(), &tensor) != 0)
    throw nb::python_error();
  read(tensor);
  if (isCuda()) {
    void *current = nullptr;
    if (api->currentStream(device.type, device.id, &current) != 0)
      throw nb::python_error();
    stream = current;
  }
  return true;
}

/// NumPy's name of a buffer's format ("int32"), or the format.
static std::string nameOf(const std::string &format, Py_ssize_t size) {
  static const struct {
    const char *formats, *kind;
  } kinds[] = {{"bhilqn", "int"}, {"BHILQN", "uint"}, {"efdg", "float"}};
  std::string bits = std::to_string(8 * size);
  if (format == "?")
    return "bool";
  if (format.size() == 2 && format[0] == 'Z')
    return "complex" + bits;
  for (const auto &kind : kinds)
    if (format.size() == 1 && std::strchr(kind.formats, format[0]))
      return kind.kind + bits;
  return "format '" + format + "'";
}

/// The dtype of a buffer, or its name where the C API has none.
static void readFormat(const Py_buffer &buffer,
                       std::optional<PrismDType> &dtype, std::string &name) {
  const char *format = buffer.format ? buffer.format : "B";
  bool swapped = *format == '>' || *format == '!';
  if (*format && std::strchr("<>=!@|", *format))
    ++format;
  name = nameOf(format, buffer.itemsize);
  if (swapped)
    name = "big-endian " + name;
  static const struct {
    const char *name;
    PrismDType dtype;
  } types[] = {{"float32", PRISM_DTYPE_F32},
               {"float64", PRISM_DTYPE_F64},
               {"float16", PRISM_DTYPE_F16},
               {"int64", PRISM_DTYPE_I64}};
  for (const auto &type : types)
    if (name == type.name)
      dtype = type.dtype;
}

/// NumPy's arrays of ml_dtypes' bfloat16 have no buffer; their bits have.
static nb::object bfloat16Bits(nb::handle object) {
  nb::object dtype = nb::getattr(object, "dtype", nb::none());
  nb::object name = nb::getattr(dtype, "name", nb::none());
  if (!nb::isinstance<nb::str>(name) ||
      nb::cast<std::string>(name) != "bfloat16")
    return nb::object();
  return object.attr("view")("uint16");
}

bool View::takeBuffer(nb::handle object) {
  if (!PyObject_CheckBuffer(object.ptr()))
    return false;
  Py_buffer taken;
  bool isBFloat16 = false;
  if (PyObject_GetBuffer(object.ptr(), &taken, PyBUF_RECORDS_RO) != 0) {
    nb::python_error reason; // takes it from the interpreter
    capsule = bfloat16Bits(object);
    isBFloat16 = capsule.is_valid();
    if (!isBFloat16)
      throw reason;
    if (PyObject_GetBuffer(capsule.ptr(), &taken, PyBUF_RECORDS_RO) != 0)
      throw nb::python_error();
  }
  buffer = taken;
  data = taken.buf;
  readOnly = taken.readonly;
  if (isBFloat16)
    dtype = PRISM_DTYPE_BF16;
  else
    readFormat(taken, dtype, dtypeName);
  shape.assign(taken.shape, taken.shape + taken.ndim);
  for (int i = 0; i < taken.ndim; ++i) {
    if (taken.itemsize == 0 || taken.strides[i] % taken.itemsize != 0)
      throw ViewError{"expected strides that are multiples of " +
                      std::to_string(taken.itemsize) + " bytes, found " +
                      std::to_string(taken.strides[i])};
    strides.push_back(taken.strides[i] / taken.itemsize);
  }
  return true;
}

/// Asks an object for its capsule. Libraries older than the versions of DLPack
/// do not know max_version.
static nb::object askForCapsule(nb::handle object, bool isCuda,
                                nb::handle stream) {
  nb::object method = object.attr("__dlpack__");
  nb::dict arguments;
  if (isCuda)
    arguments["stream"] = nb::module_::import_("prism._arrays")
                              .attr("consumer_stream")(object, stream);
  nb::dict versioned;
  versioned.update(arguments);
  versioned["max_version"] = nb::make_tuple(1, 1);
  try {
    return method(**versioned);
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_TypeError))
      throw;
  }
  return method(**arguments);
}

void View::takeCapsule(nb::handle object, nb::handle stream) {
  nb::object where = object.attr("__dlpack_device__")();
  int type = nb::cast<int>(where[nb::int_(0)]);
  byMethod = true;
  refusePendingNegation(object);
  capsule = askForCapsule(object, type == dlpack::deviceCuda, stream);
  // A consumer owns what it takes and renames the capsule; a view only looks,
  // and the capsule gives the memory back itself.
  if (auto *versioned = static_cast<dlpack::VersionedTensor *>(
          PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"))) {
    if (versioned->version.major != 1)
      throw ViewError{"expected DLPack 1, found " +
                      std::to_string(versioned->version.major)};
    readOnly = versioned->flags & dlpack::flagReadOnly;
    return read(versioned->tensor);
  }
  PyErr_Clear();
  auto *managed = static_cast<dlpack::ManagedTensor *>(
      PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (!managed)
    throw nb::python_error();
  read(managed->tensor);
}

View View::of(nb::handle object, nb::handle stream) {
  View view;
  if (view.takeByFunctions(object))
    return view;
  static PyObject *ndarray =
      nb::object(nb::module_::import_("numpy").attr("ndarray")).release().ptr();
  if (PyObject_TypeCheck(object.ptr(),
                         reinterpret_cast<PyTypeObject *>(ndarray))) {
    if (Py_TYPE(object.ptr()) != reinterpret_cast<PyTypeObject *>(ndarray) &&
        nb::hasattr(object, "mask"))
      throw ViewError{"expected an array without a mask, found one with"};
    if (view.takeBuffer(object))
      return view;
  }
  if (nb::hasattr(object, "__dlpack__") &&
      nb::hasattr(object, "__dlpack_device__")) {
    view.takeCapsule(object, stream);
    return view;
  }
  if (view.takeBuffer(object))
    return view;
  throw ViewError{
      "expected an array (of NumPy, PyTorch, JAX or any with __dlpack__), "
      "found " +
      std::string(Py_TYPE(object.ptr())->tp_name)};
}
