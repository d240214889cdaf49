//===- WgmmaText.cpp - Assembly of wgmma ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Wgmma.h"
#include "llvm/ADT/StringExtras.h"

using namespace prism::test;
using llvm::StringRef;

namespace {

/// Reads from the front of one statement.
class Reader {
public:
  explicit Reader(StringRef text) : text(text) {}

  bool token(StringRef expected) {
    text = text.ltrim();
    return text.consume_front(expected);
  }
  std::optional<unsigned> number() {
    text = text.ltrim();
    unsigned value;
    if (text.consumeInteger(10, value))
      return std::nullopt;
    return value;
  }
  /// "$7"
  std::optional<unsigned> operand() {
    return token("$") ? number() : std::nullopt;
  }
  /// "{$0, $1}" or one operand.
  std::optional<std::vector<unsigned>> list() {
    std::vector<unsigned> all;
    bool isList = token("{");
    do {
      std::optional<unsigned> one = operand();
      if (!one)
        return std::nullopt;
      all.push_back(*one);
    } while (isList && token(","));
    if (isList && !token("}"))
      return std::nullopt;
    return all;
  }
  StringRef word() {
    text = text.ltrim();
    StringRef result = text.take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_' || c == '%'; });
    text = text.drop_front(result.size());
    return result;
  }
  /// ", 1" or ", -1": is it negative? Or ", 0" and ", 1" as a flag.
  std::optional<int> immediate() {
    if (!token(","))
      return std::nullopt;
    bool isNegative = token("-");
    std::optional<unsigned> value = number();
    if (!value)
      return std::nullopt;
    return isNegative ? -int(*value) : int(*value);
  }
  bool isAtEnd() const { return text.trim().empty(); }

private:
  StringRef text;
};

} // namespace

static bool parseTail(Reader &reader, WgmmaText &wgmma, bool hasDescriptorA) {
  std::vector<int> values;
  while (std::optional<int> value = reader.immediate())
    values.push_back(*value);
  if (!reader.isAtEnd() || values.size() != (hasDescriptorA ? 4 : 3))
    return false;
  for (int i = 0; i < 2; ++i)
    if (values[i] != 1 && values[i] != -1)
      return false;
  wgmma.isNegatedA = values[0] < 0;
  wgmma.isNegatedB = values[1] < 0;
  wgmma.isTransposedA = hasDescriptorA && values[2] != 0;
  wgmma.isTransposedB = values.back() != 0;
  return true;
}

static std::optional<WgmmaText>
parseStatement(StringRef text, StringRef predicateName,
               std::optional<unsigned> predicate) {
  Reader reader(text);
  WgmmaText wgmma;
  if (!reader.token("wgmma.mma_async.sync.aligned.m64n"))
    return std::nullopt;
  std::optional<unsigned> n = reader.number();
  if (!n || *n % 8 || *n < 8 || *n > 256 || !reader.token("k16.f32."))
    return std::nullopt;
  wgmma.n = *n;
  wgmma.isBF16 = reader.token("bf16.bf16");
  if (!wgmma.isBF16 && !reader.token("f16.f16"))
    return std::nullopt;
  auto d = reader.list();
  if (!d || d->size() != *n / 2 || !reader.token(","))
    return std::nullopt;
  wgmma.d = *d;
  auto a = reader.list();
  if (!a || (a->size() != 1 && a->size() != 4) || !reader.token(","))
    return std::nullopt;
  wgmma.a = *a;
  auto b = reader.operand();
  if (!b || !reader.token(","))
    return std::nullopt;
  wgmma.b = *b;
  StringRef scale = reader.word();
  if (scale == "0" || scale == "1")
    wgmma.addsToD = scale == "1";
  else if (predicate && scale == predicateName)
    wgmma.predicate = predicate;
  else
    return std::nullopt;
  if (!parseTail(reader, wgmma, a->size() == 1))
    return std::nullopt;
  return wgmma;
}

std::optional<std::vector<WgmmaText>> prism::test::parseWgmma(StringRef text) {
  std::vector<WgmmaText> all;
  // The braces of a scope stand alone; those of operands are followed by '$'.
  text = text.trim();
  if (text.starts_with("{") && !text.drop_front().ltrim().starts_with("$")) {
    if (!text.consume_front("{") || !text.consume_back("}"))
      return std::nullopt;
  }
  StringRef predicateName;
  std::optional<unsigned> predicate;
  llvm::SmallVector<StringRef> statements;
  text.split(statements, ';');
  for (StringRef statement : statements) {
    statement = statement.trim();
    Reader reader(statement);
    if (statement.empty())
      continue;
    if (reader.token(".reg .pred")) {
      predicateName = reader.word();
      continue;
    }
    if (reader.token("setp.ne.b32")) {
      if (reader.word() != predicateName || !reader.token(","))
        return std::nullopt;
      predicate = reader.operand();
      if (!predicate || !reader.token(",") || reader.number() != 0u)
        return std::nullopt;
      continue;
    }
    std::optional<WgmmaText> wgmma =
        parseStatement(statement, predicateName, predicate);
    if (!wgmma)
      return std::nullopt;
    all.push_back(*wgmma);
  }
  if (all.empty())
    return std::nullopt;
  return all;
}
