//===- BufferPlan.cpp - Which tiles exist, and where ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "BufferPlan.h"
#include "Prism/Dialect/Tile/IR/StepPrograms.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace prism;
using namespace prism::tiletocpu;

namespace {
/// Evaluating a lazy value this dear at several places costs more than a
/// buffer.
constexpr int64_t kDear = 6;
constexpr int64_t kDotCost = 1000;
constexpr int64_t kAlignment = 64;
/// 32 vectors of 16 f64: the largest register tile.
constexpr int64_t kEdgeTileBytes = 32 * 16 * 8;
} // namespace

int64_t Buffer::bytes() const {
  return llvm::alignTo(rows * stride * element.getIntOrFloatBitWidth() / 8,
                       kAlignment);
}

bool tiletocpu::isRowDot(tile::DotOp dot) {
  return dot.getTransposeRhs() && !dot.getTransposeLhs() && dot.getN() <= 4 &&
         dot.getM() <= 4;
}

Mask tiletocpu::findMask(Value v) {
  Operation *op = v.getDefiningOp();
  if (!op)
    return {};
  if (auto decay = dyn_cast<tile::DecayMatrixOp>(op))
    return decay.getTransposed()
               ? Mask()
               : Mask{decay.getRowOrder(), decay.getColumnOrder()};
  if (auto scores = dyn_cast<tile::DecayedDotOp>(op))
    return {scores.getRowOrder(), scores.getColumnOrder()};
  if (isa<tile::ImpulseResponseOp>(op)) {
    static constexpr int64_t row[] = {1}, column[] = {0};
    return {row, column};
  }
  if (isa<tile::ScaleRowsOp, tile::ScaleColumnsOp, arith::NegFOp,
          arith::TruncFOp, arith::ExtFOp>(op))
    return findMask(op->getOperand(0));
  if (isa<arith::MulFOp>(op)) {
    if (Mask mask = findMask(op->getOperand(0)))
      return mask;
    return findMask(op->getOperand(1));
  }
  return {};
}

BufferPlan::BufferPlan(tile::ProgramOp program, const CPUOptions &options)
    : program(program), options(options) {
  if (tile::hasPlainSteps(program)) // bufferization plans those
    return;
  int64_t next = 0;
  program.walk<WalkOrder::PreOrder>(
      [&](Operation *op) { positions[op] = next++; });
  program.walk([&](scf::ForOp loop) {
    loopEnds[loop] = positionOf(loop.getBody()->getTerminator());
  });
  classify();
  findAnchors();
  program.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) { planLoop(loop); });
  findInPlaceLoads();
  computeLifetimes();
  assignOffsets();
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

/// Are all elements equal (or is there only one, and no buffer needed to make
/// it)?
bool BufferPlan::isScalar(Value v) const {
  Operation *op = v.getDefiningOp();
  if (!op)
    return false;
  auto operandsScalar = [&] {
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return !isTile(operand) || formOf(operand) == Form::scalar ||
             (tileType(operand).getNumElements() == 1 &&
              tileType(operand).getRank() == 1);
    });
  };
  RankedTensorType type = tileType(v);
  bool oneElement = type.getRank() == 1 && type.getNumElements() == 1;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return cast<DenseElementsAttr>(constant.getValue()).isSplat();
  if (isa<tensor::SplatOp, tile::SplatLastOp>(op))
    return true;
  if (isa<tile::LoadOp>(op))
    return oneElement;
  if (isa<tile::GateSumOp, tile::MaskRowsOp>(op))
    return oneElement && operandsScalar();
  if (isa<tile::DecayMatrixOp>(op))
    return type.getNumElements() == 1 && operandsScalar();
  if (isa<tile::ScaleRowsOp, tile::ScaleColumnsOp, tile::BroadcastOp>(op) ||
      isElementwise(op))
    return operandsScalar();
  return false;
}

