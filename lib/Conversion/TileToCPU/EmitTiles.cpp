//===- EmitTiles.cpp - Register tiles and what is evaluated in them -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include <limits>

using namespace mlir;
using namespace prism;
using namespace prism::tiletocpu;

//===----------------------------------------------------------------------===//
// Shapes and loops
//===----------------------------------------------------------------------===//

/// The register tile for a value of this type. With dots, accumulators, the
/// vectors of one right-hand row and one broadcast must fit the registers:
/// 4 x 4 vectors (16 x 1, 8 x 2) of 32 registers, 4 x 2 of 16.
RegisterTile Emitter::shapeFor(RankedTensorType type, bool dots) const {
  int64_t lanes = options.lanes(type.getElementType().getIntOrFloatBitWidth());
  int64_t rows = rowsOf(type),
          vectors = llvm::divideCeil(columnsOf(type), lanes);
  bool wide = options.numRegisters >= 32;
  int64_t mostVectors = wide || rows == 1 || !dots ? 4 : 2;
  if (rows == 1)
    mostVectors = 8;
  // Split evenly: 5 vectors as 3 + 2 rather than 4 + 1.
  int64_t panels = llvm::divideCeil(vectors, mostVectors);
  int64_t numVectors = llvm::divideCeil(vectors, panels);
  int64_t numRows = 1;
  if (dots)
    numRows = wide ? (numVectors == 1   ? 16
                      : numVectors == 4 ? 4
                                        : 8)
                   : (numVectors == 1 ? 8 : 4);
  else if (numVectors == 1)
    numRows = 4;
  return {Value(), Value(), std::min(numRows, rows), numVectors, lanes};
}

/// Runs over row tiles of one panel, from the row `from` on (a multiple of the
/// tile's rows).
void Emitter::forRowTiles(RankedTensorType type, RegisterTile tile, Value from,
                          TileBody body) {
  int64_t rows = rowsOf(type), full = rows / tile.numRows * tile.numRows;
  loop(from, c(full), tile.numRows, [&](Value row) {
    RegisterTile current = tile;
    current.row = row;
    body(current);
  });
  if (full == rows)
    return;
  tile.row = c(full);
  tile.numRows = rows - full;
  body(tile);
}

void Emitter::forTiles(RankedTensorType type, RegisterTile tile, TileBody body,
                       TileBody atPanel) {
  int64_t vectors = llvm::divideCeil(columnsOf(type), tile.lanes);
  int64_t full = vectors / tile.numVectors * tile.numVectors;
  auto panel = [&](Value column, int64_t numVectors) {
    RegisterTile current = tile;
    current.column = column;
    current.numVectors = numVectors;
    if (atPanel)
      atPanel(current);
    forRowTiles(type, current, c(0), body);
  };
  loop(0, full * tile.lanes, tile.numVectors * tile.lanes,
       [&](Value column) { panel(column, tile.numVectors); });
  if (full < vectors)
    panel(c(full * tile.lanes), vectors - full);
}

/// Fills `to` with the value. `define` evaluates the op of a buffered value,
/// which otherwise is read where it lies.
void Emitter::materialize(Value v, const Place &to, bool define) {
  RankedTensorType type = tileType(v);
  bool computed = define || plan.formOf(v) == Form::lazy;
  bool dots = computed && plan.containsDot(v);
  Mask mask = computed ? findMask(v) : Mask();
  RegisterTile shape = shapeFor(type, dots);
  if (mask && type.getRank() == 2 && rowsOf(type) > 1 &&
      columnsOf(type) > shape.lanes)
    return materializeMasked(v, mask, to);
  bool outer = dots && isOuterProduct(v, define, shape.numVectors);
  if (outer)
    shape.numRows = std::min<int64_t>(2, shape.numRows);
  // A long run over rows, in one panel, with work enough to hide behind.
  bool spreads = dots && rowsOf(type) / shape.numRows >= 8 &&
                 columnsOf(type) <= shape.numVectors * shape.lanes;
  bool takesRows = computed && llvm::any_of(pendingRows, [&](auto &row) {
                     return rowsOf(type) == 1 && row.columns == columnsOf(type);
                   });
  forTiles(
      type, shape,
      [&](const RegisterTile &tile) {
        if (spreads && tile.numRows == shape.numRows)
          emitPendingPrefetches(tile.row, shape.numRows, rowsOf(type));
        if (takesRows)
          emitRowPrefetches(type, tile);
        writeTile(to, tile,
                  define ? evaluateOp(v.getDefiningOp(), tile)
                         : evaluate(v, tile));
      },
      [&](const RegisterTile &panel) {
        if (outer)
          hoistRightSides(v, define, panel);
      });
  hoisted.clear();
  if (spreads)
    pendingPrefetches.clear();
  if (takesRows)
    llvm::erase_if(pendingRows,
                   [&](auto &row) { return row.columns == columnsOf(type); });
}

