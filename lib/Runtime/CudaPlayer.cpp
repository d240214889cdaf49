//===- CudaPlayer.cpp - Runs kernels on an NVIDIA GPU ----------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CudaDriver.h"
#include "Support.h"
#include "prism-runtime/Cuda.h"
#include "prism-runtime/TensorMaps.h"

#include <algorithm>
#include <cstdlib>

namespace prism::runtime {

static constexpr int64_t maxImageBytes = int64_t(1) << 30;
static constexpr int64_t maxParameterBytes = 4096; // on every chip
static constexpr int64_t maxGrid = INT32_MAX;

/// A device's primary context, held for as long as anything uses it.
struct CudaContext {
  std::shared_ptr<const CudaDriver> driver;
  CUdevice device = 0;
  CUcontext context = nullptr;
  int capability = 0;
  int maxShared = 0; // dynamic shared memory of a block, by opt-in
  std::string name;

  ~CudaContext() {
    if (context)
      driver->cuDevicePrimaryCtxRelease(device);
  }
};

struct CudaKernel::State {
  std::shared_ptr<const CudaContext> context;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  int64_t valueBlocks = 1, itemsPerBlock = 1;
  unsigned threads = 1, shared = 0;
  std::vector<TensorMapInfo> tensorMaps;
  size_t parameterBytes = 0; // 0: the driver does not say
  std::string symbol, image;
  Items items = Items::Sequences;
  std::vector<std::shared_ptr<const State>> before;
  std::vector<ArgumentInfo> intermediates;

