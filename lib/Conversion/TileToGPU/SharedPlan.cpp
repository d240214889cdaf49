//===- SharedPlan.cpp - Which tiles live where in shared memory -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SharedPlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace prism::tile;
using namespace prism::tiletogpu;

static Block *definingBlock(Value tile) {
  if (auto argument = dyn_cast<BlockArgument>(tile))
    return argument.getOwner();
  return tile.getDefiningOp()->getBlock();
}

/// The op at whose place a tile comes into being; a carried tile's loop.
static Operation *definer(Value tile) {
  if (auto argument = dyn_cast<BlockArgument>(tile))
    return argument.getOwner()->getParentOp();
  return tile.getDefiningOp();
}

//===----------------------------------------------------------------------===//
// What is read
//===----------------------------------------------------------------------===//

void SharedPlan::collectSources(Value tile, bool pointwise,
                                SmallVectorImpl<Source> &out,
                                SmallVectorImpl<Source> &seen) const {
  if (!isTensor(tile))
    return;
  auto isKnown = [&](const Source &s) {
    return s.value == tile && s.pointwise == pointwise;
  };
  if (llvm::any_of(seen, isKnown))
    return;
  seen.push_back({tile, pointwise});
  if (exists(tile)) {
    out.push_back({tile, pointwise});
    return;
  }
  Operation *op = tile.getDefiningOp();
  for (OpOperand &operand : op->getOpOperands()) {
    bool same = isElementwise(op) ||
                (isa<ScaleRowsOp, ScaleColumnsOp, MaskRowsOp>(op) &&
                 operand.getOperandNumber() == 0);
    collectSources(operand.get(), pointwise && same, out, seen);
  }
}

SmallVector<Source> SharedPlan::sourcesOf(Value tile) const {
  SmallVector<Source> out, seen;
  collectSources(tile, true, out, seen);
  return out;
}

SmallVector<Source> SharedPlan::sourcesOfDefinition(Value tile) const {
  SmallVector<Source> out, seen;
  Operation *op = tile.getDefiningOp();
  for (OpOperand &operand : op->getOpOperands()) {
    // A dot reads its accumulator, a solve its right-hand side, where it
    // writes.
    bool same = isElementwise(op) ||
                (isa<ScaleRowsOp, ScaleColumnsOp, MaskRowsOp>(op) &&
                 operand.getOperandNumber() == 0) ||
                (isa<DotOp>(op) && operand.getOperandNumber() == 2) ||
                (isa<SolveOp>(op) && operand.getOperandNumber() == 1);
    collectSources(operand.get(), same, out, seen);
  }
  return out;
}

//===----------------------------------------------------------------------===//
// What must exist
//===----------------------------------------------------------------------===//

