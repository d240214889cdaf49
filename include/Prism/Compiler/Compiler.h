//===- Compiler.h - From a module of scan entries to a bundle ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The compiler as a function call. Entries x targets x schedules become units;
// a unit is one tile program and the kernels made of it. Diagnostics go to the
// module's context; nothing prints or exits. Several threads may compile at
// once, each with a context of its own.
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_COMPILER_COMPILER_H
#define PRISM_COMPILER_COMPILER_H

#include "Prism/Dialect/Scan/IR/Scan.h"
#include "Prism/Support/PlanPlaces.h"
#include "Prism/Target/Bundle/Bundle.h"
#include "Prism/TargetInfo/CPUCosts.h"
#include "Prism/TargetInfo/TargetInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <functional>
#include <map>
#include <optional>

namespace prism {

/// What a user fixes of an entry's plan; the rest stays the compiler's choice.
struct PlanOverride {
  std::optional<scan::Schedule> schedule;
  std::optional<int64_t> chunk, valueBlock, stages;
  /// Of a sequence; 1: it is not split.
  std::optional<int64_t> segments = std::nullopt;
  /// Thread blocks that only prepare for those of a head's values.
  std::optional<int64_t> prepareBlocks = std::nullopt;
  /// One kernel for all lengths and numbers of sequences: what it computes of a
  /// sequence does not depend, to the bit, on what else is in the batch.
  bool batchInvariant = false;
  /// Where it was written, for messages; nothing for one that was not.
  std::optional<PlanPlaces> places = std::nullopt;
};

struct CompileOptions {
  /// As on the command line: "cpu", "cpu:x86-64-v4", "cuda:sm_90a{ptx=8.7}".
  std::vector<std::string> targets = {"cpu"};
  /// Entries to compile; empty: all.
  std::vector<std::string> entries;
  /// By entry name; "" holds for every entry without its own.
  std::map<std::string, PlanOverride> plans;
  /// What work costs on the CPU that is compiled for; without, a table of one
  /// machine per level.
  std::optional<targetinfo::Calibration> calibration = std::nullopt;
  /// Assemble PTX to cubin where ptxas is found.
  bool assemble = true;
  /// Recurrences without a parallel form, or of ops without a tile form, are
  /// taken step by step, on the CPU; else they are errors.
  bool serial = false;
  /// Told what is being done ("forward, chunk, sm_90a"), for progress.
  std::function<void(llvm::StringRef)> progress;
};

/// A word on why a plan is as it is, for --explain: on the one taken, or on an
/// alternative that was refused.
struct Remark {
  std::string text;
  std::string refused = {}; // the alternative; empty: of the one taken

  Remark(std::string text) : text(std::move(text)) {}
  Remark(std::string refused, std::string text)
      : text(std::move(text)), refused(std::move(refused)) {}
};

/// One tile program: an entry, cut for a target by a schedule.
struct Unit {
  std::string entry;
  targetinfo::Target target;
  scan::PlanAttr plan;
  mlir::OwningOpRef<mlir::ModuleOp> module; // holds the program
  /// The program for tensor cores, its dots rounded and split into roles; null
  /// where the plain one is compiled.
  mlir::OwningOpRef<mlir::ModuleOp> roles;
  std::vector<Remark> remarks;
  /// "v128": tells apart the later of several units of a schedule.
  std::string variant = {};
  /// Of a unit that splits sequences into segments: what is launched before it.
  std::vector<Unit> before = {};
  /// Into how many, where the user fixed it; else the decision table says.
  std::optional<int64_t> segments = std::nullopt;
  /// Whether it is for calls of one step, of many heads: bulk copies of the
  /// state, in place of accesses to registers.
  bool copiesState = false;

  bool isSplit() const { return !before.empty(); }
  /// Whether segments fold the maps before them: none combines them first.
  bool foldsMaps() const { return before.size() == 1; }
  /// Thread blocks that only prepare, beside those of a head's values.
  int64_t prepareBlocks() const {
    return std::max<int64_t>(0, plan.getPrepareBlocks());
  }
};

/// Up to so many steps, sequences are split into segments by the number of
/// sequences x value heads: up to each bound into so many (1: not split), above
/// the last not at all.
struct SegmentRange {
  int64_t maxSteps;
  std::vector<std::pair<int64_t, int64_t>> segmentsUpTo; // heads, segments
};

/// The entry functions of a module, checked: at least one, unknown names in
/// `wanted` are errors with the nearest right name.
mlir::FailureOr<std::vector<mlir::func::FuncOp>>
findEntries(mlir::ModuleOp module, llvm::ArrayRef<std::string> wanted);

/// Names of what is written stand in files and headers: the entry's, and those
/// of its arguments and results, which differ. An error for others.
mlir::LogicalResult checkNames(mlir::func::FuncOp entry);

/// Parses target strings; an error is reported at the module.
mlir::FailureOr<std::vector<targetinfo::Target>>
parseTargets(mlir::ModuleOp module, llvm::ArrayRef<std::string> targets);

/// The units of an entry on a target, best schedule for long sequences first. A
/// schedule has several where each is best for other numbers of heads: fewest
/// first.
mlir::FailureOr<std::vector<Unit>> buildUnits(mlir::func::FuncOp entry,
                                              const targetinfo::Target &target,
                                              const CompileOptions &options);

/// Up to so many steps a sequence is taken by the last of an entry's units on a
/// target, token by token; 0 where there is one schedule.
int64_t stepsTakenRecurrent(scan::RecurrenceOp op, llvm::ArrayRef<Unit> units,
                            const CompileOptions &options);

/// What the kernel of a unit is called, in its code and in a bundle.
std::string kernelSymbol(const Unit &unit);

/// A kernel of a unit, with its code once it is finished.
struct CompiledKernel {
  runtime::KernelInfo info;
  std::string object; // CPU: shared object
  std::string ptx, cubin;
  /// What was not done and why ("not assembled: no ptxas ...").
  std::vector<std::string> notes;
  /// Makes the code; an error, or empty. Once, by finishKernel.
  std::function<std::string(CompiledKernel &)> makeCode;
  /// Launched before it.
  std::vector<CompiledKernel> before = {};
};

/// Lowers a unit to kernels that are still to be finished, with those launched
/// before it, or alone.
mlir::FailureOr<std::vector<CompiledKernel>> compileUnit(const Unit &unit);
mlir::FailureOr<std::vector<CompiledKernel>> compileLaunch(const Unit &unit);

/// Machine code: optimises, emits and links, or assembles PTX (or notes why it
/// was not done). Touches no MLIR: may run beside other work. The error, if
/// any, else empty.
std::string finishKernel(CompiledKernel &kernel, bool assemble);

/// LLVM IR text of a CPU unit for its first level.
mlir::FailureOr<std::string> emitLLVMText(const Unit &unit);

struct CompileResult {
  Bundle bundle;
  std::vector<std::string> notes;
};
mlir::FailureOr<CompileResult> compileModule(mlir::ModuleOp module,
                                             const CompileOptions &options);

/// "prism 0.1.0 (LLVM 22.1.8)".
std::string compilerVersion();

} // namespace prism

#endif // PRISM_COMPILER_COMPILER_H
