//===- PlainForm.h - A step of any ops, one token at a time -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The serial form of a step that is more than factors and elementwise ops: the
// program carries the states as the step has them and holds its ops as they
// are, on tensors without batch, time or heads. State factors become linalg
// ops. What follows is upstream's: bufferization, fusion, loops.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_SCANTOTILE_PLAINFORM_H
#define PRISM_LIB_CONVERSION_SCANTOTILE_PLAINFORM_H

#include "Prism/Dialect/Scan/IR/Scan.h"
#include "Prism/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/IRMapping.h"

namespace prism {

/// Rewrites the scan ops below `root` in linalg and arith.
void lowerFactorsToLinalg(mlir::Operation *root);

class PlainForm {
public:
  PlainForm(scan::RecurrenceOp op, tile::ProgramOp program,
            llvm::ArrayRef<mlir::Value> inputViews,
            llvm::ArrayRef<mlir::Value> initialViews,
            llvm::ArrayRef<mlir::Value> outputViews,
            llvm::ArrayRef<mlir::Value> finalViews)
      : op(op), program(program), inputViews(inputViews),
        initialViews(initialViews), outputViews(outputViews),
        finalViews(finalViews), b(op.getContext()) {}

  /// Is every op of the step one that this form takes? Else an error at it.
  static llvm::LogicalResult check(scan::RecurrenceOp op);
  /// Fills the program's empty body.
  void emit();

private:
  mlir::Value loadState(unsigned i);
  mlir::Value loadInput(unsigned i, mlir::Value step);
  void storeOutput(unsigned i, mlir::Value value, mlir::Value step);
  mlir::Value enterMiniBatch(mlir::Value step, mlir::Value state,
                             mlir::Value entry);
  llvm::SmallVector<mlir::Value> emitStep(mlir::Value step,
                                          mlir::ValueRange carried);
  llvm::SmallVector<mlir::Value> indices(mlir::Value view, mlir::Value step);
  void cloneConstants();
  void keepInside(mlir::Operation *nested);

  scan::RecurrenceOp op;
  tile::ProgramOp program;
  llvm::ArrayRef<mlir::Value> inputViews, initialViews, outputViews, finalViews;
  mlir::OpBuilder b;
  mlir::IRMapping map;
};

} // namespace prism

#endif // PRISM_LIB_CONVERSION_SCANTOTILE_PLAINFORM_H
