//===- ChunkForm.cpp - A chain of factors over a chunk of tokens ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ChunkForm.h"

using namespace mlir;
using namespace prism;

//===----------------------------------------------------------------------===//
// Contributions
//===----------------------------------------------------------------------===//

LogicalResult ChunkForm::collect(ArrayRef<scan::StateOpInterface> chain,
                                 Value start, ArrayRef<scan::ReadOp> readOps) {
  states.push_back(start);
  for (scan::StateOpInterface factor : chain)
    states.push_back(factor.getStateResult());
  reads.assign(readOps.begin(), readOps.end());
  for (auto [i, element] : llvm::enumerate(chain)) {
    scan::StateOpInterface factor = element;
    std::string reason;
    if (!factor.hasChunkForm(reason))
      return factor->emitOpError() << reason;
    place = i;
    factor.contributeToChunk(*this);
  }
  tieInjections();
  return success();
}

void ChunkForm::addDecay(Operation *, Value logGate, scan::DecayAlong) {
  decays.push_back({place, logGate});
}

void ChunkForm::addErase(Operation *, Value of, Value read, Value write,
                         Value strength) {
  int64_t readPlace = llvm::find(states, of) - states.begin();
  auto type = cast<RankedTensorType>(read.getType());
  if (type.getRank() == 1) {
    erases.push_back({readPlace, place, -1, read, write, strength, {}, {}});
    return;
  }
  for (int64_t r = 0; r < type.getDimSize(0); ++r)
    erases.push_back({readPlace, place, r, read, write, strength, {}, {}});
}

void ChunkForm::addInject(Operation *, Value key, Value value, Value scale) {
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
  return llvm::any_of(decays,
                      [&](const Decay &d) { return inside(d.place); }) ||
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

//===----------------------------------------------------------------------===//
// Gates
//===----------------------------------------------------------------------===//

bool ChunkForm::anyDecayFrom(int64_t at) const {
  return llvm::any_of(decays, [&](const Decay &d) { return d.place >= at; });
}
bool ChunkForm::anyDecayBefore(int64_t at) const {
  return llvm::any_of(decays, [&](const Decay &d) { return d.place < at; });
}

LogicalResult ChunkForm::emitGates() {
  // exp(-1024) is 0 in f32 and in f64, so the floor drops all, exactly; in f64
  // it costs the gates after it no precision, and no infinity meets another.
  for (const Decay &decay : decays) {
    Value gate = tokens.getInert(decay.logGate, -1, Along::none);
    if (!gate)
      return failure();
    if (!tb.compute.isF64())
      gate = tb.create<arith::ExtFOp>(tb.sums(chunk), gate);
    gates.push_back(tb.create<arith::MaximumFOp>(
        gate, tb.constant(tb.sums(chunk), -1024.0)));
  }
  if (gates.empty()) {
    total = tb.constant(tb.sums(chunk), 0.0);
    return success();
  }
  Value perToken = gates.front();
  for (Value gate : ArrayRef<Value>(gates).drop_front())
    perToken = tb.add(perToken, gate);
  total = chunk == 1
              ? perToken
              : Value(tb.create<tile::GateSumOp>(perToken.getType(), perToken));
  return success();
}

/// Sums of all gates up to the state after `at` factors of each token.
Value ChunkForm::sumsAt(int64_t at) {
  Value &sums = sumsByPlace[at];
  if (sums)
    return sums;
  sums = total;
  Value later;
  for (auto [decay, gate] : llvm::zip(decays, gates))
    if (decay.place >= at)
      later = later ? tb.add(later, gate) : gate;
  if (later)
    sums = tb.sub(total, later);
  return sums;
}

//===----------------------------------------------------------------------===//
// Couplings
//===----------------------------------------------------------------------===//

bool ChunkForm::sees(const Reader &reader, const Writer &writer) const {
  if (chunk > 1)
    return true;
  int64_t last = *llvm::max_element(reader.order),
          firstWrite = *llvm::min_element(writer.order);
  return firstWrite < last;
}

/// Places matter by their order alone: numbered anew from 0, equal relations
/// are equal attributes and one decay matrix. A solve does not read its
/// diagonal, so a system of one row a token may see it too: the same matrix as
/// the reads'. A read at a writer's place stands before the writer and must
/// not.
static std::pair<SmallVector<int64_t>, SmallVector<int64_t>>
ranks(ArrayRef<int64_t> readers, ArrayRef<int64_t> writers, bool anyDiagonal) {
  if (anyDiagonal && readers.size() == 1 && readers == writers)
    return {{1}, {0}};
  SmallVector<int64_t> all(readers);
  llvm::append_range(all, writers);
  llvm::sort(all);
  all.erase(llvm::unique(all), all.end());
  auto renumber = [&](ArrayRef<int64_t> places) {
    SmallVector<int64_t> numbered;
    for (int64_t place : places)
      numbered.push_back(llvm::find(all, place) - all.begin());
    return numbered;
  };
  return {renumber(readers), renumber(writers)};
}

/// exp(G_reader - G_writer) (reader keys)(writer keys)^T where seen, else 0.
Value ChunkForm::coupling(const Reader &reader, const Writer &writer,
                          bool isSystem) {
  Value products = tb.dot(reader.keys, false, writer.keys, true);
  // One token, one row each way, no gate in between: nothing decays or is
  // masked.
  if (chunk == 1 && reader.order.size() == 1 && writer.order.size() == 1 &&
      reader.sums == writer.sums)
    return products;
  auto [rows, columns] = ranks(reader.order, writer.order, isSystem);
  Value decay = tb.create<tile::DecayMatrixOp>(products.getType(), reader.sums,
                                               writer.sums, rows, columns);
  return tb.mul(products, decay);
}

Value ChunkForm::addSeen(const Reader &reader, const Writer &writer,
                         Value acc) {
  if (!sees(reader, writer))
    return acc;
  return tb.dot(coupling(reader, writer), false, writer.values, false, acc);
}

/// What a reader sees of the state that enters the chunk.
Value ChunkForm::entering(const Reader &reader, bool decayed, Value state) {
  Value seen = tb.dot(reader.keys, false, state, false);
  return decayed ? tb.scaleRows(seen, tb.exp(tb.fromSums(reader.sums))) : seen;
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
    writers.push_back({key, value, sumsAt(inject.place), {inject.place}});
  }
  return success();
}

