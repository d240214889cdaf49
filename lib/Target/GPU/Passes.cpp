//===- Passes.cpp - The lowering of kernels as a pass ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Target/GPU/GPU.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace {

struct ConvertGPUKernelToNVVMPass
    : PassWrapper<ConvertGPUKernelToNVVMPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertGPUKernelToNVVMPass)

  StringRef getArgument() const override {
    return "convert-gpu-kernel-to-nvvm";
  }
  StringRef getDescription() const override {
    return "Lower the kernel that convert-tile-to-gpu made to LLVM and NVVM";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, cf::ControlFlowDialect,
                    LLVM::LLVMDialect, NVVM::NVVMDialect>();
  }
  void runOnOperation() override {
    if (failed(prism::lowerKernelToNVVM(getOperation())))
      signalPassFailure();
  }
};

} // namespace

void prism::registerGPUPasses() {
  PassRegistration<ConvertGPUKernelToNVVMPass>();
}
