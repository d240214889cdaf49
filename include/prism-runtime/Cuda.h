//===- Cuda.h - Playing kernels on an NVIDIA GPU ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The CUDA driver is looked for when the first device is opened, never when a
// program starts: one build serves machines with and without a GPU. A launch
// goes to the caller's stream, allocates nothing and waits for nothing. The
// thread's current context is left as it was.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_RUNTIME_CUDA_H
#define PRISM_RUNTIME_CUDA_H

#include "prism-runtime/Bind.h"
#include "prism-runtime/Files.h"

#include <memory>

namespace prism::runtime {

class CudaDriver;

/// The chip that a compute capability (major * 10 + minor) can run: `sm_90a`
/// only on 90, a family chip `sm_100f` on that major from there up, `sm_80` as
/// PTX on 80 and up, as cubin on the same major from there up.
bool runsOn(const std::string &chip, int computeCapability, bool asCubin);

/// The newest PTX version (major * 10 + minor) that a driver of this CUDA
/// version (1000 * major + 10 * minor) takes; 0 where that is not known.
int newestPtx(int driverVersion);

/// A kernel loaded on a device; copies share it.
class CudaKernel {
public:
  /// "cubin" or "ptx": what was loaded.
  const std::string &image() const;
  /// Bytes of device memory that a launch needs for the arrays between the
  /// launches of a kernel that splits sequences; 0 for others, nothing on
  /// 64-bit overflow.
  std::optional<int64_t> workspaceBytes(const Sizes &sizes) const;
  struct State;
  std::shared_ptr<const State> state;
  /// Of a sequence, for a kernel that splits them.
  int64_t segments = 1;
};

/// Device memory of the caller's, aligned to 256 bytes, which launches use from
/// their start to their end.
struct Workspace {
  void *data = nullptr;
  int64_t bytes = 0;
};

/// Device memory, given back with its owner.
class CudaBuffer {
public:
  CudaBuffer() = default;
  CudaBuffer(CudaBuffer &&other) noexcept;
  CudaBuffer &operator=(CudaBuffer &&other) noexcept;
  ~CudaBuffer();
  void *data() const { return pointer; }

private:
  friend class CudaDevice;
  std::shared_ptr<const struct CudaContext> context;
  void *pointer = nullptr;
};

/// One GPU's primary context, which the CUDA runtime, PyTorch and JAX use too.
class CudaDevice {
public:
  /// Opens a device. Without a driver or a GPU: one sentence. `library` names
  /// the driver's shared object.
  static Result<CudaDevice> open(int ordinal,
                                 const std::string &library = "libcuda.so.1");

  int computeCapability() const; // major * 10 + minor
  const std::string &name() const;
  /// The same for two devices that are one GPU's.
  const void *identity() const;

  /// Loads a kernel of a bundle: its cubin where there is one that this device
  /// and driver take, else its PTX (CudaKernel::image says which).
  Result<CudaKernel> loadKernel(const BundleFiles &files,
                                const KernelInfo &kernel) const;

  /// Enqueues a call whose arrays are memory of this device. `stream` is a
  /// CUstream (or cudaStream_t); null is the default stream. A kernel that
  /// splits sequences takes a workspace of workspaceBytes().
  Status launch(const CudaKernel &kernel, const Call &call,
                void *stream = nullptr, const Workspace &workspace = {}) const;

  // What a program without the CUDA toolkit needs around a launch.
  Result<CudaBuffer> allocate(int64_t bytes) const;
  Status upload(const CudaBuffer &to, const void *from, int64_t bytes,
                void *stream = nullptr) const;
  Status download(void *to, const CudaBuffer &from, int64_t bytes,
                  void *stream = nullptr) const;
  Result<void *> createStream() const;
  Status destroyStream(void *stream) const;
  Status synchronize(void *stream = nullptr) const;

  /// Milliseconds of each of `repeats` launches, by events.
  Result<std::vector<double>> time(const CudaKernel &kernel, const Call &call,
                                   int repeats, void *stream = nullptr,
                                   const Workspace &workspace = {}) const;

private:
  std::shared_ptr<const struct CudaContext> context;
};

} // namespace prism::runtime

#endif // PRISM_RUNTIME_CUDA_H
