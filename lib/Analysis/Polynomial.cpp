//===- Polynomial.cpp - Forms written out over indices --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Polynomial.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace prism;
using namespace prism::analysis;
using llvm::formatv;

// All orders of this many bound indices are tried: 120.
static constexpr size_t kMaxSums = 5;

bool PolynomialBuilder::spend(size_t products) {
  tooLarge |= products > budget;
  budget -= std::min(products, budget);
  return !tooLarge;
}

static Polynomial constant(double value) {
  Product product;
  product.coefficient = value;
  return {product};
}

/// The function of a polynomial that is nothing else, of this name.
static const IndexedFactor *onlyFunction(const Product &product,
                                         StringRef name) {
  if (product.coefficient != 1.0 || product.factors.size() != 1 ||
      !product.sums.empty())
    return nullptr;
  const IndexedFactor &factor = product.factors.front();
  return factor.function == name && factor.power == 1.0 ? &factor : nullptr;
}

//===----------------------------------------------------------------------===//
// Multiplying out
//===----------------------------------------------------------------------===//

Polynomial PolynomialBuilder::multiply(const Polynomial &a,
                                       const Polynomial &b) {
  Polynomial result;
  if (!spend(a.size() * b.size()))
    return result;
  for (const Product &x : a)
    for (const Product &y : b) {
      Product &both = result.emplace_back(x);
      both.coefficient *= y.coefficient;
      both.factors.insert(both.factors.end(), y.factors.begin(),
                          y.factors.end());
      // Each expansion has bound indices of its own.
      both.sums.append(y.sums.begin(), y.sums.end());
    }
  return result;
}

Polynomial PolynomialBuilder::expand(const Form &form, const Indices &indices) {
  Polynomial result;
  for (const Term &term : form.terms) {
    Polynomial product =
        multiply(constant(term.coefficient), expand(term.factors, indices));
    if (!spend(product.size()))
      return {};
    result.insert(result.end(), product.begin(), product.end());
  }
  return result;
}

Polynomial PolynomialBuilder::expand(const Monomial &factors,
                                     const Indices &indices) {
  Polynomial result = constant(1.0);
  for (auto [atom, power] : factors)
    result = multiply(result, expand(atom, power, indices));
  return result;
}

