//===- DecayedDots.cpp - Dots whose channels decay on the way -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
//     result[r, c] = sum over d of lhs[r, d] rhs[c, d] w[r, c, d]
//
// for rows and columns of tokens, w the product of the decays between the two.
// Warp w has rows 16 w and the next 15, and multiplies them with its own and
// all earlier columns, which lie in shared memory (KeyDecays.cpp), by mma.sync.
//
// MILD chunks leave more than 2^-64 of each channel: rows times the decays
// since the chunk's beginning, columns times the reciprocal of theirs. What
// comes of columns after their row is not looked at.
//
// In all others columns are times the decays until their block of 16 ends; rows
// times those since theirs began, and times what the blocks between leave. The
// block of rows itself is no different where it leaves more than 2^-64 of each
// channel of a slab: from its end back to its beginning goes the reciprocal.
// Other slabs of it climb a ladder (DecayLadder.cpp), whose factors are
// products of consecutive decays: nothing overflows there, and what vanishes
// does so because the decay does.
//
//===----------------------------------------------------------------------===//

#include "DecayedDots.h"
#include "../TileOpKinds.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// log2 of what a block must leave of a channel for its reciprocal.
static constexpr double kLeastTotal = -64.0;

SmallVector<Value, 4> ComputeRole::packSlab(const SlabRegisters &slab) {
  SmallVector<Value, 4> pairs;
  for (int64_t r = 0; r < kRegistersOfSlab; r += 2)
    pairs.push_back(in.packPair(slab[r], slab[r + 1]));
  return pairs;
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// An inverse, with strengths or without, is written when it is sent.
static bool isInverse(Value tile) {
  if (auto scale = tile.getDefiningOp<ScaleColumnsOp>())
    tile = scale.getInput();
  return bool(tile.getDefiningOp<InvertOp>());
}

/// Lets columns lie where results of 64 columns will in a message, if these are
/// enough and nothing is written there before the last dot is done.
bool ComputeRole::placeInMessage(DecayedDotOp op) {
  auto dots = op->getBlock()->getOps<DecayedDotOp>();
  SmallVector<std::pair<arith::TruncFOp, Destination>> found;
  for (auto round : op->getBlock()->getOps<arith::TruncFOp>()) {
    Destination to = destinationOf(round.getResult());
    auto type = dyn_cast<RankedTensorType>(round.getType());
    bool isEarly =
        !isInverse(round.getIn()) && llvm::any_of(dots, [&](DecayedDotOp dot) {
          return round->isBeforeInBlock(dot);
        });
    if (to.send && type && type.getRank() == 2 && !isEarly &&
        type.getDimSize(0) == kRowsOfGroup &&
        type.getDimSize(1) == kSlabColumns && !isMadeOfProducts(round.getIn()))
      found.push_back({round, to});
  }
  size_t slabs = exchange.layout.slabs();
  if (slabs > 2 || found.size() < slabs)
    return false;
  Destination first = found[0].second, last = found[slabs - 1].second;
  Value channel = first.send.getChannel();
  if (last.send.getChannel() != channel)
    return false;
  ports.acquire(channel);
  exchange.memory = ports.part(channel, first.part);
  ArrayRef<int64_t> parts = plan.channels.at(channel).parts;
  exchange.apart = parts[last.part] - parts[first.part];
  for (auto [round, to] : ArrayRef(found).take_front(slabs))
    exchangeHolders.insert(round);
  return true;
}

/// Before results are written where columns of dots lie: all warps have read
/// these.
void ComputeRole::leaveMessage() {
  if (!exchangeHolders.empty())
    roleBarrier();
  exchangeHolders.clear();
}

/// The columns of a dot as its warps exchange them, to be written by slabs.
ComputeRole::SlabResult ComputeRole::exchangeOf(DecayedDotOp op) {
  Value columns = op.getRhs(), decays = op.getDecays().front();
  bool before = PlacesOfDot(op).columnSeesOwn;
  claimScratch();
  if (!exchange.memory) {
    exchange.kind = Matrix::Kind::Shared;
    exchange.layout = {kRowsOfGroup, int64_t(op.getChannels())};
    if (!placeInMessage(op))
      exchange.memory = scratch(exchange.layout.bytes(), 16);
  }
  exchanged = {columns, decays, before};
  exchangeIsThere = false;
  return {columns, exchange, [=](int64_t r) {
            Value column = registerOf(columns, r);
            if (decaying == Decaying::Strongly)
              return b.mul(column, untilAt(decays, r, before));
            Value inverse = leftAt(decays, r, before, /*inverse=*/true);
            if (decaying == Decaying::Somehow)
              inverse = b.select(keySumsOf(decays).isMild, inverse,
                                 untilAt(decays, r, before));
            return b.mul(column, inverse);
          }};
}

/// Columns of the block so many to the left, of the present slab: four 8 x 8
/// matrices.
SmallVector<Value> ComputeRole::exchangedColumns(int64_t back) {
  Matrix matrix = exchange;
  matrix.memory = in.advance(exchange.memory, -back * 16 * kSlabRowBytes);
  return readFourPairs(matrix, 0);
}

//===----------------------------------------------------------------------===//
// Rows of one warp
//===----------------------------------------------------------------------===//

/// Adds `rows` times the columns of a block.
void ComputeRole::multiplyBlock(ArrayRef<Value> rows, ArrayRef<Value> columns,
                                PairSums::Four (&sums)[2]) {
  for (int64_t i : {0, 1})
    sums[i] = PairSums::Four(
        in.multiplyWarp(sums[i], rows, {columns[i], columns[i + 2]}));
}

void ComputeRole::multiplyItself(DecayedDotOp op, const SlabRegisters &since,
                                 PairSums &sums) {
  Value decays = op.getDecays().front(), isStrong;
  Value least = b.real(b.getF32Type(), kLeastTotal);
  for (int64_t r : {0, 1, 4, 5}) {
    Value is = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT,
                                     totalOfGates(decays, r), least);
    isStrong = isStrong ? arith::OrIOp::create(b, isStrong, is) : is;
  }
  SmallVector<Value> unchanged = sums.all();
  SmallVector<Type> types(unchanged.size(), b.getF32Type());
  auto choice = scf::IfOp::create(b, types, in.anyLane(isStrong), true);
  auto outside = known;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  {
    PairSums climbed = sums;
    PlacesOfDot places(op);
    SlabRegisters rows = slabOf(op.getLhs()), columns = slabOf(op.getRhs()),
                  own;
    for (int64_t r = 0; r < kRegistersOfSlab; ++r) {
      own.push_back(in.exp2(
          b.sub(sumOfGates(decays, r, false), sumOfGates(decays, r, true))));
      Value row = places.rowSeesOwn ? b.mul(rows[r], own[r]) : rows[r];
      if (places.seesItself) {
        Value &sum = climbed.same[r / 2 % 2];
        sum = math::FmaOp::create(b, places.columnSeesOwn ? row : rows[r],
                                  columns[r], sum);
      }
      rows[r] = row;
      if (places.columnSeesOwn)
        columns[r] = b.mul(columns[r], own[r]);
    }
    climbLadder(own, rows, columns, climbed);
    scf::YieldOp::create(b, climbed.all());
  }
  known = outside;
  b.setInsertionPointToStart(choice.elseBlock());
  {
    PairSums multiplied = sums;
    SlabRegisters rows = since;
    Value zero = b.real(b.getF32Type(), 0.0);
    for (int64_t r = 0; r < kRegistersOfSlab; ++r)
      rows[r] = b.mul(rows[r], in.exp2(b.sub(zero, totalOfGates(decays, r))));
    multiplyBlock(packSlab(rows), exchangedColumns(0), multiplied.itself);
    scf::YieldOp::create(b, multiplied.all());
  }
  known = outside;
  sums = PairSums(choice.getResults());
}

