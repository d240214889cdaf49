//===- Compile.cpp - All units of a module, bundled -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Compiler/Compiler.h"
#include "Prism/Dialect/Scan/Transforms/Passes.h"
#include "llvm/Config/llvm-config.h"

using namespace mlir;
using namespace prism;

std::string prism::compilerVersion() { return "prism 0.1.0 (LLVM " LLVM_VERSION_STRING ")"; }

/// Rows of the decision table for one target: short sequences go recurrent.
static void addChoice(runtime::EntryInfo &entry, runtime::Target target, scan::RecurrenceOp op,
                      ArrayRef<scan::Schedule> schedules) {
  // Several chips or levels share one row.
  for (const runtime::ChoiceRow &row : entry.choice)
    if (row.target == target)
      return;
  bool both = schedules.size() > 1;
  auto where = target == runtime::Target::Cuda ? scan::PlanTarget::cuda : scan::PlanTarget::cpu;
  if (both)
    entry.choice.push_back(
        {target, scan::recurrentUpTo(op, where), scan::stringifySchedule(scan::Schedule::recurrent).str()});
  entry.choice.push_back({target, INT64_MAX, scan::stringifySchedule(schedules.front()).str()});
}

/// Names the kernel's files and moves its code into the bundle.
static void addKernel(Bundle &bundle, runtime::EntryInfo &entry, CompiledKernel &kernel) {
  std::string stem = entry.name + "." + kernel.info.plan.schedule + ".";
  if (kernel.info.target == runtime::Target::Cpu) {
    kernel.info.file = stem + kernel.info.isa + ".so";
    bundle.files[kernel.info.file] = std::move(kernel.object);
  } else {
    kernel.info.ptx = stem + kernel.info.chip + ".ptx";
    bundle.files[kernel.info.ptx] = std::move(kernel.ptx);
    if (!kernel.cubin.empty()) {
      kernel.info.cubin = stem + kernel.info.chip + ".cubin";
      bundle.files[kernel.info.cubin] = std::move(kernel.cubin);
    }
  }
  entry.kernels.push_back(kernel.info);
}

FailureOr<CompileResult> prism::compileModule(ModuleOp module, const CompileOptions &options) {
  auto entries = findEntries(module, options.entries);
  if (failed(entries))
    return failure();
  auto targets = parseTargets(module, options.targets);
  if (failed(targets))
    return failure();
  CompileResult result;
  result.bundle.manifest.compiler = compilerVersion();
  result.bundle.manifest.name = module.getName().value_or("model").str();
  for (func::FuncOp function : *entries) {
    scan::RecurrenceOp op;
    function.walk([&](scan::RecurrenceOp found) { op = found; });
    runtime::EntryInfo entry;
    for (const targetinfo::Target &target : *targets) {
      auto units = buildUnits(function, target, options);
      if (failed(units))
        return failure();
      SmallVector<scan::Schedule> schedules;
      for (Unit &unit : *units) {
        schedules.push_back(unit.plan.getSchedule());
        if (entry.name.empty())
          entry = describeEntry(*unit.module->getOps<tile::ProgramOp>().begin(), function.getName());
        if (options.progress)
          options.progress("entry " + unit.entry + ", schedule " +
                           scan::stringifySchedule(unit.plan.getSchedule()).str() + ", " + target.str());
        FailureOr<std::vector<CompiledKernel>> kernels = compileUnit(unit, options);
        if (failed(kernels))
          return failure();
        for (CompiledKernel &kernel : *kernels) {
          for (const std::string &note : kernel.notes)
            if (!llvm::is_contained(result.notes, note))
              result.notes.push_back(note);
          addKernel(result.bundle, entry, kernel);
        }
      }
      addChoice(entry, target.isCuda() ? runtime::Target::Cuda : runtime::Target::Cpu, op, schedules);
    }
    result.bundle.manifest.entries.push_back(std::move(entry));
  }
  return result;
}
