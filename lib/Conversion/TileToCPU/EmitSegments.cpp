//===- EmitSegments.cpp - Work items that are segments --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Emitter.h"

using namespace mlir;
using namespace prism;
using namespace prism::tiletocpu;

/// Of the launch's sequences every one is a segment of one of the call's;
/// returns which one.
Value Emitter::enterSegment(Value sequence) {
  tile::SegmentItems items = program.getSegmentItems();
  if (items != tile::SegmentItems::All && items != tile::SegmentItems::Inner)
    return sequence;
  Value each = items == tile::SegmentItems::All ? segments : add(segments, -1);
  segment = arith::RemUIOp::create(b, sequence, each);
  return arith::DivUIOp::create(b, sequence, each);
}

/// The steps become the segment's, a scan's the segments. In reversed time the
/// first segment has the last rows.
void Emitter::cutSegment() {
  if (!segments)
    return;
  if (!segment) {
    length = segments;
    return;
  }
  auto divideUp = [&](Value x, Value y) -> Value {
    return arith::DivUIOp::create(b, add(x, add(y, -1)), y);
  };
  Value chunk = c(program.getChunk());
  Value perSegment = mul(divideUp(divideUp(length, chunk), segments), chunk);
  Value first = minI(mul(segment, perSegment), length),
        end = minI(add(first, perSegment), length);
  if (program.getReverse()) {
    Value last = stopRow;
    stopRow = arith::SubIOp::create(b, last, first);
    firstRow = arith::SubIOp::create(b, last, end);
  } else {
    stopRow = add(firstRow, end);
    firstRow = add(firstRow, first);
  }
  length = arith::SubIOp::create(b, end, first);
}

/// Whether this item's part of an argument is there, i1.
Value Emitter::presenceOf(unsigned i) {
  Value present = arguments[i].given;
  if (!segment || program.getArgument_(i).getRole().getValue() != "final_state")
    return present;
  Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, segment,
                                       add(segments, -1));
  return arith::AndIOp::create(b, present, isLast);
}

/// A number of every step, before the first.
Value Emitter::sumSteps(tile::SumStepsOp op) {
  Type f64 = b.getF64Type();
  auto numberOf = [&](Value view, Value step) {
    Type element = cast<tile::ViewType>(view.getType()).getElementType();
    bool isRounded = element.getIntOrFloatBitWidth() == 16;
    Type stored = isRounded ? Type(b.getI16Type()) : element;
    const Argument &argument =
        arguments[cast<BlockArgument>(view).getArgNumber()];
    Value pointer = gep(argument.base, element, mul(step, argument.timeStride));
    return convertIn(loadScalar(pointer, stored), element, f64);
  };
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(b, b.getF64FloatAttr(value));
  };
  Value count =
      arith::SelectOp::create(b, map.lookup(op.getWanted()), length, c(0));
  Vectors sum =
      loopCarrying(c(0), count, 1, {number(0.0)}, [&](Value step, Vectors acc) {
        Value gate = numberOf(op.getViews().front(), step);
        for (Value view : op.getViews().drop_front())
          gate = arith::MulFOp::create(b, gate, numberOf(view, step));
        gate = arith::MaximumFOp::create(b, gate, number(-1024.0));
        return Vectors{arith::AddFOp::create(b, acc[0], gate)};
      });
  return sum[0];
}
