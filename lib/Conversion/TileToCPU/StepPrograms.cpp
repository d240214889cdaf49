//===- StepPrograms.cpp - Plain ops from tensors to loops -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Upstream's passes in the order that a step wants: everything a
// linalg.generic, elementwise chains fused, One-Shot Bufferize (a state is
// updated where it lies, unless something still reads it), loops with the
// contiguous axis innermost. Ours is what the workspace and the loops over
// tokens need.
//
//===----------------------------------------------------------------------===//

#include "StepPrograms.h"
#include "Prism/Conversion/TileToCPU/TileToCPU.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace prism;

//===----------------------------------------------------------------------===//
// On tensors
//===----------------------------------------------------------------------===//

namespace {
/// A filled tensor as a linalg.fill, which folds into what reads it.
template <typename OpTy> struct FillInstead : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  static Value number(PatternRewriter &rewriter, tensor::SplatOp op) {
    return op.getInput();
  }
  static Value number(PatternRewriter &rewriter, arith::ConstantOp op) {
    auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!dense || !dense.isSplat() || !isa<RankedTensorType>(op.getType()))
      return {};
    return arith::ConstantOp::create(rewriter, op.getLoc(),
                                     dense.getSplatValue<TypedAttr>());
  }
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Value value = number(rewriter, op);
    if (!value)
      return failure();
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Value empty = tensor::EmptyOp::create(
        rewriter, op.getLoc(), type.getShape(), type.getElementType());
    rewriter.replaceOpWithNewOp<linalg::FillOp>(op, value, empty);
    return success();
  }
};
} // namespace

/// Fused where the producer is computed once all the same: for one reader, over
/// the same loops. A vector that is only repeated is no work.
static bool isWorthFusing(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer)
    return false;
  if (llvm::hasSingleElement(*producer.getBody()))
    return true;
  return operand->get().hasOneUse() &&
         producer.getNumLoops() == consumer.getNumLoops();
}

namespace {
/// Upstream's fusion. Not its pattern, which comes with others that give an op
/// a destination of its own: a state is to be updated where it lies.
struct FuseElementwise : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    for (OpOperand &operand : op->getOpOperands()) {
      if (!linalg::areElementwiseOpsFusable(&operand) ||
          !isWorthFusing(&operand))
        continue;
      Operation *producer = operand.get().getDefiningOp();
      auto fused = linalg::fuseElementwiseOps(rewriter, &operand);
      if (failed(fused))
        continue;
      for (auto [value, replacement] : fused->replacements)
        rewriter.replaceUsesWithIf(value, replacement, [&](OpOperand &use) {
          return use.get().getDefiningOp() != producer;
        });
      rewriter.eraseOp(op);
      return success();
    }
    return failure();
  }
};
} // namespace

static LogicalResult simplifyTensors(LLVM::LLVMFuncOp function) {
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  patterns.add<FillInstead<tensor::SplatOp>, FillInstead<arith::ConstantOp>>(
      context);
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  linalg::populateLinalgNamedOpsGeneralizationPatterns(patterns);
  if (failed(applyPatternsGreedily(function, std::move(patterns))))
    return failure();
  RewritePatternSet fusion(context);
  fusion.add<FuseElementwise>(context);
  linalg::populateEraseUnusedOperandsAndResultsPatterns(fusion);
  return applyPatternsGreedily(function, std::move(fusion));
}

/// Is every element of a destination written? Each of its axes is a loop of its
/// own, and the loops turn.
static bool writesAll(linalg::GenericOp op, OpOperand &destination) {
  return op.getMatchingIndexingMap(&destination).isProjectedPermutation() &&
         !llvm::is_contained(op.getStaticLoopRanges(), 0);
}

/// The destination of an elementwise op says only where its result goes: it
/// need not be there before.
static bool onlyWrites(linalg::GenericOp op) {
  if (op.getNumResults() != 1 || llvm::hasSingleElement(*op.getBody()))
    return false;
  OpOperand &destination = op.getDpsInitsMutable()[0];
  return !op.payloadUsesValueFromOperand(&destination) &&
         writesAll(op, destination);
}

