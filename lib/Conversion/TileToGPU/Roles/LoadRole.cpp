//===- LoadRole.cpp - Views to channels -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "LoadRole.h"
#include "../TileOpKinds.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// Elements of 16 bits in a piece of 16 bytes.
static constexpr int64_t kPiece = 8;

void LoadRole::emit() {
  scf::ForOp loop = loopOf(role);
  for (Operation &op : role.getBody().getOps())
    if (&op != loop.getOperation())
      kernel.cloneScalarOp(&op);
  auto made =
      scf::ForOp::create(b, kernel.scalars.lookup(loop.getLowerBound()),
                         kernel.scalars.lookup(loop.getUpperBound()),
                         kernel.scalars.lookup(loop.getStep()), b.i32(0));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(made.getBody());
  kernel.scalars.map(loop.getInductionVar(), made.getInductionVar());
  Value n = made.getRegionIterArg(0);
  ports.beginIteration(n);
  thread = in.opaque(thread);
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto send = dyn_cast<SendOp>(op))
      emitSend(send);
    else if (!isa<LoadOp>(op))
      kernel.cloneScalarOp(&op);
  }
  scf::YieldOp::create(b, b.add(n, b.i32(1)));
}

/// An f32 vector in memory as in the message: copies of 4 bytes, which are
/// always aligned.
static bool isCopied(LoadOp load) {
  auto type = tensorType(load.getResult());
  return type.getRank() == 2 ||
         (type.getElementTypeBitWidth() == 32 &&
          type.getElementType() == load.getView().getType().getElementType());
}