//===----------------------------------------------------------------------===//
// Rows of different warps
//===----------------------------------------------------------------------===//

void ComputeRole::multiplyEarlier(DecayedDotOp op, const SlabRegisters &since,
                                  PairSums &sums) {
  Value decays = op.getDecays().front();
  for (int64_t back = 1; back < kWarpsOfGroup; ++back) {
    auto &left = sums.left[back - 1];
    SmallVector<Value> unchanged(left[0].begin(), left[0].end());
    unchanged.append(left[1].begin(), left[1].end());
    SmallVector<Type> types(unchanged.size(), b.getF32Type());
    auto choice = scf::IfOp::create(b, types, b.below(b.i32(back - 1), warp),
                                    /*withElseRegion=*/true);
    auto outside = known;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    SlabRegisters rows = since;
    if (back > 1)
      for (int64_t r = 0; r < kRegistersOfSlab; ++r) {
        Value between =
            b.sub(sumBefore(decays, r, 0), sumBefore(decays, r, 1 - back));
        rows[r] = b.mul(rows[r], in.exp2(between));
      }
    PairSums::Four sum[2] = {left[0], left[1]};
    multiplyBlock(packSlab(rows), exchangedColumns(back), sum);
    SmallVector<Value> changed(sum[0].begin(), sum[0].end());
    changed.append(sum[1].begin(), sum[1].end());
    scf::YieldOp::create(b, changed);
    known = outside;
    b.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(b, unchanged);
    ValueRange results = choice.getResults();
    left[0].assign(results.begin(), results.begin() + PairSums::kSums);
    left[1].assign(results.begin() + PairSums::kSums, results.end());
  }
}

