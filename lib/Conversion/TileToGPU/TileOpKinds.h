//===- TileOpKinds.h - What kind of op stands in a program ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_TILETOGPU_TILEOPKINDS_H
#define PRISM_LIB_CONVERSION_TILETOGPU_TILEOPKINDS_H

#include "Prism/Dialect/Tile/IR/Tile.h"

namespace prism::tiletogpu {

inline bool isTensor(mlir::Value value) {
  return mlir::isa<mlir::RankedTensorType>(value.getType());
}

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// arith or math on tensors, element by element.
inline bool isElementwise(mlir::Operation *op) {
  return op->getNumResults() == 1 && isTensor(op->getResult(0)) &&
         op->getNumOperands() > 0 &&
         mlir::OpTrait::hasElementwiseMappableTraits(op);
}

inline bool isSplatConstant(mlir::Operation *op) {
  auto constant = mlir::dyn_cast<mlir::arith::ConstantOp>(op);
  auto dense =
      constant ? mlir::dyn_cast<mlir::DenseElementsAttr>(constant.getValue())
               : mlir::DenseElementsAttr();
  return dense && dense.isSplat();
}

/// A tile of one repeated scalar.
inline bool isSplat(mlir::Value tile) {
  mlir::Operation *op = tile.getDefiningOp();
  return op && (isSplatConstant(op) || mlir::isa<mlir::tensor::SplatOp>(op));
}

/// Each element of the result follows from few elements of the operands: such a
/// tile need not exist.
inline bool isVirtual(mlir::Operation *op) {
  return isElementwise(op) || isSplatConstant(op) ||
         mlir::isa<mlir::tensor::SplatOp, tile::ScaleRowsOp,
                   tile::ScaleColumnsOp, tile::SplatLastOp, tile::BroadcastOp,
                   tile::InterleaveOp, tile::MaskRowsOp, tile::DecayMatrixOp,
                   tile::LastRowOp, tile::UnitColumnsOp>(op);
}

/// The result is a sum or comes from memory: it is computed once.
inline bool isComputedOnce(mlir::Operation *op) {
  return mlir::isa<tile::LoadOp, tile::DotOp, tile::SolveOp, tile::GateSumOp,
                   tile::SumColumnsOp, tile::DecayProductOp,
                   tile::DecayedDotOp>(op);
}

/// Does it decay each channel by itself, from row to row of a chunk?
inline bool decaysChannels(mlir::Operation *op) {
  return mlir::isa<tile::DecayProductOp, tile::DecayedDotOp, tile::LastRowOp>(
      op);
}

/// Does it yield a tile of 16 bits? Those are for tensor cores.
inline bool isRounded(mlir::Operation *op) {
  return llvm::any_of(op->getResults(), [](mlir::Value result) {
    return isTensor(result) &&
           tensorType(result).getElementTypeBitWidth() == 16;
  });
}

inline bool isStructural(mlir::Operation *op) {
  return mlir::isa<mlir::scf::ForOp, mlir::scf::YieldOp, tile::StoreOp,
                   tile::ReturnOp, tile::LengthOp, tile::ValueOffsetOp>(op);
}

inline bool isScalarOp(mlir::Operation *op) {
  auto isScalar = [](mlir::Type type) { return type.isIntOrIndexOrFloat(); };
  return op->getNumRegions() == 0 && op->getNumResults() > 0 &&
         llvm::all_of(op->getResultTypes(), isScalar) &&
         llvm::all_of(op->getOperandTypes(), isScalar);
}

} // namespace prism::tiletogpu

#endif // PRISM_LIB_CONVERSION_TILETOGPU_TILEOPKINDS_H
