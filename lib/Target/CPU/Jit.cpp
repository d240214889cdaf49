//===- Jit.cpp - Kernels compiled into this process -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Target/CPU/CPU.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"

using namespace mlir;
using namespace prism;

JitKernel::JitKernel(std::unique_ptr<llvm::orc::LLJIT> jit, Function entry,
                     int64_t bytes)
    : jit(std::move(jit)), entry(entry), bytes(bytes) {}
JitKernel::JitKernel(JitKernel &&) = default;
JitKernel &JitKernel::operator=(JitKernel &&) = default;
JitKernel::~JitKernel() = default;

/// The object goes the same way as one for a file; only the loader differs.
FailureOr<JitKernel> JitKernel::create(ModuleOp module, StringRef isa,
                                       const CPUKernelInfo &kernel) {
  SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  if (failed(emitObject(module, isa, stream)))
    return failure();
  auto report = [&](llvm::Error error) {
    return emitError(module.getLoc(), "loading kernel '")
           << kernel.symbol << "' failed: " << llvm::toString(std::move(error));
  };
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return report(jit.takeError());
  auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return report(process.takeError());
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
  auto buffer = std::make_unique<llvm::SmallVectorMemoryBuffer>(
      std::move(object), kernel.symbol, false);
  if (llvm::Error error = (*jit)->addObjectFile(std::move(buffer)))
    return report(std::move(error));
  auto address = (*jit)->lookup(kernel.symbol);
  if (!address)
    return report(address.takeError());
  return JitKernel(std::move(*jit), address->toPtr<Function>(),
                   kernel.workspaceBytes);
}
