//===- EmitDots.cpp - Dots, triangular solves, transposes -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace prism;
using namespace prism::tiletocpu;

/// Where the contraction may stop: at K, or, where a decay matrix masks the
/// left side, after the last column that a row of the tile sees.
Value Emitter::contractionEnd(tile::DotOp op, const RegisterTile &tile,
                              int64_t unroll) {
  int64_t whole = op.getK() / unroll * unroll;
  tile::DecayMatrixOp mask =
      op.getTransposeLhs() ? tile::DecayMatrixOp() : findMask(op.getLhs());
  if (!mask || op.getM() == 1)
    return c(whole);
  int64_t perRow = mask.getRowOrder().size(),
          perColumn = mask.getColumnOrder().size();
  Value last = add(tile.row, tile.numRows - 1);
  Value tokens = add(
      perRow == 1 ? last : Value(arith::DivUIOp::create(b, last, c(perRow))),
      1);
  Value end = mul(tokens, c(perColumn));
  Value rounded = arith::AndIOp::create(b, add(end, unroll - 1), c(-unroll));
  return minI(rounded, c(whole));
}

/// acc + lhs rhs on one register tile: per step of the contraction the vectors
/// of one right-hand row, times one broadcast per row of the tile.
Vectors Emitter::evaluateDot(tile::DotOp op, const RegisterTile &tile) {
  Vectors accumulators = evaluate(op.getAcc(), tile);
  b.setLoc(op.getLoc());
  int64_t depth = op.getK(), lanes = tile.lanes, size = tile.size();
  bool transposed = op.getTransposeLhs();
  Place lhs = placeOf(op.getLhs());
  Place rhs = op.getTransposeRhs() ? placeOf(plan.transposedOf(op.getRhs()))
                                   : placeOf(op.getRhs());
  Type element = lhs.element;
  // Few accumulators: several sets, so that a step need not wait for the last
  // one.
  int64_t sets =
      size >= 8 ? 1 : std::min<int64_t>(4, llvm::divideCeil(8, size));
  int64_t unroll = llvm::bit_floor<uint64_t>(
      std::min<int64_t>(depth, std::max<int64_t>(sets, size > 16 ? 2 : 4)));
  if (hoisted.contains(op))
    unroll = depth; // its right side is in registers, step by step
  sets = std::min(sets, unroll);
  for (int64_t s = 1; s < sets; ++s)
    accumulators.append(size, zeros(element, lanes));

  Value zero = c(0);
  SmallVector<Value> lhsRows;
  Value lhsTile = transposed ? gep(lhs.pointer, element, tile.row)
                             : at(lhs, tile.row, zero);
  if (!transposed)
    for (int64_t i = 0; i < tile.numRows; ++i)
      lhsRows.push_back(lhs.dynamicStride ? rowPointer(lhs, lhsTile, i)
                                          : lhsTile);
  Value rhsTile = gep(rhs.pointer, element, tile.column);

  auto known = hoisted.find(op);
  auto steps = [&](Value k, int64_t count, Vectors &acc) {
    Value rhsStep =
        at({rhsTile, rhs.stride, rhs.dynamicStride, element}, k, zero);
    Value lhsStep =
        transposed
            ? at({lhsTile, lhs.stride, lhs.dynamicStride, element}, k, zero)
            : Value();
    for (int64_t u = 0; u < count; ++u) {
      Value row = rowPointer(rhs, rhsStep, u);
      SmallVector<Value> right;
      for (int64_t j = 0; j < tile.numVectors; ++j)
        right.push_back(
            known != hoisted.end()
                ? known->second[u * tile.numVectors + j]
                : loadVector(gep(row, element, j * lanes), element, lanes));
      int64_t set = u % sets * size;
      for (int64_t i = 0; i < tile.numRows; ++i) {
        Value pointer;
        if (transposed)
          pointer = gep(rowPointer(lhs, lhsStep, u), element, i);
        else
          pointer = gep(gep(lhsRows[i], element, k), element,
                        u + (lhs.dynamicStride ? 0 : i * lhs.stride));
        Value left = broadcast(loadScalar(pointer, element), lanes);
        for (int64_t j = 0; j < tile.numVectors; ++j) {
          Value &a = acc[set + i * tile.numVectors + j];
          a = vector::FMAOp::create(b, left, right[j], a);
        }
      }
    }
  };
  accumulators = loopCarrying(zero, contractionEnd(op, tile, unroll), unroll,
                              accumulators, [&](Value k, Vectors acc) {
                                steps(k, unroll, acc);
                                return acc;
                              });
  if (depth % unroll)
    steps(c(depth / unroll * unroll), depth % unroll, accumulators);
  for (int64_t s = 1; s < sets; ++s)
    for (int64_t i = 0; i < size; ++i)
      accumulators[i] =
          arith::AddFOp::create(b, accumulators[i], accumulators[s * size + i]);
  accumulators.resize(size);
  return accumulators;
}