/// The same for a value that a decay matrix masks: blocks of one vector's
/// width, and only those that hold a seen element; the others are zero.
void Emitter::materializeMasked(Value v, const Mask &mask, const Place &to) {
  RankedTensorType type = tileType(v);
  int64_t perRow = mask.perRow(), perColumn = mask.perColumn();
  RegisterTile shape = shapeFor(type, plan.containsDot(v));
  shape.numVectors = 1;
  if (plan.containsDot(v))
    shape.numRows = std::min<int64_t>(rowsOf(type), options.numRegisters / 2);
  loop(0, columnsOf(type), shape.lanes, [&](Value column) {
    shape.column = column;
    // First row whose token is that of the first column, rounded down to a
    // tile.
    Value token = arith::DivUIOp::create(b, column, c(perColumn));
    Value tileIndex =
        arith::DivUIOp::create(b, mul(token, c(perRow)), c(shape.numRows));
    Value from = minI(mul(tileIndex, c(shape.numRows)),
                      c(rowsOf(type) / shape.numRows * shape.numRows));
    loop(c(0), from, 1, [&](Value row) {
      storeValue(zeros(type.getElementType(), shape.lanes), at(to, row, column),
                 type.getElementType());
    });
    forRowTiles(type, shape, from, [&](const RegisterTile &tile) {
      writeTile(to, tile,
                plan.formOf(v) == Form::buffer
                    ? evaluateOp(v.getDefiningOp(), tile)
                    : evaluate(v, tile));
    });
  });
}

void Emitter::copy(const Buffer &from, const Buffer &to) {
  auto type = RankedTensorType::get({from.rows, from.columns}, from.element);
  Place source = placeOf(from), target = placeOf(to);
  forTiles(type, shapeFor(type, false), [&](const RegisterTile &tile) {
    writeTile(target, tile, readTile(source, tile));
  });
}

//===----------------------------------------------------------------------===//
// Reading and writing
//===----------------------------------------------------------------------===//

Vectors Emitter::readTile(const Place &place, const RegisterTile &tile) {
  Vectors values;
  Value pointer = at(place, tile.row, tile.column);
  for (int64_t i = 0; i < tile.numRows; ++i) {
    Value row = rowPointer(place, pointer, i);
    for (int64_t j = 0; j < tile.numVectors; ++j)
      values.push_back(loadVector(gep(row, place.element, j * tile.lanes),
                                  place.element, tile.lanes));
  }
  return values;
}

void Emitter::writeTile(const Place &place, const RegisterTile &tile,
                        ValueRange values) {
  Value pointer = at(place, tile.row, tile.column);
  for (int64_t i = 0; i < tile.numRows; ++i) {
    Value row = rowPointer(place, pointer, i);
    for (int64_t j = 0; j < tile.numVectors; ++j)
      storeValue(values[i * tile.numVectors + j],
                 gep(row, place.element, j * tile.lanes), place.element);
  }
}

