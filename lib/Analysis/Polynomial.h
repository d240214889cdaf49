//===- Polynomial.h - Forms written out over indices ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A form keeps sums and views nested as they were computed. Here it is
// multiplied out: an element of the value, at free indices, is a sum of
// products of elements of leaves, each summed over bound indices. Bound indices
// have no names of their own, so equal values of this kind have equal keys,
// however they were nested: (C B) A and C (B A) are one double sum.
//
// Exponentials of sums become products, and maxima (minima) of maxima one
// maximum, into which what is added to one of them is taken: enough for decays
// in log space and for stabilised sums of exponentials.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_ANALYSIS_POLYNOMIAL_H
#define PRISM_LIB_ANALYSIS_POLYNOMIAL_H

#include "Prism/Analysis/StateForm.h"
#include "mlir/IR/AffineExpr.h"
#include <string>

namespace prism::analysis {

struct Product;
/// A sum.
using Polynomial = std::vector<Product>;

/// An atom's element, or a function of polynomials.
struct IndexedFactor {
  const Atom *atom = nullptr;                  // null for a function
  std::string function;                        // its name
  llvm::SmallVector<mlir::AffineExpr> indices; // of the atom
  std::vector<Polynomial> arguments;           // of the function
  double power = 1.0;
};

struct Product {
  double coefficient = 1.0;
  std::vector<IndexedFactor> factors;
  /// Bound indices (dims) and their extents.
  llvm::SmallVector<std::pair<unsigned, int64_t>> sums;
};

class PolynomialBuilder {
public:
  explicit PolynomialBuilder(mlir::MLIRContext *context) : context(context) {}

  /// A key that equal forms share; nothing if the form is too large. Forms with
  /// different keys may still be equal.
  std::optional<std::string> keyOf(const Form &form);

private:
  using Indices = llvm::SmallVector<mlir::AffineExpr>;

  Polynomial expand(const Form &form, const Indices &indices);
  Polynomial expand(const Monomial &factors, const Indices &indices);
  Polynomial expand(const Atom *atom, int power, const Indices &indices);
  Polynomial expandFunction(const Atom *atom, const Indices &indices);
  Polynomial expandExp(const Polynomial &exponent);
  Polynomial expandExtremum(llvm::StringRef name,
                            std::vector<Polynomial> arguments);
  Polynomial multiply(const Polynomial &a, const Polynomial &b);
  std::string keyOf(const Polynomial &sum);
  std::string keyOf(const Product &product);
  std::string keyOf(const IndexedFactor &factor);
  bool spend(size_t products);

  mlir::MLIRContext *context;
  unsigned nextDim = 0;
  size_t budget = 20000;
  bool tooLarge = false;
  /// Bound indices in the order of their names, while a key is written.
  llvm::SmallVector<unsigned> names;
};

} // namespace prism::analysis

#endif // PRISM_LIB_ANALYSIS_POLYNOMIAL_H
