//===- KeyDecayChecks.cpp - Decays of keys that there is code for ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Slabs of a tile are computed in a loop (KeyDecays.cpp): of what was received,
// of vectors and of constants, and only for what goes on by slabs itself.
//
//===----------------------------------------------------------------------===//

#include "../TileOpKinds.h"
#include "RolesChecks.h"
#include "RolesPlan.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

bool prism::tiletogpu::isWideMessage(ChannelOp channel, unsigned part) {
  auto tile = cast<RankedTensorType>(channel.getType().getMessage()[part]);
  if (!tile.getElementType().isF32() || tile.getRank() != 2)
    return false;
  return llvm::all_of(channel->getUsers(), [&](Operation *user) {
    StringRef role = user->getParentOfType<RoleOp>().getName();
    auto receive = dyn_cast<ReceiveOp>(user);
    return isa<SendOp>(user) ? role == "load"
                             : role == "prepare" || !receive ||
                                   receive.getValues()[part].use_empty();
  });
}

/// Computed where it is read, element by element.
static bool isLazy(Operation *op) {
  return op && !isa<arith::TruncFOp>(op) &&
         (isElementwise(op) ||
          isa<ScaleRowsOp, ScaleColumnsOp, BroadcastOp>(op));
}

static bool isMatrix(Value tile) {
  return isTensor(tile) && tensorType(tile).getRank() == 2;
}

bool prism::tiletogpu::hasSlabs(Value tile) {
  Operation *op = tile.getDefiningOp();
  if (isSplat(tile) || isa_and_nonnull<ReceiveOp, DecayProductOp>(op))
    return true;
  return isLazy(op) && llvm::all_of(op->getOperands(), [](Value operand) {
           return !isMatrix(operand) || hasSlabs(operand);
         });
}

bool prism::tiletogpu::isMadeOfProducts(Value tile) {
  Operation *op = tile.getDefiningOp();
  return isa_and_nonnull<DecayProductOp>(op) ||
         (isLazy(op) && llvm::any_of(op->getOperands(), isMadeOfProducts));
}

bool prism::tiletogpu::isOfKeyDecays(Operation *op) {
  auto round = dyn_cast<arith::TruncFOp>(op);
  if (round && isMatrix(round.getIn()))
    return isMadeOfProducts(round.getIn()) ||
           (round.getIn().getDefiningOp<ReceiveOp>() &&
            tensorType(round.getIn()).getElementType().isF32());
  return decaysChannels(op);
}

/// Whether all that reads a product of decays does so by slabs.
static bool isReadBySlabs(Value tile) {
  return llvm::all_of(tile.getUsers(), [](Operation *user) {
    if (isa<LastRowOp, DecayProductOp, DecayedDotOp>(user))
      return true;
    if (isa<arith::TruncFOp>(user))
      return bool(destinationOf(user->getResult(0)).send);
    return isLazy(user) && isReadBySlabs(user->getResult(0));
  });
}

/// Sums of log-gates stand for their exponentials.
static LogicalResult checkGates(Value decays, std::string &reason) {
  Operation *op = decays.getDefiningOp();
  if (isa_and_nonnull<math::ExpOp>(op))
    return success();
  llvm::raw_string_ostream(reason)
      << "decays per key are made by '"
      << (op ? op->getName().getStringRef() : "an argument")
      << "', not by 'math.exp'";
  return failure();
}

/// The first operand whose slabs cannot be computed.
static Value findWithoutSlabs(Operation *op) {
  for (Value operand : op->getOperands())
    if (isMatrix(operand) && !hasSlabs(operand))
      return operand;
  return {};
}

LogicalResult prism::tiletogpu::checkSlabs(RankedTensorType tile,
                                           std::string &reason) {
  constexpr int64_t kColumns = 16, kMostKeys = 128;
  int64_t rows = tile.getDimSize(0), columns = tile.getDimSize(1);
  if (rows == kRowsOfGroup && columns % kColumns == 0 && columns <= kMostKeys)
    return success();
  llvm::raw_string_ostream(reason)
      << "it computes by keys of " << tile
      << ", not of 64 rows and 16 to 128 columns in steps of 16";
  return failure();
}

static LogicalResult checkDecayedDot(DecayedDotOp dot, std::string &reason) {
  int64_t rows = dot.getRowOrder().size(),
          columns = dot.getColumnOrder().size(),
          decays = dot.getDecays().size();
  if (rows != 1 || columns != 1 || decays != 1) {
    llvm::raw_string_ostream(reason)
        << "a dot of " << rows << " rows, " << columns << " columns and "
        << decays << " decays per key a token is decayed, not of one each";
    return failure();
  }
  if (failed(checkSlabs(dot.getLhs().getType(), reason)))
    return failure();
  return checkGates(dot.getDecays().front(), reason);
}

LogicalResult prism::tiletogpu::checkKeyDecays(Operation *op, bool isChain,
                                               Type operands,
                                               std::string &reason) {
  llvm::raw_string_ostream os(reason);
  if (isChain) {
    os << "'" << op->getName() << "' of decays per key stands on the chain";
    return failure();
  }
  if (!operands.isBF16()) {
    os << "decays per key are multiplied in bf16, not in " << operands;
    return failure();
  }
  if (Value tile = findWithoutSlabs(op)) {
    os << "'" << op->getName() << "' reads a tile that '"
       << tile.getDefiningOp()->getName() << "' makes as a whole";
    return failure();
  }
  if (auto dot = dyn_cast<DecayedDotOp>(op))
    return checkDecayedDot(dot, reason);
  if (auto last = dyn_cast<LastRowOp>(op)) {
    auto product = last.getInput().getDefiningOp<DecayProductOp>();
    if (product && !product.getReverse() && !product.getExclusive())
      return success();
    os << "the last row is of something else than all decays of a chunk";
    return failure();
  }
  if (auto round = dyn_cast<arith::TruncFOp>(op)) {
    if (!round.getIn().getDefiningOp<ReceiveOp>())
      return checkSlabs(tensorType(round.getResult()), reason);
    os << "it rounds " << round.getIn().getType() << " as it was received";
    return failure();
  }
  auto product = cast<DecayProductOp>(op);
  if (!isReadBySlabs(product.getResult())) {
    os << "a product of decays is used otherwise than to be sent";
    return failure();
  }
  if (failed(checkSlabs(tensorType(product.getResult()), reason)))
    return failure();
  return checkGates(product.getDecays(), reason);
}
