//===- Explain.cpp - What was recognised, chosen, and what limits it ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Compiler/Explain.h"
#include "Prism/Analysis/Transition.h"
#include "Segments.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace prism;

namespace {
/// Multiply-adds count two; per token and value head, of the recurrence itself.
struct Cost {
  int64_t keys = 0, values = 0, erases = 0, injects = 0, ties = 0, reads = 0,
          decays = 0;

  explicit Cost(scan::RecurrenceOp op) {
    auto state = cast<RankedTensorType>(op.getStateArgument(0).getType());
    keys = state.getDimSize(0), values = state.getDimSize(1);
    llvm::SmallDenseSet<Value> eraseKeys;
    auto ranks = [](Value key) {
      auto type = cast<RankedTensorType>(key.getType());
      return type.getRank() == 2 ? type.getDimSize(0) : 1;
    };
    op.getBody().walk([&](Operation *nested) {
      if (auto erase = dyn_cast<scan::EraseOp>(nested)) {
        erases += ranks(erase.getWrite());
        eraseKeys.insert(erase.getWrite());
      } else if (auto inject = dyn_cast<scan::InjectOp>(nested)) {
        if (eraseKeys.contains(inject.getKey()))
          ++ties;
        else
          injects += ranks(inject.getKey());
      } else if (isa<scan::ReadOp>(nested)) {
        ++reads;
      } else if (isa<scan::DecayOp>(nested)) {
        ++decays;
      }
    });
  }

  /// Token by token: a decay is 1, an erase 4, a write 2, a read 2 per element.
  int64_t recurrent() const {
    return keys * values *
           ((decays ? 1 : 0) + 4 * erases + 2 * injects + 2 * reads);
  }
  /// In chunks of C tokens, dense C x C, direct solve. Every block of value
  /// columns computes the scores of its own.
  int64_t chunked(scan::PlanAttr plan) const {
    int64_t chunk = plan.getChunk(), width = plan.getValueBlock(),
            blocks = width ? llvm::divideCeil(values, width) : 1;
    int64_t writers = erases + injects;
    int64_t scores =
        blocks * 2 * keys * chunk * (erases * writers + reads * writers);
    int64_t applied =
        2 * values * chunk * (erases * injects + reads * writers) +
        values * chunk * erases * erases;
    return scores + applied + 2 * keys * values * (erases + reads + writers);
  }
};
} // namespace

static std::string describeFactor(Operation *factor) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto ranks = [](Value key) -> std::string {
    auto type = cast<RankedTensorType>(key.getType());
    return type.getRank() == 2 ? "rank " + std::to_string(type.getDimSize(0))
                               : "rank 1";
  };
  if (auto decay = dyn_cast<scan::DecayOp>(factor))
    os << "decay along " << scan::stringifyDecayAlong(decay.getAlong());
  else if (auto erase = dyn_cast<scan::EraseOp>(factor))
    os << "erase, " << ranks(erase.getWrite())
       << (erase.getRead() == erase.getWrite() ? ", tied keys (delta rule)"
                                               : ", free keys")
       << (erase.getOf() ? ", reading an earlier state" : "");
  else if (auto inject = dyn_cast<scan::InjectOp>(factor))
    os << "injection, " << ranks(inject.getKey())
       << (inject.getValue().getDefiningOp<scan::RefineOp>()
               ? ", values from the refinement loop"
               : "");
  else
    os << factor->getName();
  return text;
}

/// Bytes of one token, all heads: its inputs and outputs.
static int64_t bytesPerToken(scan::RecurrenceOp op) {
  int64_t bytes = 0;
  auto add = [&](Type type, StringRef axes) {
    auto tensor = cast<RankedTensorType>(type);
    if (!axes.contains('t'))
      return;
    int64_t elements = 1;
    for (auto [letter, extent] : llvm::zip(axes, tensor.getShape()))
      if (letter != 'b' && letter != 't')
        elements *= extent;
    bytes += elements * tensor.getElementTypeBitWidth() / 8;
  };
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    add(input.getType(), op.getInputAxes(i));
  for (auto [i, output] : llvm::enumerate(op.getOutputs()))
    add(output.getType(), cast<StringAttr>(op.getOutputAxes()[i]).getValue());
  return bytes;
}

/// What a stepping entry, one token a call, moves besides: the state, in and
/// out. Over a sequence the state stays on the chip.
static int64_t stateBytesPerToken(func::FuncOp entry, scan::RecurrenceOp op) {
  auto kind = entry->getAttrOfType<StringAttr>(scan::kEntryAttr);
  if (!kind || kind.getValue() != "decode")
    return 0;
  auto state = cast<RankedTensorType>(op.getStateArgument(0).getType());
  return 2 * op.getNumValueHeads() * state.getNumElements() *
         state.getElementTypeBitWidth() / 8;
}

/// The roofline: no schedule is faster than its arithmetic at the target's peak
/// nor than its bytes at the bandwidth. All heads of one token.
static void explainLimit(raw_ostream &os, const Unit &unit, double flops,
                         double bytes, int64_t elementBits) {
  if (unit.target.isCuda()) {
    const targetinfo::GPUInfo &gpu = unit.target.gpu();
    double peak = unit.roles ? gpu.peakBF16 : gpu.peakF32;
    double arithmetic = flops / peak * 1e9,
           memory = bytes / gpu.memoryBandwidth * 1e9;
    os << llvm::formatv(
        "    limit: {0:F2} ns a token, set by {1}: arithmetic {2:F2} ns at "
        "{3:F1} TFLOP/s, memory {4:F2} ns at {5:F1} TB/s, all {6} "
        "multiprocessors at work\n",
        std::max(arithmetic, memory),
        arithmetic > memory ? "arithmetic" : "memory", arithmetic, peak / 1e12,
        memory, gpu.memoryBandwidth / 1e12, gpu.multiprocessors);
    return;
  }
  for (const std::string &level : unit.target.levels()) {
    int64_t peak = targetinfo::peakFlopsPerCycle(level, elementBits);
    os << llvm::formatv("    limit on {0}: {1:F0} cycles of a core a token, at "
                        "{2} FLOP a cycle (two FMA units); a CPU's bandwidth "
                        "is not known here\n",
                        level, flops / peak, peak);
  }
}

