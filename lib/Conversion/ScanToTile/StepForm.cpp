//===- StepForm.cpp - A chain of factors, one token at a time -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "StepForm.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace prism;

namespace {
/// Looks for a decay with a gate for less than the whole state.
struct FinerDecay final : scan::ChunkAssembler {
  bool found = false;
  void addDecay(Value, scan::DecayAlong along) override {
    found |= along != scan::DecayAlong::scalar;
  }
  void addErase(Value, Value, Value, Value) override {}
  void addInject(Value, Value, Value) override {}
};
} // namespace

bool StepForm::isNeeded(ArrayRef<scan::StateOpInterface> chain) {
  FinerDecay decay;
  for (scan::StateOpInterface factor : chain)
    factor.contributeToChunk(decay);
  return decay.found;
}

/// All ranks of a step value as rows of one tile (one row without ranks); for
/// scalars per rank, a vector.
Value StepForm::stackRanks(Value stepValue, Along along) {
  auto type = dyn_cast<RankedTensorType>(stepValue.getType());
  bool ranked = type && type.getRank() == (along == Along::none ? 1 : 2);
  if (!ranked)
    return tokens.get(stepValue, -1, along);
  SmallVector<Value> rows;
  for (int64_t r = 0; r < type.getDimSize(0); ++r) {
    rows.push_back(tokens.get(stepValue, r, along));
    if (!rows.back())
      return {};
  }
  return tb.interleave(rows);
}

/// A state of one row whose key or query is 1 takes and gives whole rows: no
/// product.
bool StepForm::isWholeRow(Value key) const {
  return keys == 1 && matchPattern(key, m_OneFloat());
}

void StepForm::addDecay(Value logGate, scan::DecayAlong along) {
  RankedTensorType stateType = tb.matrix(keys, columns);
  auto ones = [&](int64_t count) {
    return tb.constant(tb.matrix(1, count), 1.0);
  };
  auto expOf = [&](Along axis) -> Value {
    Value gate = tokens.get(logGate, -1, axis);
    return gate ? tb.exp(gate) : Value();
  };
  Value factor;
  switch (along) {
  case scan::DecayAlong::scalar:
    if (Value gate = expOf(Along::none))
      factor = tb.create<tile::BroadcastOp>(stateType, tb.splatLast(gate, keys),
                                            false);
    break;
  case scan::DecayAlong::key: // gates x ones^T: every column holds the gates
    if (Value gate = expOf(Along::key))
      factor = tb.dot(gate, true, ones(columns), false);
    break;
  case scan::DecayAlong::value:
    if (Value gate = expOf(Along::value))
      factor = keys == 1 ? gate : tb.dot(ones(keys), true, gate, false);
    break;
  case scan::DecayAlong::element:
    factor = expOf(Along::element);
    break;
  }
  current = factor ? tb.mul(current, factor) : Value();
}

void StepForm::addErase(Value of, Value read, Value write, Value strength) {
  Value readKeys = stackRanks(read, Along::key),
        writeKeys = stackRanks(write, Along::key),
        strengths = stackRanks(strength, Along::none);
  if (!readKeys || !writeKeys || !strengths) {
    current = {};
    return;
  }
  Value seen = tb.dot(readKeys, false, stateOf(of), false);
  Value values = tb.neg(tb.scaleRows(seen, strengths));
  current = tb.dot(writeKeys, true, values, false, current);
}

void StepForm::addInject(Value key, Value value, Value scale) {
  Value keyRows = stackRanks(key, Along::key),
        values = stackRanks(value, Along::value);
  Value scales = scale ? stackRanks(scale, Along::none) : Value();
  if (!keyRows || !values || (scale && !scales)) {
    current = {};
    return;
  }
  if (scales)
    values = tb.scaleRows(values, scales);
  if (isWholeRow(key)) {
    current = tb.add(current, values);
    return;
  }
  current = tb.dot(keyRows, true, values, false, current);
}

/// A state's tile: carried, a factor's, computed from states element by
/// element, or of one element that was computed.
Value StepForm::stateOf(Value stepValue) {
  if (Value tile = tileOf.lookup(stepValue))
    return tile;
  Operation *producer = stepValue.getDefiningOp();
  if (producer && OpTrait::hasElementwiseMappableTraits(producer)) {
    Value tile = tokens.get(stepValue, -1, Along::element);
    if (tile)
      tileOf[stepValue] = tile;
    return tile;
  }
  auto elements = stepValue.getDefiningOp<tensor::FromElementsOp>();
  if (!elements || elements.getElements().size() != 1) {
    emitError(stepValue.getLoc(),
              "the state flows through an op that is no state factor; a state "
              "of one element may also be made of a scalar");
    return {};
  }
  Value scalar = tokens.get(elements.getElements().front(), -1, Along::none);
  if (!scalar)
    return {};
  return tileOf[stepValue] =
             tb.create<tile::BroadcastOp>(tb.matrix(1, 1), scalar, false);
}

Value StepForm::emitRead(scan::ReadOp read) {
  Value state = stateOf(read.getState());
  keys = cast<RankedTensorType>(read.getState().getType()).getDimSize(0);
  Value query = tokens.get(read.getQuery(), -1, Along::key);
  if (!state || !query)
    return {};
  Value out =
      isWholeRow(read.getQuery()) ? state : tb.dot(query, false, state, false);
  double scale = read.getScale().convertToDouble();
  if (scale == 1.0)
    return out;
  auto type = cast<RankedTensorType>(out.getType());
  return tb.mul(out, tb.constant(type, scale));
}

void StepForm::enter(Value state, Value tile) {
  tileOf[state] = tile;
  tokens.define(state, tile);
}

LogicalResult StepForm::step(Operation *op) {
  if (auto factor = dyn_cast<scan::StateOpInterface>(op)) {
    auto type = cast<RankedTensorType>(factor.getStateResult().getType());
    keys = type.getDimSize(0);
    columns = std::min(valueBlock, type.getDimSize(1));
    current = stateOf(factor.getStateOperand().get());
    if (!current)
      return failure();
    factor.contributeToChunk(*this);
    if (!current)
      return failure();
    enter(factor.getStateResult(), current);
  } else if (auto read = dyn_cast<scan::ReadOp>(op)) {
    Value out = emitRead(read);
    if (!out)
      return failure();
    tokens.define(read.getResult(), out);
  }
  return success();
}

FailureOr<SmallVector<Value>> StepForm::emit(scan::RecurrenceOp op, Value start,
                                             ValueRange states,
                                             SmallVectorImpl<Value> &outputs) {
  for (auto [i, state] : llvm::enumerate(states))
    enter(i == 0 ? start : Value(op.getStateArgument(i)), state);
  for (Operation &inner : op.getStepBlock()->without_terminator())
    if (failed(step(&inner)))
      return failure();
  SmallVector<Value> next;
  for (auto [i, yielded] : llvm::enumerate(op.getYield().getValues())) {
    Value value = yielded;
    bool isState = i < op.getNumStates();
    if (i == 0 && start != op.getStateArgument(0)) // written values first
      value = value.getDefiningOp<linalg::TransposeOp>().getInput();
    Value tile = isState ? stateOf(value) : tokens.get(value, -1, Along::value);
    if (!tile)
      return failure();
    (isState ? next : outputs).push_back(tile);
  }
  return next;
}
