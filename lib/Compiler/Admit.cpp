//===- Admit.cpp - Which recurrences are compiled, and in what form -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Admit.h"
#include "Machine.h"
#include "Prism/Analysis/StateFlow.h"
#include "Prism/Conversion/ScanToTile/ScanToTile.h"
#include "Prism/Dialect/Scan/IR/StepIndices.h"
#include "Prism/Dialect/Scan/IR/StepOps.h"
#include "Prism/Dialect/Scan/Transforms/Passes.h"
#include "Prism/Support/EmitDiagnostic.h"
#include "Wish.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using namespace prism;

/// A calibration that knows no level of the target is an error.
static LogicalResult checkCalibration(func::FuncOp entry,
                                      const targetinfo::Target &target,
                                      const CompileOptions &options) {
  if (!options.calibration || target.isCuda())
    return success();
  auto machine = scan::PlanMachine::cpuLevels(target.levels());
  TextDiagnostic diagnostic;
  if (failed(machine.calibrate(*options.calibration, diagnostic)))
    return emitTextError(entry.getContext(), diagnostic);
  return success();
}

/// Of an entry without a recurrence.
static LogicalResult refuseEntry(func::FuncOp entry) {
  scan::PrefixOp prefix;
  entry.walk([&](scan::PrefixOp found) { prefix = found; });
  if (prefix)
    return prefix.emitError("prefix scans are not compiled yet; prism-compile "
                            "--evaluate runs them in float64");
  return entry.emitError("entry has no scan.recurrence");
}

/// Kernels hold a first state of keys x values, and no state of nothing; the
/// serial form of any ops holds vectors too.
static LogicalResult checkStates(scan::RecurrenceOp op, bool isPlain) {
  for (unsigned i = 0; i < op.getNumStates(); ++i) {
    auto state = cast<RankedTensorType>(op.getStateArgument(i).getType());
    if (i == 0 && state.getRank() != 2 && !isPlain)
      return op.emitError("expected a first state of keys x values, found ")
             << state << kSerialTakesIt;
    if (state.getNumElements() == 0)
      return op.emitError("expected states with elements, found ") << state;
  }
  return success();
}

LogicalResult prism::checkNames(func::FuncOp entry) {
  llvm::StringSet<> seen;
  auto check = [&](StringRef name) -> LogicalResult {
    if (!runtime::isIdentifier(name.str()))
      return entry.emitError("expected a name of letters, digits and _, found "
                             "'")
             << name << "'";
    return success();
  };
  auto checkValue = [&](Attribute attr) -> LogicalResult {
    auto name = dyn_cast_or_null<StringAttr>(attr);
    if (!name)
      return success();
    if (failed(check(name)))
      return failure();
    if (!seen.insert(name).second)
      return entry.emitError("expected distinct names, found '")
             << name.getValue() << "' twice";
    return success();
  };
  if (failed(check(entry.getName())))
    return failure();
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    if (failed(checkValue(entry.getArgAttr(i, scan::kNameAttr))))
      return failure();
  for (unsigned i = 0; i < entry.getNumResults(); ++i)
    if (failed(checkValue(entry.getResultAttr(i, scan::kNameAttr))))
      return failure();
  return success();
}

/// Of mini-batches, which are chunks: states of one shape, and factors that
/// have a chunk form.
static LogicalResult checkMiniBatches(scan::RecurrenceOp op) {
  if (!op.getMiniBatch())
    return success();
  Type first = op.getStateArgument(0).getType();
  for (unsigned i = 1; i < op.getNumStates(); ++i)
    if (Type other = op.getStateArgument(i).getType(); other != first)
      return op.emitError("states of different shapes have no form in "
                          "mini-batches yet, found ")
             << first << " and " << other << kSerialTakesIt;
  auto chain = scan::getFactorChain(op, 0);
  if (op.getNumStates() > 1 || failed(chain))
    return success();
  for (scan::StateOpInterface factor : *chain) {
    std::string reason;
    if (!factor.hasChunkForm(reason))
      return factor->emitOpError()
             << reason << ", and mini-batches are chunks" << kSerialTakesIt;
  }
  return success();
}