/// The dots that evaluating `v` runs, but for those that fill buffers.
static void collectDots(Value v, const BufferPlan &plan, bool define,
                        SmallVectorImpl<tile::DotOp> &dots) {
  Operation *op = v.getDefiningOp();
  if (!op || !isTile(v) || (!define && plan.formOf(v) != Form::lazy))
    return;
  if (auto dot = dyn_cast<tile::DotOp>(op)) {
    dots.push_back(dot);
    return collectDots(dot.getAcc(), plan, false, dots);
  }
  for (Value operand : op->getOperands())
    collectDots(operand, plan, false, dots);
}

/// Outer products, that is dots so shallow that the right side of a panel stays
/// in registers while the rows go by.
bool Emitter::isOuterProduct(Value v, bool define, int64_t numVectors) const {
  SmallVector<tile::DotOp> dots;
  collectDots(v, plan, define, dots);
  int64_t needed = 0;
  for (tile::DotOp dot : dots)
    needed += isRowDot(dot) ? 1000 : dot.getK() * numVectors;
  return !dots.empty() && rowsOf(tileType(v)) > 4 &&
         needed <= options.numRegisters / 4;
}

void Emitter::hoistRightSides(Value v, bool define, const RegisterTile &tile) {
  hoisted.clear();
  SmallVector<tile::DotOp> dots;
  collectDots(v, plan, define, dots);
  for (tile::DotOp dot : dots) {
    RegisterTile all{c(0), tile.column, dot.getK(), tile.numVectors,
                     tile.lanes};
    hoisted[dot] = readTile(dot.getTransposeRhs()
                                ? placeOf(plan.transposedOf(dot.getRhs()))
                                : placeOf(dot.getRhs()),
                            all);
  }
}

/// Rows of both sides multiplied along the lanes, then summed across them.
Vectors Emitter::evaluateRowDot(tile::DotOp op, const RegisterTile &tile) {
  Vectors accumulators = evaluate(op.getAcc(), tile);
  b.setLoc(op.getLoc());
  Place lhs = placeOf(op.getLhs()), rhs = placeOf(op.getRhs());
  Type element = lhs.element;
  int64_t depth = op.getK(), lanes = tile.lanes, whole = depth / lanes * lanes;
  Value zero = c(0);
  auto tail = [&](Value vector) -> Value {
    Value mask = tailMask(c(depth - whole), lanes);
    return arith::SelectOp::create(b, mask, vector, zeros(element, lanes));
  };
  for (int64_t i = 0; i < tile.numRows; ++i) {
    Value left = at(lhs, add(tile.row, i), zero);
    for (int64_t n = 0; n < op.getN(); ++n) {
      Value right = at(rhs, c(n), zero);
      auto product = [&](Value k, Value acc, bool isTail) -> Value {
        Value x = loadVector(gep(left, element, k), element, lanes),
              y = loadVector(gep(right, element, k), element, lanes);
        return vector::FMAOp::create(b, isTail ? tail(x) : x,
                                     isTail ? tail(y) : y, acc);
      };
      Vectors sums =
          loopCarrying(zero, c(whole), lanes, {zeros(element, lanes)},
                       [&](Value k, Vectors acc) {
                         return Vectors{product(k, acc[0], false)};
                       });
      if (whole < depth)
        sums[0] = product(c(whole), sums[0], true);
      Value sum =
          vector::ReductionOp::create(b, vector::CombiningKind::ADD, sums[0],
                                      arith::FastMathFlags::reassoc);
      Value &acc = accumulators[i * tile.numVectors + n / lanes];
      Value isLane = arith::ConstantOp::create(
          b, DenseElementsAttr::get(vectorOf(b.getI1Type(), lanes), [&] {
            SmallVector<bool> bits(lanes, false);
            bits[n % lanes] = true;
            return bits;
          }()));
      Value added = arith::AddFOp::create(b, acc, broadcast(sum, lanes));
      acc = arith::SelectOp::create(b, isLane, added, acc);
    }
  }
  return accumulators;
}

