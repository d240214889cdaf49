//===- Compile.cpp - All units of a module, bundled -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Compiler/Compiler.h"
#include "Prism/Dialect/Scan/Transforms/Passes.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"
#include <future>

using namespace mlir;
using namespace prism;

std::string prism::compilerVersion() {
  return "prism 0.1.0 (LLVM " LLVM_VERSION_STRING ")";
}

/// Rows of the decision table for one target: short sequences go recurrent.
static void addChoice(runtime::EntryInfo &entry, runtime::Target target,
                      scan::RecurrenceOp op, ArrayRef<scan::Schedule> schedules,
                      bool tensorCores) {
  // Several chips or levels share one row.
  for (const runtime::ChoiceRow &row : entry.choice)
    if (row.target == target)
      return;
  bool both = schedules.size() > 1;
  auto where = target == runtime::Target::Cuda ? scan::PlanTarget::cuda
                                               : scan::PlanTarget::cpu;
  if (both) {
    int64_t upTo = scan::recurrentUpTo(op, where, tensorCores);
    entry.choice.push_back(
        {target, upTo,
         scan::stringifySchedule(scan::Schedule::recurrent).str()});
    if (upTo == INT64_MAX)
      return; // at any length
  }
  entry.choice.push_back(
      {target, INT64_MAX, scan::stringifySchedule(schedules.front()).str()});
}

namespace {
/// Compiles the units of a module, each different program once, and makes
/// machine code beside the lowering of the next unit.
class BundleBuilder {
public:
  BundleBuilder(ModuleOp module, const CompileOptions &options)
      : module(module), options(options) {}

  LogicalResult startForGPU(func::FuncOp function,
                            ArrayRef<targetinfo::Target> targets);
  LogicalResult addEntry(func::FuncOp function,
                         ArrayRef<targetinfo::Target> targets);
  FailureOr<CompileResult> finish();

private:
  /// Kernels of one program on one target, and who is named after it.
  struct Made {
    std::vector<CompiledKernel> kernels;
    std::string stem; // of file names
    Location loc;     // of the entry
    std::vector<std::future<std::string>> errors;

    Made(std::vector<CompiledKernel> kernels, std::string stem, Location loc)
        : kernels(std::move(kernels)), stem(std::move(stem)), loc(loc) {}
  };
  FailureOr<Made *> make(const Unit &unit);
  static std::string keyOf(const Unit &unit);
  LogicalResult finishKernels();

  ModuleOp module;
  const CompileOptions &options;
  std::map<std::string, std::unique_ptr<Made>> made;
  std::vector<Made *> order;
  /// Per entry: its description and the kernels it uses.
  std::vector<std::pair<runtime::EntryInfo, std::vector<Made *>>> entries;
};
} // namespace

/// The program's text without its name: equal programs are compiled once (the
/// decode entry's is often the forward's recurrent one).
std::string BundleBuilder::keyOf(const Unit &unit) {
  OwningOpRef<ModuleOp> copy =
      (unit.roles ? unit.roles : unit.module).get().clone();
  tile::ProgramOp program = *copy->getOps<tile::ProgramOp>().begin();
  program.setSymName("program");
  program->removeAttr(scan::kEntryAttr);
  // A chunk form of chunk 1 is the recurrent one's program, but a kernel names
  // the schedule it stands for.
  std::string key = unit.target.str() + " " +
                    scan::stringifySchedule(unit.plan.getSchedule()).str() +
                    "\n";
  llvm::raw_string_ostream(key) << *copy;
  return key;
}

FailureOr<BundleBuilder::Made *> BundleBuilder::make(const Unit &unit) {
  std::unique_ptr<Made> &entry = made[keyOf(unit)];
  if (entry)
    return entry.get();
  if (options.progress)
    options.progress("entry " + unit.entry + ", schedule " +
                     scan::stringifySchedule(unit.plan.getSchedule()).str() +
                     ", " + unit.target.str());
  FailureOr<std::vector<CompiledKernel>> kernels = compileUnit(unit);
  if (failed(kernels))
    return failure();
  entry = std::make_unique<Made>(
      std::move(*kernels),
      unit.entry + "." +
          scan::stringifySchedule(unit.plan.getSchedule()).str() + ".",
      unit.module.get().getLoc());
  // Where no thread is to be had it is done when asked for.
  for (CompiledKernel &kernel : entry->kernels)
    entry->errors.push_back(
        std::async(std::launch::async | std::launch::deferred, finishKernel,
                   std::ref(kernel), options.assemble));
  order.push_back(entry.get());
  return entry.get();
}

