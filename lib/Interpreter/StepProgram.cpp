//===- StepProgram.cpp - One step of a recurrence, made ready -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "StepProgram.h"
#include "mlir/IR/Matchers.h"
#include <limits>

using namespace mlir;
using namespace prism;
using namespace prism::interpreter;

static int64_t sizeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getNumElements() : 1;
}

/// Scalars and small tensors of static shape are all a step may hold.
static bool isSupported(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.hasStaticShape() && isSupported(tensor.getElementType());
  return type.isIntOrIndexOrFloat();
}

namespace {
/// What one factor sees of the step: its own state, and the memory of its other
/// operands.
class FactorStep final : public scan::StepState {
public:
  FactorStep(double *memory, Slot stateSlot, RankedTensorType type,
             ArrayRef<std::pair<Value, Slot>> operands, Slot scratchSlot)
      : memory(memory), stateSlot(stateSlot), type(type), operands(operands),
        scratchSlot(scratchSlot) {}

  MutableArrayRef<double> state() override { return stateSlot.in(memory); }
  int64_t keys() const override { return type.getDimSize(0); }
  int64_t values() const override { return type.getDimSize(1); }
  ArrayRef<double> get(Value value) override {
    for (auto [operand, slot] : operands)
      if (operand == value)
        return slot.in(memory);
    llvm_unreachable("a factor reads only its own operands");
  }
  MutableArrayRef<double> scratch(int64_t size) override {
    assert(size <= scratchSlot.size && "more scratch than any factor needs");
    return Slot{scratchSlot.offset, size}.in(memory);
  }

private:
  double *memory;
  Slot stateSlot;
  RankedTensorType type;
  ArrayRef<std::pair<Value, Slot>> operands;
  Slot scratchSlot;
};
} // namespace

FailureOr<StepProgram> StepProgram::build(Region &region, unsigned numStates,
                                          unsigned numEntries) {
  StepProgram program(region);
  Block &block = region.front();
  for (BlockArgument argument : block.getArguments()) {
    Slot slot = program.makeSlot(argument.getType());
    program.slots[argument] = slot;
    unsigned i = argument.getArgNumber();
    (i < numStates                ? program.states
     : i < numStates + numEntries ? program.entries
                                  : program.inputs)
        .push_back(slot);
  }
  for (Operation &inner : block.without_terminator())
    if (failed(program.add(inner)))
      return failure();
  Operation *yield = block.getTerminator();
  for (Value value : yield->getOperands())
    if (failed(program.getOperand(*yield, value)))
      return failure();
  program.addYield(yield->getOperands());
  return program;
}

FailureOr<StepProgram> StepProgram::build(scan::RecurrenceOp op) {
  return build(op.getBody(), op.getNumStates(), op.getNumEntryStates());
}

FailureOr<StepProgram> StepProgram::build(Region &region) {
  return build(region, /*numStates=*/0, /*numEntries=*/0);
}

Slot StepProgram::makeSlot(int64_t size) {
  Slot slot{int64_t(initial.size()), size};
  initial.resize(initial.size() + size, 0.0);
  return slot;
}

Slot StepProgram::makeSlot(Type type) { return makeSlot(sizeOf(type)); }

static double toDouble(const APFloat &value) {
  APFloat copy = value;
  bool loses = false;
  copy.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
  return copy.convertToDouble();
}

static double toDouble(const APInt &value) {
  // A true i1 is 1, not -1.
  return value.getBitWidth() == 1 ? double(value.getZExtValue())
                                  : double(value.getSExtValue());
}

void StepProgram::setConstant(Value value, Attribute attr) {
  Slot slot = makeSlot(value.getType());
  slots[value] = slot;
  MutableArrayRef<double> data = slot.in(initial.data());
  if (auto single = dyn_cast<FloatAttr>(attr)) {
    data[0] = toDouble(single.getValue());
  } else if (auto single = dyn_cast<IntegerAttr>(attr)) {
    data[0] = toDouble(single.getValue());
  } else if (auto dense = dyn_cast<DenseFPElementsAttr>(attr)) {
    for (auto [x, element] : llvm::zip_equal(data, dense.getValues<APFloat>()))
      x = toDouble(element);
  } else if (auto dense = dyn_cast<DenseIntElementsAttr>(attr)) {
    for (auto [x, element] : llvm::zip_equal(data, dense.getValues<APInt>()))
      x = toDouble(element);
  }
}

/// Attributes that setConstant understands.
static bool isPlainConstant(Attribute attr) {
  return isa_and_present<FloatAttr, IntegerAttr, DenseFPElementsAttr,
                         DenseIntElementsAttr>(attr);
}

FailureOr<Slot> StepProgram::getOperand(Operation &user, Value value) {
  auto found = slots.find(value);
  if (found != slots.end())
    return found->second;
  // Folding moves constants out of the region.
  Attribute attr;
  if (matchPattern(value, m_Constant(&attr)) && isPlainConstant(attr) &&
      isSupported(value.getType())) {
    setConstant(value, attr);
    return slots[value];
  }
  bool isOutside = value.getParentRegion()->isProperAncestor(region);
  if (isOutside && isSupported(value.getType())) {
    captured.push_back({value, makeSlot(value.getType())});
    return slots[value] = captured.back().second;
  }
  InFlightDiagnostic diag =
      user.emitError("the interpreter cannot evaluate a step that reads ")
      << value.getType() << " from outside its region";
  diag.attachNote(value.getLoc()) << "the value is defined here";
  return diag;
}

