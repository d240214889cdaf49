//===- Entry.cpp - Calling an entry ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Native.h"
#include "Views.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <unistd.h>

namespace nb = nanobind;
using namespace prism::python;

namespace {

using DeviceHandle = std::shared_ptr<PrismDevice>;

/// The devices of the process, made when first needed. They are never
/// destroyed: at exit, the threads and the driver may be gone before.
class Devices {
public:
  DeviceHandle cpu() {
    // A forked child has none of its parent's threads.
    if (!cpuDevice || process != getpid())
      setThreads(wanted);
    return cpuDevice;
  }
  void setThreads(unsigned threads) {
    PrismDiagnostic *error = nullptr;
    PrismDevice *made = prismDeviceCreateCpu(threads, &error);
    if (!made)
      raise(error);
    // Destroying it would wait for the threads, which a child does not have.
    if (process != getpid())
      new DeviceHandle(std::move(cpuDevice));
    cpuDevice = DeviceHandle(made, prismDeviceDestroy);
    process = getpid();
    wanted = threads;
  }
  DeviceHandle cuda(int ordinal) {
    DeviceHandle &device = gpus[ordinal];
    if (device)
      return device;
    PrismDiagnostic *error = nullptr;
    // For machines whose driver has another name, and for tests.
    const char *driver = std::getenv("PRISM_CUDA_DRIVER");
    PrismDevice *made = prismDeviceCreateCuda(ordinal, driver, &error);
    if (!made)
      raise(error);
    return device = DeviceHandle(made, prismDeviceDestroy);
  }

private:
  DeviceHandle cpuDevice;
  pid_t process = 0;
  unsigned wanted = 0;
  std::map<int, DeviceHandle> gpus;
};

Devices &devices() {
  static auto *all = new Devices;
  return *all;
}

bool isWritten(const PrismArgument &argument) {
  return argument.role == PRISM_ROLE_OUTPUT ||
         argument.role == PRISM_ROLE_FINAL_STATE ||
         argument.role == PRISM_ROLE_FINAL_WINDOW;
}

/// What a caller may say beside the arrays.
struct Options {
  std::optional<std::string> schedule, isa;
  int64_t segments;
  nb::object stream; // an integer, or None
  nb::object hostOffsets;
  bool trustOffsets;
};

/// One call: the arrays as views, in the order of the entry's arguments.
class Call {
public:
  Call(const PrismEntry *entry, nb::dict arrays, const Options &options)
      : entry(entry), given(prismEntryArgumentCount(entry)), options(options) {
    for (auto [name, object] : arrays)
      take(name, object);
  }
  void chooseDevice();
  void allocate(nb::handle allocator);
  void run();
  nb::tuple outputs(nb::handle finish);

private:
  /// An argument's array. `isLeftOut`: given as None.
  struct Given {
    nb::object object;
    std::optional<View> view;
    bool isLeftOut = false, isOurs = false;
  };
  void take(nb::handle name, nb::handle object);
  void look(const PrismArgument &argument, Given &array);
  [[noreturn]] void unknown(const char *name);
  const PrismArgument &argumentAt(size_t index) const {
    return *prismEntryArgumentAt(entry, index);
  }
  void allocateWorkspace(const std::vector<PrismArray> &list,
                         const PrismRunOptions &run);
  void *namedStream();
  void *findStream();
  std::vector<PrismArray> arrays() const;
  PrismRunOptions runOptions();

