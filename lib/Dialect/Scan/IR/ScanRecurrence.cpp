//===- ScanRecurrence.cpp - Parsing, printing, verifying scan.recurrence --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "NamedAxes.h"
#include "Prism/Dialect/Scan/IR/ChunkStates.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace prism::scan;

YieldOp RecurrenceOp::getYield() {
  return cast<YieldOp>(getStepBlock()->getTerminator());
}

int64_t RecurrenceOp::getNumValueHeads() {
  if (int64_t heads = countHeads(getFinalStates(), getFinalAxes()))
    return heads;
  if (int64_t heads = countHeads(getOutputs(), getOutputAxes()))
    return heads;
  return 1;
}

/// What a matrix is the transpose of, or null.
static Value transposeOf(Value matrix) {
  auto transpose = matrix.getDefiningOp<linalg::TransposeOp>();
  bool isTurned =
      transpose && transpose.getPermutation() == ArrayRef<int64_t>{1, 0};
  return isTurned ? transpose.getInput() : Value();
}

FailureOr<SmallVector<StateOpInterface>>
prism::scan::getFactorChain(RecurrenceOp op, unsigned index) {
  SmallVector<StateOpInterface> chain;
  Value start = op.getStateArgument(index);
  Value state = op.getYield().getValues()[index];
  // A state that is written values first: the chain is that of its transpose.
  Value turned = transposeOf(state);
  if (turned)
    state = turned;
  while (turned ? transposeOf(state) != start : state != start) {
    auto factor = state.getDefiningOp<StateOpInterface>();
    if (!factor || factor->getParentRegion() != &op.getBody())
      return failure();
    chain.push_back(factor);
    state = factor.getStateOperand().get();
  }
  if (turned && chain.empty())
    return failure();
  std::reverse(chain.begin(), chain.end());
  return chain;
}

bool prism::scan::isValueFirst(RecurrenceOp op, unsigned index) {
  auto chain = getFactorChain(op, index);
  return succeeded(chain) && !chain->empty() &&
         chain->front().getStateOperand().get() != op.getStateArgument(index);
}

std::pair<int64_t, int64_t> prism::scan::getKeysAndValues(RecurrenceOp op,
                                                          unsigned index) {
  auto state = cast<RankedTensorType>(op.getStateArgument(index).getType());
  if (state.getRank() != 2) // elements in a row
    return {1, state.getNumElements()};
  int64_t first = state.getDimSize(0), second = state.getDimSize(1);
  return isValueFirst(op, index) ? std::pair(second, first)
                                 : std::pair(first, second);
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//
//
//   scan.recurrence reverse? (mini_batch N)? ins(%q as "bthk", ... : types)
//     (init(%s as "nhkv", ... : types))? (offsets(%o : type))?
//     outs("bthv", ...) finals("nhkv", ...) (plan #scan.plan<...>)?
//     region attr-dict? -> (output types), (final types)

ParseResult RecurrenceOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  auto &props = state.getOrAddProperties<Properties>();
  if (succeeded(parser.parseOptionalKeyword("reverse")))
    props.reverse = builder.getUnitAttr();
  if (succeeded(parser.parseOptionalKeyword("mini_batch"))) {
    int64_t steps = 0;
    if (parser.parseInteger(steps))
      return failure();
    props.mini_batch = builder.getI64IntegerAttr(steps);
  }
  SmallVector<Value> inputs, initials, offsets;
  if (parseNamedAxes(parser, "ins", /*required=*/true, inputs,
                     props.input_axes) ||
      parseNamedAxes(parser, "init", /*required=*/false, initials,
                     props.initial_axes) ||
      parseOffsets(parser, offsets) ||
      parseAxes(parser, "outs", props.output_axes) ||
      parseAxes(parser, "finals", props.final_axes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("plan")) &&
      parser.parseAttribute(props.plan))
    return failure();
  SmallVector<Type> outputTypes, finalTypes;
  if (parser.parseRegion(*state.addRegion()) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes) ||
      parser.parseArrow() || parseTypes(parser, outputTypes) ||
      parser.parseComma() || parseTypes(parser, finalTypes))
    return failure();
  state.addOperands(inputs);
  state.addOperands(initials);
  state.addOperands(offsets);
  state.addTypes(outputTypes);
  state.addTypes(finalTypes);
  props.operandSegmentSizes = {int(inputs.size()), int(initials.size()),
                               int(offsets.size())};
  props.resultSegmentSizes = {int(outputTypes.size()), int(finalTypes.size())};
  return success();
}

void RecurrenceOp::print(OpAsmPrinter &p) {
  if (getReverse())
    p << " reverse";
  if (getMiniBatch())
    p << " mini_batch " << *getMiniBatch();
  p << " ";
  printNamedAxes(p, "ins", getInputs(), getInputAxesAttr());
  if (!getInitialStates().empty()) {
    p << " ";
    printNamedAxes(p, "init", getInitialStates(), getInitialAxes());
  }
  printOffsets(p, getOffsets());
  printAxes(p, "outs", getOutputAxes());
  printAxes(p, "finals", getFinalAxes());
  if (getPlanAttr())
    p << " plan " << getPlanAttr();
  p << " ";
  p.printRegion(getBody());
  p.printOptionalAttrDictWithKeyword(
      (*this)->getDiscardableAttrDictionary().getValue());
  p << " -> (" << getOutputs().getTypes() << "), ("
    << getFinalStates().getTypes() << ")";
}