/// Mini-batches take keys first; GPUs do always.
static LogicalResult checkOrder(func::FuncOp entry, scan::RecurrenceOp op,
                                const targetinfo::Target &target) {
  bool isValueFirst = false;
  for (unsigned i = 0; i < op.getNumStates(); ++i)
    isValueFirst |= scan::isValueFirst(op, i);
  if (isValueFirst && target.isCuda())
    return entry.emitError("states with values first are not lowered for GPUs "
                           "yet; the CPU takes them, and GPUs take keys first");
  if (isValueFirst && op.getMiniBatch())
    return entry.emitError("states with values first are not lowered in "
                           "mini-batches yet, which take keys first")
           << kSerialTakesIt;
  return success();
}

static bool isSerialAskedFor(scan::RecurrenceOp op,
                             const CompileOptions &options) {
  return options.serial || op->hasAttr(scan::kSerialAttr);
}

/// A recurrence without a parallel form: an error that names the op of the
/// model to blame, unless it was asked for step by step.
static LogicalResult admitSerial(func::FuncOp entry, scan::RecurrenceOp op,
                                 const targetinfo::Target &target,
                                 const CompileOptions &options,
                                 std::string &why) {
  analysis::StateFlow flow(op);
  if (!isSerialAskedFor(op, options)) {
    flow.report(analysis::Granularity::miniBatch);
    return failure();
  }
  if (target.isCuda())
    return entry.emitError("serial recurrences are not lowered for GPUs yet; "
                           "the CPU takes them");
  why = flow.blame().second;
  return success();
}

/// Why a step has no tile form, or nothing if it has one. The checks and the
/// lowering themselves say so, of a copy; it is not the user's concern yet.
static std::optional<std::string>
whyNoTileForm(func::FuncOp entry, scan::RecurrenceOp op,
              const targetinfo::Target &target) {
  std::string why;
  uint64_t thread = llvm::get_threadid();
  ScopedDiagnosticHandler quiet(entry.getContext(), [&](Diagnostic &found) {
    if (llvm::get_threadid() != thread)
      return failure();
    if (why.empty())
      why = found.str();
    return success();
  });
  auto convert = [&]() -> LogicalResult {
    if (failed(checkStates(op, /*isPlain=*/false)) ||
        failed(checkOrder(entry, op, target)) || failed(checkMiniBatches(op)))
      return failure();
    entry.getContext()->loadDialect<tile::TileDialect>();
    OwningOpRef<ModuleOp> module = ModuleOp::create(entry.getLoc());
    OpBuilder builder(module->getBodyRegion());
    auto copy = cast<func::FuncOp>(builder.clone(*entry));
    copy.walk(
        [](scan::RecurrenceOp found) { found->removeAttr(scan::kSerialAttr); });
    int64_t chunk = op.getMiniBatch().value_or(1);
    auto plan = scan::PlanAttr::get(
        op.getContext(),
        chunk > 1 ? scan::Schedule::chunk : scan::Schedule::recurrent, chunk,
        /*value_block=*/0, /*stages=*/1);
    auto program = convertEntryToTile(builder, copy, plan, "copy");
    return failed(program) ? failure() : verify(*program);
  };
  if (succeeded(convert()))
    return std::nullopt;
  StringRef text = why;
  text.consume_back(kSerialTakesIt);
  return text.str();
}

/// Says how a serial recurrence is taken, and marks it for the lowering.
static LogicalResult chooseSerialForm(func::FuncOp entry, scan::RecurrenceOp op,
                                      const targetinfo::Target &target,
                                      const CompileOptions &options,
                                      const std::string &why,
                                      std::vector<Remark> &remarks) {
  op->setAttr(scan::kSerialAttr, UnitAttr::get(op.getContext()));
  // Said once and for all: simplifications to come may remove what says so.
  if (hasPlainSteps(op) || whyNoTileForm(entry, op, target))
    op->setAttr(scan::kPlainStepsAttr, UnitAttr::get(op.getContext()));
  bool byMiniBatch = op.getMiniBatch() && !hasPlainSteps(op);
  // Mini-batches are chunks: a plan may say so. So may the spec or the IR of an
  // entry that is stepped through anyway.
  std::optional<PlanOverride> plan = planFor(entry, op, options);
  bool isWritten =
      !options.plans.count("") && !options.plans.count(entry.getName().str());
  bool isStepping = plan && plan->schedule == scan::Schedule::recurrent;
  if (!byMiniBatch && plan && !(isWritten && isStepping))
    return emitPlanError(op, *plan)
           << "a serial recurrence is taken step by step; it takes no plan";
  remarks.push_back(
      std::string("serial, taken ") +
      (byMiniBatch ? "mini-batch by mini-batch" : "step by step") +
      " as asked: " + why);
  return success();
}

