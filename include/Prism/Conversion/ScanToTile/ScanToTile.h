//===- ScanToTile.h - From scan to tile programs ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_CONVERSION_SCANTOTILE_SCANTOTILE_H
#define PRISM_CONVERSION_SCANTOTILE_SCANTOTILE_H

#include "Prism/Dialect/Scan/IR/Scan.h"
#include "Prism/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace prism {

#define GEN_PASS_DECL
#include "Prism/Conversion/ScanToTile/Passes.h.inc"

/// Builds the tile program of one entry function at `builder`'s insertion
/// point. Fails with a located diagnostic when the recurrence has no such form.
mlir::FailureOr<tile::ProgramOp> convertEntryToTile(mlir::OpBuilder &builder,
                                                    mlir::func::FuncOp entry,
                                                    scan::PlanAttr plan,
                                                    llvm::StringRef name);

/// What messages about steps without a tile form end with: the way out.
inline constexpr llvm::StringLiteral kSerialTakesIt =
    "; --serial (scan.serial) takes it step by step on the CPU";

/// Has a recurrence's step ops or states that no tile stands for? If it is
/// serial it is taken token by token, its ops as they are.
bool hasPlainSteps(scan::RecurrenceOp op);

/// True if value columns may be split over work items: nothing that is injected
/// mixes columns (an l2norm along the value axis does).
bool canSplitValues(scan::RecurrenceOp op);

#define GEN_PASS_REGISTRATION
#include "Prism/Conversion/ScanToTile/Passes.h.inc"

} // namespace prism

#endif // PRISM_CONVERSION_SCANTOTILE_SCANTOTILE_H
