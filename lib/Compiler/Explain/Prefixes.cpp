//===- Prefixes.cpp - What a prefix scan is -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Analysis/Associativity.h"
#include "Prism/Compiler/Explain.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace prism;
using namespace prism::explain;

static PrefixScan describe(scan::PrefixOp op) {
  PrefixScan prefix;
  int64_t chunk = op.getChunkSize();
  llvm::raw_string_ostream(prefix.elements)
      << "an element for each "
      << (chunk == 1 ? "token"
                     : "chunk of " + std::to_string(chunk) + " tokens")
      << ", " << op.getNumValueHeads() << " heads"
      << (op.getReverse() ? ", time reversed" : "");
  for (unsigned i = 0; i < op.getNumComponents(); ++i)
    llvm::raw_string_ostream(prefix.components.emplace_back())
        << op.getComponentType(i);
  prefix.prefix =
      std::string(op.getInclusive() ? "up to and with the token"
                  : chunk == 1      ? "of what is before the token"
                                    : "of what is before the chunk") +
      ", from " +
      (op.getEvaluateIdentity() ? "an oldest element that is evaluated"
                                : "a formal identity");
  prefix.scanClass = analysis::describeClass(analysis::associativityOf(op));
  return prefix;
}

std::optional<Entry> explain::explainPrefixes(func::FuncOp entry) {
  Entry explained;
  explained.name = entry.getName().str();
  bool hasRecurrence = false;
  entry.walk([&](Operation *op) {
    hasRecurrence |= isa<scan::RecurrenceOp>(op);
    if (auto prefix = dyn_cast<scan::PrefixOp>(op))
      explained.prefixes.push_back(describe(prefix));
  });
  if (hasRecurrence || explained.prefixes.empty())
    return std::nullopt;
  return explained;
}
