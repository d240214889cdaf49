//===- KeyReleases.cpp - When the keys of a chunk are given back ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Dots of mild chunks multiply what lies in the message already: keys, queries
// and gates are given back before the first of them, and the next chunk's come
// while dots and systems are computed. All other chunks read them until the
// last dot is done.
//
//===----------------------------------------------------------------------===//

#include "../TileOpKinds.h"
#include "DecayedDots.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// Whether an op reads what its operands are made of when its turn comes: dots
/// do not where all that they multiply lies in the message by then, nor do last
/// rows, which are among the sums.
bool ComputeRole::readsInMildChunks(Operation *op) {
  if (emitted.contains(op) || madeBySlabs.contains(op) || isa<LastRowOp>(op))
    return false;
  auto dot = dyn_cast<DecayedDotOp>(op);
  return !dot || !decayedRows(dot).memory ||
         !(exchanged == Exchanged{dot.getRhs(), dot.getDecays().front(),
                                  PlacesOfDot(dot).columnSeesOwn});
}

/// The same of what a tile is read for, itself or by what is made where it is
/// read.
bool ComputeRole::isReadInMildChunks(Value tile) {
  return llvm::any_of(tile.getUsers(), [&](Operation *user) {
    bool isLazy =
        isa<ScaleRowsOp, ScaleColumnsOp, BroadcastOp, DecayProductOp>(user) ||
        (isElementwise(user) && !isa<arith::TruncFOp>(user));
    if (isLazy && tensorType(user->getResult(0)).getRank() == 1)
      isLazy = vectors.lookup(user->getResult(0)).kind == Vector::Kind::Lazy;
    return isLazy ? isReadInMildChunks(user->getResult(0))
                  : readsInMildChunks(user);
  });
}

/// Channels that are still to be given back and whose matrices nothing reads in
/// mild chunks any more.
SmallVector<Value> ComputeRole::channelsOfMildChunks(Block *block) {
  SmallVector<Value> channels;
  for (auto release : block->getOps<ReleaseOp>()) {
    Value channel = release.getChannel();
    bool isGone =
        emitted.contains(release) && !llvm::is_contained(toRelease, channel);
    if (isGone || releasedIf.contains(channel) ||
        lastReader.lookup(channel) > groupsRetired)
      continue;
    bool isRead = llvm::any_of(channel.getUsers(), [&](Operation *user) {
      return user->getBlock() == block &&
             llvm::any_of(user->getResults(), [&](Value value) {
               return tensorType(value).getRank() == 2 &&
                      isReadInMildChunks(value);
             });
    });
    if (!isRead)
      channels.push_back(channel);
  }
  return channels;
}

/// Vectors that came with keys, and that others read after these, are kept.
/// Warps meet before they do.
void ComputeRole::keepVectorsOf(Value channel, Block *block) {
  for (Operation *user : channel.getUsers())
    for (Value value : user->getResults())
      if (Vector &vector = vectors[value];
          user->getBlock() == block && tensorType(value).getRank() == 1 &&
          vector.kind == Vector::Kind::Shared && isReadInMildChunks(value)) {
        Value kept = scratch(
            vector.length * vector.element.getIntOrFloatBitWidth() / 8, 16);
        claimScratch();
        writeSpread(value, kept);
        vectors[value].memory = kept;
        vectors[value].channel = {};
      }
}

/// Of mild chunks dots read the message alone: before the first of them goes
/// back what was received and nothing else will read.
void ComputeRole::releaseOfMildChunks(DecayedDotOp dot, Value isMild) {
  SmallVector<Value> channels = channelsOfMildChunks(dot->getBlock());
  if (channels.empty())
    return;
  for (Value channel : channels)
    keepVectorsOf(channel, dot->getBlock());
  auto choice = scf::IfOp::create(b, isMild);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  ports.release(channels);
  for (Value channel : channels)
    releasedIf[channel] = isMild;
}