/// Elementwise ops of tensors came with an operand for a destination; what is
/// yielded to a loop gets the loop's own tensor (carryInPlace).
static void freeDestinations(LLVM::LLVMFuncOp function) {
  function.walk([](linalg::GenericOp op) {
    if (!onlyWrites(op))
      return;
    auto type = cast<RankedTensorType>(op.getResult(0).getType());
    OpBuilder b(op);
    op.getDpsInitsMutable()[0].set(tensor::EmptyOp::create(
        b, op.getLoc(), type.getShape(), type.getElementType()));
  });
}

/// Bufferization takes what no op reads for overwritten. An op that writes a
/// part gets a copy to write to: the rest stays.
static void keepWhatIsNotWritten(LLVM::LLVMFuncOp function) {
  function.walk([](linalg::GenericOp op) {
    OpBuilder b(op);
    for (OpOperand &destination : op.getDpsInitsMutable())
      if (!op.payloadUsesValueFromOperand(&destination) &&
          !writesAll(op, destination))
        destination.set(bufferization::AllocTensorOp::create(
            b, op.getLoc(), cast<RankedTensorType>(destination.get().getType()),
            ValueRange(), destination.get()));
  });
}

/// May a value lie in the buffer of no loop argument but `own`?
static bool keepsToOwn(Value value, Value own) {
  if (value == own)
    return true;
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return false;
  Operation *op = result.getOwner();
  if (isa<linalg::LinalgOp, tensor::EmptyOp, tensor::FromElementsOp,
          bufferization::AllocTensorOp>(op))
    return true;
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return llvm::all_of(branch->getRegions(), [&](Region &region) {
      return keepsToOwn(
          region.front().getTerminator()->getOperand(result.getResultNumber()),
          own);
    });
  if (auto insert = dyn_cast<tensor::InsertOp>(op))
    return keepsToOwn(insert.getDest(), own);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return keepsToOwn(insert.getDest(), own);
  return false;
}

/// Is a value `own`, or `own` written anew in a branch? It lies there already.
static bool isUpdateOf(Value value, Value own) {
  if (value == own)
    return true;
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return false;
  if (auto copy = dyn_cast<linalg::CopyOp>(result.getOwner()))
    return copy.getOutputs().front() == own;
  if (auto generic = dyn_cast<linalg::GenericOp>(result.getOwner()))
    return generic.getOutputs()[result.getResultNumber()] == own;
  auto branch = dyn_cast<scf::IfOp>(result.getOwner());
  return branch && llvm::all_of(branch->getRegions(), [&](Region &region) {
           return isUpdateOf(region.front().getTerminator()->getOperand(
                                 result.getResultNumber()),
                             own);
         });
}

/// Bufferization lets a branch yield what lies outside only where nothing
/// writes it later. A branch yields a copy, unless the value is a loop's own
/// and is yielded to its place there.
static void copyIntoBranches(scf::IfOp branch) {
  auto loop = dyn_cast<scf::ForOp>(branch->getParentOp());
  auto isOwn = [&](Value result) {
    if (!loop)
      return false;
    auto yielded = loop.getBody()->getTerminator()->getOperands();
    return llvm::any_of(llvm::zip(yielded, loop.getRegionIterArgs()),
                        [&](auto pair) {
                          auto [next, own] = pair;
                          return next == result && isUpdateOf(result, own);
                        });
  };
  for (OpResult result : branch->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || isOwn(result))
      continue;
    for (Region &region : branch->getRegions()) {
      OpOperand &yielded = region.front().getTerminator()->getOpOperand(
          result.getResultNumber());
      if (region.isAncestor(yielded.get().getParentRegion()))
        continue;
      OpBuilder b(yielded.getOwner());
      yielded.set(bufferization::AllocTensorOp::create(
          b, branch.getLoc(), type, ValueRange(), yielded.get()));
    }
  }
}

