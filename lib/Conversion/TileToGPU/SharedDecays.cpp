//===- SharedDecays.cpp - Decays that differ from channel to channel ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A decayed dot gives each column to a warp, whose lanes hold the channels of
// the right side's row and walk down the rows as the recurrence does: decay,
// multiply with the left side, sum over the lanes. No exponential, no division,
// no memory beside the operands'.
//
//===----------------------------------------------------------------------===//

#include "ElementOps.h"
#include "SharedLowering.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// A thread owns whole columns.
void SharedLowering::emitDecayProduct(DecayProductOp op) {
  const Buffer &to = *plan.lookup(op.getResult());
  access(plan.sourcesOfDefinition(op.getResult()), &to);
  forEach(to.columns, [&](Value column) {
    Value one = b.real(to.element, 1.0);
    sumOver(zero(), b.i32(to.rows), one, [&](Value i, Value before) -> Value {
      Value row = op.getReverse() ? b.sub(b.i32(to.rows - 1), i) : i;
      Value product = b.mul(before, evaluate(op.getDecays(), {row, column}));
      write(to, {row, column}, op.getExclusive() ? before : product);
      return product;
    });
  });
}

namespace {
/// Channels of one column in the lanes of a warp.
using Channels = SmallVector<Value>;
} // namespace

void SharedLowering::emitDecayedDot(DecayedDotOp op) {
  const Buffer &to = *plan.lookup(op.getResult());
  access(plan.sourcesOfDefinition(op.getResult()), &to);
  int64_t tokens = op.getTokens(), perRow = op.getRowOrder().size(),
          perColumn = op.getColumnOrder().size(), channels = op.getChannels();
  SmallVector<ChainEvent> events = op.getEvents();
  Value lane = b.remainder(kernel.thread(), warpSize),
        warp = b.divide(kernel.thread(), warpSize);
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, b.i32(0));
  // Element of row `row` in this lane's m-th channel; past the last one 0.
  auto get = [&](Value tile, Value row, int64_t m) {
    Value channel = b.add(lane, b.i32(m * warpSize));
    if ((m + 1) * warpSize <= channels)
      return evaluate(tile, {row, channel});
    Value inside = b.below(channel, b.i32(channels));
    Value value =
        evaluate(tile, {row, b.minimum(channel, b.i32(channels - 1))});
    return b.select(inside, value, b.real(to.element, 0.0));
  };
  auto row = [&](Value token, int64_t index, int64_t count) {
    return b.add(b.mul(token, b.i32(count)), b.i32(index));
  };
  auto put = [&](Value token, const ChainEvent &read, Value column,
                 Value value) {
    OpBuilder::InsertionGuard guard(b);
    auto choice = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
    b.setInsertionPointToStart(choice.thenBlock());
    write(to, {row(token, read.index, perRow), column}, value);
  };
  auto happen = [&](const ChainEvent &event, Value token, Value column,
                    Channels &right) {
    if (event.kind == ChainEvent::decay) {
      for (auto [m, value] : llvm::enumerate(right))
        value = b.mul(value, get(op.getDecays()[event.index], token, m));
    } else if (event.kind == ChainEvent::read) {
      Value sum = b.real(to.element, 0.0);
      for (auto [m, value] : llvm::enumerate(right))
        sum = math::FmaOp::create(
            b, get(op.getLhs(), row(token, event.index, perRow), m), value,
            sum);
      put(token, event, column, sumOverLanes(b, sum, warpSize));
    }
  };
  OpBuilder::InsertionGuard guard(b);
  auto own =
      scf::ForOp::create(b, warp, b.i32(tokens), b.i32(threads / warpSize));
  b.setInsertionPointToStart(own.getBody());
  Value writer = own.getInductionVar();
  for (int64_t j = 0; j < perColumn; ++j) {
    Value column = row(writer, j, perColumn);
    // What comes before the column in time does not see it.
    Value unseen = b.real(to.element, 0.0);
    {
      OpBuilder::InsertionGuard inner(b);
      auto above = scf::ForOp::create(b, lane, b.mul(writer, b.i32(perRow)),
                                      b.i32(warpSize));
      b.setInsertionPointToStart(above.getBody());
      write(to, {above.getInductionVar(), column}, unseen);
    }
    Channels right;
    for (int64_t m = 0; m * warpSize < channels; ++m)
      right.push_back(get(op.getRhs(), column, m));
    bool isWritten = false;
    for (const ChainEvent &event : events) {
      if (isWritten)
        happen(event, writer, column, right);
      else if (event.kind == ChainEvent::read)
        put(writer, event, column, unseen);
      isWritten |= event.kind == ChainEvent::write && event.index == j;
    }
    OpBuilder::InsertionGuard inner(b);
    auto later = scf::ForOp::create(b, b.add(writer, b.i32(1)), b.i32(tokens),
                                    b.i32(1), right);
    b.setInsertionPointToStart(later.getBody());
    Channels carried(later.getRegionIterArgs());
    for (const ChainEvent &event : events)
      happen(event, later.getInductionVar(), column, carried);
    scf::YieldOp::create(b, carried);
  }
}