//===----------------------------------------------------------------------===//
// Mild chunks
//===----------------------------------------------------------------------===//

/// A tile without the number that all of it is multiplied by, and that number.
static std::pair<Value, double> withoutFactor(Value tile) {
  if (auto times = tile.getDefiningOp<arith::MulFOp>())
    for (auto [factor, rest] : {std::pair(times.getLhs(), times.getRhs()),
                                std::pair(times.getRhs(), times.getLhs())}) {
      SplatElementsAttr number;
      if (matchPattern(factor, m_Constant(&number)))
        return {rest, number.getSplatValue<APFloat>().convertToDouble()};
    }
  return {tile, 1.0};
}

/// Where a dot's rows lie times their decays since the chunk's beginning, if
/// they are sent so, and what else they are times there; else null.
ComputeRole::SentRows ComputeRole::decayedRows(DecayedDotOp op) {
  for (Operation *made : madeBySlabs) {
    auto round = cast<arith::TruncFOp>(made);
    auto [tile, factor] = withoutFactor(round.getIn());
    auto times = tile.getDefiningOp<arith::MulFOp>();
    // Its reciprocal must be a number.
    if (!times || !(std::abs(factor) > 1e-30 && std::abs(factor) < 1e30))
      continue;
    for (auto [rows, decay] : {std::pair(times.getLhs(), times.getRhs()),
                               std::pair(times.getRhs(), times.getLhs())}) {
      auto product = decay.getDefiningOp<DecayProductOp>();
      if (product && rows == op.getLhs() && !product.getReverse() &&
          product.getDecays() == op.getDecays().front() &&
          product.getExclusive() != PlacesOfDot(op).rowSeesOwn)
        return {matrixOf(round.getResult()).memory, factor};
    }
  }
  return {};
}

/// Sums of the block itself, and of those to its left.
SmallVector<Value> ComputeRole::multiplyMild(DecayedDotOp op) {
  Value decays = op.getDecays().front(), zero = b.real(b.getF32Type(), 0.0);
  PlacesOfDot places(op);
  Matrix sent;
  sent.layout = {kRowsOfGroup, int64_t(op.getChannels())};
  auto [memory, factor] = decayedRows(op);
  sent.memory = memory;
  SmallVector<Value> start(kWarpsOfGroup * kRegistersOfSlab, zero);
  SmallVector<Value> sums =
      forEachSlab(op.getChannels(), start, [&](ValueRange arguments) {
        SmallVector<Value> rows;
        if (sent.memory) {
          rows = readFourPairs(sent, 0);
        } else {
          SlabRegisters slab = slabOf(op.getLhs());
          for (int64_t r = 0; r < kRegistersOfSlab; ++r)
            slab[r] =
                b.mul(b.mul(slab[r], sinceAt(decays, r, !places.rowSeesOwn)),
                      in.exp2(sumBefore(decays, r, 0)));
          rows = llvm::to_vector(packSlab(slab));
        }
        SmallVector<Value> all;
        for (int64_t back = 0; back < kWarpsOfGroup; ++back) {
          ValueRange before =
              arguments.slice(back * kRegistersOfSlab, kRegistersOfSlab);
          auto multiply = [&] {
            PairSums::Four sums[2];
            for (int64_t i : {0, 1})
              sums[i].assign(before.begin() + i * PairSums::kSums,
                             before.begin() + (i + 1) * PairSums::kSums);
            multiplyBlock(rows, exchangedColumns(back), sums);
            SmallVector<Value> after(sums[0].begin(), sums[0].end());
            after.append(sums[1].begin(), sums[1].end());
            return after;
          };
          if (back == 0) {
            all = multiply();
            continue;
          }
          auto choice = scf::IfOp::create(b, before.getTypes(),
                                          b.below(b.i32(back - 1), warp), true);
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToStart(choice.thenBlock());
          scf::YieldOp::create(b, multiply());
          b.setInsertionPointToStart(choice.elseBlock());
          scf::YieldOp::create(b, before);
          all.append(choice.getResults().begin(), choice.getResults().end());
        }
        return all;
      });
  if (factor != 1.0)
    for (Value &sum : sums)
      sum = b.mul(sum, b.real(b.getF32Type(), 1.0 / factor));
  return sums;
}

