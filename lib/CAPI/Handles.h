//===- Handles.h - What is behind the C API's handles -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CAPI_HANDLES_H
#define PRISM_LIB_CAPI_HANDLES_H

#include "prism-c/Prism.h"
#include "prism-runtime/Program.h"

#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

struct PrismDiagnostic {
  PrismSeverity severity = PRISM_SEVERITY_ERROR;
  PrismKind kind = PRISM_KIND_USAGE;
  std::string text, message, file, pointer, nearest, argument;
  unsigned line = 0, column = 0;
};

/// An entry with its arguments as the C API shows them.
struct PrismEntry {
  prism::runtime::Entry entry;
  std::vector<PrismArgument> arguments;
  std::deque<std::vector<int64_t>> extents; // what `arguments` point into

  explicit PrismEntry(prism::runtime::Entry entry);
  PrismEntry(const PrismEntry &) = delete;

  /// The GPU kernel of a call, loaded once for each device.
  prism::runtime::Result<prism::runtime::LoadedCudaKernel>
  cudaKernel(const prism::runtime::CudaDevice &device,
             const prism::runtime::Sizes &sizes,
             const prism::runtime::Selection &pinned) const;

  /// What a kernel is, in a text that lives as long as the entry.
  const char *describe(const prism::runtime::KernelInfo &kernel) const;

private:
  using Key = std::pair<const void *, const prism::runtime::KernelInfo *>;
  mutable std::mutex mutex; // guards what follows
  mutable std::map<Key, prism::runtime::LoadedCudaKernel> loaded;
  mutable std::map<const prism::runtime::KernelInfo *, std::string> texts;
};

struct PrismProgram {
  prism::runtime::Program program;
  std::string manifest;
  std::deque<PrismEntry> entries;
};

/// One of the two.
struct PrismDevice {
  std::unique_ptr<prism::runtime::CpuPlayer> cpu;
  std::optional<prism::runtime::CudaDevice> cuda;
};

namespace prism::capi {

/// Sets `*error`, where there is one, to a diagnostic.
void setError(PrismDiagnostic **error, PrismKind kind,
              const runtime::Failure &failure);

/// Wraps a loaded bundle; null and an error on failure.
PrismProgram *makeProgram(runtime::Result<runtime::Program> program,
                          PrismDiagnostic **error);

/// Runs the body of a function of the API: nothing that C++ throws (memory that
/// is not there) gets out of it.
template <typename Result, typename Body>
Result guarded(PrismDiagnostic **error, Result failed, Body body) {
  if (error)
    *error = nullptr;
  try {
    return body();
  } catch (const std::exception &exception) {
    try {
      setError(error, PRISM_KIND_USAGE, {exception.what()});
    } catch (const std::exception &) {
      // Not even memory for the message.
    }
  }
  return failed;
}

} // namespace prism::capi

#endif // PRISM_LIB_CAPI_HANDLES_H
