//===- Check.cpp - prism-compile --check and --sample ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Prism/Dialect/Scan/IR/Scan.h"
#include "prism-runtime/Npy.h"
#include "prism-runtime/Program.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <sys/resource.h>
#include <unistd.h>

using namespace mlir;
using namespace prism;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// Sizes into the options; what is not given stays.
static LogicalResult parseShape(StringRef shape, check::InputOptions &options) {
  SmallVector<StringRef> parts;
  shape.split(parts, ',', -1, /*KeepEmpty=*/false);
  auto parse = [&](StringRef text, int64_t low, int64_t &value) {
    return !text.getAsInteger(10, value) && value >= low &&
           value <= (int64_t(1) << 40);
  };
  for (StringRef part : parts) {
    auto [key, value] = part.split('=');
    bool good = false;
    if (key == "B")
      good = parse(value, 1, options.batch);
    else if (key == "T")
      good = parse(value, 0, options.steps);
    else if (key == "lengths") {
      SmallVector<StringRef> lengths;
      value.split(lengths, '+');
      good = llvm::all_of(lengths, [&](StringRef text) {
        options.lengths.push_back(0);
        return parse(text, 0, options.lengths.back());
      });
    } else {
      return usageError("--shape: unknown size '" + key +
                        "', expected B, T or lengths (as in B=2,T=65)");
    }
    if (!good)
      return usageError(Twine("--shape: expected a number ") +
                        (key == "B" ? "above 0 for " : "for ") + key +
                        ", found '" + value + "'");
  }
  return success();
}

FailureOr<explain::CallShape> prism::readCallShape(StringRef shape) {
  explain::CallShape call;
  check::InputOptions sizes;
  sizes.batch = call.sequences;
  sizes.steps = call.steps;
  if (failed(parseShape(shape, sizes)))
    return failure();
  if (!sizes.lengths.empty())
    return usageError("--shape: --explain predicts times for sequences of one "
                      "length, expected B and T, found lengths");
  return explain::CallShape{sizes.batch, sizes.steps};
}

static FailureOr<check::InputOptions> parseCall(const CallOptions &call) {
  check::InputOptions options;
  options.seed = call.seed;
  options.initialState = !call.noInitialState;
  std::optional<check::GateSet> gates = check::parseGateSet(call.gates);
  if (!gates)
    return usageError("--gates: expected mild, hard, mixed or burst, found '" +
                      call.gates + "'");
  options.gates = *gates;
  StringRef suffix = call.device;
  unsigned ordinal;
  bool isCuda = suffix.consume_front("cuda") &&
                (suffix.empty() || (suffix.consume_front(":") &&
                                    !suffix.getAsInteger(10, ordinal)));
  if (call.device != "cpu" && !isCuda)
    return usageError("--device: expected cpu or cuda:N, found '" +
                      call.device + "'");
  if (failed(parseShape(call.shape, options)))
    return failure();
  return options;
}

/// Of an entry whose batch or steps are numbers, these, unless --shape says
/// otherwise, which is then an error.
static check::InputOptions withFixedSizes(func::FuncOp entry,
                                          check::InputOptions options,
                                          StringRef shape) {
  bool isPacked = !options.lengths.empty();
  auto take = [&](StringRef key, int64_t extent, int64_t &size) {
    if (!isPacked && !ShapedType::isDynamic(extent) && !shape.contains(key))
      size = extent;
  };
  entry.walk([&](scan::RecurrenceOp op) {
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      auto type = cast<RankedTensorType>(input.getType());
      for (auto [axis, extent] :
           llvm::zip(op.getInputAxes(i), type.getShape())) {
        if (axis == 'b')
          take("B=", extent, options.batch);
        else if (axis == 't')
          take("T=", extent, options.steps);
      }
    }
  });
  return options;
}

/// What this process may allocate: the machine's memory, or less by its limit.
static double memoryLimit() {
  double bytes =
      double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE));
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    bytes = std::min(bytes, double(limit.rlim_cur));
  return bytes;
}

