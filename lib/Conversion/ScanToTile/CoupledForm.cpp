//===- CoupledForm.cpp - Several states over a mini-batch -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CoupledForm.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace prism;

CoupledForm::CoupledForm(TileBuilder &tb, TokenTiles &tokens,
                         scan::RecurrenceOp op, int64_t chunk)
    : tb(tb), tokens(tokens), op(op), chunk(chunk),
      count(op.getNumStates() + op.getNumEntryStates()) {
  one = tb.constant(tb.vector(chunk), 1.0);
  zero = tb.constant(tb.vector(chunk), 0.0);
  for (unsigned i = 0; i < count; ++i)
    sums[op.getStepBlock()->getArgument(i)].states[i] = one;
}

//===----------------------------------------------------------------------===//
// Sums of states and writers
//===----------------------------------------------------------------------===//

Value CoupledForm::multiply(Value a, Value b) {
  if (a == one)
    return b;
  return b == one ? a : tb.mul(a, b);
}

CoupledForm::Sum CoupledForm::scaled(const Sum &sum, Value factor) {
  Sum result = sum;
  for (Coefficients *part : {&result.states, &result.writers})
    for (auto &[index, coefficient] : *part)
      coefficient = multiply(coefficient, factor);
  return result;
}

CoupledForm::Sum CoupledForm::added(const Sum &a, const Sum &b, bool subtract) {
  Sum result = a;
  for (auto [to, from] : {std::pair(&result.states, &b.states),
                          std::pair(&result.writers, &b.writers)})
    for (auto [index, coefficient] : *from) {
      Value &sum = (*to)[index];
      if (!sum)
        sum = subtract ? tb.neg(coefficient) : coefficient;
      else
        sum = subtract ? tb.sub(sum, coefficient) : tb.add(sum, coefficient);
    }
  return result;
}

/// The sum of a state value; null, with a diagnostic, if it has none.
const CoupledForm::Sum *CoupledForm::sumOf(Value state, Operation *user) {
  auto found = sums.find(state);
  if (found != sums.end())
    return &found->second;
  Operation *place = state.getDefiningOp() ? state.getDefiningOp() : user;
  place->emitError("'") << place->getName()
                        << "' makes a state in a way that mini-batches do not "
                           "take: expected a state factor, or arith.addf, "
                           "subf, negf or mulf by one number of states";
  return nullptr;
}

/// The number that a tensor repeats, as a vector of the chunk's tokens; null if
/// it is no such tensor.
Value CoupledForm::factorOf(Value tensor) {
  if (auto splat = tensor.getDefiningOp<tensor::SplatOp>())
    return tokens.getInert(splat.getInput(), -1, Along::none);
  DenseElementsAttr constant;
  if (matchPattern(tensor, m_Constant(&constant)) && constant.isSplat() &&
      isa<FloatType>(constant.getElementType()))
    return tb.constant(tb.vector(chunk),
                       constant.getSplatValue<APFloat>().convertToDouble());
  return {};
}

/// Sums of states and multiples of them; other ops make no state.
void CoupledForm::addPlainOp(Operation *inner) {
  auto isState = [&](Value value) { return sums.contains(value); };
  if (inner->getNumResults() != 1 ||
      llvm::none_of(inner->getOperands(), isState))
    return;
  Value result = inner->getResult(0);
  if (isa<arith::AddFOp, arith::SubFOp>(inner) &&
      llvm::all_of(inner->getOperands(), isState)) {
    Sum sum = added(sums[inner->getOperand(0)], sums[inner->getOperand(1)],
                    isa<arith::SubFOp>(inner));
    sums[result] = std::move(sum);
  } else if (isa<arith::NegFOp>(inner)) {
    Sum sum =
        scaled(sums[inner->getOperand(0)], tb.constant(tb.vector(chunk), -1.0));
    sums[result] = std::move(sum);
  } else if (isa<arith::MulFOp>(inner)) {
    bool first = isState(inner->getOperand(0));
    Value factor = factorOf(inner->getOperand(first ? 1 : 0));
    if (factor) {
      Sum sum = scaled(sums[inner->getOperand(first ? 0 : 1)], factor);
      sums[result] = std::move(sum);
    }
  }
}