FailureOr<SmallVector<Slot>> StepProgram::getOperands(Operation &user,
                                                      ValueRange values) {
  SmallVector<Slot> result;
  for (Value value : values) {
    FailureOr<Slot> slot = getOperand(user, value);
    if (failed(slot))
      return failure();
    result.push_back(*slot);
  }
  return result;
}

SmallVector<Slot> StepProgram::makeSlots(ValueRange values) {
  SmallVector<Slot> result;
  for (Value value : values)
    result.push_back(slots[value] = makeSlot(value.getType()));
  return result;
}

LogicalResult StepProgram::add(Operation &inner) {
  for (Type type : inner.getResultTypes())
    if (!isSupported(type))
      return inner.emitError("the interpreter holds scalars and tensors of "
                             "static shape, found ")
             << type;
  Attribute attr;
  if (inner.getNumResults() == 1 && matchPattern(&inner, m_Constant(&attr)) &&
      isPlainConstant(attr)) {
    setConstant(inner.getResult(0), attr);
    return success();
  }
  if (auto factor = dyn_cast<scan::StateOpInterface>(inner))
    return addFactor(factor);
  if (isa<linalg::IndexOp>(inner) && slots.count(inner.getResult(0)))
    return success(); // set by the op around it
  if (isa<tensor::EmptyOp>(inner)) {
    // Undefined, and so is what is computed from it.
    Slot slot = makeSlots(inner.getResults())[0];
    llvm::fill(slot.in(initial.data()),
               std::numeric_limits<double>::quiet_NaN());
    return success();
  }
  FailureOr<bool> nested = addNested(inner);
  if (failed(nested))
    return failure();
  if (*nested)
    return success();

  FailureOr<SmallVector<Slot>> read = getOperands(inner, inner.getOperands());
  if (failed(read))
    return failure();
  SmallVector<Slot> operands = std::move(*read);
  if (inner.getNumResults() == 1 && inner.getNumRegions() == 0) {
    Slot result = makeSlot(inner.getResult(0).getType());
    if (Instruction instruction = makeInstruction(inner, operands, result)) {
      slots[inner.getResult(0)] = result;
      instructions.push_back(std::move(instruction));
      return success();
    }
  }
  return inner.emitError("the interpreter has no evaluation of '")
         << inner.getName() << "'";
}

bool StepProgram::canReuse(scan::StateOpInterface factor) const {
  Value state = factor.getStateOperand().get();
  // What nested regions read must stay, and inputs of the step and constants
  // outlive it.
  Block *step = &region->front();
  if (factor->getBlock() != step)
    return false;
  if (auto argument = dyn_cast<BlockArgument>(state)) {
    if (argument.getArgNumber() >= states.size())
      return false;
  } else if (state.getParentRegion() != region ||
             matchPattern(state, m_Constant())) {
    return false;
  }
  return llvm::all_of(state.getUsers(), [&](Operation *user) {
    Operation *inStep = step->findAncestorOpInBlock(*user);
    return user == factor.getOperation() ||
           inStep->isBeforeInBlock(factor.getOperation());
  });
}

LogicalResult StepProgram::addFactor(scan::StateOpInterface factor) {
  auto type = cast<RankedTensorType>(factor.getStateResult().getType());
  SmallVector<std::pair<Value, Slot>, 6> operands;
  int64_t ranks = 1;
  for (Value operand : factor->getOperands()) {
    FailureOr<Slot> slot = getOperand(*factor, operand);
    if (failed(slot))
      return failure();
    operands.push_back({operand, *slot});
    // A factor keeps at most one row of values for each rank it has. A state
    // counts as ranks too: ranks of the state's own shape cannot be told from
    // it.
    auto tensor = dyn_cast<RankedTensorType>(operand.getType());
    if (tensor && tensor.getRank() == 2)
      ranks = std::max(ranks, tensor.getDimSize(0));
  }
  Slot scratch = makeSlot(ranks * type.getDimSize(1));
  Slot before = slots.lookup(factor.getStateOperand().get());
  Slot after = canReuse(factor) ? before : makeSlot(type);
  slots[factor.getStateResult()] = after;
  instructions.push_back([=](double *memory) mutable {
    if (after.offset != before.offset)
      llvm::copy(before.in(memory), after.in(memory).begin());
    FactorStep step(memory, after, type, operands, scratch);
    factor.applyStep(step);
  });
  return success();
}

void StepProgram::addYield(ValueRange yielded) {
  SmallVector<std::pair<Slot, Slot>> moves;
  for (auto [i, state] : llvm::enumerate(states)) {
    Slot next = slots[yielded[i]];
    if (next.offset != state.offset)
      moves.push_back({next, state});
  }
  for (Value value : yielded.drop_front(states.size()))
    outputs.push_back(slots[value]);
  // An output may be a state as it was before the step.
  for (Slot &output : outputs)
    if (llvm::any_of(states, [&](Slot state) {
          return state.offset == output.offset && state.size > 0;
        })) {
      Slot copy = makeSlot(output.size);
      instructions.push_back([from = output, copy](double *memory) {
        llvm::copy(from.in(memory), copy.in(memory).begin());
      });
      output = copy;
    }
  // States may change places: all are read before any is written.
  SmallVector<Slot> kept;
  for (auto [from, to] : moves)
    kept.push_back(moves.size() > 1 ? makeSlot(to.size) : from);
  if (moves.empty())
    return;
  instructions.push_back([moves, kept](double *memory) {
    if (moves.size() > 1)
      for (auto [move, slot] : llvm::zip_equal(moves, kept))
        llvm::copy(move.first.in(memory), slot.in(memory).begin());
    for (auto [move, slot] : llvm::zip_equal(moves, kept))
      llvm::copy(slot.in(memory), move.second.in(memory).begin());
  });
}
