//===- RowSumChecks.cpp - Sums along rows that there is code for ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../TileOpKinds.h"
#include "RolesChecks.h"
#include "RolesPlan.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

Value prism::tiletogpu::squaredTile(SumColumnsOp sum) {
  auto square = sum.getInput().getDefiningOp<arith::MulFOp>();
  if (!square || square.getLhs() != square.getRhs())
    return {};
  auto widening = square.getLhs().getDefiningOp<arith::ExtFOp>();
  if (!widening || !widening.getIn().getDefiningOp<ReceiveOp>())
    return {};
  return widening.getIn();
}

/// Rows of a warp, or of several, of which others compute the same.
static LogicalResult checkSquares(RankedTensorType tile, std::string &reason) {
  constexpr int64_t kRowsOfWarp = 16, kColumns = 16;
  int64_t rows = tile.getDimSize(0);
  if (rows % kRowsOfWarp == 0 && kRowsOfGroup % rows == 0 &&
      tile.getDimSize(1) % kColumns == 0)
    return success();
  reason = "it sums squares of " + textOf(tile) +
           ", not of 16, 32 or 64 rows and columns in steps of 16";
  return failure();
}

static LogicalResult checkRowSum(SumColumnsOp sum, bool isChain, Type operands,
                                 std::string &reason) {
  auto type = tensorType(sum.getInput());
  if (isChain) {
    reason = "it sums along the value columns of " + textOf(type);
    return failure();
  }
  Value squared = squaredTile(sum);
  if (squared && tensorType(squared).getElementType() == operands)
    return checkSquares(tensorType(squared), reason);
  if (hasSlabs(sum.getInput()))
    return checkSlabs(type, reason);
  reason = "it sums along rows of " + textOf(type) +
           ", which are computed as a whole";
  return failure();
}

LogicalResult prism::tiletogpu::checkRows(Operation *op, bool isChain,
                                          Type operands, std::string &reason) {
  if (auto sum = dyn_cast<SumColumnsOp>(op))
    return checkRowSum(sum, isChain, operands, reason);
  auto type = tensorType(cast<MaskRowsOp>(op).getResult());
  if (type.getRank() == 1)
    return success();
  reason = "it masks rows of " + textOf(type) +
           ", and only numbers of tokens "
           "are masked there";
  return failure();
}
