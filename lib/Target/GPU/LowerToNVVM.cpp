//===- LowerToNVVM.cpp - From scalar kernels to LLVM and NVVM -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Support/VectorMath.h"
#include "Prism/Target/GPU/GPU.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace prism;

static LogicalResult lowerMath(ModuleOp module) {
  if (failed(approximateMath(module)))
    return failure();
  WalkResult result = module.walk([](Operation *op) {
    if (!isa<math::MathDialect>(op->getDialect()) || isNativeMath(op))
      return WalkResult::advance();
    op->emitError("'") << op->getName() << "' on " << op->getResult(0).getType()
                       << " needs CUDA's libdevice, which is not linked; f64 "
                          "gates run on the CPU only";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// NVVM ops that have no LLVM intrinsic are written as PTX. The others stay.
static LogicalResult writePTXOps(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateNVVMToLLVMConversionPatterns(patterns);
  ConversionTarget target(*module.getContext());
  target.addLegalDialect<LLVM::LLVMDialect>();
  return applyPartialConversion(module, target, std::move(patterns));
}

/// Branches keep the annotation of the loop they came from under its own name,
/// which the export to LLVM IR does not look at.
static void annotateLatches(ModuleOp module) {
  module.walk([](LLVM::BrOp branch) {
    auto annotation =
        branch->getAttrOfType<LLVM::LoopAnnotationAttr>("llvm.loop_annotation");
    if (!annotation)
      return;
    branch->removeAttr("llvm.loop_annotation");
    branch.setLoopAnnotationAttr(annotation);
  });
}

LogicalResult prism::lowerKernelToNVVM(ModuleOp module) {
  if (failed(lowerMath(module)) || failed(writePTXOps(module)))
    return failure();
  MLIRContext *context = module.getContext();
  LLVMTypeConverter converter(context);
  RewritePatternSet patterns(context);
  populateSCFToControlFlowConversionPatterns(patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  index::populateIndexToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns,
                                       /*approximateLog1p=*/false);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  target.addLegalDialect<NVVM::NVVMDialect>();
  if (failed(applyFullConversion(module, target, std::move(patterns))))
    return failure();
  annotateLatches(module);
  return success();
}
