//===- Run.cpp - Devices and calls of the C API ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include <cstring>

using namespace prism;
using namespace prism::capi;

namespace {

PrismStatus refuse(PrismDiagnostic **error, PrismKind kind,
                   const runtime::Failure &failure) {
  setError(error, kind, failure);
  return PRISM_FAILURE;
}

/// The options as this version knows them; what the caller's version does not
/// know is 0. An error, or empty.
std::string readOptions(const PrismRunOptions *given, const PrismDevice *device,
                        PrismRunOptions &options) {
  std::memset(&options, 0, sizeof(options));
  if (given) {
    if (given->size < sizeof(size_t) || given->size > sizeof(options))
      return "PrismRunOptions: expected a size of at most " +
             std::to_string(sizeof(options)) + ", found " +
             std::to_string(given->size) +
             (given->size > sizeof(options)
                  ? "; the caller was built for a newer library"
                  : "");
    std::memcpy(&options, given, given->size);
  }
  if (options.stream && device && device->cpu)
    return "PrismRunOptions: a stream is for a GPU, the device is the CPU";
  if (options.isa && device && device->cuda)
    return "PrismRunOptions: isa is for the CPU, the device is a GPU";
  return "";
}

runtime::BindOptions bindOptions(const PrismDevice &device,
                                 const PrismRunOptions &options) {
  runtime::BindOptions bind;
  bind.deviceMemory = device.cuda.has_value();
  bind.hostOffsets = options.hostOffsets;
  bind.trustOffsets = options.trustOffsets;
  return bind;
}

runtime::Selection selection(const PrismRunOptions &options) {
  return {options.schedule ? options.schedule : "",
          options.isa ? options.isa : "", options.segments};
}

/// The caller's arrays as bindings; an error, or empty.
std::string readArrays(const PrismArray *arrays, size_t count,
                       runtime::Bindings &bindings) {
  if (!arrays && count > 0)
    return "expected arrays, found null";
  bindings.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const PrismArray &array = arrays[i];
    if (!array.name)
      return "array " + std::to_string(i) + ": expected a name, found null";
    std::string start = "argument '" + std::string(array.name) + "': ";
    if (array.dtype < PRISM_DTYPE_F64 || array.dtype > PRISM_DTYPE_I64)
      return start + "expected a PrismDType, found " +
             std::to_string(int(array.dtype));
    if (array.rank > 64 || (array.rank > 0 && !array.shape))
      return start + "expected a shape of at most 64 dimensions, found " +
             (array.shape ? std::to_string(array.rank) : "null");
    runtime::Binding binding;
    binding.name = array.name;
    binding.array.data = array.data;
    binding.array.dtype = runtime::DType(array.dtype);
    binding.array.shape.assign(array.shape, array.shape + array.rank);
    if (array.strides)
      binding.array.strides.assign(array.strides, array.strides + array.rank);
    bindings.push_back(std::move(binding));
  }
  return "";
}

/// What every function of a call starts with: handles, options, arrays.
struct Start {
  PrismRunOptions options;
  runtime::Bindings bindings;
  std::string error;

  Start(const PrismEntry *entry, const PrismDevice *device,
        const PrismRunOptions *given, const PrismArray *arrays = nullptr,
        size_t count = 0) {
    if (!entry || !device)
      error = entry ? "expected a device, found null"
                    : "expected an entry, found null";
    else if (error = readOptions(given, device, options); error.empty())
      error = readArrays(arrays, count, bindings);
  }
};

runtime::Sizes sizesOf(const PrismSizes &sizes) {
  return {sizes.batch, sizes.steps, sizes.sequences, sizes.longest};
}

