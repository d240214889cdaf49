//===- LoadRole.cpp - Views to channels -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "LoadRole.h"
#include "../TileOpKinds.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// Elements of 16 bits in a piece of 16 bytes, and pieces in a row of a slab.
static constexpr int64_t kPiece = 8, kPieces = kSlabColumns / kPiece;

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

/// Whether teams of a receiver read a channel: which of its slots is given back
/// first is then open.
static bool isReadByTeams(Value channel) {
  return llvm::any_of(channel.getUsers(), [](Operation *user) {
    return isa<ReceiveOp>(user) && teamsOf(user->getParentOfType<RoleOp>()) > 1;
  });
}

int64_t prism::tiletogpu::loadTeamsOf(RoleOp role) {
  int64_t most = role.getWarps();
  for (auto send : loopOf(role).getOps<SendOp>())
    most = std::min(most, send.getChannel().getType().getSlots());
  auto fits = [&](int64_t teams) {
    return llvm::all_of(loopOf(role).getOps<SendOp>(), [&](SendOp send) {
      return send.getChannel().getType().getSlots() % teams == 0 ||
             !isReadByTeams(send.getChannel());
    });
  };
  int64_t teams = llvm::bit_floor(uint64_t(most));
  if (!fits(teams))
    for (teams = most; !fits(teams);)
      --teams;
  return teams;
}

/// Blocks that load only for their own turns: those of the one role that
/// receives what is loaded. Blocks that only prepare have loops of their own
/// iterations.
int64_t prism::tiletogpu::turnsOfLoads(Value channel) {
  int64_t turns = 0;
  for (Operation *user : channel.getUsers()) {
    auto role = user->getParentOfType<RoleOp>();
    bool isOther = isa<SendOp>(user) ? role.getName() != "load"
                                     : role.getName() != "prepare";
    if (isOther || role.isApart())
      return 1;
    turns = std::max<int64_t>(turns, role.getCluster());
  }
  return turns;
}

void LoadRole::emit() {
  scf::ForOp loop = loopOf(role);
  int64_t warps = role.getWarps(), teams = loadTeamsOf(role);
  warpsOfTeam = warps / teams;
  for (Operation &op : role.getBody().getOps())
    if (&op != loop.getOperation())
      kernel.cloneScalarOp(&op);
  OpBuilder::InsertionGuard guard(b);
  if (teams * warpsOfTeam < warps) { // no team has the others
    auto busy = scf::IfOp::create(b, b.below(warp, b.i32(teams * warpsOfTeam)));
    b.setInsertionPointToStart(busy.thenBlock());
  }
  emitLoop(loop, teams);
}

void LoadRole::emitLoop(scf::ForOp loop, int64_t teams) {
  Value lower = kernel.scalars.lookup(loop.getLowerBound()),
        step = kernel.scalars.lookup(loop.getStep());
  Value team = b.divide(warp, warpsOfTeam);
  warp = b.remainder(warp, warpsOfTeam);
  Turns own = ports.turnsOfBlock(lower, step);
  auto [first, stride] = turnsOf(b, own.first, own.stride, team, teams);
  auto made = scf::ForOp::create(
      b, first, kernel.scalars.lookup(loop.getUpperBound()), stride, team);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(made.getBody());
  kernel.scalars.map(loop.getInductionVar(), made.getInductionVar());
  Value n = made.getRegionIterArg(0);
  ports.beginIteration(n, n);
  lane = in.opaque(lane);
  emitIteration(loop);
  scf::YieldOp::create(b, b.add(n, b.i32(teams)));
}

void LoadRole::emitIteration(scf::ForOp loop) {
  SmallVector<Message> messages;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto send = dyn_cast<SendOp>(op)) {
      messages.push_back(emitSend(send));
      // The next slot may come back only after this message was used.
      if (messages.back().isSent) {
        publish(messages.back(), 0);
        messages.pop_back();
      }
    } else if (llvm::none_of(op.getResults(), isTensor))
      kernel.cloneScalarOp(&op);
  }
  // In the order in which they were sent, each as soon as it has arrived.
  for (auto [i, message] : llvm::enumerate(messages))
    publish(message, messages.size() - 1 - i);
}

