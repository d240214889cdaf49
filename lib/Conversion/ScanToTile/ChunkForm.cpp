//===- ChunkForm.cpp - A chain of factors over a chunk of tokens ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ChunkForm.h"

using namespace mlir;
using namespace prism;

//===----------------------------------------------------------------------===//
// Contributions
//===----------------------------------------------------------------------===//

void ChunkForm::collect(ArrayRef<scan::StateOpInterface> chain, Value start,
                        Value enteredState, ArrayRef<scan::ReadOp> readOps) {
  entered = enteredState;
  states.push_back(start);
  for (scan::StateOpInterface factor : chain)
    states.push_back(factor.getStateResult());
  reads.assign(readOps.begin(), readOps.end());
  for (auto [i, element] : llvm::enumerate(chain)) {
    scan::StateOpInterface factor = element;
    place = i;
    factor.contributeToChunk(*this);
  }
  tieInjections();
}

void ChunkForm::addDecay(Value logGate, scan::DecayAlong along) {
  list.push_back({place, logGate, along});
}

void ChunkForm::addErase(Value of, Value read, Value write, Value strength) {
  int64_t readPlace = llvm::find(states, of) - states.begin();
  SmallVector<Erase> &list = of == entered ? anchored : erases;
  auto type = cast<RankedTensorType>(read.getType());
  if (type.getRank() == 1) {
    list.push_back({readPlace, place, -1, read, write, strength, {}, {}});
    return;
  }
  for (int64_t r = 0; r < type.getDimSize(0); ++r)
    list.push_back({readPlace, place, r, read, write, strength, {}, {}});
}

void ChunkForm::addInject(Value key, Value value, Value scale) {
  auto type = cast<RankedTensorType>(key.getType());
  if (type.getRank() == 1) {
    injects.push_back({place, -1, key, value, scale});
    return;
  }
  for (int64_t l = 0; l < type.getDimSize(0); ++l)
    injects.push_back({place, l, key, value, scale});
}

/// Does anything read a state s with afterPlace < s <= upToPlace, or decay
/// there?
bool ChunkForm::isObserved(int64_t afterPlace, int64_t upToPlace) const {
  auto inside = [&](int64_t at) { return at > afterPlace && at <= upToPlace; };
  return llvm::any_of(list,
                      [&](const ChainDecay &d) { return inside(d.place); }) ||
         llvm::any_of(erases,
                      [&](const Erase &e) { return inside(e.readPlace); }) ||
         llvm::any_of(reads, [&](scan::ReadOp read) {
           scan::ReadOp op = read;
           return inside(llvm::find(states, op.getState()) - states.begin());
         });
}

/// An injection along an erase's own write key, with nothing in between that
/// could tell the two apart, is one writer with it: no second dot.
void ChunkForm::tieInjections() {
  llvm::erase_if(injects, [&](const Inject &inject) {
    if (inject.rank >= 0)
      return false;
    for (Erase &erase : erases)
      if (erase.rank < 0 && !erase.tiedValue && erase.write == inject.key &&
          erase.writePlace < inject.place &&
          !isObserved(erase.writePlace, inject.place)) {
        erase.tiedValue = inject.value;
        erase.tiedScale = inject.scale;
        return true;
      }
    return false;
  });
}

bool ChunkForm::decaysKeys() const {
  return llvm::any_of(list, [](const ChainDecay &decay) {
    return decay.along == scan::DecayAlong::key;
  });
}

//===----------------------------------------------------------------------===//
// What readers see
//===----------------------------------------------------------------------===//

bool ChunkForm::sees(const ChunkReader &reader,
                     const ChunkWriter &writer) const {
  if (chunk > 1)
    return true;
  int64_t last = *llvm::max_element(reader.order),
          firstWrite = *llvm::min_element(writer.order);
  return firstWrite < last;
}

Value ChunkForm::addSeen(const ChunkReader &reader, const ChunkWriter &writer,
                         Value acc) {
  if (!sees(reader, writer))
    return acc;
  Value scores = decays->coupling(reader, writer, /*isSystem=*/false);
  return tb.dot(scores, false, writer.values, false, acc);
}

//===----------------------------------------------------------------------===//
// Writers
//===----------------------------------------------------------------------===//

LogicalResult ChunkForm::emitKnownWriters() {
  for (const Inject &inject : injects) {
    Value key = tokens.getInert(inject.key, inject.rank, Along::key);
    Value value = tokens.getInert(inject.value, inject.rank, Along::value);
    if (!key || !value)
      return failure();
    if (inject.scale) {
      Value scale = tokens.getInert(inject.scale, inject.rank, Along::none);
      if (!scale)
        return failure();
      value = tb.scaleRows(value, scale);
    }
    writers.push_back({key, value, {inject.place}});
  }
  return success();
}

/// Nothing in the chunk changes what these read: no system.
LogicalResult ChunkForm::emitAnchored(Value state) {
  for (const Erase &erase : anchored) {
    Value read = tokens.getInert(erase.read, erase.rank, Along::key);
    Value write = tokens.getInert(erase.write, erase.rank, Along::key);
    Value strength = tokens.getInert(erase.strength, erase.rank, Along::none);
    if (!read || !write || !strength)
      return failure();
    Value seen = tb.dot(read, false, state, false);
    writers.push_back(
        {write, tb.neg(tb.scaleRows(seen, strength)), {erase.writePlace}});
  }
  return success();
}

