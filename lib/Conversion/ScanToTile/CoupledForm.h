//===- CoupledForm.h - Several states over a mini-batch ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// States that are decayed, added to each other and written to, where what is
// written does not depend on them but for their values at the mini-batch's
// entry. With the states of token t stacked to X_t and one writer
// w_t = key_t value_t^T for each injection and erase,
//
//   X_t = A_t X_(t-1) + sum over writers of b_t w_t
//
// with numbers in A_t and b_t. Every state value v of the step is a row of the
// same kind, v_t = c_t X_(t-1) + sum of d_t w_t, and over the tokens of a chunk
//
//   v_t = sum over states e of E_ve[t] X_e(entry)
//         + sum over writers of sum over s of C_vw[t, s] w_s
//
// where E_ve is the row's response to a state at the entry and C_vw its
// response to the writer (tile.initial_response, tile.impulse_response). A read
// of v is a masked product of queries with keys, as it is for a single state,
// with C_vw in the place of the decays; and the state that leaves is the last
// row. A state as it was at the entry is one more state, which stays.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_CONVERSION_SCANTOTILE_COUPLEDFORM_H
#define PRISM_LIB_CONVERSION_SCANTOTILE_COUPLEDFORM_H

#include "Prism/Dialect/Scan/IR/Scan.h"
#include "TileBuilder.h"
#include "TokenTiles.h"
#include "llvm/ADT/MapVector.h"

namespace prism {

class CoupledForm final : public scan::ChunkAssembler {
public:
  CoupledForm(TileBuilder &tb, TokenTiles &tokens, scan::RecurrenceOp op,
              int64_t chunk);

  /// Emits the algebra for the entering states; fills one output tile per read
  /// and returns the leaving states. Fails, with a diagnostic, on an op without
  /// a form here.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  emit(mlir::ValueRange entering, llvm::SmallVectorImpl<mlir::Value> &outputs);

  void addDecay(mlir::Value logGate, scan::DecayAlong along) override;
  void addErase(mlir::Value of, mlir::Value read, mlir::Value write,
                mlir::Value strength) override;
  void addInject(mlir::Value key, mlir::Value value,
                 mlir::Value scale) override;

private:
  /// Coefficients by state or writer, a vector of one element a token each;
  /// what is not there is 0.
  using Coefficients = llvm::MapVector<unsigned, mlir::Value>;
  /// A state value of the step.
  struct Sum {
    Coefficients states, writers;
  };
  struct Writer {
    mlir::Value key, keyTile, values;
    int64_t rank;
  };

  mlir::LogicalResult collect();
  void addPlainOp(mlir::Operation *op);
  mlir::LogicalResult addRead(scan::ReadOp read);
  bool changes(const Sum &sum);
  mlir::Value factorOf(mlir::Value tensor);
  void write(mlir::Value key, int64_t rank, mlir::Value values);
  mlir::Value readEntry(const Sum &seen, mlir::Value keys);
  llvm::SmallVector<Sum *> rowsThatMatter();
  void mergeWriters();
  void emitTransition();
  mlir::Value multiply(mlir::Value a, mlir::Value b);
  Sum scaled(const Sum &sum, mlir::Value factor);
  Sum added(const Sum &a, const Sum &b, bool subtract);
  const Sum *sumOf(mlir::Value state, mlir::Operation *user);
  llvm::SmallVector<mlir::Value> listed(const Coefficients &coefficients);
  bool reaches(const Coefficients &from, const Coefficients &to) const;

  mlir::Value entryResponse(const Sum &row, unsigned state);
  mlir::Value response(const Sum &row, unsigned writer);
  mlir::Value emitRead(scan::ReadOp read);
  mlir::Value withScale(scan::ReadOp read, mlir::Value out);
  mlir::Value leave(unsigned state);

  TileBuilder &tb;
  TokenTiles &tokens;
  scan::RecurrenceOp op;
  int64_t chunk;
  unsigned count; // the states, then those at the entry
  mlir::Value one, zero;
  llvm::SmallVector<mlir::Value> entering;
  llvm::DenseMap<mlir::Value, Sum> sums; // of the step's state values
  llvm::SmallVector<Writer> writers;
  llvm::SmallVector<Sum> next; // rows of the next states, then of the entries
  llvm::SmallVector<mlir::Value> transition;
  /// Of all states, those of the system: carried, or in some row that matters.
  llvm::SmallVector<unsigned> active;
  /// reachable[i * count + j]: state j flows into state i, at once or later.
  llvm::SmallVector<bool> reachable;
  mlir::Operation *factorAtHand = nullptr; // which contributes
  Sum current;                             // what it makes
  bool failedOnce = false;
};

} // namespace prism

#endif // PRISM_LIB_CONVERSION_SCANTOTILE_COUPLEDFORM_H
