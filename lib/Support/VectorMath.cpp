//===- VectorMath.cpp - Math functions without a library ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Support/VectorMath.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

bool prism::isNativeMath(Operation *op) {
  return isa<math::AbsFOp, math::CeilOp, math::CopySignOp, math::FloorOp,
             math::FmaOp, math::RoundEvenOp, math::RsqrtOp, math::SqrtOp,
             math::TruncOp, math::IsNaNOp, math::IsInfOp, math::IsFiniteOp,
             math::AbsIOp, math::CountLeadingZerosOp,
             math::CountTrailingZerosOp, math::CtPopOp>(op);
}

LogicalResult prism::approximateMath(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  math::populateExpansionPatterns(patterns,
                                  {"exp2", "sinh", "cosh", "tan", "asinh",
                                   "acosh", "atanh", "powf", "fpowi"});
  // The pattern for rsqrt is made of x86 instructions and needs their dialect;
  // sqrt and a division do.
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
    return name != math::RsqrtOp::getOperationName();
  });
  GreedyRewriteConfig config;
  config.setMaxIterations(8);
  if (failed(applyPatternsGreedily(module, std::move(patterns), config)))
    return module.emitError(
        "approximating math functions did not come to an end");
  return success();
}
