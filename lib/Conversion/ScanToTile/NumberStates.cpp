//===- NumberStates.cpp - States of one number through a chunk ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "NumberStates.h"
#include "Prism/Dialect/Scan/IR/ChunkStates.h"

using namespace mlir;
using namespace prism;

NumberStates::NumberStates(TileBuilder &tb, scan::RecurrenceOp op,
                           ArrayRef<unsigned> states)
    : tb(tb), op(op), states(states) {
  // Of the step, what is a factor or a read of these states and of no other.
  auto isOther = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getArgNumber() < op.getNumStates() &&
           !llvm::is_contained(this->states, argument.getArgNumber());
  };
  auto none = [](Value) { return false; };
  for (Operation &inner : op.getStepBlock()->without_terminator())
    if (isa<scan::StateOpInterface, scan::ReadOp>(inner) &&
        llvm::none_of(scan::sourcesOf(op, inner.getResult(0), none), isOther))
      ops.push_back(&inner);
}

LogicalResult NumberStates::stepToken(TokenTiles &token,
                                      MutableArrayRef<Value> carried) {
  StepForm form(tb, token, /*valueBlock=*/1);
  for (unsigned state : states) {
    form.enter(op.getStateArgument(state), carried[state]);
    seen[op.getStateArgument(state)].push_back(carried[state]);
  }
  for (Operation *inner : ops) {
    if (failed(form.step(inner)))
      return failure();
    seen[inner->getResult(0)].push_back(
        token.get(inner->getResult(0), -1, Along::value));
  }
  RankedTensorType number = tb.matrix(1, 1);
  Value isInside = tb.create<arith::CmpFOp>(
      arith::CmpFPredicate::OGT, token.inside(tb.constant(number, 1.0)),
      tb.constant(number, 0.0));
  SmallVector<Value> next;
  for (unsigned state : states) {
    next.push_back(form.stateOf(op.getYield().getValues()[state]));
    if (!next.back())
      return failure();
  }
  for (auto [state, value] : llvm::zip(states, next))
    carried[state] =
        tb.create<arith::SelectOp>(isInside, value, carried[state]);
  return success();
}

LogicalResult NumberStates::emit(TokenTiles &tokens, TilesAt tilesAt,
                                 int64_t chunk, Value first,
                                 MutableArrayRef<Value> carried) {
  for (int64_t t = 0; t < chunk; ++t) {
    Value step =
        t ? Value(tb.create<arith::AddIOp>(first, tb.index(t))) : first;
    TokenTiles token = tilesAt(1, step);
    if (failed(stepToken(token, carried)))
      return failure();
  }
  // Rows one after the other are tiles of one row, interleaved.
  for (auto &[value, tiles] : seen)
    tokens.define(value, tb.interleave(tiles));
  return success();
}