PrismStatus runOnCpu(const PrismEntry &entry, PrismDevice &device,
                     const runtime::Call &call, const PrismRunOptions &options,
                     PrismDiagnostic **error) {
  auto kernel = entry.entry.cpuKernel(call.sizes, selection(options));
  if (!kernel)
    return refuse(error, PRISM_KIND_DEVICE, kernel.failure());
  runtime::Status done = options.workspace
                             ? device.cpu->run(*kernel, call, options.workspace,
                                               options.workspaceBytes)
                             : device.cpu->run(*kernel, call);
  return done ? PRISM_SUCCESS
              : refuse(error, PRISM_KIND_DEVICE, done.failure());
}

PrismStatus runOnCuda(const PrismEntry &entry, PrismDevice &device,
                      const runtime::Call &call, const PrismRunOptions &options,
                      PrismDiagnostic **error) {
  auto kernel = entry.cudaKernel(*device.cuda, call.sizes, selection(options));
  if (!kernel)
    return refuse(error, PRISM_KIND_DEVICE, kernel.failure());
  runtime::Status done =
      device.cuda->launch(*kernel, call, options.stream,
                          {options.workspace, options.workspaceBytes});
  return done ? PRISM_SUCCESS
              : refuse(error, PRISM_KIND_DEVICE, done.failure());
}

} // namespace

runtime::Result<runtime::LoadedCudaKernel>
PrismEntry::cudaKernel(const runtime::CudaDevice &device,
                       const runtime::Sizes &sizes,
                       const runtime::Selection &pinned) const {
  auto selected = runtime::selectCudaKernel(entry.info(), sizes,
                                            device.computeCapability(), pinned);
  if (!selected)
    return selected.failure();
  std::lock_guard<std::mutex> lock(mutex);
  auto [place, isNew] =
      loaded.try_emplace(Key(device.identity(), selected->info));
  if (isNew) {
    auto kernel = entry.cudaKernel(device, sizes, pinned);
    if (!kernel) {
      loaded.erase(place);
      return kernel;
    }
    place->second = *kernel;
  }
  runtime::LoadedCudaKernel kernel = place->second;
  kernel.segments = selected->segments;
  return kernel;
}

PrismDevice *prismDeviceCreateCpu(unsigned threads, PrismDiagnostic **error) {
  return guarded(error, static_cast<PrismDevice *>(nullptr),
                 [&]() -> PrismDevice * {
                   auto player = runtime::CpuPlayer::create(threads);
                   if (player)
                     return new PrismDevice{std::move(*player), {}};
                   setError(error, PRISM_KIND_DEVICE, player.failure());
                   return nullptr;
                 });
}

PrismDevice *prismDeviceCreateCuda(int ordinal, const char *driver,
                                   PrismDiagnostic **error) {
  return guarded(
      error, static_cast<PrismDevice *>(nullptr), [&]() -> PrismDevice * {
        auto device = driver ? runtime::CudaDevice::open(ordinal, driver)
                             : runtime::CudaDevice::open(ordinal);
        if (device)
          return new PrismDevice{nullptr, *device};
        setError(error, PRISM_KIND_DEVICE, device.failure());
        return nullptr;
      });
}

void prismDeviceDestroy(PrismDevice *device) { delete device; }

unsigned prismDeviceThreads(const PrismDevice *device) {
  return device && device->cpu ? device->cpu->threads() : 0;
}

PrismStatus prismEntrySizes(const PrismEntry *entry, const PrismDevice *device,
                            const PrismArray *arrays, size_t count,
                            const PrismRunOptions *options, PrismSizes *sizes,
                            PrismDiagnostic **error) {
  return guarded(error, PRISM_FAILURE, [&] {
    Start start(entry, device, options, arrays, count);
    if (!start.error.empty() || !sizes)
      return refuse(error, PRISM_KIND_USAGE,
                    {sizes ? start.error : "expected sizes, found null"});
    auto found = runtime::inferSizes(entry->entry.info(), start.bindings,
                                     bindOptions(*device, start.options));
    if (!found)
      return refuse(error, PRISM_KIND_ARGUMENT, found.failure());
    *sizes = {found->batch, found->steps, found->sequences, found->longest};
    return PRISM_SUCCESS;
  });
}

