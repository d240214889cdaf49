//===- prism-calibrate.cpp - The costs of this CPU ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "Prism/Registration/Registration.h"
#include "Prism/TargetInfo/TargetInfo.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <chrono>

using namespace mlir;
using namespace prism;
namespace cl = llvm::cl;

static cl::OptionCategory category("prism-calibrate");
static cl::opt<std::string>
    output("o", cl::desc("calibration file to write (default: print it)"),
           cl::value_desc("file"), cl::cat(category));
static cl::list<std::string>
    levels("level",
           cl::desc("x86-64-v3, x86-64-v4 (default: what this CPU runs)"),
           cl::value_desc("level,..."), cl::CommaSeparated, cl::cat(category));
static cl::opt<unsigned>
    repeats("repeats",
            cl::desc("runs of each kernel, of which the fastest counts, before "
                     "it is looked at whether more of them are faster"),
            cl::init(40), cl::cat(category));
static cl::opt<bool> list("list",
                          cl::desc("print the kernels that would be timed"),
                          cl::cat(category));

static constexpr const char *overview =
    R"(Measures what the CPU kernels' work costs on one core of this machine: some
140 small kernels are compiled and timed for each level, in half a minute to a
minute each: until none becomes faster. Other programs should rest meanwhile.

  prism-calibrate -o cpu.json
  prism-compile MODEL.json --calibration=cpu.json
)";

static int fail(const llvm::Twine &message) {
  llvm::errs() << "prism-calibrate: error: " << message << "\n";
  return 1;
}

static void progress(const llvm::Twine &what) {
  if (llvm::sys::Process::StandardErrIsDisplayed())
    llvm::errs() << "prism-calibrate: " << what << "\n";
}

namespace {
struct LevelResult {
  targetinfo::CPUCosts costs;
  double medianError = 0, largestError = 0;
  std::string worst; // kernel
};
} // namespace

/// Times all kernels in turn until turns bring nothing new: each sees the
/// machine at several moments, and other programs come and go.
static LogicalResult
timeKernels(std::vector<std::unique_ptr<TimedKernel>> &kernels) {
  auto player = runtime::CpuPlayer::create(1);
  if (!player)
    return failure(fail(player.error()));
  std::vector<char> sweep(64 << 20, 0);
  constexpr unsigned kTurns = 4, kQuietTurns = 4, kMostTurns = 40;
  constexpr double kFaster = 0.98;
  unsigned quiet = 0;
  for (unsigned turn = 0;
       turn < kMostTurns && (turn < kTurns || quiet < kQuietTurns); ++turn) {
    ++quiet;
    for (auto &kernel : kernels) {
      double before = kernel->nanoseconds();
      for (unsigned i = 0; i < llvm::divideCeil(repeats, kTurns) + 1; ++i)
        if (failed(kernel->run(**player, sweep)))
          return failure();
      if (kernel->nanoseconds() < kFaster * before)
        quiet = 0;
    }
  }
  if (quiet < kQuietTurns)
    progress("still faster at times after " + llvm::Twine(kMostTurns) +
             " turns: other programs take turns with it");
  return success();
}

static FailureOr<LevelResult> calibrateLevel(StringRef level,
                                             MLIRContext &context) {
  progress("compiling for " + level);
  std::vector<std::unique_ptr<TimedKernel>> kernels;
  for (const KernelChoice &choice : calibrationKernels()) {
    kernels.push_back(TimedKernel::create(choice, level, context));
    if (!kernels.back())
      return failure();
  }
  progress("timing " + llvm::Twine(kernels.size()) + " kernels for " + level);
  if (failed(timeKernels(kernels)))
    return failure();
  std::vector<targetinfo::CPUSample> samples;
  for (auto &kernel : kernels)
    samples.push_back({kernel->counts(), kernel->nanoseconds()});
  LevelResult result;
  result.costs.level = level.str();
  result.costs.ns = targetinfo::fitCPUCosts(samples);
  std::vector<double> errors;
  for (auto [kernel, sample] : llvm::zip(kernels, samples)) {
    double error = std::abs(result.costs.timeOf(sample.counts) / sample.ns - 1);
    if (error > result.largestError)
      result.largestError = error, result.worst = kernel->name();
    errors.push_back(error);
  }
  llvm::sort(errors);
  result.medianError = errors[errors.size() / 2];
  return result;
}

