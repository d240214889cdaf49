//===- ScanDialect.cpp - Registration of the scan dialect -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Scan/IR/Scan.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace prism::scan;

#include "Prism/Dialect/Scan/IR/ScanDialect.cpp.inc"
#include "Prism/Dialect/Scan/IR/ScanEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "Prism/Dialect/Scan/IR/ScanAttributes.cpp.inc"
#include "Prism/Dialect/Scan/IR/ScanInterfaces.cpp.inc"

void ScanDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "Prism/Dialect/Scan/IR/ScanOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Prism/Dialect/Scan/IR/ScanAttributes.cpp.inc"
      >();
}

LogicalResult PlanAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               Schedule schedule, int64_t chunk,
                               int64_t valueBlock, int64_t stages) {
  if (chunk < 1 || chunk > 256)
    return emitError() << "chunk must lie in 1..256, found " << chunk;
  if (schedule == Schedule::recurrent && chunk != 1)
    return emitError() << "the recurrent schedule has chunk 1, found " << chunk;
  if (valueBlock < 0)
    return emitError()
           << "value_block must be 0 (all columns) or positive, found "
           << valueBlock;
  if (stages < 1 || stages > 8)
    return emitError() << "stages must lie in 1..8, found " << stages;
  return success();
}