void LoadRole::emitSend(SendOp send) {
  Value channel = send.getChannel();
  ports.acquire(channel);
  bool copied = true;
  Value aligned;
  for (Value value : send.getValues()) {
    auto load = value.getDefiningOp<LoadOp>();
    copied &= isCopied(load);
    if (tensorType(value).getRank() == 2)
      aligned = b.both(aligned, isAligned(Slice::of(load)));
  }
  auto moveAll = [&](bool byCopies) {
    for (auto [i, value] : llvm::enumerate(send.getValues())) {
      auto load = value.getDefiningOp<LoadOp>();
      Value to = ports.part(channel, i);
      if (tensorType(value).getRank() == 2)
        copyPieces(Slice::of(load), to, byCopies);
      else
        copyVector(load, to, byCopies);
    }
    ports.hand(channel, byCopies);
  };
  if (!copied || !aligned)
    return moveAll(copied);
  auto choice = scf::IfOp::create(b, TypeRange(), aligned, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  moveAll(true);
  b.setInsertionPointToStart(choice.elseBlock());
  moveAll(false);
}

void LoadRole::copyVector(LoadOp load, Value to, bool byCopies) {
  Slice slice = Slice::of(load);
  Type element = tensorType(load.getResult()).getElementType();
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  repeat(slice.extents[0], [&](Value local) {
    SmallVector<Value, 3> indices = kernel.viewIndices(slice, {local});
    Value inside = kernel.elementInside(slice, indices);
    Value target = in.advance(to, b.mul(local, b.i32(bytes)));
    if (byCopies) {
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

/// Whether pieces of 16 bytes of every row are aligned.
Value LoadRole::isAligned(const Slice &slice) {
  Value sum = kernel.alignmentBits(slice);
  return in.equals(in.bitAnd(sum, 15), 0);
}

/// A loop that stays one: this role has few registers and much time.
void LoadRole::repeat(int64_t count, llvm::function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b, b.i32(0), b.i32(count), b.i32(threads()));
  auto unroll = LLVM::LoopUnrollAttr::get(b.getContext(), b.getBoolAttr(true),
                                          {}, {}, {}, {}, {}, {});
  loop->setAttr("llvm.loop_annotation",
                LLVM::LoopAnnotationAttr::get(b.getContext(), {}, {}, {},
                                              unroll, {}, {}, {}, {}, {}, {},
                                              {}, {}, {}, {}, {}));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value index = b.add(loop.getInductionVar(), thread);
  if (count % threads()) {
    auto mine = scf::IfOp::create(b, b.below(index, b.i32(count)));
    b.setInsertionPointToStart(mine.thenBlock());
  }
  body(index);
}

void LoadRole::copyPieces(const Slice &slice, Value to, bool aligned) {
  // Products contract 16 elements at a time: the columns up to there are zero.
  int64_t rows = slice.extents[0],
          width = llvm::alignTo(slice.extents[1], 2 * kPiece),
          perRow = width / kPiece;
  Swizzled layout{rows, slice.extents[1]};
  auto addressOf = [&](Value row, Value piece) {
    Value slab = b.divide(piece, kSlabColumns / kPiece);
    Value swizzled = in.bitXor(in.bitAnd(piece, kSlabColumns / kPiece - 1),
                               in.bitAnd(row, 7));
    return in.advance(to, b.add(b.mul(slab, b.i32(layout.slabBytes())),
                                b.add(b.mul(row, b.i32(kSlabRowBytes)),
                                      b.mul(swizzled, b.i32(16)))));
  };
  auto insideAt = [&](ValueRange indices, Value column) {
    Value inside = kernel.elementInside(slice, indices);
    return b.both(inside, b.below(column, b.i32(slice.extents[1])));
  };
  // A thread keeps its piece of a row, and goes down the rows by multiples of
  // 8: one address each way, and what lies where in the swizzle stays.
  int64_t down = threads() / perRow;
  if (aligned && threads() % perRow == 0 && down % 8 == 0 && rows % down == 0 &&
      slice.axisOfTile.front() == 0 &&
      cast<ViewType>(slice.view.getType()).hasTime()) {
    Value row = b.divide(thread, perRow), piece = b.remainder(thread, perRow);
    Value column = b.mul(piece, b.i32(kPiece));
    SmallVector<Value, 3> indices = kernel.viewIndices(slice, {row, column});
    Value outer =
        b.both(kernel.present(slice), b.below(column, b.i32(slice.extents[1])));
    for (size_t axis = 1; axis < indices.size(); ++axis)
      outer = b.both(outer, kernel.axisInside(slice, axis, indices[axis]));
    Value target = addressOf(row, piece);
    Value from = kernel.safeAddress(slice, indices, Value()),
          safe =
              kernel.safeAddress(slice, indices, b.integer(b.getI1Type(), 0));
    Value bytes = b.mul(kernel.stepStride(slice), b.i64(2 * down));
    for (int64_t first = 0; first < rows; first += down) {
      Value inside = b.both(
          outer, kernel.axisInside(slice, 0, b.add(indices[0], b.i64(first))));
      in.copyAsync(in.advance(target, first * kSlabRowBytes),
                   b.select(inside, from, safe), 16,
                   b.select(inside, b.i32(16), b.i32(0)));
      from = in.advance(from, bytes);
    }
    return;
  }
  if (aligned)
    return repeat(rows * perRow, [&](Value index) {
      Value row = b.divide(index, perRow), piece = b.remainder(index, perRow);
      Value column = b.mul(piece, b.i32(kPiece));
      SmallVector<Value, 3> indices = kernel.viewIndices(slice, {row, column});
      Value inside = insideAt(indices, column);
      in.copyAsync(addressOf(row, piece),
                   kernel.safeAddress(slice, indices, inside), 16,
                   b.select(inside, b.i32(16), b.i32(0)));
    });
  repeat(rows * width, [&](Value index) {
    Type i16 = b.getI16Type();
    Value row = b.divide(index, width), column = b.remainder(index, width);
    SmallVector<Value, 3> indices = kernel.viewIndices(slice, {row, column});
    Value inside = insideAt(indices, column);
    Value bits = in.load(i16, kernel.safeAddress(slice, indices, inside), 2);
    Value piece = b.divide(column, kPiece);
    in.store(b.select(inside, bits, b.integer(i16, 0)),
             in.advance(addressOf(row, piece),
                        b.mul(b.remainder(column, kPiece), b.i32(2))),
             2);
  });
}
