//===- LoopConstants.cpp - What is the same at every step -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A token at a time, a parameter and its functions (the exponential of Mamba's
// rates, say) would be evaluated anew for every token.
//
//===----------------------------------------------------------------------===//

#include "LoopConstants.h"
#include "Emitter.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace prism;

/// Does it load the same whatever the step? Of several steps those past the
/// end differ: they read as zero.
static bool isParameterLoad(tile::ProgramOp program, tile::LoadOp load) {
  tile::ViewType view = load.getView().getType();
  tile::ArgumentAttr argument =
      program.getArgument_(cast<BlockArgument>(load.getView()).getArgNumber());
  bool ofTime = argument.getAxes().getValue().contains('t');
  bool oneStep =
      load.getOneStep() ||
      cast<RankedTensorType>(load.getResult().getType()).getDimSize(0) == 1;
  return argument.getRole().getValue() == "input" && !ofTime &&
         view.hasTime() && oneStep;
}

static void hoistFrom(tile::ProgramOp program, scf::ForOp loop) {
  auto outside = [&](Value v) { return loop.isDefinedOutsideOfLoop(v); };
  for (Operation &op :
       llvm::make_early_inc_range(loop.getBody()->without_terminator())) {
    auto load = dyn_cast<tile::LoadOp>(op);
    if (load && isParameterLoad(program, load) &&
        load.getIndices().front() == loop.getInductionVar() &&
        llvm::all_of(load.getIndices().drop_front(), outside)) {
      load.getIndicesMutable()[0].assign(loop.getLowerBound());
      op.moveBefore(loop);
    } else if (op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
               isSpeculatable(&op) && llvm::all_of(op.getOperands(), outside)) {
      op.moveBefore(loop);
    }
  }
}

void tiletocpu::hoistLoopConstants(tile::ProgramOp program) {
  program.walk([&](scf::ForOp loop) { hoistFrom(program, loop); });
}
