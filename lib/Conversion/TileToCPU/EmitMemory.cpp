//===- EmitMemory.cpp - Loads and stores of views -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Nothing outside an argument is ever touched: rows past the sequence's end and
// columns past the view's are skipped, partial vectors are masked.
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace prism;
using namespace prism::tiletocpu;

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

Slice Emitter::sliceOf(Value view, ValueRange indices, RankedTensorType type,
                       bool oneStep) {
  unsigned number = cast<BlockArgument>(view).getArgNumber();
  const Argument &argument = arguments[number];
  auto viewType = cast<tile::ViewType>(view.getType());
  bool time = viewType.hasTime(), timeRows = time && !oneStep;
  int64_t rank = viewType.getRank();
  Slice slice;
  slice.element = viewType.getElementType();
  slice.isColumn = timeRows && type.getRank() == 1;
  int64_t columnAxis = slice.isColumn ? -1 : rank - 1;
  int64_t rowAxis = timeRows ? 0 : type.getRank() == 2 ? rank - 2 : -1;
  Value offset = c(0), exists = argument.present;
  slice.firstRow = c(0);
  slice.rowExtent = c(1);
  slice.rowStride = c(0);
  slice.staticColumns = columnsOf(type);
  for (int64_t axis = 0; axis < rank; ++axis) {
    bool isTime = time && axis == 0;
    Value index = map.lookup(indices[axis]);
    Value stride =
        isTime ? argument.timeStride : argument.featureStrides[axis - time];
    Value extent = isTime ? length : c(viewType.getShape()[axis]);
    offset = add(offset, stride ? mul(index, stride) : index);
    if (axis == rowAxis) {
      slice.firstRow = index;
      slice.rowExtent = extent;
      slice.rowStride = stride ? stride : c(1);
    } else if (axis == columnAxis) {
      slice.columnStride = stride;
      int64_t count = columnsOf(type);
      int64_t values = program.getValues(), block = program.getValueBlock();
      bool divides = indices[axis].getDefiningOp<tile::ValueOffsetOp>() &&
                     count == block && viewType.getShape()[axis] == values &&
                     values % count == 0;
      APInt constant;
      if (matchPattern(indices[axis], m_ConstantInt(&constant)))
        slice.staticColumns = std::clamp<int64_t>(viewType.getShape()[axis] -
                                                      constant.getSExtValue(),
                                                  0, columnsOf(type));
      else if (!divides)
        slice.staticColumns = -1;
      Value left = arith::MaxSIOp::create(
          b, arith::SubIOp::create(b, extent, index), c(0));
      slice.validColumns = slice.staticColumns >= 0
                               ? c(slice.staticColumns)
                               : clampI(left, columnsOf(type));
    } else {
      exists = arith::AndIOp::create(b, exists,
                                     less(index, extent, /*isSigned=*/false));
    }
  }
  if (slice.isColumn) {
    slice.staticColumns = 1;
    slice.validColumns = c(1);
  }
  slice.rowExtent = arith::SelectOp::create(b, exists, slice.rowExtent, c(0));
  slice.pointer = gep(argument.base, slice.element, offset);
  return slice;
}

Value Emitter::rowExists(const Slice &slice, Value row) {
  return less(add(slice.firstRow, row), slice.rowExtent, /*isSigned=*/false);
}

/// The type an element is moved as: 16-bit floats as integers, so that masked
/// moves exist for them.
static Type moved(Type element) {
  return element.getIntOrFloatBitWidth() == 16
             ? Type(IntegerType::get(element.getContext(), 16))
             : element;
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// The single element of a slice, or zero.
Value Emitter::loadOne(const Slice &slice, Type element) {
  Value zero = arith::ConstantOp::create(b, b.getFloatAttr(element, 0.0));
  Value exists = rowExists(slice, c(0));
  if (slice.staticColumns != 1)
    exists = arith::AndIOp::create(b, exists, less(c(0), slice.validColumns));
  auto branch =
      scf::IfOp::create(b, TypeRange{element}, exists, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value stored = loadScalar(slice.pointer, moved(slice.element));
  scf::YieldOp::create(b, convertIn(stored, slice.element, element));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, zero);
  return branch.getResult(0);
}

/// Whether rows lie so far apart that they would drive each other out of the
/// first-level cache, whose sets repeat every 4096 bytes: with many heads,
/// powers of two among heads and extents make such strides. i1; null where
/// there are too few rows for it.
Value Emitter::rowsShareSets(const Slice &slice, RankedTensorType type) {
  constexpr int64_t kSetsBytes = 4096, kManyRows = 16, kSomeRows = 8,
                    kLongRow = 512;
  int64_t rows = rowsOf(type),
          width = slice.element.getIntOrFloatBitWidth() / 8, period = 0;
  if (rows >= kManyRows)
    period = kSetsBytes / 2;
  else if (rows >= kSomeRows && columnsOf(type) * width >= kLongRow)
    period = kSetsBytes;
  if (!period)
    return {};
  Value rest =
      arith::AndIOp::create(b, mul(slice.rowStride, c(width)), c(period - 1));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rest, c(0));
}