/// "    roles: chain on 8 warps, prepare on 4, load on 4".
static void explainRoles(raw_ostream &os, const Unit &unit) {
  if (!unit.roles)
    return;
  os << "    roles of a block:";
  StringRef separator = " ";
  unit.roles.get().walk([&](tile::RoleOp role) {
    os << separator << role.getName() << " on " << int64_t(role.getWarps())
       << " warps";
    separator = ", ";
  });
  os << "\n";
}

/// What is launched for segments, and when.
static void explainSplit(raw_ostream &os, const Unit &unit) {
  if (!unit.isSplit())
    return;
  tile::ProgramOp program =
      *unit.module.get().getOps<tile::ProgramOp>().begin();
  tile::ProgramOp maps =
      *unit.before.front().module.get().getOps<tile::ProgramOp>().begin();
  int64_t columns = maps.getValues() - program.getValues();
  os << "    sequences split into segments: their maps at once (" << columns
     << (columns == 1 ? " more value column, M is diagonal"
                      : " more value columns, those of M")
     << "), the state at each start, then all segments at once\n";
  if (unit.segments) {
    os << "      always " << *unit.segments << " segments\n";
    return;
  }
  for (const std::string &line : describeSegmentRows(unit))
    os << "      " << line << "\n";
}

void prism::explainEntry(raw_ostream &os, func::FuncOp entry,
                         ArrayRef<Unit> units, ArrayRef<std::string> notes) {
  scan::RecurrenceOp op;
  entry.walk([&](scan::RecurrenceOp found) { op = found; });
  if (!op)
    return;
  os << "entry '" << entry.getName() << "'\n";
  auto state = cast<RankedTensorType>(op.getStateArgument(0).getType());
  os << "  recognised: ";
  if (op.getNumStates() > 1)
    os << op.getNumStates() << " states, the first ";
  else
    os << "one state ";
  os << "of " << state.getDimSize(0) << " keys x " << state.getDimSize(1)
     << " values, " << op.getNumValueHeads() << " value heads"
     << (op.getReverse() ? ", time reversed" : "") << "; a step is\n";
  SmallVector<scan::ReadOp> reads;
  op.getBody().walk([&](scan::ReadOp read) { reads.push_back(read); });
  auto printReads = [&](Value of) {
    for (scan::ReadOp read : reads)
      if (read.getState() == of)
        os << "    read (output)\n";
  };
  for (unsigned i = 0; i < op.getNumStates(); ++i) {
    FailureOr<SmallVector<scan::StateOpInterface>> chain =
        scan::getFactorChain(op, i);
    if (i > 0)
      os << "   state " << i + 1
         << (failed(chain) ? ": a computed scalar\n" : "\n");
    printReads(op.getStateArgument(i));
    if (succeeded(chain))
      for (scan::StateOpInterface factor : *chain) {
        os << "    " << describeFactor(factor) << "\n";
        printReads(factor.getStateResult());
      }
  }
  os << "  class: "
     << analysis::describeClass(analysis::classOf(analysis::StateFlow(op)))
     << "\n";
  Cost cost(op);
  double heads = op.getNumValueHeads(), bytes = bytesPerToken(op) / heads,
         stateBytes = stateBytesPerToken(entry, op) / heads;
  os << llvm::formatv("  work per token and value head: {0:F1} kFLOP token by "
                      "token, {1:F0} bytes of inputs and outputs",
                      cost.recurrent() / 1e3, bytes);
  if (stateBytes > 0)
    os << llvm::formatv(", {0:F0} bytes of state in and out", stateBytes);
  os << "\n";
  bytes += stateBytes;
  for (const Unit &unit : units) {
    scan::PlanAttr plan = unit.plan;
    int64_t flops =
        plan.getChunk() == 1 ? cost.recurrent() : cost.chunked(plan);
    os << "  on " << unit.target.str() << ": schedule "
       << scan::stringifySchedule(plan.getSchedule()) << ", chunk "
       << plan.getChunk() << ", ";
    if (plan.getValueBlock() == 0)
      os << "all value columns in one work item";
    else
      os << "blocks of " << plan.getValueBlock() << " value columns";
    os << llvm::formatv("; {0:F1} kFLOP, {1:F1} FLOP per byte", flops / 1e3,
                        flops / bytes);
    os << "; products "
       << (unit.roles                       ? "bf16 on tensor cores, f32 sums"
           : state.getElementType().isF64() ? "f64"
                                            : "IEEE f32")
       << "\n";
    explainRoles(os, unit);
    explainSplit(os, unit);
    explainLimit(os, unit, flops * heads, bytes * heads,
                 state.getElementTypeBitWidth());
    for (const std::string &remark : unit.remarks)
      os << "    note: " << remark << "\n";
  }
  for (const std::string &note : notes)
    os << "  note: " << note << "\n";
}
