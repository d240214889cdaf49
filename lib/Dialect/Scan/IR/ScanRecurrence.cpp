//===- ScanRecurrence.cpp - Parsing, printing, verifying scan.recurrence --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Scan/IR/Scan.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace prism::scan;

YieldOp RecurrenceOp::getYield() {
  return cast<YieldOp>(getStepBlock()->getTerminator());
}

int64_t RecurrenceOp::getNumValueHeads() {
  auto headsOf = [](ValueRange values, ArrayAttr axes) -> int64_t {
    for (auto [value, attr] : llvm::zip(values, axes)) {
      size_t at = cast<StringAttr>(attr).getValue().find('h');
      if (at != StringRef::npos)
        return cast<RankedTensorType>(value.getType()).getDimSize(at);
    }
    return 0;
  };
  if (int64_t heads = headsOf(getFinalStates(), getFinalAxes()))
    return heads;
  if (int64_t heads = headsOf(getOutputs(), getOutputAxes()))
    return heads;
  return 1;
}

FailureOr<SmallVector<StateOpInterface>>
prism::scan::getFactorChain(RecurrenceOp op, unsigned index) {
  SmallVector<StateOpInterface> chain;
  Value start = op.getStateArgument(index);
  Value state = op.getYield().getValues()[index];
  while (state != start) {
    auto factor = state.getDefiningOp<StateOpInterface>();
    if (!factor || factor->getParentRegion() != &op.getBody())
      return failure();
    chain.push_back(factor);
    state = factor.getStateOperand().get();
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

Operation *prism::scan::findFactorWithoutChunkForm(RecurrenceOp op,
                                                   std::string &reason) {
  if (op.getNumStates() > 1) {
    reason = "several states have no chunk form yet; the recurrent schedule "
             "takes them";
    return op;
  }
  for (Value output : op.getYield().getValues().drop_front())
    if (Operation *producer = output.getDefiningOp();
        !isa_and_present<ReadOp>(producer)) {
      reason = "an output that is no read has no chunk form yet; the recurrent "
               "schedule takes it";
      return producer ? producer : op;
    }
  FailureOr<SmallVector<StateOpInterface>> chain = getFactorChain(op, 0);
  if (failed(chain))
    return nullptr; // reported by the lowering
  for (StateOpInterface factor : *chain)
    if (!factor.hasChunkForm(reason))
      return factor;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//
//
//   scan.recurrence reverse? (mini_batch N)? ins(%q as "bthk", ... : types)
//     (init(%s as "nhkv", ... : types))? (offsets(%o : type))?
//     outs("bthv", ...) finals("nhkv", ...) (plan #scan.plan<...>)?
//     region attr-dict? -> (output types), (final types)

static ParseResult parseNamedAxes(OpAsmParser &parser, StringRef keyword,
                                  bool required,
                                  SmallVectorImpl<Value> &operands,
                                  ArrayAttr &axes) {
  SmallVector<OpAsmParser::UnresolvedOperand> unresolved;
  SmallVector<Type> types;
  SmallVector<Attribute> letters;
  axes = parser.getBuilder().getArrayAttr({});
  if (required ? failed(parser.parseKeyword(keyword))
               : failed(parser.parseOptionalKeyword(keyword)))
    return required ? failure() : success();
  if (parser.parseLParen())
    return failure();
  if (succeeded(parser.parseOptionalRParen()))
    return success();
  auto parseOne = [&]() -> ParseResult {
    std::string axis;
    if (parser.parseOperand(unresolved.emplace_back()) ||
        parser.parseKeyword("as") || parser.parseString(&axis))
      return failure();
    letters.push_back(parser.getBuilder().getStringAttr(axis));
    return success();
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(parseOne) ||
      parser.parseColonTypeList(types) || parser.parseRParen() ||
      parser.resolveOperands(unresolved, types, loc, operands))
    return failure();
  axes = parser.getBuilder().getArrayAttr(letters);
  return success();
}

static ParseResult parseAxes(OpAsmParser &parser, StringRef keyword,
                             ArrayAttr &axes) {
  SmallVector<Attribute> letters;
  auto parseOne = [&]() -> ParseResult {
    std::string axis;
    if (parser.parseString(&axis))
      return failure();
    letters.push_back(parser.getBuilder().getStringAttr(axis));
    return success();
  };
  if (parser.parseKeyword(keyword) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOne))
    return failure();
  axes = parser.getBuilder().getArrayAttr(letters);
  return success();
}

static ParseResult parseTypes(OpAsmParser &parser,
                              SmallVectorImpl<Type> &types) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
    return parser.parseType(types.emplace_back());
  });
}

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
                     props.initial_axes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("offsets"))) {
    OpAsmParser::UnresolvedOperand operand;
    Type type;
    if (parser.parseLParen() || parser.parseOperand(operand) ||
        parser.parseColonType(type) || parser.parseRParen() ||
        parser.resolveOperand(operand, type, offsets))
      return failure();
  }
  if (parseAxes(parser, "outs", props.output_axes) ||
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

static void printNamedAxes(OpAsmPrinter &p, StringRef keyword,
                           ValueRange operands, ArrayAttr axes) {
  p << keyword << "(";
  llvm::interleaveComma(llvm::zip(operands, axes), p, [&](auto pair) {
    p << std::get<0>(pair) << " as " << std::get<1>(pair);
  });
  if (!operands.empty())
    p << " : " << operands.getTypes();
  p << ")";
}

void RecurrenceOp::print(OpAsmPrinter &p) {
  auto printList = [&](StringRef keyword, ArrayAttr axes) {
    p << " " << keyword << "(";
    llvm::interleaveComma(axes, p);
    p << ")";
  };
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
  if (getOffsets())
    p << " offsets(" << getOffsets() << " : " << getOffsets().getType() << ")";
  printList("outs", getOutputAxes());
  printList("finals", getFinalAxes());
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

namespace {
/// Collects extents per axis letter over all operands and results.
class AxisTable {
public:
  explicit AxisTable(RecurrenceOp op) : op(op) {}

  /// [C1]..[C4] for one operand or result.
  LogicalResult add(Type type, StringRef axes, const Twine &what,
                    bool isState) {
    auto tensor = cast<RankedTensorType>(type);
    if (int64_t(axes.size()) != tensor.getRank())
      return op.emitOpError("[C1] ")
             << what << " has " << tensor.getRank() << " axes but "
             << axes.size() << " axis letters \"" << axes << "\"";
    for (auto [i, letter] : llvm::enumerate(axes)) {
      if (letter < 'a' || letter > 'z')
        return op.emitOpError("[C2] ") << what << " has axis letters \"" << axes
                                       << "\"; expected a to z";
      if (axes.find(letter, i + 1) != StringRef::npos)
        return op.emitOpError("[C2] ")
               << what << " names axis '" << std::string(1, letter)
               << "' twice in \"" << axes << "\"";
      if (isState ? (letter == 'b' || letter == 't') : letter == 'n')
        return op.emitOpError("[C3] ")
               << what << " has axis '" << std::string(1, letter) << "' in \""
               << axes << "\"; "
               << (isState ? "states have n, h and features"
                           : "only states have axis n");
      int64_t extent = tensor.getDimSize(i);
      bool dynamicAxis = letter == 'b' || letter == 't' || letter == 'n';
      if (!dynamicAxis && ShapedType::isDynamic(extent))
        return op.emitOpError("[C4] ")
               << what << " has a dynamic extent on axis '"
               << std::string(1, letter) << "'; only b, t and n may be dynamic";
      if (letter == 'h')
        continue;
      if (ShapedType::isDynamic(extent))
        continue;
      auto [it, isNew] = extents.try_emplace(letter, extent);
      if (!isNew && it->second != extent)
        return op.emitOpError("[C5] ")
               << what << " has extent " << extent << " on axis '"
               << std::string(1, letter) << "', an earlier operand has "
               << it->second;
    }
    return success();
  }

private:
  RecurrenceOp op;
  llvm::DenseMap<char, int64_t> extents;
};
} // namespace

static int64_t headExtent(Type type, StringRef axes) {
  size_t at = axes.find('h');
  return at == StringRef::npos ? 0
                               : cast<RankedTensorType>(type).getDimSize(at);
}

/// Feature extents: those of all axes that are not b, t, h or n.
static SmallVector<int64_t> featureShape(Type type, StringRef axes) {
  SmallVector<int64_t> shape;
  for (auto [i, letter] : llvm::enumerate(axes))
    if (letter != 'b' && letter != 't' && letter != 'h' && letter != 'n')
      shape.push_back(cast<RankedTensorType>(type).getDimSize(i));
  return shape;
}

/// [C7] The axes a result must have. [C8] Heads: outputs and states have Hv,
/// inputs a divisor of it.
LogicalResult RecurrenceOp::verifyHeads() {
  int64_t heads = getNumValueHeads();
  auto check = [&](ValueRange results, ArrayAttr allAxes, StringRef needed,
                   StringRef what) -> LogicalResult {
    for (auto [i, value] : llvm::enumerate(results)) {
      StringRef axes = cast<StringAttr>(allAxes[i]).getValue();
      for (char letter : needed)
        if (!axes.contains(letter))
          return emitOpError("[C7] ")
                 << what << " " << i << " needs axis '"
                 << std::string(1, letter) << "', found \"" << axes << "\"";
      if (!axes.contains('h') && heads != 1)
        return emitOpError("[C8] ")
               << what << " " << i << " has no axis h, but there are " << heads
               << " value heads";
      if (axes.contains('h') && headExtent(value.getType(), axes) != heads)
        return emitOpError("[C8] ") << what << " " << i << " has "
                                    << headExtent(value.getType(), axes)
                                    << " heads, expected " << heads;
    }
    return success();
  };
  if (failed(check(getOutputs(), getOutputAxes(), "bt", "output")) ||
      failed(check(getFinalStates(), getFinalAxes(), "n", "final state")))
    return failure();
  for (auto [i, value] : llvm::enumerate(getInputs())) {
    int64_t inputHeads = headExtent(value.getType(), getInputAxes(i));
    if (getInputAxes(i).contains('h') &&
        (inputHeads < 1 || heads % inputHeads != 0))
      return emitOpError("[C8] input ")
             << i << " has " << inputHeads
             << " heads, which does not divide the number of value heads "
             << heads;
  }
  return success();
}

LogicalResult RecurrenceOp::verify() {
  AxisTable table(*this);
  auto addAll = [&](ValueRange values, ArrayAttr axes, StringRef what,
                    bool isState) -> LogicalResult {
    if (axes.size() != values.size())
      return emitOpError("[C1] has ") << values.size() << " " << what
                                      << "s but axes for " << axes.size();
    for (auto [i, value] : llvm::enumerate(values))
      if (failed(table.add(value.getType(),
                           cast<StringAttr>(axes[i]).getValue(),
                           what + " " + Twine(i), isState)))
        return failure();
    return success();
  };
  if (failed(addAll(getInputs(), getInputAxesAttr(), "input", false)) ||
      failed(addAll(getInitialStates(), getInitialAxes(), "initial state",
                    true)) ||
      failed(addAll(getOutputs(), getOutputAxes(), "output", false)) ||
      failed(addAll(getFinalStates(), getFinalAxes(), "final state", true)))
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
  bool anyTime = llvm::any_of(getInputAxesAttr(), [](Attribute a) {
    return cast<StringAttr>(a).getValue().contains('t');
  });
  if (!anyTime)
    return emitOpError("[C9] expects at least one input with axis t");
  if (getMiniBatch() && *getMiniBatch() < 1)
    return emitOpError("[C15] a mini-batch has at least 1 step, found ")
           << *getMiniBatch();
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
    auto shape = featureShape(input.getType(), getInputAxes(i));
    Type element = cast<RankedTensorType>(input.getType()).getElementType();
    Type want =
        shape.empty() ? element : Type(RankedTensorType::get(shape, element));
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
    auto shape = featureShape(output.getType(),
                              cast<StringAttr>(getOutputAxes()[i]).getValue());
    Type element = cast<RankedTensorType>(output.getType()).getElementType();
    Type want =
        shape.empty() ? element : Type(RankedTensorType::get(shape, element));
    if (yielded[states + i].getType() != want)
      return getYield().emitOpError("[C14] output ")
             << i << " is " << yielded[states + i].getType() << ", expected "
             << want;
  }
  return success();
}
