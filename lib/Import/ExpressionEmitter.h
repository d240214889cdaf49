//===- ExpressionEmitter.h - `let` expressions as arith and math -*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expressions are computed in the model's arithmetic type (f32, or f64 for f64
// arrays), elementwise on scalars or small tensors, in forms that neither
// overflow nor cancel where the function itself does not.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_IMPORT_EXPRESSIONEMITTER_H
#define PRISM_LIB_IMPORT_EXPRESSIONEMITTER_H

#include "Prism/Spec/Expression.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

namespace prism::spec {

class ExpressionEmitter {
public:
  /// `find` gives the value of an input or let as it is (in its own type).
  ExpressionEmitter(mlir::OpBuilder &builder, mlir::FloatType type,
                    llvm::function_ref<mlir::Value(llvm::StringRef)> find)
      : builder(builder), type(type), find(find) {}

  mlir::Value emit(const Expr &expr, mlir::Location loc);

  /// `value` extended to the arithmetic type.
  mlir::Value extend(mlir::Value value, mlir::Location loc);
  /// A scalar spread over the shape of a tensor type; anything else as it is.
  mlir::Value spread(mlir::Value value, mlir::Type shapeLike,
                     mlir::Location loc);
  /// A constant of the arithmetic type, of the shape of `like`.
  mlir::Value constant(double value, mlir::Type like, mlir::Location loc);

private:
  mlir::Value emitCall(const Expr &expr, mlir::Location loc);
  mlir::Value emitUnary(Function function, mlir::Value x, mlir::Location loc);
  mlir::Value emitRow(mlir::Value x, int64_t row, mlir::Location loc);
  /// exp(-|x|), which is in (0, 1].
  mlir::Value expOfMinusAbs(mlir::Value x, mlir::Location loc);
  mlir::Value sigmoid(mlir::Value x, mlir::Location loc);
  mlir::Value power(mlir::Value x, int64_t exponent, mlir::Location loc);
  mlir::Value softplus(mlir::Value x, mlir::Location loc);
  /// `value` of the axes `from` repeated to `to`, which has `shape`.
  mlir::Value repeat(mlir::Value value, llvm::ArrayRef<std::string> from,
                     llvm::ArrayRef<std::string> to,
                     llvm::ArrayRef<int64_t> shape, mlir::Location loc);
  /// An elementwise op on both operands, each repeated to the axes of both.
  template <typename Op>
  mlir::Value binary(const Expr &expr, mlir::Location loc);

  mlir::OpBuilder &builder;
  mlir::FloatType type;
  llvm::function_ref<mlir::Value(llvm::StringRef)> find;
};

} // namespace prism::spec

#endif // PRISM_LIB_IMPORT_EXPRESSIONEMITTER_H
