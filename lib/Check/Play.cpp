//===- Play.cpp - One kernel on host arrays -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Check/Check.h"
#include "llvm/ADT/StringRef.h"

using namespace prism;
using namespace prism::check;

static runtime::Failure failed(const std::string &message) {
  return runtime::Failure{message};
}

static runtime::Result<runtime::CudaDevice> openGpu(const Device &device) {
  int ordinal = 0;
  llvm::StringRef suffix = llvm::StringRef(device.name).drop_front(4);
  if (!suffix.empty() &&
      (!suffix.consume_front(":") || suffix.getAsInteger(10, ordinal)))
    return failed("device '" + device.name + "': expected cpu or cuda:N");
  return runtime::CudaDevice::open(ordinal);
}

bool check::canPlay(const runtime::KernelInfo &kernel, const Device &device) {
  if (device.isCuda()) {
    if (kernel.target != runtime::Target::Cuda)
      return false;
    auto gpu = openGpu(device);
    return !gpu ||
           runtime::runsOn(kernel.chip, gpu->computeCapability(), false) ||
           runtime::runsOn(kernel.chip, gpu->computeCapability(), true);
  }
  return kernel.target == runtime::Target::Cpu &&
         runtime::isaLevel(kernel.isa) <= runtime::hostIsaLevel();
}

/// Into how many segments a kernel that splits sequences is to split them: as
/// the first row of the table that does, else two.
static int64_t segmentsOf(const runtime::EntryInfo &entry,
                          const runtime::KernelInfo &kernel) {
  if (!kernel.isSplit())
    return 1;
  for (const runtime::ChoiceRow &row : entry.choice)
    if (row.target == kernel.target && row.segments > 1 &&
        (row.machine.empty() || row.machine == kernel.machine()))
      return row.segments;
  return 2;
}

static runtime::Status playOnCpu(const runtime::Entry &entry,
                                 const runtime::Selection &pinned,
                                 HostArrays &inputs, HostArrays &outputs,
                                 const Device &device) {
  runtime::Result<runtime::Call> call =
      runtime::bindCall(entry.info(), bindings(inputs, outputs));
  if (!call)
    return call.failure();
  runtime::Result<runtime::LoadedCpuKernel> kernel =
      entry.cpuKernel(call->sizes, pinned);
  if (!kernel)
    return kernel.failure();
  auto player = runtime::CpuPlayer::create(device.threads);
  if (!player)
    return player.failure();
  return (*player)->run(*kernel, *call);
}

static runtime::Status playOnCuda(const runtime::Entry &entry,
                                  const runtime::BundleFiles &files,
                                  const runtime::KernelInfo &info,
                                  HostArrays &inputs, HostArrays &outputs,
                                  const Device &device) {
  auto gpu = openGpu(device);
  if (!gpu)
    return gpu.failure();
  // Binding checks shapes on the host arrays; only the pointers differ.
  runtime::Result<runtime::Call> call =
      runtime::bindCall(entry.info(), bindings(inputs, outputs));
  if (!call)
    return call.failure();
  std::vector<runtime::CudaBuffer> buffers;
  std::vector<std::pair<HostArray *, size_t>> results;
  for (size_t i = 0; i < entry.info().arguments.size(); ++i) {
    const runtime::ArgumentInfo &argument = entry.info().arguments[i];
    HostArrays &arrays = runtime::isWritten(argument.role) ? outputs : inputs;
    auto found = arrays.find(argument.name);
    if (found == arrays.end())
      continue; // absent: its word is already 0
    HostArray &array = found->second;
    auto buffer = gpu->allocate(std::max<int64_t>(array.bytes.size(), 1));
    if (!buffer)
      return buffer.failure();
    if (!array.bytes.empty())
      if (runtime::Status status =
              gpu->upload(*buffer, array.bytes.data(), array.bytes.size());
          !status)
        return status;
    call->words[i] = reinterpret_cast<uint64_t>(buffer->data());
    if (runtime::isWritten(argument.role))
      results.push_back({&array, buffers.size()});
    buffers.push_back(std::move(*buffer));
  }
  // This very kernel: by its schedule the call might choose another.
  auto kernel = gpu->loadKernel(files, info);
  if (!kernel)
    return kernel.failure();
  kernel->segments = segmentsOf(entry.info(), info);
  std::optional<int64_t> bytes = kernel->workspaceBytes(call->sizes);
  if (!bytes)
    return failed("the call needs more workspace than 64 bits count");
  auto workspace = gpu->allocate(*bytes);
  if (!workspace)
    return workspace.failure();
  if (runtime::Status status = gpu->launch(*kernel, *call, /*stream=*/nullptr,
                                           {workspace->data(), *bytes});
      !status)
    return status;
  if (runtime::Status status = gpu->synchronize(); !status)
    return status;
  for (auto [array, buffer] : results)
    if (!array->bytes.empty())
      if (runtime::Status status = gpu->download(
              array->bytes.data(), buffers[buffer], array->bytes.size());
          !status)
        return status;
  return gpu->synchronize();
}

runtime::Status check::play(const runtime::Program &program,
                            const std::string &entryName,
                            const runtime::KernelInfo &kernel,
                            HostArrays &inputs, HostArrays &outputs,
                            const Device &device) {
  runtime::Result<runtime::Entry> entry = program.entry(entryName);
  if (!entry)
    return entry.failure();
  runtime::Selection pinned;
  pinned.schedule = kernel.plan.schedule;
  pinned.isa = kernel.isa;
  pinned.segments = segmentsOf(entry->info(), kernel);
  runtime::Status status =
      device.isCuda()
          ? playOnCuda(*entry, program.files(), kernel, inputs, outputs, device)
          : playOnCpu(*entry, pinned, inputs, outputs, device);
  for (auto &[name, array] : outputs)
    array.decode();
  return status;
}
