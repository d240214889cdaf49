//===- Emit.cpp - prism-compile --emit ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace prism;

static LogicalResult writeOut(ModuleOp module, StringRef text,
                              StringRef output) {
  if (output.empty() || output == "-") {
    llvm::outs() << text;
    return success();
  }
  if (llvm::Error error = writeFileAtomically(output, text))
    return module.emitError(llvm::toString(std::move(error)));
  return success();
}

/// The code of a kernel at a stage of machine code.
static FailureOr<std::string> codeOf(const CompiledKernel &kernel,
                                     const Unit &unit, StringRef stage) {
  const std::string &code = stage == "ptx"     ? kernel.ptx
                            : stage == "cubin" ? kernel.cubin
                                               : kernel.object;
  if (!code.empty())
    return code;
  InFlightDiagnostic diag = mlir::emitError(unit.module.get().getLoc())
                            << "no " << stage << " for " << unit.target.str();
  for (const std::string &note : kernel.notes)
    diag << "; " << note;
  return failure();
}

/// One stage of one launch as text or bytes.
static FailureOr<std::string> emitLaunch(const Unit &unit, StringRef stage) {
  if (stage == "tile") {
    // The program alone: what one work item does.
    std::string text;
    llvm::raw_string_ostream os(text);
    unit.module.get().walk(
        [&](tile::ProgramOp program) { program.print(os, OpPrintingFlags()); });
    return text + "\n";
  }
  if (stage == "llvm")
    return emitLLVMText(unit);
  FailureOr<std::vector<CompiledKernel>> kernels = compileLaunch(unit);
  if (failed(kernels))
    return failure();
  // Of several instruction sets the best, as for --emit=llvm.
  CompiledKernel &kernel = kernels->back();
  if (std::string error = finishKernel(kernel, stage == "cubin");
      !error.empty())
    return mlir::emitError(unit.module.get().getLoc()) << error;
  return codeOf(kernel, unit, stage);
}

/// The plan, and what only a unit knows of it.
static std::string describePlan(const Unit &unit) {
  scan::PlanAttr plan = unit.plan;
  if (unit.segments)
    plan = scan::PlanAttr::get(plan.getContext(), plan.getSchedule(),
                               plan.getChunk(), plan.getValueBlock(),
                               plan.getStages(), *unit.segments,
                               plan.getPrepareBlocks());
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "entry '" << unit.entry << "' on " << unit.target.str() << ": " << plan;
  if (unit.isSplit() && !unit.segments)
    os << ", in segments as the decision table says";
  os << "\n";
  return text;
}

namespace {
/// Collects what a stage has of each unit, in the order of the launches.
class Collector {
public:
  Collector(ModuleOp module, StringRef stage) : module(module), stage(stage) {}

  LogicalResult add(const Unit &unit);

  std::string all;
  unsigned count = 0;

private:
  LogicalResult addLaunch(const Unit &unit, unsigned number, unsigned launches);
  bool isBinary() const { return stage == "cubin" || stage == "obj"; }

  ModuleOp module;
  StringRef stage;
};
} // namespace

LogicalResult Collector::addLaunch(const Unit &unit, unsigned number,
                                   unsigned launches) {
  FailureOr<std::string> text = emitLaunch(unit, stage);
  if (failed(text))
    return failure();
  if (isBinary() && count > 0)
    return module.emitError("--emit=")
           << stage
           << " writes one kernel and there are several; choose with --entry, "
              "--target and --plan";
  if (!isBinary()) { // a line of a comment in the stage's language
    llvm::raw_string_ostream os(all);
    os << (stage == "llvm" ? "; " : "// ") << kernelSymbol(unit) << " on "
       << unit.target.str();
    if (launches > 1)
      os << ", launch " << number << " of " << launches;
    os << "\n";
  }
  all += *text;
  ++count;
  return success();
}

LogicalResult Collector::add(const Unit &unit) {
  if (stage == "plan") {
    all += describePlan(unit);
    ++count;
    return success();
  }
  unsigned number = 0, launches = unit.before.size() + 1;
  for (const Unit &before : unit.before)
    if (failed(addLaunch(before, ++number, launches)))
      return failure();
  return addLaunch(unit, launches, launches);
}

LogicalResult prism::emitStage(ModuleOp module, StringRef stage,
                               const CompileOptions &options,
                               StringRef output) {
  if (stage == "scan") {
    std::string text;
    llvm::raw_string_ostream(text) << module;
    return writeOut(module, text + "\n", output);
  }
  auto entries = findEntries(module, options.entries);
  auto targets = parseTargets(module, options.targets);
  if (failed(entries) || failed(targets))
    return failure();
  Collector collector(module, stage);
  for (func::FuncOp entry : *entries)
    for (const targetinfo::Target &target : *targets) {
      bool wantsCuda = stage == "ptx" || stage == "cubin",
           wantsCpu = stage == "llvm" || stage == "obj";
      if ((wantsCuda && !target.isCuda()) || (wantsCpu && target.isCuda()))
        continue;
      auto units = buildUnits(entry, target, options);
      if (failed(units))
        return failure();
      for (const Unit &unit : *units)
        if (failed(collector.add(unit)))
          return failure();
    }
  if (collector.count == 0)
    return module.emitError(
               "nothing to emit: no target among --target has the stage '")
           << stage << "'";
  return writeOut(module, collector.all, output);
}