/// Must what this use reads lie in memory?
bool BufferPlan::needsBuffer(OpOperand &use) const {
  Operation *user = use.getOwner();
  if (isa<tile::DotOp>(user))
    return use.getOperandNumber() != 2;
  if (isa<tile::SolveOp, tile::InvertOp>(user))
    return use.getOperandNumber() == 0;
  if (isa<tile::ScaleRowsOp, tile::ScaleColumnsOp>(user))
    return use.getOperandNumber() == 1;
  // Vectors are interleaved element by element, from memory.
  if (isa<tile::InterleaveOp>(user))
    return tileType(use.get()).getRank() == 1;
  if (isa<tile::SumColumnsOp>(user))
    return costs.lookup(use.get().getDefiningOp()) >= kDotCost;
  return isa<tile::BroadcastOp, tile::DecayMatrixOp, tile::DecayedDotOp,
             tile::ImpulseResponseOp, tile::InitialResponseOp, tile::LastRowOp,
             tile::SplatLastOp>(user);
}

int64_t BufferPlan::costOf(Operation *op) {
  int64_t cost = 1;
  if (isa<tile::DotOp>(op))
    cost = kDotCost;
  else if (isa<tile::DecayMatrixOp>(op))
    cost = 30;
  else if (isa<math::MathDialect>(op->getDialect()) &&
           !isa<math::FmaOp, math::AbsFOp, math::CopySignOp>(op))
    cost = 20;
  else if (isa<arith::DivFOp, arith::RemFOp>(op))
    cost = 5;
  for (Value operand : op->getOperands())
    if (isTile(operand) && formOf(operand) == Form::lazy)
      cost += costs.lookup(operand.getDefiningOp());
  return cost;
}

Form BufferPlan::decide(Value v) {
  Operation *op = v.getDefiningOp();
  // A uniform matrix is one register, unless a dot or solve reads its elements.
  auto readsElements = [](OpOperand &use) {
    return isa<tile::DecayedDotOp, tile::LastRowOp>(use.getOwner()) ||
           (isa<tile::DotOp>(use.getOwner()) && use.getOperandNumber() != 2) ||
           (isa<tile::SolveOp, tile::InvertOp>(use.getOwner()) &&
            use.getOperandNumber() == 0);
  };
  if (isScalar(v) && llvm::none_of(v.getUses(), readsElements))
    return Form::scalar;
  if (isa<tile::LoadOp, tile::GateSumOp, tile::SolveOp, tile::InvertOp,
          tile::InterleaveOp, tile::SumColumnsOp, tile::DecayProductOp,
          tile::DecayedDotOp, tile::ImpulseResponseOp, tile::InitialResponseOp,
          tile::LastRowOp, scf::ForOp>(op))
    return Form::buffer;
  int64_t cost = costs[op] = costOf(op);
  bool dear = cost > kDear && !v.hasOneUse();
  for (OpOperand &use : v.getUses())
    if (dear || needsBuffer(use) ||
        use.getOwner()->getBlock() != op->getBlock())
      return Form::buffer;
  return Form::lazy;
}

void BufferPlan::classify() {
  program.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value result : op->getResults())
      if (isTile(result))
        forms[result] = decide(result);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      for (Value argument : loop.getRegionIterArgs())
        if (isTile(argument))
          forms[argument] = Form::buffer;
  });
}

bool BufferPlan::containsDot(Value v) const {
  Operation *op = v.getDefiningOp();
  if (!op || !isTile(v))
    return false;
  if (isa<tile::DotOp>(op))
    return true;
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return isTile(operand) && formOf(operand) == Form::lazy &&
           containsDot(operand);
  });
}

//===----------------------------------------------------------------------===//
// Anchors and what they read
//===----------------------------------------------------------------------===//

