//===- MatchFactors.cpp - State factors in the form of a state ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The form of a state is a sum of terms, each once, however it was written:
// factored or expanded, by named ops, generic ones or broadcasts. Terms that
// multiply the state elementwise are a decay, those that read it through a sum
// over its keys are erases, and those without it are injections.
//
//===----------------------------------------------------------------------===//

#include "MatchFactors.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace prism;
using namespace prism::scan;
using namespace prism::analysis;

bool scan::isFunction(const Atom *atom, StringRef name) {
  if (atom->kind != AtomKind::function)
    return false;
  auto parts = dyn_cast<ArrayAttr>(atom->name);
  auto plain = dyn_cast<StringAttr>(parts ? parts[0] : atom->name);
  return plain && plain.getValue() == name;
}

static bool isNeverNegative(const Atom *atom) {
  if (atom->boolean || isFunction(atom, "math.exp") ||
      isFunction(atom, "math.exp2") || isFunction(atom, "math.absf") ||
      isFunction(atom, "math.sqrt") || isFunction(atom, "math.rsqrt"))
    return true;
  if (atom->kind == AtomKind::view || atom->kind == AtomKind::reshape)
    return isNeverNegative(atom->operand);
  if (isFunction(atom, "arith.maximumf"))
    return scan::isNeverNegative(atom->arguments[0]) ||
           scan::isNeverNegative(atom->arguments[1]);
  return isFunction(atom, kSumName) &&
         scan::isNeverNegative(atom->arguments[0]);
}

bool scan::isNeverNegative(const Form &form) {
  return llvm::all_of(form.terms, [](const Term &term) {
    return term.coefficient >= 0.0 &&
           llvm::all_of(term.factors, [](auto factor) {
             return factor.second % 2 == 0 || ::isNeverNegative(factor.first);
           });
  });
}

//===----------------------------------------------------------------------===//
// Products by the axes that they vary along
//===----------------------------------------------------------------------===//

AffineMap FactorMatcher::axesMap(ArrayRef<int> results, unsigned dims) {
  SmallVector<AffineExpr> exprs;
  for (int axis : results)
    exprs.push_back(axis < 0 ? getAffineConstantExpr(0, context)
                             : getAffineDimExpr(axis, context));
  return AffineMap::get(dims, 0, exprs, context);
}

Form FactorMatcher::formOfProduct(const Monomial &factors, ShapeRef shape,
                                  double coefficient) {
  Form form{Shape(shape), {}};
  if (coefficient != 0.0)
    form.terms.push_back(Term{factors, coefficient});
  return form;
}

Form FactorMatcher::take(Monomial &rest, ArrayRef<unsigned> axes,
                         ShapeRef shape) {
  Monomial taken, kept;
  for (auto [atom, power] : rest) {
    bool fits = true, varies = false;
    for (unsigned axis = 0; axis < shape.size(); ++axis) {
      bool along = variesAlong(atom, axis);
      varies |= along;
      fits &= !along || llvm::is_contained(axes, axis);
    }
    // Scalars go with the scalars, which are asked for by no axes.
    (fits && varies == !axes.empty() ? taken : kept).push_back({atom, power});
  }
  rest = kept;
  Shape small;
  SmallVector<int> places(shape.size(), -1);
  for (unsigned axis : axes) {
    places[axis] = int(small.size());
    small.push_back(shape[axis]);
  }
  return forms.view(formOfProduct(taken, shape), axesMap(places, axes.size()),
                    small);
}

//===----------------------------------------------------------------------===//
// Reads and erases
//===----------------------------------------------------------------------===//

std::optional<FactorMatcher::Contraction>
FactorMatcher::matchContraction(const Term &term, std::string &reason) {
  const Atom *affine = nullptr;
  Monomial outside;
  for (auto [atom, power] : term.factors) {
    if (atom->dependence == Dependence::none)
      outside.push_back({atom, power});
    else
      affine = atom;
  }
  // From a matrix of equal rows down to the sum, one value for each column.
  const Atom *sum = affine;
  if (sum->kind == AtomKind::view) {
    if (variesAlong(sum, 0) && sum->shape.size() == 2) {
      reason = "what reads the state must be the same for every key";
      return std::nullopt;
    }
    sum = sum->operand;
  }
  int64_t keys = from->shape[0], columns = from->shape[1];
  // The sum keeps the axis of the values, if there is more than one of them.
  bool wide = columns > 1;
  Shape space = wide ? Shape{columns, keys} : Shape{keys};
  const Atom *state = onlyAtom(forms.view(
      formOf(from), wide ? axesMap({1, 0}, 2) : axesMap({0, -1}, 1), space));
  Monomial inside;
  bool found = false;
  if (sum->kind == AtomKind::sum && ShapeRef(sum->inner) == ShapeRef(space))
    for (auto [atom, power] : sum->product) {
      if (atom == state && power == 1)
        found = true;
      else
        inside.push_back({atom, power});
    }
  if (!found || dependenceOf(inside) != Dependence::none) {
    reason = "the state is read in another way than by a sum over its keys";
    return std::nullopt;
  }
  Form read = take(inside, {wide ? 1u : 0u}, space);
  if (!inside.empty()) {
    reason = "keys that differ from value to value";
    return std::nullopt;
  }
  return Contraction{read,
                     formOfProduct(outside, affine->shape, term.coefficient)};
}

