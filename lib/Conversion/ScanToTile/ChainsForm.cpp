//===- ChainsForm.cpp - Chains of factors and what is read of them --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ChainsForm.h"

using namespace mlir;
using namespace prism;

/// The state that enters the mini-batch is the chain's as well: a chunk enters
/// with it.
bool ChainsForm::isOn(const Chain &chain, Value state) {
  return state == chain.start ||
         (op.getMiniBatch() &&
          state == op.getEntryStateArgument(chain.state)) ||
         llvm::any_of(chain.factors, [&](scan::StateOpInterface factor) {
           return factor.getStateResult() == state;
         });
}

LogicalResult ChainsForm::collect() {
  for (unsigned state : states.chained) {
    FailureOr<SmallVector<scan::StateOpInterface>> found =
        scan::getFactorChain(op, state);
    if (failed(found))
      return op.emitOpError("the state flows through an op that is no state "
                            "factor; no parallel form is derived for it");
    Value start = found->empty() ? Value(op.getStateArgument(state))
                                 : found->front().getStateOperand().get();
    chains.push_back({state, start, std::move(*found), {}});
  }
  if (failed(collectReads()))
    return failure();
  for (const Chain &chain : chains)
    for (scan::StateOpInterface factor : chain.factors)
      if (auto erase = dyn_cast<scan::EraseOp>(factor.getOperation()))
        if (erase.getOf() && !isOn(chain, erase.getOf()))
          return erase.emitOpError(
              "reads a state that is not on the chain of the next state");
  return success();
}

/// Reads that outputs are made of; those of numbers are known by then.
LogicalResult ChainsForm::collectReads() {
  llvm::SmallDenseSet<Value> found;
  for (Value output : op.getYield().getValues().drop_front(op.getNumStates()))
    for (Value value : scan::readsAmong(op, output)) {
      if (!found.insert(value).second)
        continue;
      auto read = value.getDefiningOp<scan::ReadOp>();
      auto *chain = llvm::find_if(chains, [&](const Chain &chain) {
        return isOn(chain, read.getState());
      });
      if (chain != chains.end())
        chain->reads.push_back(read);
      else if (states.stepped.empty())
        return read.emitOpError(
            "reads a state that is not on the chain of the next state");
    }
  return success();
}

FailureOr<SmallVector<Value>>
ChainsForm::emit(TileBuilder &tb, TokenTiles &tokens,
                 NumberStates::TilesAt tilesAt, int64_t chunk,
                 int64_t valueBlock, Value first, ValueRange entering,
                 SmallVectorImpl<Value> &outputs) {
  SmallVector<Value> carried(entering);
  if (!states.stepped.empty() &&
      failed(NumberStates(tb, op, states.stepped)
                 .emit(tokens, tilesAt, chunk, first, carried)))
    return failure();
  for (const Chain &chain : chains) {
    auto type = cast<RankedTensorType>(chain.start.getType());
    ChunkForm form(tb, tokens, chunk, type.getDimSize(0),
                   std::min(valueBlock, type.getDimSize(1)));
    Value entered = op.getMiniBatch() ? op.getEntryStateArgument(chain.state)
                                      : BlockArgument();
    form.collect(chain.factors, chain.start, entered, chain.reads);
    SmallVector<Value> readTiles;
    FailureOr<Value> next = form.emit(carried[chain.state], readTiles);
    if (failed(next))
      return failure();
    carried[chain.state] = *next;
    for (auto [read, tile] : llvm::zip(chain.reads, readTiles))
      tokens.define(scan::ReadOp(read).getResult(), tile);
  }
  for (Value output : op.getYield().getValues().drop_front(op.getNumStates())) {
    outputs.push_back(tokens.get(output, -1, Along::value));
    if (!outputs.back())
      return failure();
  }
  return carried;
}
