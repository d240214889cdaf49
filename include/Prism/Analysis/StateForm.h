//===- StateForm.h - Values of a step as polynomials ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every value of a step is written as a sum of products of atoms, elementwise
// over the value's shape. An atom is the state, an input, a function of forms,
// or an atom seen through an index map or a sum. Equal atoms are the same
// object, so what is added and subtracted again cancels, and a value's
// dependence on the state can be read off: a product with one affine atom is
// affine, one with two is not.
//
// Arithmetic is that of the reals; casts between float types change nothing.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_ANALYSIS_STATEFORM_H
#define PRISM_ANALYSIS_STATEFORM_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Attributes.h"
#include "llvm/ADT/SmallVector.h"
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace prism::analysis {

using Shape = llvm::SmallVector<int64_t, 4>;
using ShapeRef = llvm::ArrayRef<int64_t>;

/// How a value depends on the states of the step.
enum class Dependence { none, affine, other };

struct Atom;

/// Atoms with their powers, in the order of their ids; never a power of 0.
using Monomial = llvm::SmallVector<std::pair<const Atom *, int>, 4>;

struct Term {
  Monomial factors;
  double coefficient;
};

/// A sum of terms, each different monomial once.
struct Form {
  Shape shape;
  llvm::SmallVector<Term, 2> terms;
};

/// What an atom stands for.
enum class AtomKind {
  leaf,     // a block argument, a captured value, or a value not looked into
  view,     // result[i] = operand[map(i)]
  reshape,  // the operand's elements in another shape
  function, // an elementwise function of forms
  sum,      // a product summed over trailing axes
  pad,      // a product placed among zeros
};

struct Atom {
  explicit Atom(AtomKind kind) : kind(kind) {}

  AtomKind kind;
  unsigned id = 0;
  unsigned depth = 0;
  Dependence dependence = Dependence::none;
  /// Reads a state as it was at the mini-batch's entry.
  bool readsEntry = false;
  /// A function that some state takes out of its domain: times 0 it is not 0.
  bool partial = false;
  /// The function is defined everywhere.
  bool total = true;
  /// Is 0 or 1.
  bool boolean = false;
  Shape shape;

  /// The operand of a view or reshape.
  const Atom *operand = nullptr;
  mlir::AffineMap map;
  /// The product under a sum or pad; its shape, and a pad's offsets.
  Monomial product;
  Shape inner, offsets;
  /// A function's name (and attributes) and arguments.
  mlir::Attribute name;
  llvm::SmallVector<Form, 2> arguments;
};

/// The name of a function that is its only argument, a sum that was divided by.
inline constexpr llvm::StringLiteral kSumName = "sum";

/// The name of a function that is 1 where its two arguments are equal, else 0:
/// the identity matrix, of its row and column.
inline constexpr llvm::StringLiteral kIdentityName = "identity";

/// Makes forms and owns their atoms.
class FormContext {
public:
  explicit FormContext(mlir::MLIRContext *context) : context(context) {}

  Form constant(double value, ShapeRef shape);
  Form leaf(ShapeRef shape, Dependence dependence, bool readsEntry = false,
            bool partial = false);
  /// A leaf that is the same for equal keys.
  Form keyedLeaf(mlir::Attribute key, ShapeRef shape);
  /// The identity matrix. A sum against it takes one summand.
  Form identity(int64_t extent);

  Form add(const Form &a, const Form &b, double factor = 1.0);
  Form multiply(const Form &a, const Form &b);
  /// Nothing if the divisor depends on the state or is 0.
  std::optional<Form> divide(const Form &a, const Form &b);
  Form scale(const Form &a, double factor);
  /// condition ? a : b, of a condition that is free of the state.
  Form select(const Form &condition, const Form &a, const Form &b);
  Form function(mlir::Attribute name, llvm::ArrayRef<Form> arguments,
                ShapeRef shape, bool total, bool boolean = false);

  /// result[i] = a[map(i)]; every dim of the map is an axis of `shape`.
  Form view(const Form &a, mlir::AffineMap map, ShapeRef shape);
  Form reshape(const Form &a, ShapeRef shape);
  /// Repeats a scalar; leaves a form of this shape as it is.
  Form broadcast(const Form &a, ShapeRef shape);
  /// Sums over all axes from `keep` on.
  Form sumTrailing(const Form &a, unsigned keep);
  /// Places `a` at `offsets` in zeros of `shape`.
  Form pad(const Form &a, ShapeRef offsets, ShapeRef shape);
  /// A new leaf that knows of `a` only how it depends on the state.
  Form forget(const Form &a);

private:
  Form sumOf(const Monomial &inside, ShapeRef shape, unsigned keep);
  std::optional<Form> collapseIdentity(const Term &term, ShapeRef shape,
                                       unsigned keep);
  using Key = std::vector<uint64_t>;
  const Atom *intern(Key key, Atom atom);
  const Atom *viewAtom(const Atom *atom, mlir::AffineMap map, ShapeRef shape);
  const Atom *reshapeAtom(const Atom *atom, ShapeRef shape);
  const Atom *functionAtom(mlir::Attribute name, llvm::ArrayRef<Form> arguments,
                           ShapeRef shape, bool total, bool boolean);
  Form mapAtoms(const Form &a, ShapeRef shape,
                llvm::function_ref<const Atom *(const Atom *)> change);
  void addTerm(Form &form, const Monomial &factors, double coefficient);

  mlir::MLIRContext *context;
  std::deque<Atom> atoms;
  std::map<Key, const Atom *> known;
};

Dependence dependenceOf(const Monomial &factors);
Dependence dependenceOf(const Form &form);
bool readsEntry(const Form &form);
bool isPartial(const Monomial &factors);
bool isPartial(const Form &form);
std::optional<double> constantOf(const Form &form);
bool isEqual(const Form &a, const Form &b);
/// True if `atom` occurs anywhere in the form.
bool mentions(const Form &form, const Atom *atom);
/// False if the atom's elements are the same all along the axis.
bool variesAlong(const Atom *atom, unsigned axis);
/// The atom of a form that is nothing else.
const Atom *onlyAtom(const Form &form);
Form formOf(const Atom *atom);
Monomial multiplyMonomials(const Monomial &a, const Monomial &b);

} // namespace prism::analysis

#endif // PRISM_ANALYSIS_STATEFORM_H
