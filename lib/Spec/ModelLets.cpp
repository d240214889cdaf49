//===- ModelLets.cpp - Values computed from inputs ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ModelBuilder.h"
#include <limits>

using namespace prism;
using namespace prism::spec;

/// The axes of one token's value of an input.
Axes prism::spec::featureAxes(const Input &input) {
  Axes axes;
  for (const std::string &axis : input.axes)
    if (!isOuterAxis(axis))
      axes.push_back(axis);
  return axes;
}

std::vector<llvm::StringRef> prism::spec::valueNames(const Spec &spec) {
  std::vector<llvm::StringRef> names;
  for (const Input &input : spec.inputs)
    names.push_back(input.name);
  for (const Let &let : spec.lets)
    names.push_back(let.name);
  return names;
}

/// Parses an expression and finds its names and axes.
bool ModelBuilder::readExpression(const JsonNode &text, Expr &expr) {
  ExprError error;
  llvm::FailureOr<Expr> parsed = parseExpression(text.string, error);
  if (failed(parsed))
    return failInText(text, error.offset, error.message, error.nearest);
  expr = std::move(*parsed);
  return resolve(expr, text);
}

bool ModelBuilder::readLets() {
  const JsonNode *lets = root.find("let");
  if (!lets)
    return true;
  for (const JsonMember &member : lets->members) {
    if (!checkNewName(member.key, member.keyLoc))
      return false;
    if (spec.findInput(member.key))
      return fail(member.keyLoc,
                  "let '" + member.key + "' has the name of an input");
    Expr value;
    if (!readExpression(member.value, value))
      return false;
    spec.lets.push_back(
        {member.key, member.value.string, std::move(value), member.value.loc});
  }
  return true;
}

/// The axes of both, in the order own dims, K, V, if these keep their own order
/// and there are at most two.
static std::optional<Axes> unite(const Axes &a, const Axes &b) {
  if (a == b || b.empty())
    return a;
  if (a.empty())
    return b;
  Axes all;
  for (const Axes *part : {&a, &b})
    for (const std::string &axis : *part)
      if (axis != "K" && axis != "V" && !llvm::is_contained(all, axis))
        all.push_back(axis);
  for (const char *axis : {"K", "V"})
    if (llvm::is_contained(a, axis) || llvm::is_contained(b, axis))
      all.push_back(axis);
  for (const Axes *part : {&a, &b}) {
    auto at = all.begin();
    for (const std::string &axis : *part)
      if ((at = std::find(at, all.end(), axis)) == all.end())
        return std::nullopt;
  }
  if (all.size() > 2)
    return std::nullopt;
  return all;
}

/// What an elementwise expression's parts are repeated to.
bool ModelBuilder::combine(Expr &expr, const JsonNode &text,
                           llvm::StringRef parts) {
  for (const Expr &operand : expr.operands) {
    std::optional<Axes> all = unite(expr.axes, operand.axes);
    if (!all)
      return failInText(text, expr.offset,
                        parts + " of axes " + printAxes(expr.axes) + " and " +
                            printAxes(operand.axes) +
                            " do not combine; expected at most two axes "
                            "together, in the order own dims, K, V");
    expr.axes = *all;
  }
  return true;
}

/// Finds the names of an expression and the axes of all its parts.
bool ModelBuilder::resolve(Expr &expr, const JsonNode &text) {
  for (Expr &operand : expr.operands)
    if (!resolve(operand, text))
      return false;
  switch (expr.kind) {
  case ExprKind::Number:
    return true;
  case ExprKind::Name: {
    used.insert(expr.name);
    if (spec.isConvolutionWeight(expr.name))
      return failInText(text, expr.offset, weightMessage(expr.name));
    if (const Input *input = spec.findInput(expr.name)) {
      expr.axes = featureAxes(*input);
      return true;
    }
    if (const Let *let = spec.findLet(expr.name)) {
      expr.axes = let->value.axes;
      return true;
    }
    if (const ReadStep *read = spec.findRead(expr.name);
        read && readsAreValues) {
      expr.axes = read->axes;
      return true;
    }
    if (const State *state = spec.findState(expr.name);
        state && spec.states.size() > 1)
      return state->isScalar() ||
             failInText(text, expr.offset,
                        "state '" + expr.name +
                            "' has axes; a let sees only states without");
    if (const JsonNode *lets = root.find("let"); lets && lets->find(expr.name))
      return failInText(
          text, expr.offset,
          "'" + expr.name +
              "' is not an earlier let; a let sees those before it");
    return failInText(text, expr.offset,
                      "unknown name '" + expr.name +
                          "', expected an input or an earlier let",
                      nearestName(expr.name, valueNames(spec)));
  }
  case ExprKind::Call:
    return resolveCall(expr, text);
  default:
    break;
  }
  return combine(expr, text, "operands");
}

std::string prism::spec::whyNotEpsilon(double epsilon, ElementType type) {
  if (epsilon <= 0)
    return "expected an epsilon above 0 (a zero vector is divided by its root)";
  bool isF64 = type == ElementType::F64;
  if (epsilon >= (isF64 ? std::numeric_limits<double>::min()
                        : std::numeric_limits<float>::min()))
    return "";
  return std::string("expected an epsilon of at least ") +
         (isF64 ? "2.2250738585072014e-308, the least normal f64"
                : "1.1754944e-38, the least normal f32") +
         ", below which chips take it for 0";
}

bool ModelBuilder::resolveCall(Expr &expr, const JsonNode &text) {
  const Axes &argument = expr.operands.front().axes;
  if (expr.function == Function::L2Norm) {
    if (argument.empty())
      return failInText(
          text, expr.offset,
          "l2norm of a scalar; expected a vector such as one of axes [K]");
    if (std::string reason =
            whyNotEpsilon(expr.operands[1].number, spec.computeType());
        !reason.empty())
      return failInText(text, expr.operands[1].offset, reason);
    expr.axes = argument;
    return true;
  }
  if (expr.function == Function::Row) {
    if (argument.empty())
      return failInText(
          text, expr.offset,
          "row of a scalar; expected a value with axes such as [L, K]");
    double row = expr.operands[1].number;
    int64_t rows = spec.extent(argument.front());
    if (row >= rows || row != static_cast<int64_t>(row))
      return failInText(text, expr.operands[1].offset,
                        "expected a row from 0 to " + llvm::Twine(rows - 1) +
                            " of axis '" + argument.front() + "'");
    expr.axes.assign(argument.begin() + 1, argument.end());
    return true;
  }
  return combine(expr, text, "arguments");
}