static LogicalResult fitsMemory(const runtime::EntryInfo &info,
                                const check::InputOptions &options) {
  double needed = check::bytesOfCheck(info, options), there = memoryLimit();
  if (needed <= there)
    return success();
  constexpr double gib = 1024.0 * 1024.0 * 1024.0;
  return usageError(llvm::formatv("--shape: the arrays of entry '{0}' need "
                                  "{1:f1} GiB, there are {2:f1}; give smaller "
                                  "sizes",
                                  info.name, needed / gib, there / gib)
                        .str());
}

/// Says which decays --gates leaves as they are: their log-gates are computed,
/// of arguments that are drawn as all others.
static void noteGates(func::FuncOp entry, const check::InputOptions &options) {
  check::GateReach reach = check::reachOfGates(entry);
  bool reachesAll = reach.drawn == reach.decays && reach.decays > 0;
  if (options.gates == check::GateSet::mild || reachesAll)
    return;
  llvm::errs() << "prism-compile: note: --gates ";
  if (reach.drawn == 0)
    llvm::errs() << "changes nothing of entry '" << entry.getName() << "', ";
  else
    llvm::errs() << "reaches " << reach.drawn << " of the " << reach.decays
                 << " decays of entry '" << entry.getName() << "', ";
  llvm::errs() << (reach.decays == 0  ? "which has no decays"
                   : reach.drawn == 0 ? "whose log-gates are computed in the "
                                        "step and are no arguments"
                                      : "the other log-gates are computed in "
                                        "the step and are no arguments")
               << "\n";
}

//===----------------------------------------------------------------------===//
// --check
//===----------------------------------------------------------------------===//

static LogicalResult checkEntry(ModuleOp module, func::FuncOp entry,
                                const runtime::Program &program,
                                const runtime::EntryInfo &info,
                                const check::InputOptions &given,
                                const CallOptions &call) {
  check::InputOptions options = withFixedSizes(entry, given, call.shape);
  if (failed(fitsMemory(info, options)))
    return failure();
  noteGates(entry, options);
  check::HostArrays inputs = check::makeInputs(entry, info, options);
  check::HostArrays blank;
  {
    runtime::Bindings given = check::bindings(inputs, blank);
    runtime::Result<runtime::Sizes> sizes = runtime::inferSizes(info, given);
    if (!sizes)
      return module.emitError(sizes.error());
    blank = check::makeOutputs(info, *sizes);
  }
  FailureOr<check::HostArrays> references =
      check::runOracle(entry, info, inputs, blank);
  if (failed(references))
    return failure();
  runtime::DType io = runtime::DType::F32;
  for (const runtime::ArgumentInfo &argument : info.arguments)
    if (argument.role == runtime::Role::Output)
      io = argument.dtype;
  bool passed = true, any = false;
  check::Device device{call.device, call.threads};
  for (const runtime::KernelInfo &kernel : info.kernels) {
    if (!check::canPlay(kernel, device))
      continue;
    check::HostArrays outputs = blank;
    if (runtime::Status status =
            check::play(program, info.name, kernel, inputs, outputs, device);
        !status)
      return module.emitError(status.error());
    any = true;
    for (const check::TensorError &error :
         check::compare(info, outputs, *references, check::errorLimit(io))) {
      llvm::outs() << llvm::formatv(
          "{0} {1} {2,-9} chunk {3,-3} value block {4,-3} {5,-12} rms {6:e2}, "
          "worst head {7:e2}, limit {8:e1}: {9}\n",
          info.name, device.isCuda() ? kernel.chip : kernel.isa,
          kernel.plan.schedule, kernel.plan.chunk, kernel.plan.valueBlock,
          error.name, error.ratio, error.worstHead, error.limit,
          error.passed ? "ok" : "WRONG");
      passed &= error.passed;
    }
  }
  if (!any)
    return usageError("--check: no kernel of entry '" + info.name +
                      "' runs on " + call.device +
                      "; add its target (--target)");
  if (!passed)
    return module.emitError("entry '")
           << info.name << "' differs from the float64 recurrence";
  return success();
}

