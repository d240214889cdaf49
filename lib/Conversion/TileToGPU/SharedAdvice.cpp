//===- SharedAdvice.cpp - What makes a plan of shared memory smaller ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SharedPlan.h"
#include "TileOpKinds.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

/// Adds what `op` makes if its columns are value columns.
static bool addOfValues(Operation *op, llvm::DenseSet<Value> &found) {
  auto has = [&](Value tile) { return found.contains(tile); };
  bool isOfValues = llvm::any_of(op->getOperands(), has);
  if (auto load = dyn_cast<LoadOp>(op))
    isOfValues = !load.getIndices().empty() &&
                 load.getIndices().back().getDefiningOp<ValueOffsetOp>();
  else if (auto dot = dyn_cast<DotOp>(op))
    isOfValues =
        (has(dot.getRhs()) && !dot.getTransposeRhs()) || has(dot.getAcc());
  else if (isa<SumColumnsOp>(op))
    return false;
  bool isNew = false;
  if (isOfValues)
    for (Value result : op->getResults())
      isNew |= isTensor(result) && found.insert(result).second;
  return isNew;
}

/// Tiles whose columns are a block's value columns: loads from the block's
/// offset, and what is made of them, column by column.
static llvm::DenseSet<Value> tilesOfValues(ProgramOp program) {
  llvm::DenseSet<Value> found;
  auto carry = [&](Value from, Value to) {
    return found.contains(from) && found.insert(to).second;
  };
  for (bool isNew = true; isNew;) {
    isNew = false;
    program.getBody().walk([&](Operation *op) {
      auto loop = dyn_cast<scf::ForOp>(op);
      if (!loop) {
        isNew |= addOfValues(op, found);
        return;
      }
      for (auto [init, next, carried, result] :
           llvm::zip_equal(loop.getInitArgs(), loop.getYieldedValues(),
                           loop.getRegionIterArgs(), loop.getResults())) {
        isNew |= carry(init, carried) || carry(next, carried);
        isNew |= carry(carried, result);
      }
    });
  }
  return found;
}

namespace {
/// Bytes that are alive at once, and how many of them shrink with the value
/// block, with the chunk, and with either.
struct Bytes {
  int64_t all = 0, ofValues = 0, ofChunk = 0, ofEither = 0;
};
} // namespace

std::string SharedPlan::advice(ProgramOp program, int64_t limit) const {
  int64_t values = program.getValueBlock(), chunk = program.getChunk();
  llvm::DenseSet<Value> tiles = tilesOfValues(program);
  llvm::DenseSet<const Buffer *> ofValues;
  for (auto [tile, number] : bufferOf)
    if (tiles.contains(tile))
      ofValues.insert(&buffers[number]);
  Bytes most;
  for (const Buffer &at : buffers) {
    Bytes now;
    for (const Buffer &other : buffers) {
      if (other.begin > at.begin || other.end < at.begin)
        continue;
      bool hasValues = ofValues.contains(&other) && other.columns > 1,
           hasChunk = chunk > 1 && other.rows % chunk == 0 && !other.carried;
      now.all += other.bytes;
      now.ofValues += hasValues ? other.bytes : 0;
      now.ofChunk += hasChunk ? other.bytes : 0;
      now.ofEither += hasValues || hasChunk ? other.bytes : 0;
    }
    if (now.all > most.all)
      most = now;
  }
  bool valuesHelp = values > 1 && most.all - most.ofValues <= limit,
       chunkHelps = chunk > 1 && most.all - most.ofChunk <= limit;
  std::string block = "the value block (now " + std::to_string(values) +
                      " of " + std::to_string(program.getValues()) +
                      " value columns)",
              steps = "the chunk (now " + std::to_string(chunk) + ")";
  if (valuesHelp && (most.ofValues >= most.ofChunk || !chunkHelps))
    return "reduce " + block;
  if (chunkHelps)
    return "reduce " + steps;
  if (values > 1 && chunk > 1 && most.all - most.ofEither <= limit)
    return "reduce " + block + " and " + steps;
  return "reduce the key dimension";
}
