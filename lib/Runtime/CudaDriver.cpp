//===- CudaDriver.cpp - Finds the CUDA driver at run time ------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CudaDriver.h"
#include "Support.h"

#include <dlfcn.h>

namespace prism::runtime {

Status CudaDriver::resolve(const std::string &path) {
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    return Failure{"no CUDA driver on this machine (" +
                   std::string(reason ? reason : path) + ")"};
  }
  // Never closed: a driver keeps threads and handlers of its own.
  library = std::shared_ptr<void>(handle, [](void *) {});
#define PRISM_CUDA_RESOLVE(name, symbol, parameters)                           \
  name = reinterpret_cast<decltype(name)>(dlsym(handle, symbol));              \
  if (!name)                                                                   \
    return Failure{path + ": expected a function '" symbol                     \
                          "', found none; the CUDA driver is too old"};
  PRISM_CUDA_FUNCTIONS(PRISM_CUDA_RESOLVE)
#undef PRISM_CUDA_RESOLVE
  cuFuncGetParamInfo = reinterpret_cast<decltype(cuFuncGetParamInfo)>(
      dlsym(handle, "cuFuncGetParamInfo"));
  cuTensorMapEncodeTiled = reinterpret_cast<decltype(cuTensorMapEncodeTiled)>(
      dlsym(handle, "cuTensorMapEncodeTiled"));
  return Success{};
}

Result<std::shared_ptr<const CudaDriver>>
CudaDriver::load(const std::string &path) {
  std::shared_ptr<CudaDriver> driver(new CudaDriver());
  Status resolved = driver->resolve(path);
  if (!resolved)
    return resolved.failure();
  CUresult started = driver->cuInit(0);
  if (started == cudaNoDevice)
    return Failure{"no NVIDIA GPU on this machine, though a CUDA driver is "
                   "installed"};
  Status good = driver->check(started, "cannot start the CUDA driver");
  if (!good)
    return good.failure();
  good = driver->check(driver->cuDriverGetVersion(&driver->cudaVersion),
                       "cannot ask for the CUDA driver's version");
  if (!good)
    return good.failure();
  return std::shared_ptr<const CudaDriver>(std::move(driver));
}

Status CudaDriver::check(CUresult result, const std::string &what) const {
  if (result == cudaSuccess)
    return Success{};
  const char *name = nullptr, *text = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  return Failure{
      what + ": " +
      (name ? std::string(name) : "CUDA error " + std::to_string(result)) +
      (text ? " (" + std::string(text) + ")" : "")};
}

} // namespace prism::runtime
