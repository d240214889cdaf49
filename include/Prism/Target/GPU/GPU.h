//===- GPU.h - PTX and cubins for GPU kernels -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// From a converted module (Prism/Conversion/TileToGPU) to PTX text, in process,
// and from PTX to a cubin through ptxas, where there is one. Errors are
// diagnostics of the module's context; several threads may call at once, each
// with its own context.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_TARGET_GPU_GPU_H
#define PRISM_TARGET_GPU_GPU_H

#include "Prism/TargetInfo/TargetInfo.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace prism {

/// Lowers the scalar kernel (arith, math, scf, llvm, nvvm) to the LLVM and NVVM
/// dialects. f32 functions become polynomials, so that no library is called;
/// an f64 one is an error that says so.
llvm::LogicalResult lowerKernelToNVVM(mlir::ModuleOp module);

/// Registers `convert-gpu-kernel-to-nvvm`, the same as a pass.
void registerGPUPasses();

/// PTX of a kernel module, for the chip and PTX version of `target`. The same
/// module gives the same bytes. PTX that calls an external function (it could
/// never load) is an error.
llvm::FailureOr<std::string> emitPTX(mlir::ModuleOp module,
                                     const targetinfo::GPUInfo &target);

/// The same in two steps: LLVM IR in a context of its own, then PTX. The second
/// touches no MLIR and may run on another thread.
class GPUCode {
public:
  /// Null after a diagnostic.
  static std::unique_ptr<GPUCode> create(mlir::ModuleOp module,
                                         const targetinfo::GPUInfo &target);
  ~GPUCode();
  /// Optimises and emits, once. On failure `error` is a sentence.
  llvm::FailureOr<std::string> emit(std::string &error);

private:
  GPUCode();
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> code;
};

/// What ptxas says of one kernel.
struct Resources {
  int registers = 0, spillStores = 0, spillLoads = 0, staticShared = 0;
};

struct Assembled {
  std::string cubin; // empty: not assembled
  std::string note;  // why not, or a warning of ptxas
  Resources resources;
};

/// Path of ptxas: in $PRISM_CUDA_TOOLKIT/bin, $CUDA_HOME/bin, $CUDA_PATH/bin,
/// on PATH, in /usr/local/cuda/bin; empty if there is none.
std::string findPtxas();

/// Assembles PTX for a chip. Without ptxas the result is empty with a note;
/// text that ptxas refuses is a failure with its words in `error`.
llvm::FailureOr<Assembled> assemble(llvm::StringRef ptx, llvm::StringRef chip,
                                    std::string &error);

} // namespace prism

#endif // PRISM_TARGET_GPU_GPU_H
