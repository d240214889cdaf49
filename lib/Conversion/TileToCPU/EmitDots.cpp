//===- EmitDots.cpp - Dots, triangular solves, transposes -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace prism;
using namespace prism::tiletocpu;

/// What masks a dot's left side, if anything does.
static Mask maskOfLeft(tile::DotOp op) {
  return op.getTransposeLhs() || op.getM() == 1 ? Mask()
                                                : findMask(op.getLhs());
}

/// One dot on one register tile.
struct Emitter::DotTile {
  const RegisterTile &tile;
  bool transposed; // the left side
  Place lhs, rhs;
  Value lhsTile, rhsTile; // first elements under the tile
  int64_t unroll, sets;   // sets of accumulators, step by step in turn
  const Vectors *known;   // the right side, if it is in registers
};

/// `count` steps of the contraction from `k`: the vectors of one right-hand
/// row, times one broadcast per row of the tile, for the rows that `sees`
/// admits.
void Emitter::contract(const DotTile &dot, Value k, int64_t count, Vectors &acc,
                       llvm::function_ref<bool(int64_t, int64_t)> sees) {
  const RegisterTile &tile = dot.tile;
  const Place &lhs = dot.lhs, &rhs = dot.rhs;
  Type element = lhs.element;
  Value zero = c(0);
  Value rhsStep =
      at({dot.rhsTile, rhs.stride, rhs.dynamicStride, element}, k, zero);
  Value lhsStep =
      dot.transposed
          ? at({dot.lhsTile, lhs.stride, lhs.dynamicStride, element}, k, zero)
          : Value();
  for (int64_t u = 0; u < count; ++u) {
    Value row = rowPointer(rhs, rhsStep, u);
    SmallVector<Value> right;
    for (int64_t j = 0; j < tile.numVectors; ++j)
      right.push_back(dot.known ? (*dot.known)[u * tile.numVectors + j]
                                : loadVector(gep(row, element, j * tile.lanes),
                                             element, tile.lanes));
    int64_t set = u % dot.sets * tile.size();
    for (int64_t i = 0; i < tile.numRows; ++i) {
      if (sees && !sees(i, u))
        continue;
      Value pointer;
      if (dot.transposed) {
        pointer = gep(rowPointer(lhs, lhsStep, u), element, i);
      } else {
        Value start =
            lhs.dynamicStride ? rowPointer(lhs, dot.lhsTile, i) : dot.lhsTile;
        pointer = gep(gep(start, element, k), element,
                      u + (lhs.dynamicStride ? 0 : i * lhs.stride));
      }
      Value left = broadcast(loadScalar(pointer, element), tile.lanes);
      for (int64_t j = 0; j < tile.numVectors; ++j) {
        Value &a = acc[set + i * tile.numVectors + j];
        a = vector::FMAOp::create(b, left, right[j], a);
      }
    }
  }
}

/// The contraction with a left side that is masked. What a row does
/// not see is not multiplied by 0 but left out: it may be no number, and the
/// past must not know (nor is a masked element itself ever read; it is 0 times
/// a score that may be no number either). All rows of the tile see what was
/// written before the tile's first token; then each has an end of its own.
Vectors Emitter::contractMasked(const DotTile &dot, const Mask &mask,
                                Vectors acc) {
  const RegisterTile &tile = dot.tile;
  int64_t perRow = mask.perRow(), perColumn = mask.perColumn();
  Value token = perRow == 1
                    ? tile.row
                    : Value(arith::DivUIOp::create(b, tile.row, c(perRow)));
  Value shared = mul(token, c(perColumn));
  auto run = [&](Value from, Value to, int64_t unroll) {
    acc = loopCarrying(from, to, unroll, acc, [&](Value k, Vectors sums) {
      contract(dot, k, unroll, sums);
      return sums;
    });
  };
  int64_t tokens = llvm::divideCeil(tile.numRows, perRow);
  Value unrolled = shared;
  // Tiles start at multiples of their rows, all but the last one.
  bool whole = tile.numRows % perRow == 0 &&
               tile.numRows / perRow * perColumn % dot.unroll == 0;
  if (!whole)
    unrolled = arith::AndIOp::create(b, shared, c(-dot.unroll));
  run(c(0), unrolled, dot.unroll);
  if (!whole)
    run(unrolled, shared, 1);
  if (tile.numRows % perRow == 0) {
    contract(dot, shared, tokens * perColumn, acc, [&](int64_t i, int64_t u) {
      return u < i / perRow * perColumn + mask.ownSeen(i % perRow);
    });
    return acc;
  }
  // The tile starts within a token: where a row ends is known when it runs.
  Value lastToken =
      arith::DivUIOp::create(b, add(tile.row, tile.numRows - 1), c(perRow));
  Value end = mul(add(lastToken, 1), c(perColumn));
  return loopCarrying(shared, end, 1, acc, [&](Value k, Vectors before) {
    Vectors sums = before;
    contract(dot, k, 1, sums);
    for (int64_t i = 0; i < tile.numRows; ++i) {
      Value seen = less(k, seenColumns(mask, tile.row, i));
      for (int64_t j = 0; j < tile.numVectors; ++j) {
        int64_t at = i * tile.numVectors + j;
        sums[at] = arith::SelectOp::create(b, seen, sums[at], before[at]);
      }
    }
    return sums;
  });
}