LogicalResult SharedPlan::check(ProgramOp program) {
  auto result = program.getBody().walk([&](Operation *op) -> WalkResult {
    if (isRounded(op)) {
      op->emitOpError("yields a tile of 16 bits, ")
          << op->getResult(0).getType()
          << "; without tensor cores a GPU kernel computes in f32";
      return WalkResult::interrupt();
    }
    if (isVirtual(op) || isComputedOnce(op) || isStructural(op) ||
        isScalarOp(op) || isa<SumStepsOp>(op))
      return WalkResult::advance();
    op->emitOpError("has no GPU lowering inside a tile.program");
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  result = program.getBody().walk([&](scf::ForOp loop) -> WalkResult {
    for (Value carried : loop.getRegionIterArgs())
      if (isTensor(carried) &&
          !isa<FloatType>(tensorType(carried).getElementType()))
        return loop.emitOpError("carries a tile of ")
                   << tensorType(carried).getElementType()
                   << "; the GPU lowering carries f32 and f64",
               WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void SharedPlan::number(ProgramOp program) {
  int64_t next = 0;
  program.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { positions[op] = next++; });
}

/// Rough price of one element.
int64_t SharedPlan::cost(Value tile, DenseMap<Value, int64_t> &costs) const {
  if (!isTensor(tile))
    return 0;
  if (exists(tile))
    return 1;
  auto known = costs.find(tile);
  if (known != costs.end())
    return known->second;
  Operation *op = tile.getDefiningOp();
  bool isMath = isa_and_nonnull<math::MathDialect>(op->getDialect());
  int64_t price = isSplatConstant(op)                               ? 0
                  : isMath || isa<arith::DivFOp, DecayMatrixOp>(op) ? 10
                                                                    : 1;
  if (isa<InterleaveOp>(op))
    price = 4;
  for (Value operand : op->getOperands())
    price = std::min<int64_t>(price + cost(operand, costs), 1000);
  return costs[tile] = price;
}

/// A tile that could be computed where it is read is computed once all the same
/// where that is much cheaper: inner loops read it, or it is dear and small, or
/// dear and read twice.
bool SharedPlan::mustExist(Value tile, DenseMap<Value, int64_t> &costs) const {
  Operation *op = tile.getDefiningOp();
  if (isStreamed(op))
    return false;
  if (isComputedOnce(op))
    return true;
  if (!isa<FloatType>(tensorType(tile).getElementType()) ||
      isSplatConstant(op) || isa<tensor::SplatOp>(op))
    return false;
  int64_t price = cost(tile, costs);
  for (OpOperand &use : tile.getUses()) {
    Operation *user = use.getOwner();
    bool inner = (isa<DotOp>(user) && use.getOperandNumber() < 2) ||
                 (isa<SolveOp>(user) && use.getOperandNumber() == 0) ||
                 isa<GateSumOp, DecayProductOp, DecayedDotOp>(user);
    if (inner && price > 3)
      return true;
    if (isa<scf::YieldOp>(user) && user->getBlock() == op->getBlock())
      return true;
  }
  return price >= 10 && (tensorType(tile).getRank() == 1 || !tile.hasOneUse());
}

SmallVector<StreamedDot> SharedPlan::streamsOf(scf::ForOp loop) const {
  SmallVector<StreamedDot> result;
  for (const StreamedDot &stream : streams)
    if (DotOp(stream.dot)->getParentOp() == loop.getOperation())
      result.push_back(stream);
  return result;
}

const StreamedDot *SharedPlan::streamOf(DotOp dot) const {
  auto *it = llvm::find_if(
      streams, [&](const StreamedDot &stream) { return stream.dot == dot; });
  return it == streams.end() ? nullptr : it;
}

bool SharedPlan::isStreamed(Operation *load) const {
  return llvm::any_of(
      streams, [&](const StreamedDot &stream) { return stream.reads(load); });
}

void SharedPlan::addExisting(Value tile) {
  existing[tile] = true;
  leaders[tile] = tile;
  order.push_back(tile);
}

void SharedPlan::chooseExisting(ProgramOp program) {
  DenseMap<Value, int64_t> costs;
  program.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [carried, result] :
           llvm::zip(loop.getRegionIterArgs(), loop.getResults()))
        if (isTensor(carried)) {
          addExisting(carried);
          addExisting(result);
          unite(carried, result);
        }
      return;
    }
    for (Value result : op->getResults())
      if (isTensor(result) && mustExist(result, costs))
        addExisting(result);
  });
}

//===----------------------------------------------------------------------===//
// What may share a buffer
//===----------------------------------------------------------------------===//

Value SharedPlan::leader(Value tile) const {
  while (leaders.lookup(tile) != tile)
    tile = leaders.lookup(tile);
  return tile;
}

void SharedPlan::unite(Value a, Value b) { leaders[leader(b)] = leader(a); }

SmallVector<Value> SharedPlan::membersOf(Value tile) const {
  SmallVector<Value> members;
  for (Value other : order)
    if (leader(other) == leader(tile))
      members.push_back(other);
  return members;
}

void SharedPlan::addReads(ArrayRef<Source> sources, Operation *op) {
  for (const Source &source : sources)
    readers[source.value].push_back({op, source.pointwise});
}

void SharedPlan::collectReaders(ProgramOp program) {
  program.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto store = dyn_cast<StoreOp>(op))
      return addReads(sourcesOf(store.getValue()), op);
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (Value init : loop.getInitArgs())
        if (isTensor(init))
          addReads(sourcesOf(init), op);
      return;
    }
    if (isa<scf::YieldOp>(op)) {
      for (Value operand : op->getOperands())
        if (isTensor(operand))
          addReads(sourcesOf(operand), op);
      return;
    }
    for (Value result : op->getResults())
      if (exists(result))
        addReads(sourcesOfDefinition(result), op);
  });
}

