//===- NarrowFloats.cpp - 16-bit floats in programs of plain ops ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// CPUs store 16-bit floats and compute in f32. Without instructions for a type
// LLVM calls a compiler's runtime, which kernels are not linked with: it gets
// arithmetic on f32 and f64 alone, conversions to bf16 as integer ops, and
// bf16 values, where they are only moved, as integers too. (It converts a
// bfloat that a vector select picks to f32 and back.)
//
//===----------------------------------------------------------------------===//

#include "RoundFloats.h"
#include "StepPrograms.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace prism;

namespace {
struct ExpandTruncation : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    bool isWide = op.getIn().getType().isF64();
    if (!op.getType().isBF16() && !(op.getType().isF16() && isWide))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(
        op, op.getType().isBF16()
                ? Value(arith::BitcastOp::create(
                      b, op.getType(), tiletocpu::roundToBFloat(b, op.getIn())))
                : tiletocpu::roundToHalf(b, op.getIn()));
    return success();
  }
};

struct ExpandExtension : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getIn().getType().isBF16())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value narrow = arith::BitcastOp::create(b, b.getI16Type(), op.getIn());
    Value bits = arith::ShLIOp::create(
        b, arith::ExtUIOp::create(b, b.getI32Type(), narrow),
        arith::ConstantOp::create(b, b.getI32IntegerAttr(16)));
    Value value = arith::BitcastOp::create(b, b.getF32Type(), bits);
    if (!op.getType().isF32())
      value = arith::ExtFOp::create(b, op.getType(), value);
    rewriter.replaceOp(op, value);
    return success();
  }
};
} // namespace

/// Arithmetic of 16-bit floats in f32, each result rounded as before.
static LogicalResult computeInF32(LLVM::LLVMFuncOp function) {
  Builder b(function.getContext());
  TypeConverter converter;
  arith::populateEmulateUnsupportedFloatsConversions(
      converter, {b.getBF16Type(), b.getF16Type()}, b.getF32Type());
  RewritePatternSet patterns(function.getContext());
  arith::populateEmulateUnsupportedFloatsPatterns(patterns, converter);
  ConversionTarget target(*function.getContext());
  arith::populateEmulateUnsupportedFloatsLegality(target, converter);
  target.addDynamicallyLegalDialect<math::MathDialect>(
      [&](Operation *op) { return converter.isLegal(op); });
  // These compute nothing.
  target.addLegalOp<arith::BitcastOp, arith::SelectOp>();
  return applyPartialConversion(function, target, std::move(patterns));
}

LogicalResult tiletocpu::widenNarrowFloats(LLVM::LLVMFuncOp function) {
  if (failed(computeInF32(function)))
    return failure();
  RewritePatternSet patterns(function.getContext());
  patterns.add<ExpandTruncation, ExpandExtension>(function.getContext());
  return applyPatternsGreedily(function, std::move(patterns));
}

/// Does an op move values of a type without a look at them?
static bool onlyMoves(Operation *op) {
  return isa<LLVM::LoadOp, LLVM::StoreOp, LLVM::SelectOp, LLVM::ConstantOp,
             LLVM::BitcastOp, LLVM::PoisonOp, LLVM::UndefOp>(op) ||
         isa<BranchOpInterface>(op);
}

LogicalResult tiletocpu::moveBFloatsAsIntegers(LLVM::LLVMFuncOp function) {
  auto isBFloat = [](Type type) { return type.isBF16(); };
  SmallVector<Operation *> moves;
  WalkResult result = function.walk([&](Operation *op) {
    if (llvm::none_of(op->getOperandTypes(), isBFloat) &&
        llvm::none_of(op->getResultTypes(), isBFloat))
      return WalkResult::advance();
    moves.push_back(op);
    if (onlyMoves(op))
      return WalkResult::advance();
    op->emitError("'") << op->getName() << "' on bf16 has no form on the CPU";
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  Type integer = IntegerType::get(function.getContext(), 16);
  for (Block &block : function.getBody())
    for (BlockArgument argument : block.getArguments())
      if (isBFloat(argument.getType()))
        argument.setType(integer);
  for (Operation *op : moves) {
    if (auto constant = dyn_cast<LLVM::ConstantOp>(op))
      constant.setValueAttr(IntegerAttr::get(
          integer,
          cast<FloatAttr>(constant.getValue()).getValue().bitcastToAPInt()));
    for (Value value : op->getResults())
      if (isBFloat(value.getType()))
        value.setType(integer);
  }
  for (Operation *op : moves)
    if (auto cast = dyn_cast<LLVM::BitcastOp>(op)) {
      cast.replaceAllUsesWith(cast.getArg());
      cast.erase();
    }
  return success();
}
