//===- LoadedSums.cpp - Sums of gates, made by whoever loads them ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A part of the role `load`. Of fewer gates than lanes the lanes beyond copy
// and read none.
//
//===----------------------------------------------------------------------===//

#include "../TileOpKinds.h"
#include "LoadRole.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

bool prism::tiletogpu::sumsByLoad(RoleOp role) {
  return role.getName() == "load" && !loopOf(role).getOps<GateSumOp>().empty();
}

/// An f32 of every token, as it lies in memory.
static bool isCopied(LoadOp load) {
  ViewType view = load.getView().getType();
  return view.hasTime() && !load.getOneStep() &&
         view.getElementType().isF32() &&
         tensorType(load.getResult()).getElementType().isF32();
}

static void findLoads(Value tile, llvm::SmallSetVector<Operation *, 4> &loads) {
  Operation *op = tile.getDefiningOp();
  if (!isTensor(tile) || isSplat(tile))
    return;
  if (isa<LoadOp>(op))
    loads.insert(op);
  for (Value operand : op->getOperands())
    findLoads(operand, loads);
}

/// A pair of f32, as each sum will be, has room for two of them.
LoadRole::Sums LoadRole::findSums(GateSumOp op, Value to) {
  Sums sums{op, to, {}};
  llvm::SmallSetVector<Operation *, 4> loads;
  findLoads(op.getGates(), loads);
  for (Operation *load : loads)
    if (sums.copied.size() < 2 && isCopied(cast<LoadOp>(load)))
      sums.copied.push_back(load);
  return sums;
}

void LoadRole::byFirstWarp(llvm::function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(b);
  if (warpsOfTeam > 1)
    b.setInsertionPointToStart(
        scf::IfOp::create(b, in.equals(warp, 0)).thenBlock());
  body();
}

static int64_t lengthOf(GateSumOp op) {
  return tensorType(op.getGates()).getDimSize(0);
}

/// Where of gate number `index` the load in that place was copied.
Value LoadRole::placeOf(const Sums &sums, Value index, int64_t place) {
  return in.advance(in.advance(sums.to, place * 4), b.mul(index, b.i32(8)));
}

void LoadRole::copyGates(const Sums &sums) {
  int64_t length = lengthOf(sums.op);
  byFirstWarp([&] {
    if (length < kLanes)
      b.setInsertionPointToStart(
          scf::IfOp::create(b, b.below(lane, b.i32(length))).thenBlock());
    for (int64_t p = 0; p < Elements::neighboursOf(length); ++p)
      for (size_t place = 0; place < sums.copied.size(); ++place) {
        Slice slice = Slice::of(cast<LoadOp>(sums.copied[place]));
        kernel.withOwnPlace(slice, in.opaque(b.i32(0)), [&] {
          Value index = elements.neighbour(lane, length, p);
          SmallVector<Value, 3> indices = kernel.viewIndices(slice, {index});
          Value inside = kernel.elementInside(slice, indices);
          in.copyAsync(placeOf(sums, index, place),
                       kernel.safeAddress(slice, indices, inside), 4,
                       inside ? b.select(inside, b.i32(4), b.i32(0))
                              : b.i32(4));
        });
      }
  });
}

void LoadRole::writeSums(const Sums &sums) {
  GateSumOp op = sums.op;
  int64_t length = lengthOf(op);
  byFirstWarp([&] {
    auto neighbours = elements.sumGates(lane, length, [&](Value index) {
      Gate gate(sums, index);
      return elementOf(op.getGates(), gate);
    });
    elements.storeNeighbours(neighbours, lane, length, sums.to);
  });
}

Element LoadRole::elementOf(Value tile, Gate &gate) {
  if (!isTensor(tile))
    return {kernel.scalars.lookup(tile)};
  if (auto found = gate.made.find(tile); found != gate.made.end())
    return found->second;
  Element element = makeElement(tile.getDefiningOp(), gate);
  gate.made[tile] = element;
  return element;
}

Element LoadRole::makeElement(Operation *op, Gate &gate) {
  if (isSplat(op->getResult(0)))
    return elements.ofSplat(op, kernel.scalars);
  if (auto load = dyn_cast<LoadOp>(op))
    return loadedElement(load, gate);
  auto operands = llvm::map_to_vector(
      op->getOperands(), [&](Value value) { return elementOf(value, gate); });
  return elements.of(op, operands);
}

/// 0 where there is none.
Element LoadRole::loadedElement(LoadOp load, const Gate &gate) {
  auto *copied = llvm::find(gate.sums.copied, load.getOperation());
  if (copied != gate.sums.copied.end()) {
    Value from =
        placeOf(gate.sums, gate.index, copied - gate.sums.copied.begin());
    Type f32 = b.getF32Type();
    int64_t length = lengthOf(gate.sums.op);
    if (length >= kLanes)
      return {in.load(f32, from, 4)};
    auto own = scf::IfOp::create(b, TypeRange(f32),
                                 b.below(lane, b.i32(length)), true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(own.thenBlock());
    scf::YieldOp::create(b, in.load(f32, from, 4));
    b.setInsertionPointToStart(own.elseBlock());
    scf::YieldOp::create(b, b.real(f32, 0.0));
    return {own.getResult(0)};
  }
  Slice slice = Slice::of(load);
  Type type = tensorType(load.getResult()).getElementType();
  SmallVector<Value, 3> indices = kernel.viewIndices(slice, {gate.index});
  Value inside = kernel.elementInside(slice, indices), loaded;
  kernel.withOwnPlace(slice, in.opaque(b.i32(0)), [&] {
    loaded = kernel.loadFrom(slice, kernel.safeAddress(slice, indices, inside),
                             type);
  });
  return {inside ? b.select(inside, loaded, b.real(type, 0.0)) : loaded};
}
