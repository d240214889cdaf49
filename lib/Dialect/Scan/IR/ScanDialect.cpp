//===- ScanDialect.cpp - Registration of the scan dialect -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Scan/IR/PlanPlaces.h"
#include "Prism/Dialect/Scan/IR/Scan.h"
#include "Prism/Support/PlanLimits.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace prism;
using namespace prism::scan;

#include "Prism/Dialect/Scan/IR/ScanDialect.cpp.inc"
#include "Prism/Dialect/Scan/IR/ScanEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "Prism/Dialect/Scan/IR/ScanAttributes.cpp.inc"
#include "Prism/Dialect/Scan/IR/ScanInterfaces.cpp.inc"

namespace {
/// Bodies of functions are inlined into steps, with what they have of ours.
struct ScanInlinerInterface final : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override {
    return true;
  }
  bool isLegalToInline(Operation *, Region *, bool,
                       IRMapping &) const override {
    return true;
  }
};
} // namespace

void ScanDialect::initialize() {
  addInterfaces<ScanInlinerInterface>();
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
                               int64_t valueBlock, int64_t stages,
                               int64_t segments, int64_t prepareBlocks) {
  if (chunk < 0 || chunk > kMostChunkSteps)
    return emitError() << "[P1] chunk must lie in 1.." << kMostChunkSteps
                       << ", or be 0 (left to the compiler), found " << chunk;
  if (schedule == Schedule::recurrent && chunk != 1)
    return emitError() << "[P2] the recurrent schedule has chunk 1, found "
                       << chunk;
  if (valueBlock < 0)
    return emitError()
           << "[P3] value_block must be 0 (all columns) or positive, found "
           << valueBlock;
  if (stages < 1 || stages > kMostStages)
    return emitError() << "[P4] stages must lie in 1.." << kMostStages
                       << ", found " << stages;
  if (segments < 0 || segments > kMostSegments)
    return emitError() << "[P5] segments must lie in 0.." << kMostSegments
                       << ", found " << segments;
  if (prepareBlocks < -1 || prepareBlocks > kMostPrepareBlocks)
    return emitError() << "[P7] prepare_blocks must lie in 0.."
                       << kMostPrepareBlocks
                       << ", or be -1 (left to the compiler), found "
                       << prepareBlocks;
  if (schedule == Schedule::recurrent && prepareBlocks > 0)
    return emitError() << "[P8] the recurrent schedule prepares nothing, found "
                       << prepareBlocks << " prepare_blocks";
  return success();
}

//===----------------------------------------------------------------------===//
// Discardable attributes: constraints A1 to A7
//===----------------------------------------------------------------------===//

/// [A2] and [A3], for arguments and results alike.
static LogicalResult verifyNamed(Operation *op, const Twine &what,
                                 NamedAttribute attr) {
  if (attr.getName() == kNameAttr) {
    auto name = dyn_cast<StringAttr>(attr.getValue());
    if (!name || name.getValue().empty())
      return op->emitError("[A2] ")
             << what << ": scan.name expects a string, not empty, found "
             << attr.getValue();
  }
  if (attr.getName() == kOptionalAttr && !isa<UnitAttr>(attr.getValue()))
    return op->emitError("[A3] ")
           << what << ": scan.optional has no value, found " << attr.getValue();
  return success();
}

LogicalResult ScanDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attr) {
  if (attr.getName() == kStateIndependentAttr) {
    auto granularity = dyn_cast<StringAttr>(attr.getValue());
    if (!isa<RecurrenceOp>(op) || !granularity ||
        (granularity != "token" && granularity != "mini_batch"))
      return op->emitError("[A4] scan.state_independent is \"token\" or "
                           "\"mini_batch\" on a scan.recurrence, found ")
             << attr.getValue() << " on '" << op->getName() << "'";
    return success();
  }
  if (attr.getName() == kClassAttr && (!isa<RecurrenceOp, PrefixOp>(op) ||
                                       !isa<DictionaryAttr>(attr.getValue())))
    return op->emitError("[A5] scan.class is a dictionary on a "
                         "scan.recurrence or scan.prefix, found ")
           << attr.getValue() << " on '" << op->getName() << "'";
  if (attr.getName() == kSerialAttr &&
      (!isa<RecurrenceOp>(op) || !isa<UnitAttr>(attr.getValue())))
    return op->emitError("[A6] scan.serial stands without a value on a "
                         "scan.recurrence, found ")
           << attr.getValue() << " on '" << op->getName() << "'";
  if (attr.getName() == kBatchInvariantAttr &&
      (!op->hasAttr(kEntryAttr) || !isa<UnitAttr>(attr.getValue())))
    return op->emitError("[A7] scan.batch_invariant stands without a value on "
                         "an entry, found ")
           << attr.getValue() << " on '" << op->getName() << "'";
  if (attr.getName() != kEntryAttr)
    return success();
  auto name = dyn_cast<StringAttr>(attr.getValue());
  if (!name || name.getValue().empty())
    return op->emitError("[A1] scan.entry expects a string, not empty, found ")
           << attr.getValue();
  if (!isa<FunctionOpInterface>(op))
    return op->emitError("[A1] scan.entry marks a function, found '")
           << op->getName() << "'";
  return success();
}

LogicalResult ScanDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned argument,
                                                    NamedAttribute attr) {
  return verifyNamed(op, "argument " + Twine(argument), attr);
}

LogicalResult ScanDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                       unsigned result,
                                                       NamedAttribute attr) {
  if (attr.getName() == kOptionalAttr)
    return op->emitError("[A3] result ")
           << result << ": scan.optional marks arguments only";
  return verifyNamed(op, "result " + Twine(result), attr);
}
