//===- Expression.cpp - Parser of `let` expressions -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Spec/Expression.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <cmath>

using namespace prism;
using namespace prism::spec;

using NamedFunction = std::pair<llvm::StringLiteral, Function>;

llvm::ArrayRef<NamedFunction> prism::spec::getFunctions() {
  static constexpr NamedFunction kFunctions[] = {
      {"abs", Function::Abs},
      {"erf", Function::Erf},
      {"exp", Function::Exp},
      {"expm1", Function::Expm1},
      {"gelu", Function::Gelu},
      {"l2norm", Function::L2Norm},
      {"log", Function::Log},
      {"log1p", Function::Log1p},
      {"logsigmoid", Function::LogSigmoid},
      {"max", Function::Max},
      {"min", Function::Min},
      {"pow", Function::Pow},
      {"relu", Function::Relu},
      {"row", Function::Row},
      {"rsqrt", Function::Rsqrt},
      {"sigmoid", Function::Sigmoid},
      {"silu", Function::Silu},
      {"softplus", Function::Softplus},
      {"sqrt", Function::Sqrt},
      {"tanh", Function::Tanh}};
  return kFunctions;
}

static unsigned arityOf(Function function) {
  switch (function) {
  case Function::L2Norm:
  case Function::Max:
  case Function::Min:
  case Function::Pow:
  case Function::Row:
    return 2;
  default:
    return 1;
  }
}

namespace {

class Parser {
public:
  Parser(llvm::StringRef text, ExprError &error) : text(text), error(error) {}

  llvm::FailureOr<Expr> parse() {
    Expr result;
    if (!expression(result))
      return llvm::failure();
    skipSpace();
    if (at != text.size()) {
      expectedFound("an operator or the end");
      return llvm::failure();
    }
    return result;
  }

private:
  static constexpr unsigned kMaxNesting = 64;
  static constexpr unsigned kMaxNodes = 1000;

  bool fail(size_t offset, const llvm::Twine &message,
            llvm::StringRef nearest = "") {
    error = {offset, message.str(), nearest.str()};
    return false;
  }
  bool expectedFound(llvm::StringRef what) {
    if (at >= text.size())
      return fail(text.size(), "expected " + what + ", found the end");
    // A whole character, of up to four bytes in UTF-8.
    size_t end = at + 1;
    while (end < text.size() && (text[end] & 0xc0) == 0x80)
      ++end;
    return fail(at,
                "expected " + what + ", found '" + text.slice(at, end) + "'");
  }
  void skipSpace() {
    while (at < text.size() && llvm::StringRef(" \t\r\n").contains(text[at]))
      ++at;
  }
  bool eat(char c) {
    skipSpace();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }

  /// A chain of binary operators of one precedence, left to right.
  template <typename Operand>
  bool chain(Expr &result, char first, ExprKind firstKind, char second,
             ExprKind secondKind, Operand operand) {
    if (!operand(result))
      return false;
    while (true) {
      bool isFirst = eat(first);
      if (!isFirst && !eat(second))
        return true;
      if (++nodes > kMaxNodes)
        return fail(at, "expression of more than " + llvm::Twine(kMaxNodes) +
                            " parts");
      Expr left = std::move(result);
      result = Expr();
      result.kind = isFirst ? firstKind : secondKind;
      result.offset = left.offset;
      result.operands.resize(2);
      result.operands[0] = std::move(left);
      if (!operand(result.operands[1]))
        return false;
    }
  }
  bool expression(Expr &result) {
    return chain(result, '+', ExprKind::Add, '-', ExprKind::Subtract,
                 [&](Expr &e) { return term(e); });
  }
  bool term(Expr &result) {
    return chain(result, '*', ExprKind::Multiply, '/', ExprKind::Divide,
                 [&](Expr &e) { return unary(e); });
  }

  bool unary(Expr &result) {
    skipSpace();
    if (nesting >= kMaxNesting)
      return fail(at, "expression nested deeper than " +
                          llvm::Twine(kMaxNesting) + " levels");
    ++nesting;
    bool ok = unaryInside(result);
    --nesting;
    return ok;
  }
  bool unaryInside(Expr &result) {
    result.offset = at;
    if (eat('-')) {
      result.kind = ExprKind::Negate;
      return unary(result.operands.emplace_back());
    }
    if (eat('('))
      return expression(result) && (eat(')') || expectedFound("')'"));
    if (at < text.size() && (llvm::isDigit(text[at]) || text[at] == '.'))
      return number(result);
    if (at < text.size() && (llvm::isAlpha(text[at]) || text[at] == '_'))
      return nameOrCall(result);
    return expectedFound("a number, a name, a function or '('");
  }

  bool number(Expr &result) {
    size_t end = at;
    auto digits = [&] {
      while (end < text.size() && llvm::isDigit(text[end]))
        ++end;
    };
    digits();
    if (end < text.size() && text[end] == '.') {
      ++end;
      digits();
    }
    if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
      ++end;
      if (end < text.size() && (text[end] == '+' || text[end] == '-'))
        ++end;
      digits();
    }
    llvm::StringRef token = text.slice(at, end);
    result.kind = ExprKind::Number;
    bool digitLast = llvm::isDigit(token.back()) || token.back() == '.';
    if (!digitLast || token == "." || token.getAsDouble(result.number) ||
        !std::isfinite(result.number))
      return fail(at, "expected a number, found '" + token + "'");
    at = end;
    return true;
  }

  bool nameOrCall(Expr &result) {
    size_t end = at;
    while (end < text.size() && (llvm::isAlnum(text[end]) || text[end] == '_'))
      ++end;
    llvm::StringRef name = text.slice(at, end);
    result.name = name.str();
    at = end;
    if (!eat('(')) {
      result.kind = ExprKind::Name;
      return true;
    }
    result.kind = ExprKind::Call;
    const NamedFunction *found =
        llvm::find_if(getFunctions(),
                      [&](const NamedFunction &f) { return f.first == name; });
    if (found == getFunctions().end()) {
      std::vector<llvm::StringRef> names;
      for (const NamedFunction &f : getFunctions())
        names.push_back(f.first);
      llvm::StringRef nearest = nearestName(name, names);
      if (!nearest.empty())
        return fail(result.offset, "unknown function '" + name + "'", nearest);
      return fail(result.offset, "unknown function '" + name + "', expected " +
                                     joinNames(names));
    }
    result.function = found->second;
    return arguments(result);
  }

  bool arguments(Expr &call) {
    if (!eat(')')) {
      do {
        if (!expression(call.operands.emplace_back()))
          return false;
      } while (eat(','));
      if (!eat(')'))
        return expectedFound("',' or ')'");
    }
    unsigned arity = arityOf(call.function);
    if (call.operands.size() != arity)
      return fail(call.offset, "function '" + call.name + "' takes " +
                                   llvm::Twine(arity) + " argument" +
                                   (arity == 1 ? "" : "s") + ", found " +
                                   llvm::Twine(call.operands.size()));
    bool numberLast =
        call.function == Function::L2Norm || call.function == Function::Row;
    if (numberLast && call.operands[1].kind != ExprKind::Number)
      return fail(call.operands[1].offset, "the second argument of '" +
                                               call.name +
                                               "' is a plain number");
    return true;
  }

  llvm::StringRef text;
  ExprError &error;
  size_t at = 0;
  unsigned nesting = 0, nodes = 0;
};

} // namespace

llvm::FailureOr<Expr> prism::spec::parseExpression(llvm::StringRef text,
                                                   ExprError &error) {
  return Parser(text, error).parse();
}
