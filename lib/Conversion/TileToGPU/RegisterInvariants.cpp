//===- RegisterInvariants.cpp - What is the same in every step ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A model's parameters are arguments without a time axis; they, and what is
// computed of them alone, are taken once.
//
//===----------------------------------------------------------------------===//

#include "RegisterLowering.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// Registers for them, at most.
static constexpr int64_t kMostInvariant = 32;

bool RegisterLowering::isInvariant(Operation *op, scf::ForOp loop) {
  auto isOutside = [&](Value v) {
    return loop.isDefinedOutsideOfLoop(v) ||
           invariants.contains(v.getDefiningOp());
  };
  if (auto load = dyn_cast<LoadOp>(op)) {
    auto view = cast<BlockArgument>(load.getView());
    ArgumentAttr argument =
        kernel.getProgram().getArgument_(view.getArgNumber());
    if (argument.getRole().getValue() != "input" || argument.getOptional() ||
        argument.getAxes().getValue().contains('t') ||
        load.getIndices().front() != loop.getInductionVar())
      return false;
    return llvm::all_of(load.getIndices().drop_front(), isOutside);
  }
  bool isPure =
      isElementwise(op) || isa<ScaleRowsOp, ScaleColumnsOp, BroadcastOp>(op);
  return isPure && llvm::all_of(op->getOperands(), isOutside);
}

void RegisterLowering::findInvariants(scf::ForOp loop) {
  invariants.clear();
  for (Operation &op : loop.getBody()->without_terminator())
    if (isInvariant(&op, loop))
      invariants.insert(&op);
  int64_t registers = 0;
  for (Operation *op : invariants) {
    bool isKept = llvm::any_of(op->getUsers(), [&](Operation *user) {
      return !invariants.contains(user);
    });
    auto [rows, columns] = shapeOf(op->getResult(0));
    registers += isKept ? rows * columns : 0;
  }
  if (registers > kMostInvariant)
    invariants.clear();
}

void RegisterLowering::emitInvariants(scf::ForOp loop) {
  findInvariants(loop);
  kernel.scalars.map(loop.getInductionVar(),
                     b.wide(kernel.scalars.lookup(loop.getLowerBound())));
  for (Operation &op : loop.getBody()->without_terminator())
    if (invariants.contains(&op))
      emitOp(&op);
}
