//===- ExplainPrefix.cpp - What a prefix scan is --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Analysis/Associativity.h"
#include "Prism/Compiler/Explain.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace prism;

static void explain(raw_ostream &os, scan::PrefixOp op) {
  int64_t chunk = op.getChunkSize();
  os << "  recognised: a prefix scan, an element for each ";
  if (chunk == 1)
    os << "token";
  else
    os << "chunk of " << chunk << " tokens";
  os << ", " << op.getNumValueHeads() << " heads"
     << (op.getReverse() ? ", time reversed" : "") << "; an element is\n";
  for (unsigned i = 0; i < op.getNumComponents(); ++i)
    os << "    " << op.getComponentType(i) << "\n";
  os << "  prefix: "
     << (op.getInclusive() ? "up to and with the token"
         : chunk == 1      ? "of what is before the token"
                           : "of what is before the chunk")
     << ", from "
     << (op.getEvaluateIdentity() ? "an oldest element that is evaluated"
                                  : "a formal identity")
     << "\n  class: " << analysis::describeClass(analysis::associativityOf(op))
     << "\n  note: prefix scans are not compiled yet; --evaluate runs them in "
        "float64\n";
}

bool prism::explainPrefixes(raw_ostream &os, func::FuncOp entry) {
  SmallVector<scan::PrefixOp> prefixes;
  bool hasRecurrence = false;
  entry.walk([&](Operation *op) {
    hasRecurrence |= isa<scan::RecurrenceOp>(op);
    if (auto prefix = dyn_cast<scan::PrefixOp>(op))
      prefixes.push_back(prefix);
  });
  if (hasRecurrence || prefixes.empty())
    return false;
  os << "entry '" << entry.getName() << "'\n";
  for (scan::PrefixOp prefix : prefixes)
    explain(os, prefix);
  return true;
}