/// A loop carries each tensor in one buffer: what a turn yields is written to
/// it, unless it lies there already.
static void carryInPlace(scf::ForOp loop) {
  Operation *yield = loop.getBody()->getTerminator();
  OpBuilder b(yield);
  SmallVector<Value> next(yield->getOperands());
  for (auto [value, own] : llvm::zip_equal(next, loop.getRegionIterArgs())) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    bool isShared = llvm::count(yield->getOperands(), value) > 1;
    auto made = value.getDefiningOp<linalg::GenericOp>();
    if (made && made->getBlock() == loop.getBody() && !isShared &&
        onlyWrites(made))
      made.getDpsInitsMutable()[0].set(own);
    if (!type || value == own || (keepsToOwn(value, own) && !isShared))
      continue;
    // Another argument, say, which is written below.
    value = bufferization::AllocTensorOp::create(b, yield->getLoc(), type,
                                                 ValueRange(), value);
  }
  for (auto [i, own] : llvm::enumerate(loop.getRegionIterArgs())) {
    bool isBranch = next[i].getDefiningOp<scf::IfOp>();
    if (isa<RankedTensorType>(own.getType()) && next[i] != own &&
        !(isBranch && isUpdateOf(next[i], own)))
      next[i] = bufferization::MaterializeInDestinationOp::create(
                    b, yield->getLoc(), next[i], own)
                    .getResult();
    yield->setOperand(i, next[i]);
  }
}

//===----------------------------------------------------------------------===//
// In memory
//===----------------------------------------------------------------------===//

namespace {
struct LinalgCopyInstead : OpRewritePattern<memref::CopyOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(memref::CopyOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getSource() == op.getTarget())
      rewriter.eraseOp(op);
    else
      rewriter.replaceOpWithNewOp<linalg::CopyOp>(op, op.getSource(),
                                                  op.getTarget());
    return success();
  }
};
} // namespace

static LogicalResult bufferize(LLVM::LLVMFuncOp function) {
  bufferization::OneShotBufferizationOptions options;
  bufferization::BufferizationState state;
  if (failed(bufferization::runOneShotBufferize(function, options, state)))
    return failure();
  RewritePatternSet patterns(function.getContext());
  scf::IfOp::getCanonicalizationPatterns(patterns, function.getContext());
  scf::ForOp::getCanonicalizationPatterns(patterns, function.getContext());
  patterns.add<LinalgCopyInstead>(function.getContext());
  return applyPatternsGreedily(function, std::move(patterns));
}

/// The axis along which most elements lie side by side goes innermost.
static SmallVector<unsigned> loopOrder(linalg::GenericOp op) {
  SmallVector<int64_t> votes(op.getNumLoops(), 0);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (map.getNumResults() == 0)
      continue;
    if (auto last = dyn_cast<AffineDimExpr>(map.getResults().back())) {
      int64_t elements = 1;
      for (AffineExpr axis : map.getResults())
        if (auto dim = dyn_cast<AffineDimExpr>(axis))
          elements *= std::max<int64_t>(1, ranges[dim.getPosition()]);
      votes[last.getPosition()] += elements;
    }
  }
  SmallVector<unsigned> order =
      llvm::to_vector(llvm::seq<unsigned>(0, op.getNumLoops()));
  auto innermost = std::max_element(votes.begin(), votes.end());
  std::rotate(order.begin() + (innermost - votes.begin()),
              order.begin() + (innermost - votes.begin()) + 1, order.end());
  return order;
}

/// Sums may be taken in any order, in lanes, and products fused into them.
static void relaxSums(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0)
    return;
  auto flags = arith::FastMathFlagsAttr::get(
      op.getContext(),
      arith::FastMathFlags::reassoc | arith::FastMathFlags::contract);
  op.getBody()->walk([&](Operation *nested) {
    if (auto add = dyn_cast<arith::AddFOp>(nested))
      add.setFastmathAttr(flags);
    else if (auto mul = dyn_cast<arith::MulFOp>(nested))
      mul.setFastmathAttr(flags);
  });
}

