//===- Mutations.h - Kernels with one synchronisation less ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// For a test of a lowering: without any one of its barriers, fences, waits,
// commits and arrivals a kernel should be found at fault. Those that are not
// missed are superfluous, or the interpreter has a gap.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_UNITTESTS_TILETOGPU_INTERPRETER_MUTATIONS_H
#define PRISM_UNITTESTS_TILETOGPU_INTERPRETER_MUTATIONS_H

#include "mlir/IR/Operation.h"
#include <vector>

namespace prism::test {

/// The ops below `root` that only order others, in their order.
std::vector<mlir::Operation *> synchronisationsOf(mlir::Operation *root);

/// Takes an op out of its block for as long as this lives.
class Without {
public:
  explicit Without(mlir::Operation *op)
      : op(op), block(op->getBlock()), next(op->getNextNode()) {
    op->remove();
  }
  ~Without() {
    block->getOperations().insert(
        next ? mlir::Block::iterator(next) : block->end(), op);
  }
  Without(const Without &) = delete;
  Without &operator=(const Without &) = delete;

private:
  mlir::Operation *op;
  mlir::Block *block;
  mlir::Operation *next;
};

} // namespace prism::test

#endif // PRISM_UNITTESTS_TILETOGPU_INTERPRETER_MUTATIONS_H