int64_t prismArgumentShape(const PrismArgument *argument,
                           const PrismSizes *sizes, int64_t *shape) {
  if (!argument || !sizes)
    return -1;
  const int64_t extents[] = {0, sizes->batch, sizes->steps, sizes->sequences,
                             sizes->sequences + 1};
  int64_t count = 1;
  for (size_t i = 0; i < argument->rank; ++i) {
    int64_t extent = argument->extents[i];
    if (extent < 0)
      extent = extents[-extent];
    if (shape)
      shape[i] = extent;
    if (extent < 0 ||
        (count >= 0 && __builtin_mul_overflow(count, extent, &count)))
      count = -1;
  }
  return count;
}

PrismStatus prismEntryWorkspace(const PrismEntry *entry, PrismDevice *device,
                                const PrismSizes *sizes,
                                const PrismRunOptions *options, int64_t *bytes,
                                PrismDiagnostic **error) {
  return guarded(error, PRISM_FAILURE, [&] {
    Start start(entry, device, options);
    if (!start.error.empty() || !sizes || !bytes)
      return refuse(error, PRISM_KIND_USAGE,
                    {sizes && bytes
                         ? start.error
                         : "expected sizes and a place for the bytes, found "
                           "null"});
    std::optional<int64_t> needed;
    runtime::Failure failure{
        "the call needs more workspace than 64 bits count"};
    runtime::Selection pinned = selection(start.options);
    if (device->cpu) {
      auto kernel = entry->entry.cpuKernel(sizesOf(*sizes), pinned);
      if (kernel)
        needed = device->cpu->workspaceBytes(*kernel, sizesOf(*sizes));
      else
        failure = kernel.failure();
    } else {
      auto kernel = entry->cudaKernel(*device->cuda, sizesOf(*sizes), pinned);
      if (kernel)
        needed = kernel->workspaceBytes(sizesOf(*sizes));
      else
        failure = kernel.failure();
    }
    if (!needed)
      return refuse(error, PRISM_KIND_DEVICE, failure);
    *bytes = *needed;
    return PRISM_SUCCESS;
  });
}

PrismStatus prismEntryRun(const PrismEntry *entry, PrismDevice *device,
                          const PrismArray *arrays, size_t count,
                          const PrismRunOptions *options,
                          PrismDiagnostic **error) {
  return guarded(error, PRISM_FAILURE, [&] {
    Start start(entry, device, options, arrays, count);
    if (!start.error.empty())
      return refuse(error, PRISM_KIND_USAGE, {start.error});
    auto call = runtime::bindCall(entry->entry.info(), start.bindings,
                                  bindOptions(*device, start.options));
    if (!call)
      return refuse(error, PRISM_KIND_ARGUMENT, call.failure());
    return device->cpu
               ? runOnCpu(*entry, *device, *call, start.options, error)
               : runOnCuda(*entry, *device, *call, start.options, error);
  });
}

PrismStatus prismEntryPrepare(const PrismEntry *entry, PrismDevice *device,
                              const PrismSizes *sizes,
                              const PrismRunOptions *options, const char **text,
                              PrismDiagnostic **error) {
  return guarded(error, PRISM_FAILURE, [&] {
    Start start(entry, device, options);
    if (!start.error.empty() || !sizes)
      return refuse(error, PRISM_KIND_USAGE,
                    {sizes ? start.error : "expected sizes, found null"});
    const runtime::KernelInfo *info = nullptr;
    runtime::Failure failure;
    auto take = [&](const auto &kernel) {
      if (kernel)
        info = kernel->info;
      else
        failure = kernel.failure();
    };
    if (device->cpu)
      take(entry->entry.cpuKernel(sizesOf(*sizes), selection(start.options)));
    else
      take(entry->cudaKernel(*device->cuda, sizesOf(*sizes),
                             selection(start.options)));
    if (!info)
      return refuse(error, PRISM_KIND_DEVICE, failure);
    if (text)
      *text = entry->describe(*info);
    return PRISM_SUCCESS;
  });
}