  const PrismEntry *entry;
  std::vector<Given> given;
  const Options &options;
  Given hostOffsets;
  nb::object workspaceObject;
  std::optional<View> workspace;
  size_t first = SIZE_MAX; // the argument whose array decides kind and device
  DeviceHandle device;
  void *stream = nullptr;
};

/// The library names the nearest right name.
void Call::unknown(const char *name) {
  PrismArray array = {name, nullptr, PRISM_DTYPE_F32, 0, nullptr, nullptr};
  PrismSizes sizes;
  PrismDiagnostic *error = nullptr;
  prismEntrySizes(entry, devices().cpu().get(), &array, 1, nullptr, &sizes,
                  &error);
  raise(error);
}

void Call::take(nb::handle name, nb::handle object) {
  Py_ssize_t length = 0;
  const char *text = PyUnicode_AsUTF8AndSize(name.ptr(), &length);
  if (!text)
    throw nb::python_error();
  if (std::strlen(text) != size_t(length))
    throw nb::value_error("an argument's name holds a null character");
  size_t index = 0;
  while (index < given.size() && std::strcmp(argumentAt(index).name, text) != 0)
    ++index;
  if (index == given.size())
    unknown(text);
  // The ellipsis is the default of optional outputs: as if not named.
  if (object.ptr() == Py_Ellipsis)
    return;
  given[index].isLeftOut = object.is_none();
  if (object.is_none())
    return;
  given[index].object = nb::borrow(object);
  look(argumentAt(index), given[index]);
}

void Call::look(const PrismArgument &argument, Given &array) {
  auto refuse = [&](const std::string &why) {
    raiseArgument(argument.name,
                  "argument '" + std::string(argument.name) + "': " + why);
  };
  try {
    array.view.emplace(View::of(array.object, options.stream));
  } catch (const ViewError &error) {
    refuse(error.message);
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_Exception))
      throw;
    // One line; the cause has the rest (PyTorch adds where in itself it was).
    std::string reason = nb::cast<std::string>(nb::str(error.value()));
    reason.resize(std::min(reason.size(), reason.find('\n')));
    nb::object cause = nb::borrow(error.value());
    try {
      refuse(reason);
    } catch (nb::python_error &raised) {
      PyException_SetCause(raised.value().ptr(), cause.release().ptr());
      throw;
    }
  }
  if (!array.view->dtype)
    refuse(std::string("expected dtype ") + prismDTypeName(argument.dtype) +
           ", found " + array.view->dtypeName);
  if (!isWritten(argument) || array.isOurs)
    return;
  if (array.view->readOnly ||
      (array.view->byMethod &&
       nb::cast<bool>(nb::module_::import_("prism._arrays")
                          .attr("is_immutable")(array.object))))
    refuse("is written, and the array is read-only");
}

/// All arrays must be where the first is.
void Call::chooseDevice() {
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i].view)
      continue;
    if (first == SIZE_MAX)
      first = i;
    std::string wanted = toString(given[first].view->device),
                found = toString(given[i].view->device);
    if (wanted != found)
      raiseArgument(argumentAt(i).name,
                    "argument '" + std::string(argumentAt(i).name) +
                        "': is on " + found + ", but argument '" +
                        argumentAt(first).name + "' is on " + wanted +
                        "; all arrays of a call are on one device");
  }
  if (first == SIZE_MAX || !given[first].view->isCuda()) {
    if (first != SIZE_MAX && toString(given[first].view->device) != "cpu")
      raiseArgument(argumentAt(first).name,
                    "argument '" + std::string(argumentAt(first).name) +
                        "': expected an array on cpu or cuda, found one on " +
                        toString(given[first].view->device));
    device = devices().cpu();
    stream = namedStream();
    return;
  }
  device = devices().cuda(given[first].view->device.id);
  stream = findStream();
}

void *Call::namedStream() {
  return options.stream.is_none()
             ? nullptr
             : reinterpret_cast<void *>(nb::cast<uint64_t>(options.stream));
}

/// The caller's stream, else that on which the arrays' library works now.
void *Call::findStream() {
  if (!options.stream.is_none())
    return namedStream();
  for (const Given &array : given)
    if (array.view && array.view->stream)
      return *array.view->stream;
  nb::object current = nb::module_::import_("prism._arrays")
                           .attr("current_stream")(given[first].object);
  return reinterpret_cast<void *>(nb::cast<uint64_t>(current));
}

