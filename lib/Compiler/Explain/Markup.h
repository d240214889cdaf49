//===- Markup.h - HTML and SVG that is balanced and escaped -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_COMPILER_EXPLAIN_MARKUP_H
#define PRISM_LIB_COMPILER_EXPLAIN_MARKUP_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace prism::explain {

/// Writes elements. All text and all values of attributes are escaped here, so
/// that no name of a model can become markup. Tags and attributes' names are
/// literals.
class Markup {
public:
  struct Attribute {
    llvm::StringLiteral name;
    std::string value;
  };
  using Attributes = std::initializer_list<Attribute>;

  Markup &open(llvm::StringLiteral tag, Attributes attributes = {});
  /// Closes the element opened last.
  Markup &close();
  Markup &text(const llvm::Twine &text);
  /// An element with nothing but text in it.
  Markup &leaf(llvm::StringLiteral tag, Attributes attributes,
               const llvm::Twine &text);
  Markup &leaf(llvm::StringLiteral tag, const llvm::Twine &text) {
    return leaf(tag, {}, text);
  }
  /// An element of HTML that has no end.
  Markup &empty(llvm::StringLiteral tag, Attributes attributes);
  /// Our own markup, as it is.
  Markup &verbatim(llvm::StringLiteral markup);

  /// What another one wrote.
  Markup &append(Markup &other);

  /// All that was written; every element is closed.
  std::string take();

private:
  void start(llvm::StringLiteral tag, Attributes attributes);

  std::string written;
  llvm::SmallVector<llvm::StringLiteral> opened;
};

/// Numbers of SVG: "12.5".
std::string coordinate(double value);

} // namespace prism::explain

#endif // PRISM_LIB_COMPILER_EXPLAIN_MARKUP_H
