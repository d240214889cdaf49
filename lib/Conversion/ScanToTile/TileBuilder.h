//===- TileBuilder.h - Short names for building tile ops --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_SCANTOTILE_TILEBUILDER_H
#define PRISM_LIB_CONVERSION_SCANTOTILE_TILEBUILDER_H

#include "Prism/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"

namespace prism {

/// Builds tile ops at one location, in one compute type (f32, or f64 for f64
/// I/O). Constants go through the given block's start so that equal ones merge.
class TileBuilder {
public:
  TileBuilder(mlir::OpBuilder &builder, mlir::Location loc,
              mlir::FloatType compute)
      : builder(builder), loc(loc), compute(compute) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::FloatType compute;

  template <typename OpTy, typename... Args> OpTy create(Args &&...args) {
    return OpTy::create(builder, loc, std::forward<Args>(args)...);
  }

  mlir::RankedTensorType vector(int64_t rows) {
    return mlir::RankedTensorType::get({rows}, compute);
  }
  mlir::RankedTensorType matrix(int64_t rows, int64_t columns) {
    return mlir::RankedTensorType::get({rows, columns}, compute);
  }
  mlir::RankedTensorType sums(int64_t rows) {
    return mlir::RankedTensorType::get({rows}, builder.getF64Type());
  }

  mlir::Value constant(mlir::RankedTensorType type, double value) {
    auto attr = mlir::DenseElementsAttr::get(
        type,
        mlir::Attribute(builder.getFloatAttr(type.getElementType(), value)));
    return create<mlir::arith::ConstantOp>(attr);
  }
  mlir::Value index(int64_t value) {
    return create<mlir::arith::ConstantIndexOp>(value);
  }
  mlir::Value add(mlir::Value a, mlir::Value b) {
    return create<mlir::arith::AddFOp>(a, b);
  }
  mlir::Value sub(mlir::Value a, mlir::Value b) {
    return create<mlir::arith::SubFOp>(a, b);
  }
  mlir::Value mul(mlir::Value a, mlir::Value b) {
    return create<mlir::arith::MulFOp>(a, b);
  }
  mlir::Value neg(mlir::Value a) { return create<mlir::arith::NegFOp>(a); }
  mlir::Value exp(mlir::Value a) { return create<mlir::math::ExpOp>(a); }

  /// From f64 sums to the compute type.
  mlir::Value fromSums(mlir::Value sums) {
    auto type = mlir::cast<mlir::RankedTensorType>(sums.getType());
    if (type.getElementType() == compute)
      return sums;
    return create<mlir::arith::TruncFOp>(vector(type.getDimSize(0)), sums);
  }
  mlir::Value scaleRows(mlir::Value matrix, mlir::Value scale) {
    return create<tile::ScaleRowsOp>(matrix.getType(), matrix, scale);
  }
  mlir::Value splatLast(mlir::Value vec, int64_t rows) {
    auto type = mlir::cast<mlir::RankedTensorType>(vec.getType());
    if (type.getDimSize(0) == rows && rows == 1)
      return vec;
    return create<tile::SplatLastOp>(
        mlir::RankedTensorType::get({rows}, type.getElementType()), vec);
  }
  /// acc + op(lhs) op(rhs); a null acc is zero.
  mlir::Value dot(mlir::Value lhs, bool transposeLhs, mlir::Value rhs,
                  bool transposeRhs, mlir::Value acc = {}) {
    auto l = mlir::cast<mlir::RankedTensorType>(lhs.getType()),
         r = mlir::cast<mlir::RankedTensorType>(rhs.getType());
    mlir::RankedTensorType type = matrix(l.getDimSize(transposeLhs ? 1 : 0),
                                         r.getDimSize(transposeRhs ? 0 : 1));
    if (!acc)
      acc = constant(type, 0.0);
    return create<tile::DotOp>(type, lhs, rhs, acc, transposeLhs, transposeRhs);
  }
  mlir::Value interleave(mlir::ValueRange inputs) {
    if (inputs.size() == 1)
      return inputs.front();
    auto type = mlir::cast<mlir::RankedTensorType>(inputs.front().getType());
    llvm::SmallVector<int64_t> shape(type.getShape());
    shape[0] *= inputs.size();
    return create<tile::InterleaveOp>(
        mlir::RankedTensorType::get(shape, type.getElementType()), inputs);
  }
};

} // namespace prism

#endif // PRISM_LIB_CONVERSION_SCANTOTILE_TILEBUILDER_H
