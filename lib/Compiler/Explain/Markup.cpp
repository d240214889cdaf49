//===- Markup.cpp - HTML and SVG that is balanced and escaped -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Markup.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <cassert>

using namespace prism;
using namespace prism::explain;
using llvm::StringLiteral;
using llvm::StringRef;

/// Control characters, and bytes that are no UTF-8, have no place in HTML.
static std::string escape(StringRef text) {
  std::string escaped;
  std::string valid =
      llvm::json::isUTF8(text) ? text.str() : llvm::json::fixUTF8(text);
  for (char c : valid) {
    switch (c) {
    case '&':
      escaped += "&amp;";
      break;
    case '<':
      escaped += "&lt;";
      break;
    case '>':
      escaped += "&gt;";
      break;
    case '"':
      escaped += "&quot;";
      break;
    case '\'':
      escaped += "&#39;";
      break;
    default:
      bool isControl =
          (unsigned(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
      escaped += isControl ? std::string("\uFFFD") : std::string(1, c);
    }
  }
  return escaped;
}

void Markup::start(StringLiteral tag, Attributes attributes) {
  written += "<" + tag.str();
  for (const Attribute &attribute : attributes)
    written +=
        " " + attribute.name.str() + "=\"" + escape(attribute.value) + "\"";
  written += ">";
}

Markup &Markup::open(StringLiteral tag, Attributes attributes) {
  start(tag, attributes);
  opened.push_back(tag);
  return *this;
}

Markup &Markup::close() {
  StringLiteral tag = opened.pop_back_val();
  written += "</" + tag.str() + ">";
  // Within a line a break would be a space.
  if (!llvm::is_contained({"code", "strong", "span", "a"}, tag))
    written += "\n";
  return *this;
}

Markup &Markup::text(const llvm::Twine &text) {
  written += escape(text.str());
  return *this;
}

Markup &Markup::leaf(StringLiteral tag, Attributes attributes,
                     const llvm::Twine &text) {
  return open(tag, attributes).text(text).close();
}

Markup &Markup::empty(StringLiteral tag, Attributes attributes) {
  start(tag, attributes);
  written += "\n";
  return *this;
}

Markup &Markup::verbatim(StringLiteral markup) {
  written += markup;
  return *this;
}

Markup &Markup::append(Markup &other) {
  written += other.take();
  return *this;
}

std::string Markup::take() {
  assert(opened.empty() && "an element is not closed");
  return std::move(written);
}

std::string explain::coordinate(double value) {
  return llvm::formatv("{0:F1}", value);
}
