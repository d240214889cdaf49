//===- EmitElements.cpp - Element types of arrays and tiles ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "RoundedTiles.h"

using namespace mlir;
using namespace prism;
using namespace prism::tiletocpu;

/// Stored elements to the type of the tile. bf16 and f16 come as i16.
Value Emitter::convertIn(Value stored, Type from, Type to) {
  auto vector = dyn_cast<VectorType>(stored.getType());
  auto like = [&](Type element) -> Type {
    return vector ? Type(vectorOf(element, vector.getDimSize(0))) : element;
  };
  Value value = stored;
  if (from.isBF16()) {
    Value wide = arith::ExtUIOp::create(b, like(b.getI32Type()), stored);
    Value sixteen =
        arith::ConstantOp::create(b, like(b.getI32Type()), [&]() -> TypedAttr {
          auto number = b.getI32IntegerAttr(16);
          return vector ? TypedAttr(DenseElementsAttr::get(
                              cast<ShapedType>(like(b.getI32Type())),
                              Attribute(number)))
                        : number;
        }());
    value = arith::BitcastOp::create(b, like(b.getF32Type()),
                                     arith::ShLIOp::create(b, wide, sixteen));
    from = b.getF32Type();
  } else if (from.isF16()) {
    value = arith::ExtFOp::create(
        b, like(b.getF32Type()),
        Value(arith::BitcastOp::create(b, like(b.getF16Type()), stored)));
    from = b.getF32Type();
  }
  if (from == to)
    return value;
  if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, like(to), value);
  return arith::TruncFOp::create(b, like(to), value);
}

/// The other way: round to nearest even; a NaN stays one. bf16 by integer
/// arithmetic (its conversion is a library call otherwise), f16 by F16C.
bool tiletocpu::changesRounding(Operation *op) {
  return isa<arith::TruncFOp, arith::ExtFOp>(op) &&
         (isRounded(op->getOperand(0).getType()) ||
          isRounded(op->getResult(0).getType()));
}

Value Emitter::changeRounding(Operation *op, Value value) {
  Type from = tileType(op->getOperand(0)).getElementType(),
       to = tileType(op->getResult(0)).getElementType();
  return isa<arith::TruncFOp>(op) ? convertOut(value, from, to)
                                  : convertIn(value, from, to);
}

Value Emitter::convertOut(Value value, Type from, Type to) {
  auto vector = dyn_cast<VectorType>(value.getType());
  auto like = [&](Type element) -> Type {
    return vector ? Type(vectorOf(element, vector.getDimSize(0))) : element;
  };
  auto number = [&](int32_t n) -> Value {
    auto attr = b.getI32IntegerAttr(n);
    if (!vector)
      return arith::ConstantOp::create(b, attr);
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(cast<ShapedType>(like(b.getI32Type())),
                                  Attribute(attr)));
  };
  if (to == from)
    return value;
  if (to.isF64())
    return arith::ExtFOp::create(b, like(to), value);
  if (from.isF64())
    value = arith::TruncFOp::create(b, like(b.getF32Type()), value);
  if (to.isF32())
    return value;
  if (to.isF16())
    return arith::BitcastOp::create(
        b, like(b.getI16Type()),
        Value(arith::TruncFOp::create(b, like(to), value)));
  Value bits = arith::BitcastOp::create(b, like(b.getI32Type()), value);
  Value high = arith::ShRUIOp::create(b, bits, number(16));
  Value odd = arith::AndIOp::create(b, high, number(1));
  Value rounded = arith::AddIOp::create(
      b, arith::AddIOp::create(b, bits, number(0x7fff)), odd);
  rounded = arith::ShRUIOp::create(b, rounded, number(16));
  Value quiet = arith::OrIOp::create(b, high, number(0x40));
  Value isNan =
      arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
  Value result = arith::SelectOp::create(b, isNan, quiet, rounded);
  return arith::TruncIOp::create(b, like(b.getI16Type()), result);
}
