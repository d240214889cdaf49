//===- EmitDecays.cpp - Decays that differ from channel to channel --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A decayed dot walks down the rows as the recurrence does. Lanes are columns:
// for one channel a vector holds the right side's elements, each decayed from
// its own place to the row at hand. A row takes one multiplication to decay it
// and one to add left side times vector, so the walk costs two products where a
// plain dot has one, but only from the diagonal down, and it needs no
// exponential and no division: it is as exact as the steps themselves.
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"

using namespace mlir;
using namespace prism;
using namespace prism::tiletocpu;

/// A decayed dot, with all that does not depend on the tile.
struct Emitter::DecayedDot {
  Place lhs, to, right; // right: a row per channel, a column per column
  bool keepsRight;      // tiles follow that need what this one decayed
  Place running;        // where it is kept
  SmallVector<Place> decays;
  SmallVector<tile::ChainEvent> events;
  Mask mask;
  Type element;
  int64_t lanes, channels, tokensPerTile;
};

/// The rows of some tokens under one vector of columns. `masked`: some of these
/// columns are written by the tile's own tokens or later.
void Emitter::emitDecayedTile(const DecayedDot &dot, Value column, Value token,
                              bool masked) {
  int64_t perRow = dot.mask.perRow(), perColumn = dot.mask.perColumn(),
          n = dot.lanes;
  Type element = dot.element;
  // Which lanes are written at each event; an unwritten one is not touched.
  SmallVector<SmallVector<Value>> written(dot.tokensPerTile);
  if (masked) {
    Value lanes = laneIndices(column, n);
    for (int64_t i = 0; i < dot.tokensPerTile; ++i) {
      int64_t own = 0;
      for (const tile::ChainEvent &event : dot.events) {
        own += event.kind == tile::ChainEvent::write;
        Value count = add(mul(add(token, i), c(perColumn)), own);
        written[i].push_back(less(lanes, broadcast(count, n)));
      }
    }
  }
  Value firstRow = mul(token, c(perRow));
  auto walk = [&](Value channel, int64_t count, Vectors sums) {
    SmallVector<Value> right;
    for (int64_t u = 0; u < count; ++u)
      right.push_back(
          loadVector(at(dot.right, add(channel, u), c(0)), element, n));
    auto scalar = [&](const Place &place, Value first, int64_t row, int64_t u) {
      Value pointer = rowPointer(place, at(place, first, channel), row);
      return broadcast(loadScalar(gep(pointer, element, u), element), n);
    };
    for (int64_t i = 0; i < dot.tokensPerTile; ++i)
      for (auto [e, event] : llvm::enumerate(dot.events))
        for (int64_t u = 0; u < count; ++u) {
          if (event.kind == tile::ChainEvent::decay) {
            Value decayed = arith::MulFOp::create(
                b, right[u], scalar(dot.decays[event.index], token, i, u));
            right[u] = masked ? arith::SelectOp::create(b, written[i][e],
                                                        decayed, right[u])
                              : decayed;
          } else if (event.kind == tile::ChainEvent::read) {
            int64_t row = i * perRow + event.index;
            sums[row] = vector::FMAOp::create(
                b, scalar(dot.lhs, firstRow, row, u), right[u], sums[row]);
          }
        }
    if (dot.keepsRight)
      for (int64_t u = 0; u < count; ++u)
        storeValue(right[u], at(dot.running, add(channel, u), c(0)), element);
    return sums;
  };
  constexpr int64_t kUnroll = 4;
  int64_t whole = dot.channels / kUnroll * kUnroll;
  Vectors sums(dot.tokensPerTile * perRow, zeros(element, n));
  sums = loopCarrying(c(0), c(whole), kUnroll, sums,
                      [&](Value channel, Vectors carried) {
                        return walk(channel, kUnroll, carried);
                      });
  if (whole < dot.channels)
    sums = walk(c(whole), dot.channels - whole, sums);
  for (int64_t i = 0; i < dot.tokensPerTile; ++i)
    for (auto [e, event] : llvm::enumerate(dot.events)) {
      if (event.kind != tile::ChainEvent::read)
        continue;
      int64_t row = i * perRow + event.index;
      Value sum = sums[row];
      if (masked)
        sum = arith::SelectOp::create(b, written[i][e], sum, zeros(element, n));
      storeValue(sum, rowPointer(dot.to, at(dot.to, firstRow, column), row),
                 element);
    }
}

