//===- TileDialect.cpp - Registration and types of the tile dialect -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace prism::tile;

#include "Prism/Dialect/Tile/IR/TileDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "Prism/Dialect/Tile/IR/TileAttributes.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "Prism/Dialect/Tile/IR/TileTypes.cpp.inc"

void TileDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "Prism/Dialect/Tile/IR/TileOps.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "Prism/Dialect/Tile/IR/TileTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Prism/Dialect/Tile/IR/TileAttributes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// !tile.view<?x2x128xbf16>
//===----------------------------------------------------------------------===//

Type ViewType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/true) ||
      parser.parseType(element) || parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    shape, element);
}

void ViewType::print(AsmPrinter &printer) const {
  printer << "<";
  for (int64_t extent : getShape()) {
    if (ShapedType::isDynamic(extent))
      printer << "?x";
    else
      printer << extent << "x";
  }
  printer << getElementType() << ">";
}

LogicalResult ViewType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type element) {
  for (auto [i, extent] : llvm::enumerate(shape)) {
    if (ShapedType::isDynamic(extent) && i != 0)
      return emitError()
             << "only the first extent of a view (time) may be dynamic";
    if (!ShapedType::isDynamic(extent) && extent < 1)
      return emitError() << "extents of a view must be positive, found "
                         << extent;
  }
  if (!element.isBF16() && !element.isF16() && !element.isF32() &&
      !element.isF64() && !element.isInteger(64))
    return emitError() << "a view holds bf16, f16, f32, f64 or i64, found "
                       << element;
  return success();
}