void Emitter::emitLoad(tile::LoadOp load) {
  RankedTensorType type = tileType(load.getResult());
  Slice slice =
      sliceOf(load.getView(), load.getIndices(), type, load.getOneStep());
  Place scratch = placeOf(plan.bufferOf(load.getResult()));
  bool inLoop =
      load->getParentOp() != program && load.getView().getType().hasTime();
  if (inLoop && type.getRank() == 2 && !load.getOneStep() &&
      !slice.columnStride) {
    prefetchNext(slice, type, /*write=*/false);
    if (!pendingRows.empty())
      prefetchStores(load->getBlock());
  }
  if (!plan.mayReadInPlace(load))
    return copyIn(slice, scratch, type);
  Value whole = arith::AndIOp::create(b, rowExists(slice, c(0)),
                                      rowExists(slice, c(rowsOf(type) - 1)));
  if (Value shares = rowsShareSets(slice, type))
    whole = arith::SelectOp::create(
        b, shares, arith::ConstantOp::create(b, b.getBoolAttr(false)), whole);
  auto branch =
      scf::IfOp::create(b, TypeRange{ptr, i64}, whole, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, ValueRange{slice.pointer, slice.rowStride});
    b.setInsertionPointToStart(branch.elseBlock());
    copyIn(slice, scratch, type);
    scf::YieldOp::create(b, ValueRange{scratch.pointer, c(scratch.stride)});
  }
  inPlace[load.getResult()] = {branch.getResult(0), 0, branch.getResult(1),
                               type.getElementType()};
}

void Emitter::copyIn(const Slice &slice, const Place &to,
                     RankedTensorType type) {
  Type element = type.getElementType();
  int64_t padded = llvm::alignTo(columnsOf(type), lanes());
  auto clear = [&](Value pointer) {
    loop(0, padded, lanes(), [&](Value column) {
      storeValue(zeros(element, lanes()), gep(pointer, element, column),
                 element);
    });
  };
  if (slice.isColumn) {
    clear(to.pointer);
    Value first = arith::MaxSIOp::create(
        b, arith::SubIOp::create(b, c(0), slice.firstRow), c(0));
    Value end =
        clampI(arith::SubIOp::create(b, slice.rowExtent, slice.firstRow),
               columnsOf(type));
    loop(first, end, 1, [&](Value row) {
      Value stored = loadScalar(
          gep(slice.pointer, slice.element, mul(row, slice.rowStride)),
          moved(slice.element));
      storeValue(convertIn(stored, slice.element, element),
                 gep(to.pointer, element, row), element);
    });
    return;
  }
  loop(0, rowsOf(type), 1, [&](Value row) {
    Value target = at(to, row, c(0));
    ifThen(
        rowExists(slice, row),
        [&] {
          Value source =
              gep(slice.pointer, slice.element, mul(row, slice.rowStride));
          if (slice.staticColumns != columnsOf(type) || slice.columnStride)
            clear(target);
          copyRowIn(slice, source, target, element, columnsOf(type));
        },
        [&] { clear(target); });
  });
}

