//===- Program.cpp - Loads a bundle and its kernels ------------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "prism-runtime/Program.h"
#include "Support.h"

#include <dlfcn.h>
#include <functional>
#include <map>
#include <mutex>

namespace prism::runtime {

static constexpr int64_t maxFileBytes = int64_t(1) << 30;

/// What all copies of a Program and its entries share.
struct Bundle {
  BundleFiles files;
  std::string text; // of manifest.json
  Manifest manifest;

  std::mutex mutex;                                       // guards what follows
  std::map<std::string, std::shared_ptr<void>> libraries; // by file
  std::map<const KernelInfo *, LoadedCpuKernel> kernels;

  explicit Bundle(BundleFiles files) : files(std::move(files)) {}
  Result<LoadedCpuKernel> cpuKernel(const KernelInfo &info);
  Result<std::shared_ptr<void>> library(const std::string &file);
  Result<CpuKernel> open(const KernelInfo &info);
};

/// Under the lock.
Result<std::shared_ptr<void>> Bundle::library(const std::string &file) {
  std::shared_ptr<void> &known = libraries[file];
  if (known)
    return known;
  Result<std::shared_ptr<void>> opened = files.openLibrary(file);
  if (!opened)
    return opened.failure();
  known = *opened;
  return known;
}

/// A launch, with those before it; under the lock.
Result<CpuKernel> Bundle::open(const KernelInfo &info) {
  Result<std::shared_ptr<void>> code = library(info.file);
  if (!code)
    return code.failure();
  void *symbol = dlsym(code->get(), info.symbol.c_str());
  if (!symbol)
    return Failure{files.show(info.file) + ": expected a function " +
                   quote(info.symbol) + ", found none"};
  CpuKernel kernel;
  kernel.function = reinterpret_cast<PrismCpuFunction>(symbol);
  kernel.valueBlocks = info.valueBlocks;
  kernel.workspace = info.workspace;
  kernel.library = *code;
  kernel.items = info.items;
  kernel.intermediates = info.intermediates;
  for (const KernelInfo &before : info.before) {
    Result<CpuKernel> opened = open(before);
    if (!opened)
      return opened.failure();
    kernel.before.push_back(std::move(*opened));
  }
  return kernel;
}

Result<LoadedCpuKernel> Bundle::cpuKernel(const KernelInfo &info) {
  std::lock_guard<std::mutex> lock(mutex);
  if (auto known = kernels.find(&info); known != kernels.end())
    return known->second;
  Result<CpuKernel> opened = open(info);
  if (!opened)
    return opened.failure();
  LoadedCpuKernel kernel;
  static_cast<CpuKernel &>(kernel) = std::move(*opened);
  kernel.info = &info;
  return kernels[&info] = kernel;
}

Result<Program> Program::load(const std::string &folder) {
  return load(BundleFiles(folder));
}

Result<Program> Program::load(BundleFiles files) {
  Result<std::string> text = readManifestText(files);
  if (!text)
    return text.failure();
  Result<Manifest> manifest = parseManifest(*text, files.show("manifest.json"));
  if (!manifest)
    return manifest.failure();
  Program program;
  program.bundle = std::make_shared<Bundle>(std::move(files));
  program.bundle->text = std::move(*text);
  program.bundle->manifest = std::move(*manifest);
  return program;
}

Status Program::save(const std::string &folder) const {
  FileContents copies;
  Status good = Success{};
  auto take = [&](const std::string &name) {
    if (name.empty() || copies.count(name) || !good)
      return;
    Result<std::string> bytes = bundle->files.read(name, maxFileBytes);
    good = bytes ? Status(Success{}) : bytes.failure();
    if (bytes)
      copies[name] = std::move(*bytes);
  };
  copies["manifest.json"] = bundle->text;
  std::function<void(const KernelInfo &)> takeAll =
      [&](const KernelInfo &kernel) {
        for (const std::string *name :
             {&kernel.file, &kernel.ptx, &kernel.cubin})
          take(*name);
        for (const KernelInfo &before : kernel.before)
          takeAll(before);
      };
  for (const EntryInfo &info : bundle->manifest.entries)
    for (const KernelInfo &kernel : info.kernels)
      takeAll(kernel);
  if (!good)
    return good;
  // The C declarations are for readers; a bundle without them is whole.
  std::string header = "prism_" + bundle->manifest.name + ".h";
  if (Result<std::string> text = bundle->files.read(header, maxFileBytes))
    copies[header] = std::move(*text);
  return writeBundleFolder(copies, folder);
}

const std::string &Program::folder() const { return bundle->files.where(); }

const BundleFiles &Program::files() const { return bundle->files; }

const Manifest &Program::manifest() const { return bundle->manifest; }

const std::string &Program::manifestText() const { return bundle->text; }

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
                     (names.empty() ? "none" : join(names)) + ")",
                 /*argument=*/"", nearest(name, names)};
}

Result<LoadedCpuKernel> Entry::cpuKernel(const Sizes &sizes,
                                         const Selection &pinned) const {
  Result<SelectedKernel> selected =
      selectCpuKernel(*entry, sizes, hostIsaLevel(), pinned);
  if (!selected)
    return selected.failure();
  Result<LoadedCpuKernel> kernel = bundle->cpuKernel(*selected->info);
  if (kernel)
    kernel->segments = selected->segments;
  return kernel;
}

Result<LoadedCudaKernel> Entry::cudaKernel(const CudaDevice &device,
                                           const Sizes &sizes,
                                           const Selection &pinned) const {
  Result<SelectedKernel> selected =
      selectCudaKernel(*entry, sizes, device.computeCapability(), pinned);
  if (!selected)
    return selected.failure();
  Result<CudaKernel> loaded = device.loadKernel(bundle->files, *selected->info);
  if (!loaded)
    return loaded.failure();
  LoadedCudaKernel kernel;
  kernel.state = loaded->state;
  kernel.segments = selected->segments;
  kernel.info = selected->info;
  return kernel;
}

} // namespace prism::runtime