/// Element `row` + `offset` of a vector.
Value Emitter::rowScalar(Value vector, Value row, int64_t offset) {
  if (plan.formOf(vector) == Form::scalar)
    return map.lookup(vector);
  Place place = placeOf(vector);
  return loadScalar(
      gep(gep(place.pointer, place.element, row), place.element, offset),
      place.element);
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

/// The value's elements under a register tile, row by row. A vector is one row;
/// the tile's rows then do not matter and it counts as one.
Vectors Emitter::evaluate(Value v, const RegisterTile &tile) {
  if (!isTile(v)) // a scalar operand of an elementwise op
    return Vectors(tile.size(), map.lookup(v));
  switch (plan.formOf(v)) {
  case Form::scalar:
    return Vectors(tile.size(), broadcast(map.lookup(v), tile.lanes));
  case Form::buffer:
    return readTile(placeOf(v), tile);
  case Form::lazy:
    return evaluateOp(v.getDefiningOp(), tile);
  }
  llvm_unreachable("unknown form");
}

Vectors Emitter::evaluateOp(Operation *op, const RegisterTile &tile) {
  b.setLoc(op->getLoc());
  if (auto dot = dyn_cast<tile::DotOp>(op))
    return isRowDot(dot) ? evaluateRowDot(dot, tile) : evaluateDot(dot, tile);
  if (auto decay = dyn_cast<tile::DecayMatrixOp>(op))
    return evaluateDecay(decay, tile);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    Value scalar = arith::ConstantOp::create(
        b, cast<DenseElementsAttr>(constant.getValue())
               .getSplatValue<TypedAttr>());
    return Vectors(tile.size(), broadcast(scalar, tile.lanes));
  }
  Vectors result;
  auto scaleOfRow = [&](Value scale, int64_t i) {
    return broadcast(rowScalar(scale, tile.row, i), tile.lanes);
  };
  // A vector that runs along the columns, once for all rows of the tile.
  auto alongColumns = [&](Value vector) {
    RegisterTile row = tile;
    row.row = c(0);
    row.numRows = 1;
    return evaluate(vector, row);
  };
  if (auto scale = dyn_cast<tile::ScaleRowsOp>(op)) {
    result = evaluate(scale.getInput(), tile);
    for (int64_t i = 0; i < tile.numRows; ++i) {
      Value factor = scaleOfRow(scale.getScale(), i);
      for (int64_t j = 0; j < tile.numVectors; ++j)
        result[i * tile.numVectors + j] =
            arith::MulFOp::create(b, factor, result[i * tile.numVectors + j]);
    }
  } else if (auto scale = dyn_cast<tile::ScaleColumnsOp>(op)) {
    result = evaluate(scale.getInput(), tile);
    Vectors factors = alongColumns(scale.getScale());
    for (int64_t i = 0; i < tile.size(); ++i)
      result[i] =
          arith::MulFOp::create(b, factors[i % tile.numVectors], result[i]);
  } else if (auto repeat = dyn_cast<tile::BroadcastOp>(op)) {
    Vectors row =
        repeat.getAlongRows() ? alongColumns(repeat.getInput()) : Vectors();
    for (int64_t i = 0; i < tile.numRows; ++i) {
      Value factor =
          repeat.getAlongRows() ? Value() : scaleOfRow(repeat.getInput(), i);
      for (int64_t j = 0; j < tile.numVectors; ++j)
        result.push_back(factor ? factor : row[j]);
    }
  } else if (auto units = dyn_cast<tile::UnitColumnsOp>(op)) {
    Type element = units.getType().getElementType();
    Value first = map.lookup(units.getFirst());
    for (int64_t i = 0; i < tile.size(); ++i) {
      int64_t row = i / tile.numVectors, vector = i % tile.numVectors;
      Value column = laneIndices(
          add(add(first, tile.column), vector * tile.lanes), tile.lanes);
      Value unit = units.getOnes() ? c(0) : add(tile.row, row);
      Value isUnit = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, column,
                                           broadcast(unit, tile.lanes));
      result.push_back(arith::SelectOp::create(b, isUnit,
                                               splat(element, 1.0, tile.lanes),
                                               zeros(element, tile.lanes)));
    }
  } else if (auto mask = dyn_cast<tile::MaskRowsOp>(op)) {
    result = evaluate(mask.getInput(), tile);
    Value first = map.lookup(mask.getFirst());
    bool isVector = mask.getType().getRank() == 1;
    Type element = mask.getType().getElementType();
    for (int64_t i = 0; i < tile.size(); ++i) {
      Value inside;
      if (isVector) {
        Value step = laneIndices(add(add(first, tile.column), i * tile.lanes),
                                 tile.lanes);
        inside = less(step, broadcast(length, tile.lanes));
      } else {
        inside = less(add(add(first, tile.row), i / tile.numVectors), length);
      }
      result[i] = arith::SelectOp::create(b, inside, result[i],
                                          zeros(element, tile.lanes));
    }
  } else {
    result = evaluateElementwise(op, tile);
  }
  return result;
}

