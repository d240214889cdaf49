//===- ScanPrefix.cpp - Parsing, printing, verifying scan.prefix ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "NamedAxes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace prism::scan;

Type PrefixOp::getComponentType(unsigned i) {
  return regionType(getIdentities()[i].getType(), axesOf(getIdentityAxes(), i));
}

/// In a chunk, values with time have its tokens along a leading axis.
static Type typeInChunk(PrefixOp op, Type type, StringRef axes) {
  SmallVector<int64_t, 1> leading;
  if (op.getChunkSize() > 1 && axes.contains('t'))
    leading.push_back(op.getChunkSize());
  return regionType(type, axes, leading);
}

Type PrefixOp::getInputArgumentType(unsigned i) {
  return typeInChunk(*this, getInputs()[i].getType(), getInputAxes(i));
}

Type PrefixOp::getOutputValueType(unsigned i) {
  return typeInChunk(*this, getOutputs()[i].getType(),
                     axesOf(getOutputAxes(), i));
}

int64_t PrefixOp::getNumValueHeads() {
  if (int64_t heads = countHeads(getOutputs(), getOutputAxes()))
    return heads;
  if (int64_t heads = countHeads(getFinalElements(), getFinalAxes()))
    return heads;
  return 1;
}

YieldOp PrefixOp::getYield(Region &region) {
  return cast<YieldOp>(region.front().getTerminator());
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//
//
//   scan.prefix reverse? inclusive? associative? (chunk N)?
//     ins(%q as "bthk", ... : types)
//     identity(%e as "nhkv", ... : types) evaluate? (offsets(%o : type))?
//     outs("bthv", ...) finals("nhkv", ...)
//     enc region agg region inf region attr-dict?
//     -> (output types), (final types)

ParseResult PrefixOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  auto &props = state.getOrAddProperties<Properties>();
  auto parseFlag = [&](StringRef keyword, UnitAttr &flag) {
    if (succeeded(parser.parseOptionalKeyword(keyword)))
      flag = builder.getUnitAttr();
  };
  parseFlag("reverse", props.reverse);
  parseFlag("inclusive", props.inclusive);
  parseFlag("associative", props.associative);
  if (succeeded(parser.parseOptionalKeyword("chunk"))) {
    int64_t tokens = 0;
    if (parser.parseInteger(tokens))
      return failure();
    props.chunk = builder.getI64IntegerAttr(tokens);
  }
  SmallVector<Value> inputs, identities, offsets;
  if (parseNamedAxes(parser, "ins", /*required=*/true, inputs,
                     props.input_axes) ||
      parseNamedAxes(parser, "identity", /*required=*/true, identities,
                     props.identity_axes))
    return failure();
  parseFlag("evaluate", props.evaluate_identity);
  SmallVector<Type> outputTypes, finalTypes;
  if (parseOffsets(parser, offsets) ||
      parseAxes(parser, "outs", props.output_axes) ||
      parseAxes(parser, "finals", props.final_axes))
    return failure();
  for (StringRef name : {"enc", "agg", "inf"})
    if (parser.parseKeyword(name) || parser.parseRegion(*state.addRegion()))
      return failure();
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes) ||
      parser.parseArrow() || parseTypes(parser, outputTypes) ||
      parser.parseComma() || parseTypes(parser, finalTypes))
    return failure();
  state.addOperands(inputs);
  state.addOperands(identities);
  state.addOperands(offsets);
  state.addTypes(outputTypes);
  state.addTypes(finalTypes);
  props.operandSegmentSizes = {int(inputs.size()), int(identities.size()),
                               int(offsets.size())};
  props.resultSegmentSizes = {int(outputTypes.size()), int(finalTypes.size())};
  return success();
}

void PrefixOp::print(OpAsmPrinter &p) {
  if (getReverse())
    p << " reverse";
  if (getInclusive())
    p << " inclusive";
  if (getAssociative())
    p << " associative";
  if (getChunk())
    p << " chunk " << *getChunk();
  p << " ";
  printNamedAxes(p, "ins", getInputs(), getInputAxesAttr());
  p << " ";
  printNamedAxes(p, "identity", getIdentities(), getIdentityAxes());
  if (getEvaluateIdentity())
    p << " evaluate";
  printOffsets(p, getOffsets());
  printAxes(p, "outs", getOutputAxes());
  printAxes(p, "finals", getFinalAxes());
  StringRef names[] = {"enc", "agg", "inf"};
  for (auto [name, region] : llvm::zip_equal(names, (*this)->getRegions())) {
    p << " " << name << " ";
    p.printRegion(region);
  }
  p.printOptionalAttrDictWithKeyword(
      (*this)->getDiscardableAttrDictionary().getValue());
  p << " -> (" << getOutputs().getTypes() << "), ("
    << getFinalElements().getTypes() << ")";
}

//===----------------------------------------------------------------------===//
// Verification: constraints C1 to C9 and X1 to X8 of docs/Dialects/Scan.md
//===----------------------------------------------------------------------===//

