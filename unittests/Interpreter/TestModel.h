//===- TestModel.h - An entry function from text, for tests -------*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_INTERPRETER_TESTMODEL_H
#define PRISM_UNITTESTS_INTERPRETER_TESTMODEL_H

#include "Prism/Interpreter/Interpreter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "gtest/gtest.h"

namespace prism::interpreter {

/// Parses a module and evaluates its only function. Diagnostics are collected.
class TestModel {
public:
  explicit TestModel(llvm::StringRef text);

  /// The results; fails the test if there are none.
  Arrays run(const Arrays &inputs);
  /// The diagnostics of a call that must fail, one a line.
  std::string error(const Arrays &inputs);

private:
  mlir::FailureOr<Arrays> evaluateOnly(const Arrays &inputs);

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string messages;
};

/// Compares element by element; `tolerance` 0 asks for equality.
void expectValues(const Array &found, llvm::ArrayRef<double> want,
                  double tolerance = 0.0);

/// Text of an entry whose recurrence has one head and K x V states:
/// `ins` names its inputs and their axes ("q:bthk g:bth ..."), `body` is the
/// step, in which input x is %x_t and the state %S. Results: o, final_state.
/// The state is V x K with `valueFirst`; axis l has 2 elements.
std::string makeEntry(int64_t K, int64_t V, llvm::StringRef ins,
                      llvm::StringRef body, bool reverse = false,
                      bool valueFirst = false);

} // namespace prism::interpreter

#endif // PRISM_UNITTESTS_INTERPRETER_TESTMODEL_H
