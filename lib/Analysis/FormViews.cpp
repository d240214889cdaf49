//===- FormViews.cpp - Views, reshapes, sums and pads of forms ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Views and reshapes move elements, so they pass through products and
// elementwise functions down to leaves, where two of them become one. Sums and
// pads are linear: each term becomes an atom of its own.
//
//===----------------------------------------------------------------------===//

#include "FormKeys.h"

using namespace mlir;
using namespace prism;
using namespace prism::analysis;

Form FormContext::mapAtoms(
    const Form &a, ShapeRef shape,
    llvm::function_ref<const Atom *(const Atom *)> change) {
  Form result{Shape(shape), {}};
  for (const Term &term : a.terms) {
    Monomial factors;
    for (auto [atom, power] : term.factors)
      factors = multiplyMonomials(factors, {{change(atom), power}});
    addTerm(result, factors, term.coefficient);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// The map with 0 for every axis of extent 1, simplified.
static AffineMap normalize(AffineMap map, ShapeRef shape) {
  MLIRContext *context = map.getContext();
  SmallVector<AffineExpr> dims;
  for (auto [i, extent] : llvm::enumerate(shape))
    dims.push_back(extent == 1 ? getAffineConstantExpr(0, context)
                               : getAffineDimExpr(i, context));
  return simplifyAffineMap(
      map.replaceDimsAndSymbols(dims, {}, shape.size(), 0));
}

static bool isIdentity(AffineMap map, ShapeRef from, ShapeRef to) {
  return from == to && map == normalize(AffineMap::getMultiDimIdentityMap(
                                            to.size(), map.getContext()),
                                        to);
}

const Atom *FormContext::viewAtom(const Atom *atom, AffineMap map,
                                  ShapeRef shape) {
  if (atom->kind == AtomKind::view) {
    map = normalize(atom->map.compose(map), shape);
    atom = atom->operand;
  }
  if (isIdentity(map, atom->shape, shape))
    return atom;
  Key key = {uint64_t(AtomKind::view), keyOf(atom),
             keyOf(map.getAsOpaquePointer())};
  append(key, shape);
  auto found = known.find(key);
  if (found != known.end())
    return found->second;
  if (atom->kind == AtomKind::function) {
    SmallVector<Form> arguments;
    for (const Form &argument : atom->arguments)
      arguments.push_back(view(argument, map, shape));
    const Atom *made =
        functionAtom(atom->name, arguments, shape, atom->total, atom->boolean);
    known.emplace(std::move(key), made);
    return made;
  }
  Atom made = *atom;
  made.kind = AtomKind::view;
  made.depth = atom->depth + 1;
  made.shape = Shape(shape);
  made.operand = atom;
  made.map = map;
  made.product.clear();
  return intern(std::move(key), std::move(made));
}

Form FormContext::view(const Form &a, AffineMap map, ShapeRef shape) {
  map = normalize(map, shape);
  return mapAtoms(a, shape,
                  [&](const Atom *atom) { return viewAtom(atom, map, shape); });
}

Form FormContext::broadcast(const Form &a, ShapeRef shape) {
  if (!a.shape.empty() || shape.empty())
    return a;
  return view(a, AffineMap::get(shape.size(), 0, {}, context), shape);
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

static Shape withoutUnits(ShapeRef shape) {
  Shape result;
  llvm::copy_if(shape, std::back_inserter(result),
                [](int64_t extent) { return extent != 1; });
  return result;
}

/// The view that adds or drops axes of extent 1 only.
static AffineMap unitAxesMap(ShapeRef from, ShapeRef to, MLIRContext *context) {
  SmallVector<AffineExpr> results;
  unsigned at = 0;
  for (int64_t extent : from) {
    if (extent == 1) {
      results.push_back(getAffineConstantExpr(0, context));
      continue;
    }
    while (to[at] == 1)
      ++at;
    results.push_back(getAffineDimExpr(at++, context));
  }
  return AffineMap::get(to.size(), 0, results, context);
}

const Atom *FormContext::reshapeAtom(const Atom *atom, ShapeRef shape) {
  // Down to what a chain of reshapes began with.
  while (true) {
    bool movesUnits =
        atom->kind == AtomKind::view &&
        withoutUnits(atom->shape) == withoutUnits(atom->operand->shape) &&
        atom->map ==
            normalize(unitAxesMap(atom->operand->shape, atom->shape, context),
                      atom->shape);
    if (!movesUnits && atom->kind != AtomKind::reshape)
      break;
    atom = atom->operand;
  }
  if (atom->shape == shape)
    return atom;
  if (withoutUnits(atom->shape) == withoutUnits(shape))
    return viewAtom(atom,
                    normalize(unitAxesMap(atom->shape, shape, context), shape),
                    shape);
  if (atom->kind == AtomKind::function) {
    SmallVector<Form> arguments;
    for (const Form &argument : atom->arguments)
      arguments.push_back(reshape(argument, shape));
    return functionAtom(atom->name, arguments, shape, atom->total,
                        atom->boolean);
  }
  Key key = {uint64_t(AtomKind::reshape), keyOf(atom)};
  append(key, shape);
  Atom made = *atom;
  made.kind = AtomKind::reshape;
  made.depth = atom->depth + 1;
  made.shape = Shape(shape);
  made.operand = atom;
  made.product.clear();
  return intern(std::move(key), std::move(made));
}

Form FormContext::reshape(const Form &a, ShapeRef shape) {
  if (a.shape == shape)
    return a;
  return mapAtoms(a, shape,
                  [&](const Atom *atom) { return reshapeAtom(atom, shape); });
}

//===----------------------------------------------------------------------===//
// Sums and pads
//===----------------------------------------------------------------------===//

bool analysis::variesAlong(const Atom *atom, unsigned axis) {
  if (atom->shape.size() <= axis || atom->shape[axis] == 1)
    return false;
  if (atom->kind == AtomKind::view)
    return atom->map.isFunctionOfDim(axis);
  if (atom->kind == AtomKind::function)
    return llvm::any_of(atom->arguments, [&](const Form &argument) {
      return llvm::any_of(argument.terms, [&](const Term &term) {
        return llvm::any_of(term.factors, [&](auto factor) {
          return variesAlong(factor.first, axis);
        });
      });
    });
  return true;
}

/// True if the atom varies along an axis from `keep` on.
static bool variesFrom(const Atom *atom, unsigned keep) {
  for (unsigned axis = keep; axis < atom->shape.size(); ++axis)
    if (variesAlong(atom, axis))
      return true;
  return false;
}

static Atom linearAtom(AtomKind kind, const Monomial &product, ShapeRef inner,
                       ShapeRef shape) {
  Atom made(kind);
  made.dependence = dependenceOf(product);
  made.partial = isPartial(product);
  for (auto [atom, power] : product) {
    made.depth = std::max(made.depth, atom->depth + 1);
    made.readsEntry |= atom->readsEntry;
  }
  made.product = product;
  made.inner = Shape(inner);
  made.shape = Shape(shape);
  return made;
}

/// The axis that a form is the index along, if it is no more than that.
static std::optional<unsigned> indexAxis(const Form &form) {
  const Atom *atom = onlyAtom(form);
  if (!atom || atom->kind != AtomKind::view || atom->map.getNumResults() != 1)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(atom->map.getResult(0));
  return dim ? std::optional(dim.getPosition()) : std::nullopt;
}

/// A product with an identity of a summed axis and another one: the summed axis
/// becomes the other one, and is summed no more.
std::optional<Form>
FormContext::collapseIdentity(const Term &term, ShapeRef shape, unsigned keep) {
  for (auto [atom, power] : term.factors) {
    auto name = atom->kind == AtomKind::function
                    ? dyn_cast<StringAttr>(atom->name)
                    : StringAttr();
    if (!name || name.getValue() != kIdentityName || power != 1)
      continue;
    std::optional<unsigned> row = indexAxis(atom->arguments[0]),
                            column = indexAxis(atom->arguments[1]);
    if (!row || !column || *row == *column || std::max(*row, *column) < keep ||
        shape[*row] != shape[*column])
      continue;
    unsigned summed = std::max(*row, *column), other = std::min(*row, *column);
    Shape smaller(shape);
    smaller.erase(smaller.begin() + summed);
    SmallVector<AffineExpr> places;
    for (unsigned axis = 0; axis < shape.size(); ++axis)
      places.push_back(getAffineDimExpr(
          axis == summed ? other : axis - (axis > summed ? 1 : 0), context));
    Form rest{Shape(shape), {Term{{}, term.coefficient}}};
    for (auto factor : term.factors)
      if (factor.first != atom)
        rest.terms[0].factors.push_back(factor);
    return view(rest, AffineMap::get(smaller.size(), 0, places, context),
                smaller);
  }
  return std::nullopt;
}

/// The sum of a product, over kept axes along which it varies only: however
/// large the space was that it was written in, it is one atom.
Form FormContext::sumOf(const Monomial &inside, ShapeRef shape, unsigned keep) {
  Shape kept, inner;
  SmallVector<AffineExpr> innerPlaces, outerPlaces;
  AffineExpr zero = getAffineConstantExpr(0, context);
  for (unsigned axis = 0; axis < keep; ++axis) {
    bool varies = llvm::any_of(
        inside, [&](auto factor) { return variesAlong(factor.first, axis); });
    innerPlaces.push_back(varies ? getAffineDimExpr(kept.size(), context)
                                 : zero);
    if (varies) {
      kept.push_back(shape[axis]);
      outerPlaces.push_back(getAffineDimExpr(axis, context));
    }
  }
  inner = kept;
  for (unsigned axis = keep; axis < shape.size(); ++axis) {
    innerPlaces.push_back(getAffineDimExpr(inner.size(), context));
    inner.push_back(shape[axis]);
  }
  AffineMap narrow =
      normalize(AffineMap::get(inner.size(), 0, innerPlaces, context), inner);
  Monomial product;
  for (auto [atom, power] : inside)
    product =
        multiplyMonomials(product, {{viewAtom(atom, narrow, inner), power}});
  Key key = {uint64_t(AtomKind::sum), kept.size()};
  append(key, inner);
  append(key, product);
  const Atom *sum =
      intern(std::move(key), linearAtom(AtomKind::sum, product, inner, kept));
  return view(formOf(sum), AffineMap::get(keep, 0, outerPlaces, context),
              shape.take_front(keep));
}

Form FormContext::sumTrailing(const Form &a, unsigned keep) {
  ShapeRef shape = ShapeRef(a.shape).take_front(keep);
  double extents = 1.0;
  SmallVector<AffineExpr> kept;
  for (auto [i, extent] : llvm::enumerate(a.shape)) {
    kept.push_back(i < keep ? getAffineDimExpr(i, context)
                            : getAffineConstantExpr(0, context));
    extents *= i < keep ? 1.0 : double(extent);
  }
  AffineMap first = normalize(AffineMap::get(keep, 0, kept, context), shape);
  Form result{Shape(shape), {}};
  for (const Term &term : a.terms) {
    if (std::optional<Form> less = collapseIdentity(term, a.shape, keep)) {
      result = add(result, sumTrailing(*less, keep));
      continue;
    }
    // What does not vary along the summed axes stands before the sum.
    Monomial outside, inside;
    for (auto [atom, power] : term.factors) {
      if (extents > 0.0 && !variesFrom(atom, keep))
        outside =
            multiplyMonomials(outside, {{viewAtom(atom, first, shape), power}});
      else
        inside.push_back({atom, power});
    }
    if (inside.empty()) {
      addTerm(result, outside, extents * term.coefficient);
      continue;
    }
    for (const Term &sum : sumOf(inside, a.shape, keep).terms)
      addTerm(result, multiplyMonomials(outside, sum.factors),
              term.coefficient);
  }
  return result;
}

Form FormContext::pad(const Form &a, ShapeRef offsets, ShapeRef shape) {
  if (a.shape == shape)
    return a;
  Form result{Shape(shape), {}};
  for (const Term &term : a.terms) {
    Key key = {uint64_t(AtomKind::pad)};
    append(key, a.shape);
    append(key, offsets);
    append(key, shape);
    append(key, term.factors);
    Atom made = linearAtom(AtomKind::pad, term.factors, a.shape, shape);
    made.offsets = Shape(offsets);
    addTerm(result, {{intern(std::move(key), std::move(made)), 1}},
            term.coefficient);
  }
  return result;
}
