//===- ScalarDecays.cpp - Decays of the whole state, within a chunk -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ChunkDecays.h"

using namespace mlir;
using namespace prism;

PlaceOrder::PlaceOrder(std::initializer_list<ArrayRef<int64_t>> places) {
  for (ArrayRef<int64_t> some : places)
    llvm::append_range(all, some);
  llvm::sort(all);
  all.erase(llvm::unique(all), all.end());
}

SmallVector<int64_t> PlaceOrder::renumber(ArrayRef<int64_t> places) const {
  SmallVector<int64_t> numbered;
  for (int64_t place : places)
    numbered.push_back(llvm::find(all, place) - all.begin());
  return numbered;
}

namespace {

class ScalarDecays final : public ChunkDecays {
public:
  using ChunkDecays::ChunkDecays;
  LogicalResult emitGates() override;
  Value entering(const ChunkReader &reader, Value state) override;
  Value coupling(const ChunkReader &reader, const ChunkWriter &writer,
                 bool isSystem) override;
  Value stateAtEnd(Value state) override;
  Value keysAtEnd(const ChunkWriter &writer) override;

private:
  bool anyFrom(int64_t at) const;
  bool anyBefore(int64_t at) const;
  Value sumsAt(int64_t place);
  Value sumsAt(ArrayRef<int64_t> places);

  SmallVector<Value> gates; // floored f64 gates, one per decay
  Value total;              // inclusive sums of all gates of a token
  DenseMap<int64_t, Value> sumsByPlace;
};

} // namespace

bool ScalarDecays::anyFrom(int64_t at) const {
  return llvm::any_of(decays,
                      [&](const ChainDecay &d) { return d.place >= at; });
}
bool ScalarDecays::anyBefore(int64_t at) const {
  return llvm::any_of(decays,
                      [&](const ChainDecay &d) { return d.place < at; });
}

LogicalResult ScalarDecays::emitGates() {
  // exp(-1024) is 0 in f32 and in f64, so the floor drops all, exactly; in f64
  // it costs the gates after it no precision, and no infinity meets another.
  for (const ChainDecay &decay : decays) {
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
Value ScalarDecays::sumsAt(int64_t at) {
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

Value ScalarDecays::sumsAt(ArrayRef<int64_t> places) {
  return tb.interleave(llvm::map_to_vector(
      places, [&](int64_t place) { return sumsAt(place); }));
}

Value ScalarDecays::entering(const ChunkReader &reader, Value state) {
  Value seen = tb.dot(reader.keys, false, state, false);
  bool decayed = chunk > 1 ? !decays.empty()
                           : llvm::any_of(reader.order, [&](int64_t place) {
                               return anyBefore(place);
                             });
  return decayed ? tb.scaleRows(seen, tb.exp(tb.fromSums(sumsAt(reader.order))))
                 : seen;
}

Value ScalarDecays::coupling(const ChunkReader &reader,
                             const ChunkWriter &writer, bool isSystem) {
  Value products = tb.dot(reader.keys, false, writer.keys, true);
  Value rowSums = sumsAt(reader.order), columnSums = sumsAt(writer.order);
  // One token, one row each way, no gate in between: nothing decays or is
  // masked.
  if (chunk == 1 && reader.order.size() == 1 && writer.order.size() == 1 &&
      rowSums == columnSums)
    return products;
  SmallVector<int64_t> readers = placesOf(reader, writer, isSystem);
  PlaceOrder order{readers, writer.order};
  SmallVector<int64_t> rows = order.renumber(readers),
                       columns = order.renumber(writer.order);
  Value decay = tb.create<tile::DecayMatrixOp>(products.getType(), rowSums,
                                               columnSums, rows, columns);
  return tb.mul(products, decay);
}

Value ScalarDecays::stateAtEnd(Value state) {
  if (decays.empty())
    return state;
  return tb.scaleRows(state, tb.splatLast(tb.exp(tb.fromSums(total)), keys));
}

Value ScalarDecays::keysAtEnd(const ChunkWriter &writer) {
  bool decayed =
      chunk > 1 ? !decays.empty() : anyFrom(*llvm::min_element(writer.order));
  if (!decayed)
    return writer.keys;
  int64_t rows = chunk * writer.order.size();
  Value rest = tb.sub(tb.splatLast(total, rows), sumsAt(writer.order));
  return tb.scaleRows(writer.keys, tb.exp(tb.fromSums(rest)));
}

std::unique_ptr<ChunkDecays>
prism::makeScalarDecays(TileBuilder &tb, TokenTiles &tokens, int64_t chunk,
                        int64_t keys, ArrayRef<ChainDecay> decays) {
  return std::make_unique<ScalarDecays>(tb, tokens, chunk, keys, decays);
}