Polynomial PolynomialBuilder::expand(const Atom *atom, int power,
                                     const Indices &indices) {
  if (!spend(1))
    return {};
  if (atom->kind == AtomKind::view) {
    Indices inside;
    for (AffineExpr expr : atom->map.getResults())
      inside.push_back(expr.replaceDims(indices));
    return expand(atom->operand, power, inside);
  }
  bool isCompound =
      atom->kind == AtomKind::sum || atom->kind == AtomKind::function;
  if (isCompound && power > 0) {
    Polynomial result = constant(1.0);
    for (int i = 0; i < power && !tooLarge; ++i) {
      if (atom->kind == AtomKind::function) {
        result = multiply(result, expandFunction(atom, indices));
        continue;
      }
      Indices inside = indices;
      Product summed;
      for (int64_t extent :
           ArrayRef(atom->inner).drop_front(atom->shape.size())) {
        summed.sums.push_back({nextDim, extent});
        inside.push_back(getAffineDimExpr(nextDim++, context));
      }
      result =
          multiply(multiply(result, {summed}), expand(atom->product, inside));
    }
    return result;
  }
  Product product;
  IndexedFactor &factor = product.factors.emplace_back();
  factor.power = power;
  if (isCompound) {
    Polynomial value = expand(atom, 1, indices);
    // The inverse of a single product without sums is one of each factor.
    if (value.size() == 1 && value[0].sums.empty() &&
        value[0].coefficient != 0.0) {
      value[0].coefficient = std::pow(value[0].coefficient, power);
      for (IndexedFactor &inner : value[0].factors)
        inner.power *= power;
      return value;
    }
    factor.function = "value";
    factor.arguments = {std::move(value)};
    return {product};
  }
  factor.atom = atom;
  for (AffineExpr index : indices)
    factor.indices.push_back(simplifyAffineExpr(index, nextDim, 0));
  return {product};
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static std::string nameOf(const Atom *atom) {
  std::string text;
  llvm::raw_string_ostream(text) << atom->name;
  return text;
}

/// "math.exp" of a function of the op's name and attributes.
static StringRef opNameOf(const Atom *atom) {
  auto parts = dyn_cast<ArrayAttr>(atom->name);
  auto name =
      parts && !parts.empty() ? dyn_cast<StringAttr>(parts[0]) : nullptr;
  return name ? name.getValue() : StringRef();
}

Polynomial PolynomialBuilder::expandFunction(const Atom *atom,
                                             const Indices &indices) {
  std::vector<Polynomial> arguments;
  for (const Form &argument : atom->arguments)
    arguments.push_back(expand(argument, indices));
  if (tooLarge)
    return {};
  StringRef op = opNameOf(atom);
  if (op == "math.exp")
    return expandExp(arguments[0]);
  // The two kinds differ on NaN only, which is no real number.
  if (op == "arith.maximumf" || op == "arith.maxnumf")
    return expandExtremum("maximum", std::move(arguments));
  if (op == "arith.minimumf" || op == "arith.minnumf")
    return expandExtremum("minimum", std::move(arguments));
  auto name = dyn_cast<StringAttr>(atom->name);
  if (name && name.getValue() == kSumName)
    return arguments[0];
  Product product;
  IndexedFactor &factor = product.factors.emplace_back();
  factor.function = nameOf(atom);
  factor.arguments = std::move(arguments);
  return {product};
}

/// exp(a + 2 b) as exp(a) exp(b)^2.
Polynomial PolynomialBuilder::expandExp(const Polynomial &exponent) {
  Product product;
  for (Product term : exponent) {
    double power = term.coefficient;
    if (term.factors.empty() && term.sums.empty()) {
      product.coefficient *= std::exp(power);
      continue;
    }
    term.coefficient = 1.0;
    IndexedFactor &factor = product.factors.emplace_back();
    factor.function = "exp";
    factor.power = power;
    factor.arguments = {{std::move(term)}};
  }
  return {product};
}

/// Flat: max(max(a, b) + c, d) is max(a + c, b + c, d).
Polynomial
PolynomialBuilder::expandExtremum(StringRef name,
                                  std::vector<Polynomial> arguments) {
  Product product;
  IndexedFactor &factor = product.factors.emplace_back();
  factor.function = name.str();
  while (!arguments.empty() && spend(1)) {
    Polynomial argument = std::move(arguments.back());
    arguments.pop_back();
    auto nested = llvm::find_if(argument, [&](const Product &term) {
      return onlyFunction(term, name);
    });
    if (nested == argument.end()) {
      factor.arguments.push_back(std::move(argument));
      continue;
    }
    std::vector<Polynomial> inner = nested->factors.front().arguments;
    argument.erase(nested);
    for (Polynomial &each : inner) {
      each.insert(each.end(), argument.begin(), argument.end());
      arguments.push_back(std::move(each));
    }
  }
  return {product};
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

std::string PolynomialBuilder::keyOf(const IndexedFactor &factor) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (factor.atom) {
    // Bound indices are written as symbols, by their place in the order.
    DenseMap<AffineExpr, AffineExpr> symbols;
    for (auto [i, bound] : llvm::enumerate(names))
      symbols[getAffineDimExpr(bound, context)] =
          getAffineSymbolExpr(i, context);
    os << "#" << factor.atom->id << "[";
    for (AffineExpr index : factor.indices)
      os << simplifyAffineExpr(index.replace(symbols), nextDim, names.size())
         << ",";
    os << "]";
    return text;
  }
  std::vector<std::string> arguments;
  for (const Polynomial &argument : factor.arguments)
    arguments.push_back(keyOf(argument));
  if (factor.function == "maximum" || factor.function == "minimum") {
    llvm::sort(arguments);
    arguments.erase(llvm::unique(arguments), arguments.end());
  }
  os << factor.function << "(";
  for (const std::string &argument : arguments)
    os << argument << ";";
  os << ")";
  return text;
}

std::string PolynomialBuilder::keyOf(const Product &product) {
  if (product.sums.size() > kMaxSums) {
    tooLarge = true;
    return "";
  }
  // Of all orders of the bound indices, the one with the least key.
  SmallVector<unsigned> order =
      llvm::to_vector(llvm::seq<unsigned>(0, product.sums.size()));
  std::optional<std::string> least;
  do {
    if (!spend(product.factors.size() + 1))
      return "";
    std::string text;
    for (unsigned place : order) {
      names.push_back(product.sums[place].first);
      text += formatv("sum {0} ", product.sums[place].second).str();
    }
    std::map<std::string, double> powers;
    for (const IndexedFactor &factor : product.factors)
      powers[keyOf(factor)] += factor.power;
    names.pop_back_n(order.size());
    for (auto &[key, power] : powers)
      if (power != 0.0)
        text += formatv("{0}^{1:x} ", key, llvm::bit_cast<uint64_t>(power));
    if (!least || text < *least)
      least = std::move(text);
  } while (std::next_permutation(order.begin(), order.end()));
  return *least;
}

std::string PolynomialBuilder::keyOf(const Polynomial &sum) {
  std::map<std::string, double> coefficients;
  for (const Product &product : sum)
    coefficients[keyOf(product)] += product.coefficient;
  std::string text;
  for (auto &[key, coefficient] : coefficients)
    if (coefficient != 0.0)
      text += formatv("{0:x} {1}+", llvm::bit_cast<uint64_t>(coefficient), key);
  return text;
}

std::optional<std::string> PolynomialBuilder::keyOf(const Form &form) {
  Indices free;
  nextDim = form.shape.size();
  for (unsigned axis = 0; axis < nextDim; ++axis)
    // The only index of an extent of 1 is 0.
    free.push_back(form.shape[axis] == 1 ? getAffineConstantExpr(0, context)
                                         : getAffineDimExpr(axis, context));
  tooLarge = false;
  std::string key = keyOf(expand(form, free));
  if (tooLarge)
    return std::nullopt;
  return key;
}