void BufferPlan::collectReads(Value v, bool samePlace,
                              SmallVectorImpl<Read> &reads) const {
  if (!isTile(v) || formOf(v) == Form::scalar)
    return;
  if (formOf(v) == Form::buffer)
    reads.push_back({v, samePlace, false});
  else
    collectOperandReads(v.getDefiningOp(), samePlace, reads);
}

void BufferPlan::collectOperandReads(Operation *op, bool samePlace,
                                     SmallVectorImpl<Read> &reads) const {
  if (auto dot = dyn_cast<tile::DotOp>(op)) {
    collectReads(dot.getLhs(), false, reads);
    if (dot.getTransposeRhs() && !isRowDot(dot))
      reads.push_back({dot.getRhs(), false, true});
    else
      collectReads(dot.getRhs(), false, reads);
    collectReads(dot.getAcc(), samePlace, reads);
    return;
  }
  if (auto scores = dyn_cast<tile::DecayedDotOp>(op)) {
    collectReads(scores.getLhs(), false, reads);
    reads.push_back({scores.getRhs(), false, true});
    for (Value decays : scores.getDecays())
      collectReads(decays, false, reads);
    return;
  }
  bool moves =
      isa<tile::InterleaveOp, tile::DecayMatrixOp, tile::BroadcastOp,
          tile::SumColumnsOp, tile::DecayProductOp, tile::ImpulseResponseOp,
          tile::InitialResponseOp, tile::LastRowOp>(op);
  for (OpOperand &operand : op->getOpOperands())
    collectReads(operand.get(), samePlace && !moves && !needsBuffer(operand),
                 reads);
}

void BufferPlan::findAnchors() {
  program.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<scf::ForOp, scf::YieldOp>(op)) {
      for (Value operand : op->getOperands()) {
        if (!isTile(operand))
          continue;
        Anchor anchor{op, operand, {}};
        collectReads(operand, true, anchor.reads);
        anchors.push_back(std::move(anchor));
      }
      return;
    }
    if (isa<tile::StoreOp>(op)) {
      Anchor anchor{op, {}, {}};
      collectReads(op->getOperand(0), true, anchor.reads);
      anchors.push_back(std::move(anchor));
      return;
    }
    if (op->getNumResults() != 1 || !isTile(op->getResult(0)) ||
        formOf(op->getResult(0)) == Form::lazy)
      return;
    Anchor anchor{op, op->getResult(0), {}};
    collectOperandReads(op, true, anchor.reads);
    anchors.push_back(std::move(anchor));
  });
}

//===----------------------------------------------------------------------===//
// Carried tiles
//===----------------------------------------------------------------------===//

int BufferPlan::addBuffer(int64_t rows, int64_t columns, Type element,
                          int64_t position) {
  int64_t stride = llvm::alignTo(columns, options.lanes(32));
  buffers.push_back({rows, columns, stride, element, position, position});
  bufferDefinitions.push_back(nullptr);
  return buffers.size() - 1;
}

int BufferPlan::bufferFor(Value v, int64_t position) {
  auto [it, inserted] = bufferIds.try_emplace(v, -1);
  if (inserted) {
    RankedTensorType type = tileType(v);
    int id = addBuffer(rowsOf(type), columnsOf(type), type.getElementType(),
                       position);
    bufferDefinitions[id] = v.getDefiningOp();
    bufferIds[v] = id;
    return id;
  }
  return it->second;
}

/// May `next`, evaluated at `at`, go straight into the buffer that holds
/// `carriedArg`? Only if it reads the old tile element by element, and nothing
/// evaluated later in the iteration reads the old tile.
bool BufferPlan::mayOverwrite(Value carriedArg, Value next, Operation *at,
                              Operation *yield) const {
  for (const Anchor &anchor : anchors) {
    int64_t position = positionOf(anchor.at);
    if (position < positionOf(at) || position > positionOf(yield))
      continue;
    bool own = anchor.at == at && anchor.result == next;
    for (const Read &read : anchor.reads)
      if (read.value == carriedArg && !read.transposed &&
          !(own && read.samePlace))
        return false;
  }
  return true;
}