//===----------------------------------------------------------------------===//
// Contributions of factors
//===----------------------------------------------------------------------===//

void CoupledForm::addDecay(Value logGate, scan::DecayAlong along) {
  if (along != scan::DecayAlong::scalar) {
    factorAtHand->emitOpError("a decay along ")
        << scan::stringifyDecayAlong(along)
        << " has no form beside coupled states yet: they take one number for "
           "the whole state";
    failedOnce = true;
    return;
  }
  Value gate = tokens.getInert(logGate, -1, Along::none);
  failedOnce |= !gate;
  if (gate)
    current = scaled(current, tb.exp(gate));
}

void CoupledForm::write(Value key, int64_t rank, Value values) {
  Value tile = tokens.getInert(key, rank, Along::key);
  failedOnce |= !tile;
  current.writers[writers.size()] = one;
  writers.push_back({key, tile, values, rank});
}

/// What keys read of a state that does not change within the mini-batch.
Value CoupledForm::readEntry(const Sum &seen, Value keys) {
  Value all;
  for (auto [state, coefficient] : seen.states) {
    Value part =
        tb.dot(keys, false, entering[state - op.getNumStates()], false);
    if (coefficient != one)
      part = tb.scaleRows(part, coefficient);
    all = all ? tb.add(all, part) : part;
  }
  return all;
}

/// Is it another one from step to step, by more than numbers?
bool CoupledForm::changes(const Sum &sum) {
  return !sum.writers.empty() ||
         llvm::any_of(sum.states, [&](const auto &state) {
           return state.first < op.getNumStates();
         });
}

void CoupledForm::addErase(Value of, Value read, Value write, Value strength) {
  const Sum *seen = sumOf(of, factorAtHand);
  if (!seen) {
    failedOnce = true;
    return;
  }
  if (changes(*seen)) {
    factorAtHand->emitOpError(
        "reads a state as it is within the mini-batch; beside "
        "coupled states an erase reads a state at the "
        "mini-batch's entry");
    failedOnce = true;
    return;
  }
  auto type = cast<RankedTensorType>(read.getType());
  bool ranked = type.getRank() == 2;
  for (int64_t r = 0, e = ranked ? type.getDimSize(0) : 1; r < e; ++r) {
    int64_t rank = ranked ? r : -1;
    Value keys = tokens.getInert(read, rank, Along::key);
    Value strengths = tokens.getInert(strength, rank, Along::none);
    failedOnce |= !keys || !strengths;
    if (failedOnce)
      return;
    this->write(write, rank,
                tb.neg(tb.scaleRows(readEntry(*seen, keys), strengths)));
  }
}

void CoupledForm::addInject(Value key, Value value, Value scale) {
  auto type = cast<RankedTensorType>(key.getType());
  bool ranked = type.getRank() == 2;
  for (int64_t r = 0, e = ranked ? type.getDimSize(0) : 1; r < e; ++r) {
    int64_t rank = ranked ? r : -1;
    Value values = tokens.getInert(value, rank, Along::value);
    Value scales = scale ? tokens.getInert(scale, rank, Along::none) : Value();
    failedOnce |= !values || (scale && !scales);
    if (failedOnce)
      return;
    write(key, rank, scale ? tb.scaleRows(values, scales) : values);
  }
}

/// What is read of a state at the entry is known before all else: coefficients
/// may be computed from it.
LogicalResult CoupledForm::addRead(scan::ReadOp read) {
  const Sum *seen = sumOf(read.getState(), read);
  if (!seen)
    return failure();
  if (changes(*seen))
    return success();
  Value query = tokens.get(read.getQuery(), -1, Along::key);
  if (!query)
    return failure();
  tokens.define(read.getResult(), withScale(read, readEntry(*seen, query)));
  return success();
}

