//===- Nested.cpp - Ops with regions, and calls, on f64 values ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The body of such an op becomes a list of instructions of its own, over slots
// of the same memory; the op's instruction runs that list as often as it says.
//
//===----------------------------------------------------------------------===//

#include "StepProgram.h"

using namespace mlir;
using namespace prism;
using namespace prism::interpreter;

void interpreter::copySlots(ArrayRef<Slot> from, ArrayRef<Slot> to,
                            double *memory) {
  std::vector<double> kept;
  for (const Slot &slot : from)
    llvm::append_range(kept, slot.in(memory));
  const double *next = kept.data();
  for (const Slot &slot : to) {
    std::copy_n(next, slot.size, memory + slot.offset);
    next += slot.size;
  }
}

FailureOr<std::vector<Instruction>> StepProgram::makeBlock(Block &block) {
  std::vector<Instruction> outer;
  std::swap(outer, instructions);
  LogicalResult status = success();
  for (Operation &inner : block.without_terminator())
    if (succeeded(status))
      status = add(inner);
  std::swap(outer, instructions);
  if (failed(status))
    return failure();
  return outer;
}

FailureOr<bool> StepProgram::addNested(Operation &inner) {
  auto added = [](LogicalResult status) -> FailureOr<bool> {
    if (failed(status))
      return failure();
    return true;
  };
  if (auto loop = dyn_cast<scf::ForOp>(inner))
    return added(addLoop(loop));
  if (auto loop = dyn_cast<scf::WhileOp>(inner))
    return added(addWhile(loop));
  if (auto branch = dyn_cast<scf::IfOp>(inner))
    // The first region is taken unless the condition is 0.
    return added(addBranches(inner, branch.getCondition(), {1}));
  if (auto branch = dyn_cast<scf::IndexSwitchOp>(inner))
    return added(addBranches(inner, branch.getArg(), branch.getCases()));
  if (auto call = dyn_cast<func::CallOp>(inner))
    return added(addCall(call));
  if (auto generate = dyn_cast<tensor::GenerateOp>(inner))
    return added(addGenerate(generate));
  if (auto structured = dyn_cast<linalg::LinalgOp>(inner))
    return added(addLinalg(structured));
  return false;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

LogicalResult StepProgram::addLoop(scf::ForOp loop) {
  FailureOr<SmallVector<Slot>> operands =
      getOperands(*loop, loop->getOperands());
  if (failed(operands))
    return failure();
  Slot index = makeSlots(loop.getInductionVar())[0];
  SmallVector<Slot> carried = makeSlots(loop.getRegionIterArgs());
  FailureOr<std::vector<Instruction>> body = makeBlock(*loop.getBody());
  if (failed(body))
    return failure();
  FailureOr<SmallVector<Slot>> yielded =
      getOperands(*loop.getBody()->getTerminator(),
                  loop.getBody()->getTerminator()->getOperands());
  if (failed(yielded))
    return failure();
  SmallVector<Slot> results = makeSlots(loop.getResults());
  instructions.push_back(
      [=, body = *body, operands = *operands, yielded = *yielded](double *m) {
        copySlots(ArrayRef(operands).drop_front(3), carried, m);
        double end = m[operands[1].offset], step = m[operands[2].offset];
        for (double i = m[operands[0].offset]; i < end; i += step) {
          m[index.offset] = i;
          runAll(body, m);
          copySlots(yielded, carried, m);
        }
        copySlots(carried, results, m);
      });
  return success();
}

LogicalResult StepProgram::addWhile(scf::WhileOp loop) {
  FailureOr<SmallVector<Slot>> inits = getOperands(*loop, loop.getInits());
  if (failed(inits))
    return failure();
  SmallVector<Slot> tested = makeSlots(loop.getBeforeArguments());
  FailureOr<std::vector<Instruction>> before = makeBlock(*loop.getBeforeBody());
  if (failed(before))
    return failure();
  scf::ConditionOp condition = loop.getConditionOp();
  FailureOr<SmallVector<Slot>> passed =
      getOperands(*condition, condition->getOperands());
  SmallVector<Slot> arguments = makeSlots(loop.getAfterArguments());
  FailureOr<std::vector<Instruction>> after = makeBlock(*loop.getAfterBody());
  if (failed(passed) || failed(after))
    return failure();
  FailureOr<SmallVector<Slot>> yielded =
      getOperands(*loop.getYieldOp(), loop.getYieldOp().getOperands());
  if (failed(yielded))
    return failure();
  SmallVector<Slot> results = makeSlots(loop.getResults());
  instructions.push_back([=, inits = *inits, before = *before, after = *after,
                          passed = *passed, yielded = *yielded](double *m) {
    ArrayRef<Slot> values = ArrayRef(passed).drop_front();
    copySlots(inits, tested, m);
    while (true) {
      runAll(before, m);
      if (m[passed[0].offset] == 0.0)
        break;
      copySlots(values, arguments, m);
      runAll(after, m);
      copySlots(yielded, tested, m);
    }
    copySlots(values, results, m);
  });
  return success();
}

/// Region i is taken if the flag is cases[i], else the last one (scf.if) or the
/// first one (scf.index_switch, whose default comes first).
LogicalResult StepProgram::addBranches(Operation &branch, Value flag,
                                       ArrayRef<int64_t> cases) {
  FailureOr<Slot> chosen = getOperand(branch, flag);
  if (failed(chosen))
    return failure();
  bool isSwitch = isa<scf::IndexSwitchOp>(branch);
  struct Way {
    std::vector<Instruction> body;
    SmallVector<Slot> yielded;
  };
  std::vector<Way> ways;
  for (Region &region : branch.getRegions()) {
    Way &way = ways.emplace_back();
    if (region.empty())
      continue;
    FailureOr<std::vector<Instruction>> body = makeBlock(region.front());
    if (failed(body))
      return failure();
    Operation *end = region.front().getTerminator();
    FailureOr<SmallVector<Slot>> yielded =
        getOperands(*end, end->getOperands());
    if (failed(yielded))
      return failure();
    way = {std::move(*body), std::move(*yielded)};
  }
  SmallVector<Slot> results = makeSlots(branch.getResults());
  SmallVector<int64_t> values(cases);
  instructions.push_back([=, chosen = *chosen](double *m) {
    size_t way = isSwitch ? 0 : 1;
    for (auto [i, value] : llvm::enumerate(values))
      if (m[chosen.offset] == double(value))
        way = isSwitch ? i + 1 : i;
    runAll(ways[way].body, m);
    copySlots(ways[way].yielded, results, m);
  });
  return success();
}

LogicalResult StepProgram::addCall(func::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock())
    return call.emitError("the interpreter follows calls of functions with one "
                          "block, found '")
           << call.getCallee() << "'";
  if (llvm::is_contained(calls, callee))
    return call.emitError("the interpreter does not follow recursive calls of "
                          "'")
           << call.getCallee() << "'";
  FailureOr<SmallVector<Slot>> operands =
      getOperands(*call, call.getOperands());
  if (failed(operands))
    return failure();
  for (auto [argument, slot] : llvm::zip(callee.getArguments(), *operands))
    slots[argument] = slot;
  // The body becomes part of the caller, once for each call.
  calls.push_back(callee);
  LogicalResult status = success();
  Block &body = callee.getBody().front();
  for (Operation &inner : body.without_terminator())
    if (succeeded(status))
      status = add(inner);
  calls.pop_back();
  if (failed(status))
    return failure();
  FailureOr<SmallVector<Slot>> returned =
      getOperands(*body.getTerminator(), body.getTerminator()->getOperands());
  if (failed(returned))
    return failure();
  SmallVector<Slot> results = makeSlots(call.getResults());
  instructions.push_back(
      [from = *returned, results](double *m) { copySlots(from, results, m); });
  return success();
}