void BufferPlan::planLoop(scf::ForOp loop) {
  auto &tiles = carried[loop];
  auto *yield = loop.getBody()->getTerminator();
  for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    CarriedTile &tile = tiles.emplace_back();
    if (!isTile(argument))
      continue;
    Value init = loop.getInitArgs()[i], next = yield->getOperand(i);
    RankedTensorType type = tileType(argument);
    // An outer loop may have put this loop's result into its own buffer.
    Value result = loop.getResult(i);
    tile.buffer = bufferFor(result, positionOf(loop));
    bufferDefinitions[tile.buffer] = loop;
    bufferIds[argument] = tile.buffer;
    auto load = init.getDefiningOp<tile::LoadOp>();
    if (load && init.hasOneUse() && load->getBlock() == loop->getBlock() &&
        formOf(init) == Form::buffer && !bufferIds.count(init)) {
      tile.initInPlace = true;
      bufferIds[init] = tile.buffer;
      buffers[tile.buffer].begin = positionOf(load);
    }
    if (next == argument) {
      tile.yieldInPlace = true;
      continue;
    }
    bool computedHere = next.getDefiningOp() &&
                        next.getDefiningOp()->getBlock() == yield->getBlock();
    Form form = formOf(next);
    bool usedOnce = llvm::count(yield->getOperands(), next) == 1;
    if (computedHere && usedOnce && form == Form::lazy)
      tile.yieldInPlace = mayOverwrite(argument, next, yield, yield);
    if (computedHere && usedOnce && form == Form::buffer &&
        !isa<scf::ForOp>(next.getDefiningOp()) && !bufferIds.count(next) &&
        mayOverwrite(argument, next, next.getDefiningOp(), yield)) {
      tile.yieldInPlace = true;
      bufferIds[next] = tile.buffer;
    }
    if (!tile.yieldInPlace) {
      tile.temporary = addBuffer(rowsOf(type), columnsOf(type),
                                 type.getElementType(), positionOf(yield));
      bufferDefinitions[tile.temporary] = yield;
    }
  }
}

//===----------------------------------------------------------------------===//
// Lifetimes and offsets
//===----------------------------------------------------------------------===//

/// Are `count` columns from this index inside the view whatever the work item?
static bool columnsAreInside(tile::ProgramOp program, Value index,
                             int64_t count, int64_t extent) {
  if (auto op = index.getDefiningOp<arith::ConstantOp>())
    return cast<IntegerAttr>(op.getValue()).getInt() + count <= extent;
  int64_t values = program.getValues(), block = program.getValueBlock();
  return index.getDefiningOp<tile::ValueOffsetOp>() && extent == values &&
         values % block == 0 && count == block;
}

void BufferPlan::findInPlaceLoads() {
  program.walk([&](tile::LoadOp load) {
    RankedTensorType type = tileType(load.getResult());
    tile::ViewType view = load.getView().getType();
    tile::ArgumentAttr argument = program.getArgument_(
        cast<BlockArgument>(load.getView()).getArgNumber());
    StringRef axes = argument.getAxes().getValue();
    bool unitColumns =
        !axes.empty() && StringRef("bthn").find(axes.back()) == StringRef::npos;
    if (type.getRank() != 2 || formOf(load.getResult()) != Form::buffer ||
        bufferIds.count(load.getResult()) ||
        argument.getRole().getValue() != "input" ||
        view.getElementType() != type.getElementType() || !unitColumns ||
        !view.hasTime() || load.getOneStep() ||
        !columnsAreInside(program, load.getIndices().back(), columnsOf(type),
                          view.getShape().back()))
      return;
    bool wholeVectors = columnsOf(type) % options.lanes(32) == 0;
    bool readableInPlace =
        llvm::all_of(load.getResult().getUses(), [&](OpOperand &use) {
          auto dot = dyn_cast<tile::DotOp>(use.getOwner());
          return wholeVectors ||
                 (dot && use.getOperandNumber() == 0 && !isRowDot(dot));
        });
    if (readableInPlace)
      inPlace.insert(load);
  });
}

