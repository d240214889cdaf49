//===- EmitHelpers.cpp - Small builders of the emitter --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace prism;
using namespace prism::tiletocpu;

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static std::optional<int64_t> constantOf(Value v) {
  APInt value;
  if (matchPattern(v, m_ConstantInt(&value)))
    return value.getSExtValue();
  return std::nullopt;
}

Value Emitter::c(int64_t value) {
  return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
}

Value Emitter::add(Value x, Value y) {
  auto left = constantOf(x), right = constantOf(y);
  if (left && right)
    return c(*left + *right);
  if (left == 0)
    return y;
  return right == 0 ? x : Value(arith::AddIOp::create(b, x, y));
}
Value Emitter::add(Value x, int64_t n) { return add(x, c(n)); }

Value Emitter::mul(Value x, Value y) {
  auto left = constantOf(x), right = constantOf(y);
  if (left && right)
    return c(*left * *right);
  if (left == 1 || right == 0)
    return y;
  return left == 0 || right == 1 ? x : Value(arith::MulIOp::create(b, x, y));
}

Value Emitter::minI(Value x, Value y) {
  return arith::MinSIOp::create(b, x, y);
}
Value Emitter::clampI(Value x, int64_t high) {
  return arith::MaxSIOp::create(b, minI(x, c(high)), c(0));
}
Value Emitter::less(Value x, Value y, bool isSigned) {
  return arith::CmpIOp::create(
      b, isSigned ? arith::CmpIPredicate::slt : arith::CmpIPredicate::ult, x,
      y);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value Emitter::gep(Value pointer, Type element, Value index) {
  if (auto constant = constantOf(index))
    return gep(pointer, element, *constant);
  return LLVM::GEPOp::create(b, ptr, element, pointer,
                             ArrayRef<LLVM::GEPArg>{index});
}
Value Emitter::gep(Value pointer, Type element, int64_t index) {
  if (index == 0)
    return pointer;
  if (index == int32_t(index))
    return LLVM::GEPOp::create(b, ptr, element, pointer,
                               ArrayRef<LLVM::GEPArg>{int32_t(index)});
  return LLVM::GEPOp::create(b, ptr, element, pointer,
                             ArrayRef<LLVM::GEPArg>{c(index)});
}

Value Emitter::loadScalar(Value pointer, Type element) {
  return LLVM::LoadOp::create(b, element, pointer,
                              element.getIntOrFloatBitWidth() / 8);
}
Value Emitter::loadVector(Value pointer, Type element, int64_t lanes) {
  return LLVM::LoadOp::create(b, vectorOf(element, lanes), pointer,
                              element.getIntOrFloatBitWidth() / 8);
}
void Emitter::storeValue(Value value, Value pointer, Type element) {
  LLVM::StoreOp::create(b, value, pointer, element.getIntOrFloatBitWidth() / 8);
}

Place Emitter::placeOf(const Buffer &buffer) {
  return {gep(workspace, b.getI8Type(), buffer.offset),
          buffer.stride,
          {},
          buffer.element};
}
Place Emitter::placeOf(Value v) {
  auto it = inPlace.find(v);
  return it != inPlace.end() ? it->second : placeOf(plan.bufferOf(v));
}

Value Emitter::at(const Place &place, Value row, Value column) {
  Value stride = place.dynamicStride ? place.dynamicStride : c(place.stride);
  return gep(gep(place.pointer, place.element, mul(row, stride)), place.element,
             column);
}
Value Emitter::rowPointer(const Place &place, Value pointer, int64_t row) {
  if (row == 0)
    return pointer;
  if (place.dynamicStride)
    return gep(pointer, place.element, mul(c(row), place.dynamicStride));
  return gep(pointer, place.element, row * place.stride);
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

Value Emitter::broadcast(Value scalar, int64_t lanes) {
  return vector::BroadcastOp::create(b, vectorOf(scalar.getType(), lanes),
                                     scalar);
}
Value Emitter::splat(Type element, double value, int64_t lanes) {
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(vectorOf(element, lanes),
                                Attribute(b.getFloatAttr(element, value))));
}
Value Emitter::zeros(Type element, int64_t lanes) {
  return splat(element, 0.0, lanes);
}

Value Emitter::laneIndices(Value first, int64_t lanes) {
  SmallVector<int64_t> numbers = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
  Value iota = arith::ConstantOp::create(
      b,
      DenseElementsAttr::get(vectorOf(i64, lanes), ArrayRef<int64_t>(numbers)));
  if (constantOf(first) == 0)
    return iota;
  return arith::AddIOp::create(b, iota, broadcast(first, lanes));
}
Value Emitter::tailMask(Value count, int64_t lanes) {
  return less(laneIndices(c(0), lanes), broadcast(count, lanes));
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void Emitter::loop(Value from, Value to, int64_t step, Body body) {
  auto first = constantOf(from), last = constantOf(to);
  if (first && last && *first >= *last)
    return;
  if (first && last && *first + step >= *last)
    return body(from);
  auto op = scf::ForOp::create(b, from, to, c(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  body(op.getInductionVar());
}
void Emitter::loop(int64_t from, int64_t to, int64_t step, Body body) {
  loop(c(from), c(to), step, body);
}

Vectors
Emitter::loopCarrying(Value from, Value to, int64_t step, const Vectors &inits,
                      llvm::function_ref<Vectors(Value, Vectors)> body) {
  auto first = constantOf(from), last = constantOf(to);
  if (first && last && *first >= *last)
    return inits;
  if (first && last && *first + step >= *last)
    return body(from, inits);
  auto op = scf::ForOp::create(b, from, to, c(step), inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  scf::YieldOp::create(
      b, body(op.getInductionVar(), Vectors(op.getRegionIterArgs())));
  return Vectors(op.getResults());
}

void Emitter::ifThen(Value condition, llvm::function_ref<void()> then,
                     llvm::function_ref<void()> otherwise) {
  auto op = scf::IfOp::create(b, condition, bool(otherwise));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  then();
  if (!otherwise)
    return;
  b.setInsertionPointToStart(op.elseBlock());
  otherwise();
}
