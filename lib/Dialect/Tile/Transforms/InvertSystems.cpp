//===- InvertSystems.cpp - Systems that do not depend on the state --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Tile/Transforms/Passes.h"
#include "StateDependence.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace prism::tile;

namespace prism::tile {
#define GEN_PASS_DEF_TILEINVERTSYSTEMS
#include "Prism/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace prism::tile

namespace {

/// The solves of one block that share a matrix, in program order.
using Shared = SmallVector<SolveOp>;

void replaceByProducts(Shared &solves) {
  SolveOp first = solves.front();
  OpBuilder builder(first);
  Value inverse = InvertOp::create(builder, first.getLoc(), first.getMatrix());
  for (SolveOp solve : solves) {
    builder.setInsertionPoint(solve);
    auto type = cast<RankedTensorType>(solve.getResult().getType());
    Value zero = arith::ConstantOp::create(builder, solve.getLoc(),
                                           builder.getZeroAttr(type));
    auto product =
        DotOp::create(builder, solve.getLoc(), inverse, solve.getRhs(), zero,
                      /*transpose_lhs=*/false, /*transpose_rhs=*/false);
    solve.replaceAllUsesWith(product.getResult());
    solve.erase();
  }
}

struct InvertSystemsPass
    : prism::tile::impl::TileInvertSystemsBase<InvertSystemsPass> {
  void runOnOperation() override {
    StateDependence state(getOperation());
    llvm::MapVector<std::pair<Value, Block *>, Shared> systems;
    getOperation().walk([&](SolveOp solve) {
      systems[{solve.getMatrix(), solve->getBlock()}].push_back(solve);
    });
    for (auto &[key, solves] : systems) {
      Location loc = solves.front().getLoc();
      auto options = remark::RemarkOpts::name("InvertSystem").category("tile");
      if (state.contains(key.first)) {
        remark::missed(loc, options)
            << "the system depends on the state: it stays a solve on the chain";
        continue;
      }
      bool onChain = llvm::any_of(solves, [&](SolveOp solve) {
        return state.contains(solve.getRhs());
      });
      if (!onChain && solves.size() == 1) {
        remark::missed(loc, options)
            << "the one solve of this system does not depend on the state: an "
               "inverse would only add work";
        continue;
      }
      replaceByProducts(solves);
    }
  }
};

} // namespace