void Emitter::emitDecayedDot(tile::DecayedDotOp op, const Place &to) {
  RankedTensorType type = tileType(op.getResult());
  DecayedDot dot;
  dot.element = type.getElementType();
  dot.lanes = options.lanes(type.getElementTypeBitWidth());
  dot.channels = op.getChannels();
  dot.lhs = placeOf(op.getLhs());
  dot.to = to;
  for (Value decays : op.getDecays())
    dot.decays.push_back(placeOf(decays));
  dot.events = op.getEvents();
  dot.mask = {op.getRowOrder(), op.getColumnOrder()};
  dot.running = placeOf(plan.runningOf(op));
  // As many rows as accumulators fit: the largest part of the chunk that does.
  int64_t tokens = op.getTokens(), perRow = dot.mask.perRow(),
          perColumn = dot.mask.perColumn();
  int64_t most = std::max<int64_t>(1, options.numRegisters / 2 / perRow);
  dot.tokensPerTile = std::min(tokens, most);
  while (tokens % dot.tokensPerTile)
    --dot.tokensPerTile;
  dot.keepsRight = dot.tokensPerTile < tokens;

  Place columns = placeOf(plan.transposedOf(op.getRhs()));
  loop(0, columnsOf(type), dot.lanes, [&](Value column) {
    dot.right = columns;
    dot.right.pointer = at(columns, c(0), column);
    if (!dot.keepsRight)
      return emitDecayedTile(dot, column, c(0), /*masked=*/true);
    loop(0, dot.channels, 1, [&](Value channel) {
      storeValue(
          loadVector(at(dot.right, channel, c(0)), dot.element, dot.lanes),
          at(dot.running, channel, c(0)), dot.element);
    });
    dot.right = dot.running;
    // Tiles above the first column's token see nothing; those below the last
    // one's see all.
    auto tileOf = [&](Value token) {
      Value tile = arith::DivUIOp::create(b, token, c(dot.tokensPerTile));
      return mul(tile, c(dot.tokensPerTile));
    };
    Value first = tileOf(arith::DivUIOp::create(b, column, c(perColumn)));
    Value pastLast = arith::DivUIOp::create(
        b, add(column, dot.lanes + perColumn - 1), c(perColumn));
    Value below = minI(tileOf(add(pastLast, dot.tokensPerTile - 1)), c(tokens));
    loop(c(0), mul(first, c(perRow)), 1, [&](Value row) {
      storeValue(zeros(dot.element, dot.lanes), at(to, row, column),
                 dot.element);
    });
    loop(first, below, dot.tokensPerTile, [&](Value token) {
      emitDecayedTile(dot, column, token, /*masked=*/true);
    });
    loop(below, c(tokens), dot.tokensPerTile, [&](Value token) {
      emitDecayedTile(dot, column, token, /*masked=*/false);
    });
  });
}

void Emitter::emitDecayProduct(tile::DecayProductOp op, const Place &to) {
  RankedTensorType type = tileType(op.getResult());
  int64_t rows = rowsOf(type);
  RegisterTile shape = shapeFor(type, false);
  shape.numRows = 1;
  int64_t vectors = llvm::divideCeil(columnsOf(type), shape.lanes);
  int64_t full = vectors / shape.numVectors * shape.numVectors;
  auto panel = [&](Value column, int64_t numVectors) {
    Vectors ones(numVectors, splat(type.getElementType(), 1.0, shape.lanes));
    loopCarrying(c(0), c(rows), 1, ones, [&](Value i, Vectors product) {
      Value row =
          op.getReverse() ? arith::SubIOp::create(b, c(rows - 1), i) : i;
      RegisterTile tile{row, column, 1, numVectors, shape.lanes};
      Vectors decays = evaluate(op.getDecays(), tile), before = product;
      for (int64_t j = 0; j < numVectors; ++j)
        product[j] = arith::MulFOp::create(b, before[j], decays[j]);
      writeTile(to, tile, op.getExclusive() ? before : product);
      return product;
    });
  };
  loop(0, full * shape.lanes, shape.numVectors * shape.lanes,
       [&](Value column) { panel(column, shape.numVectors); });
  if (full < vectors)
    panel(c(full * shape.lanes), vectors - full);
}
