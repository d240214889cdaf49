//===- RolesChecks.cpp - What of roles there is code for ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RolesChecks.h"
#include "../TileOpKinds.h"
#include "RolesPlan.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

static LogicalResult checkMatrix(Value tile, int64_t rows, int64_t columns,
                                 StringRef what, std::string &reason) {
  if (rows % kRowsOfGroup == 0 && columns % kContracted == 0 && columns <= 256)
    return success();
  reason = (what + " of " + Twine(rows) + " x " + Twine(columns) +
            " is no multiple of 64 x 16 up to 256 columns")
               .str();
  return failure();
}

/// What of a product's operands was computed where it is multiplied; null if
/// both were received.
static Operation *findComputed(DotOp dot) {
  for (Value operand : {dot.getLhs(), dot.getRhs()}) {
    Operation *op = operand.getDefiningOp();
    if (auto rounded = dyn_cast_or_null<arith::TruncFOp>(op))
      op = rounded.getIn().getDefiningOp();
    if (op && !operand.getDefiningOp<ReceiveOp>())
      return op;
  }
  return nullptr;
}

static LogicalResult checkOp(Operation *op, bool isChain, Type operands,
                             std::string &reason) {
  if (auto dot = dyn_cast<DotOp>(op)) {
    if (dot.getLhs().getType().getElementType() != operands) {
      reason = "it multiplies " + textOf(dot.getLhs().getType()) +
               ", not rounded to " + textOf(operands);
      return failure();
    }
    if (dot.getK() % kContracted) {
      reason = "it contracts " + std::to_string(dot.getK()) +
               " elements, not a multiple of 16";
      return failure();
    }
    // The preparation multiplies what lies in shared memory.
    if (Operation *computed = isChain ? nullptr : findComputed(dot)) {
      reason = ("keys or queries are computed by '" +
                computed->getName().getStringRef() +
                "', and only such as are loaded are multiplied with each "
                "other")
                   .str();
      return failure();
    }
    // The chain computes transposed: rows of values, padded to warpgroups.
    return isChain ? checkMatrix(dot.getResult(), kRowsOfGroup, dot.getM(),
                                 "a product", reason)
                   : checkMatrix(dot.getResult(), dot.getM(), dot.getN(),
                                 "a product", reason);
  }
  if (auto invert = dyn_cast<InvertOp>(op)) {
    if (tensorType(invert.getMatrix()).getDimSize(0) != kRowsOfGroup) {
      reason = "it inverts " + textOf(invert.getMatrix().getType()) +
               ", not 64 rows";
      return failure();
    }
    ScaleColumnsOp scale = scaleOf(invert);
    if (!destinationOf(scale ? scale.getResult() : invert.getResult()).send) {
      reason = "an inverse is used otherwise than to be sent";
      return failure();
    }
    return success();
  }
  if (auto sum = dyn_cast<GateSumOp>(op)) {
    int64_t length = tensorType(sum.getGates()).getDimSize(0);
    if (isChain || length > 128 || (length > 32 && length % 32)) {
      reason = "it sums gates of " + textOf(sum.getGates().getType());
      return failure();
    }
    return success();
  }
  if (isa<SumColumnsOp, MaskRowsOp>(op))
    return checkRows(op, isChain, operands, reason);
  if (isOfKeyDecays(op))
    return checkKeyDecays(op, isChain, operands, reason);
  if (isElementwise(op) || isSplatConstant(op) ||
      isa<tensor::SplatOp, LoadOp, StoreOp, SendOp, ReceiveOp, ReleaseOp,
          ScaleRowsOp, ScaleColumnsOp, SplatLastOp, BroadcastOp, DecayMatrixOp,
          scf::YieldOp>(op))
    return success();
  // Of vectors of a token's element each, up to one a lane.
  if (auto stack = dyn_cast<InterleaveOp>(op);
      stack && tensorType(stack.getResult()).getRank() == 1 &&
      tensorType(stack.getInputs().front()).getDimSize(0) <= 32)
    return success();
  bool isScalar =
      op->getNumRegions() == 0 &&
      llvm::none_of(op->getResultTypes(), llvm::IsaPred<TensorType>);
  if (isScalar)
    return success();
  reason =
      ("there is no code for '" + op->getName().getStringRef() + "'").str();
  return failure();
}