void Emitter::copyRowIn(const Slice &slice, Value from, Value to, Type element,
                        int64_t columns) {
  Type raw = moved(slice.element);
  if (slice.columnStride) {
    loop(c(0), slice.validColumns, 1, [&](Value column) {
      Value stored =
          loadScalar(gep(from, raw, mul(column, slice.columnStride)), raw);
      storeValue(convertIn(stored, slice.element, element),
                 gep(to, element, column), element);
    });
    return;
  }
  Value full = arith::AndIOp::create(b, slice.validColumns, c(-lanes()));
  loop(c(0), full, lanes(), [&](Value column) {
    Value stored = loadVector(gep(from, raw, column), raw, lanes());
    storeValue(convertIn(stored, slice.element, element),
               gep(to, element, column), element);
  });
  if (slice.staticColumns >= 0 && slice.staticColumns % lanes() == 0)
    return;
  Value rest = arith::SubIOp::create(b, slice.validColumns, full);
  ifThen(less(c(0), rest), [&] {
    VectorType type = vectorOf(raw, lanes());
    Value none = arith::ConstantOp::create(b, b.getZeroAttr(type));
    Value stored = LLVM::MaskedLoadOp::create(b, type, gep(from, raw, full),
                                              tailMask(rest, lanes()), none,
                                              raw.getIntOrFloatBitWidth() / 8);
    storeValue(convertIn(stored, slice.element, element),
               gep(to, element, full), element);
  });
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

void Emitter::emitStore(tile::StoreOp store) {
  Value v = store.getValue();
  RankedTensorType type = tileType(v);
  unsigned number = cast<BlockArgument>(store.getView()).getArgNumber();
  auto body = [&] {
    Slice slice =
        sliceOf(store.getView(), store.getIndices(), type, store.getOneStep());
    if (!slice.isColumn) {
      if (store->getParentOp() != program && !store.getOneStep() &&
          !slice.columnStride && !prefetchedStores.contains(store) &&
          !program.getArgument_(number).getOptional())
        prefetchNext(slice, type, /*write=*/true);
      bool dots = plan.formOf(v) == Form::lazy && plan.containsDot(v);
      forTiles(type, shapeFor(type, dots), [&](const RegisterTile &tile) {
        Vectors values = evaluate(v, tile);
        b.setLoc(store.getLoc());
        storeTile(slice, tile, values, type);
      });
      return;
    }
    // A vector along time: to memory, then one element a step.
    Type element = type.getElementType();
    Place place{
        gep(workspace, b.getI8Type(), plan.edgeTileOffset()), 0, {}, element};
    materialize(v, place);
    Value end =
        clampI(arith::SubIOp::create(b, slice.rowExtent, slice.firstRow),
               columnsOf(type));
    Value first = arith::MaxSIOp::create(
        b, arith::SubIOp::create(b, c(0), slice.firstRow), c(0));
    loop(first, end, 1, [&](Value row) {
      Value value =
          convertOut(loadScalar(gep(place.pointer, element, row), element),
                     element, slice.element);
      storeValue(value,
                 gep(slice.pointer, slice.element, mul(row, slice.rowStride)),
                 moved(slice.element));
    });
  };
  if (program.getArgument_(number).getOptional())
    ifThen(arguments[number].present, body);
  else
    body();
}

/// Whole tiles go out as they are; a tile over the edge goes through memory.
void Emitter::storeTile(const Slice &slice, const RegisterTile &tile,
                        ValueRange values, RankedTensorType type) {
  Type raw = moved(slice.element);
  auto direct = [&] {
    Value corner = gep(gep(slice.pointer, raw, mul(tile.row, slice.rowStride)),
                       raw, tile.column);
    for (int64_t i = 0; i < tile.numRows; ++i) {
      Value row = i ? gep(corner, raw, mul(c(i), slice.rowStride)) : corner;
      for (int64_t j = 0; j < tile.numVectors; ++j)
        storeValue(convertOut(values[i * tile.numVectors + j],
                              type.getElementType(), slice.element),
                   gep(row, raw, j * tile.lanes), raw);
    }
  };
  auto edge = [&] { storeEdge(slice, tile, values, type); };
  if (slice.columnStride)
    return edge();
  Value whole =
      arith::AndIOp::create(b, rowExists(slice, tile.row),
                            rowExists(slice, add(tile.row, tile.numRows - 1)));
  if (slice.staticColumns != columnsOf(type) ||
      slice.staticColumns % tile.lanes) {
    Value end = add(tile.column, tile.numVectors * tile.lanes);
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::sle, end,
                                         slice.validColumns);
    whole = arith::AndIOp::create(b, whole, inside);
  }
  ifThen(whole, direct, edge);
}

void Emitter::storeEdge(const Slice &slice, const RegisterTile &tile,
                        ValueRange values, RankedTensorType type) {
  Type raw = moved(slice.element), element = type.getElementType();
  int64_t width = tile.numVectors * tile.lanes;
  Place place{
      gep(workspace, b.getI8Type(), plan.edgeTileOffset()), width, {}, element};
  writeTile(place, {c(0), c(0), tile.numRows, tile.numVectors, tile.lanes},
            values);
  Value left = arith::MaxSIOp::create(
      b, arith::SubIOp::create(b, slice.validColumns, tile.column), c(0));
  Value columns = clampI(left, width);
  loop(0, tile.numRows, 1, [&](Value i) {
    Value row = add(tile.row, i);
    ifThen(rowExists(slice, row), [&] {
      Value source = at(place, i, c(0));
      Value target = gep(slice.pointer, raw, mul(row, slice.rowStride));
      if (slice.columnStride) {
        loop(c(0), columns, 1, [&](Value column) {
          Value value =
              convertOut(loadScalar(gep(source, element, column), element),
                         element, slice.element);
          storeValue(value,
                     gep(target, raw,
                         mul(add(tile.column, column), slice.columnStride)),
                     raw);
        });
        return;
      }
      target = gep(target, raw, tile.column);
      auto vectorAt = [&](Value column) {
        return convertOut(
            loadVector(gep(source, element, column), element, tile.lanes),
            element, slice.element);
      };
      Value full = arith::AndIOp::create(b, columns, c(-tile.lanes));
      loop(c(0), full, tile.lanes, [&](Value column) {
        storeValue(vectorAt(column), gep(target, raw, column), raw);
      });
      // LLVM 22 turns a masked store of truncated 16-bit elements with one lane
      // on into a 32-bit store, over the neighbour: these go one by one.
      if (raw.isInteger(16)) {
        loop(full, columns, 1, [&](Value column) {
          Value value =
              convertOut(loadScalar(gep(source, element, column), element),
                         element, slice.element);
          storeValue(value, gep(target, raw, column), raw);
        });
        return;
      }
      Value rest = arith::SubIOp::create(b, columns, full);
      ifThen(less(c(0), rest), [&] {
        LLVM::MaskedStoreOp::create(b, vectorAt(full), gep(target, raw, full),
                                    tailMask(rest, tile.lanes),
                                    raw.getIntOrFloatBitWidth() / 8);
      });
    });
  });
}
