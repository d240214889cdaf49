//===- StateForm.cpp - Sums of products of atoms --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "FormKeys.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <cmath>

using namespace mlir;
using namespace prism;
using namespace prism::analysis;

// Larger forms are forgotten: what is lost is precision, never soundness.
static constexpr size_t kMaxTerms = 96;
static constexpr size_t kMaxProducts = 2048;
static constexpr unsigned kMaxDepth = 96;

//===----------------------------------------------------------------------===//
// Looking at forms
//===----------------------------------------------------------------------===//

Dependence analysis::dependenceOf(const Monomial &factors) {
  int degree = 0;
  for (auto [atom, power] : factors) {
    if (atom->dependence == Dependence::other)
      return Dependence::other;
    if (atom->dependence == Dependence::affine)
      degree += power > 0 ? power : 2; // a quotient is not affine
  }
  return degree == 0   ? Dependence::none
         : degree == 1 ? Dependence::affine
                       : Dependence::other;
}

Dependence analysis::dependenceOf(const Form &form) {
  Dependence result = Dependence::none;
  for (const Term &term : form.terms)
    result = std::max(result, dependenceOf(term.factors));
  return result;
}

bool analysis::readsEntry(const Form &form) {
  return llvm::any_of(form.terms, [](const Term &term) {
    return llvm::any_of(term.factors,
                        [](auto factor) { return factor.first->readsEntry; });
  });
}

bool analysis::isPartial(const Monomial &factors) {
  return llvm::any_of(factors, [](auto factor) {
    return factor.first->partial ||
           (factor.second < 0 && factor.first->dependence != Dependence::none);
  });
}

bool analysis::isPartial(const Form &form) {
  return llvm::any_of(form.terms,
                      [](const Term &term) { return isPartial(term.factors); });
}

std::optional<double> analysis::constantOf(const Form &form) {
  if (form.terms.empty())
    return 0.0;
  if (form.terms.size() == 1 && form.terms[0].factors.empty())
    return form.terms[0].coefficient;
  return std::nullopt;
}

bool analysis::isEqual(const Form &a, const Form &b) {
  if (a.shape != b.shape || a.terms.size() != b.terms.size())
    return false;
  // Coefficients may be NaN, which is not equal to itself, and so it should be.
  return llvm::all_of(llvm::zip_equal(a.terms, b.terms), [](auto pair) {
    auto &[x, y] = pair;
    return x.factors == y.factors && x.coefficient == y.coefficient;
  });
}

static bool mentionsIn(const Atom *in, const Atom *what,
                       llvm::DenseSet<const Atom *> &seen);

static bool mentionsIn(const Monomial &factors, const Atom *what,
                       llvm::DenseSet<const Atom *> &seen) {
  return llvm::any_of(factors, [&](auto factor) {
    return mentionsIn(factor.first, what, seen);
  });
}

static bool mentionsIn(const Atom *in, const Atom *what,
                       llvm::DenseSet<const Atom *> &seen) {
  if (in == what)
    return true;
  // Atoms are made after those that they are made of.
  if (in->id < what->id || !seen.insert(in).second)
    return false;
  if (in->operand && mentionsIn(in->operand, what, seen))
    return true;
  if (mentionsIn(in->product, what, seen))
    return true;
  return llvm::any_of(in->arguments, [&](const Form &argument) {
    return llvm::any_of(argument.terms, [&](const Term &term) {
      return mentionsIn(term.factors, what, seen);
    });
  });
}

bool analysis::mentions(const Form &form, const Atom *atom) {
  llvm::DenseSet<const Atom *> seen;
  return llvm::any_of(form.terms, [&](const Term &term) {
    return mentionsIn(term.factors, atom, seen);
  });
}

const Atom *analysis::onlyAtom(const Form &form) {
  if (form.terms.size() != 1 || form.terms[0].coefficient != 1.0 ||
      form.terms[0].factors.size() != 1 || form.terms[0].factors[0].second != 1)
    return nullptr;
  return form.terms[0].factors[0].first;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static bool before(const Monomial &a, const Monomial &b) {
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(), [](auto x, auto y) {
        return std::pair(x.first->id, x.second) <
               std::pair(y.first->id, y.second);
      });
}

