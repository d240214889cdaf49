//===- LowerToLLVM.cpp - From vector code to the LLVM dialect -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The pass and its entry points: emit every program's function, approximate
// math on f32, convert, and let nothing else through.
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "Exponentials.h"
#include "LoopConstants.h"
#include "Prism/Dialect/Tile/IR/StepPrograms.h"
#include "Prism/Support/VectorMath.h"
#include "RoundedTiles.h"
#include "StepPrograms.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"

using namespace mlir;
using namespace prism;

namespace prism {
#define GEN_PASS_DEF_CONVERTTILETOCPU
#include "Prism/Conversion/TileToCPU/Passes.h.inc"
} // namespace prism

FailureOr<CPUOptions> CPUOptions::forIsa(StringRef isa) {
  CPUOptions options;
  if (isa == "x86-64-v4")
    return options;
  if (isa == "x86-64-v3") {
    options.vectorBits = 256;
    options.numRegisters = 16;
    return options;
  }
  return failure();
}

/// Polynomials for f32, the C library (element by element) for f64.
static LogicalResult lowerMath(ModuleOp module) {
  MLIRContext *context = module.getContext();
  tiletocpu::lowerExponentials(module);
  if (failed(approximateMath(module)))
    return failure();
  WalkResult result = module.walk([&](Operation *op) {
    if (!isa<math::MathDialect>(op->getDialect()) || isNativeMath(op))
      return WalkResult::advance();
    Type element = getElementTypeOrSelf(op->getResult(0).getType());
    if (element.isF64())
      return WalkResult::advance();
    op->emitError("'") << op->getName() << "' on " << element
                       << " has no vector form on the CPU";
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  RewritePatternSet patterns(context);
  populateMathToLibmConversionPatterns(patterns);
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  target.addDynamicallyLegalDialect<math::MathDialect>([](Operation *op) {
    return isNativeMath(op) ||
           !getElementTypeOrSelf(op->getResult(0).getType()).isF64();
  });
  return applyPartialConversion(module, target, std::move(patterns));
}

static LogicalResult convertToLLVM(ModuleOp module) {
  MLIRContext *context = module.getContext();
  LLVMTypeConverter converter(context);
  RewritePatternSet patterns(context);
  populateSCFToControlFlowConversionPatterns(patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns,
                                       /*approximateLog1p=*/false);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  LLVMConversionTarget target(*context);
  // Between pointers of arguments and memrefs; they cancel out.
  target.addLegalOp<ModuleOp, UnrealizedConversionCastOp>();
  if (failed(applyFullConversion(module, target, std::move(patterns))))
    return failure();
  SmallVector<UnrealizedConversionCastOp> casts;
  module.walk([&](UnrealizedConversionCastOp cast) { casts.push_back(cast); });
  reconcileUnrealizedCasts(casts);
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function.getPassthroughAttr()) {
      if (failed(tiletocpu::moveBFloatsAsIntegers(function)))
        return failure();
      tiletocpu::separateBuffers(function);
    }
  return success();
}

/// Nothing but LLVM may be left; vectors stay within what the registers hold.
static LogicalResult verifyLowered(ModuleOp module, const CPUOptions &options) {
  // Sums of gates are f64 beside f32 columns: two registers, never more.
  int64_t widest = 2 * options.vectorBits;
  WalkResult result = module.walk([&](Operation *op) {
    if (isa<ModuleOp>(op))
      return WalkResult::advance();
    if (!isa<LLVM::LLVMDialect>(op->getDialect())) {
      op->emitError("'") << op->getName()
                         << "' is left after lowering to the CPU";
      return WalkResult::interrupt();
    }
    for (Type type : op->getResultTypes()) {
      auto vector = dyn_cast<VectorType>(type);
      if (!vector || vector.getElementType().isInteger(1))
        continue;
      int64_t bits = vector.getNumElements() * vector.getElementTypeBitWidth();
      if (bits > widest || !llvm::isPowerOf2_64(vector.getNumElements())) {
        op->emitError("a vector of type ")
            << type << " does not fit the registers";
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult prism::convertTileToCPU(ModuleOp module,
                                      const CPUOptions &options) {
  for (auto program :
       llvm::make_early_inc_range(module.getOps<tile::ProgramOp>())) {
    if (!tile::hasPlainSteps(program)) {
      if (failed(tiletocpu::keepRoundedTilesInF32(program)))
        return failure();
      tiletocpu::hoistLoopConstants(program);
    }
    if (failed(tiletocpu::Emitter(program, options).emit()))
      return failure();
    program.erase();
  }
  if (options.stopBeforeLLVM)
    return success();
  if (failed(lowerMath(module)) || failed(convertToLLVM(module)))
    return failure();
  return verifyLowered(module, options);
}

SmallVector<CPUKernelInfo> prism::getCPUKernels(ModuleOp module) {
  SmallVector<CPUKernelInfo> kernels;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (auto bytes = function->getAttrOfType<IntegerAttr>(kWorkspaceAttr))
      kernels.push_back({function.getName().str(), bytes.getInt()});
  return kernels;
}

namespace {
struct ConvertTileToCPUPass
    : prism::impl::ConvertTileToCPUBase<ConvertTileToCPUPass> {
  using ConvertTileToCPUBase::ConvertTileToCPUBase;
  void runOnOperation() override {
    FailureOr<CPUOptions> options = CPUOptions::forIsa(isa);
    if (failed(options)) {
      emitError(getOperation().getLoc(), "unknown instruction set '")
          << isa << "', expected x86-64-v3 or x86-64-v4";
      return signalPassFailure();
    }
    if (vectorBits != 0 && vectorBits != 256 && vectorBits != 512) {
      emitError(getOperation().getLoc(),
                "vector-bits must be 256 or 512, found ")
          << vectorBits.getValue();
      return signalPassFailure();
    }
    if (vectorBits)
      options->vectorBits = vectorBits;
    options->stopBeforeLLVM = stopBefore;
    if (failed(convertTileToCPU(getOperation(), *options)))
      signalPassFailure();
  }
};
} // namespace