/// Stacks the erases and solves for what they write.
LogicalResult ChunkForm::emitErases(Value state) {
  if (erases.empty())
    return success();
  SmallVector<Value> readKeys, writeKeys, strengths, readSums, writeSums,
      addends;
  Reader reader;
  Writer writer;
  bool anyTied =
      llvm::any_of(erases, [](const Erase &e) { return bool(e.tiedValue); });
  // One rank-1 erase whose tied injection has its strength: R = strength (v -
  // seen).
  bool sharedStrength = erases.size() == 1 && anyTied &&
                        erases[0].tiedScale == erases[0].strength;
  for (const Erase &erase : erases) {
    Value read = tokens.getInert(erase.read, erase.rank, Along::key);
    Value write = tokens.getInert(erase.write, erase.rank, Along::key);
    Value strength = tokens.getInert(erase.strength, erase.rank, Along::none);
    if (!read || !write || !strength)
      return failure();
    readKeys.push_back(read);
    writeKeys.push_back(write);
    strengths.push_back(strength);
    readSums.push_back(sumsAt(erase.readPlace));
    writeSums.push_back(sumsAt(erase.writePlace));
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
  reader.sums = tb.interleave(readSums);
  writer.keys = tb.interleave(writeKeys);
  writer.sums = tb.interleave(writeSums);
  Value strength = tb.interleave(strengths);

  bool decayed = llvm::any_of(erases, [&](const Erase &e) {
    return chunk > 1 ? !decays.empty() : anyDecayBefore(e.readPlace);
  });
  Value seen = entering(reader, decayed, state);
  for (const Writer &known : writers)
    seen = addSeen(reader, known, seen);
  Value rhs;
  if (sharedStrength)
    rhs = tb.scaleRows(tb.sub(addends.front(), seen), strength);
  else if (anyTied)
    rhs = tb.sub(tb.interleave(addends), tb.scaleRows(seen, strength));
  else
    rhs = tb.neg(tb.scaleRows(seen, strength));

  writer.values = rhs;
  if (sees(reader, writer)) {
    Value system =
        tb.scaleRows(coupling(reader, writer, /*isSystem=*/true), strength);
    writer.values = tb.create<tile::SolveOp>(rhs.getType(), system, rhs);
  }
  writers.push_back(writer);
  return success();
}

//===----------------------------------------------------------------------===//
// The whole chunk
//===----------------------------------------------------------------------===//

/// exp(G_C) state + sum over writers of (exp(G_C - G_w) keys_w)^T values_w.
Value ChunkForm::leave(Value state) {
  if (!decays.empty())
    state = tb.scaleRows(state, tb.splatLast(tb.exp(tb.fromSums(total)), keys));
  SmallVector<Value> decayedKeys;
  for (const Writer &writer : writers) {
    bool decayed = chunk > 1 ? !decays.empty()
                             : anyDecayFrom(*llvm::min_element(writer.order));
    if (!decayed) {
      decayedKeys.push_back(writer.keys);
      continue;
    }
    int64_t rows = chunk * writer.order.size();
    Value rest = tb.sub(tb.splatLast(total, rows), writer.sums);
    decayedKeys.push_back(tb.scaleRows(writer.keys, tb.exp(tb.fromSums(rest))));
  }
  // One token: all writers in one pass over the state.
  bool onePass = chunk == 1 && writers.size() > 1 &&
                 llvm::all_of(writers, [](const Writer &w) {
                   return w.order.size() == 1;
                 });
  if (onePass) {
    SmallVector<Value> values;
    for (const Writer &writer : writers)
      values.push_back(writer.values);
    return tb.dot(tb.interleave(decayedKeys), true, tb.interleave(values),
                  false, state);
  }
  for (auto [writer, key] : llvm::zip(writers, decayedKeys))
    state = tb.dot(key, true, writer.values, false, state);
  return state;
}

FailureOr<Value> ChunkForm::emit(Value state, SmallVectorImpl<Value> &outputs) {
  if (failed(emitGates()) || failed(emitKnownWriters()) ||
      failed(emitErases(state)))
    return failure();
  for (scan::ReadOp read : reads) {
    int64_t at = llvm::find(states, read.getState()) - states.begin();
    Value query = tokens.get(read.getQuery(), -1, Along::key);
    if (!query)
      return failure();
    Reader reader{query, sumsAt(at), {at}};
    Value out = entering(
        reader, chunk > 1 ? !decays.empty() : anyDecayBefore(at), state);
    for (const Writer &writer : writers)
      out = addSeen(reader, writer, out);
    double scale = read.getScale().convertToDouble();
    if (scale != 1.0)
      out = tb.mul(out,
                   tb.constant(cast<RankedTensorType>(out.getType()), scale));
    outputs.push_back(out);
  }
  return leave(state);
}
