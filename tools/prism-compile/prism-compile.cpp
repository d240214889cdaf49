//===- prism-compile.cpp - From a model to kernels ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Prism/Compiler/Explain.h"
#include "Prism/Driver/Driver.h"
#include "Prism/Registration/Registration.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace prism;
namespace cl = llvm::cl;

static cl::OptionCategory category("prism-compile");
static cl::opt<std::string>
    input(cl::Positional, cl::desc("SPEC.json|MODULE.mlir"), cl::cat(category));
static cl::opt<std::string> output(
    "o",
    cl::desc(
        "bundle folder, or file of a stage (default: NAME.bundle, or stdout)"),
    cl::value_desc("path"), cl::cat(category));
static cl::list<std::string> targets(
    "target",
    cl::desc("cpu, cpu:x86-64-v4, cuda:sm_90a, cuda:sm_90a{ptx=8.7,smem=99K}; "
             "several with commas (default: the spec's, else cpu)"),
    cl::value_desc("target,..."), cl::cat(category));
static cl::list<std::string>
    entries("entry", cl::desc("entries to compile (default: all of them)"),
            cl::value_desc("forward,decode"), cl::CommaSeparated,
            cl::cat(category));
static cl::opt<std::string> emit(
    "emit",
    cl::desc("stage to print: scan, plan, tile, llvm, ptx, cubin, obj or "
             "bundle; of tile, llvm and ptx every program and launch, under a "
             "comment with its kernel's name"),
    cl::init("bundle"), cl::value_desc("stage"), cl::cat(category));
static cl::opt<std::string>
    plan("plan", cl::desc("JSON file with a plan, for all entries or by entry"),
         cl::value_desc("file"), cl::cat(category));
static cl::opt<std::string>
    calibration("calibration",
                cl::desc("costs of the CPU to choose chunks for, a file that "
                         "prism-calibrate wrote (default: a table)"),
                cl::value_desc("file"), cl::cat(category));
static cl::opt<bool> expand(
    "expand",
    cl::desc("print the spec written out: no family, all defaults in place"),
    cl::cat(category));
static cl::opt<bool>
    listFamilies("list-families",
                 cl::desc("print the families that a spec may name"),
                 cl::cat(category));
static cl::opt<bool> explainFlag(
    "explain",
    cl::desc("say what was recognised, what was chosen, and what it costs"),
    cl::cat(category));
static cl::opt<std::string> explainHtml(
    "explain-html",
    cl::desc("write the same as one HTML page, with pictures of the chain and "
             "the roofline, and the tile programs"),
    cl::value_desc("file"), cl::cat(category));
static cl::opt<bool>
    checkFlag("check",
              cl::desc("run the compiled entries on random inputs and compare "
                       "with the float64 recurrence"),
              cl::cat(category));
static cl::opt<std::string>
    shape("shape",
          cl::desc("of --check and --sample: B=2,T=65, or lengths=3+0+62 for "
                   "packed sequences; of --explain: the call whose time is "
                   "predicted"),
          cl::value_desc("B=..,T=.."), cl::cat(category));
static cl::opt<std::string>
    gates("gates",
          cl::desc("log-gates of --check: mild, hard (-20), mixed (also -88, "
                   "-inf), burst"),
          cl::init("mild"), cl::cat(category));
static cl::opt<std::string> device("device",
                                   cl::desc("of --check: cpu or cuda:0"),
                                   cl::init("cpu"), cl::cat(category));
static cl::opt<uint64_t> seed("seed", cl::desc("of --check and --sample"),
                              cl::init(1), cl::cat(category));
static cl::opt<unsigned>
    threads("cpu-threads", cl::desc("of --check on the CPU (default: all)"),
            cl::init(0), cl::cat(category));
static cl::opt<bool>
    noState("no-initial-state",
            cl::desc("--check and --sample without an initial state"),
            cl::cat(category));
static cl::opt<std::string>
    sample("sample",
           cl::desc("write random inputs and the float64 outputs "
                    "(NAME.expected.npy) to a folder, which is made, as that "
                    "of a bundle is, with those above it"),
           cl::value_desc("dir"), cl::cat(category));
static cl::opt<bool> evaluate(
    "evaluate",
    cl::desc("run an entry in float64, op by op, on arrays of yours: what it "
             "means, of recurrences and prefix scans alike"),
    cl::cat(category));