//===----------------------------------------------------------------------===//
// Iteration spaces
//===----------------------------------------------------------------------===//

/// The next point in row-major order; false after the last one.
static bool advance(MutableArrayRef<int64_t> point, ArrayRef<int64_t> extents) {
  for (size_t axis = extents.size(); axis-- > 0;) {
    if (++point[axis] < extents[axis])
      return true;
    point[axis] = 0;
  }
  return false;
}

LogicalResult StepProgram::addGenerate(tensor::GenerateOp op) {
  Block &block = op.getBody().front();
  SmallVector<Slot> indices = makeSlots(block.getArguments());
  FailureOr<std::vector<Instruction>> body = makeBlock(block);
  if (failed(body))
    return failure();
  FailureOr<Slot> element =
      getOperand(*block.getTerminator(), block.getTerminator()->getOperand(0));
  if (failed(element))
    return failure();
  Slot result = makeSlots(op->getResults())[0];
  SmallVector<int64_t> extents(cast<RankedTensorType>(op.getType()).getShape());
  instructions.push_back([=, body = *body, element = *element](double *m) {
    SmallVector<int64_t> point(extents.size(), 0);
    for (int64_t i = 0; i < result.size; ++i) {
      for (auto [slot, index] : llvm::zip_equal(indices, point))
        m[slot.offset] = double(index);
      runAll(body, m);
      m[result.offset + i] = m[element.offset];
      advance(point, extents);
    }
  });
  return success();
}

