//===- Associativity.h - Whether a prefix scan may be joined in any order -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_ANALYSIS_ASSOCIATIVITY_H
#define PRISM_ANALYSIS_ASSOCIATIVITY_H

#include "Prism/Dialect/Scan/IR/Scan.h"
#include <string>

namespace prism::analysis {

enum class Associativity {
  no,          // not proved and not declared: the tree is part of the model
  declaration, // declared, not proved
  proof,
};

/// True if `agg` is proved to be associative: both orders of joining three
/// elements are the same function of their components. The arithmetic is that
/// of the reals.
bool isProvedAssociative(scan::PrefixOp op);

Associativity associativityOf(scan::PrefixOp op);
/// "by proof", "by declaration", "no".
llvm::StringRef stringify(Associativity associativity);
/// One line for people: the class, work, depth and memory.
std::string describeClass(Associativity associativity);

} // namespace prism::analysis

#endif // PRISM_ANALYSIS_ASSOCIATIVITY_H