/// Forward substitution by blocks of rows: what earlier blocks contribute, then
/// the block's own triangle, all in registers. Nothing on or above the diagonal
/// of the matrix is read.
void Emitter::emitSolve(tile::SolveOp op, const Place &to) {
  RankedTensorType type = tileType(op.getResult());
  Type element = type.getElementType();
  Place matrix = placeOf(op.getMatrix());
  RegisterTile shape = shapeFor(type, true);
  bool wide = options.numRegisters >= 32;
  int64_t vectors = llvm::divideCeil(columnsOf(type), shape.lanes);
  shape.numVectors = std::min<int64_t>(2, vectors);
  shape.numRows = std::min<int64_t>(wide ? 8 : 4, rowsOf(type));
  // Dots of the right-hand side run in tiles of their own shape.
  bool dots =
      plan.formOf(op.getRhs()) == Form::lazy && plan.containsDot(op.getRhs());
  if (dots)
    materialize(op.getRhs(), to);
  forTiles(type, shape, [&](const RegisterTile &tile) {
    Vectors x = dots ? readTile(to, tile) : evaluate(op.getRhs(), tile);
    b.setLoc(op.getLoc());
    Value block = at(matrix, tile.row, c(0));
    auto subtract = [&](Value coefficient, ValueRange row, int64_t i,
                        Vectors &acc) {
      Value factor =
          arith::NegFOp::create(b, broadcast(coefficient, tile.lanes));
      for (int64_t j = 0; j < tile.numVectors; ++j) {
        Value &a = acc[i * tile.numVectors + j];
        a = vector::FMAOp::create(b, factor, row[j], a);
      }
    };
    // Tiles start at multiples of numRows, a multiple of the unrolling.
    int64_t unroll = shape.numRows % 4 == 0 ? 4 : 1;
    x = loopCarrying(c(0), tile.row, unroll, x, [&](Value k, Vectors acc) {
      for (int64_t u = 0; u < unroll; ++u) {
        RegisterTile earlier = tile;
        earlier.row = add(k, u);
        earlier.numRows = 1;
        Vectors row = readTile(to, earlier);
        for (int64_t i = 0; i < tile.numRows; ++i)
          subtract(loadScalar(gep(gep(rowPointer(matrix, block, i), element, k),
                                  element, u),
                              element),
                   row, i, acc);
      }
      return acc;
    });
    Value diagonal = gep(block, element, tile.row);
    for (int64_t k = 0; k + 1 < tile.numRows; ++k) {
      SmallVector<Value> row(x.begin() + k * tile.numVectors,
                             x.begin() + (k + 1) * tile.numVectors);
      for (int64_t i = k + 1; i < tile.numRows; ++i)
        subtract(loadScalar(gep(rowPointer(matrix, diagonal, i), element, k),
                            element),
                 row, i, x);
    }
    writeTile(to, tile, x);
  });
}

//===----------------------------------------------------------------------===//
// Transposes
//===----------------------------------------------------------------------===//

/// Swaps the halves of row pairs, then the quarters, and so on: log2(n) rounds
/// of two-operand shuffles.
Vectors Emitter::transposeBlock(Vectors rows) {
  int64_t n = rows.size();
  for (int64_t s = n / 2; s >= 1; s /= 2) {
    SmallVector<int32_t> low, high;
    for (int64_t j = 0; j < n; ++j) {
      low.push_back(j & s ? n + j - s : j);
      high.push_back(j & s ? n + j : j + s);
    }
    for (int64_t i = 0; i < n; ++i) {
      if (i & s)
        continue;
      Value x = rows[i], y = rows[i + s];
      rows[i] = LLVM::ShuffleVectorOp::create(b, x, y, low);
      rows[i + s] = LLVM::ShuffleVectorOp::create(b, x, y, high);
    }
  }
  return rows;
}

/// Writes the transposed copy of a buffered matrix, in square blocks.
void Emitter::emitTranspose(Value v) {
  RankedTensorType type = tileType(v);
  Place from = placeOf(v), to = placeOf(plan.transposedOf(v));
  Type element = type.getElementType();
  int64_t n = options.lanes(element.getIntOrFloatBitWidth()),
          rows = rowsOf(type);
  auto block = [&](Value row, int64_t count, Value column) {
    RegisterTile source{row, column, count, 1, n};
    Vectors values = readTile(from, source);
    values.append(n - count, zeros(element, n));
    writeTile(to, {column, row, n, 1, n}, transposeBlock(values));
  };
  loop(0, columnsOf(type), n, [&](Value column) {
    loop(0, rows / n * n, n, [&](Value row) { block(row, n, column); });
    if (rows % n)
      block(c(rows / n * n), rows % n, column);
  });
}