/// acc + lhs rhs on one register tile.
Vectors Emitter::evaluateDot(tile::DotOp op, const RegisterTile &tile) {
  Vectors accumulators = evaluate(op.getAcc(), tile);
  b.setLoc(op.getLoc());
  bool transposed = op.getTransposeLhs();
  Place lhs = placeOf(op.getLhs());
  Place rhs = op.getTransposeRhs() ? placeOf(plan.transposedOf(op.getRhs()))
                                   : placeOf(op.getRhs());
  Type element = lhs.element;
  int64_t depth = op.getK(), size = tile.size();
  // Few accumulators: several sets, so that a step need not wait for the last
  // one.
  int64_t sets =
      size >= 8 ? 1 : std::min<int64_t>(4, llvm::divideCeil(8, size));
  int64_t unroll = llvm::bit_floor<uint64_t>(
      std::min<int64_t>(depth, std::max<int64_t>(sets, size > 16 ? 2 : 4)));
  auto known = hoisted.find(op);
  if (known != hoisted.end())
    unroll = depth; // its right side is in registers, step by step
  sets = std::min(sets, unroll);
  for (int64_t s = 1; s < sets; ++s)
    accumulators.append(size, zeros(element, tile.lanes));

  DotTile dot{tile,
              transposed,
              lhs,
              rhs,
              transposed ? gep(lhs.pointer, element, tile.row)
                         : at(lhs, tile.row, c(0)),
              gep(rhs.pointer, element, tile.column),
              unroll,
              sets,
              known != hoisted.end() ? &known->second : nullptr};
  if (Mask mask = maskOfLeft(op)) {
    accumulators = contractMasked(dot, mask, accumulators);
  } else {
    int64_t whole = depth / unroll * unroll;
    accumulators = loopCarrying(c(0), c(whole), unroll, accumulators,
                                [&](Value k, Vectors acc) {
                                  contract(dot, k, unroll, acc);
                                  return acc;
                                });
    if (whole < depth)
      contract(dot, c(whole), depth - whole, accumulators);
  }
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
    needed += isRowDot(dot) || maskOfLeft(dot) ? 1000 : dot.getK() * numVectors;
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
void Emitter::substitute(
    Value coefficients, RankedTensorType type,
    llvm::function_ref<Vectors(const RegisterTile &)> rightSide,
    const Place &to) {
  Location loc = b.getLoc();
  Type element = type.getElementType();
  Place matrix = placeOf(coefficients);
  RegisterTile shape = shapeFor(type, true);
  bool wide = options.numRegisters >= 32;
  int64_t vectors = llvm::divideCeil(columnsOf(type), shape.lanes);
  shape.numVectors = std::min<int64_t>(2, vectors);
  shape.numRows = std::min<int64_t>(wide ? 8 : 4, rowsOf(type));
  forTiles(type, shape, [&](const RegisterTile &tile) {
    Vectors x = rightSide(tile);
    b.setLoc(loc);
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

void Emitter::emitSolve(tile::SolveOp op, const Place &to) {
  // Dots of the right-hand side run in tiles of their own shape.
  bool dots =
      plan.formOf(op.getRhs()) == Form::lazy && plan.containsDot(op.getRhs());
  if (dots)
    materialize(op.getRhs(), to);
  b.setLoc(op.getLoc());
  substitute(
      op.getMatrix(), tileType(op.getResult()),
      [&](const RegisterTile &tile) {
        return dots ? readTile(to, tile) : evaluate(op.getRhs(), tile);
      },
      to);
}

/// The solve whose right-hand side is the unit matrix.
void Emitter::emitInvert(tile::InvertOp op, const Place &to) {
  RankedTensorType type = tileType(op.getResult());
  Type element = type.getElementType();
  auto unitRows = [&](const RegisterTile &tile) {
    Vectors rows;
    for (int64_t i = 0; i < tile.size(); ++i) {
      Value columns = laneIndices(
          add(tile.column, i % tile.numVectors * tile.lanes), tile.lanes);
      Value row = broadcast(add(tile.row, i / tile.numVectors), tile.lanes);
      Value isDiagonal =
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, columns, row);
      rows.push_back(arith::SelectOp::create(b, isDiagonal,
                                             splat(element, 1.0, tile.lanes),
                                             zeros(element, tile.lanes)));
    }
    return rows;
  };
  substitute(op.getMatrix(), type, unitRows, to);
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