Vectors Emitter::evaluateElementwise(Operation *op, const RegisterTile &tile) {
  SmallVector<Vectors, 4> operands;
  for (Value operand : op->getOperands())
    operands.push_back(evaluate(operand, tile));
  b.setLoc(op->getLoc());
  if (changesRounding(op)) {
    for (Value &value : operands[0])
      value = changeRounding(op, value);
    return operands[0];
  }
  Vectors result;
  VectorType type =
      vectorOf(tileType(op->getResult(0)).getElementType(), tile.lanes);
  for (int64_t i = 0; i < tile.size(); ++i) {
    IRMapping mapping;
    for (auto [operand, vectors] : llvm::zip(op->getOperands(), operands))
      mapping.map(operand, vectors[i]);
    Operation *clone = b.clone(*op, mapping);
    clone->getResult(0).setType(type);
    result.push_back(clone->getResult(0));
  }
  return result;
}

/// Row r sees the columns of earlier tokens and, of its own, those written
/// before it reads. The places of a token's columns must ascend for this to be
/// one bound; they do, as places in a chain.
Value Emitter::seenColumns(const Mask &mask, Value row, int64_t offset) {
  int64_t perRow = mask.perRow(), perColumn = mask.perColumn();
  Value index = add(row, offset);
  if (perRow == 1)
    return add(perColumn == 1 ? index : mul(index, c(perColumn)),
               mask.ownSeen(0));
  Value token = arith::DivUIOp::create(b, index, c(perRow)),
        place = arith::RemUIOp::create(b, index, c(perRow));
  Value own = c(mask.ownSeen(0));
  for (int64_t i = 1; i < perRow; ++i) {
    Value here =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, place, c(i));
    own = arith::SelectOp::create(b, here, c(mask.ownSeen(i)), own);
  }
  return add(mul(token, c(perColumn)), own);
}

/// exp(G_row - G_column) where seen, else 0; the difference in f64, masked
/// before exp.
Vectors Emitter::evaluateDecay(tile::DecayMatrixOp op,
                               const RegisterTile &tile) {
  RegisterTile one = tile;
  one.row = c(0);
  one.numRows = 1;
  // Transposed, rows write and columns read: those below `end` do not see.
  bool isTransposed = op.getTransposed();
  Value rowSums = isTransposed ? op.getColumns() : op.getRows();
  Vectors columns =
              evaluate(isTransposed ? op.getRows() : op.getColumns(), one),
          result;
  Type element = tileType(op.getResult()).getElementType(),
       f64 = b.getF64Type();
  VectorType type = vectorOf(element, tile.lanes);
  SmallVector<Value> indices;
  for (int64_t j = 0; j < tile.numVectors; ++j)
    indices.push_back(
        laneIndices(add(tile.column, j * tile.lanes), tile.lanes));
  Mask mask{op.getRowOrder(), op.getColumnOrder()};
  SmallVector<int64_t> writers, readers;
  if (isTransposed) {
    for (int64_t place : op.getColumnOrder())
      writers.push_back(2 * place + 1);
    for (int64_t place : op.getRowOrder())
      readers.push_back(2 * place);
    mask = {writers, readers};
  }
  Value lowest =
      splat(f64, -std::numeric_limits<double>::infinity(), tile.lanes);
  for (int64_t i = 0; i < tile.numRows; ++i) {
    Value row = broadcast(rowScalar(rowSums, tile.row, i), tile.lanes);
    Value end = broadcast(seenColumns(mask, tile.row, i), tile.lanes);
    for (int64_t j = 0; j < tile.numVectors; ++j) {
      Value from = isTransposed ? row : columns[j],
            to = isTransposed ? columns[j] : row;
      Value difference = arith::SubFOp::create(b, to, from);
      Value below = less(indices[j], end);
      difference = isTransposed
                       ? arith::SelectOp::create(b, below, lowest, difference)
                       : arith::SelectOp::create(b, below, difference, lowest);
      if (element != f64)
        difference = arith::TruncFOp::create(b, type, difference);
      result.push_back(math::ExpOp::create(b, difference));
    }
  }
  return result;
}
