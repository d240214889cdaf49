//===- Interpreter.h - The f64 oracle -----------------------------*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Evaluates an entry function on f64 arrays, straight from the scan IR: one
// token at a time, op by op, every float type taken as f64. It shares nothing
// with the lowerings, so that it can judge them; the only meaning it borrows is
// each state factor's own applyStep.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_INTERPRETER_INTERPRETER_H
#define PRISM_INTERPRETER_INTERPRETER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include <vector>

namespace prism::interpreter {

/// A dense array, row major.
struct Array {
  llvm::SmallVector<int64_t> shape;
  std::vector<double> data;

  Array() = default;
  /// An array of zeros.
  explicit Array(llvm::ArrayRef<int64_t> shape);
  Array(llvm::ArrayRef<int64_t> shape, std::vector<double> data);
};

/// Arrays by name. Integers (offsets) are held as doubles too.
using Arrays = llvm::StringMap<Array>;

/// The name of an argument or result of an entry function: its "scan.name", or
/// "arg<i>" / "result<i>" without one.
std::string getArgumentName(mlir::func::FuncOp entry, unsigned index);
std::string getResultName(mlir::func::FuncOp entry, unsigned index);

/// In which order the elements of a prefix scan are joined.
enum class JoinOrder {
  tree,     // as it means
  fromLeft, // one after another: the same if the aggregation is associative
};

/// Runs `entry` on `inputs`. Arguments marked "scan.optional" may be missing.
/// Fails with a located diagnostic: an input that is missing, unknown or has
/// the wrong shape, or an op that has no evaluation. Work is spread over the
/// threads of the entry's context, if it has any; the result does not depend
/// on them.
mlir::FailureOr<Arrays> evaluate(mlir::func::FuncOp entry, const Arrays &inputs,
                                 JoinOrder order = JoinOrder::tree);

} // namespace prism::interpreter

#endif // PRISM_INTERPRETER_INTERPRETER_H