/// Does anything read `tile` after `writer` has begun to write its own result?
bool SharedPlan::isReadAfter(Value tile, Operation *writer,
                             bool pointwiseAtWriter) const {
  auto it = readers.find(tile);
  if (it == readers.end())
    return false;
  int64_t at = positions.lookup(writer);
  return llvm::any_of(it->second, [&](const Reader &reader) {
    int64_t position = positions.lookup(reader.op);
    return position > at ||
           (position == at && !(pointwiseAtWriter && reader.pointwise));
  });
}

/// May the loop's carried tile start in the buffer of its initial value?
bool SharedPlan::mayCarry(Value init, scf::ForOp loop, Value carried) const {
  if (!exists(init) || init.getType() != carried.getType() ||
      definingBlock(init) != loop->getBlock() ||
      llvm::count(loop.getInitArgs(), init) != 1)
    return false;
  return llvm::none_of(membersOf(init), [&](Value member) {
    // Members from outside this block died before.
    return definingBlock(member) == loop->getBlock() &&
           isReadAfter(member, loop, /*pointwiseAtWriter=*/true);
  });
}

/// May `next` be written over `old`, which lives in the same block?
bool SharedPlan::mayReplace(Value next, Value old) const {
  Operation *writer = next.getDefiningOp();
  if (!writer || isa<scf::ForOp>(writer) || !exists(next) ||
      membersOf(next).size() != 1 || next.getType() != old.getType() ||
      definingBlock(old) != writer->getBlock())
    return false;
  return llvm::none_of(membersOf(old), [&](Value member) {
    bool inside = writer->getBlock()->getParent()->isAncestor(
        definingBlock(member)->getParent());
    return inside && isReadAfter(member, writer, /*pointwiseAtWriter=*/true);
  });
}

void SharedPlan::shareLoopBuffers(scf::ForOp loop) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (auto [init, carried] :
       llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs()))
    if (isTensor(carried) && mayCarry(init, loop, carried))
      unite(init, carried);
  loop.getBody()->walk<WalkOrder::PreOrder>([&](scf::ForOp nested) {
    if (nested->getParentOp() == loop)
      shareLoopBuffers(nested);
  });
  for (auto [next, carried] :
       llvm::zip(yield.getOperands(), loop.getRegionIterArgs()))
    if (isTensor(carried) && exists(next) && leader(next) != leader(carried) &&
        mayReplace(next, carried))
      unite(carried, next);
}

/// Outside of loop-carried buffers: a result takes the place of an operand that
/// dies there.
void SharedPlan::shareInPlace(ProgramOp program) {
  auto isCarried = [](Value tile) { return isa<scf::ForOp>(definer(tile)); };
  for (Value next : order) {
    if (isCarried(next) || membersOf(next).size() != 1)
      continue;
    for (const Source &source : sourcesOfDefinition(next)) {
      if (!source.pointwise || isCarried(source.value) ||
          llvm::any_of(membersOf(source.value), isCarried) ||
          !mayReplace(next, source.value))
        continue;
      unite(source.value, next);
      break;
    }
  }
}

//===----------------------------------------------------------------------===//
// Where the buffers lie
//===----------------------------------------------------------------------===//

unsigned SharedPlan::addBuffer(RankedTensorType type) {
  Buffer &buffer = buffers.emplace_back();
  buffer.rows = type.getRank() == 2 ? type.getDimSize(0) : 1;
  buffer.columns = type.getDimSize(type.getRank() - 1);
  // An odd stride: a column's elements lie in different banks.
  buffer.stride = buffer.rows > 1 ? buffer.columns | 1 : buffer.columns;
  buffer.element = type.getElementType();
  int64_t size = buffer.element.getIntOrFloatBitWidth() / 8;
  buffer.bytes = llvm::alignTo(buffer.rows * buffer.stride * size, 16);
  return buffers.size() - 1;
}