/// Everything of a message is on its way after this, as one group of copies.
LoadRole::Message LoadRole::emitSend(SendOp send) {
  Message message;
  message.channel = send.getChannel();
  message.isSent = ports.isTurnOf(message.channel, rank);
  SmallVector<Part> mapped, others;
  for (auto [i, value] : llvm::enumerate(send.getValues())) {
    if (auto sum = value.getDefiningOp<GateSumOp>()) {
      message.sums.push_back(findSums(sum, ports.part(message.channel, i)));
      continue;
    }
    Slice slice = *Slice::ofLoaded(value);
    Part part{slice, tensorType(value).getElementType(),
              ports.part(message.channel, i),
              maps.numberOf(slice, kernel.getProgram())};
    message.isForProducts |= tensorType(value).getRank() == 2;
    (part.map ? mapped : others).push_back(part);
  }
  Value byMaps;
  OpBuilder::InsertionGuard outside(b);
  if (message.isSent) {
    if (!mapped.empty()) // known to whoever publishes
      byMaps = canUseMaps(mapped);
    b.setInsertionPointToStart(
        scf::IfOp::create(b, message.isSent).thenBlock());
  }
  ports.acquire(message.channel);
  if (!mapped.empty() && !byMaps)
    byMaps = canUseMaps(mapped);
  if (byMaps) {
    auto choice = scf::IfOp::create(b, TypeRange(), byMaps, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    bool isAll = others.empty() && message.sums.empty();
    if (isAll)
      message.isPublished = byMaps;
    copyBoxes(mapped, ports.full(message.channel), isAll);
    b.setInsertionPointToStart(choice.elseBlock());
    Value zero = in.opaque(b.i32(0));
    for (const Part &part : mapped)
      kernel.withOwnPlace(part.slice, zero, [&] { copyMatrix(part); });
  }
  for (const Part &part : others)
    if (part.slice.extents.size() == 2)
      copyMatrix(part);
    else if (sumsByLoad(
                 role)) // addresses of gates take what registers there are
      kernel.withOwnPlace(part.slice, in.opaque(b.i32(0)),
                          [&] { copyVector(part); });
    else
      copyVector(part);
  for (const Sums &sums : message.sums)
    copyGates(sums);
  in.commitCopies();
  return message;
}

/// Publishes a message, unless it is, once all but so many groups have landed.
void LoadRole::publish(const Message &message, int64_t groupsLeft) {
  OpBuilder::InsertionGuard guard(b);
  if (message.isSent)
    b.setInsertionPointToStart(
        scf::IfOp::create(b, message.isSent).thenBlock());
  if (message.isPublished) {
    Value isLeft = arith::XOrIOp::create(b, message.isPublished,
                                         b.integer(b.getI1Type(), 1));
    auto choice = scf::IfOp::create(b, isLeft);
    b.setInsertionPointToStart(choice.thenBlock());
  }
  in.waitForCopies(groupsLeft);
  for (const Sums &sums : message.sums)
    writeSums(sums);
  if (message.isForProducts)
    ports.publish(message.channel);
  else
    ports.publishWithoutFence(message.channel);
}

//===----------------------------------------------------------------------===//
// By the copy engine
//===----------------------------------------------------------------------===//

/// Whether the call has maps of all these, and their rows end with the sequence
/// or the array does too. The same for all threads of the block.
Value LoadRole::canUseMaps(ArrayRef<Part> parts) {
  uint64_t bits = 0;
  for (const Part &part : parts)
    bits |= uint64_t(1) << *part.map;
  Value can = kernel.hasTensorMaps(bits);
  for (const Part &part : parts)
    can = b.both(can, kernel.isOfOneSequence(part.slice));
  return can;
}

/// One thread of the team issues a box for each slab. If there is nothing else
/// to come, it arrives for its warp, and so does one thread of each other warp.
void LoadRole::copyBoxes(ArrayRef<Part> parts, Value barrier, bool arrives) {
  OpBuilder::InsertionGuard guard(b);
  auto elected = scf::IfOp::create(b, in.elect());
  b.setInsertionPointToStart(elected.thenBlock());
  bool hasOthers = arrives && warpsOfTeam > 1;
  auto issuer =
      scf::IfOp::create(b, TypeRange(), in.equals(warp, 0), hasOthers);
  if (hasOthers) {
    b.setInsertionPointToStart(issuer.elseBlock());
    in.arrive(barrier);
  }
  b.setInsertionPointToStart(issuer.thenBlock());
  auto layoutOf = [](const Slice &slice) {
    return Swizzled{slice.extents[0], slice.extents[1]};
  };
  Value zero = in.opaque(b.i32(0));
  int64_t bytes = 0;
  for (const Part &part : parts)
    bytes += layoutOf(part.slice).bytes();
  in.expectBytes(barrier, bytes, arrives);
  for (const Part &part : parts) {
    const Slice &slice = part.slice;
    Swizzled layout = layoutOf(slice);
    Value map = kernel.tensorMap(*part.map, zero);
    Value row = b.wide(kernel.scalars.lookup(slice.offsets.front())),
          column = b.wide(kernel.scalars.lookup(slice.offsets.back()));
    for (int64_t slab = 0; slab < layout.slabs(); ++slab)
      in.copyBox(
          in.advance(part.to, slab * layout.slabBytes()), map,
          kernel.mapCoordinates(
              slice, row, b.add(column, b.i64(slab * kSlabColumns)), zero),
          barrier);
  }
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

/// f32 as in memory goes by copies of 4 bytes, which are always aligned.
void LoadRole::copyVector(const Part &part) {
  const Slice &slice = part.slice;
  Type element = part.element;
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  bool isCopied = element.isF32() &&
                  cast<ViewType>(slice.view.getType()).getElementType().isF32();
  repeat(slice.extents[0], [&](Value local) {
    SmallVector<Value, 3> indices = kernel.viewIndices(slice, {local});
    Value inside = kernel.elementInside(slice, indices);
    Value target = in.advance(part.to, b.mul(local, b.i32(bytes)));
    if (isCopied) {
      Value size = inside ? b.select(inside, b.i32(4), b.i32(0)) : b.i32(4);
      in.copyAsync(target, kernel.safeAddress(slice, indices, inside), 4, size);
      return;
    }
    in.store(b.real(element, 0.0), target, bytes);
    OpBuilder::InsertionGuard guard(b);
    if (inside) {
      auto choice = scf::IfOp::create(b, inside);
      b.setInsertionPointToStart(choice.thenBlock());
    }
    in.store(kernel.loadElement(slice, indices, element), target, bytes);
  });
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// Whether pieces of 16 bytes of every row are aligned.
Value LoadRole::isAligned(const Slice &slice) {
  return in.equals(in.bitAnd(kernel.alignmentBits(slice), 15), 0);
}

void LoadRole::copyMatrix(const Part &part) {
  const Slice &slice = part.slice;
  if (part.element.isF32())
    return kernel.withOwnPlace(slice, in.opaque(b.i32(0)),
                               [&] { copyWide(slice, part.to); });
  if (!kernel.isContiguous(slice))
    return copyElements(slice, part.to);
  auto choice = scf::IfOp::create(b, TypeRange(), isAligned(slice), true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  copySlabs(slice, part.to);
  b.setInsertionPointToStart(choice.elseBlock());
  copyElements(slice, part.to);
}

/// f32, in pieces of 16 bytes or, where rows are not aligned so or their
/// elements lie apart, of 4.
void LoadRole::copyWide(const Slice &slice, Value to) {
  if (!kernel.isContiguous(slice))
    return copyWideElements(slice, to);
  auto choice = scf::IfOp::create(b, TypeRange(), isAligned(slice), true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  copyWideRows(slice, to);
  b.setInsertionPointToStart(choice.elseBlock());
  copyWideElements(slice, to);
}

Value LoadRole::wideByte(const Slice &slice, Value row, Value column) {
  Wide layout{slice.extents[0], slice.extents[1]};
  Value piece = in.bitXor(b.divide(column, 8), b.remainder(row, 4));
  return b.add(
      b.mul(row, b.i32(layout.rowBytes())),
      b.add(b.mul(piece, b.i32(32)), b.mul(b.remainder(column, 8), b.i32(4))));
}

void LoadRole::copyWideElements(const Slice &slice, Value to) {
  int64_t columns = slice.extents[1];
  repeat(slice.extents[0] * columns, [&](Value index) {
    Value row = b.divide(index, columns), column = b.remainder(index, columns);
    SmallVector<Value, 3> indices = kernel.viewIndices(slice, {row, column});
    Value inside = kernel.elementInside(slice, indices);
    in.copyAsync(in.advance(to, wideByte(slice, row, column)),
                 kernel.safeAddress(slice, indices, inside), 4,
                 inside ? b.select(inside, b.i32(4), b.i32(0)) : b.i32(4));
  });
}

/// A row, or as much of it as is a power of two, by neighbouring lanes; of 128
/// columns all 32. The permutation is back after four rows.
void LoadRole::copyWideRows(const Slice &slice, Value to) {
  constexpr int64_t kElements = 4; // of a piece
  int64_t columns = slice.extents[1];
  int64_t lanes = std::gcd(columns / kElements, kLanes);
  for (int64_t first = 0; first < columns; first += lanes * kElements) {
    Value here = in.opaque(lane);
    RowCopies copies;
    copies.rows = kLanes / lanes;
    copies.rowBytes = Wide{slice.extents[0], columns}.rowBytes();
    copies.row = b.divide(here, lanes);
    copies.column =
        b.add(b.mul(b.remainder(here, lanes), b.i32(kElements)), b.i32(first));
    for (int64_t row = 0; row < std::max<int64_t>(4, copies.rows);
         row += copies.rows) {
      Value byte =
          wideByte(slice, b.add(copies.row, b.i32(row)), copies.column);
      copies.targets.push_back(in.advance(to, byte));
    }
    copyRows(slice, copies);
  }
}

/// The chain reads values by whole slabs: the columns up to there are zero.
static int64_t widthOf(const Slice &slice) {
  return llvm::alignTo(slice.extents[1], kSlabColumns);
}

/// A loop that stays one: this role has few registers and much time.
scf::ForOp LoadRole::openLoop(Value first, int64_t count, int64_t step) {
  auto loop = scf::ForOp::create(b, first, b.i32(count), b.i32(step));
  keepRolled(loop);
  b.setInsertionPointToStart(loop.getBody());
  return loop;
}

void LoadRole::repeat(int64_t count, llvm::function_ref<void(Value)> body) {
  OpBuilder::InsertionGuard guard(b);
  int64_t threads = warpsOfTeam * kLanes;
  Value thread = b.add(b.mul(warp, b.i32(kLanes)), lane);
  scf::ForOp loop = openLoop(thread, count, threads);
  body(loop.getInductionVar());
}

/// How many rows from `row` on are inside, at most `most`, i32; null: all.
Value LoadRole::rowsLeft(const Slice &slice, Value row, int64_t most) {
  if (!kernel.axisInside(slice, 0, row))
    return {};
  int64_t bound = cast<ViewType>(slice.view.getType()).getShape()[0];
  Value end = ShapedType::isDynamic(bound) ? kernel.length() : b.i64(bound);
  Value left = arith::MinSIOp::create(b, b.sub(end, row), b.i64(most));
  return arith::TruncIOp::create(b, b.getI32Type(), left);
}

/// Slab by slab, four rows of a slab at a time: 8 lanes have the 128 bytes of a
/// row. Four rows on, a lane's piece has moved by four places in the swizzle,
/// and another four on it is back: two addresses are all that a lane needs.
void LoadRole::copySlabs(const Slice &slice, Value to) {
  Swizzled layout{slice.extents[0], slice.extents[1]};
  for (int64_t slab = 0; slab < layout.slabs(); ++slab) {
    // Addresses of one slab are not kept through another one's loop.
    Value here = in.opaque(lane), piece = b.remainder(here, kPieces);
    RowCopies copies;
    copies.rows = kLanes / kPieces;
    copies.rowBytes = kSlabRowBytes;
    copies.row = b.divide(here, kPieces);
    copies.column =
        b.add(b.mul(piece, b.i32(kPiece)), b.i32(slab * kSlabColumns));
    Value slabAt = in.advance(to, slab * layout.slabBytes());
    for (int64_t odd : {0, 1}) {
      Value row = b.add(copies.row, b.i32(4 * odd));
      Value byte = b.add(b.mul(row, b.i32(kSlabRowBytes)),
                         b.mul(in.bitXor(piece, row), b.i32(16)));
      copies.targets.push_back(in.advance(slabAt, byte));
    }
    if (slice.extents[1] % kSlabColumns)
      copies.isInside = b.below(copies.column, b.i32(slice.extents[1]));
    copyRows(slice, copies);
  }
}

/// Four copies in a turn of the loop. Warps of a team have their rows in turn.
void LoadRole::copyRows(const Slice &slice, const RowCopies &copies) {
  OpBuilder::InsertionGuard guard(b);
  int64_t rows = slice.extents[0], rowsOfTurn = 4 * copies.rows;
  SmallVector<Value, 3> indices =
      kernel.viewIndices(slice, {copies.row, copies.column});
  Value outer = b.both(kernel.present(slice), copies.isInside);
  outer = b.both(outer, kernel.indicesInside(slice, indices, 1));
  Value left = rowsLeft(slice, indices[0], rows);
  if (left && slice.ranks > 1)
    left = b.mul(left, b.i32(slice.ranks));
  if (outer)
    left = b.select(outer, left ? left : b.i32(rows), b.i32(0));
  Value from = kernel.safeAddress(slice, indices, Value()),
        safe = kernel.safeAddress(slice, indices, b.integer(b.getI1Type(), 0));
  // From one copy to the next, which are whole steps apart.
  int64_t bytes = cast<ViewType>(slice.view.getType())
                      .getElementType()
                      .getIntOrFloatBitWidth() /
                  8;
  Value stride =
      b.mul(kernel.rowStride(slice), b.i64(bytes * copies.rows / slice.ranks));
  auto loop =
      openLoop(b.mul(warp, b.i32(rowsOfTurn)), rows, rowsOfTurn * warpsOfTeam);
  Value first = loop.getInductionVar();
  Value at =
      in.advance(from, b.mul(b.wide(b.divide(first, copies.rows)), stride));
  Value byte = b.mul(first, b.i32(copies.rowBytes));
  int64_t places = copies.targets.size();
  for (int64_t i = 0; i < 4; ++i) {
    int64_t down = i * copies.rows;
    Value address = in.advance(at, b.mul(stride, b.i64(i)));
    Value inside = left ? arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                                b.add(first, b.i32(down)), left)
                              .getResult()
                        : Value();
    Value target = in.advance(copies.targets[i % places], byte);
    // What a place has of its row is in its address.
    in.copyAsync(
        in.advance(target, i / places * places * copies.rows * copies.rowBytes),
        inside ? b.select(inside, address, safe) : address, 16,
        inside ? b.select(inside, b.i32(16), b.i32(0)) : b.i32(16));
  }
}

void LoadRole::copyElements(const Slice &slice, Value to) {
  int64_t width = widthOf(slice);
  Swizzled layout{slice.extents[0], slice.extents[1]};
  repeat(layout.rows * width, [&](Value index) {
    Type i16 = b.getI16Type();
    Value row = b.divide(index, width), column = b.remainder(index, width);
    SmallVector<Value, 3> indices = kernel.viewIndices(slice, {row, column});
    Value inside = b.both(kernel.elementInside(slice, indices),
                          b.below(column, b.i32(slice.extents[1])));
    Value bits = in.load(i16, kernel.safeAddress(slice, indices, inside), 2);
    Value piece = b.divide(column, kPiece);
    Value swizzled =
        in.bitXor(b.remainder(piece, kPieces), b.remainder(row, kPieces));
    Value byte =
        b.add(b.mul(b.divide(piece, kPieces), b.i32(layout.slabBytes())),
              b.add(b.mul(row, b.i32(kSlabRowBytes)),
                    b.add(b.mul(swizzled, b.i32(16)),
                          b.mul(b.remainder(column, kPiece), b.i32(2)))));
    in.store(b.select(inside, bits, b.integer(i16, 0)), in.advance(to, byte),
             2);
  });
}