void FormContext::addTerm(Form &form, const Monomial &factors,
                          double coefficient) {
  auto at = llvm::lower_bound(form.terms, factors,
                              [](const Term &term, const Monomial &m) {
                                return before(term.factors, m);
                              });
  if (at == form.terms.end() || at->factors != factors) {
    if (coefficient != 0.0 || isPartial(factors))
      form.terms.insert(at, Term{factors, coefficient});
    return;
  }
  at->coefficient += coefficient;
  // What may be undefined does not go away: 0 * log S is not 0 for every S.
  if (at->coefficient == 0.0 && !isPartial(factors))
    form.terms.erase(at);
}

Monomial analysis::multiplyMonomials(const Monomial &a, const Monomial &b) {
  Monomial result;
  const auto *x = a.begin(), *y = b.begin();
  while (x != a.end() || y != b.end()) {
    if (y == b.end() || (x != a.end() && x->first->id < y->first->id)) {
      result.push_back(*x++);
    } else if (x == a.end() || y->first->id < x->first->id) {
      result.push_back(*y++);
    } else {
      int power = x->second + y->second;
      // A quotient by the state keeps its pole.
      if (x->first->dependence != Dependence::none &&
          (x->second < 0 || y->second < 0))
        power = std::min(x->second, y->second);
      if (x->first->boolean && power > 1)
        power = 1;
      if (power != 0)
        result.push_back({x->first, power});
      ++x, ++y;
    }
  }
  return result;
}

Form FormContext::constant(double value, ShapeRef shape) {
  Form form{Shape(shape), {}};
  addTerm(form, {}, value);
  return form;
}

Form FormContext::forget(const Form &a) {
  return leaf(a.shape, dependenceOf(a), readsEntry(a), isPartial(a));
}

Form FormContext::add(const Form &a, const Form &b, double factor) {
  Form left = broadcast(a, b.shape), right = broadcast(b, left.shape);
  for (const Term &term : right.terms)
    addTerm(left, term.factors, factor * term.coefficient);
  return left.terms.size() > kMaxTerms ? forget(left) : left;
}

Form FormContext::scale(const Form &a, double factor) {
  Form result{a.shape, {}};
  for (const Term &term : a.terms)
    addTerm(result, term.factors, factor * term.coefficient);
  return result;
}

Form FormContext::multiply(const Form &a, const Form &b) {
  Form left = broadcast(a, b.shape), right = broadcast(b, left.shape);
  if (left.terms.size() * right.terms.size() > kMaxProducts) {
    left = forget(left), right = forget(right);
  }
  Form result{left.shape, {}};
  for (const Term &x : left.terms)
    for (const Term &y : right.terms)
      addTerm(result, multiplyMonomials(x.factors, y.factors),
              x.coefficient * y.coefficient);
  // The empty form is 0; what was undefined in the other stays so.
  if (left.terms.empty() || right.terms.empty())
    for (const Term &term : left.terms.empty() ? right.terms : left.terms)
      addTerm(result, term.factors, 0.0);
  return result.terms.size() > kMaxTerms ? forget(result) : result;
}

std::optional<Form> FormContext::divide(const Form &a, const Form &b) {
  if (dependenceOf(b) != Dependence::none)
    return std::nullopt;
  if (std::optional<double> value = constantOf(b)) {
    if (*value == 0.0 || !std::isfinite(*value))
      return std::nullopt;
    return scale(broadcast(a, b.shape), 1.0 / *value);
  }
  // Only one term has an inverse among the terms; a sum becomes an atom.
  Form divisor = b.terms.size() == 1
                     ? b
                     : function(StringAttr::get(context, kSumName), {b},
                                b.shape, /*total=*/true);
  Term inverse = divisor.terms[0];
  if (inverse.coefficient == 0.0)
    return std::nullopt;
  inverse.coefficient = 1.0 / inverse.coefficient;
  for (auto &[atom, power] : inverse.factors)
    power = -power;
  return multiply(a, Form{divisor.shape, {inverse}});
}

