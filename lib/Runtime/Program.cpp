//===- Program.cpp - Loads a bundle and its kernels ------------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "prism-runtime/Program.h"
#include "Support.h"

#include <dlfcn.h>

#include <map>
#include <mutex>

namespace prism::runtime {

/// What all copies of a Program and its entries share.
struct Bundle {
  std::string folder;
  Manifest manifest;

  std::mutex mutex;                                       // guards `libraries`
  std::map<std::string, std::shared_ptr<void>> libraries; // by file

  Result<std::shared_ptr<void>> library(const std::string &file);
};

Result<std::shared_ptr<void>> Bundle::library(const std::string &file) {
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<void> &known = libraries[file];
  if (known)
    return known;
  Result<std::string> path = resolveInside(folder, file);
  if (!path)
    return path.failure();
  void *handle = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    return Failure{*path +
                   ": cannot load: " + (reason ? reason : "no reason given")};
  }
  known = std::shared_ptr<void>(handle, [](void *h) { dlclose(h); });
  return known;
}

Result<Program> Program::load(const std::string &folder) {
  Result<Manifest> manifest = readManifest(folder);
  if (!manifest)
    return manifest.failure();
  Program program;
  program.bundle = std::make_shared<Bundle>();
  program.bundle->folder = folder;
  program.bundle->manifest = std::move(*manifest);
  return program;
}

const std::string &Program::folder() const { return bundle->folder; }

const Manifest &Program::manifest() const { return bundle->manifest; }

Result<Entry> Program::entry(const std::string &name) const {
  std::vector<std::string> names;
  for (const EntryInfo &info : bundle->manifest.entries) {
    names.push_back(info.name);
    if (info.name != name)
      continue;
    Entry entry;
    entry.bundle = bundle;
    entry.entry = &info;
    return entry;
  }
  return Failure{"bundle " + quote(bundle->manifest.name) + " has no entry " +
                 quote(name) + didYouMean(name, names) + " (it has " +
                 (names.empty() ? "none" : join(names)) + ")"};
}

Result<LoadedCpuKernel> Entry::cpuKernel(const Sizes &sizes,
                                         const Selection &pinned) const {
  Result<const KernelInfo *> info =
      selectCpuKernel(*entry, sizes, hostIsaLevel(), pinned);
  if (!info)
    return info.failure();
  Result<std::shared_ptr<void>> library = bundle->library((*info)->file);
  if (!library)
    return library.failure();
  void *symbol = dlsym(library->get(), (*info)->symbol.c_str());
  if (!symbol)
    return Failure{bundle->folder + "/" + (*info)->file +
                   ": expected a function " + quote((*info)->symbol) +
                   ", found none"};
  LoadedCpuKernel kernel;
  kernel.function = reinterpret_cast<PrismCpuFunction>(symbol);
  kernel.valueBlocks = (*info)->valueBlocks;
  kernel.workspace = (*info)->workspace;
  kernel.library = *library;
  kernel.info = *info;
  return kernel;
}

Result<LoadedCudaKernel> Entry::cudaKernel(const CudaDevice &device,
                                           const Sizes &sizes,
                                           const Selection &pinned) const {
  Result<const KernelInfo *> info =
      selectCudaKernel(*entry, sizes, device.computeCapability(), pinned);
  if (!info)
    return info.failure();
  Result<CudaKernel> loaded = device.loadKernel(bundle->folder, **info);
  if (!loaded)
    return loaded.failure();
  LoadedCudaKernel kernel;
  kernel.state = loaded->state;
  kernel.info = *info;
  return kernel;
}

} // namespace prism::runtime