/// What blocks of a cluster share must be the same for all of them.
static LogicalResult checkShared(RoleOp role, std::string &reason) {
  if (role.getCluster() == 1 && !role.isApart())
    return success();
  bool isPreparing = role.getName() == "prepare";
  if (role.isApart() ? !isPreparing && role.getName() != "load"
                     : !isPreparing || teamsOf(role) > 1) {
    reason = role.isApart()
                 ? "only roles 'prepare' and 'load' run apart"
                 : "only a role 'prepare' of one warpgroup a block is shared "
                   "by the blocks of a cluster";
    return failure();
  }
  WalkResult found = role.walk([](Operation *op) {
    return llvm::any_of(op->getOperands(),
                        [](Value operand) {
                          return bool(operand.getDefiningOp<ValueOffsetOp>());
                        })
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (!found.wasInterrupted())
    return success();
  reason = "a role that blocks of values share depends on their offset";
  return failure();
}

/// " (FILE:LINE:COLUMN)" of what an op was made of, where that is known.
static std::string placeOf(Operation *op) {
  auto find = [](Location loc) {
    FileLineColLoc place;
    loc->walk([&](Location inner) {
      place = dyn_cast<FileLineColLoc>(inner);
      return place ? WalkResult::interrupt() : WalkResult::advance();
    });
    return place;
  };
  FileLineColLoc place = find(op->getLoc());
  if (!place || place == find(op->getParentOfType<ProgramOp>().getLoc()))
    return "";
  return (" (" + place.getFilename().getValue() + ":" + Twine(place.getLine()) +
          ":" + Twine(place.getColumn()) + ")")
      .str();
}

/// Is there code for an op of a role's loop?
static LogicalResult checkOpOf(RoleOp role, Operation *op, Type operands,
                               std::string &reason) {
  LogicalResult taken = success();
  if (role.getName() == "load" && isa<LoadOp, InterleaveOp>(op)) {
    taken = checkLoaded(op, operands, reason);
  } else if (isa<LoadOp>(op)) {
    reason = "a role other than 'load' loads in its loop";
    return failure();
  } else {
    taken = checkOp(op, role.getName() == "chain", operands, reason);
  }
  if (failed(taken)) {
    auto dot = dyn_cast<DotOp>(op);
    Operation *computed = dot ? findComputed(dot) : nullptr;
    reason += placeOf(computed ? computed : op);
  }
  return taken;
}

/// Whole warpgroups, of the chain enough for the value columns.
static LogicalResult checkWarps(RoleOp role, std::string &reason) {
  if (role.getWarps() % kWarpsOfGroup) {
    reason = ("role '" + role.getName() + "' has " + Twine(role.getWarps()) +
              " warps, no whole warpgroups")
                 .str();
    return failure();
  }
  int64_t columns = role->getParentOfType<ProgramOp>().getValueBlock();
  if (role.getName() == "chain" &&
      int64_t(role.getWarps()) / kWarpsOfGroup * kRowsOfGroup < columns) {
    reason = ("role 'chain' has " + Twine(role.getWarps()) + " warps for " +
              Twine(columns) + " value columns, 16 of them each")
                 .str();
    return failure();
  }
  return success();
}

/// A block that takes turns in preparing gives back what came for the others
/// when its own turn comes. Behind its last turn there are as many messages as
/// there are other blocks, of which only the last may find its slot taken.
static LogicalResult checkTurns(RoleOp role, ReceiveOp receive,
                                std::string &reason) {
  int64_t cluster = role.getCluster(),
          slots = receive.getChannel().getType().getSlots();
  if (role.getName() != "prepare" || role.isApart() || slots >= cluster - 1 ||
      turnsOfLoads(receive.getChannel()) != 1)
    return success();
  reason = (Twine(cluster) +
            " blocks take turns in preparing, and a message that all of them "
            "load has " +
            Twine(slots) + " slots, fewer than " + Twine(cluster - 1))
               .str();
  return failure();
}

/// Maps of segments lie as the chain holds states.
static LogicalResult checkMaps(RoleOp role, std::string &reason) {
  if (role.getName() == "chain" ||
      llvm::none_of(role.getBody().getOps(), [](Operation &op) {
        return isa<StoreMapOp, FoldMapsOp>(op);
      }))
    return success();
  reason = "a role other than 'chain' has maps of segments";
  return failure();
}

LogicalResult prism::tiletogpu::checkRole(RoleOp role, Type operands,
                                          std::string &reason) {
  if (failed(checkShared(role, reason)) || failed(checkMaps(role, reason)))
    return failure();
  scf::ForOp loop = loopOf(role);
  if (!loop || llvm::range_size(role.getBody().getOps<scf::ForOp>()) != 1) {
    reason =
        ("role '" + role.getName() + "' has no one loop over chunks").str();
    return failure();
  }
  for (auto receive : loop.getOps<ReceiveOp>()) {
    int64_t slots = receive.getChannel().getType().getSlots();
    if (failed(checkTurns(role, receive, reason)))
      return failure();
    if (slots % teamsOf(role) == 0)
      continue;
    reason = (Twine(teamsOf(role)) + " teams of role '" + role.getName() +
              "' receive from a channel of " + Twine(slots) + " slots")
                 .str();
    return failure();
  }
  for (Operation &op : *loop.getBody())
    if (failed(checkOpOf(role, &op, operands, reason)))
      return failure();
  return checkWarps(role, reason);
}
