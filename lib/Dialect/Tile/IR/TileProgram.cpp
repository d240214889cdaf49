//===- TileProgram.cpp - Parsing, printing, verifying tile.program --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace prism::tile;

//   tile.program reverse? @name(%q: !tile.view<?x64xf32> as #tile.arg<...>,
//   ...)
//     heads H values V block VB chunk C segments S? attributes {...} { ... }

SegmentItems ProgramOp::getSegmentItems() {
  return llvm::StringSwitch<SegmentItems>(getSegments().value_or(""))
      .Case("all", SegmentItems::All)
      .Case("inner", SegmentItems::Inner)
      .Case("scan", SegmentItems::Scan)
      .Default(SegmentItems::None);
}

ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  auto &props = state.getOrAddProperties<Properties>();
  if (succeeded(parser.parseOptionalKeyword("reverse")))
    props.reverse = builder.getUnitAttr();
  StringAttr name;
  if (parser.parseSymbolName(name))
    return failure();
  props.sym_name = name;

  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Attribute> argumentAttrs;
  auto parseArgument = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    ArgumentAttr attr;
    if (parser.parseArgument(argument, /*allowType=*/true) ||
        parser.parseKeyword("as") ||
        parser.parseCustomAttributeWithFallback(attr))
      return failure();
    argumentAttrs.push_back(
        builder.getDictionaryAttr(builder.getNamedAttr("tile.arg", attr)));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                     parseArgument))
    return failure();
  auto parseNumber = [&](StringRef keyword, IntegerAttr &attr) -> ParseResult {
    int64_t value;
    if (parser.parseKeyword(keyword) || parser.parseInteger(value))
      return failure();
    attr = builder.getI64IntegerAttr(value);
    return success();
  };
  if (parseNumber("heads", props.value_heads) ||
      parseNumber("values", props.values) ||
      parseNumber("block", props.value_block) ||
      parseNumber("chunk", props.chunk))
    return failure();
  StringRef segments;
  if (succeeded(parser.parseOptionalKeyword("segments"))) {
    if (parser.parseKeyword(&segments))
      return failure();
    props.segments = builder.getStringAttr(segments);
  }
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  SmallVector<Type> types;
  for (OpAsmParser::Argument &argument : arguments)
    types.push_back(argument.type);
  props.function_type = TypeAttr::get(builder.getFunctionType(types, {}));
  props.arg_attrs = builder.getArrayAttr(argumentAttrs);
  return parser.parseRegion(*state.addRegion(), arguments);
}

void ProgramOp::print(OpAsmPrinter &p) {
  if (getReverse())
    p << " reverse";
  p << " ";
  p.printSymbolName(getSymName());
  p << "(";
  auto printArgument = [&](BlockArgument argument) {
    p.printNewline();
    p << "    ";
    p.printRegionArgument(argument);
    p << " as ";
    p.printStrippedAttrOrType(getArgument_(argument.getArgNumber()));
  };
  // A line each: no blank after the comma.
  llvm::interleave(getBody().getArguments(), p, printArgument, ",");
  p << ") heads " << getValueHeads() << " values " << getValues() << " block "
    << getValueBlock() << " chunk " << getChunk();
  if (getSegments())
    p << " segments " << *getSegments();
  p.printOptionalAttrDictWithKeyword(
      (*this)->getDiscardableAttrDictionary().getValue());
  p << " ";
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult ProgramOp::verify() {
  if (getValueHeads() < 1 || getValues() < 1 || getValueBlock() < 1 ||
      getChunk() < 1)
    return emitOpError("heads, values, block and chunk must be positive");
  if (getSegments() && getSegmentItems() == SegmentItems::None)
    return emitOpError("segments must be all, inner or scan, found ")
           << *getSegments();
  if (getFunctionType().getNumResults() != 0)
    return emitOpError("a program returns nothing; it stores");
  for (unsigned i = 0, e = getFunctionType().getNumInputs(); i < e; ++i) {
    auto view = dyn_cast<ViewType>(getFunctionType().getInput(i));
    ArgumentAttr attr = getArgument_(i);
    if (!view || !attr)
      return emitOpError("argument ")
             << i << " must be a view with a tile.arg attribute, found "
             << getFunctionType().getInput(i);
    int64_t features = 0;
    bool time = false;
    bool intermediate = attr.getRole().getValue() == kIntermediate;
    for (char letter : attr.getAxes().getValue()) {
      time |= letter == 't';
      features += letter != 'b' && letter != 't' && letter != 'h' &&
                  letter != 'n' && !(intermediate && letter == 's');
    }
    if (intermediate && !getSegments())
      return emitOpError("argument ")
             << attr.getName()
             << " is intermediate, in a program that cuts no segments";
    bool offsets = attr.getRole().getValue() == "offsets";
    // A parameter may be viewed with a time axis of stride 0, not the other way
    // round.
    if (!offsets && ((time && !view.hasTime()) ||
                     view.getRank() != features + view.hasTime()))
      return emitOpError("argument ") << attr.getName() << " views axes "
                                      << attr.getAxes() << " as " << view;
    bool knownRole = llvm::StringSwitch<bool>(attr.getRole().getValue())
                         .Cases({"input", "initial_state", "offsets", "output",
                                 "final_state", "initial_window",
                                 "final_window", kIntermediate},
                                true)
                         .Default(false);
    if (!knownRole)
      return emitOpError("argument ")
             << attr.getName() << " has role " << attr.getRole()
             << ", expected input, initial_state, offsets, output, "
                "final_state, "
                "initial_window, final_window or intermediate";
  }
  return success();
}