static LogicalResult makeLoops(LLVM::LLVMFuncOp function) {
  IRRewriter rewriter(function.getContext());
  SmallVector<linalg::LinalgOp> ops;
  function.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : ops) {
    rewriter.setInsertionPoint(op);
    if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation())) {
      relaxSums(generic);
      SmallVector<unsigned> order = loopOrder(generic);
      if (!llvm::is_sorted(order)) {
        auto turned = linalg::interchangeGenericOp(rewriter, generic, order);
        if (succeeded(turned))
          op = cast<linalg::LinalgOp>(turned->getOperation());
      }
    }
    if (failed(linalg::linalgOpToLoops(rewriter, op)))
      return op->emitError("'") << op->getName() << "' has no loops on the CPU";
    rewriter.eraseOp(op);
  }
  return success();
}

/// What a buffer takes of the workspace.
static uint64_t bytesOf(MemRefType type) {
  constexpr uint64_t kAlignment = 64;
  Type element = type.getElementType();
  uint64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  uint64_t bytes = llvm::SaturatingMultiply<uint64_t>(
      type.getNumElements(), llvm::divideCeil(bits, 8));
  return llvm::alignTo(std::min<uint64_t>(bytes, INT64_MAX), kAlignment);
}

/// What the step makes has a place of its own in the workspace.
static LogicalResult placeInWorkspace(LLVM::LLVMFuncOp function) {
  // LLVM's addresses in the dialect have constant offsets of 29 signed bits.
  constexpr uint64_t kMaxBytes = uint64_t(1) << 28;
  uint64_t needed = 0;
  function.walk([&](memref::AllocOp alloc) {
    needed = llvm::SaturatingAdd(needed, bytesOf(alloc.getType()));
  });
  if (needed >= kMaxBytes)
    return function.emitError("what a step makes takes ")
           << needed << " bytes of a thread's workspace, expected less than "
           << kMaxBytes;
  int64_t bytes = 0;
  ImplicitLocOpBuilder b(function.getLoc(), function.getContext());
  b.setInsertionPointToStart(&function.getBody().front());
  LLVMTypeConverter converter(function.getContext());
  auto pointer = LLVM::LLVMPointerType::get(function.getContext());
  function.walk([&](memref::AllocOp alloc) {
    MemRefType type = alloc.getType();
    Value place =
        LLVM::GEPOp::create(b, pointer, b.getI8Type(), function.getArgument(1),
                            ArrayRef<LLVM::GEPArg>{int32_t(bytes)});
    Value descriptor = MemRefDescriptor::fromStaticShape(
        b, alloc.getLoc(), converter, type, place);
    alloc.replaceAllUsesWith(
        UnrealizedConversionCastOp::create(b, type, descriptor).getResult(0));
    bytes += bytesOf(type);
    alloc.erase();
  });
  function->setAttr(kWorkspaceAttr, b.getI64IntegerAttr(bytes));
  return success();
}

static LogicalResult simplifyMemory(LLVM::LLVMFuncOp function) {
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  memref::populateExpandStridedMetadataPatterns(patterns);
  if (failed(applyPatternsGreedily(function, std::move(patterns))) ||
      failed(tiletocpu::widenNarrowFloats(function)))
    return failure();
  RewritePatternSet affine(context);
  populateAffineToStdConversionPatterns(affine);
  return applyPatternsGreedily(function, std::move(affine));
}

LogicalResult tiletocpu::lowerSteps(LLVM::LLVMFuncOp function) {
  if (failed(simplifyTensors(function)))
    return failure();
  freeDestinations(function);
  keepWhatIsNotWritten(function);
  function.walk([](scf::IfOp branch) { copyIntoBranches(branch); });
  function.walk([](scf::ForOp loop) { carryInPlace(loop); });
  if (failed(bufferize(function)) || failed(makeLoops(function)) ||
      failed(placeInWorkspace(function)))
    return failure();
  // The loops are scalar: LLVM makes vectors of them.
  Builder b(function.getContext());
  function.setPassthroughAttr(b.getArrayAttr({b.getStringAttr(kLoopsAttr)}));
  return simplifyMemory(function);
}
