//===- StateDependence.cpp - What depends on the carried state ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "StateDependence.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SmallVector.h"

using namespace mlir;
using namespace prism::tile;

StateDependence::StateDependence(ProgramOp program) {
  SmallVector<Value> pending;
  auto add = [&](Value value) {
    if (values.insert(value).second)
      pending.push_back(value);
  };
  program.walk([&](scf::ForOp loop) {
    for (Value carried : loop.getRegionIterArgs())
      add(carried);
  });
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    for (Operation *user : value.getUsers()) {
      for (Value result : user->getResults())
        add(result);
      // What a loop returns comes from its last iteration.
      if (auto yield = dyn_cast<scf::YieldOp>(user))
        for (Value result : yield->getParentOp()->getResults())
          add(result);
    }
  }
}
