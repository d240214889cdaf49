//===- Decays.cpp - Decay matrices, register by register ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An element is exp(G_r - G_c) where row r sees column c, else 0. Differences
// are formed of pairs of f32, and masked: those of unseen elements may be
// large.
//
// FACTORED. Of sums with themselves, row by row of 16 x 16 blocks: warp w holds
// rows 16 w and the next 15. To the left of its diagonal block
//
//     exp(G_r - G_c) = exp(G_r - G_16w) exp(G_16w - G_c),
//
// two factors that log-gates, never positive, leave at most 1: neither can be
// infinite, and one that vanishes does so because the product does. That takes
// one exponential for each row and column of the warp. Within the diagonal
// block each element has its own, masked; to the right all are 0.
//
//===----------------------------------------------------------------------===//

#include "../TileOpKinds.h"
#include "ComputeRole.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// What the columns of decays are scaled by, if nothing reads them otherwise.
static Value columnScaleOf(DecayMatrixOp op) {
  auto scale = op.getResult().hasOneUse()
                   ? dyn_cast<ScaleColumnsOp>(*op.getResult().user_begin())
                   : ScaleColumnsOp();
  return scale ? scale.getScale() : Value();
}

void ComputeRole::emitDecay(DecayMatrixOp op) {
  Matrix matrix;
  matrix.kind = Matrix::Kind::Decay;
  matrix.decay = op;
  matrix.shape = shapeOf(op.getResult());
  // With a scale, where that stands.
  if (!columnScaleOf(op))
    makeDecay(op);
  matrices[op.getResult()] = matrix;
}

void ComputeRole::makeDecay(DecayMatrixOp op) {
  if (isFactored(op))
    return emitFactors(op);
  copyForPowers(op.getRows());
  copyForPowers(op.getColumns());
}

Value ComputeRole::decayAt(DecayMatrixOp op, int64_t r) {
  auto factors = decayFactors.find(op);
  return factors == decayFactors.end() ? decayOfPairs(op, r)
                                       : decayOfFactors(factors->second, r);
}

/// The scale of a decay's columns, which is a part of its factors, if it has
/// some.
bool ComputeRole::emitScaleOfDecay(Operation *op) {
  auto scale = dyn_cast<ScaleColumnsOp>(op);
  auto decay =
      scale ? scale.getInput().getDefiningOp<DecayMatrixOp>() : DecayMatrixOp();
  if (!decay || !columnScaleOf(decay))
    return false;
  if (isMask(decay))
    emitMask(decay);
  else
    makeDecay(decay);
  if (!decayFactors.contains(decay))
    return false;
  Matrix matrix = matrixOf(decay.getResult());
  matrices[scale.getResult()] = matrix;
  return true;
}

//===----------------------------------------------------------------------===//
// Factored
//===----------------------------------------------------------------------===//

/// Rows and columns of one vector, a warp's blocks of 16 of each.
bool ComputeRole::isOfOneVector(DecayMatrixOp op) const {
  auto type = tensorType(op.getResult());
  return !chain && !op.getTransposed() && op.getRows() == op.getColumns() &&
         op.getRowOrder().size() == 1 && op.getColumnOrder().size() == 1 &&
         type.getDimSize(0) == kRowsOfGroup &&
         type.getDimSize(1) == kRowsOfGroup;
}

bool ComputeRole::isFactored(DecayMatrixOp op) const {
  return isOfOneVector(op) && !vectors.lookup(op.getRows()).neighbours.empty();
}

/// Whether there is no decay, and a scale that lies where all can read it.
bool ComputeRole::isMask(DecayMatrixOp op) const {
  return isOfOneVector(op) && isSplat(op.getRows()) &&
         vectors.lookup(columnScaleOf(op)).kind == Vector::Kind::Shared;
}

/// 2^((x - y) log2(e)).
Value ComputeRole::decayBetween(Element x, Element y) {
  Value difference = b.add(b.sub(x.value, y.value), b.sub(x.low, y.low));
  return in.exp2(b.mul(difference, b.real(b.getF32Type(), kLog2E)));
}

/// Of the sums of a warp's 16 rows, pairs of f32: that of one of the lane's two
/// rows, and those of two of its columns in the diagonal block.
Element ComputeRole::readRowSum(Value ofWarp, int64_t i) {
  Value row = b.add(b.divide(lane, 4), b.i32(8 * i));
  auto [high, low] = in.loadPair(in.advance(ofWarp, b.mul(row, b.i32(8))));
  return {high, low};
}

ElementPair ComputeRole::readColumnSums(Value ofWarp, int64_t j) {
  Value column = b.add(firstColumn(), b.i32(8 * j));
  Value pairs = in.load(VectorType::get({4}, b.getF32Type()),
                        in.advance(ofWarp, b.mul(column, b.i32(8))), 16);
  auto at = [&](int64_t i) -> Value {
    return LLVM::ExtractElementOp::create(b, pairs, b.i32(i));
  };
  return {Element{at(0), at(1)}, Element{at(2), at(3)}};
}

