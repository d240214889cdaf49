//===- Compile.cpp - All units of a module, bundled -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Choice.h"
#include "Machine.h"
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

static std::string scheduleName(const Unit &unit) {
  return scan::stringifySchedule(unit.plan.getSchedule()).str();
}

int64_t prism::stepsTakenRecurrent(scan::RecurrenceOp op, ArrayRef<Unit> units,
                                   const CompileOptions &options) {
  const Unit &first = units.front();
  if (units.back().plan.getSchedule() == first.plan.getSchedule())
    return 0;
  return scan::recurrentUpTo(op, first.plan, planMachine(first.target, options),
                             /*tensorCores=*/bool(first.roles));
}

static bool isSame(const runtime::ChoiceRow &a, const runtime::ChoiceRow &b) {
  return a.target == b.target && a.maxSteps == b.maxSteps &&
         a.maxHeads == b.maxHeads && a.schedule == b.schedule &&
         a.valueBlock == b.valueBlock && a.segments == b.segments &&
         a.prepareBlocks == b.prepareBlocks;
}

/// The rows of the target named first serve all chips, or levels of a CPU; one
/// that is better served by others has its own, before them.
static void addChoice(runtime::EntryInfo &entry, scan::RecurrenceOp op,
                      ArrayRef<Unit> units, const CompileOptions &options) {
  std::vector<runtime::ChoiceRow> rows = makeChoice(op, units, options), shared;
  for (const runtime::ChoiceRow &row : entry.choice)
    if (row.target == rows.front().target && row.machine.empty())
      shared.push_back(row);
  if (shared.empty()) {
    entry.choice.insert(entry.choice.end(), rows.begin(), rows.end());
    return;
  }
  if (llvm::equal(shared, rows, isSame))
    return;
  std::vector<runtime::ChoiceRow> own;
  for (const std::string &machine : machinesOf(units.front().target))
    for (runtime::ChoiceRow row : rows) {
      row.machine = machine;
      own.push_back(row);
    }
  entry.choice.insert(entry.choice.begin(), own.begin(), own.end());
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
  void addFiles(CompiledKernel &kernel, const std::string &stem,
                CompileResult &result);
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
  std::string key = unit.target.str() + " " + scheduleName(unit) + "\n";
  llvm::raw_string_ostream(key) << *copy;
  return key;
}

FailureOr<BundleBuilder::Made *> BundleBuilder::make(const Unit &unit) {
  std::unique_ptr<Made> &entry = made[keyOf(unit)];
  if (entry)
    return entry.get();
  if (options.progress)
    options.progress("entry " + unit.entry + ", schedule " +
                     scheduleName(unit) + ", " + unit.target.str());
  FailureOr<std::vector<CompiledKernel>> kernels = compileUnit(unit);
  if (failed(kernels))
    return failure();
  entry = std::make_unique<Made>(
      std::move(*kernels),
      unit.entry + "." + scheduleName(unit) + "." +
          (unit.variant.empty() ? "" : unit.variant + "."),
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
    for (Unit &unit : *units) {
      if (info.name.empty())
        info = describeEntry(*unit.module->getOps<tile::ProgramOp>().begin(),
                             function.getName());
      FailureOr<Made *> kernels = make(unit);
      if (failed(kernels))
        return failure();
      used.push_back(*kernels);
    }
    addChoice(info, op, *units, options);
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

/// Names a kernel's files, and those of what is launched before it.
void BundleBuilder::addFiles(CompiledKernel &kernel, const std::string &stem,
                             CompileResult &result) {
  for (const std::string &note : kernel.notes)
    if (!llvm::is_contained(result.notes, note))
      result.notes.push_back(note);
  std::map<std::string, std::string> &files = result.bundle.files;
  if (kernel.info.target == runtime::Target::Cpu) {
    kernel.info.file = stem + kernel.info.isa + ".so";
    files[kernel.info.file] = std::move(kernel.object);
  } else {
    kernel.info.ptx = stem + kernel.info.chip + ".ptx";
    files[kernel.info.ptx] = std::move(kernel.ptx);
    if (!kernel.cubin.empty()) {
      kernel.info.cubin = stem + kernel.info.chip + ".cubin";
      files[kernel.info.cubin] = std::move(kernel.cubin);
    }
  }
  // Of the parts' names the last word is theirs.
  for (CompiledKernel &before : kernel.before) {
    StringRef part = StringRef(before.info.symbol).rsplit('_').second;
    addFiles(before, stem + part.str() + ".", result);
    kernel.info.before.push_back(before.info);
  }
}

FailureOr<CompileResult> BundleBuilder::finish() {
  if (failed(finishKernels()))
    return failure();
  CompileResult result;
  Bundle &bundle = result.bundle;
  bundle.manifest.compiler = compilerVersion();
  bundle.manifest.name = module.getName().value_or("model").str();
  for (Made *made : order)
    for (CompiledKernel &kernel : made->kernels)
      addFiles(kernel, made->stem, result);
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
  for (func::FuncOp function : *functions)
    if (failed(checkNames(function)))
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
