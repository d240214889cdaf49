//===- RoundedTiles.cpp - Tiles of 16 bits are kept in f32 ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A tile of 16 bits becomes a tile of f32 that holds the same numbers: products
// of two such numbers are exact in f32, so dots mean the same. Loads widen as
// they read, and a rounding becomes a rounding and a widening.
//
//===----------------------------------------------------------------------===//

#include "RoundedTiles.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace prism;

bool tiletocpu::isRounded(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile && tile.getElementType().isFloat() &&
         tile.getElementTypeBitWidth() == 16;
}

static RankedTensorType widened(Type type) {
  return cast<RankedTensorType>(type).clone(
      Float32Type::get(type.getContext()));
}

static void widenConstant(arith::ConstantOp constant) {
  auto numbers = cast<DenseElementsAttr>(constant.getValue());
  Type f32 = Float32Type::get(constant.getContext());
  auto wide = numbers.mapValues(f32, [](const APFloat &number) {
    APFloat result = number;
    bool losesInfo;
    result.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    return result.bitcastToAPInt();
  });
  OpBuilder builder(constant);
  Value other = arith::ConstantOp::create(builder, constant.getLoc(),
                                          cast<TypedAttr>(wide));
  constant.replaceAllUsesWith(other);
  constant.erase();
}

static LogicalResult widen(Operation *op) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  // Its operand is of f32 by now.
  if (auto extended = dyn_cast<arith::ExtFOp>(op);
      extended && extended.getType() == extended.getIn().getType()) {
    extended.replaceAllUsesWith(extended.getIn());
    extended.erase();
    return success();
  }
  auto rounded = [](Value v) { return tiletocpu::isRounded(v.getType()); };
  if (llvm::none_of(op->getResults(), rounded))
    return success();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    widenConstant(constant);
    return success();
  }
  Value result = op->getResult(0);
  if (isa<tile::LoadOp, tile::InterleaveOp>(op)) {
    result.setType(widened(result.getType()));
    return success();
  }
  if (!isa<arith::TruncFOp>(op))
    return op->emitError("'") << op->getName() << "' on " << result.getType()
                              << " has no CPU lowering";
  auto extended = arith::ExtFOp::create(builder, op->getLoc(),
                                        widened(result.getType()), result);
  result.replaceAllUsesExcept(extended, extended);
  return success();
}

LogicalResult tiletocpu::keepRoundedTilesInF32(tile::ProgramOp program) {
  SmallVector<Operation *> ops;
  program.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    if (op != program && failed(widen(op)))
      return failure();
  return success();
}
