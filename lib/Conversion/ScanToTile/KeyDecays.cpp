//===- KeyDecays.cpp - Decays per key, within a chunk ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every decay is a tile of factors, one row a token, one column a key; a gate
// of the whole state repeats along the keys. What lies between two places is a
// product of them. Source: GLA's and KDA's chunk forms, without their
// exponentials of differences.
//
//===----------------------------------------------------------------------===//

#include "ChunkDecays.h"

using namespace mlir;
using namespace prism;

namespace {

class KeyDecays final : public ChunkDecays {
public:
  using ChunkDecays::ChunkDecays;
  LogicalResult emitGates() override;
  Value entering(const ChunkReader &reader, Value state) override;
  Value coupling(const ChunkReader &reader, const ChunkWriter &writer,
                 bool isSystem) override;
  Value stateAtEnd(Value state) override;
  Value keysAtEnd(const ChunkWriter &writer) override;

private:
  RankedTensorType type() const { return tb.matrix(chunk, keys); }
  Value product(bool reverse, bool exclusive);
  Value within(Value start, llvm::function_ref<bool(int64_t)> isIncluded);
  Value beforeReader(int64_t place);
  Value afterWriter(int64_t place);

  SmallVector<Value> factors; // exp of the gates, one per decay
  Value total;                // products of all of a token's
  DenseMap<int64_t, Value> before, after;
};

} // namespace

LogicalResult KeyDecays::emitGates() {
  for (const ChainDecay &decay : decays) {
    bool perKey = decay.along == scan::DecayAlong::key;
    Value gate =
        tokens.getInert(decay.logGate, -1, perKey ? Along::key : Along::none);
    if (!gate)
      return failure();
    Value factor = tb.exp(gate);
    if (!perKey)
      factor = tb.create<tile::BroadcastOp>(type(), factor,
                                            /*along_rows=*/false);
    factors.push_back(factor);
    total = total ? tb.mul(total, factor) : factor;
  }
  return success();
}

Value KeyDecays::product(bool reverse, bool exclusive) {
  return tb.create<tile::DecayProductOp>(type(), total, reverse, exclusive);
}

/// `start` times those decays of a token whose places are included.
Value KeyDecays::within(Value start,
                        llvm::function_ref<bool(int64_t)> isIncluded) {
  for (auto [decay, factor] : llvm::zip(decays, factors))
    if (isIncluded(decay.place))
      start = tb.mul(start, factor);
  return start;
}

/// All decays from the chunk's start to a reader at this place.
Value KeyDecays::beforeReader(int64_t place) {
  Value &found = before[place];
  if (found)
    return found;
  auto passed = [&](int64_t decay) { return decay < place; };
  bool all = llvm::all_of(decays,
                          [&](const ChainDecay &d) { return passed(d.place); });
  return found = all ? product(/*reverse=*/false, /*exclusive=*/false)
                     : within(product(/*reverse=*/false, /*exclusive=*/true),
                              passed);
}

/// All decays from a writer at this place to the chunk's end.
Value KeyDecays::afterWriter(int64_t place) {
  Value &found = after[place];
  if (found)
    return found;
  auto follows = [&](int64_t decay) { return decay > place; };
  bool all = llvm::all_of(
      decays, [&](const ChainDecay &d) { return follows(d.place); });
  return found = all ? product(/*reverse=*/true, /*exclusive=*/false)
                     : within(product(/*reverse=*/true, /*exclusive=*/true),
                              follows);
}

Value KeyDecays::entering(const ChunkReader &reader, Value state) {
  Value factor = tb.interleave(llvm::map_to_vector(
      reader.order, [&](int64_t place) { return beforeReader(place); }));
  return tb.dot(tb.mul(reader.keys, factor), false, state, false);
}

Value KeyDecays::coupling(const ChunkReader &reader, const ChunkWriter &writer,
                          bool isSystem) {
  SmallVector<int64_t> places = llvm::map_to_vector(
      decays, [](const ChainDecay &decay) { return decay.place; });
  SmallVector<int64_t> readers = placesOf(reader, writer, isSystem);
  PlaceOrder order{readers, writer.order, places};
  RankedTensorType result =
      tb.matrix(chunk * readers.size(), chunk * writer.order.size());
  return tb.create<tile::DecayedDotOp>(
      result, reader.keys, writer.keys, factors, order.renumber(readers),
      order.renumber(writer.order), order.renumber(places));
}

Value KeyDecays::stateAtEnd(Value state) {
  Value all = product(/*reverse=*/false, /*exclusive=*/false);
  return tb.scaleRows(state, tb.create<tile::LastRowOp>(tb.vector(keys), all));
}

Value KeyDecays::keysAtEnd(const ChunkWriter &writer) {
  Value factor = tb.interleave(llvm::map_to_vector(
      writer.order, [&](int64_t place) { return afterWriter(place); }));
  return tb.mul(writer.keys, factor);
}

std::unique_ptr<ChunkDecays> prism::makeKeyDecays(TileBuilder &tb,
                                                  TokenTiles &tokens,
                                                  int64_t chunk, int64_t keys,
                                                  ArrayRef<ChainDecay> decays) {
  return std::make_unique<KeyDecays>(tb, tokens, chunk, keys, decays);
}
