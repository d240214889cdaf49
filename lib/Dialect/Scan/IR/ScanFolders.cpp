//===- ScanFolders.cpp - Folders and canonicalisation of the scan ops -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Scan/IR/Scan.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace prism::scan;

/// A scalar or tensor constant that is +0 or -0 throughout.
static bool isZero(Attribute attr) {
  return attr && matchPattern(attr, m_AnyZeroFloat());
}
static bool hasNoRank(Value v) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  return type && type.getNumElements() == 0;
}

/// A zero log-gate keeps everything.
OpFoldResult DecayOp::fold(FoldAdaptor adaptor) {
  if (isZero(adaptor.getLogGate()))
    return getState();
  return {};
}

/// No rank, or zero strength, erases nothing.
OpFoldResult EraseOp::fold(FoldAdaptor adaptor) {
  if (hasNoRank(getRead()) || isZero(adaptor.getStrength()))
    return getState();
  return {};
}

/// No rank (PRISM with L = 0), or zero scale, injects nothing.
OpFoldResult InjectOp::fold(FoldAdaptor adaptor) {
  if (hasNoRank(getKey()) || (getScale() && isZero(adaptor.getScale())))
    return getState();
  return {};
}

//===----------------------------------------------------------------------===//
// Canonicalisation
//===----------------------------------------------------------------------===//
//
// Consecutive decays are not merged: a sum of gates rounds in the gate's type
// where the lowerings sum in f64, and -inf + inf is no gate at all.
// A scale of 1 stays: it may be what ties an injection to its erase.

namespace {
/// S + s k v^T + s k w^T = S + s k (v + w)^T. Key and scale stay the same SSA
/// values, so an erase that they are tied to stays tied. Values narrower than
/// f32 are added in f32, which no product of the factor would exceed.
struct MergeInjectsOfOneKey : OpRewritePattern<InjectOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(InjectOp second,
                                PatternRewriter &rewriter) const override {
    auto first = second.getState().getDefiningOp<InjectOp>();
    if (!first || !first->hasOneUse())
      return rewriter.notifyMatchFailure(second, "no injection just before");
    if (first.getKey() != second.getKey() ||
        first.getScale() != second.getScale())
      return rewriter.notifyMatchFailure(second, "another key or scale");
    if (cast<RankedTensorType>(second.getKey().getType()).getRank() != 1)
      return rewriter.notifyMatchFailure(second, "has a rank axis");
    Location loc = rewriter.getFusedLoc({first.getLoc(), second.getLoc()});
    Value sum = arith::AddFOp::create(
        rewriter, loc, widen(rewriter, loc, first.getValue(), second),
        widen(rewriter, loc, second.getValue(), first));
    rewriter.replaceOpWithNewOp<InjectOp>(second, second.getType(),
                                          first.getState(), second.getKey(),
                                          sum, second.getScale());
    return success();
  }

private:
  /// `value` in the widest of f32, its own type and that of the other's value.
  static Value widen(PatternRewriter &rewriter, Location loc, Value value,
                     InjectOp other) {
    auto type = cast<RankedTensorType>(value.getType());
    Type otherElement =
        cast<RankedTensorType>(other.getValue().getType()).getElementType();
    bool isDouble = type.getElementType().isF64() || otherElement.isF64();
    Type element =
        isDouble ? Type(rewriter.getF64Type()) : rewriter.getF32Type();
    if (type.getElementType() == element)
      return value;
    return arith::ExtFOp::create(rewriter, loc, type.clone(element), value);
  }
};
} // namespace

void InjectOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<MergeInjectsOfOneKey>(context);
}
