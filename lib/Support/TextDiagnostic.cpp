//===- TextDiagnostic.cpp - What is wrong with a text ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Support/TextDiagnostic.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace prism;

/// Text of the user's without line breaks: one message is one line.
static std::string oneLine(llvm::StringRef text) {
  std::string line;
  for (char c : text) {
    bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    line += control ? "\\x" + llvm::toHex(llvm::StringRef(&c, 1))
                    : std::string(1, c);
  }
  return line;
}

std::string TextDiagnostic::sentence() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!loc.pointer.empty())
    os << oneLine(loc.pointer) << ": ";
  os << oneLine(message);
  if (!nearest.empty())
    os << "; did you mean '" << nearest << "'?";
  return text;
}

std::string TextDiagnostic::str() const {
  return file + ":" + std::to_string(loc.line) + ":" +
         std::to_string(loc.column) + ": error: " + sentence();
}

llvm::StringRef prism::nearestName(llvm::StringRef name,
                                   llvm::ArrayRef<llvm::StringRef> candidates) {
  // A third of the letters may be wrong, at least one and at most four.
  unsigned bound = std::clamp<size_t>(name.size() / 3, 1, 4);
  llvm::StringRef best;
  for (llvm::StringRef candidate : candidates) {
    if (candidate.equals_insensitive(name))
      return candidate;
    unsigned distance =
        name.edit_distance(candidate, /*AllowReplacements=*/true, bound);
    if (distance > bound)
      continue;
    best = candidate;
    if (distance == 0)
      break;
    bound = distance - 1;
  }
  return best;
}

std::string prism::joinNames(llvm::ArrayRef<llvm::StringRef> names) {
  std::string text;
  for (auto [i, name] : llvm::enumerate(names)) {
    if (i)
      text += i + 1 == names.size() ? " or " : ", ";
    text += name;
  }
  return text;
}
