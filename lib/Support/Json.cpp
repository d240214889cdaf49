//===- Json.cpp - A JSON tree that knows where it was written -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// nlohmann's SAX parser reports values without positions. The input adapter
// below counts the bytes it has handed out; since the parser reads one token at
// a time, that count is the end of the token being reported, and its start is
// the first byte after the previous token that is neither white space nor `,`
// nor `:`.
//
//===----------------------------------------------------------------------===//

#include "Prism/Support/Json.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

using namespace prism;
using nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

bool JsonNode::isInteger() const {
  return kind == JsonKind::Number && std::isfinite(number) &&
         std::floor(number) == number;
}

const JsonMember *JsonNode::findMember(llvm::StringRef key) const {
  for (const JsonMember &member : members)
    if (member.key == key)
      return &member;
  return nullptr;
}

const JsonNode *JsonNode::find(llvm::StringRef key) const {
  const JsonMember *member = findMember(key);
  return member ? &member->value : nullptr;
}

static std::string appendPointer(llvm::StringRef base, llvm::StringRef key) {
  std::string pointer = (base + "/").str();
  for (char c : key) {
    if (c == '~')
      pointer += "~0";
    else if (c == '/')
      pointer += "~1";
    else
      pointer += c;
  }
  return pointer;
}

std::string prism::describe(const JsonNode &node) {
  switch (node.kind) {
  case JsonKind::Null:
    return "null";
  case JsonKind::Boolean:
    return node.boolean ? "true" : "false";
  case JsonKind::Number:
    return "number " + toOrderedJson(node).dump();
  case JsonKind::String: {
    llvm::StringRef text = node.string;
    if (text.size() <= 40)
      return "string '" + node.string + "'";
    size_t end = 37; // not inside a character of several bytes
    while ((text[end] & 0xC0) == 0x80)
      --end;
    return ("string '" + text.take_front(end) + "...'").str();
  }
  case JsonKind::Array:
    return node.items.empty() ? "an empty array" : "an array";
  case JsonKind::Object:
    return node.members.empty() ? "an empty object" : "an object";
  }
  return "";
}

JsonNode prism::fromOrderedJson(const ordered_json &json,
                                const SourceLoc &loc) {
  JsonNode node;
  node.loc = loc;
  if (json.is_boolean()) {
    node.kind = JsonKind::Boolean;
    node.boolean = json.get<bool>();
  } else if (json.is_number()) {
    node.kind = JsonKind::Number;
    node.number = json.get<double>();
  } else if (json.is_string()) {
    node.kind = JsonKind::String;
    node.string = json.get<std::string>();
  } else if (json.is_array()) {
    node.kind = JsonKind::Array;
    for (const ordered_json &item : json)
      node.items.push_back(fromOrderedJson(item, loc));
  } else if (json.is_object()) {
    node.kind = JsonKind::Object;
    for (const auto &[key, value] : json.items())
      node.members.push_back({key, loc, fromOrderedJson(value, loc)});
  }
  return node;
}

