//===- PlanPlaces.h - Where the keys of a plan were written -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A plan is an attribute, which has no location; what is wrong with it may only
// be seen much later. The location of a recurrence made from a text therefore
// says where that text has the plan's keys.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_SCAN_IR_PLANPLACES_H
#define PRISM_DIALECT_SCAN_IR_PLANPLACES_H

#include "Prism/Dialect/Scan/IR/Scan.h"
#include "Prism/Support/PlanPlaces.h"

namespace prism::scan {

/// On an entry (unit): whatever its plan, one kernel serves all batches, so
/// that a sequence's bits do not depend on what else is in the batch.
inline constexpr llvm::StringLiteral kBatchInvariantAttr =
    "scan.batch_invariant";

/// The location of a recurrence whose plan was written there.
mlir::Location withPlanPlaces(mlir::Location loc, const PlanPlaces &places);

/// What withPlanPlaces put into the recurrence's location, if anything.
std::optional<PlanPlaces> planPlacesOf(RecurrenceOp op);

} // namespace prism::scan

#endif // PRISM_DIALECT_SCAN_IR_PLANPLACES_H