LogicalResult prism::checkEntries(ModuleOp module,
                                  const CompileOptions &options,
                                  const CallOptions &call) {
  FailureOr<check::InputOptions> inputs = parseCall(call);
  // The recurrences as they were written: compiling rewrites what it raises.
  OwningOpRef<ModuleOp> written = module.clone();
  auto entries = findEntries(*written, options.entries);
  if (failed(inputs) || failed(entries))
    return failure();
  FailureOr<CompileResult> result = compileModule(module, options);
  if (failed(result))
    return failure();
  SmallString<128> folder;
  if (std::error_code code =
          llvm::sys::fs::createUniqueDirectory("prism-check", folder))
    return module.emitError("cannot make a temporary folder: ")
           << code.message();
  llvm::scope_exit cleanUp([&] { llvm::sys::fs::remove_directories(folder); });
  if (llvm::Error error = writeBundle(result->bundle, folder))
    return module.emitError(llvm::toString(std::move(error)));
  runtime::Result<runtime::Program> program =
      runtime::Program::load(folder.str().str());
  if (!program)
    return module.emitError(program.error());
  LogicalResult status = success();
  for (auto [entry, info] :
       llvm::zip(*entries, result->bundle.manifest.entries))
    if (failed(checkEntry(module, entry, *program, info, *inputs, call)))
      status = failure();
  return status;
}

//===----------------------------------------------------------------------===//
// --sample
//===----------------------------------------------------------------------===//

LogicalResult prism::writeSamples(ModuleOp module,
                                  const CompileOptions &options,
                                  const CallOptions &call) {
  FailureOr<check::InputOptions> inputOptions = parseCall(call);
  auto entries = findEntries(module, options.entries);
  auto targets = parseTargets(module, options.targets);
  if (failed(inputOptions) || failed(entries) || failed(targets))
    return failure();
  // The recurrence as it was written: plans are made of what was raised.
  OwningOpRef<ModuleOp> planned = module.clone();
  auto copies = findEntries(*planned, options.entries);
  if (failed(copies))
    return failure();
  func::FuncOp entry = entries->front();
  if (failed(checkNames(entry)))
    return failure();
  auto units = buildUnits(copies->front(), targets->front(), options);
  if (failed(units))
    return failure();
  runtime::EntryInfo info =
      describeEntry(*units->front().module->getOps<tile::ProgramOp>().begin(),
                    entry.getName());
  *inputOptions = withFixedSizes(entry, *inputOptions, call.shape);
  if (failed(fitsMemory(info, *inputOptions)))
    return failure();
  noteGates(entry, *inputOptions);
  check::HostArrays inputs = check::makeInputs(entry, info, *inputOptions),
                    outputs;
  runtime::Result<runtime::Sizes> sizes =
      runtime::inferSizes(info, check::bindings(inputs, outputs));
  if (!sizes)
    return module.emitError(sizes.error());
  outputs = check::makeOutputs(info, *sizes);
  FailureOr<check::HostArrays> references =
      check::runOracle(entry, info, inputs, outputs);
  if (failed(references))
    return failure();
  if (std::error_code code =
          llvm::sys::fs::create_directories(call.sampleFolder))
    return module.emitError("cannot make '")
           << call.sampleFolder << "': " << code.message();
  auto write = [&](const check::HostArray &array,
                   const std::string &name) -> LogicalResult {
    std::string path = call.sampleFolder + "/" + name + ".npy";
    runtime::Result<runtime::NpyWriter> writer = runtime::NpyWriter::open(path);
    if (!writer)
      return module.emitError(writer.error());
    runtime::Status status =
        writer->write(array.dtype, array.shape, array.bytes.data());
    if (status)
      status = writer->commit();
    return status ? success() : LogicalResult(module.emitError(status.error()));
  };
  for (auto &[name, array] : inputs)
    if (failed(write(array, name)))
      return failure();
  for (auto &[name, array] : *references) {
    check::HostArray exact = array;
    exact.dtype = runtime::DType::F64;
    exact.encode();
    if (failed(write(exact, name + ".expected")))
      return failure();
  }
  return success();
}
