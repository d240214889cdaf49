//===- Reductions.cpp - What may be left out of a recurrence --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Reductions.h"
#include "Prism/Dialect/Scan/IR/Scan.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Reducer/ReductionPatternInterface.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace prism;

namespace {
/// The chain without a factor.
struct SkipFactor : OpInterfaceRewritePattern<scan::StateOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(scan::StateOpInterface factor,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(factor, factor.getStateOperand().get());
    return success();
  }
};

/// A recurrence without the inputs that its step does not use.
struct DropUnusedInputs : OpRewritePattern<scan::RecurrenceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scan::RecurrenceOp op,
                                PatternRewriter &rewriter) const override {
    unsigned first = op.getInputArgument(0).getArgNumber();
    llvm::BitVector unused(op.getStepBlock()->getNumArguments());
    SmallVector<Attribute> axes;
    for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i)
      if (op.getInputArgument(i).use_empty())
        unused.set(first + i);
      else
        axes.push_back(op.getInputAxesAttr()[i]);
    // An input or a state says how many sequences and steps there are.
    if (unused.none() || axes.empty())
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      for (unsigned i = op.getInputs().size(); i-- > 0;)
        if (unused.test(first + i))
          op.getInputsMutable().erase(i);
      op.getStepBlock()->eraseArguments(unused);
      op.setInputAxesAttr(rewriter.getArrayAttr(axes));
    });
    return success();
  }
};

struct ScanReductions : DialectReductionPatternInterface {
  explicit ScanReductions(Dialect *dialect)
      : DialectReductionPatternInterface(dialect) {}

  void populateReductionPatterns(RewritePatternSet &patterns) const override {
    patterns.add<SkipFactor, DropUnusedInputs>(patterns.getContext());
  }
};
} // namespace

void prism::registerReductions(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, scan::ScanDialect *dialect) {
    dialect->addInterfaces<ScanReductions>();
  });
}