LogicalResult CoupledForm::collect() {
  for (Operation &inner : op.getStepBlock()->without_terminator()) {
    auto factor = dyn_cast<scan::StateOpInterface>(inner);
    if (auto read = dyn_cast<scan::ReadOp>(inner)) {
      if (failed(addRead(read)))
        return failure();
      continue;
    }
    if (!factor) {
      addPlainOp(&inner);
      continue;
    }
    const Sum *before = sumOf(factor.getStateOperand().get(), &inner);
    if (!before)
      return failure();
    factorAtHand = &inner;
    current = *before;
    factor.contributeToChunk(*this);
    if (failedOnce)
      return failure();
    sums[factor.getStateResult()] = current;
  }
  for (Value state : op.getYield().getValues().take_front(op.getNumStates()))
    if (!sumOf(state, op.getYield()))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// The system
//===----------------------------------------------------------------------===//

/// The sums of states that are carried or, other from token to token, read.
SmallVector<CoupledForm::Sum *> CoupledForm::rowsThatMatter() {
  SmallVector<Sum *> rows;
  auto see = [&](Value state) {
    if (auto found = sums.find(state); found != sums.end())
      rows.push_back(&found->second);
  };
  for (Value state : op.getYield().getValues().take_front(op.getNumStates()))
    see(state);
  for (auto read : op.getStepBlock()->getOps<scan::ReadOp>())
    if (changes(sums[read.getState()]))
      see(read.getState());
  return rows;
}

/// Writers of one key that no state that is read or carried tells apart are
/// one: their values are added.
void CoupledForm::mergeWriters() {
  SmallVector<Sum *> seen = rowsThatMatter();
  for (unsigned later = 0; later < writers.size(); ++later)
    for (unsigned first = 0; first < later; ++first) {
      bool same =
          writers[first].values && writers[later].values &&
          writers[first].key == writers[later].key &&
          writers[first].rank == writers[later].rank &&
          llvm::all_of(seen, [&](Sum *sum) {
            return sum->writers.lookup(first) == sum->writers.lookup(later);
          });
      if (!same)
        continue;
      writers[first].values =
          tb.add(writers[first].values, writers[later].values);
      writers[later].values = {};
      for (Sum *sum : seen)
        sum->writers.erase(later);
    }
}

/// The coefficients of the next states. On rows past the sequence's end every
/// state stays as it is.
void CoupledForm::emitTransition() {
  Value inside = tokens.inside(one), outside = tb.sub(one, inside);
  ValueRange yielded = op.getYield().getValues();
  for (unsigned i = 0; i < count; ++i) {
    bool carried = i < op.getNumStates();
    next.push_back(
        sums[carried ? yielded[i] : op.getStepBlock()->getArgument(i)]);
    if (!carried)
      continue;
    for (auto &[state, coefficient] : next[i].states)
      if (coefficient != one || state != i)
        coefficient = multiply(coefficient, inside);
    Value &own = next[i].states[i];
    if (own != one)
      own = own ? tb.add(own, outside) : outside;
  }
  SmallVector<Sum *> rows = rowsThatMatter();
  for (unsigned i = 0; i < count; ++i)
    if (i < op.getNumStates() ||
        llvm::any_of(rows, [&](Sum *row) { return row->states.contains(i); }))
      active.push_back(i);
  for (unsigned i : active)
    llvm::append_range(transition, listed(next[i].states));
  reachable.assign(count * count, false);
  for (unsigned i = 0; i < count; ++i) {
    reachable[i * count + i] = true;
    for (auto [state, coefficient] : next[i].states)
      reachable[i * count + state] = true;
  }
  for (unsigned by = 0; by < count; ++by)
    for (unsigned i = 0; i < count; ++i)
      for (unsigned j = 0; j < count; ++j)
        reachable[i * count + j] |=
            reachable[i * count + by] && reachable[by * count + j];
}

SmallVector<Value> CoupledForm::listed(const Coefficients &coefficients) {
  return llvm::map_to_vector(active, [&](unsigned i) {
    Value coefficient = coefficients.lookup(i);
    return coefficient ? coefficient : zero;
  });
}

/// Does some state of `from` flow into some of `to`?
bool CoupledForm::reaches(const Coefficients &from,
                          const Coefficients &to) const {
  return llvm::any_of(to, [&](const auto &late) {
    return llvm::any_of(from, [&](const auto &early) {
      return reachable[late.first * count + early.first];
    });
  });
}

/// What a row sees of a state that enters, for each token; null if nothing. It
/// enters as the state and as the one at the entry.
Value CoupledForm::entryResponse(const Sum &row, unsigned state) {
  Value sum;
  for (unsigned e = state; e < count; e += op.getNumStates()) {
    Coefficients from;
    from[e] = one;
    if (!reaches(from, row.states))
      continue;
    Value response = tb.create<tile::InitialResponseOp>(
        tb.vector(chunk), transition, listed(row.states),
        llvm::find(active, e) - active.begin());
    sum = sum ? tb.add(sum, response) : response;
  }
  return sum;
}

/// What a row sees of a writer, tokens by tokens; null if nothing.
Value CoupledForm::response(const Sum &row, unsigned writer) {
  Coefficients from;
  for (auto [i, sum] : llvm::enumerate(next))
    if (Value coefficient = sum.writers.lookup(writer))
      from[i] = coefficient;
  Value direct = row.writers.lookup(writer);
  if (!writers[writer].values || (!direct && !reaches(from, row.states)))
    return {};
  return tb.create<tile::ImpulseResponseOp>(tb.matrix(chunk, chunk), transition,
                                            listed(row.states), listed(from),
                                            direct ? direct : zero);
}

//===----------------------------------------------------------------------===//
// Reads, and the states that leave
//===----------------------------------------------------------------------===//

Value CoupledForm::emitRead(scan::ReadOp read) {
  const Sum *found = sumOf(read.getState(), read);
  if (!found)
    return {};
  // A carried state's row is the one that the transition has: one response.
  const Sum *row = found;
  for (auto [i, state] :
       llvm::enumerate(op.getYield().getValues().take_front(op.getNumStates())))
    if (state == read.getState())
      row = &next[i];
  Value query = tokens.get(read.getQuery(), -1, Along::key);
  if (!query)
    return {};
  Value out;
  for (unsigned e = 0; e < op.getNumStates(); ++e)
    if (Value kept = entryResponse(*row, e)) {
      Value part = tb.scaleRows(tb.dot(query, false, entering[e], false), kept);
      out = out ? tb.add(out, part) : part;
    }
  for (unsigned w = 0; w < writers.size(); ++w) {
    Value seen = response(*row, w);
    if (!seen)
      continue;
    Value scores = tb.mul(tb.dot(query, false, writers[w].keyTile, true), seen);
    out = tb.dot(scores, false, writers[w].values, false, out);
  }
  return withScale(read, out);
}

Value CoupledForm::withScale(scan::ReadOp read, Value out) {
  double scale = read.getScale().convertToDouble();
  if (scale == 1.0)
    return out;
  return tb.mul(out, tb.constant(cast<RankedTensorType>(out.getType()), scale));
}

Value CoupledForm::leave(unsigned state) {
  int64_t keys =
      cast<RankedTensorType>(entering[state].getType()).getDimSize(0);
  Value left;
  for (unsigned e = 0; e < op.getNumStates(); ++e)
    if (Value kept = entryResponse(next[state], e)) {
      Value part = tb.scaleRows(entering[e], tb.splatLast(kept, keys));
      left = left ? tb.add(left, part) : part;
    }
  for (unsigned w = 0; w < writers.size(); ++w) {
    Value seen = response(next[state], w);
    if (!seen)
      continue;
    Value last = tb.create<tile::LastRowOp>(tb.vector(chunk), seen);
    left = tb.dot(tb.scaleRows(writers[w].keyTile, last), true,
                  writers[w].values, false, left);
  }
  return left;
}

FailureOr<SmallVector<Value>>
CoupledForm::emit(ValueRange states, SmallVectorImpl<Value> &outputs) {
  entering.assign(states.begin(), states.end());
  if (failed(collect()))
    return failure();
  mergeWriters();
  emitTransition();
  for (auto read : op.getStepBlock()->getOps<scan::ReadOp>()) {
    if (!changes(sums[read.getState()])) // known already
      continue;
    Value out = emitRead(read);
    if (!out)
      return failure();
    tokens.define(read.getResult(), out);
  }
  for (Value value : op.getYield().getValues().drop_front(op.getNumStates())) {
    Value out = tokens.get(value, -1, Along::value);
    if (!out)
      return failure();
    outputs.push_back(out);
  }
  SmallVector<Value> leaving;
  for (unsigned i = 0; i < op.getNumStates(); ++i)
    leaving.push_back(leave(i));
  return leaving;
}
