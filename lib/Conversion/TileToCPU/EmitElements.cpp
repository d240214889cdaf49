//===- EmitElements.cpp - Element types of arrays and tiles ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "RoundFloats.h"
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

/// The other way: round to nearest even; a NaN stays one.
Value Emitter::convertOut(Value value, Type from, Type to) {
  auto vector = dyn_cast<VectorType>(value.getType());
  auto like = [&](Type element) -> Type {
    return vector ? Type(vectorOf(element, vector.getDimSize(0))) : element;
  };
  if (to == from)
    return value;
  if (to.isBF16())
    return roundToBFloat(b, value);
  if (to.isF16())
    return arith::BitcastOp::create(b, like(b.getI16Type()),
                                    roundToHalf(b, value));
  if (to.isF64())
    return arith::ExtFOp::create(b, like(to), value);
  return arith::TruncFOp::create(b, like(to), value);
}

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
