//===- LoadCompiler.cpp - Finds the compiler library ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The library brings LLVM and MLIR with it. RTLD_LOCAL keeps them out of the
// scope in which other libraries of the process look for their symbols: several
// frameworks carry LLVMs of their own, and libMLIR has no symbol versions that
// would tell two of them apart.
//
//===----------------------------------------------------------------------===//

#include "LoadCompiler.h"
#include "Handles.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

using namespace prism;
using namespace prism::capi;

static constexpr const char *libraryName = "libPrismCompiler.so";

/// Where to look without a path: the environment, beside this library, the
/// loader's own places.
static std::string findLibrary() {
  if (const char *path = std::getenv("PRISM_COMPILER_LIBRARY"); path && *path)
    return path;
  Dl_info self;
  if (dladdr(reinterpret_cast<void *>(&prismVersion), &self) &&
      self.dli_fname) {
    std::filesystem::path beside =
        std::filesystem::path(self.dli_fname).parent_path() / libraryName;
    std::error_code failed;
    if (std::filesystem::exists(beside, failed))
      return beside.string();
  }
  return libraryName;
}

static runtime::Result<const CompilerInterface *>
openLibrary(const std::string &path) {
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!handle) {
    const char *reason = dlerror();
    return runtime::Failure{
        std::string("cannot load the compiler: ") +
        (reason ? reason : "no reason given") +
        " (looked in $PRISM_COMPILER_LIBRARY, beside libPrismC.so and where "
        "the loader looks; running a bundle needs no compiler)"};
  }
  auto get = reinterpret_cast<GetCompilerInterface>(
      dlsym(handle, compilerInterfaceSymbol));
  if (!get)
    return runtime::Failure{path + ": expected a function '" +
                            compilerInterfaceSymbol +
                            "', found none; it is no compiler library"};
  const CompilerInterface *compiler = get();
  if (compiler->version != compilerInterfaceVersion)
    return runtime::Failure{path + ": expected interface " +
                            std::to_string(compilerInterfaceVersion) +
                            ", found " + std::to_string(compiler->version) +
                            "; install libPrismC and libPrismCompiler of one "
                            "version"};
  return compiler;
}

runtime::Result<const CompilerInterface *>
capi::loadCompiler(const char *path) {
  static std::mutex mutex;
  static std::string loadedFrom;
  static const CompilerInterface *loaded = nullptr;
  std::lock_guard<std::mutex> lock(mutex);
  if (loaded) {
    if (path && loadedFrom != path)
      return runtime::Failure{
          "expected to load the compiler from '" + std::string(path) +
          "', but it is loaded already, from '" + loadedFrom + "'"};
    return loaded;
  }
  std::string from = path ? path : findLibrary();
  auto opened = openLibrary(from);
  if (opened) {
    loaded = *opened;
    loadedFrom = from;
  }
  return opened;
}
