//===- ChooseChunkSize.cpp - Schedule, chunk and value block --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One function of element type, target and sizes for now; measurements behind
// the numbers stand in docs/decisions/20261129-cpu-code.md.
//
//===----------------------------------------------------------------------===//

#include "Prism/Dialect/Scan/Transforms/Passes.h"
#include "mlir/IR/Remarks.h"
#include <limits>

using namespace mlir;
using namespace prism::scan;

namespace prism::scan {
#define GEN_PASS_DEF_SCANCHOOSECHUNKSIZE
#include "Prism/Dialect/Scan/Transforms/Passes.h.inc"
} // namespace prism::scan

static RankedTensorType stateOf(RecurrenceOp op) {
  return cast<RankedTensorType>(op.getStateArgument(0).getType());
}

/// Token by token, the state is read and written every step: columns are split
/// so that a block of it stays in the first-level cache (0: no split).
static int64_t recurrentValueBlock(RankedTensorType state) {
  constexpr int64_t kCacheBytes = 32 * 1024, kColumns = 16;
  int64_t bytes = state.getElementTypeBitWidth() / 8;
  int64_t columns =
      kCacheBytes / (bytes * state.getDimSize(0)) / kColumns * kColumns;
  columns = std::max(columns, kColumns);
  return columns >= state.getDimSize(1) ? 0 : columns;
}

SmallVector<PlanAttr> prism::scan::candidatePlans(RecurrenceOp op,
                                                  Schedule schedule,
                                                  PlanTarget target) {
  SmallVector<PlanAttr> plans;
  auto add = [&](int64_t chunk, int64_t valueBlock) {
    plans.push_back(PlanAttr::get(op.getContext(), schedule, chunk, valueBlock,
                                  /*stages=*/1));
  };
  int64_t values = stateOf(op).getDimSize(1);
  if (target == PlanTarget::cpu) {
    // Work per token grows with the chunk; 16 tokens already fill the vector
    // units' register tiles (measured best at K = V = 64, 128 and 256).
    if (schedule == Schedule::chunk)
      add(16, 0);
    else
      add(1, recurrentValueBlock(stateOf(op)));
    return plans;
  }
  if (schedule == Schedule::recurrent) {
    // The state lives in registers: 32 columns a warp-wide block.
    add(1, std::min<int64_t>(values, 32));
    add(1, 0);
    return plans;
  }
  for (int64_t chunk : {32, 16, 8}) {
    int64_t last = 0;
    for (int64_t block : {64, 32, 16, 8}) {
      int64_t columns = std::min(block, values);
      if (columns != last)
        add(chunk, columns);
      last = columns;
    }
  }
  return plans;
}

int64_t prism::scan::recurrentUpTo(RecurrenceOp op, PlanTarget target,
                                   bool tensorCores) {
  // A chunk of 64 costs on tensor cores what some dozen steps cost without.
  if (tensorCores)
    return 15;
  // The plain SIMT chunk form is slower than stepping with the state in
  // registers (an H200, K = V = 128, 16 heads, T = 2048: 2.10 against 1.54 ms).
  if (target == PlanTarget::cuda)
    return std::numeric_limits<int64_t>::max();
  // Small states: stepping costs less than the chunk form's products (measured
  // at 16 x 16 and 32 x 32; at 64 x 64 the chunk form is ahead).
  RankedTensorType state = stateOf(op);
  bool small = state.getDimSize(0) * state.getDimSize(1) <= 32 * 32;
  return small ? std::numeric_limits<int64_t>::max() : 15;
}

namespace {
struct ChooseChunkSizePass
    : prism::scan::impl::ScanChooseChunkSizeBase<ChooseChunkSizePass> {
  using ScanChooseChunkSizeBase::ScanChooseChunkSizeBase;
  void runOnOperation() override {
    if (target != "cpu" && target != "cuda") {
      getOperation().emitError(
          "scan-choose-chunk-size: target must be cpu or cuda, found '")
          << target << "'";
      return signalPassFailure();
    }
    std::optional<Schedule> wanted = symbolizeSchedule(schedule);
    if (!wanted) {
      getOperation().emitError("scan-choose-chunk-size: schedule must be chunk "
                               "or recurrent, found '")
          << schedule << "'";
      return signalPassFailure();
    }
    getOperation().walk(keepPrefixChunk);
    getOperation().walk([&](RecurrenceOp op) {
      if (op.getPlanAttr())
        return;
      Schedule chosen = *wanted;
      std::string reason;
      if (Operation *factor = findFactorWithoutChunkForm(op, reason);
          factor && chosen == Schedule::chunk) {
        remark::missed(factor->getLoc(),
                       remark::RemarkOpts::name("ChunkForm").category("scan"))
            << reason;
        chosen = Schedule::recurrent;
      }
      PlanTarget where = target == "cpu" ? PlanTarget::cpu : PlanTarget::cuda;
      op.setPlanAttr(candidatePlans(op, chosen, where).front());
    });
  }
};
} // namespace