/// The last reader, or the end of the outermost loop around it that does not
/// hold the tile's definition: such a loop comes back for the tile.
int64_t SharedPlan::endOfLife(Value tile) const {
  auto endOf = [&](Operation *loop) {
    return positions.lookup(cast<scf::ForOp>(loop).getBody()->getTerminator());
  };
  int64_t end = positions.lookup(definer(tile));
  if (isa<BlockArgument>(tile))
    end = endOf(definer(tile));
  auto it = readers.find(tile);
  if (it == readers.end())
    return end;
  for (const Reader &reader : it->second) {
    end = std::max(end, positions.lookup(reader.op));
    for (Operation *op = reader.op; op->getBlock() != definingBlock(tile);) {
      op = op->getParentOp();
      end = std::max(end, endOf(op));
    }
  }
  return end;
}

void SharedPlan::makeBuffers() {
  for (Value tile : order) {
    Value first = leader(tile);
    int64_t begin = positions.lookup(definer(tile)), end = endOfLife(tile);
    auto [it, inserted] = bufferOf.try_emplace(first, 0u);
    if (inserted) {
      unsigned index = addBuffer(tensorType(first));
      bufferOf[first] = index;
      buffers[index].begin = begin;
      buffers[index].end = end;
    }
    unsigned index = bufferOf.lookup(first);
    bufferOf[tile] = index;
    buffers[index].carried |= isa<BlockArgument>(tile);
    buffers[index].begin = std::min(buffers[index].begin, begin);
    buffers[index].end = std::max(buffers[index].end, end);
  }
}

void SharedPlan::findTemporaries(scf::ForOp loop) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  auto isCarriedHere = [&](const Source &source) {
    return llvm::any_of(loop.getRegionIterArgs(), [&](Value carried) {
      return isTensor(carried) && leader(carried) == leader(source.value);
    });
  };
  for (auto [i, next] : llvm::enumerate(yield.getOperands())) {
    Value carried = loop.getRegionIterArgs()[i];
    if (!isTensor(carried) || (exists(next) && leader(next) == leader(carried)))
      continue;
    if (!llvm::any_of(sourcesOf(next), isCarriedHere))
      continue;
    unsigned index = addBuffer(tensorType(carried));
    buffers[index].begin = buffers[index].end = positions.lookup(yield);
    temporaries[{loop, unsigned(i)}] = index;
  }
}

/// Largest first, each at the lowest place that no buffer of the same time has.
void SharedPlan::place() {
  SmallVector<unsigned> bySize;
  for (unsigned index = 0; index < buffers.size(); ++index)
    bySize.push_back(index);
  llvm::sort(bySize, [&](unsigned a, unsigned b) {
    return std::make_pair(-buffers[a].bytes, a) <
           std::make_pair(-buffers[b].bytes, b);
  });
  SmallVector<unsigned> placed;
  for (unsigned index : bySize) {
    Buffer &buffer = buffers[index];
    auto collision = [&]() -> const Buffer * {
      for (unsigned other : placed)
        if (buffers[other].begin <= buffer.end &&
            buffer.begin <= buffers[other].end &&
            buffer.overlaps(buffers[other]))
          return &buffers[other];
      return nullptr;
    };
    // The lowest free place begins at 0 or where some placed buffer ends.
    SmallVector<int64_t> starts = {0};
    for (unsigned other : placed)
      starts.push_back(buffers[other].offset + buffers[other].bytes);
    llvm::sort(starts);
    for (int64_t start : starts) {
      buffer.offset = start;
      if (!collision())
        break;
    }
    placed.push_back(index);
    bytes = std::max(bytes, buffer.offset + buffer.bytes);
  }
}

FailureOr<SharedPlan> SharedPlan::make(ProgramOp program, int64_t threads) {
  SharedPlan plan;
  if (failed(plan.check(program)))
    return failure();
  program.getBody().walk([&](DotOp dot) {
    if (auto stream = streamedDotOf(dot, threads))
      plan.streams.push_back(*stream);
  });
  plan.number(program);
  plan.chooseExisting(program);
  plan.collectReaders(program);
  for (auto loop : program.getBody().getOps<scf::ForOp>())
    plan.shareLoopBuffers(loop);
  plan.shareInPlace(program);
  plan.makeBuffers();
  program.getBody().walk([&](scf::ForOp loop) { plan.findTemporaries(loop); });
  plan.place();
  return plan;
}