/// [X2] Finals are none, or one for each component, with its features.
static LogicalResult verifyFinals(PrefixOp op) {
  unsigned components = op.getNumComponents();
  if (op.getFinalElements().empty()) {
    if (op.getOutputs().empty())
      return op.emitOpError("[X2] expects an output or final elements");
    return success();
  }
  if (op.getFinalElements().size() != components)
    return op.emitOpError("[X2] expects no final elements or one for each of ")
           << components << " components, found "
           << op.getFinalElements().size();
  for (unsigned i = 0; i < components; ++i) {
    Type type = regionType(op.getFinalElements()[i].getType(),
                           axesOf(op.getFinalAxes(), i));
    if (type != op.getComponentType(i))
      return op.emitOpError("[X2] final element ")
             << i << " is " << type << " for each head, its identity is "
             << op.getComponentType(i);
  }
  return success();
}

LogicalResult PrefixOp::verify() {
  AxisTable table(*this, "identities and final elements");
  if (failed(table.addAll(getInputs(), getInputAxesAttr(), "input", false)) ||
      failed(table.addAll(getIdentities(), getIdentityAxes(),
                          "identity element", true)) ||
      failed(table.addAll(getOutputs(), getOutputAxes(), "output", false)) ||
      failed(table.addAll(getFinalElements(), getFinalAxes(), "final element",
                          true)))
    return failure();
  if (getNumComponents() == 0)
    return emitOpError("[X1] expects an identity for each component of an "
                       "element, at least one");
  for (unsigned i = 0; i < getNumComponents(); ++i) {
    Type type = getComponentType(i), element = getElementTypeOrSelf(type);
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!element.isF32() && !element.isF64())
      return emitOpError("[X1] identity ")
             << i << " must have f32 or f64 elements, found " << type;
    if (tensor && tensor.getNumElements() == 0)
      return emitOpError("[X1] identity ")
             << i << " has no elements in each head: " << type;
  }
  int64_t heads = getNumValueHeads();
  if (failed(verifyFinals(*this)) ||
      failed(verifyResultAxes(*this, heads, getOutputs(), getOutputAxes(), "bt",
                              "output")) ||
      failed(verifyResultAxes(*this, heads, getFinalElements(), getFinalAxes(),
                              "n", "final element")) ||
      failed(verifyOperandHeads(*this, heads, getInputs(), getInputAxesAttr(),
                                "input")) ||
      failed(verifyOperandHeads(*this, heads, getIdentities(),
                                getIdentityAxes(), "identity element")) ||
      failed(verifyAnyTime(*this, getInputAxesAttr())))
    return failure();
  if (getChunkSize() < 1 || getChunkSize() > 65536)
    return emitOpError("[X3] a chunk has 1 to 65536 tokens, found ")
           << getChunkSize();
  if (getInclusive() && getChunkSize() != 1)
    return emitOpError("[X4] an inclusive prefix has chunk 1, found ")
           << getChunkSize()
           << ": a token would see later ones of its own chunk";
  return success();
}

LogicalResult PrefixOp::verifyArguments(Region &region, StringRef name,
                                        StringRef what, ArrayRef<Type> types) {
  TypeRange found = region.front().getArgumentTypes();
  if (found.size() != types.size())
    return emitOpError("[X5] ")
           << name << " takes " << what << ": expects " << types.size()
           << " block arguments, found " << found.size();
  for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(found, types)))
    if (std::get<0>(pair) != std::get<1>(pair))
      return emitOpError("[X6] block argument ")
             << i << " of " << name << " is " << std::get<0>(pair)
             << ", expected " << std::get<1>(pair);
  return success();
}

LogicalResult PrefixOp::verifyYield(Region &region, StringRef name,
                                    StringRef what, ArrayRef<Type> types) {
  YieldOp yield = getYield(region);
  TypeRange found = yield.getValues().getTypes();
  if (found.size() != types.size())
    return yield.emitOpError("[X7] ")
           << name << " yields " << what << ": expects " << types.size()
           << " values, found " << found.size();
  for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(found, types)))
    if (std::get<0>(pair) != std::get<1>(pair))
      return yield.emitOpError("[X8] value ")
             << i << " of " << name << " is " << std::get<0>(pair)
             << ", expected " << std::get<1>(pair);
  return success();
}

LogicalResult PrefixOp::verifyRegions() {
  SmallVector<Type> element, inputs, outputs;
  for (unsigned i = 0; i < getNumComponents(); ++i)
    element.push_back(getComponentType(i));
  for (unsigned i = 0; i < getInputs().size(); ++i)
    inputs.push_back(getInputArgumentType(i));
  for (unsigned i = 0; i < getOutputs().size(); ++i)
    outputs.push_back(getOutputValueType(i));
  auto both = [](SmallVector<Type> first, ArrayRef<Type> second) {
    llvm::append_range(first, second);
    return first;
  };
  if (failed(verifyArguments(getEnc(), "enc", "the inputs", inputs)) ||
      failed(verifyYield(getEnc(), "enc", "an element", element)) ||
      failed(verifyArguments(getAgg(), "agg",
                             "the older element, then the newer one",
                             both(element, element))) ||
      failed(verifyYield(getAgg(), "agg", "an element", element)) ||
      failed(verifyArguments(getInf(), "inf", "a prefix, then the inputs",
                             both(element, inputs))))
    return failure();
  return verifyYield(getInf(), "inf", "the outputs", outputs);
}
