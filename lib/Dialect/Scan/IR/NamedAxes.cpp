//===- NamedAxes.cpp - Operands and results with axis letters -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "NamedAxes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace prism;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

ParseResult scan::parseNamedAxes(OpAsmParser &parser, StringRef keyword,
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

ParseResult scan::parseOffsets(OpAsmParser &parser,
                               SmallVectorImpl<Value> &offsets) {
  if (failed(parser.parseOptionalKeyword("offsets")))
    return success();
  OpAsmParser::UnresolvedOperand operand;
  Type type;
  return failure(parser.parseLParen() || parser.parseOperand(operand) ||
                 parser.parseColonType(type) || parser.parseRParen() ||
                 parser.resolveOperand(operand, type, offsets));
}

ParseResult scan::parseAxes(OpAsmParser &parser, StringRef keyword,
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

ParseResult scan::parseTypes(OpAsmParser &parser,
                             SmallVectorImpl<Type> &types) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
    return parser.parseType(types.emplace_back());
  });
}

void scan::printNamedAxes(OpAsmPrinter &p, StringRef keyword,
                          ValueRange operands, ArrayAttr axes) {
  p << keyword << "(";
  llvm::interleaveComma(llvm::zip(operands, axes), p, [&](auto pair) {
    p << std::get<0>(pair) << " as " << std::get<1>(pair);
  });
  if (!operands.empty())
    p << " : " << operands.getTypes();
  p << ")";
}

void scan::printOffsets(OpAsmPrinter &p, Value offsets) {
  if (offsets)
    p << " offsets(" << offsets << " : " << offsets.getType() << ")";
}

void scan::printAxes(OpAsmPrinter &p, StringRef keyword, ArrayAttr axes) {
  p << " " << keyword << "(";
  llvm::interleaveComma(axes, p);
  p << ")";
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

static int64_t headExtent(Type type, StringRef axes) {
  size_t at = axes.find('h');
  return at == StringRef::npos ? 0
                               : cast<RankedTensorType>(type).getDimSize(at);
}

int64_t scan::countHeads(ValueRange values, ArrayAttr axes) {
  for (auto [value, attr] : llvm::zip(values, axes))
    if (int64_t heads =
            headExtent(value.getType(), cast<StringAttr>(attr).getValue()))
      return heads;
  return 0;
}

SmallVector<int64_t> scan::featureShape(Type type, StringRef axes) {
  SmallVector<int64_t> shape;
  for (auto [i, letter] : llvm::enumerate(axes))
    if (letter != 'b' && letter != 't' && letter != 'h' && letter != 'n')
      shape.push_back(cast<RankedTensorType>(type).getDimSize(i));
  return shape;
}

Type scan::regionType(Type type, StringRef axes, ArrayRef<int64_t> leading) {
  SmallVector<int64_t> shape(leading);
  llvm::append_range(shape, featureShape(type, axes));
  Type element = cast<RankedTensorType>(type).getElementType();
  return shape.empty() ? element : Type(RankedTensorType::get(shape, element));
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

LogicalResult scan::AxisTable::add(Type type, StringRef axes, const Twine &what,
                                   bool isCarried) {
  auto tensor = cast<RankedTensorType>(type);
  if (int64_t(axes.size()) != tensor.getRank())
    return op->emitOpError("[C1] ")
           << what << " has " << tensor.getRank() << " axes but " << axes.size()
           << " axis letters \"" << axes << "\"";
  for (auto [i, letter] : llvm::enumerate(axes)) {
    if (letter < 'a' || letter > 'z')
      return op->emitOpError("[C2] ")
             << what << " has axis letters \"" << axes << "\"; expected a to z";
    if (axes.find(letter, i + 1) != StringRef::npos)
      return op->emitOpError("[C2] ")
             << what << " names axis '" << std::string(1, letter)
             << "' twice in \"" << axes << "\"";
    if (isCarried ? (letter == 'b' || letter == 't') : letter == 'n')
      return op->emitOpError("[C3] ")
             << what << " has axis '" << std::string(1, letter) << "' in \""
             << axes << "\"; "
             << (isCarried ? Twine(carried) + " have n, h and features"
                           : "only " + Twine(carried) + " have axis n");
    int64_t extent = tensor.getDimSize(i);
    bool dynamicAxis = letter == 'b' || letter == 't' || letter == 'n';
    if (!dynamicAxis && ShapedType::isDynamic(extent))
      return op->emitOpError("[C4] ")
             << what << " has a dynamic extent on axis '"
             << std::string(1, letter) << "'; only b, t and n may be dynamic";
    if (letter == 'h')
      continue;
    if (ShapedType::isDynamic(extent))
      continue;
    auto [it, isNew] = extents.try_emplace(letter, extent);
    if (!isNew && it->second != extent)
      return op->emitOpError("[C5] ")
             << what << " has extent " << extent << " on axis '"
             << std::string(1, letter) << "', an earlier operand has "
             << it->second;
  }
  return success();
}

LogicalResult scan::AxisTable::addAll(ValueRange values, ArrayAttr axes,
                                      StringRef what, bool isCarried) {
  if (axes.size() != values.size())
    return op->emitOpError("[C1] has ")
           << values.size() << " " << what << "s but axes for " << axes.size();
  for (auto [i, value] : llvm::enumerate(values))
    if (failed(add(value.getType(), axesOf(axes, i), what + " " + Twine(i),
                   isCarried)))
      return failure();
  return success();
}

LogicalResult scan::verifyResultAxes(Operation *op, int64_t heads,
                                     ValueRange results, ArrayAttr allAxes,
                                     StringRef needed, StringRef what) {
  for (auto [i, value] : llvm::enumerate(results)) {
    StringRef axes = axesOf(allAxes, i);
    for (char letter : needed)
      if (!axes.contains(letter))
        return op->emitOpError("[C7] ")
               << what << " " << i << " needs axis '" << std::string(1, letter)
               << "', found \"" << axes << "\"";
    if (!axes.contains('h') && heads != 1)
      return op->emitOpError("[C8] ")
             << what << " " << i << " has no axis h, but there are " << heads
             << " value heads";
    if (axes.contains('h') && headExtent(value.getType(), axes) != heads)
      return op->emitOpError("[C8] ")
             << what << " " << i << " has " << headExtent(value.getType(), axes)
             << " heads, expected " << heads;
  }
  return success();
}

LogicalResult scan::verifyOperandHeads(Operation *op, int64_t heads,
                                       ValueRange operands, ArrayAttr axes,
                                       StringRef what) {
  for (auto [i, value] : llvm::enumerate(operands)) {
    int64_t found = headExtent(value.getType(), axesOf(axes, i));
    if (axesOf(axes, i).contains('h') && (found < 1 || heads % found != 0))
      return op->emitOpError("[C8] ")
             << what << " " << i << " has " << found
             << " heads, which does not divide the number of value heads "
             << heads;
  }
  return success();
}

LogicalResult scan::verifyAnyTime(Operation *op, ArrayAttr axes) {
  bool anyTime = llvm::any_of(axes, [](Attribute a) {
    return cast<StringAttr>(a).getValue().contains('t');
  });
  if (!anyTime)
    return op->emitOpError("[C9] expects at least one input with axis t");
  return success();
}
