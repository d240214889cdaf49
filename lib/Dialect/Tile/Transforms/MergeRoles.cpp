//===- MergeRoles.cpp - From roles back to one loop -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Tile/Transforms/Passes.h"
#include "Prism/Dialect/Tile/Transforms/Roles.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace prism::tile;

namespace prism::tile {
#define GEN_PASS_DEF_TILEMERGEROLES
#include "Prism/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace prism::tile

namespace {

/// The roles of one program, senders before receivers.
class RoleMerger {
public:
  explicit RoleMerger(ProgramOp program) : program(program) {}
  LogicalResult run();

private:
  LogicalResult sortRoles();
  LogicalResult findLoops();
  LogicalResult forward(Operation *op);
  LogicalResult moveOps(Block::iterator begin, Block::iterator end,
                        Operation *before);
  LogicalResult mergeLoops();

  ProgramOp program;
  SmallVector<RoleOp> roles;
  SmallVector<scf::ForOp> loops; // one of each role that has one
  llvm::DenseMap<Value, SmallVector<Value>> sent; // by channel
};

} // namespace

static scf::ForOp loopOf(RoleOp role) {
  auto loops = role.getBody().getOps<scf::ForOp>();
  return loops.empty() ? scf::ForOp() : *loops.begin();
}

LogicalResult RoleMerger::sortRoles() {
  llvm::SetVector<Operation *> waiting;
  for (auto role : program.getBody().getOps<RoleOp>())
    waiting.insert(role);
  auto hasSenderAmong = [&](Operation *role) {
    return role
        ->walk([&](ReceiveOp receive) {
          for (Operation *user : receive.getChannel().getUsers())
            if (isa<SendOp>(user) &&
                waiting.contains(user->getParentOfType<RoleOp>()))
              return WalkResult::interrupt();
          return WalkResult::advance();
        })
        .wasInterrupted();
  };
  while (!waiting.empty()) {
    auto next = llvm::find_if_not(waiting, hasSenderAmong);
    if (next == waiting.end())
      return waiting.front()->emitOpError(
          "waits for messages that wait for its own");
    roles.push_back(cast<RoleOp>(*next));
    waiting.remove(*next);
  }
  return success();
}

LogicalResult RoleMerger::findLoops() {
  for (RoleOp role : roles) {
    auto all = llvm::to_vector(role.getBody().getOps<scf::ForOp>());
    if (all.size() > 1)
      return role.emitOpError("has ") << all.size() << " loops, expected one";
    if (all.empty())
      continue;
    scf::ForOp loop = all.front();
    if (!loops.empty() &&
        (loop.getLowerBound() != loops.front().getLowerBound() ||
         loop.getUpperBound() != loops.front().getUpperBound() ||
         loop.getStep() != loops.front().getStep())) {
      InFlightDiagnostic error =
          loop.emitOpError("runs over another range than a role beside it");
      error.attachNote(loops.front().getLoc()) << "that role's loop";
      return error;
    }
    loops.push_back(loop);
  }
  return success();
}

/// Takes a channel op away: what is received is what was sent.
LogicalResult RoleMerger::forward(Operation *op) {
  if (auto send = dyn_cast<SendOp>(op)) {
    sent[send.getChannel()] = llvm::to_vector(send.getValues());
  } else if (auto receive = dyn_cast<ReceiveOp>(op)) {
    auto message = sent.find(receive.getChannel());
    if (message == sent.end())
      return receive.emitOpError(
          "has no send in the same part of another role");
    for (auto [part, value] :
         llvm::zip_equal(receive.getResults(), message->second)) {
      if (part.getType() != value.getType())
        return receive.emitOpError("receives ")
               << part.getType() << " where " << value.getType() << " was sent";
      part.replaceAllUsesWith(value);
    }
  }
  op->erase();
  return success();
}

/// Moves ops [begin, end) in front of another, channel ops forwarded.
LogicalResult RoleMerger::moveOps(Block::iterator begin, Block::iterator end,
                                  Operation *before) {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::make_range(begin, end))) {
    if (!isa<SendOp, ReceiveOp, ReleaseOp>(op))
      op.moveBefore(before);
    else if (failed(forward(&op)))
      return failure();
  }
  return success();
}

/// One loop that carries what all of them carry.
LogicalResult RoleMerger::mergeLoops() {
  if (loops.empty())
    return success();
  scf::ForOp first = loops.front();
  OpBuilder builder(roles.front());
  SmallVector<Value> start, next;
  for (scf::ForOp loop : loops)
    llvm::append_range(start, loop.getInitArgs());
  auto merged =
      scf::ForOp::create(builder, first.getLoc(), first.getLowerBound(),
                         first.getUpperBound(), first.getStep(), start);
  merged->setDiscardableAttrs(first->getDiscardableAttrDictionary());
  builder.setInsertionPointToEnd(merged.getBody());
  if (start.empty())
    merged.getBody()->back().erase();
  auto yield = scf::YieldOp::create(builder, first.getLoc());
  unsigned number = 0;
  sent.clear();
  for (scf::ForOp loop : loops) {
    loop.getInductionVar().replaceAllUsesWith(merged.getInductionVar());
    for (auto [carried, result] :
         llvm::zip(loop.getRegionIterArgs(), loop.getResults())) {
      carried.replaceAllUsesWith(merged.getRegionIterArg(number));
      result.replaceAllUsesWith(merged.getResult(number++));
    }
    Block *body = loop.getBody();
    if (failed(moveOps(body->begin(), std::prev(body->end()), yield)))
      return failure();
    llvm::append_range(next, body->getTerminator()->getOperands());
  }
  yield->setOperands(next);
  return success();
}

LogicalResult RoleMerger::run() {
  if (failed(sortRoles()) || failed(findLoops()))
    return failure();
  if (roles.empty())
    return success();
  auto channels = llvm::to_vector(program.getBody().getOps<ChannelOp>());
  for (RoleOp role : roles) {
    role->moveBefore(program.getBody().front().getTerminator());
    Block &body = role.getBody().front();
    scf::ForOp loop = loopOf(role);
    if (failed(moveOps(body.begin(), loop ? Block::iterator(loop) : body.end(),
                       roles.front())))
      return failure();
  }
  if (failed(mergeLoops()))
    return failure();
  sent.clear();
  for (RoleOp role : roles) {
    if (scf::ForOp loop = loopOf(role))
      loop.erase();
    Block &body = role.getBody().front();
    if (failed(moveOps(body.begin(), body.end(), roles.front())))
      return failure();
  }
  for (RoleOp role : roles)
    role.erase();
  for (ChannelOp channel : channels)
    channel.erase();
  return success();
}

LogicalResult prism::tile::mergeRoles(ProgramOp program) {
  return RoleMerger(program).run();
}

namespace {
struct MergeRolesPass : prism::tile::impl::TileMergeRolesBase<MergeRolesPass> {
  using TileMergeRolesBase::TileMergeRolesBase;
  void runOnOperation() override {
    if ((check && failed(checkChannels(getOperation(), iterations))) ||
        failed(mergeRoles(getOperation())))
      signalPassFailure();
  }
};
} // namespace
