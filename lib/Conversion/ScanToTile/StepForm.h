//===- StepForm.h - A chain of factors, one token at a time -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The recurrent form: the step's region op by op, each factor applied to its
// state in turn. It takes what has no chunk form, or is dearer as a chunk of
// one: decays of parts of the state, several states, outputs that are computed
// from reads. Chunks of several states step through states of one number so.
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
  StepForm(TileBuilder &tb, TokenTiles &tokens, int64_t valueBlock)
      : tb(tb), tokens(tokens), valueBlock(valueBlock) {}

  /// Has the chain a decay of parts of the state?
  static bool isNeeded(llvm::ArrayRef<scan::StateOpInterface> chain);

  /// Steps the states through the region; fills one tile per output and returns
  /// the next states. `start` is what the first one's tile stands for: the
  /// state argument, or its transpose.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  emit(scan::RecurrenceOp op, mlir::Value start, mlir::ValueRange states,
       llvm::SmallVectorImpl<mlir::Value> &outputs);

  /// Begins a step with states of these tiles.
  void enter(mlir::Value state, mlir::Value tile);
  /// Takes a factor or a read; other ops are evaluated where they are needed.
  mlir::LogicalResult step(mlir::Operation *op);
  /// The tile of a state of the step, or what was read of one. Null, with a
  /// diagnostic, if there is none.
  mlir::Value stateOf(mlir::Value stepValue);

  void addDecay(mlir::Value logGate, scan::DecayAlong along) override;
  void addErase(mlir::Value of, mlir::Value read, mlir::Value write,
                mlir::Value strength) override;
  void addInject(mlir::Value key, mlir::Value value,
                 mlir::Value scale) override;

private:
  mlir::Value emitRead(scan::ReadOp read);
  bool isWholeRow(mlir::Value key) const;
  mlir::Value stackRanks(mlir::Value stepValue, Along along);

  TileBuilder &tb;
  TokenTiles &tokens;
  int64_t valueBlock;
  int64_t keys = 0, columns = 0; // of the state that a factor changes
  mlir::Value current;           // null after a failure that was reported
  llvm::DenseMap<mlir::Value, mlir::Value> tileOf;
};

} // namespace prism

#endif // PRISM_LIB_CONVERSION_SCANTOTILE_STEPFORM_H
