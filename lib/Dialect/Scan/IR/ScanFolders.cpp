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