  ~State();
  Status launch(const Call &call, void *stream) const;
};

namespace {

/// Makes a context current for a scope, and the former one again after it.
class Current {
public:
  explicit Current(const CudaContext &context)
      : driver(*context.driver),
        good(driver.check(driver.cuCtxPushCurrent(context.context),
                          "cannot use the device")) {}
  ~Current() {
    CUcontext popped = nullptr;
    if (good)
      driver.cuCtxPopCurrent(&popped);
  }
  const Status &status() const { return good; }

private:
  const CudaDriver &driver;
  Status good;
};

/// 10 * major + minor of a version "8.0", which the manifest reader checked.
int ptxNumber(const std::string &version) {
  size_t dot = version.find('.');
  return std::atoi(version.c_str()) * 10 +
         (dot == std::string::npos ? 0 : std::atoi(version.c_str() + dot + 1));
}

/// "8.0" of 80 in tenths, "12.6" of 1206 in hundredths.
std::string dotted(int number, int unit) {
  return std::to_string(number / unit) + "." + std::to_string(number % unit);
}

/// Refuses PTX that the driver is too old for, where that is known.
Status checkPtx(const KernelInfo &kernel, int driverVersion) {
  int newest = newestPtx(driverVersion);
  if (newest == 0 || ptxNumber(kernel.ptxVersion) <= newest)
    return Success{};
  return Failure{"driver " + dotted(driverVersion / 10, 100) +
                 " supports PTX up to " + dotted(newest, 10) +
                 ", this bundle needs " + kernel.ptxVersion};
}

/// Loads one image into the current context.
Result<CUmodule> loadModule(const CudaContext &context,
                            const BundleFiles &files, const std::string &file) {
  Result<std::string> image = files.read(file, maxImageBytes);
  if (!image)
    return image.failure();
  std::string log(8192, '\0');
  int options[] = {jitErrorLogBuffer, jitErrorLogBufferBytes};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  CUmodule module = nullptr;
  // The string ends in a zero byte, as PTX must.
  Status loaded = context.driver->check(
      context.driver->cuModuleLoadDataEx(&module, image->c_str(), 2, options,
                                         values),
      files.show(file) + ": cannot load on " + context.name);
  if (loaded)
    return module;
  std::string text = log.c_str();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return Failure{loaded.error() + (text.empty() ? "" : ": " + text)};
}

/// A tile's rows of 128 bytes, in the swizzle that products read, or a warp's
/// of 32, in that of as many bytes.
bool encodeTensorMap(const CudaDriver &driver, const TensorMap &map, void *to) {
  static const uint32_t everyElement[5] = {1, 1, 1, 1, 1};
  int swizzle = map.box[0] * byteSize(map.dtype) == 32 ? tensorMapSwizzle32
                                                       : tensorMapSwizzle128;
  return driver.cuTensorMapEncodeTiled &&
         driver.cuTensorMapEncodeTiled(
             to,
             map.dtype == DType::BF16 ? tensorMapBfloat16 : tensorMapFloat16,
             map.rank, reinterpret_cast<void *>(map.address),
             map.extents.data(), map.strides.data() + 1, map.box.data(),
             everyElement, 0, swizzle, tensorMapPromote256, 0) == cudaSuccess;
}

} // namespace

CudaKernel::State::~State() {
  if (!module)
    return;
  Current current(*context);
  if (current.status())
    context->driver->cuModuleUnload(module);
}

int newestPtx(int driverVersion) {
  int major = driverVersion / 1000, minor = driverVersion % 1000 / 10;
  if (major == 11)
    return 70 + std::min(minor, 8);
  if (major == 12) {
    // CUDA 12.5 and 12.6 share PTX 8.5.
    static const int newest[] = {80, 81, 82, 83, 84, 85, 85, 86, 87, 88};
    return newest[std::min(minor, 9)];
  }
  if (major == 13 && minor == 0)
    return 90;
  return 0;
}

const std::string &CudaKernel::image() const { return state->image; }

std::optional<int64_t> CudaKernel::workspaceBytes(const Sizes &sizes) const {
  return intermediateBytes(state->intermediates, sizes, segments);
}

Result<CudaDevice> CudaDevice::open(int ordinal, const std::string &library) {
  Result<std::shared_ptr<const CudaDriver>> driver = CudaDriver::load(library);
  if (!driver)
    return driver.failure();
  const CudaDriver &api = **driver;
  int count = 0;
  Status good =
      api.check(api.cuDeviceGetCount(&count), "cannot count the GPUs");
  if (good && (ordinal < 0 || ordinal >= count))
    return Failure{"no GPU " + std::to_string(ordinal) + "; this machine has " +
                   std::to_string(count)};
  auto context = std::make_shared<CudaContext>();
  context->driver = *driver;
  if (good)
    good = api.check(api.cuDeviceGet(&context->device, ordinal),
                     "cannot open GPU " + std::to_string(ordinal));
  int major = 0, minor = 0;
  char name[256] = "";
  if (good)
    good = api.check(
        std::max(
            {api.cuDeviceGetAttribute(&major, attributeMajor, context->device),
             api.cuDeviceGetAttribute(&minor, attributeMinor, context->device),
             api.cuDeviceGetAttribute(&context->maxShared,
                                      attributeMaxSharedOptIn, context->device),
             api.cuDeviceGetName(name, sizeof(name), context->device)}),
        "cannot ask GPU " + std::to_string(ordinal) + " what it is");
  if (good)
    good = api.check(
        api.cuDevicePrimaryCtxRetain(&context->context, context->device),
        "cannot use GPU " + std::to_string(ordinal));
  if (!good)
    return good.failure();
  context->capability = major * 10 + minor;
  context->name = name;
  CudaDevice device;
  device.context = std::move(context);
  return device;
}

int CudaDevice::computeCapability() const { return context->capability; }

const std::string &CudaDevice::name() const { return context->name; }

const void *CudaDevice::identity() const { return context->context; }

Result<CudaKernel> CudaDevice::loadKernel(const BundleFiles &files,
                                          const KernelInfo &kernel) const {
  const CudaDriver &api = *context->driver;
  if (kernel.workspace > 0)
    return Failure{"kernel " + quote(kernel.symbol) + " asks for " +
                   std::to_string(kernel.workspace) +
                   " bytes of workspace, which this runtime gives to CPU "
                   "kernels only"};
  if (kernel.shared > context->maxShared)
    return Failure{"kernel " + quote(kernel.symbol) + " needs " +
                   std::to_string(kernel.shared) + " bytes of shared memory, " +
                   context->name + " has " +
                   std::to_string(context->maxShared)};
  bool cubin =
      !kernel.cubin.empty() && runsOn(kernel.chip, context->capability, true);
  bool ptx =
      !kernel.ptx.empty() && runsOn(kernel.chip, context->capability, false);
  if (!cubin && !ptx)
    return Failure{"kernel " + quote(kernel.symbol) + " is made for " +
                   kernel.chip + ", " + context->name + " is sm_" +
                   std::to_string(context->capability)};
  std::vector<std::shared_ptr<const CudaKernel::State>> before;
  for (const KernelInfo &launch : kernel.before) {
    Result<CudaKernel> loaded = loadKernel(files, launch);
    if (!loaded)
      return loaded;
    before.push_back(loaded->state);
  }
  Current current(*context);
  if (!current.status())
    return current.status().failure();
  bool useCubin = cubin;
  Result<CUmodule> module = Failure{""};
  if (cubin)
    module = loadModule(*context, files, kernel.cubin);
  // A driver older than the assembler refuses its cubin, and may take the PTX.
  if (!module && ptx) {
    std::string before = module.error();
    useCubin = false;
    Status fresh = checkPtx(kernel, api.version());
    module = fresh ? loadModule(*context, files, kernel.ptx)
                   : Result<CUmodule>(fresh.failure());
    if (!module && !before.empty())
      module = Failure{before + "; and " + module.error()};
  }
  if (!module)
    return module.failure();
  auto state = std::make_shared<CudaKernel::State>();
  state->context = context;
  state->module = *module;
  state->image = useCubin ? "cubin" : "ptx";
  state->symbol = kernel.symbol;
  state->valueBlocks = kernel.valueBlocks;
  state->itemsPerBlock = kernel.itemsPerBlock;
  state->items = kernel.items;
  state->intermediates = kernel.intermediates;
  state->tensorMaps = kernel.tensorMaps;
  state->threads = static_cast<unsigned>(kernel.threads);
  state->shared = static_cast<unsigned>(kernel.shared);
  Status good = api.check(
      api.cuModuleGetFunction(&state->function, *module, kernel.symbol.c_str()),
      "cannot find function " + quote(kernel.symbol));
  if (good && kernel.shared > 0)
    good = api.check(api.cuFuncSetAttribute(state->function,
                                            functionMaxDynamicShared,
                                            static_cast<int>(kernel.shared)),
                     "cannot reserve " + std::to_string(kernel.shared) +
                         " bytes of shared memory for " + quote(kernel.symbol));
  if (good && api.cuFuncGetParamInfo) {
    size_t offset = 0;
    good = api.check(api.cuFuncGetParamInfo(state->function, 0, &offset,
                                            &state->parameterBytes),
                     "cannot ask for the parameter of " + quote(kernel.symbol));
  }
  if (!good)
    return good.failure();
  state->before = std::move(before);
  CudaKernel loaded;
  loaded.state = std::move(state);
  return loaded;
}

Status CudaDevice::launch(const CudaKernel &kernel, const Call &call,
                          void *stream, const Workspace &workspace) const {
  const CudaKernel::State &state = *kernel.state;
  if (state.context->context != context->context)
    return Failure{"the kernel was loaded on another device"};
  Current current(*context);
  if (!current.status())
    return current.status();
  if (state.intermediates.empty())
    return state.launch(call, stream);
  std::optional<int64_t> needed = kernel.workspaceBytes(call.sizes);
  if (!needed)
    return Failure{"the call needs more workspace than 64 bits count"};
  auto address = reinterpret_cast<uintptr_t>(workspace.data);
  if (workspace.bytes < *needed || (*needed > 0 && !address) ||
      address % arrayAlignment)
    return Failure{"expected a workspace of " + std::to_string(*needed) +
                   " bytes, aligned to " + std::to_string(arrayAlignment) +
                   ", found " + std::to_string(workspace.bytes) + " bytes"};
  Call split =
      splitCall(call, state.intermediates, kernel.segments, workspace.data);
  for (const std::shared_ptr<const CudaKernel::State> &before : state.before)
    if (Status done = before->launch(split, stream); !done)
      return done;
  return state.launch(split, stream);
}

/// One launch; its context is current.
Status CudaKernel::State::launch(const Call &call, void *stream) const {
  const State &state = *this;
  std::optional<int64_t> items =
      workItems(call, state.valueBlocks, state.items);
  size_t bytes = runtime::parameterBytes(state.tensorMaps, call);
  const char *what = state.tensorMaps.empty()
                         ? "the call's words"
                         : "the call's words and tensor maps";
  if (!items || *items / state.itemsPerBlock >= maxGrid)
    return Failure{"the call has more work items than one launch takes"};
  if (bytes > size_t(maxParameterBytes))
    return Failure{std::string(what) + " take " + std::to_string(bytes) +
                   " bytes, a kernel takes " +
                   std::to_string(maxParameterBytes)};
  // The driver itself launches a kernel that reads beyond its parameter.
  if (state.parameterBytes && bytes != state.parameterBytes)
    return Failure{std::string(what) + " take " + std::to_string(bytes) +
                   " bytes, kernel " + quote(state.symbol) + " expects " +
                   std::to_string(state.parameterBytes)};
  if (*items == 0)
    return Success{}; // nothing to do, and no grid of 0 blocks
  int64_t grid = (*items + state.itemsPerBlock - 1) / state.itemsPerBlock;
  alignas(tensorMapAlignment) unsigned char parameter[maxParameterBytes];
  const CudaDriver &driver = *context->driver;
  writeParameter(
      state.tensorMaps, call,
      [&driver](const TensorMap &map, void *to) {
        return encodeTensorMap(driver, map, to);
      },
      parameter);
  // Not as one buffer by `extra`: that begins where parameters do, and one of
  // 64-byte alignment, which tensor maps ask for, begins 48 bytes further.
  void *parameters[] = {parameter};
  return context->driver->check(
      context->driver->cuLaunchKernel(
          state.function, static_cast<unsigned>(grid), 1, 1, state.threads, 1,
          1, state.shared, static_cast<CUstream>(stream), parameters, nullptr),
      "cannot launch on " + context->name);
}

CudaBuffer::CudaBuffer(CudaBuffer &&other) noexcept {
  *this = std::move(other);
}

CudaBuffer &CudaBuffer::operator=(CudaBuffer &&other) noexcept {
  std::swap(context, other.context);
  std::swap(pointer, other.pointer);
  return *this;
}

CudaBuffer::~CudaBuffer() {
  if (!pointer)
    return;
  Current current(*context);
  if (current.status())
    context->driver->cuMemFree(reinterpret_cast<CUdeviceptr>(pointer));
}

Result<CudaBuffer> CudaDevice::allocate(int64_t bytes) const {
  Current current(*context);
  if (!current.status())
    return current.status().failure();
  CUdeviceptr address = 0;
  // An empty array has an address too.
  Status good = context->driver->check(
      context->driver->cuMemAlloc(
          &address, static_cast<size_t>(std::max<int64_t>(bytes, 1))),
      "cannot allocate " + std::to_string(bytes) + " bytes on " +
          context->name);
  if (!good)
    return good.failure();
  CudaBuffer buffer;
  buffer.context = context;
  buffer.pointer = reinterpret_cast<void *>(address);
  return buffer;
}

Status CudaDevice::upload(const CudaBuffer &to, const void *from, int64_t bytes,
                          void *stream) const {
  if (bytes == 0)
    return Success{};
  Current current(*context);
  if (!current.status())
    return current.status();
  return context->driver->check(context->driver->cuMemcpyHtoDAsync(
                                    reinterpret_cast<CUdeviceptr>(to.data()),
                                    from, static_cast<size_t>(bytes),
                                    static_cast<CUstream>(stream)),
                                "cannot copy to " + context->name);
}

Status CudaDevice::download(void *to, const CudaBuffer &from, int64_t bytes,
                            void *stream) const {
  if (bytes == 0)
    return Success{};
  Current current(*context);
  if (!current.status())
    return current.status();
  return context->driver->check(
      context->driver->cuMemcpyDtoHAsync(
          to, reinterpret_cast<CUdeviceptr>(from.data()),
          static_cast<size_t>(bytes), static_cast<CUstream>(stream)),
      "cannot copy from " + context->name);
}

Result<void *> CudaDevice::createStream() const {
  Current current(*context);
  if (!current.status())
    return current.status().failure();
  CUstream stream = nullptr;
  Status good = context->driver->check(
      context->driver->cuStreamCreate(&stream, streamNonBlocking),
      "cannot create a stream");
  if (!good)
    return good.failure();
  return static_cast<void *>(stream);
}

Status CudaDevice::destroyStream(void *stream) const {
  Current current(*context);
  if (!current.status())
    return current.status();
  return context->driver->check(
      context->driver->cuStreamDestroy(static_cast<CUstream>(stream)),
      "cannot destroy a stream");
}

Status CudaDevice::synchronize(void *stream) const {
  Current current(*context);
  if (!current.status())
    return current.status();
  return context->driver->check(
      context->driver->cuStreamSynchronize(static_cast<CUstream>(stream)),
      "the GPU failed while running");
}

Result<std::vector<double>> CudaDevice::time(const CudaKernel &kernel,
                                             const Call &call, int repeats,
                                             void *stream,
                                             const Workspace &workspace) const {
  const CudaDriver &api = *context->driver;
  Current current(*context);
  if (!current.status())
    return current.status().failure();
  auto *queue = static_cast<CUstream>(stream);
  // Between two marks lies one launch: marks[i] to marks[i + 1].
  std::vector<CUevent> marks(static_cast<size_t>(repeats) + 1, nullptr);
  std::vector<double> times;
  Status good = Success{};
  for (size_t i = 0; good && i < marks.size(); ++i)
    good = api.check(api.cuEventCreate(&marks[i], 0), "cannot time");
  for (size_t i = 0; good && i < marks.size(); ++i) {
    if (i > 0)
      good = launch(kernel, call, stream, workspace);
    if (good)
      good = api.check(api.cuEventRecord(marks[i], queue), "cannot time");
  }
  if (good)
    good = synchronize(stream);
  for (size_t i = 1; good && i < marks.size(); ++i) {
    float milliseconds = 0;
    good =
        api.check(api.cuEventElapsedTime(&milliseconds, marks[i - 1], marks[i]),
                  "cannot time");
    times.push_back(milliseconds);
  }
  for (CUevent mark : marks)
    if (mark)
      api.cuEventDestroy(mark);
  if (!good)
    return good.failure();
  return times;
}

} // namespace prism::runtime