/// A buffer defined outside a loop that reads it lives until the loop's end.
void BufferPlan::extend(int id, Operation *definition, Operation *reader) {
  int64_t end = positionOf(reader);
  for (Operation *op = reader->getParentOp(); op && op != program;
       op = op->getParentOp())
    if (!definition || !op->isProperAncestor(definition))
      end = std::max(end, loopEnds.lookup(op));
  buffers[id].end = std::max(buffers[id].end, end);
}

void BufferPlan::computeLifetimes() {
  for (const Anchor &anchor : anchors)
    if (anchor.result && formOf(anchor.result) == Form::buffer &&
        !isa<scf::YieldOp>(anchor.at))
      bufferFor(anchor.result, positionOf(anchor.at));
  for (const Anchor &anchor : anchors) {
    // What is evaluated into a carried buffer keeps it alive there.
    if (anchor.result && formOf(anchor.result) == Form::buffer)
      extend(bufferIds.lookup(anchor.result),
             bufferDefinitions[bufferIds.lookup(anchor.result)], anchor.at);
    for (const Read &read : anchor.reads) {
      int id = bufferIds.lookup(read.value);
      Operation *definition = bufferDefinitions[id];
      if (!read.transposed) {
        extend(id, definition, anchor.at);
        continue;
      }
      // The transposed copy is made right where the value is.
      auto argument = dyn_cast<BlockArgument>(read.value);
      Operation *made =
          argument ? &argument.getOwner()->front() : read.value.getDefiningOp();
      auto [it, inserted] = transposedIds.try_emplace(read.value, -1);
      if (inserted) {
        RankedTensorType type = tileType(read.value);
        int64_t rows = llvm::alignTo(columnsOf(type), options.lanes(32));
        it->second = addBuffer(rows, rowsOf(type), type.getElementType(),
                               positionOf(made));
        bufferDefinitions[it->second] = made;
      }
      extend(it->second, made, anchor.at);
      extend(id, definition, made);
    }
  }
  program.walk([&](tile::DecayedDotOp op) {
    RankedTensorType type = tileType(op.getResult());
    Type element = type.getElementType();
    runningIds[op] = addBuffer(op.getChannels(),
                               options.lanes(element.getIntOrFloatBitWidth()),
                               element, positionOf(op));
    bufferDefinitions[runningIds[op]] = op;
  });
  for (auto &[loop, tiles] : carried)
    for (const CarriedTile &tile : tiles)
      if (tile.buffer >= 0)
        buffers[tile.buffer].end =
            std::max(buffers[tile.buffer].end, loopEnds.lookup(loop));
}

void BufferPlan::assignOffsets() {
  SmallVector<int> order = llvm::to_vector(llvm::seq<int>(0, buffers.size()));
  llvm::sort(order, [&](int x, int y) {
    return std::pair(buffers[x].begin, x) < std::pair(buffers[y].begin, y);
  });
  SmallVector<int> placed;
  total = kEdgeTileBytes;
  for (int id : order) {
    Buffer &buffer = buffers[id];
    SmallVector<std::pair<int64_t, int64_t>> taken;
    for (int other : placed)
      if (buffers[other].end >= buffer.begin &&
          buffers[other].begin <= buffer.end)
        taken.push_back({buffers[other].offset,
                         buffers[other].offset + buffers[other].bytes()});
    llvm::sort(taken);
    int64_t offset = kEdgeTileBytes;
    for (auto [begin, end] : taken) {
      if (begin >= offset + buffer.bytes())
        break;
      offset = std::max(offset, end);
    }
    buffer.offset = offset;
    total = std::max(total, offset + buffer.bytes());
    placed.push_back(id);
  }
}
