//===- KeepPrefixChunks.cpp - Chunks that are part of a model -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Analysis/Associativity.h"
#include "Prism/Dialect/Scan/Transforms/Passes.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace prism;

void scan::keepPrefixChunk(PrefixOp op) {
  bool isTree = analysis::associativityOf(op) == analysis::Associativity::no;
  std::string chunk = std::to_string(op.getChunkSize());
  remark::missed(op.getLoc(),
                 remark::RemarkOpts::name("PrefixChunk").category("scan"))
      << "chunk " + chunk +
             (isTree ? " stays: agg is not associative, so chunk and tree are "
                       "part of the model"
                     : " stays: enc encodes chunks of this length");
}
