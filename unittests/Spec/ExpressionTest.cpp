//===- ExpressionTest.cpp - Precedence and grouping of let ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Spec/Expression.h"
#include "gtest/gtest.h"

using namespace prism::spec;

/// Fully parenthesised.
static std::string print(const Expr &e) {
  auto joined = [&](const char *op) {
    return "(" + print(e.operands[0]) + op + print(e.operands[1]) + ")";
  };
  switch (e.kind) {
  case ExprKind::Number:
    return std::to_string(e.number).substr(0, 4);
  case ExprKind::Name:
    return e.name;
  case ExprKind::Negate:
    return "(-" + print(e.operands[0]) + ")";
  case ExprKind::Add:
    return joined("+");
  case ExprKind::Subtract:
    return joined("-");
  case ExprKind::Multiply:
    return joined("*");
  case ExprKind::Divide:
    return joined("/");
  case ExprKind::Call:
    break;
  }
  std::string text = e.name + "(";
  for (const Expr &operand : e.operands)
    text += print(operand) + ",";
  text.back() = ')';
  return text;
}

TEST(Expression, Groups) {
  std::pair<const char *, const char *> table[] = {
      {"a+b*c", "(a+(b*c))"},
      {"a-b-c", "((a-b)-c)"},
      {"a/b/c", "((a/b)/c)"},
      {"(a - b) * -c", "((a-b)*(-c))"},
      {"-exp(A_log) * softplus(dt + dt_bias)",
       "((-exp(A_log))*softplus((dt+dt_bias)))"},
      {"--a", "(-(-a))"},
      {" max ( a , .5 ) ", "max(a,0.50)"},
      {"2e0*x1", "(2.00*x1)"},
      {"e", "e"}};
  for (auto [text, grouped] : table) {
    ExprError error;
    auto expr = parseExpression(text, error);
    ASSERT_TRUE(succeeded(expr)) << text << ": " << error.message;
    EXPECT_EQ(print(*expr), grouped);
  }
}
