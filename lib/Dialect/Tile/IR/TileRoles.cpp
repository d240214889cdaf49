//===- TileRoles.cpp - Roles and channels ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace prism::tile;

LogicalResult ChannelType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t slots, ArrayRef<Type> message) {
  if (slots < 1)
    return emitError() << "a channel has at least one slot, found " << slots;
  if (message.empty())
    return emitError() << "a channel's message has at least one part";
  for (Type part : message) {
    auto tile = dyn_cast<RankedTensorType>(part);
    if (!tile || !tile.hasStaticShape() || tile.getRank() < 1 ||
        tile.getRank() > 2)
      return emitError() << "a message is made of vector and matrix tiles, "
                         << "found " << part;
  }
  return success();
}

/// A loop of the role, or the role's own body: where channel ops stand.
static LogicalResult verifyPlace(Operation *op) {
  Operation *parent = op->getParentOp();
  if (isa<scf::ForOp>(parent))
    parent = parent->getParentOp();
  if (!isa<RoleOp>(parent))
    return op->emitOpError(
        "stands in a role, directly or in one loop; its iteration is the slot");
  return success();
}

static bool sameButForLayout(Type a, Type b) {
  auto x = cast<RankedTensorType>(a), y = cast<RankedTensorType>(b);
  return x.getShape() == y.getShape() &&
         x.getElementType() == y.getElementType();
}

LogicalResult SendOp::verify() {
  ArrayRef<Type> message = getChannel().getType().getMessage();
  if (message.size() != getValues().size())
    return emitOpError("fills a message of ")
           << message.size() << " parts with " << getValues().size()
           << " values";
  for (auto [value, part] : llvm::zip_equal(getValues(), message))
    if (!sameButForLayout(value.getType(), part))
      return emitOpError("fills a part ")
             << part << " with a value " << value.getType();
  return verifyPlace(*this);
}

LogicalResult ReceiveOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>,
                                          ValueRange operands, DictionaryAttr,
                                          OpaqueProperties, RegionRange,
                                          SmallVectorImpl<Type> &types) {
  ArrayRef<Type> message =
      cast<ChannelType>(operands.front().getType()).getMessage();
  types.append(message.begin(), message.end());
  return success();
}

/// A release follows its receive, and nothing reads the message after it.
LogicalResult ReleaseOp::verify() {
  ReceiveOp receive;
  for (Operation *user : getChannel().getUsers())
    if (auto found = dyn_cast<ReceiveOp>(user);
        found && found->getBlock() == (*this)->getBlock())
      receive = found;
  if (!receive || !receive->isBeforeInBlock(*this))
    return emitOpError("follows a receive from the same channel in its block");
  for (Operation *user : receive->getUsers()) {
    Operation *here = (*this)->getBlock()->findAncestorOpInBlock(*user);
    if (here && (*this)->isBeforeInBlock(here)) {
      InFlightDiagnostic error =
          user->emitOpError("reads a message after its slot was released");
      error.attachNote(getLoc()) << "released here";
      return error;
    }
  }
  return verifyPlace(*this);
}

/// Roles that are apart have the same blocks to themselves, and share what they
/// make with those of the other blocks, which send them nothing.
static LogicalResult verifyApart(RoleOp role) {
  if (int64_t(role.getApart()) < 0)
    return role.emitOpError("runs apart in at least one block, found ")
           << int64_t(role.getApart());
  auto program = cast<ProgramOp>(role->getParentOp());
  for (auto other : program.getBody().getOps<RoleOp>()) {
    if (!other.isApart())
      continue;
    if (!role.isApart() && role.getCluster() > 1)
      return role.emitOpError("is shared by the blocks of a cluster that has "
                              "blocks of its own for what they share");
    if (role.isApart() && (role.getApart() != other.getApart() ||
                           role.getCluster() != other.getCluster()))
      return role.emitOpError("runs in ")
             << role.getApart() << " blocks beside " << role.getCluster()
             << ", another role in " << other.getApart() << " beside "
             << other.getCluster();
  }
  WalkResult result = role.walk([&](ReceiveOp receive) {
    for (Operation *user : receive.getChannel().getUsers())
      if (auto sender = user->getParentOfType<RoleOp>();
          isa<SendOp>(user) && role.isApart() && !sender.isApart()) {
        receive.emitOpError("stands in a role that runs apart, and '")
            << sender.getName() << "', which sends this, does not";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Every channel has one sending role; a role that receives releases.
LogicalResult RoleOp::verify() {
  if (getWarps() < 1)
    return emitOpError("runs on at least one warp, found ") << getWarps();
  auto program = cast<ProgramOp>((*this)->getParentOp());
  if (getCluster() < 1 || program.getValueBlocks() % getCluster())
    return emitOpError(
               "is shared by the blocks of a cluster, whose number divides "
               "the blocks of values, ")
           << program.getValueBlocks() << ", found " << getCluster();
  if (failed(verifyApart(*this)))
    return failure();
  for (Operation &op : getBody().getOps()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      continue;
    for (auto receive : loop.getOps<ReceiveOp>()) {
      bool released =
          llvm::any_of(receive.getChannel().getUsers(), [&](Operation *user) {
            return isa<ReleaseOp>(user) &&
                   user->getBlock() == receive->getBlock();
          });
      if (!released)
        return receive.emitOpError("is never released in this iteration");
    }
  }
  return success();
}