namespace {
/// An operand of a structured op: which element each point of the iteration
/// space sees.
struct Access {
  Slot tensor, element;
  std::vector<int64_t> places; // one for each point
};
} // namespace

static std::vector<int64_t> placesOf(AffineMap map, ArrayRef<int64_t> extents,
                                     ArrayRef<int64_t> shape) {
  std::vector<int64_t> places;
  int64_t points = 1;
  for (int64_t extent : extents)
    points *= extent;
  SmallVector<int64_t> point(extents.size(), 0);
  for (int64_t i = 0; i < points; ++i) {
    int64_t at = 0;
    for (auto [index, extent] : llvm::zip_equal(map.compose(point), shape))
      at = at * extent + index;
    places.push_back(at);
    advance(point, extents);
  }
  return places;
}

LogicalResult StepProgram::addLinalg(linalg::LinalgOp op) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (OpOperand &operand : op->getOpOperands())
    if (!isa<RankedTensorType>(operand.get().getType()) &&
        !operand.get().getType().isIntOrIndexOrFloat())
      return op->emitError("the interpreter holds scalars and tensors of "
                           "static shape, found ")
             << operand.get().getType();
  FailureOr<SmallVector<Slot>> operands = getOperands(*op, op->getOperands());
  if (failed(operands))
    return failure();
  SmallVector<Slot> results = makeSlots(op->getResults());
  SmallVector<Slot> inits;
  SmallVector<Access> reads, writes;
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned i = operand.getOperandNumber();
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    Access access{(*operands)[i],
                  makeSlots(op.getMatchingBlockArgument(&operand))[0],
                  placesOf(op.getMatchingIndexingMap(&operand), extents,
                           type ? type.getShape() : ArrayRef<int64_t>())};
    if (op.isDpsInit(&operand)) {
      inits.push_back(access.tensor);
      access.tensor = results[writes.size()];
      writes.push_back(access);
    }
    reads.push_back(std::move(access));
  }
  SmallVector<SmallVector<Slot>> counters(extents.size());
  op.getBlock()->walk([&](linalg::IndexOp index) {
    counters[index.getDim()].push_back(makeSlots(index->getResults())[0]);
  });
  FailureOr<std::vector<Instruction>> body = makeBlock(*op.getBlock());
  Operation *end = op.getBlock()->getTerminator();
  if (failed(body))
    return failure();
  FailureOr<SmallVector<Slot>> yielded = getOperands(*end, end->getOperands());
  if (failed(yielded))
    return failure();
  instructions.push_back([=, body = *body, yielded = *yielded](double *m) {
    copySlots(inits, results, m);
    size_t points = reads.front().places.size();
    SmallVector<int64_t> point(extents.size(), 0);
    for (size_t i = 0; i < points; ++i) {
      for (auto [dim, slots] : llvm::enumerate(counters))
        for (const Slot &slot : slots)
          m[slot.offset] = double(point[dim]);
      for (const Access &read : reads)
        m[read.element.offset] = m[read.tensor.offset + read.places[i]];
      runAll(body, m);
      for (auto [write, value] : llvm::zip_equal(writes, yielded))
        m[write.tensor.offset + write.places[i]] = m[value.offset];
      advance(point, extents);
    }
  });
  return success();
}