/// The same of any chunk.
SmallVector<Value> ComputeRole::multiplyAny(DecayedDotOp op) {
  PlacesOfDot places(op);
  Value decays = op.getDecays().front(), zero = b.real(b.getF32Type(), 0.0);
  SmallVector<Value> start(PairSums::kCount, zero);
  PairSums sums(forEachSlab(op.getChannels(), start, [&](ValueRange arguments) {
    PairSums sums(arguments);
    SlabRegisters since = slabOf(op.getLhs());
    for (int64_t r = 0; r < kRegistersOfSlab; ++r)
      since[r] = b.mul(since[r], sinceAt(decays, r, !places.rowSeesOwn));
    multiplyItself(op, since, sums);
    multiplyEarlier(op, since, sums);
    return sums.all();
  }));
  SmallVector<Value> registers(sums.itself[0].begin(), sums.itself[0].end());
  registers.append(sums.itself[1].begin(), sums.itself[1].end());
  registers = masked(registers, places.seesItself);
  for (auto [sum, climbed] :
       llvm::zip_equal(registers, sumsOfLadder(sums, places.seesItself)))
    sum = b.add(sum, climbed);
  for (auto &block : sums.left)
    for (PairSums::Four &four : block)
      registers.append(four.begin(), four.end());
  return registers;
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

/// Of the warp's diagonal block what its rows see.
SmallVector<Value> ComputeRole::masked(ArrayRef<Value> registers,
                                       bool seesItself) {
  Value zero = b.real(b.getF32Type(), 0.0);
  Accumulator block{kColumnsOfSlab};
  SmallVector<Value> result(registers);
  for (int64_t r = 0; r < kRegistersOfSlab; ++r) {
    Value row = b.add(b.divide(lane, 4),
                      b.i32(block.rowOf(r) + (seesItself ? 1 : 0))),
          column = b.add(b.mul(b.remainder(lane, 4), b.i32(2)),
                         b.i32(block.columnOf(r)));
    result[r] = b.select(b.below(column, row), result[r], zero);
  }
  return result;
}

void ComputeRole::emitDecayedDot(DecayedDotOp op) {
  PlacesOfDot places(op);
  Value decays = op.getDecays().front();
  Value isMild = keySumsOf(decays).isMild;
  if (!(exchanged == Exchanged{op.getRhs(), decays, places.columnSeesOwn})) {
    if (exchanged.columns)
      roleBarrier(); // the dot before has read them
    exchanged = {};
    makeSlabs(op);
  }
  if (!exchangeIsThere) {
    if (keySums.size() == 1)
      releaseOfMildChunks(op, isMild);
    roleBarrier();
  }
  exchangeIsThere = true;
  known.clear();
  sums.clear();
  for (Value operand : {op.getLhs(), op.getRhs()})
    settleBelow(operand);
  SmallVector<Type> types(kWarpsOfGroup * kRegistersOfSlab, b.getF32Type());
  auto choice = scf::IfOp::create(b, types, isMild, true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    scf::YieldOp::create(b, masked(multiplyMild(op), places.seesItself));
    b.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(b, multiplyAny(op));
  }
  // Blocks of columns, as a warp's registers have them.
  Value zero = b.real(b.getF32Type(), 0.0);
  SmallVector<Value> registers;
  for (int64_t block = 0; block < kWarpsOfGroup; ++block)
    for (int64_t r = 0; r < kRegistersOfSlab; ++r) {
      Value value = zero;
      for (int64_t number = block; number < kWarpsOfGroup; ++number)
        value = b.select(
            in.equals(warp, number),
            choice.getResult((number - block) * kRegistersOfSlab + r), value);
      registers.push_back(value);
    }
  define(op.getResult(), registers);
}
