//===- Expression.h - What `let` computes -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
//   expression := term (('+' | '-') term)*
//   term       := unary (('*' | '/') unary)*
//   unary      := '-' unary | number | name | function '(' arguments ')' | '('
//   expression ')'
//
// Functions are elementwise, except l2norm(x, epsilon) along the last axis and
// row(x, i), row i of the first of x's axes; epsilon and i are plain numbers.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_SPEC_EXPRESSION_H
#define PRISM_SPEC_EXPRESSION_H

#include "Prism/Spec/Diagnostic.h"
#include "llvm/Support/LogicalResult.h"
#include <memory>
#include <vector>

namespace prism::spec {

enum class Function {
  Abs,
  Erf,
  Exp,
  Expm1,
  Gelu,
  L2Norm,
  Log,
  Log1p,
  LogSigmoid,
  Max,
  Min,
  Pow,
  Relu,
  Row,
  Rsqrt,
  Sigmoid,
  Silu,
  Softplus,
  Sqrt,
  Tanh
};

/// All functions by name, sorted.
llvm::ArrayRef<std::pair<llvm::StringLiteral, Function>> getFunctions();

enum class ExprKind {
  Number,
  Name,
  Negate,
  Add,
  Subtract,
  Multiply,
  Divide,
  Call
};

struct Expr {
  ExprKind kind = ExprKind::Number;
  /// Where it starts in the text, in bytes.
  size_t offset = 0;
  double number = 0;
  std::string name;
  Function function = Function::Abs;
  std::vector<Expr> operands;
  /// Feature axes of the value; empty for a scalar. Filled by the meaning
  /// stage.
  std::vector<std::string> axes;
};

/// What the parser could not read: byte offset and message.
struct ExprError {
  size_t offset = 0;
  std::string message;
  std::string nearest;
};

llvm::FailureOr<Expr> parseExpression(llvm::StringRef text, ExprError &error);

} // namespace prism::spec

#endif // PRISM_SPEC_EXPRESSION_H
