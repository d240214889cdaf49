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

#include "StepPrograms.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace prism;

static Value number(ImplicitLocOpBuilder &b, int32_t n) {
  return arith::ConstantOp::create(b, b.getI32IntegerAttr(n));
}

/// An f64 as the f32 that rounds to 16 bits as the f64 does itself: towards
/// zero and to an odd last bit, unless it is an f32 exactly.
static Value roundToOdd(ImplicitLocOpBuilder &b, Value wide) {
  Value near = arith::TruncFOp::create(b, b.getF32Type(), wide);
  Value back = arith::ExtFOp::create(b, wide.getType(), near);
  Value isInexact =
      arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back, wide);
  Value isAbove = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT,
                                        math::AbsFOp::create(b, back),
                                        math::AbsFOp::create(b, wide));
  // Floats of a sign are ordered as their bits are.
  Value bits = arith::BitcastOp::create(b, b.getI32Type(), near);
  Value below = arith::SubIOp::create(
      b, bits, arith::ExtUIOp::create(b, b.getI32Type(), isAbove));
  Value odd = arith::OrIOp::create(b, below, number(b, 1));
  Value chosen = arith::SelectOp::create(b, isInexact, odd, bits);
  return arith::BitcastOp::create(b, b.getF32Type(), chosen);
}

/// To the nearest, ties to even; a NaN stays one, and quiet.
static Value roundToBFloat(ImplicitLocOpBuilder &b, Value value) {
  Value bits = arith::BitcastOp::create(b, b.getI32Type(), value);
  Value high = arith::ShRUIOp::create(b, bits, number(b, 16));
  Value odd = arith::AndIOp::create(b, high, number(b, 1));
  Value rounded = arith::AddIOp::create(
      b, arith::AddIOp::create(b, bits, number(b, 0x7fff)), odd);
  rounded = arith::ShRUIOp::create(b, rounded, number(b, 16));
  Value quiet = arith::OrIOp::create(b, high, number(b, 0x40));
  Value isNan =
      arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
  Value chosen = arith::SelectOp::create(b, isNan, quiet, rounded);
  Value narrow = arith::TruncIOp::create(b, b.getI16Type(), chosen);
  return arith::BitcastOp::create(b, b.getBF16Type(), narrow);
}

namespace {
struct ExpandTruncation : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    bool isWide = op.getIn().getType().isF64();
    if (!op.getType().isBF16() && !(op.getType().isF16() && isWide))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value value = isWide ? roundToOdd(b, op.getIn()) : op.getIn();
    rewriter.replaceOp(
        op, op.getType().isBF16()
                ? roundToBFloat(b, value)
                : Value(arith::TruncFOp::create(b, op.getType(), value)));
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
        b, arith::ExtUIOp::create(b, b.getI32Type(), narrow), number(b, 16));
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