ordered_json prism::toOrderedJson(const JsonNode &node) {
  switch (node.kind) {
  case JsonKind::Null:
    return nullptr;
  case JsonKind::Boolean:
    return node.boolean;
  case JsonKind::Number:
    // Beyond 2^53 a double is no exact integer any more; leave it as it is.
    if (node.isInteger() && std::fabs(node.number) < 9007199254740992.0)
      return node.integer();
    return node.number;
  case JsonKind::String:
    return node.string;
  case JsonKind::Array: {
    ordered_json json = ordered_json::array();
    for (const JsonNode &item : node.items)
      json.push_back(toOrderedJson(item));
    return json;
  }
  case JsonKind::Object: {
    ordered_json json = ordered_json::object();
    for (const JsonMember &member : node.members)
      json[member.key] = toOrderedJson(member.value);
    return json;
  }
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {

/// Iterates over the text and leaves the number of bytes read in `*count`.
struct CountingIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  const char *at = nullptr;
  const char *begin = nullptr;
  size_t *count = nullptr;

  reference operator*() const { return *at; }
  CountingIterator &operator++() {
    ++at;
    *count = at - begin;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator &other) const {
    return at == other.at;
  }
  bool operator!=(const CountingIterator &other) const {
    return at != other.at;
  }
};

/// Builds the tree; every handler returns false to stop at the first error.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
public:
  TreeBuilder(llvm::StringRef text, const size_t &consumed,
              TextDiagnostic &diagnostic)
      : text(text), consumed(consumed), diagnostic(diagnostic) {
    // The lexer skips a byte order mark.
    if (text.starts_with("\xEF\xBB\xBF"))
      scanned = previousEnd = 3;
  }

  JsonNode takeRoot() { return std::move(root); }

  bool null() override { return scalar(JsonKind::Null, consumed); }
  bool boolean(bool value) override {
    return scalar(JsonKind::Boolean, consumed,
                  [&](JsonNode &n) { n.boolean = value; });
  }
  bool number_integer(number_integer_t value) override {
    return numeric(static_cast<double>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return numeric(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t &) override {
    return numeric(value);
  }
  bool string(string_t &value) override {
    size_t start = tokenStart();
    return scalar(JsonKind::String, consumed, [&](JsonNode &n) {
      n.verbatim = consumed - start == value.size() + 2;
      n.string = std::move(value);
    });
  }
  bool binary(binary_t &) override { return false; } // not in JSON text
  bool start_object(std::size_t) override { return open(JsonKind::Object); }
  bool start_array(std::size_t) override { return open(JsonKind::Array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t &value) override {
    SourceLoc loc =
        locate(tokenStart(), appendPointer(stack.back()->loc.pointer, value));
    previousEnd = consumed;
    if (stack.back()->find(value))
      return fail(loc, "duplicate key '" + value + "'");
    stack.back()->members.push_back(
        {std::move(value), std::move(loc), JsonNode()});
    return true;
  }

  bool parse_error(std::size_t position, const std::string &,
                   const nlohmann::detail::exception &error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    llvm::StringRef what = error.what();
    size_t colon = what.find(": ");
    llvm::StringRef reason =
        colon == llvm::StringRef::npos ? what : what.drop_front(colon + 2);
    if (!what.contains("parse_error"))
      return fail(locate(tokenStart(), nextPointer()),
                  "not JSON: number out of range");
    // The position is where the lexer stopped, the end of a literal it did not
    // expect; its start says more.
    size_t offset = std::min(position ? position - 1 : 0, text.size());
    if (reason.contains("unexpected") && reason.contains(" literal"))
      offset = tokenStart();
    return fail(locate(offset, stack.empty() ? "" : stack.back()->loc.pointer),
                ("not JSON: " + reason).str());
  }

private:
  bool fail(SourceLoc loc, std::string message) {
    diagnostic.loc = std::move(loc);
    diagnostic.message = std::move(message);
    return false;
  }

  size_t tokenStart() const {
    size_t start = previousEnd;
    while (start < text.size() &&
           llvm::StringRef(" \t\r\n,:").contains(text[start]))
      ++start;
    return start;
  }

  /// Line and column of a byte. Tokens come in order, so lines are counted
  /// once.
  SourceLoc locate(size_t offset, std::string pointer) {
    if (offset < scanned) { // only after an error: count again
      scanned = lineStart = 0;
      line = 1;
    }
    for (; scanned < offset; ++scanned) {
      if (text[scanned] != '\n')
        continue;
      ++line;
      lineStart = scanned + 1;
    }
    return {line, static_cast<unsigned>(offset - lineStart + 1),
            std::move(pointer)};
  }

  /// Of the next value.
  std::string nextPointer() const {
    if (stack.empty())
      return "";
    const JsonNode &parent = *stack.back();
    return parent.kind == JsonKind::Array
               ? appendPointer(parent.loc.pointer,
                               std::to_string(parent.items.size()))
               : parent.members.back().keyLoc.pointer;
  }

  /// Puts a new node where the next value belongs.
  JsonNode *place(JsonKind kind) {
    JsonNode *node = &root;
    std::string pointer = nextPointer();
    if (!stack.empty()) {
      JsonNode &parent = *stack.back();
      node = parent.kind == JsonKind::Array ? &parent.items.emplace_back()
                                            : &parent.members.back().value;
    }
    node->kind = kind;
    node->loc = locate(tokenStart(), std::move(pointer));
    return node;
  }

  bool scalar(JsonKind kind, size_t end,
              llvm::function_ref<void(JsonNode &)> set = {}) {
    JsonNode *node = place(kind);
    previousEnd = end;
    if (set)
      set(*node);
    return true;
  }

  bool numeric(double value) {
    // The lexer has read one byte beyond the number, unless the text ended.
    size_t end = tokenStart();
    while (end < consumed &&
           llvm::StringRef("+-.0123456789eE").contains(text[end]))
      ++end;
    return scalar(JsonKind::Number, end,
                  [&](JsonNode &n) { n.number = value; });
  }

  bool open(JsonKind kind) {
    JsonNode *node = place(kind);
    previousEnd = consumed;
    if (stack.size() >= kMaxDepth)
      return fail(
          node->loc,
          ("nested deeper than " + llvm::Twine(kMaxDepth) + " levels").str());
    // Children are appended to the innermost node only, so the nodes on the
    // stack never move.
    stack.push_back(node);
    return true;
  }

  bool close() {
    previousEnd = consumed;
    stack.pop_back();
    return true;
  }

  llvm::StringRef text;
  const size_t &consumed;
  TextDiagnostic &diagnostic;
  JsonNode root;
  std::vector<JsonNode *> stack;
  size_t previousEnd = 0;
  size_t scanned = 0, lineStart = 0;
  unsigned line = 1;
};

} // namespace

/// The parser takes a NUL byte for the text's end, and would not look at the
/// rest.
static llvm::LogicalResult checkBytes(llvm::StringRef text,
                                      TextDiagnostic &diagnostic) {
  size_t nul = text.find('\0');
  if (nul == llvm::StringRef::npos)
    return llvm::success();
  llvm::StringRef before = text.take_front(nul);
  size_t lineStart = before.rfind('\n') + 1; // 0 in the first line
  diagnostic.loc = {static_cast<unsigned>(before.count('\n') + 1),
                    static_cast<unsigned>(nul - lineStart + 1), ""};
  diagnostic.message = "not JSON: a NUL byte, expected text";
  return llvm::failure();
}

llvm::FailureOr<JsonNode> prism::parseJson(llvm::StringRef text,
                                           llvm::StringRef file,
                                           TextDiagnostic &diagnostic) {
  diagnostic = TextDiagnostic();
  diagnostic.file = file.str();
  if (failed(checkBytes(text, diagnostic)))
    return llvm::failure();
  size_t consumed = 0;
  CountingIterator begin{text.begin(), text.begin(), &consumed};
  CountingIterator end{text.end(), text.begin(), &consumed};
  TreeBuilder builder(text, consumed, diagnostic);
  if (!nlohmann::json::sax_parse(begin, end, &builder))
    return llvm::failure();
  return builder.takeRoot();
}