std::vector<PrismArray> Call::arrays() const {
  std::vector<PrismArray> list;
  list.reserve(given.size());
  for (size_t i = 0; i < given.size(); ++i)
    if (const std::optional<View> &view = given[i].view)
      list.push_back({argumentAt(i).name, view->data, *view->dtype,
                      view->shape.size(), view->shape.data(),
                      view->strides.data()});
  return list;
}

PrismRunOptions Call::runOptions() {
  PrismRunOptions run = {};
  run.size = sizeof(run);
  run.stream = stream;
  run.trustOffsets = options.trustOffsets;
  run.schedule = options.schedule ? options.schedule->c_str() : nullptr;
  run.isa = options.isa ? options.isa->c_str() : nullptr;
  run.segments = options.segments;
  if (workspace) {
    run.workspace = workspace->data;
    run.workspaceBytes = workspace->shape[0] * int64_t(sizeof(int64_t));
  }
  if (options.hostOffsets.is_none())
    return run;
  // Checked as the offsets themselves are, but for the place.
  PrismArgument argument = {
      "host_offsets", PRISM_ROLE_OFFSETS, PRISM_DTYPE_I64, 1, 1, "n", nullptr};
  hostOffsets.object = options.hostOffsets;
  look(argument, hostOffsets);
  const View &view = *hostOffsets.view;
  const PrismArgument *offsets = prismEntryArgument(entry, "offsets");
  const View *wanted = nullptr;
  for (size_t i = 0; i < given.size(); ++i)
    if (&argumentAt(i) == offsets && given[i].view)
      wanted = &*given[i].view;
  if (*view.dtype != PRISM_DTYPE_I64 || view.shape.size() != 1 ||
      (view.strides[0] != 1 && view.shape[0] > 1) ||
      toString(view.device) != "cpu" || !wanted || view.shape != wanted->shape)
    raiseArgument("host_offsets",
                  "host_offsets: expected a contiguous i64 copy of offsets on "
                  "the cpu, of the same length");
  run.hostOffsets = static_cast<const int64_t *>(view.data);
  return run;
}

/// Outputs that the caller did not give, in the kind of the first array.
void Call::allocate(nb::handle allocator) {
  PrismRunOptions run = runOptions();
  std::optional<PrismSizes> sizes;
  for (size_t i = 0; i < given.size(); ++i) {
    const PrismArgument &argument = argumentAt(i);
    bool isWanted =
        isWritten(argument) && !(given[i].isLeftOut && argument.optional);
    if (given[i].view || !isWanted)
      continue;
    if (!sizes) {
      std::vector<PrismArray> list = arrays();
      PrismDiagnostic *error = nullptr;
      sizes.emplace();
      if (prismEntrySizes(entry, device.get(), list.data(), list.size(), &run,
                          &*sizes, &error) != PRISM_SUCCESS)
        raise(error);
    }
    std::vector<int64_t> shape(argument.rank);
    prismArgumentShape(&argument, &*sizes, shape.data());
    nb::list extents;
    for (int64_t extent : shape)
      extents.append(extent);
    nb::object like = first == SIZE_MAX ? nb::none() : given[first].object;
    given[i].object =
        allocator(like, nb::tuple(extents), prismDTypeName(argument.dtype));
    given[i].isOurs = true;
    look(argument, given[i]);
  }
}

/// What a kernel for a GPU needs beside the arrays, made by their library: the
/// CPU's devices have their own.
void Call::allocateWorkspace(const std::vector<PrismArray> &list,
                             const PrismRunOptions &run) {
  PrismDiagnostic *error = nullptr;
  PrismSizes sizes;
  int64_t bytes = 0;
  if (prismEntrySizes(entry, device.get(), list.data(), list.size(), &run,
                      &sizes, &error) != PRISM_SUCCESS ||
      prismEntryWorkspace(entry, device.get(), &sizes, &run, &bytes, &error) !=
          PRISM_SUCCESS)
    raise(error);
  if (bytes == 0)
    return;
  workspaceObject =
      nb::module_::import_("prism._arrays")
          .attr("workspace")(given[first].object, bytes, options.stream);
  workspace.emplace(View::of(workspaceObject, options.stream));
}