/// All of them, from where they lie.
OwnSums ComputeRole::readOwnSums(Value ofWarp) {
  OwnSums own;
  std::tie(own.border.value, own.border.low) = in.loadPair(ofWarp);
  for (int64_t i : {0, 1}) {
    own.rows[i] = readRowSum(ofWarp, i);
    own.columns[i] = readColumnSums(ofWarp, i);
  }
  return own;
}

/// Puts the sums of the warp's 16 rows there; it has all.
void ComputeRole::writeOwnSums(const Vector &vector, Value ofWarp) {
  Value ahead = b.sub(lane, b.mul(warp, b.i32(8)));
  auto isOwn = scf::IfOp::create(b, b.below(ahead, b.i32(8)));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(isOwn.thenBlock());
  elements.storeNeighbours(vector.neighbours, ahead, kRowsOfGroup, ofWarp);
}

/// What a warp needs of its columns it puts into scratch of its own, and of its
/// rows where it made the sums itself.
void ComputeRole::emitFactors(DecayMatrixOp op) {
  constexpr int64_t kColumnBytes = kRowsOfGroup * 4, kSumBytes = 16 * 8;
  Vector vector = vectors.lookup(op.getRows());
  int64_t bytes = kColumnBytes + (vector.own ? 0 : kSumBytes);
  Value mine =
      in.advance(scratch(kWarpsOfGroup * bytes, 16), b.mul(warp, b.i32(bytes)));
  Value ownSums = in.advance(mine, kColumnBytes);
  Value scale = columnScaleOf(op);
  if (scale)
    copyLeaves(scale);
  auto scaled = [&](Value factor, Value column) {
    return scale ? b.mul(factor, elementAt(scale, column).value) : factor;
  };
  Value firstLane = b.mul(warp, b.i32(8));
  Element border;
  if (vector.own)
    border = vector.own->border;
  else
    border = {in.shuffleFrom(vector.neighbours[0].value, firstLane),
              in.shuffleFrom(vector.neighbours[0].low, firstLane)};
  // This lane's two neighbours: columns to the left of the block, or in it.
  Type f32 = b.getF32Type();
  Value isLeft = b.below(lane, firstLane);
  Value factors = LLVM::UndefOp::create(b, VectorType::get({2}, f32));
  for (auto [p, sum] : llvm::enumerate(vector.neighbours)) {
    Value factor = scaled(decayBetween(border, sum),
                          b.add(b.mul(lane, b.i32(2)), b.i32(p)));
    factor = b.select(isLeft, factor, b.real(f32, 0.0));
    factors = LLVM::InsertElementOp::create(b, factors, factor, b.i32(p));
  }
  in.store(factors, in.advance(mine, b.mul(lane, b.i32(8))), 8);
  if (!vector.own)
    writeOwnSums(vector, ownSums);
  in.syncWarp();

  DecayFactors &made = decayFactors[op];
  made = {};
  made.columns = in.advance(mine, b.mul(firstColumn(), b.i32(4)));
  Element rows[2];
  for (int64_t i : {0, 1}) {
    rows[i] = vector.own ? vector.own->rows[i] : readRowSum(ownSums, i);
    made.rows[i] = decayBetween(rows[i], border);
  }
  ElementPair columns; // of 8
  makeDiagonal(op, made, [&](int64_t i, int64_t j, int64_t p) -> Value {
    if (i == j && p == 0)
      columns =
          vector.own ? vector.own->columns[j] : readColumnSums(ownSums, j);
    return scaled(
        decayBetween(rows[i], columns[p]),
        b.add(b.add(b.mul(warp, b.i32(16)), firstColumn()), b.i32(8 * j + p)));
  });
}

/// Without decays what a row sees of a column is its scale.
void ComputeRole::emitMask(DecayMatrixOp op) {
  Value memory = vectors.lookup(columnScaleOf(op)).memory;
  Value one = b.real(b.getF32Type(), 1.0);
  DecayFactors &made = decayFactors[op];
  made = {};
  made.rows[0] = made.rows[1] = one;
  made.columns = in.advance(memory, b.mul(firstColumn(), b.i32(4)));
  Value own = in.advance(made.columns, b.mul(warp, b.i32(16 * 4)));
  makeDiagonal(op, made, [&](int64_t, int64_t j, int64_t p) -> Value {
    return in.load(b.getF32Type(), in.advance(own, (8 * j + p) * 4), 4);
  });
}

/// The registers of the warp's diagonal block, of what a row would see of a
/// column: rows 8 i, columns 8 j + p further than the lane's first.
void ComputeRole::makeDiagonal(
    DecayMatrixOp op, DecayFactors &made,
    llvm::function_ref<Value(int64_t i, int64_t j, int64_t p)> factorAt) {
  Value zero = b.real(b.getF32Type(), 0.0);
  bool diagonal = op.getColumnOrder()[0] < op.getRowOrder()[0];
  Value ahead = b.sub(b.divide(lane, 4), firstColumn());
  for (int64_t j : {0, 1})
    for (int64_t i : {0, 1})
      for (int64_t p : {0, 1}) {
        if (i < j) { // above
          made.diagonal.push_back(zero);
          continue;
        }
        Value factor = factorAt(i, j, p);
        if (i == j) {
          Value seen =
              arith::CmpIOp::create(b, arith::CmpIPredicate::sge, ahead,
                                    b.i32(p + (diagonal ? 0 : 1)));
          factor = b.select(seen, factor, zero);
        }
        made.diagonal.push_back(factor);
      }
}