static cl::list<std::string>
    inFiles("in", cl::desc("of --evaluate: an argument's .npy file"),
            cl::value_desc("name=file"), cl::cat(category));
static cl::list<std::string>
    outFiles("out", cl::desc("of --evaluate: a .npy file for a result, f64"),
             cl::value_desc("name=file"), cl::cat(category));
static cl::opt<bool>
    serial("serial",
           cl::desc("take a recurrence that is not affine in its states, or "
                    "whose ops have no tile form, step by step, on the CPU "
                    "(else it is an error)"),
           cl::cat(category));
static cl::opt<bool> noAssemble("no-assemble",
                                cl::desc("leave PTX unassembled"),
                                cl::cat(category));

static constexpr const char *overview =
    R"(Compiles a prefix-scannable sequence model to kernels.

  prism-compile examples/gated_deltanet.json -o gdn --target=cpu,cuda:sm_90a
  prism-compile examples/prism_l2.json --check --shape B=2,T=1000
  prism-compile examples/gated_deltanet.json --emit=tile
  prism-compile examples/prism_l2.json --explain --emit=plan
  prism-compile model.mlir --evaluate --in x=x.npy --out y=y.npy
  prism-compile examples/prism_l2.json --explain-html=prism_l2.html
  prism-compile --list-families
)";

LogicalResult prism::usageError(const llvm::Twine &message) {
  llvm::errs() << "prism-compile: error: " << message << "\n";
  return failure();
}

static int fail(const llvm::Twine &message) {
  return failed(usageError(message));
}

/// An option that another one would leave without effect, or "".
static std::string unusedOption() {
  std::pair<const char *, bool> given[] = {
      {"--check", checkFlag},
      {"--explain", explainFlag},
      {"--explain-html", !explainHtml.empty()},
      {"--sample", !sample.empty()},
      {"--emit", emit.getNumOccurrences() > 0},
      {"-o", !output.empty()},
      {"--expand", expand},
      {"--plan", !plan.empty()},
      {"--calibration", !calibration.empty()},
      {"--target", !targets.empty()},
      {"--serial", serial},
      {"--evaluate", evaluate},
      {"--shape", shape.getNumOccurrences() > 0},
      {"--gates", gates.getNumOccurrences() > 0},
      {"--seed", seed.getNumOccurrences() > 0},
      {"--device", device.getNumOccurrences() > 0},
      {"--cpu-threads", threads.getNumOccurrences() > 0},
      {"--no-initial-state", noState},
      {"SPEC.json", !input.empty()}};
  auto first = [&](ArrayRef<StringRef> names, const char *reason) {
    for (auto [name, isGiven] : given)
      if (isGiven && llvm::is_contained(names, name))
        return std::string(reason) + " and takes no " + name;
    return std::string();
  };
  if (listFamilies)
    return first({"--check", "--explain", "--explain-html", "--sample",
                  "--emit", "-o", "--expand", "SPEC.json"},
                 "--list-families prints names");
  if (expand)
    return first({"--check", "--explain", "--explain-html", "--sample",
                  "--emit", "-o", "--evaluate", "--plan", "--calibration",
                  "--target", "--serial", "--shape", "--gates", "--seed",
                  "--device", "--cpu-threads", "--no-initial-state"},
                 "--expand prints the spec");
  if (evaluate)
    return first({"--check", "--explain", "--explain-html", "--sample",
                  "--emit", "-o", "--plan", "--calibration", "--target",
                  "--serial", "--shape", "--gates", "--seed", "--device",
                  "--cpu-threads", "--no-initial-state"},
                 "--evaluate compiles nothing");
  if (!inFiles.empty() || !outFiles.empty())
    return "--in and --out are arguments of --evaluate, which is not given";
  if (checkFlag)
    return first({"--emit", "-o"}, "--check writes no kernels");
  bool explains = explainFlag || !explainHtml.empty();
  if (sample.empty() && explains)
    return first({"--gates", "--seed", "--device", "--cpu-threads",
                  "--no-initial-state"},
                 "--explain runs nothing");
  if (sample.empty())
    return first({"--shape", "--gates", "--seed", "--device", "--cpu-threads",
                  "--no-initial-state"},
                 "without --check or --sample nothing is run; prism-compile "
                 "compiles");
  return "";
}