/// A mini-batch of one step is entered with the state before the step.
static void dropMiniBatchesOfOne(scan::RecurrenceOp op) {
  if (op.getMiniBatch() != 1)
    return;
  unsigned states = op.getNumStates();
  for (unsigned i = 0; i < states; ++i)
    op.getEntryStateArgument(i).replaceAllUsesWith(op.getStateArgument(i));
  op.removeMiniBatchAttr();
  op.getStepBlock()->eraseArguments(states, states);
}

/// Are the next states made by factors and by sums of multiples of states?
static bool areMadeByFactors(scan::RecurrenceOp op) {
  SmallVector<Value> pending(
      op.getYield().getValues().take_front(op.getNumStates()));
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value state = pending.pop_back_val();
    Operation *producer = state.getDefiningOp();
    if (!seen.insert(state).second || !producer ||
        isa<tensor::SplatOp>(producer) ||
        producer->hasTrait<OpTrait::ConstantLike>())
      continue;
    if (auto factor = dyn_cast<scan::StateOpInterface>(producer))
      pending.push_back(factor.getStateOperand().get());
    else if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp>(
                 producer))
      llvm::append_range(pending, producer->getOperands());
    else
      return false;
  }
  return true;
}

/// Does the step have plain ops that raising may turn into factors?
static bool hasPlainOps(scan::RecurrenceOp op) {
  if (op.getMiniBatch())
    return !areMadeByFactors(op);
  return op.getNumStates() == 1 && failed(scan::getFactorChain(op, 0));
}

FailureOr<bool> prism::admit(func::FuncOp entry, scan::RecurrenceOp op,
                             const targetinfo::Target &target,
                             const CompileOptions &options,
                             std::vector<Remark> &remarks) {
  if (!op)
    return refuseEntry(entry);
  if (failed(checkCalibration(entry, target, options)))
    return failure();
  if (failed(scan::checkCalls(op)))
    return failure();
  bool isPlain = hasPlainOps(op);
  dropMiniBatchesOfOne(op);
  bool serial = scan::isSerial(op);
  std::string why;
  if (serial && failed(admitSerial(entry, op, target, options, why)))
    return failure();
  if (op.getMiniBatch() && target.isCuda())
    return entry.emitError("mini-batches are not lowered for GPUs yet; the CPU "
                           "takes them");
  // From here on the step is one; the verdict has named the user's calls.
  if (failed(scan::inlineCalls(op)) || failed(scan::passCaptures(op)) ||
      failed(scan::checkIndices(op)))
    return failure();
  // Plain ops are raised where they say what factors say. (Without its
  // mini-batch of one step a recurrence of one state may be no chain any more.)
  if (serial || isPlain || hasPlainOps(op)) {
    // Raising makes ops of these.
    entry.getContext()
        ->loadDialect<arith::ArithDialect, linalg::LinalgDialect,
                      math::MathDialect, tensor::TensorDialect>();
    scan::raiseAffine(op, /*assumeNonNegativeGates=*/false);
  }
  // Affine steps of ops that no tile stands for have the same way out.
  if (!serial && !target.isCuda() && isSerialAskedFor(op, options))
    if (auto reason = whyNoTileForm(entry, op, target)) {
      serial = true;
      op->setAttr(scan::kPlainStepsAttr, UnitAttr::get(op.getContext()));
      why = std::move(*reason);
    }
  if (serial &&
      failed(chooseSerialForm(entry, op, target, options, why, remarks)))
    return failure();
  // What has a parallel form takes it.
  if (!serial)
    op->removeAttr(scan::kSerialAttr);
  bool isTokenByToken = serial && hasPlainSteps(op);
  if (failed(checkStates(op, isTokenByToken)))
    return failure();
  if (!isTokenByToken &&
      (failed(checkOrder(entry, op, target)) || failed(checkMiniBatches(op))))
    return failure();
  return serial;
}
