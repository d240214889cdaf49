//===- CarriedMaps.h - The maps that chains of factors are ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_DIALECT_SCAN_TRANSFORMS_CARRIEDMAPS_H
#define PRISM_LIB_DIALECT_SCAN_TRANSFORMS_CARRIEDMAPS_H

#include "Prism/Dialect/Scan/IR/Scan.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include <optional>

namespace prism::scan {

/// The map S -> M S + N of one state's chain, over tokens: M is carried as
/// little as its kind needs.
class CarriedMap {
public:
  enum Kind {
    identity, // nothing: N is added
    decay,    // the sum of the log-gates
    matrix,   // K x K
  };

  Kind kind = identity;
  DecayAlong along = DecayAlong::scalar; // of a decay
  mlir::RankedTensorType state;
  mlir::Value argument; // the state before the step
  llvm::SmallVector<StateOpInterface> chain;

  unsigned getNumComponents() const { return kind == identity ? 1 : 2; }
  /// What M is for one head, a tensor of rank 0 if it is a scalar; null if
  /// nothing is carried.
  mlir::RankedTensorType getOperandType() const;
  /// Its axis letters, of the letters of the state's features; `column` is the
  /// second axis of a matrix.
  std::string letters(llvm::StringRef features, char column) const;
  /// M of no token.
  mlir::Value createIdentity(mlir::OpBuilder &builder,
                             mlir::Location loc) const;

  /// M and N of a token; `mapping` has what the step's factors read, and
  /// `identity` is M of no token.
  mlir::Value createMap(mlir::OpBuilder &builder, mlir::Location loc,
                        const mlir::IRMapping &mapping,
                        mlir::Value identity) const;
  mlir::Value createOffset(mlir::OpBuilder &builder, mlir::Location loc,
                           const mlir::IRMapping &mapping) const;
  /// The components of the newer map after the older one.
  llvm::SmallVector<mlir::Value, 2>
  createComposition(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::ValueRange older, mlir::ValueRange newer) const;

private:
  mlir::Value applyChain(mlir::OpBuilder &builder, mlir::Value start,
                         mlir::IRMapping mapping, bool linearOnly) const;
  mlir::Value sumGates(mlir::OpBuilder &builder, mlir::Location loc,
                       const mlir::IRMapping &mapping) const;
  /// A gate of a decay as what is carried: widened and repeated.
  mlir::Value carryGate(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value gate, DecayAlong from) const;
};

/// The map of each state; or where there is none, and why.
std::optional<mlir::Location>
findCarriedMaps(RecurrenceOp op, llvm::SmallVectorImpl<CarriedMap> &maps,
                std::string &reason);

/// Clones all ops of the step that read no state.
void cloneStateFree(RecurrenceOp op, mlir::OpBuilder &builder,
                    mlir::IRMapping &mapping);

/// Erases ops without effect whose results are not used, from the last one up.
void eraseDeadOps(mlir::Block &block);

} // namespace prism::scan

#endif // PRISM_LIB_DIALECT_SCAN_TRANSFORMS_CARRIEDMAPS_H