/// An option with a value that is empty, or "".
static std::string emptyOption() {
  auto check = [](const auto &option, bool isEmpty, const char *expected) {
    if (!option.getNumOccurrences() || !isEmpty)
      return std::string();
    return ((option.ArgStr.size() > 1 ? "--" : "-") + option.ArgStr +
            ": expected " + expected + ", found an empty value")
        .str();
  };
  for (auto [option, expected] :
       {std::pair(&output, "a path"), std::pair(&plan, "a file"),
        std::pair(&calibration, "a file"), std::pair(&explainHtml, "a file"),
        std::pair(&sample, "a folder"), std::pair(&shape, "B=..,T=..")})
    if (std::string fault = check(*option, option->empty(), expected);
        !fault.empty())
      return fault;
  return check(entries, llvm::is_contained(entries, ""), "names of entries");
}

/// A file that would be written over what is read, or over another one; or "".
static std::string overwrites() {
  std::vector<std::pair<const char *, std::string>> read = {
      {"the input", input}, {"--plan", plan}, {"--calibration", calibration}};
  auto check = [&](const char *option, const std::string &path) {
    for (auto &[what, other] : read)
      if (!path.empty() && path != "-" && !other.empty() &&
          (path == other || llvm::sys::fs::equivalent(path, other)))
        return std::string(option) + ": '" + path + "' is " + what +
               "; name another file";
    return std::string();
  };
  std::string fault = check("--explain-html", explainHtml);
  read.push_back({"--explain-html", explainHtml});
  return fault.empty() ? check("-o", output) : fault;
}

/// The spec's own messages already say where; the context has printed others.
static std::optional<driver::Model> readSpecInput(StringRef text,
                                                  MLIRContext &context) {
  spec::SpecDiagnostic diagnostic;
  auto model = driver::readSpec(text, input, context, diagnostic);
  if (!model && !diagnostic.message.empty())
    llvm::errs() << diagnostic.str() << "\n";
  return model;
}

static int printExpanded(StringRef text) {
  spec::SpecDiagnostic diagnostic;
  std::optional<std::string> expanded = driver::expand(text, input, diagnostic);
  if (expanded)
    llvm::outs() << *expanded;
  else
    llvm::errs() << diagnostic.str() << "\n";
  return expanded ? 0 : 1;
}

static int writeTheBundle(const driver::Model &in,
                          const CompileOptions &options) {
  FailureOr<CompileResult> result = driver::compileModel(in, options);
  if (failed(result))
    return 1;
  std::string path = output.empty() ? in.name + ".bundle" : output.getValue();
  if (llvm::Error error = writeBundle(result->bundle, path))
    return fail(llvm::toString(std::move(error)));
  for (const std::string &note : result->notes)
    llvm::errs() << "prism-compile: note: " << note << "\n";
  llvm::outs() << "wrote " << path << " (" << result->bundle.files.size()
               << " files)\n";
  return 0;
}

static FailureOr<std::vector<explain::Entry>>
explainEntries(ModuleOp module, const CompileOptions &options,
               explain::CallShape call) {
  auto functions = findEntries(module, options.entries);
  auto wanted = parseTargets(module, options.targets);
  if (failed(functions) || failed(wanted))
    return failure();
  std::vector<explain::Entry> explained;
  for (func::FuncOp entry : *functions) {
    if (auto prefixes = explain::explainPrefixes(entry)) {
      explained.push_back(std::move(*prefixes));
      continue;
    }
    std::vector<Unit> units;
    for (const targetinfo::Target &target : *wanted) {
      auto some = buildUnits(entry, target, options);
      if (failed(some))
        return failure();
      for (Unit &unit : *some)
        units.push_back(std::move(unit));
    }
    explained.push_back(explain::explainEntry(entry, units, options, call));
  }
  return explained;
}

/// --explain and --explain-html.
static LogicalResult explainModel(const driver::Model &in,
                                  const CompileOptions &options) {
  FailureOr<explain::CallShape> call = readCallShape(shape);
  if (failed(call))
    return failure();
  auto entries = explainEntries(*in.module, options, *call);
  if (failed(entries))
    return failure();
  if (explainFlag)
    for (const explain::Entry &entry : *entries)
      explain::printText(llvm::outs(), entry);
  if (explainHtml.empty())
    return success();
  std::string page = explain::printPage(in.name, *entries);
  if (explainHtml == "-") {
    llvm::outs() << page;
    return success();
  }
  if (llvm::Error error = writeFileAtomically(explainHtml, page))
    return usageError("--explain-html: " + llvm::toString(std::move(error)));
  llvm::outs() << "wrote " << explainHtml << "\n";
  return success();
}

