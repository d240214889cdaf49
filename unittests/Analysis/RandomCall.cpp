//===- RandomCall.cpp - Random arrays for an entry ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RandomCall.h"
#include "Prism/Dialect/Scan/IR/Scan.h"

using namespace mlir;
using namespace prism;
using namespace prism::analysis;
using interpreter::Array;
using interpreter::Arrays;

Arrays analysis::makeArguments(func::FuncOp entry, int64_t rows, int64_t steps,
                               bool withOptional, std::mt19937_64 &random) {
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  Arrays in;
  for (BlockArgument argument : entry.getArguments()) {
    unsigned i = argument.getArgNumber();
    auto type = cast<RankedTensorType>(argument.getType());
    bool isOptional = bool(entry.getArgAttr(i, scan::kOptionalAttr));
    if (isOptional && (!withOptional || type.getElementType().isInteger(64)))
      continue;
    SmallVector<int64_t> shape(type.getShape());
    bool first = true;
    for (int64_t &extent : shape)
      if (ShapedType::isDynamic(extent)) {
        extent = first ? rows : steps;
        first = false;
      }
    Array &array = in[interpreter::getArgumentName(entry, i)] = Array(shape);
    for (double &x : array.data)
      x = uniform(random);
  }
  return in;
}
