//===- NamedAxes.h - Operands and results with axis letters -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the ops over time share: the syntax of operands that name their axes,
// and the constraints on the letters (C1 to C5, C7 to C9 of
// docs/Dialects/Scan.md).
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_DIALECT_SCAN_IR_NAMEDAXES_H
#define PRISM_LIB_DIALECT_SCAN_IR_NAMEDAXES_H

#include "Prism/Dialect/Scan/IR/Scan.h"

namespace prism::scan {

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

/// keyword(%a as "bthk", ... : types); without the keyword nothing, unless it
/// is required.
mlir::ParseResult parseNamedAxes(mlir::OpAsmParser &parser,
                                 llvm::StringRef keyword, bool required,
                                 llvm::SmallVectorImpl<mlir::Value> &operands,
                                 mlir::ArrayAttr &axes);
/// offsets(%o : type), or nothing.
mlir::ParseResult parseOffsets(mlir::OpAsmParser &parser,
                               llvm::SmallVectorImpl<mlir::Value> &offsets);
/// keyword("bthv", ...)
mlir::ParseResult parseAxes(mlir::OpAsmParser &parser, llvm::StringRef keyword,
                            mlir::ArrayAttr &axes);
/// (types)
mlir::ParseResult parseTypes(mlir::OpAsmParser &parser,
                             llvm::SmallVectorImpl<mlir::Type> &types);

void printNamedAxes(mlir::OpAsmPrinter &p, llvm::StringRef keyword,
                    mlir::ValueRange operands, mlir::ArrayAttr axes);
void printOffsets(mlir::OpAsmPrinter &p, mlir::Value offsets);
void printAxes(mlir::OpAsmPrinter &p, llvm::StringRef keyword,
               mlir::ArrayAttr axes);

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

inline llvm::StringRef axesOf(mlir::ArrayAttr axes, unsigned i) {
  return llvm::cast<mlir::StringAttr>(axes[i]).getValue();
}

/// Heads of the first value with an axis h; 0 if none has one.
int64_t countHeads(mlir::ValueRange values, mlir::ArrayAttr axes);

/// Feature extents: those of all axes that are not b, t, h or n.
llvm::SmallVector<int64_t> featureShape(mlir::Type type, llvm::StringRef axes);

/// What a region sees of an operand or yields of a result: the features, after
/// `leading` extents; a scalar where there are none.
mlir::Type regionType(mlir::Type type, llvm::StringRef axes,
                      llvm::ArrayRef<int64_t> leading = {});

/// Collects extents per axis letter over all operands and results.
class AxisTable {
public:
  /// `carried` is what the op calls the values with axis n: "states".
  AxisTable(mlir::Operation *op, llvm::StringRef carried)
      : op(op), carried(carried) {}

  /// [C1] to [C5] for all values of a kind.
  mlir::LogicalResult addAll(mlir::ValueRange values, mlir::ArrayAttr axes,
                             llvm::StringRef what, bool isCarried);

private:
  mlir::LogicalResult add(mlir::Type type, llvm::StringRef axes,
                          const llvm::Twine &what, bool isCarried);

  mlir::Operation *op;
  llvm::StringRef carried;
  llvm::DenseMap<char, int64_t> extents;
};

/// [C7] The axes that results need. [C8] Results have all heads.
mlir::LogicalResult verifyResultAxes(mlir::Operation *op, int64_t heads,
                                     mlir::ValueRange results,
                                     mlir::ArrayAttr axes,
                                     llvm::StringRef needed,
                                     llvm::StringRef what);
/// [C8] Operands have a divisor of the heads.
mlir::LogicalResult verifyOperandHeads(mlir::Operation *op, int64_t heads,
                                       mlir::ValueRange operands,
                                       mlir::ArrayAttr axes,
                                       llvm::StringRef what);
/// [C9] At least one input has time.
mlir::LogicalResult verifyAnyTime(mlir::Operation *op, mlir::ArrayAttr axes);

} // namespace prism::scan

#endif // PRISM_LIB_DIALECT_SCAN_IR_NAMEDAXES_H
