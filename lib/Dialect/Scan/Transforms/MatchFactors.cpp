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

std::optional<Value> FactorMatcher::takeState(Monomial &product,
                                              ArrayRef<int> axes,
                                              ShapeRef space) {
  auto take = [&](const Atom *state) {
    const Atom *seen =
        onlyAtom(forms.view(formOf(state), axesMap(axes, space.size()), space));
    auto found = llvm::find(product, std::pair<const Atom *, int>(seen, 1));
    if (found == product.end())
      return false;
    product.erase(found);
    return true;
  };
  if (take(from))
    return Value();
  for (const OtherState &other : others)
    if (other.atom->shape == from->shape && take(other.atom))
      return other.value;
  return std::nullopt;
}

/// Scales of their own among keys with ranks, R x K.
Form FactorMatcher::takeScales(Form &keys) {
  if (keys.terms.size() != 1)
    return forms.constant(1.0, {keys.shape[0]});
  Monomial rest = keys.terms[0].factors;
  Form scales = take(rest, {0}, keys.shape);
  keys.terms[0].factors = rest;
  return scales;
}

std::optional<FactorMatcher::RankSum>
FactorMatcher::asRankSum(const Atom *atom) {
  RankSum found{atom, 0, 1};
  if (atom->kind == AtomKind::view &&
      atom->map == axesMap({1, 0}, 2)) // written values first
    found = {atom->operand, 1, 0};
  if (atom->shape != from->shape || found.sum->kind != AtomKind::sum ||
      found.sum->inner.size() != 3)
    return std::nullopt;
  return found;
}

/// A sum over ranks of what each reads of the state.
std::optional<FactorMatcher::Contraction>
FactorMatcher::matchRankedContraction(const Term &term) {
  const Atom *ranks = nullptr;
  Monomial outside;
  for (auto [atom, power] : term.factors)
    if (atom->dependence == Dependence::none)
      outside.push_back({atom, power});
    else
      ranks = power == 1 ? atom : nullptr;
  std::optional<RankSum> sum = ranks ? asRankSum(ranks) : std::nullopt;
  if (!sum)
    return std::nullopt;
  ShapeRef space = sum->sum->inner;
  Monomial rest;
  const Atom *seen = nullptr;
  for (auto [atom, power] : sum->sum->product)
    if (atom->dependence == Dependence::none)
      rest.push_back({atom, power});
    else
      seen = power == 1 ? atom : nullptr;
  if (!seen)
    return std::nullopt;
  // What is read, one for each rank and value, in whichever order.
  AffineMap places =
      AffineMap::getMultiDimIdentityMap(seen->shape.size(), context);
  if (seen->kind == AtomKind::view) {
    places = seen->map;
    seen = seen->operand;
  }
  if (seen->kind != AtomKind::sum || seen->inner.size() != 3 ||
      places.getNumResults() != 2)
    return std::nullopt;
  auto axisOf = [&](unsigned dim) {
    return places.getResult(0) == getAffineDimExpr(dim, context)   ? 0
           : places.getResult(1) == getAffineDimExpr(dim, context) ? 1
                                                                   : -1;
  };
  int valueAxis = axisOf(sum->valueAxis), rankAxis = axisOf(2);
  Monomial inside = seen->product;
  if (valueAxis < 0 || rankAxis < 0)
    return std::nullopt;
  std::optional<Value> of = takeState(inside, {2, valueAxis}, seen->inner);
  if (!of || dependenceOf(inside) != Dependence::none)
    return std::nullopt;
  Contraction taken{take(inside, {unsigned(rankAxis), 2}, seen->inner),
                    formOfProduct(outside, from->shape, term.coefficient), *of};
  Form write = take(rest, {sum->keyAxis, 2}, space);
  if (!inside.empty() || !rest.empty())
    return std::nullopt;
  taken.write =
      forms.view(write, axesMap({1, 0}, 2), {space[2], from->shape[0]});
  taken.scales =
      forms.multiply(takeScales(taken.read), takeScales(*taken.write));
  return taken;
}