/// Makes the entry's GPU kernels; addEntry finds them made.
LogicalResult BundleBuilder::startForGPU(func::FuncOp function,
                                         ArrayRef<targetinfo::Target> targets) {
  for (const targetinfo::Target &target : targets) {
    if (!target.isCuda())
      continue;
    auto units = buildUnits(function, target, options);
    if (failed(units))
      return failure();
    for (const Unit &unit : *units)
      if (failed(make(unit)))
        return failure();
  }
  return success();
}

LogicalResult BundleBuilder::addEntry(func::FuncOp function,
                                      ArrayRef<targetinfo::Target> targets) {
  scan::RecurrenceOp op;
  function.walk([&](scan::RecurrenceOp found) { op = found; });
  runtime::EntryInfo info;
  std::vector<Made *> used;
  for (const targetinfo::Target &target : targets) {
    auto units = buildUnits(function, target, options);
    if (failed(units))
      return failure();
    SmallVector<scan::Schedule> schedules;
    bool tensorCores = false;
    for (Unit &unit : *units) {
      schedules.push_back(unit.plan.getSchedule());
      tensorCores |= bool(unit.roles);
      if (info.name.empty())
        info = describeEntry(*unit.module->getOps<tile::ProgramOp>().begin(),
                             function.getName());
      FailureOr<Made *> kernels = make(unit);
      if (failed(kernels))
        return failure();
      used.push_back(*kernels);
    }
    addChoice(info,
              target.isCuda() ? runtime::Target::Cuda : runtime::Target::Cpu,
              op, schedules, tensorCores);
  }
  entries.emplace_back(std::move(info), std::move(used));
  return success();
}

LogicalResult BundleBuilder::finishKernels() {
  LogicalResult status = success();
  for (Made *made : order)
    for (std::future<std::string> &pending : made->errors)
      if (std::string error = pending.get(); !error.empty())
        status = emitError(made->loc, error);
  return status;
}

FailureOr<CompileResult> BundleBuilder::finish() {
  if (failed(finishKernels()))
    return failure();
  CompileResult result;
  Bundle &bundle = result.bundle;
  bundle.manifest.compiler = compilerVersion();
  bundle.manifest.name = module.getName().value_or("model").str();
  for (Made *made : order)
    for (CompiledKernel &kernel : made->kernels) {
      for (const std::string &note : kernel.notes)
        if (!llvm::is_contained(result.notes, note))
          result.notes.push_back(note);
      if (kernel.info.target == runtime::Target::Cpu) {
        kernel.info.file = made->stem + kernel.info.isa + ".so";
        bundle.files[kernel.info.file] = std::move(kernel.object);
        continue;
      }
      kernel.info.ptx = made->stem + kernel.info.chip + ".ptx";
      bundle.files[kernel.info.ptx] = std::move(kernel.ptx);
      if (kernel.cubin.empty())
        continue;
      kernel.info.cubin = made->stem + kernel.info.chip + ".cubin";
      bundle.files[kernel.info.cubin] = std::move(kernel.cubin);
    }
  for (auto &[info, used] : entries) {
    for (Made *made : used)
      for (CompiledKernel &kernel : made->kernels)
        info.kernels.push_back(kernel.info);
    bundle.manifest.entries.push_back(std::move(info));
  }
  return result;
}

FailureOr<CompileResult> prism::compileModule(ModuleOp module,
                                              const CompileOptions &options) {
  auto functions = findEntries(module, options.entries);
  if (failed(functions))
    return failure();
  auto targets = parseTargets(module, options.targets);
  if (failed(targets))
    return failure();
  BundleBuilder builder(module, options);
  // GPU programs first: they take longest, and ptxas is a process of its own.
  for (func::FuncOp function : *functions)
    if (failed(builder.startForGPU(function, *targets)))
      return failure();
  for (func::FuncOp function : *functions)
    if (failed(builder.addEntry(function, *targets)))
      return failure();
  return builder.finish();
}
