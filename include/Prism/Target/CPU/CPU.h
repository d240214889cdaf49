//===- CPU.h - Machine code for CPU kernels ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// From a converted module (Prism/Conversion/TileToCPU) to an object file, a
// shared object, or a function pointer in this process. All of it may be called
// from several threads, each with its own MLIRContext. Errors are diagnostics
// of the module's context.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_TARGET_CPU_CPU_H
#define PRISM_TARGET_CPU_CPU_H

#include "Prism/Conversion/TileToCPU/TileToCPU.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>

namespace llvm {
class Module;
class LLVMContext;
class TargetMachine;
namespace orc {
class LLJIT;
} // namespace orc
} // namespace llvm

namespace prism {

/// The instruction sets that code can be made for, best last.
llvm::ArrayRef<llvm::StringRef> getCPUIsas();

/// The best of them that this machine runs; empty if it runs none.
llvm::StringRef getHostCPUIsa();

/// Makes the translations to LLVM IR known to the context.
void registerCPUTranslations(mlir::DialectRegistry &registry);

/// A converted module as LLVM IR in a context of its own. What is left to do
/// touches no MLIR and may run on another thread.
class CPUCode {
public:
  /// Null after a diagnostic.
  static std::unique_ptr<CPUCode> create(mlir::ModuleOp module,
                                         llvm::StringRef isa);
  ~CPUCode();

  /// Optimises; the IR that machine code is made of.
  llvm::Module &optimize();
  /// Optimises and writes an object file or assembly text. An error, or empty.
  std::string emit(llvm::CodeGenFileType kind, llvm::raw_pwrite_stream &out);

private:
  CPUCode();
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> code;
};

/// Position-independent object code of a converted module.
llvm::LogicalResult emitObject(mlir::ModuleOp module, llvm::StringRef isa,
                               llvm::raw_pwrite_stream &out);

/// The same as assembly text.
llvm::LogicalResult emitAssembly(mlir::ModuleOp module, llvm::StringRef isa,
                                 llvm::raw_pwrite_stream &out);

/// Links one object file into a shared object with ld.lld. On failure `error`
/// says what is missing, what the linker said, or which symbols are nobody's.
llvm::LogicalResult linkShared(llvm::StringRef objectPath,
                               llvm::StringRef sharedPath, std::string &error);

/// A kernel compiled into this process.
class JitKernel {
public:
  using Function = int32_t (*)(const uint64_t *words, void *workspace,
                               int64_t begin, int64_t end);

  /// Compiles a converted module and looks up one of its kernels.
  static llvm::FailureOr<JitKernel> create(mlir::ModuleOp module,
                                           llvm::StringRef isa,
                                           const CPUKernelInfo &kernel);

  JitKernel(JitKernel &&);
  JitKernel &operator=(JitKernel &&);
  ~JitKernel();

  Function function() const { return entry; }
  int64_t workspaceBytes() const { return bytes; }

private:
  JitKernel(std::unique_ptr<llvm::orc::LLJIT> jit, Function entry,
            int64_t bytes);

  std::unique_ptr<llvm::orc::LLJIT> jit;
  Function entry;
  int64_t bytes;
};

} // namespace prism

#endif // PRISM_TARGET_CPU_CPU_H
