//===- FormEmitter.h - Forms as ops of a step -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_DIALECT_SCAN_TRANSFORMS_FORMEMITTER_H
#define PRISM_LIB_DIALECT_SCAN_TRANSFORMS_FORMEMITTER_H

#include "Prism/Analysis/StateFlow.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"

namespace prism::scan {

/// Writes forms that are free of the state before an op of a step. Values of
/// the step that hold a form already are taken as they are, so that what was
/// one value stays one.
class FormEmitter {
public:
  FormEmitter(analysis::StateFlow &flow, mlir::Operation *before,
              mlir::Type element);

  /// Null if an atom of the form is held by no value and made by no op that is
  /// understood.
  mlir::Value emit(const analysis::Form &form);
  /// The natural logarithm of a form.
  mlir::Value emitLog(const analysis::Form &form);

  mlir::OpBuilder builder;

private:
  mlir::Value find(const analysis::Form &form);
  mlir::Value emitAtom(const analysis::Atom *atom);
  mlir::Value emitView(const analysis::Atom *atom);
  mlir::Value emitProduct(const analysis::Term &term, analysis::ShapeRef shape);
  mlir::Value constant(double value, analysis::ShapeRef shape);
  mlir::Value widen(mlir::Value value);
  mlir::Type typeOf(analysis::ShapeRef shape);

  analysis::StateFlow &flow;
  mlir::Operation *before;
  mlir::Type element;
  /// Values computed from a state, even if it cancels in them: not operands.
  llvm::DenseSet<mlir::Value> fromState;
};

} // namespace prism::scan

#endif // PRISM_LIB_DIALECT_SCAN_TRANSFORMS_FORMEMITTER_H
