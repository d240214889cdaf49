//===- EmitSteps.cpp - Programs of plain ops ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The body of a program of plain ops, on tensors still, in the function around
// it: a load of a token is a tensor over the argument's own memory, which
// nothing writes; a state is a buffer of the workspace. StepPrograms.cpp brings
// it to memory.
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace prism;
using namespace prism::tiletocpu;

/// The slice's memory as a memref of the tile's shape.
Value Emitter::memoryOf(const Slice &slice, RankedTensorType type) {
  int64_t rank = type.getRank();
  SmallVector<int64_t> strides(rank, ShapedType::kDynamic);
  if (!slice.columnStride || slice.isColumn)
    strides.back() = 1;
  auto layout = StridedLayoutAttr::get(b.getContext(), 0, strides);
  auto memory = MemRefType::get(type.getShape(), slice.element, layout);
  SmallVector<Value> parts = {slice.pointer, slice.pointer, c(0)};
  for (int64_t extent : type.getShape())
    parts.push_back(c(extent));
  if (rank == 2)
    parts.push_back(slice.rowStride);
  parts.push_back(strides.back() == 1 ? c(1) : slice.columnStride);
  LLVMTypeConverter converter(b.getContext());
  Value descriptor =
      MemRefDescriptor::pack(b, b.getLoc(), converter, memory, parts);
  return UnrealizedConversionCastOp::create(b, memory, descriptor).getResult(0);
}

Slice Emitter::stepSlice(Value view, ValueRange indices, RankedTensorType type,
                         bool oneStep) {
  for (Value index : indices)
    map.map(index,
            Value(arith::IndexCastOp::create(b, i64, steps.lookup(index))));
  return sliceOf(view, indices, type, oneStep);
}

/// An argument that is there: a tensor over its memory. One that may be absent,
/// or has another type: a buffer that is filled.
void Emitter::emitStepLoad(tile::LoadOp load) {
  RankedTensorType type = tileType(load.getResult());
  Slice slice =
      stepSlice(load.getView(), load.getIndices(), type, load.getOneStep());
  unsigned number = cast<BlockArgument>(load.getView()).getArgNumber();
  Value memory = memoryOf(slice, type);
  bool isOptional = program.getArgument_(number).getOptional();
  bool isInput = program.getArgument_(number).getRole().getValue() == "input";
  if (isInput && !isOptional && slice.element == type.getElementType()) {
    steps.map(load.getResult(),
              bufferization::ToTensorOp::create(b, type, memory,
                                                /*restrict=*/true,
                                                /*writable=*/false)
                  .getResult());
    return;
  }
  Value buffer = memref::AllocOp::create(
      b, MemRefType::get(type.getShape(), type.getElementType()));
  ifThen(
      arguments[number].present, [&] { convertBetween(memory, buffer); },
      [&] {
        Value zero = arith::ConstantOp::create(
            b, b.getFloatAttr(type.getElementType(), 0.0));
        linalg::FillOp::create(b, zero, buffer);
      });
  steps.map(load.getResult(),
            bufferization::ToTensorOp::create(b, type, buffer,
                                              /*restrict=*/true,
                                              /*writable=*/true)
                .getResult());
}

/// Copies from memory to memory, element by element, to the other's type.
void Emitter::convertBetween(Value from, Value to) {
  Type element = getElementTypeOrSelf(to.getType());
  int64_t rank = cast<MemRefType>(to.getType()).getRank();
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  linalg::GenericOp::create(
      b, from, to, maps, iterators,
      [&](OpBuilder &inner, Location loc, ValueRange values) {
        Value value = values[0];
        unsigned width = value.getType().getIntOrFloatBitWidth();
        if (width < element.getIntOrFloatBitWidth())
          value = arith::ExtFOp::create(inner, loc, element, value);
        else if (width > element.getIntOrFloatBitWidth())
          value = arith::TruncFOp::create(inner, loc, element, value);
        linalg::YieldOp::create(inner, loc, value);
      });
}

void Emitter::emitStepStore(tile::StoreOp store) {
  RankedTensorType type = tileType(store.getValue());
  Slice slice =
      stepSlice(store.getView(), store.getIndices(), type, store.getOneStep());
  unsigned number = cast<BlockArgument>(store.getView()).getArgNumber();
  Value tensor = steps.lookup(store.getValue());
  Type wanted = slice.element;
  Type given = type.getElementType();
  if (wanted != given) {
    Type converted = type.clone(wanted);
    tensor = wanted.getIntOrFloatBitWidth() < given.getIntOrFloatBitWidth()
                 ? Value(arith::TruncFOp::create(b, converted, tensor))
                 : Value(arith::ExtFOp::create(b, converted, tensor));
  }
  Value memory = memoryOf(slice, type);
  auto write = [&] {
    bufferization::MaterializeInDestinationOp::create(
        b, TypeRange(), tensor, memory, /*restrict=*/true, /*writable=*/true);
  };
  if (program.getArgument_(number).getOptional())
    ifThen(arguments[number].present, write);
  else
    write();
}

void Emitter::emitStepLoop(scf::ForOp loop) {
  auto look = [&](Value v) { return steps.lookup(v); };
  auto copy = scf::ForOp::create(
      b, look(loop.getLowerBound()), look(loop.getUpperBound()),
      look(loop.getStep()), llvm::map_to_vector(loop.getInitArgs(), look));
  steps.map(loop.getInductionVar(), copy.getInductionVar());
  steps.map(loop.getRegionIterArgs(), copy.getRegionIterArgs());
  steps.map(loop.getResults(), copy.getResults());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(copy.getBody());
  emitSteps(*loop.getBody());
  b.setLoc(loop.getLoc());
  scf::YieldOp::create(
      b, llvm::map_to_vector(loop.getBody()->getTerminator()->getOperands(),
                             look));
}

/// Only the loop over tokens has loads in it; other ops are cloned whole.
void Emitter::emitSteps(Block &block) {
  for (Operation &op : block.without_terminator()) {
    b.setLoc(op.getLoc());
    auto loop = dyn_cast<scf::ForOp>(op);
    if (isa<tile::LengthOp>(op))
      steps.map(op.getResult(0),
                Value(arith::IndexCastOp::create(b, b.getIndexType(), length)));
    else if (auto load = dyn_cast<tile::LoadOp>(op))
      emitStepLoad(load);
    else if (auto store = dyn_cast<tile::StoreOp>(op))
      emitStepStore(store);
    else if (loop && loop->getParentOp() == program)
      emitStepLoop(loop);
    else
      b.clone(op, steps);
  }
}