static LogicalResult readCalibration(CompileOptions &options) {
  if (calibration.empty())
    return success();
  auto text = llvm::MemoryBuffer::getFile(calibration);
  if (!text)
    return usageError("cannot read '" + calibration +
                      "': " + text.getError().message());
  std::string error;
  TextDiagnostic diagnostic;
  auto costs = driver::readCalibration((*text)->getBuffer(), calibration,
                                       options.targets, error, diagnostic);
  if (failed(costs) && !error.empty())
    return usageError("--calibration: " + error);
  if (failed(costs))
    return llvm::errs() << diagnostic.str() << "\n", failure();
  options.calibration = std::move(*costs);
  return success();
}

static int run(MLIRContext &context) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getFileOrSTDIN(input);
  if (!buffer)
    return fail("cannot read '" + input + "': " + buffer.getError().message());
  bool isJson = StringRef(input).ends_with(".json");
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context, llvm::errs());
  std::optional<driver::Model> in;
  if (expand)
    return isJson ? printExpanded((*buffer)->getBuffer())
                  : fail("--expand takes a .json spec, found '" + input + "'");
  if (isJson) {
    in = readSpecInput((*buffer)->getBuffer(), context);
  } else {
    sources.AddNewSourceBuffer(std::move(*buffer), SMLoc());
    in = driver::readModule(sources, input, context);
  }
  if (!in)
    return 1;

  if (evaluate)
    return failed(evaluateEntry(*in->module, entries, inFiles, outFiles));
  CompileOptions options;
  options.entries.assign(entries.begin(), entries.end());
  std::string error;
  auto chosen = driver::chooseTargets(targets, *in, error);
  if (!chosen)
    return fail("--target: " + error);
  options.targets = std::move(*chosen);
  options.assemble = !noAssemble;
  options.serial = serial;
  if (llvm::sys::Process::StandardErrIsDisplayed())
    options.progress = [](StringRef what) {
      llvm::errs() << "prism-compile: " << what << "\n";
    };
  if (!plan.empty()) {
    auto text = llvm::MemoryBuffer::getFile(plan);
    if (!text)
      return fail("cannot read '" + plan + "': " + text.getError().message());
    TextDiagnostic diagnostic;
    auto plans =
        driver::readPlans((*text)->getBuffer(), plan, *in->module, diagnostic);
    if (failed(plans))
      return llvm::errs() << diagnostic.str() << "\n", 1;
    options.plans = std::move(*plans);
  }

  if (failed(readCalibration(options)))
    return 1;
  if (explainFlag || !explainHtml.empty()) {
    if (failed(explainModel(*in, options)))
      return 1;
    if (!emit.getNumOccurrences() && output.empty())
      return 0;
  }
  CallOptions call{shape, gates, device, sample, seed, noState, threads};
  if (!sample.empty() && failed(writeSamples(*in->module, options, call)))
    return 1;
  if (checkFlag)
    return failed(checkEntries(*in->module, options, call));
  if (!sample.empty() && output.empty())
    return 0;
  if (emit != "bundle")
    return failed(emitStage(*in->module, emit, options, output));
  return writeTheBundle(*in, options);
}

int main(int argc, char **argv) {
  llvm::InitLLVM initLLVM(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter(
      [](llvm::raw_ostream &os) { os << compilerVersion() << "\n"; });
  cl::ParseCommandLineOptions(argc, argv, overview);
  static constexpr StringRef stages[] = {"scan", "plan",  "tile", "llvm",
                                         "ptx",  "cubin", "obj",  "bundle"};
  if (!llvm::is_contained(stages, emit)) {
    StringRef nearest =
        *llvm::min_element(stages, [](StringRef a, StringRef b) {
          return a.edit_distance(emit) < b.edit_distance(emit);
        });
    return fail("--emit: unknown stage '" + emit +
                "', expected scan, plan, tile, llvm, ptx, cubin, obj or "
                "bundle; did you mean '" +
                nearest + "'?");
  }
  for (auto *findFault : {emptyOption, unusedOption, overwrites})
    if (std::string fault = findFault(); !fault.empty())
      return fail(fault);
  if (listFamilies) {
    printFamilies();
    return 0;
  }
  if (input.empty())
    return fail("expected SPEC.json or MODULE.mlir; --help shows examples");
  DialectRegistry registry;
  registerPrismDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false); // a person asked, not a compiler engineer
  return run(context);
}