std::optional<FactorMatcher::Contraction>
FactorMatcher::matchContraction(const Term &term, std::string &reason) {
  if (std::optional<Contraction> ranked = matchRankedContraction(term))
    return ranked;
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
  Monomial inside;
  std::optional<Value> of;
  if (sum->kind == AtomKind::sum && ShapeRef(sum->inner) == ShapeRef(space)) {
    inside = sum->product;
    of = wide ? takeState(inside, {1, 0}, space)
              : takeState(inside, {0, -1}, space);
  }
  if (!of || dependenceOf(inside) != Dependence::none) {
    reason = "the state is read in another way than by a sum over its keys";
    return std::nullopt;
  }
  Form read = take(inside, {wide ? 1u : 0u}, space);
  if (!inside.empty()) {
    reason = "keys that differ from value to value";
    return std::nullopt;
  }
  return Contraction{
      read, formOfProduct(outside, affine->shape, term.coefficient), *of};
}

std::optional<MatchedRead> FactorMatcher::matchRead(const Form &form) {
  if (form.terms.size() != 1 || form.shape.size() != 1 ||
      form.shape[0] != from->shape[1] ||
      dependenceOf(form) != Dependence::affine)
    return std::nullopt;
  std::string reason;
  std::optional<Contraction> taken = matchContraction(form.terms[0], reason);
  if (!taken || taken->of || taken->write)
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
  MatchedErase erase{taken.read, {}, {}, decay.has_value(), taken.of};
  Form outside = taken.outside;
  // An erase after the decay reads what was decayed: the decay is a factor of
  // what it read, by key, or of its strength.
  if (taken.of) {
    erase.beforeDecay = false;
  } else if (decay && decay->along == DecayAlong::key) {
    Form byKey = forms.view(
        factor, taken.write ? axesMap({1, -1}, 2) : axesMap({0, -1}, 1),
        taken.read.shape);
    if (std::optional<Form> read = without(forms, erase.read, byKey))
      erase.read = *read, erase.beforeDecay = false;
  } else if (decay && decay->along == DecayAlong::scalar) {
    if (std::optional<Form> less = without(forms, outside, factor))
      outside = *less, erase.beforeDecay = false;
  }
  Monomial rest = outside.terms[0].factors;
  Shape shape(from->shape);
  erase.write = taken.write ? *taken.write : take(rest, {0}, shape);
  erase.strength =
      forms.scale(take(rest, {}, shape), -outside.terms[0].coefficient);
  if (taken.write)
    erase.strength = forms.multiply(
        forms.broadcast(erase.strength, taken.scales->shape), *taken.scales);
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
  std::optional<RankSum> found;
  Monomial outside;
  for (auto [atom, power] : term.factors) {
    std::optional<RankSum> one;
    if (power == 1 && !found)
      one = asRankSum(atom);
    if (one)
      found = one;
    else
      outside.push_back({atom, power});
  }
  if (!found)
    return false;
  const Atom *sum = found->sum;
  Shape shape(from->shape);
  Form scalars = take(outside, {}, shape);
  if (!outside.empty())
    return false;
  Monomial rest = sum->product;
  Form key = take(rest, {found->keyAxis, 2}, sum->inner),
       value = take(rest, {found->valueAxis, 2}, sum->inner);
  // Scales vary along the ranks only, and so they went with the keys.
  if (!rest.empty())
    return false;
  int64_t ranks = sum->inner[2];
  MatchedInject inject;
  inject.key = forms.view(key, axesMap({1, 0}, 2), {ranks, shape[0]});
  inject.value = forms.view(value, axesMap({1, 0}, 2), {ranks, shape[1]});
  inject.scale =
      forms.broadcast(forms.scale(scalars, term.coefficient), {ranks});
  inject.scale = forms.multiply(inject.scale, takeScales(inject.key));
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

//===----------------------------------------------------------------------===//
// Other states
//===----------------------------------------------------------------------===//

/// A number times another state.
bool FactorMatcher::matchAdd(const Term &term, MatchedChain &chain,
                             std::string &reason) {
  Monomial rest = term.factors;
  std::optional<Value> state = takeState(rest, {0, 1}, from->shape);
  Form scale =
      forms.scale(take(rest, {}, Shape(from->shape)), term.coefficient);
  if (!rest.empty()) {
    reason = "another state is added by more than one number times it";
    return false;
  }
  chain.adds.push_back({*state, scale});
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
    bool isAdded = llvm::any_of(term.factors, [&](auto one) {
      return llvm::any_of(others, [&](const OtherState &other) {
        return other.atom == one.first && one.second == 1;
      });
    });
    if (isAdded) {
      if (!matchAdd(term, chain, reason))
        return std::nullopt;
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