static std::string print(const MachineFacts &facts,
                         ArrayRef<LevelResult> results) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os, 2);
  // Four digits: a fit knows no more.
  auto number = [&](StringRef name, double value) {
    json.attributeBegin(name);
    json.rawValue(llvm::formatv("{0}", llvm::format("%.4g", value)).str());
    json.attributeEnd();
  };
  json.object([&] {
    json.attribute("prism_calibration", 1);
    json.attributeObject("machine", [&] {
      json.attribute("cpu", facts.cpu);
      json.attribute("amx", facts.amx);
      json.attributeObject("copy_bytes_per_ns", [&] {
        number("L1", facts.copyL1);
        number("L2", facts.copyL2);
        number("memory", facts.copyMemory);
      });
      json.attributeObject("error_of_the_fit", [&] {
        for (const LevelResult &result : results)
          json.attributeObject(result.costs.level, [&] {
            number("median", result.medianError);
            number("largest", result.largestError);
            json.attribute("worst_kernel", result.worst);
          });
      });
    });
    json.attribute("cache_bytes", facts.cacheBytes);
    json.attributeObject("levels", [&] {
      for (const LevelResult &result : results)
        json.attributeObject(result.costs.level, [&] {
          for (auto [name, ns] :
               llvm::zip(targetinfo::cpuWorkNames(), result.costs.ns))
            number(name, ns);
        });
    });
  });
  return text + "\n";
}

/// The levels asked for, or those that this CPU runs.
static int chooseLevels(std::vector<std::string> &chosen) {
  int host = runtime::hostIsaLevel();
  for (const std::string &level : levels) {
    if (!llvm::is_contained(targetinfo::cpuLevelNames(), level))
      return fail("--level: expected x86-64-v3 or x86-64-v4, found '" + level +
                  "'");
    if (runtime::isaLevel(level) > host)
      return fail("--level: this CPU does not run " + level);
    if (!llvm::is_contained(chosen, level))
      chosen.push_back(level);
  }
  if (levels.empty())
    for (StringRef level : targetinfo::cpuLevelNames())
      if (runtime::isaLevel(level.str()) <= host)
        chosen.push_back(level.str());
  return chosen.empty() ? fail("this CPU runs none of the levels") : 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM initLLVM(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter(
      [](llvm::raw_ostream &os) { os << compilerVersion() << "\n"; });
  cl::ParseCommandLineOptions(argc, argv, overview);
  if (list) {
    for (const KernelChoice &choice : calibrationKernels())
      llvm::outs() << choice.name << ", " << choice.steps << " steps\n";
    return 0;
  }
  // Before all is measured.
  StringRef folder = llvm::sys::path::parent_path(output);
  if (!output.empty() && output != "-" &&
      (llvm::sys::fs::is_directory(output) ||
       llvm::sys::fs::access(folder.empty() ? "." : folder,
                             llvm::sys::fs::AccessMode::Write)))
    return fail("-o: cannot write '" + output + "'");
  if (repeats == 0)
    return fail("--repeats: expected 1 or more, found 0");
  std::vector<std::string> chosen;
  if (int status = chooseLevels(chosen))
    return status;
  DialectRegistry registry;
  registerPrismDialects(registry);
  std::vector<LevelResult> results;
  for (const std::string &level : chosen) {
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    FailureOr<LevelResult> result = calibrateLevel(level, context);
    if (failed(result))
      return 1;
    llvm::errs() << llvm::formatv("{0}: error of the fit {1:F1} % in the "
                                  "median, {2:F1} % at most ({3})\n",
                                  level, 100 * result->medianError,
                                  100 * result->largestError, result->worst);
    results.push_back(std::move(*result));
  }
  progress("measuring copies");
  std::string text = print(measureMachine(), results);
  if (output.empty() || output == "-") {
    llvm::outs() << text;
    return 0;
  }
  if (llvm::Error error = writeFileAtomically(output, text))
    return fail(llvm::toString(std::move(error)));
  llvm::outs() << "wrote " << output << "\n";
  return 0;
}