Form FormContext::select(const Form &condition, const Form &a, const Form &b) {
  // b + condition (a - b), of a condition that is 0 or 1. Neither side may be
  // undefined where the other one is chosen.
  if (isPartial(a) || isPartial(b))
    return leaf(broadcast(a, condition.shape).shape, Dependence::other,
                readsEntry(a) || readsEntry(b), true);
  return add(b, multiply(condition, add(a, b, -1.0)));
}

//===----------------------------------------------------------------------===//
// Atoms
//===----------------------------------------------------------------------===//

const Atom *FormContext::intern(Key key, Atom atom) {
  // Without a key an atom is like no other.
  if (!key.empty()) {
    auto found = known.find(key);
    if (found != known.end())
      return found->second;
  }
  if (atom.depth > kMaxDepth) {
    // Recursions over atoms stay shallow: the operands are forgotten.
    atom.kind = AtomKind::leaf;
    atom.depth = 0;
    atom.operand = nullptr;
    atom.product.clear();
    atom.arguments.clear();
  }
  atom.id = atoms.size();
  const Atom *made = &atoms.emplace_back(std::move(atom));
  if (!key.empty())
    known.emplace(std::move(key), made);
  return made;
}

Form analysis::formOf(const Atom *atom) {
  return Form{atom->shape, {Term{{{atom, 1}}, 1.0}}};
}

Form FormContext::leaf(ShapeRef shape, Dependence dependence, bool readsEntry,
                       bool partial) {
  Atom atom(AtomKind::leaf);
  atom.shape = Shape(shape);
  atom.dependence = dependence;
  atom.readsEntry = readsEntry && dependence != Dependence::none;
  atom.partial = partial && dependence == Dependence::other;
  return formOf(intern({}, std::move(atom)));
}

Form FormContext::keyedLeaf(Attribute name, ShapeRef shape) {
  Atom atom(AtomKind::leaf);
  atom.shape = Shape(shape);
  Key key = {uint64_t(AtomKind::leaf), keyOf(name.getAsOpaquePointer())};
  append(key, shape);
  return formOf(intern(std::move(key), std::move(atom)));
}

Form FormContext::identity(int64_t extent) {
  Form index = keyedLeaf(StringAttr::get(context, "index"), {extent});
  auto along = [&](unsigned axis) {
    return view(index, AffineMap::get(2, 0, getAffineDimExpr(axis, context)),
                {extent, extent});
  };
  return function(StringAttr::get(context, kIdentityName), {along(0), along(1)},
                  {extent, extent}, /*total=*/true);
}

const Atom *FormContext::functionAtom(Attribute name, ArrayRef<Form> arguments,
                                      ShapeRef shape, bool total,
                                      bool boolean) {
  Atom atom(AtomKind::function);
  atom.name = name;
  atom.shape = Shape(shape);
  atom.boolean = boolean;
  atom.total = total;
  Key key = {uint64_t(AtomKind::function), keyOf(name.getAsOpaquePointer()),
             total, boolean};
  append(key, shape);
  for (const Form &argument : arguments) {
    if (dependenceOf(argument) != Dependence::none) {
      atom.dependence = Dependence::other;
      atom.partial |= !total || isPartial(argument);
      atom.readsEntry |= readsEntry(argument);
    }
    key.push_back(argument.terms.size());
    append(key, argument.shape);
    for (const Term &term : argument.terms) {
      append(key, term.factors);
      key.push_back(llvm::bit_cast<uint64_t>(term.coefficient));
      for (auto [factor, power] : term.factors)
        atom.depth = std::max(atom.depth, factor->depth + 1);
    }
  }
  atom.arguments.assign(arguments.begin(), arguments.end());
  return intern(std::move(key), std::move(atom));
}

Form FormContext::function(Attribute name, ArrayRef<Form> arguments,
                           ShapeRef shape, bool total, bool boolean) {
  SmallVector<Form> wide;
  for (const Form &argument : arguments)
    wide.push_back(broadcast(argument, shape));
  return formOf(functionAtom(name, wide, shape, total, boolean));
}
