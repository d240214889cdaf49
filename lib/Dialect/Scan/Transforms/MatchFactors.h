//===- MatchFactors.h - State factors in the form of a state ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_DIALECT_SCAN_TRANSFORMS_MATCHFACTORS_H
#define PRISM_LIB_DIALECT_SCAN_TRANSFORMS_MATCHFACTORS_H

#include "Prism/Analysis/StateFlow.h"

namespace prism::scan {

/// S <- exp(gate) S. The factor is what multiplies: exp(gate), or a value that
/// is never negative, whose logarithm the gate is.
struct MatchedDecay {
  DecayAlong along;
  analysis::Form gate;
  bool isLog; // else `gate` is the factor
};

/// A state of the step that is not the one being raised.
struct OtherState {
  const analysis::Atom *atom;
  mlir::Value value;
};

/// Rank R along a leading axis of all three, or rank 1 without it.
struct MatchedErase {
  analysis::Form read, write, strength; // K, K, scalar
  bool beforeDecay;                     // reads the state before the decay
  mlir::Value of;                       // reads another state, or null
};

/// Adds scale times another state.
struct MatchedAdd {
  mlir::Value state;
  analysis::Form scale;
};

/// Rank L along a leading axis of all three, or rank 1 without it.
struct MatchedInject {
  analysis::Form key, value, scale;
};

/// A state as a chain of factors of another one: the decay, then the erases,
/// which do not see each other, then other states and the injections.
struct MatchedChain {
  std::optional<MatchedDecay> decay;
  llvm::SmallVector<MatchedErase, 1> erases;
  llvm::SmallVector<MatchedAdd, 0> adds;
  llvm::SmallVector<MatchedInject, 1> injects;
};

/// y = scale S^T query.
struct MatchedRead {
  analysis::Form query;
  double scale;
};

class FactorMatcher {
public:
  /// Matches against the state `from`, K x V, in forms of `forms`.
  FactorMatcher(analysis::FormContext &forms, const analysis::Atom *from,
                llvm::ArrayRef<OtherState> others, mlir::MLIRContext *context,
                bool assumeNonNegative)
      : forms(forms), from(from), others(others), context(context),
        assumeNonNegative(assumeNonNegative) {}

  /// Nothing if the form is no such chain; `reason` then says what is missing.
  std::optional<MatchedChain> matchChain(const analysis::Form &form,
                                         std::string &reason);
  std::optional<MatchedRead> matchRead(const analysis::Form &form);

private:
  /// A term that reads the state through a sum over its keys.
  struct Contraction {
    analysis::Form read, outside; // K, or R x K; K x V
    mlir::Value of;               // null: of `from`
    // With ranks, R x K and R: what else is under their sum.
    std::optional<analysis::Form> write = std::nullopt, scales = std::nullopt;
  };
  std::optional<Contraction> matchContraction(const analysis::Term &term,
                                              std::string &reason);
  std::optional<Contraction> matchRankedContraction(const analysis::Term &term);
  /// A sum over ranks, the last axis under it, for each key and value.
  struct RankSum {
    const analysis::Atom *sum;
    unsigned keyAxis, valueAxis;
  };
  std::optional<RankSum> asRankSum(const analysis::Atom *atom);
  /// Takes a state, its keys and values at these axes, out of a product: which
  /// other one it is, null for `from`, or nothing.
  std::optional<mlir::Value> takeState(analysis::Monomial &product,
                                       llvm::ArrayRef<int> axes,
                                       analysis::ShapeRef space);
  bool matchAdd(const analysis::Term &term, MatchedChain &chain,
                std::string &reason);
  analysis::Form takeScales(analysis::Form &keys);
  std::optional<MatchedDecay> matchDecay(const analysis::Form &factor,
                                         std::string &reason);
  bool matchErase(const Contraction &taken,
                  const std::optional<MatchedDecay> &decay,
                  const analysis::Form &factor, MatchedChain &chain,
                  std::string &reason);
  bool matchInject(const analysis::Term &term, MatchedChain &chain,
                   std::string &reason);
  bool matchRankedInject(const analysis::Term &term, MatchedChain &chain);
  /// The product of the factors that vary along some axes, as a form of those
  /// axes alone; `rest` keeps the others.
  analysis::Form take(analysis::Monomial &rest, llvm::ArrayRef<unsigned> axes,
                      analysis::ShapeRef shape);
  analysis::Form formOfProduct(const analysis::Monomial &factors,
                               analysis::ShapeRef shape,
                               double coefficient = 1.0);
  mlir::AffineMap axesMap(llvm::ArrayRef<int> results, unsigned dims);

  analysis::FormContext &forms;
  const analysis::Atom *from;
  llvm::SmallVector<OtherState> others;
  mlir::MLIRContext *context;
  bool assumeNonNegative;
};

/// True if no value of the form is negative, whatever its inputs.
bool isNeverNegative(const analysis::Form &form);
/// True if the form is a function of this name: "math.exp".
bool isFunction(const analysis::Atom *atom, llvm::StringRef name);

} // namespace prism::scan

#endif // PRISM_LIB_DIALECT_SCAN_TRANSFORMS_MATCHFACTORS_H
