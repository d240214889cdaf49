//===- StepForm.h - A chain of factors, one token at a time -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The recurrent form of a chain with a decay of parts of the state (per key,
// per value, per element): each factor applied to the state in turn.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_SCANTOTILE_STEPFORM_H
#define PRISM_LIB_CONVERSION_SCANTOTILE_STEPFORM_H

#include "Prism/Dialect/Scan/IR/Scan.h"
#include "TileBuilder.h"
#include "TokenTiles.h"

namespace prism {

class StepForm final : public scan::ChunkAssembler {
public:
  StepForm(TileBuilder &tb, TokenTiles &tokens, int64_t keys,
           int64_t valueBlock)
      : tb(tb), tokens(tokens), keys(keys), valueBlock(valueBlock) {}

  /// Has the chain a decay of parts of the state?
  static bool isNeeded(llvm::ArrayRef<scan::StateOpInterface> chain);

  /// Steps `state` through the chain; fills one output tile per read.
  mlir::FailureOr<mlir::Value>
  emit(llvm::ArrayRef<scan::StateOpInterface> chain, mlir::Value start,
       mlir::Value state, llvm::ArrayRef<scan::ReadOp> reads,
       llvm::SmallVectorImpl<mlir::Value> &outputs);

  void addDecay(mlir::Operation *factor, mlir::Value logGate,
                scan::DecayAlong along) override;
  void addErase(mlir::Operation *factor, mlir::Value of, mlir::Value read,
                mlir::Value write, mlir::Value strength) override;
  void addInject(mlir::Operation *factor, mlir::Value key, mlir::Value value,
                 mlir::Value scale) override;

private:
  bool isWholeRow(mlir::Value key) const;
  mlir::Value stackRanks(mlir::Value stepValue, Along along);

  TileBuilder &tb;
  TokenTiles &tokens;
  int64_t keys, valueBlock;
  mlir::Value current; // null after a failure that was reported
  llvm::DenseMap<mlir::Value, mlir::Value> tileOf;
};

} // namespace prism

#endif // PRISM_LIB_CONVERSION_SCANTOTILE_STEPFORM_H