void Call::run() {
  std::vector<PrismArray> list = arrays();
  PrismRunOptions run = runOptions();
  if (first != SIZE_MAX && given[first].view->isCuda()) {
    allocateWorkspace(list, run);
    run = runOptions();
  }
  PrismDiagnostic *error = nullptr;
  PrismStatus status;
  {
    nb::gil_scoped_release unlocked;
    status = prismEntryRun(entry, device.get(), list.data(), list.size(), &run,
                           &error);
  }
  if (status != PRISM_SUCCESS)
    raise(error);
}

nb::tuple Call::outputs(nb::handle finish) {
  nb::list list;
  for (size_t i = 0; i < given.size(); ++i) {
    if (!isWritten(argumentAt(i)))
      continue;
    nb::object object =
        given[i].object.is_valid() ? given[i].object : nb::none();
    if (given[i].isOurs && nb::isinstance<Buffer>(object)) {
      given[i].view.reset();
      object = finish(given[first].object, object);
    }
    list.append(object);
  }
  return nb::tuple(list);
}

/// An entry together with the program that owns it.
struct Entry {
  Program program;
  const PrismEntry *entry;

  Entry(Program given, const std::string &name) : program(std::move(given)) {
    PrismDiagnostic *error = nullptr;
    entry = prismProgramEntry(program.handle.get(), name.c_str(), &error);
    if (!entry)
      raise(error);
  }

  nb::tuple run(nb::dict arrays, nb::handle allocator, nb::handle finish,
                std::optional<std::string> schedule,
                std::optional<std::string> isa, nb::object stream,
                nb::object hostOffsets, bool trustOffsets,
                int64_t segments) const {
    Options options{std::move(schedule), std::move(isa),         segments,
                    std::move(stream),   std::move(hostOffsets), trustOffsets};
    Call call(entry, arrays, options);
    call.chooseDevice();
    call.allocate(allocator);
    call.run();
    return call.outputs(finish);
  }
};

} // namespace

void prism::python::defineEntry(nb::module_ &module) {
  nb::class_<Entry>(module, "Entry")
      .def(nb::init<Program, const std::string &>(), nb::arg("program"),
           nb::arg("name"))
      .def("run", &Entry::run, nb::arg("arrays"), nb::arg("allocate"),
           nb::arg("finish"), nb::arg("schedule").none() = nb::none(),
           nb::arg("isa").none() = nb::none(),
           nb::arg("stream").none() = nb::none(),
           nb::arg("host_offsets").none() = nb::none(),
           nb::arg("trust_offsets") = false, nb::arg("segments") = 0);
  nb::class_<Buffer>(module, "Buffer")
      .def("__init__",
           [](Buffer *self, std::vector<int64_t> shape,
              const std::string &dtype) {
             for (int i = PRISM_DTYPE_F64; i <= PRISM_DTYPE_I64; ++i)
               if (dtype == prismDTypeName(PrismDType(i))) {
                 new (self) Buffer(std::move(shape), PrismDType(i));
                 return;
               }
             throw nb::value_error("unknown dtype");
           })
      .def(
          "__dlpack__",
          [](Buffer &self, nb::object version, nb::args, nb::kwargs) {
            return self.capsule(!version.is_none());
          },
          nb::arg("max_version").none() = nb::none(), nb::arg("args"),
          nb::arg("kwargs"))
      .def("__dlpack_device__", [](const Buffer &) {
        return nb::make_tuple(int(dlpack::deviceCpu), 0);
      });
  module.def("set_num_threads",
             [](unsigned threads) { devices().setThreads(threads); });
  module.def("num_threads",
             [] { return prismDeviceThreads(devices().cpu().get()); });
}