/// Whether a register belongs to none of what a warp's rows see.
bool ComputeRole::decayVanishes(DecayMatrixOp op, int64_t r) const {
  if (!knownWarp || !decayFactors.contains(op))
    return false;
  bool isAbove = r / 4 % 2 > r / 2 % 2; // in the diagonal block
  return r / 8 > *knownWarp || (r / 8 == *knownWarp && isAbove);
}

Value ComputeRole::decayOfFactors(DecayFactors &factors, int64_t r) {
  int64_t block = r / 8, within = r % 8;
  if (knownWarp == block)
    return factors.diagonal[within];
  Value left = b.real(b.getF32Type(), 0.0);
  if (block + 1 < kWarpsOfGroup) { // the last is left of none
    Value &pair = factors.columnPairs[r / 4];
    if (!pair)
      pair = in.load(VectorType::get({2}, b.getF32Type()),
                     in.advance(factors.columns, r / 4 * 32), 8);
    left = b.mul(factors.rows[r / 2 % 2],
                 LLVM::ExtractElementOp::create(b, pair, b.i32(r % 2)));
  }
  if (knownWarp)
    return left;
  return b.select(in.equals(warp, block), factors.diagonal[within], left);
}

//===----------------------------------------------------------------------===//
// Of two vectors, in any order of factors
//===----------------------------------------------------------------------===//

/// The place in the factor chain of row (or column) `position`.
static Value placeOf(ScalarBuilder &b, Value position,
                     ArrayRef<int64_t> order) {
  Value place = b.i32(order[0]), within = b.remainder(position, order.size());
  for (size_t i = 1; i < order.size(); ++i)
    place = b.select(
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, within, b.i32(i)),
        b.i32(order[i]), place);
  return place;
}

/// One end of a decay, for the op being emitted.
const ComputeRole::Sum &ComputeRole::sumAt(Value vector, bool isRow,
                                           int64_t offset,
                                           ArrayRef<int64_t> order) {
  // Rows and columns may be of one vector, and in the same order.
  Sum &sum = sums[{{vector, order.data()}, 2 * offset + isRow}];
  if (sum.high)
    return sum;
  Value position = b.add(isRow ? firstRow() : firstColumn(), b.i32(offset));
  std::tie(sum.high, sum.low) =
      in.loadPair(in.advance(copyForPowers(vector), b.mul(position, b.i32(8))));
  sum.token = b.divide(position, order.size());
  sum.place = placeOf(b, position, order);
  return sum;
}

/// Sums come as pairs of f32 that hold their product with log2(e): differences
/// of the pairs are exact enough, and cost no f64 arithmetic.
Value ComputeRole::decayOfPairs(DecayMatrixOp op, int64_t r) {
  Accumulator shape = shapeOf(op.getResult());
  bool isTransposed = op.getTransposed();
  int64_t offsets[2] = {shape.rowOf(r), shape.columnOf(r)};
  Sum row = sumAt(op.getRows(), !isTransposed, offsets[isTransposed],
                  op.getRowOrder());
  Sum column = sumAt(op.getColumns(), isTransposed, offsets[!isTransposed],
                     op.getColumnOrder());
  Value difference =
      b.add(b.sub(row.high, column.high), b.sub(row.low, column.low));
  Value zero = b.real(b.getF32Type(), 0.0);
  // A pair that is not seen may overflow; it is not looked at.
  Value factor = in.exp2(difference);
  if (!isTransposed && op.getRowOrder().size() == 1 &&
      op.getColumnOrder().size() == 1) {
    // Row - column of the lane's first element against constants.
    bool diagonal = op.getColumnOrder()[0] < op.getRowOrder()[0];
    Value ahead = arith::CmpIOp::create(
        b, arith::CmpIPredicate::sge, b.sub(firstRow(), firstColumn()),
        b.i32(shape.columnOf(r) - shape.rowOf(r) + (diagonal ? 0 : 1)));
    return b.select(ahead, factor, zero);
  }
  // A token that reads after all that it writes.
  if (*llvm::max_element(op.getColumnOrder()) <
      *llvm::min_element(op.getRowOrder())) {
    Value unseen = b.below(row.token, column.token);
    return b.select(unseen, zero, factor);
  }
  Value before = b.below(column.token, row.token);
  Value same = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, column.token,
                                     row.token);
  Value seen = arith::OrIOp::create(
      b, before, b.both(same, b.below(column.place, row.place)));
  return b.select(seen, factor, zero);
}