/// Stacks the erases and solves for what they write.
LogicalResult ChunkForm::emitErases(Value state) {
  if (erases.empty())
    return success();
  SmallVector<Value> readKeys, writeKeys, strengths, addends;
  ChunkReader reader;
  ChunkWriter writer;
  bool anyTied =
      llvm::any_of(erases, [](const Erase &e) { return bool(e.tiedValue); });
  // Each erase's tied injection has its strength: R = strength (v - seen).
  bool sharedStrength = llvm::all_of(erases, [](const Erase &e) {
    return e.rank < 0 && e.tiedValue && e.tiedScale == e.strength;
  });
  for (const Erase &erase : erases) {
    Value read = tokens.getInert(erase.read, erase.rank, Along::key);
    Value write = tokens.getInert(erase.write, erase.rank, Along::key);
    Value strength = tokens.getInert(erase.strength, erase.rank, Along::none);
    if (!read || !write || !strength)
      return failure();
    readKeys.push_back(read);
    writeKeys.push_back(write);
    strengths.push_back(strength);
    reader.order.push_back(erase.readPlace);
    writer.order.push_back(erase.writePlace);
    if (!anyTied)
      continue;
    Value addend = tb.constant(tb.matrix(chunk, valueBlock), 0.0);
    if (erase.tiedValue) {
      addend = tokens.getInert(erase.tiedValue, -1, Along::value);
      Value scale = erase.tiedScale
                        ? tokens.getInert(erase.tiedScale, -1, Along::none)
                        : Value();
      if (!addend || (erase.tiedScale && !scale))
        return failure();
      if (scale && !sharedStrength)
        addend = tb.scaleRows(addend, scale);
    }
    addends.push_back(addend);
  }
  reader.keys = tb.interleave(readKeys);
  writer.keys = tb.interleave(writeKeys);
  Value strength = tb.interleave(strengths);

  Value seen = decays->entering(reader, state);
  for (const ChunkWriter &known : writers)
    seen = addSeen(reader, known, seen);
  Value rhs;
  if (sharedStrength)
    rhs = tb.scaleRows(tb.sub(tb.interleave(addends), seen), strength);
  else if (anyTied)
    rhs = tb.sub(tb.interleave(addends), tb.scaleRows(seen, strength));
  else
    rhs = tb.neg(tb.scaleRows(seen, strength));

  writer.values = rhs;
  if (sees(reader, writer)) {
    Value system = tb.scaleRows(
        decays->coupling(reader, writer, /*isSystem=*/true), strength);
    writer.values = tb.create<tile::SolveOp>(rhs.getType(), system, rhs);
  }
  writers.push_back(writer);
  return success();
}

//===----------------------------------------------------------------------===//
// The whole chunk
//===----------------------------------------------------------------------===//

/// What is left of the state, and of all that was written.
Value ChunkForm::leave(Value state) {
  state = decays->stateAtEnd(state);
  SmallVector<Value> decayedKeys;
  for (const ChunkWriter &writer : writers)
    decayedKeys.push_back(decays->keysAtEnd(writer));
  // One token: all writers in one pass over the state.
  bool onePass = chunk == 1 && writers.size() > 1 &&
                 llvm::all_of(writers, [](const ChunkWriter &w) {
                   return w.order.size() == 1;
                 });
  if (onePass) {
    SmallVector<Value> values;
    for (const ChunkWriter &writer : writers)
      values.push_back(writer.values);
    return tb.dot(tb.interleave(decayedKeys), true, tb.interleave(values),
                  false, state);
  }
  for (auto [writer, key] : llvm::zip(writers, decayedKeys))
    state = tb.dot(key, true, writer.values, false, state);
  return state;
}

FailureOr<Value> ChunkForm::emit(Value state, SmallVectorImpl<Value> &outputs) {
  decays = decaysKeys() ? makeKeyDecays(tb, tokens, chunk, keys, list)
                        : makeScalarDecays(tb, tokens, chunk, keys, list);
  if (failed(decays->emitGates()) || failed(emitKnownWriters()) ||
      failed(emitAnchored(state)) || failed(emitErases(state)))
    return failure();
  for (scan::ReadOp read : reads) {
    int64_t at = llvm::find(states, read.getState()) - states.begin();
    Value query = tokens.get(read.getQuery(), -1, Along::key);
    if (!query)
      return failure();
    ChunkReader reader{query, {at}};
    bool before = entered && read.getState() == entered;
    Value out = before ? tb.dot(query, false, state, false)
                       : decays->entering(reader, state);
    for (const ChunkWriter &writer : writers)
      out = before ? out : addSeen(reader, writer, out);
    double scale = read.getScale().convertToDouble();
    if (scale != 1.0)
      out = tb.mul(out,
                   tb.constant(cast<RankedTensorType>(out.getType()), scale));
    outputs.push_back(out);
  }
  return leave(state);
}
