//===- VerifyStateIndependence.cpp - Are recurrences affine in the state? -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Analysis/StateFlow.h"
#include "Prism/Dialect/Scan/IR/ChunkStates.h"
#include "Prism/Dialect/Scan/Transforms/Passes.h"

using namespace mlir;
using namespace prism;
using namespace prism::scan;
using analysis::Granularity;

namespace prism::scan {
#define GEN_PASS_DEF_SCANVERIFYSTATEINDEPENDENCE
#include "Prism/Dialect/Scan/Transforms/Passes.h.inc"
} // namespace prism::scan

LogicalResult
prism::scan::verifyStateIndependence(RecurrenceOp op, Granularity wanted,
                                     DiagnosticSeverity severity) {
  op->removeAttr(kStateIndependentAttr);
  analysis::StateFlow flow(op);
  Granularity proved = flow.granularity();
  if (proved > wanted) {
    flow.report(wanted, severity);
    return failure();
  }
  op->setAttr(kStateIndependentAttr,
              StringAttr::get(op.getContext(), analysis::stringify(proved)));
  return success();
}

bool prism::scan::isSerial(RecurrenceOp op) {
  analysis::StateFlow flow(op);
  if (flow.granularity() != Granularity::none)
    return false;
  // States of one number that no other flows into are known before the others,
  // which then only have to be affine in themselves.
  SmallVector<unsigned> given = ChunkStates(op).stepped;
  return given.size() == op.getNumStates() ||
         analysis::StateFlow(op, {}, given).granularity() == Granularity::none;
}

namespace {
struct VerifyStateIndependencePass
    : prism::scan::impl::ScanVerifyStateIndependenceBase<
          VerifyStateIndependencePass> {
  using ScanVerifyStateIndependenceBase::ScanVerifyStateIndependenceBase;

  void runOnOperation() override {
    if (granularity != "token" && granularity != "mini_batch") {
      getOperation().emitError("scan-verify-state-independence: granularity "
                               "must be token or mini_batch, found '")
          << granularity << "'";
      return signalPassFailure();
    }
    Granularity wanted =
        granularity == "token" ? Granularity::token : Granularity::miniBatch;
    // Every recurrence is looked at, also after one that fails.
    bool failedOnce = false;
    getOperation().walk([&](RecurrenceOp op) {
      bool stepwise = serial || op->hasAttr(kSerialAttr);
      bool proved = succeeded(verifyStateIndependence(
          op, wanted,
          stepwise ? DiagnosticSeverity::Warning : DiagnosticSeverity::Error));
      failedOnce |= !proved && !stepwise;
    });
    if (failedOnce)
      signalPassFailure();
  }
};
} // namespace
