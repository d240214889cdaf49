//===- InlineCalls.cpp - Bodies of functions in place of calls ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Which calls are taken is said here, with the place of the call; the inlining
// is upstream's, locations included: an op that came out of a function is at
// `callsite(its line at the call's line)`.
//
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Scan/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Inliner.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace prism::scan;

namespace prism::scan {
#define GEN_PASS_DEF_SCANINLINECALLS
#include "Prism/Dialect/Scan/Transforms/Passes.h.inc"
} // namespace prism::scan

namespace {
/// Follows the calls of a step, and those of what they call.
class CallChecker {
public:
  LogicalResult check(Region &region) {
    WalkResult result = region.walk([&](Operation *op) {
      if (auto call = dyn_cast<func::CallOp>(op))
        return WalkResult(checkCall(call));
      if (isa<CallOpInterface>(op)) {
        op->emitError("'") << op->getName()
                           << "' in a step has no function known at compile "
                              "time; expected func.call";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

private:
  LogicalResult checkCall(func::CallOp call);
  LogicalResult checkBody(func::CallOp call, func::FuncOp function);
  LogicalResult refuse(func::CallOp call, func::FuncOp function,
                       const Twine &what);

  SmallVector<func::FuncOp> open; // being followed
  llvm::DenseSet<Operation *> done;
};
} // namespace

LogicalResult CallChecker::refuse(func::CallOp call, func::FuncOp function,
                                  const Twine &what) {
  InFlightDiagnostic error = call.emitError("function '");
  error << function.getName() << "' " << what;
  error.attachNote(function.getLoc()) << "the function is here";
  return error;
}

LogicalResult CallChecker::checkBody(func::CallOp call, func::FuncOp function) {
  constexpr StringLiteral kExpected = "; a step takes the ops of what it calls "
                                      "in the call's place and expects ";
  if (function.isExternal())
    return refuse(call, function,
                  "is declared without a body" + Twine(kExpected) +
                      "a function with one");
  if (!function.getBody().hasOneBlock())
    return refuse(call, function,
                  "has several blocks" + Twine(kExpected) +
                      "one, with scf.if and scf.for for control flow");
  bool hasScan = function
                     .walk([](Operation *op) {
                       return isa<RecurrenceOp, PrefixOp>(op)
                                  ? WalkResult::interrupt()
                                  : WalkResult::advance();
                     })
                     .wasInterrupted();
  if (hasScan)
    return refuse(call, function,
                  "has a scan of its own" + Twine(kExpected) + "ops of a step");
  return success();
}

LogicalResult CallChecker::checkCall(func::CallOp call) {
  auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  if (!function)
    return call.emitError("there is no function '")
           << call.getCallee() << "' in this module";
  if (auto *from = llvm::find(open, function); from != open.end()) {
    std::string way;
    for (func::FuncOp step : llvm::make_range(from, open.end()))
      way += "'" + step.getName().str() + "' -> ";
    return refuse(call, function,
                  "calls itself (" + way + "'" + function.getName() +
                      "'); a step is of bounded length and expects a loop, "
                      "scf.for, in place of a recursion");
  }
  if (done.contains(function))
    return success();
  if (failed(checkBody(call, function)))
    return failure();
  open.push_back(function);
  if (failed(check(function.getBody())))
    return failure();
  open.pop_back();
  done.insert(function);
  return success();
}

/// The first call of the step, in nested regions too.
static func::CallOp findCall(RecurrenceOp op) {
  func::CallOp found;
  op.getBody().walk([&](func::CallOp call) {
    found = call;
    return WalkResult::interrupt();
  });
  return found;
}

LogicalResult prism::scan::checkCalls(RecurrenceOp op) {
  return CallChecker().check(op.getBody());
}

LogicalResult prism::scan::inlineCalls(RecurrenceOp op) {
  if (failed(checkCalls(op)))
    return failure();
  InlinerInterface interface(op.getContext());
  InlinerConfig config;
  while (func::CallOp call = findCall(op)) {
    auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    if (failed(inlineCall(interface, config.getCloneCallback(), call, function,
                          &function.getBody())))
      return call.emitError("function '") << function.getName()
                                          << "' cannot be inlined: it has an "
                                             "op whose dialect does not allow "
                                             "it";
    call.erase();
  }
  return success();
}

namespace {
struct InlineCallsPass
    : prism::scan::impl::ScanInlineCallsBase<InlineCallsPass> {
  using ScanInlineCallsBase::ScanInlineCallsBase;

  void runOnOperation() override {
    bool failedOnce = false;
    getOperation().walk(
        [&](RecurrenceOp op) { failedOnce |= failed(inlineCalls(op)); });
    if (failedOnce)
      signalPassFailure();
  }
};
} // namespace
