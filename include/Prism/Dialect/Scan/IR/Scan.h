//===- Scan.h - The scan dialect --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The one header that users of the dialect include.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_DIALECT_SCAN_IR_SCAN_H
#define PRISM_DIALECT_SCAN_IR_SCAN_H

#include "Prism/Dialect/Scan/IR/StateFactor.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Prism/Dialect/Scan/IR/ScanDialect.h.inc"
#include "Prism/Dialect/Scan/IR/ScanEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "Prism/Dialect/Scan/IR/ScanAttributes.h.inc"
#include "Prism/Dialect/Scan/IR/ScanInterfaces.h.inc"
#define GET_OP_CLASSES
#include "Prism/Dialect/Scan/IR/ScanOps.h.inc"

namespace prism::scan {

/// Discardable attributes that functions and their arguments and results carry.
/// "scan.entry" on a function: the name of the entry it is ("forward",
/// "decode").
inline constexpr llvm::StringLiteral kEntryAttr = "scan.entry";
/// "scan.name" on an argument or result: its name in the spec and the manifest.
inline constexpr llvm::StringLiteral kNameAttr = "scan.name";
/// "scan.optional" (unit) on an argument: a call may leave it out.
inline constexpr llvm::StringLiteral kOptionalAttr = "scan.optional";
/// On a recurrence: the smallest granularity at which it was proved to be
/// affine in its states, "token" or "mini_batch".
inline constexpr llvm::StringLiteral kStateIndependentAttr =
    "scan.state_independent";
/// On a recurrence (unit): it is taken step by step if it has no parallel form.
inline constexpr llvm::StringLiteral kSerialAttr = "scan.serial";
/// On a recurrence: what it is as a scan, a dictionary (scan-classify).
inline constexpr llvm::StringLiteral kClassAttr = "scan.class";

/// The state values of the chain that yields state `index`, from the block
/// argument to the yielded value, or failure with a diagnostic-free null when a
/// value on the way is not the result of a state factor.
mlir::FailureOr<llvm::SmallVector<StateOpInterface>>
getFactorChain(RecurrenceOp op, unsigned index);

/// Whether state `index` is written values first: its chain is that of its
/// transpose.
bool isValueFirst(RecurrenceOp op, unsigned index);

/// Keys and values of state `index`, a matrix.
std::pair<int64_t, int64_t> getKeysAndValues(RecurrenceOp op, unsigned index);

/// What of the recurrence has no chunk form, and why: a factor, an output, the
/// recurrence itself. Null if all has one.
mlir::Operation *findFactorWithoutChunkForm(RecurrenceOp op,
                                            std::string &reason);

} // namespace prism::scan

#endif // PRISM_DIALECT_SCAN_IR_SCAN_H
