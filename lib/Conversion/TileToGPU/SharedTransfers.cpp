//===- SharedTransfers.cpp - Loads and stores of the shared strategy ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SharedLowering.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// Loads of a thread that are under way at a time, and elements of a long one.
static constexpr int64_t kBatch = 16, kVector = 4;

/// Elements of a row that one load takes: four of an array of the workspace,
/// whose rows are known to be aligned where four divides what they are made of.
static int64_t elementsOfLoad(ProgramOp program, const Slice &slice,
                              const Buffer &to, int64_t threads) {
  bool isWhole = to.columns % kVector == 0 &&
                 to.rows * to.columns % (threads * kVector) == 0;
  return isWhole && to.element.isF32() && isAlignedSlice(program, slice)
             ? kVector
             : 1;
}

/// The elements from an address on.
SmallVector<Value> SharedLowering::loadRow(const Slice &slice, Value address,
                                           int64_t count, Type element) {
  if (count == 1)
    return {kernel.loadFrom(slice, address, element)};
  Value vector = LLVM::LoadOp::create(b, VectorType::get({count}, element),
                                      address, /*alignment=*/4 * count);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < count; ++i)
    elements.push_back(LLVM::ExtractElementOp::create(b, vector, b.i32(i)));
  return elements;
}

/// The same number of elements for every thread, several of them on their way
/// at a time.
void SharedLowering::loadInBatches(const Slice &slice, const Buffer &to) {
  int64_t width = elementsOfLoad(kernel.getProgram(), slice, to, threads);
  int64_t columns = to.columns / width, count = to.rows * columns;
  int64_t perThread = count / threads, batch = kBatch;
  while (perThread % batch)
    --batch;
  OpBuilder::InsertionGuard guard(b);
  Value start = kernel.thread();
  if (perThread > batch) {
    auto loop =
        scf::ForOp::create(b, start, b.i32(count), b.i32(batch * threads));
    b.setInsertionPointToStart(loop.getBody());
    start = loop.getInductionVar();
  }
  SmallVector<std::pair<Index, Value>> loaded;
  for (int64_t i = 0; i < batch; ++i) {
    Value load = i ? b.add(start, b.i32(i * threads)) : start;
    Index at = {b.divide(load, columns),
                b.mul(b.remainder(load, columns), b.i32(width))};
    SmallVector<Value, 3> indices =
        kernel.viewIndices(slice, {at.first, at.second});
    Value inside;
    for (int64_t axis : slice.axisOfTile)
      inside = b.both(inside, kernel.axisInside(slice, axis, indices[axis]));
    Value address = kernel.safeAddress(slice, indices, inside);
    auto elements = loadRow(slice, address, width, to.element);
    for (auto [j, element] : llvm::enumerate(elements))
      loaded.push_back({{at.first, j ? b.add(at.second, b.i32(j)) : at.second},
                        inside
                            ? b.select(inside, element, b.real(to.element, 0.0))
                            : element});
  }
  for (auto [at, value] : loaded)
    write(to, at, value);
}

/// Whether the part of the view that a slice is cut from is there at all: what
/// does not depend on the element. Null if it is known to be.
Value SharedLowering::sliceIsThere(const Slice &slice) {
  Value there = kernel.present(slice);
  for (auto [axis, offset] : llvm::enumerate(slice.offsets))
    if (!llvm::is_contained(slice.axisOfTile, int64_t(axis)))
      there = b.both(there,
                     kernel.axisInside(slice, axis,
                                       b.wide(kernel.scalars.lookup(offset))));
  return there;
}

void SharedLowering::emitLoad(LoadOp op) {
  const Buffer &to = *plan.lookup(op.getResult());
  access({}, &to);
  Slice slice = Slice::of(op);
  if (slice.extents.size() == 2 && to.rows * to.columns % threads == 0) {
    Value there = sliceIsThere(slice);
    if (!there)
      return loadInBatches(slice, to);
    auto choice = scf::IfOp::create(b, there, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    loadInBatches(slice, to);
    b.setInsertionPointToStart(choice.elseBlock());
    forEachElement(to.rows, to.columns,
                   [&](Index at) { write(to, at, b.real(to.element, 0.0)); });
    return;
  }
  forEachElement(to.rows, to.columns, [&](Index at) {
    SmallVector<Value> local = {at.first, at.second};
    if (slice.extents.size() == 1)
      local.erase(local.begin());
    SmallVector<Value, 3> indices = kernel.viewIndices(slice, local);
    Value inside = kernel.elementInside(slice, indices);
    if (!inside)
      return write(to, at, kernel.loadElement(slice, indices, to.element));
    auto choice = scf::IfOp::create(b, TypeRange{to.element}, inside,
                                    /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(choice.thenBlock());
      scf::YieldOp::create(b, kernel.loadElement(slice, indices, to.element));
      b.setInsertionPointToStart(choice.elseBlock());
      scf::YieldOp::create(b, b.real(to.element, 0.0));
    }
    write(to, at, choice.getResult(0));
  });
}

void SharedLowering::emitStore(StoreOp op) {
  access(plan.sourcesOf(op.getValue()), nullptr);
  Slice slice = Slice::of(op);
  bool isVector = slice.extents.size() == 1;
  forEachElement(
      isVector ? 1 : slice.extents[0], slice.extents.back(), [&](Index at) {
        SmallVector<Value> local = {at.first, at.second};
        if (isVector)
          local.erase(local.begin());
        SmallVector<Value, 3> indices = kernel.viewIndices(slice, local);
        OpBuilder::InsertionGuard guard(b);
        if (Value inside = kernel.elementInside(slice, indices)) {
          auto choice = scf::IfOp::create(b, inside, /*withElseRegion=*/false);
          b.setInsertionPointToStart(choice.thenBlock());
        }
        kernel.storeElement(slice, indices, evaluate(op.getValue(), at));
      });
}