//===----------------------------------------------------------------------===//
// Verification: constraints C1 to C15 of docs/Dialects/Scan.md
//===----------------------------------------------------------------------===//

LogicalResult RecurrenceOp::verifyHeads() {
  int64_t heads = getNumValueHeads();
  if (failed(verifyResultAxes(*this, heads, getOutputs(), getOutputAxes(), "bt",
                              "output")) ||
      failed(verifyResultAxes(*this, heads, getFinalStates(), getFinalAxes(),
                              "n", "final state")))
    return failure();
  return verifyOperandHeads(*this, heads, getInputs(), getInputAxesAttr(),
                            "input");
}

LogicalResult RecurrenceOp::verify() {
  AxisTable table(*this, "states");
  if (failed(table.addAll(getInputs(), getInputAxesAttr(), "input", false)) ||
      failed(table.addAll(getInitialStates(), getInitialAxes(), "initial state",
                          true)) ||
      failed(table.addAll(getOutputs(), getOutputAxes(), "output", false)) ||
      failed(
          table.addAll(getFinalStates(), getFinalAxes(), "final state", true)))
    return failure();

  if (getNumStates() == 0)
    return emitOpError("[C6] expects at least one state");
  if (!getInitialStates().empty() &&
      getInitialStates().getTypes() != getFinalStates().getTypes())
    return emitOpError(
        "[C6] initial states must be absent or typed as the final states");
  if (!getInitialStates().empty() && getInitialAxes() != getFinalAxes())
    return emitOpError("[C6] initial and final states must have the same axes");

  if (failed(verifyHeads()))
    return failure();
  if (failed(verifyAnyTime(*this, getInputAxesAttr())))
    return failure();
  if (getMiniBatch() && *getMiniBatch() < 1)
    return emitOpError("[C15] a mini-batch has at least 1 step, found ")
           << *getMiniBatch();
  return success();
}

/// A chunk form splits sequences in chunks; without one, steps do.
static LogicalResult verifySegments(RecurrenceOp op) {
  PlanAttr plan = op.getPlanAttr();
  if (plan && plan.getSchedule() == Schedule::recurrent &&
      plan.getSegments() > 1 && !decaysValuesOrElements(op))
    return op.emitOpError("[P6] the recurrent schedule splits sequences only "
                          "where a decay along value or element leaves no "
                          "chunk form, found ")
           << plan.getSegments() << " segments";
  return success();
}

LogicalResult RecurrenceOp::verifyRegions() {
  Block &block = getBody().front();
  unsigned states = getNumStates(), all = states + getNumEntryStates();
  if (block.getNumArguments() != all + getInputs().size()) {
    InFlightDiagnostic diag = emitOpError("[C10] expects ")
                              << all + getInputs().size()
                              << " block arguments (" << states << " states, ";
    if (getMiniBatch())
      diag << "as many at the mini-batch's entry, ";
    return diag << "then the inputs), found " << block.getNumArguments();
  }
  for (unsigned i = 0; i < getNumEntryStates(); ++i)
    if (getEntryStateArgument(i).getType() != getStateArgument(i).getType())
      return emitOpError("[C11] state argument ")
             << i << " is " << getStateArgument(i).getType()
             << ", at the mini-batch's entry it is "
             << getEntryStateArgument(i).getType();
  for (unsigned i = 0; i < states; ++i) {
    auto type = dyn_cast<RankedTensorType>(block.getArgument(i).getType());
    auto shape = featureShape(getFinalStates()[i].getType(),
                              cast<StringAttr>(getFinalAxes()[i]).getValue());
    if (!type || type.getShape() != ArrayRef<int64_t>(shape))
      return emitOpError("[C11] state argument ")
             << i << " is " << block.getArgument(i).getType()
             << ", the final state is " << getFinalStates()[i].getType();
    if (!type.getElementType().isF32() && !type.getElementType().isF64())
      return emitOpError("[C11] state argument ")
             << i << " must have f32 or f64 elements, found " << type;
  }
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    Type argument = getInputArgument(i).getType();
    Type want = regionType(input.getType(), getInputAxes(i));
    if (argument != want)
      return emitOpError("[C12] block argument of input ")
             << i << " is " << argument << ", expected " << want;
  }
  ValueRange yielded = getYield().getValues();
  if (yielded.size() != states + getOutputs().size())
    return getYield().emitOpError("[C13] expects ")
           << states + getOutputs().size() << " values (" << states
           << " states, then the outputs), found " << yielded.size();
  for (unsigned i = 0; i < states; ++i)
    if (yielded[i].getType() != block.getArgument(i).getType())
      return getYield().emitOpError("[C13] next state ")
             << i << " is " << yielded[i].getType() << ", the state is "
             << block.getArgument(i).getType();
  for (auto [i, output] : llvm::enumerate(getOutputs())) {
    Type want = regionType(output.getType(), axesOf(getOutputAxes(), i));
    if (yielded[states + i].getType() != want)
      return getYield().emitOpError("[C14] output ")
             << i << " is " << yielded[states + i].getType() << ", expected "
             << want;
  }
  return verifySegments(*this);
}