std::optional<MatchedRead> FactorMatcher::matchRead(const Form &form) {
  if (form.terms.size() != 1 || form.shape.size() != 1 ||
      form.shape[0] != from->shape[1] ||
      dependenceOf(form) != Dependence::affine || !mentions(form, from))
    return std::nullopt;
  std::string reason;
  std::optional<Contraction> taken = matchContraction(form.terms[0], reason);
  if (!taken)
    return std::nullopt;
  std::optional<double> scale = constantOf(taken->outside);
  if (!scale)
    return std::nullopt;
  return MatchedRead{taken->read, *scale};
}

/// The form without the factors of `divisor`, if it has them all.
static std::optional<Form> without(FormContext &forms, const Form &form,
                                   const Form &divisor) {
  std::optional<Form> quotient = forms.divide(form, divisor);
  if (!quotient || quotient->terms.size() != 1 || form.terms.size() != 1)
    return std::nullopt;
  size_t before = llvm::count_if(form.terms[0].factors,
                                 [](auto factor) { return factor.second < 0; });
  size_t after = llvm::count_if(quotient->terms[0].factors,
                                [](auto factor) { return factor.second < 0; });
  if (after > before)
    return std::nullopt;
  return quotient;
}

bool FactorMatcher::matchErase(const Contraction &taken,
                               const std::optional<MatchedDecay> &decay,
                               const Form &factor, MatchedChain &chain,
                               std::string &reason) {
  MatchedErase erase{taken.read, {}, {}, decay.has_value()};
  Form outside = taken.outside;
  // An erase after the decay reads what was decayed: the decay is a factor of
  // what it read, by key, or of its strength.
  if (decay && decay->along == DecayAlong::key) {
    Form byKey = forms.view(factor, axesMap({0, -1}, 1), {from->shape[0]});
    if (std::optional<Form> read = without(forms, erase.read, byKey))
      erase.read = *read, erase.beforeDecay = false;
  } else if (decay && decay->along == DecayAlong::scalar) {
    if (std::optional<Form> less = without(forms, outside, factor))
      outside = *less, erase.beforeDecay = false;
  }
  Monomial rest = outside.terms[0].factors;
  Shape shape(from->shape);
  erase.write = take(rest, {0}, shape);
  erase.strength =
      forms.scale(take(rest, {}, shape), -outside.terms[0].coefficient);
  if (!rest.empty()) {
    reason = "an erase whose strength differs from value to value";
    return false;
  }
  chain.erases.push_back(std::move(erase));
  return true;
}

//===----------------------------------------------------------------------===//
// Decays
//===----------------------------------------------------------------------===//

std::optional<MatchedDecay> FactorMatcher::matchDecay(const Form &factor,
                                                      std::string &reason) {
  bool keys = false, values = false;
  for (const Term &term : factor.terms)
    for (auto [atom, power] : term.factors) {
      keys |= variesAlong(atom, 0);
      values |= variesAlong(atom, 1);
    }
  MatchedDecay decay{keys && values ? DecayAlong::element
                     : keys         ? DecayAlong::key
                     : values       ? DecayAlong::value
                                    : DecayAlong::scalar,
                     {},
                     false};
  Shape shape;
  SmallVector<int> places = {-1, -1};
  for (unsigned axis : {0u, 1u})
    if (axis == 0 ? keys : values) {
      places[axis] = int(shape.size());
      shape.push_back(from->shape[axis]);
    }
  decay.gate = forms.view(factor, axesMap(places, shape.size()), shape);
  // A product of exponentials: the gate is the sum of what they are taken of.
  if (decay.gate.terms.size() == 1 && decay.gate.terms[0].coefficient == 1.0 &&
      llvm::all_of(decay.gate.terms[0].factors, [](auto one) {
        return isFunction(one.first, math::ExpOp::getOperationName());
      })) {
    Form gate = forms.constant(0.0, shape);
    for (auto [atom, power] : decay.gate.terms[0].factors)
      gate = forms.add(gate, atom->arguments[0], double(power));
    decay.gate = gate;
    decay.isLog = true;
    return decay;
  }
  if (!assumeNonNegative && !scan::isNeverNegative(decay.gate)) {
    reason = "a decay by a factor that may be negative; a decay is given by a "
             "logarithm (assume-nonnegative-gates takes it)";
    return std::nullopt;
  }
  return decay;
}

