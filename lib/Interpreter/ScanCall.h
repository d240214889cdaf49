//===- ScanCall.h - The arrays of one op over time --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Binds arrays to the operands of an op whose operands and results name their
// axes, settles the extents that a call decides (rows, steps, sequences) and
// finds the features of one (sequence, step, head).
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_INTERPRETER_SCANCALL_H
#define PRISM_LIB_INTERPRETER_SCANCALL_H

#include "Prism/Interpreter/Interpreter.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace prism::interpreter {

/// The arrays of the entry's tensors; null: an optional argument left out.
using Bindings = llvm::DenseMap<mlir::Value, const Array *>;

/// Where the features of one (b or n, t, h) lie in an array.
class Window {
public:
  Window() = default;
  Window(llvm::ArrayRef<int64_t> shape, llvm::StringRef axes);

  bool movesWithTime() const { return time != 0; }
  /// `valueHeads` heads share this array's: h uses floor(h * heads / Hv).
  int64_t at(int64_t b, int64_t t, int64_t h, int64_t valueHeads) const {
    return b * outer + t * time + h * heads / valueHeads * head;
  }
  void gather(const Array &array, int64_t base,
              llvm::MutableArrayRef<double> to) const;
  void scatter(llvm::ArrayRef<double> from, int64_t base, Array &array) const;

private:
  int64_t outer = 0, time = 0, head = 0, heads = 1;
  std::vector<int64_t> places = {0};
};

/// An operand; `array` is null if it was left out.
struct BoundOperand {
  const Array *array = nullptr;
  Window window;
};

/// Where a sequence lies.
struct Rows {
  int64_t row, begin, end;
};

class ScanCall {
public:
  explicit ScanCall(mlir::Operation *op) : op(op) {}

  /// Binds operands with axes; what they say of b, t and n must agree.
  mlir::LogicalResult bind(mlir::ValueRange values, mlir::ArrayAttr axes,
                           llvm::StringRef what, bool mayBeAbsent,
                           const Bindings &bindings,
                           llvm::SmallVectorImpl<BoundOperand> &bound);
  /// Binds what has no axes: a captured value.
  mlir::LogicalResult bindPlain(mlir::Value value, llvm::StringRef what,
                                unsigned index, bool mayBeAbsent,
                                const Bindings &bindings, const Array *&array);
  mlir::LogicalResult bindOffsets(mlir::Value value, const Bindings &bindings);

  /// The extents that results give, static ones.
  mlir::LogicalResult settle(mlir::ValueRange results, mlir::ArrayAttr axes,
                             llvm::StringRef what);
  /// What is left: offsets, or the rule that every row is a sequence.
  mlir::LogicalResult settleSequences();

  /// Arrays of zeros for results, once all is settled.
  void makeResults(mlir::ValueRange values, mlir::ArrayAttr axes,
                   std::vector<Array> &results,
                   llvm::SmallVectorImpl<Window> &windows);
  int64_t getNumSequences() const { return *sequences; }
  Rows getRows(int64_t sequence) const;

private:
  mlir::LogicalResult settle(llvm::ArrayRef<int64_t> shape,
                             llvm::StringRef axes, const llvm::Twine &what);
  mlir::LogicalResult checkOffsets();
  std::optional<int64_t> *extentOf(char letter) {
    return letter == 'b'   ? &rows
           : letter == 't' ? &steps
           : letter == 'n' ? &sequences
                           : nullptr;
  }

  mlir::Operation *op;
  /// The extents that a call decides.
  std::optional<int64_t> rows, steps, sequences;
  const Array *offsets = nullptr;
};

} // namespace prism::interpreter

#endif // PRISM_LIB_INTERPRETER_SCANCALL_H
