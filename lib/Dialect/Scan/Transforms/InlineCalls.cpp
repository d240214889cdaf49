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
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace prism::scan;

namespace prism::scan {
#define GEN_PASS_DEF_SCANINLINECALLS
#include "Prism/Dialect/Scan/Transforms/Passes.h.inc"
} // namespace prism::scan

namespace {
/// What inlining puts in the place of calls.
struct Inlined {
  uint64_t bodies = 0;
  size_t depth = 0;
};

/// Follows the calls of a step, and those of what they call.
class CallChecker {
public:
  LogicalResult check(Region &region, Inlined &sum) {
    WalkResult result = region.walk([&](Operation *op) {
      if (auto call = dyn_cast<func::CallOp>(op))
        return WalkResult(checkCall(call, sum));
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
  LogicalResult checkCall(func::CallOp call, Inlined &sum);
  LogicalResult checkBody(func::CallOp call, func::FuncOp function);
  FailureOr<Inlined> follow(func::CallOp call, func::FuncOp function);
  LogicalResult refuse(func::CallOp call, func::FuncOp function,
                       const Twine &what);

  SmallVector<func::FuncOp> open; // being followed
  llvm::DenseMap<Operation *, Inlined> done;
};
} // namespace

LogicalResult CallChecker::refuse(func::CallOp call, func::FuncOp function,
                                  const Twine &what) {
  InFlightDiagnostic error = call.emitError("function '");
  error << function.getName() << "' " << what;
  error.attachNote(function.getLoc()) << "the function is here";
  return error;
}

static constexpr StringLiteral kExpected =
    "; a step takes the ops of what it calls in the call's place and expects ";

LogicalResult CallChecker::checkBody(func::CallOp call, func::FuncOp function) {
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

/// Each function once, however often it is called.
FailureOr<Inlined> CallChecker::follow(func::CallOp call,
                                       func::FuncOp function) {
  // The verdict looks into calls as deep as this.
  constexpr size_t kMaxDepth = 32;
  auto known = done.find(function);
  Inlined inside;
  if (known != done.end())
    inside = known->second;
  if (size_t depth = open.size() + std::max<size_t>(1, inside.depth);
      depth > kMaxDepth)
    return refuse(call, function,
                  "makes calls nest " + Twine(depth) + " deep" +
                      Twine(kExpected) + "at most " + Twine(kMaxDepth));
  if (known != done.end())
    return inside;
  if (failed(checkBody(call, function)))
    return failure();
  open.push_back(function);
  if (failed(check(function.getBody(), inside)))
    return failure();
  open.pop_back();
  ++inside.bodies;
  ++inside.depth;
  done[function] = inside;
  return inside;
}

LogicalResult CallChecker::checkCall(func::CallOp call, Inlined &sum) {
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
  FailureOr<Inlined> inside = follow(call, function);
  if (failed(inside))
    return failure();
  constexpr uint64_t kMaxBodies = 10000;
  sum.bodies += inside->bodies;
  sum.depth = std::max(sum.depth, inside->depth);
  if (sum.bodies <= kMaxBodies)
    return success();
  return refuse(call, function,
                "brings what is to be inlined to " + Twine(sum.bodies) +
                    " bodies" + Twine(kExpected) + "at most " +
                    Twine(kMaxBodies));
}

LogicalResult prism::scan::checkCalls(RecurrenceOp op) {
  Inlined sum;
  return CallChecker().check(op.getBody(), sum);
}

LogicalResult prism::scan::inlineCalls(RecurrenceOp op) {
  if (failed(checkCalls(op)))
    return failure();
  InlinerInterface interface(op.getContext());
  InlinerConfig config;
  SmallVector<func::CallOp> pending; // the first one last
  auto collect = [&](func::CallOp call) { pending.push_back(call); };
  op.getBody().walk(collect);
  std::reverse(pending.begin(), pending.end());
  while (!pending.empty()) {
    func::CallOp call = pending.pop_back_val();
    Operation *after = call->getNextNode(); // a terminator at least
    auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    if (failed(inlineCall(interface, config.getCloneCallback(), call, function,
                          &function.getBody())))
      return call.emitError("function '") << function.getName()
                                          << "' cannot be inlined: it has an "
                                             "op whose dialect does not allow "
                                             "it";
    size_t left = pending.size();
    for (Operation *made = call->getNextNode(); made != after;
         made = made->getNextNode())
      made->walk(collect);
    std::reverse(pending.begin() + left, pending.end());
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