//===----------------------------------------------------------------------===//
// Injections
//===----------------------------------------------------------------------===//

/// A sum over one axis: its ranks.
bool FactorMatcher::matchRankedInject(const Term &term, MatchedChain &chain) {
  const Atom *sum = nullptr;
  Monomial outside;
  for (auto [atom, power] : term.factors) {
    if (atom->kind == AtomKind::sum && power == 1 && !sum &&
        atom->inner.size() == 3 && atom->shape == from->shape)
      sum = atom;
    else
      outside.push_back({atom, power});
  }
  if (!sum)
    return false;
  Shape shape(from->shape);
  Form scalars = take(outside, {}, shape);
  if (!outside.empty())
    return false;
  Monomial rest = sum->product;
  Form key = take(rest, {0, 2}, sum->inner),
       value = take(rest, {1, 2}, sum->inner);
  // Scales vary along the ranks only, and so they went with the keys.
  if (!rest.empty())
    return false;
  int64_t ranks = sum->inner[2];
  MatchedInject inject;
  inject.key = forms.view(key, axesMap({1, 0}, 2), {ranks, shape[0]});
  inject.value = forms.view(value, axesMap({1, 0}, 2), {ranks, shape[1]});
  inject.scale =
      forms.broadcast(forms.scale(scalars, term.coefficient), {ranks});
  // Scales of their own.
  Monomial keyRest = inject.key.terms[0].factors;
  Form scales = take(keyRest, {0}, inject.key.shape);
  inject.key.terms[0].factors = keyRest;
  inject.scale = forms.multiply(inject.scale, scales);
  chain.injects.push_back(std::move(inject));
  return true;
}

bool FactorMatcher::matchInject(const Term &term, MatchedChain &chain,
                                std::string &reason) {
  Shape shape(from->shape);
  Monomial rest = term.factors;
  MatchedInject inject;
  inject.key = take(rest, {0}, shape);
  inject.value = take(rest, {1}, shape);
  inject.scale = forms.scale(take(rest, {}, shape), term.coefficient);
  if (!rest.empty()) {
    if (matchRankedInject(term, chain))
      return true;
    reason = "what is added to the state must be a key times a value";
    return false;
  }
  // Injections of one key and scale are one: their values are added.
  for (MatchedInject &other : chain.injects)
    if (isEqual(other.key, inject.key) && isEqual(other.scale, inject.scale)) {
      other.value = forms.add(other.value, inject.value);
      return true;
    }
  chain.injects.push_back(std::move(inject));
  return true;
}

std::optional<MatchedChain> FactorMatcher::matchChain(const Form &form,
                                                      std::string &reason) {
  if (form.shape != from->shape || form.shape.size() != 2 ||
      dependenceOf(form) != Dependence::affine) {
    reason = "it is not affine in the state";
    return std::nullopt;
  }
  Form factor{from->shape, {}};
  SmallVector<Contraction, 2> contractions;
  MatchedChain chain;
  for (const Term &term : form.terms) {
    if (dependenceOf(term.factors) == Dependence::none) {
      if (!matchInject(term, chain, reason))
        return std::nullopt;
      continue;
    }
    auto self = llvm::find_if(term.factors,
                              [&](auto one) { return one.first == from; });
    if (self != term.factors.end()) {
      Monomial others = term.factors;
      others.erase(others.begin() + (self - term.factors.begin()));
      factor = forms.add(factor,
                         formOfProduct(others, from->shape, term.coefficient));
      continue;
    }
    std::optional<Contraction> taken = matchContraction(term, reason);
    if (!taken)
      return std::nullopt;
    contractions.push_back(std::move(*taken));
  }
  if (factor.terms.empty()) {
    reason = "nothing of the state is kept as it is";
    return std::nullopt;
  }
  std::optional<double> constant = constantOf(factor);
  if (!constant || *constant != 1.0) {
    chain.decay = matchDecay(factor, reason);
    if (!chain.decay)
      return std::nullopt;
  }
  for (const Contraction &taken : contractions)
    if (!matchErase(taken, chain.decay, factor, chain, reason))
      return std::nullopt;
  return chain;
}
