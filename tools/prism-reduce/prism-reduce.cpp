//===- prism-reduce.cpp - Makes a module that shows a fault smaller -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Upstream's mlir-reduce with our dialects. `--test` is ours: it checks what
// upstream would abort on, and keeps the verifier's words about candidates,
// which are no faults, to itself.
//
//===----------------------------------------------------------------------===//

#include "Prism/Registration/Registration.h"
#include "Prism/Target/Bundle/Bundle.h"
#include "Reductions.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Reducer/Passes.h"
#include "mlir/Reducer/Tester.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static constexpr const char *overview =
    R"(Makes a module that shows a fault smaller, as long as it still shows it.

  prism-reduce model.mlir --test=./still-wrong.sh -o small.mlir

--test names a script that is called with a file. It exits with 1 if the module
there still shows the fault, else with 0:

  #!/bin/sh
  prism-compile "$1" --emit=tile 2>&1 | grep -q "is not affine" && exit 1
  exit 0

Options:
  --test=SCRIPT    what decides; functions, ops, factors of a chain and inputs of
                   a recurrence are left out while it exits with 1
  -o FILE          where the smaller module goes (default: stdout)
  --help-hidden    upstream's options; without --test, --reduction-tree,
                   --opt-reduction-pass and --pass-pipeline are passed on to it
)";

/// Options that mean upstream's tool as it is.
static constexpr StringRef upstreamModes[] = {
    "reduction-tree", "opt-reduction-pass", "pass-pipeline", "help-hidden",
    "version"};

static LogicalResult fail(const llvm::Twine &message) {
  llvm::errs() << "prism-reduce: error: " << message << "\n";
  return failure();
}

namespace {
struct Arguments {
  std::string test, input, output;
  bool help = false;
  /// The command line is upstream's.
  bool upstream = false;
};
} // namespace

/// The options that upstream's main would have to know are few, and its own
/// exist only once it runs.
static FailureOr<Arguments> readArguments(int argc, char **argv) {
  Arguments read;
  std::string unknown;
  for (int i = 1; i < argc; ++i) {
    auto [name, value] = StringRef(argv[i]).split('=');
    bool isOption = name.size() > 1 && name.consume_front("-");
    name.consume_front("-");
    auto valueOf = [&, value = value]() -> std::string {
      return value.empty() && i + 1 < argc ? argv[++i] : value.str();
    };
    if (!isOption && read.input.empty())
      read.input = argv[i];
    else if (isOption && name == "test")
      read.test = valueOf();
    else if (isOption && name == "o")
      read.output = valueOf();
    else if (isOption && (name == "help" || name == "h"))
      read.help = true;
    else if (unknown.empty())
      unknown = argv[i];
    read.upstream |= isOption && llvm::is_contained(upstreamModes, name);
  }
  if (read.help || (read.upstream && read.test.empty()))
    return read;
  read.upstream = false;
  if (!unknown.empty())
    return fail("unknown argument '" + unknown +
                "', expected MODULE.mlir, --test=SCRIPT and -o FILE");
  if (read.test.empty())
    return fail("expected --test=SCRIPT; --help shows an example");
  return read;
}

/// Candidates go to temporary files; upstream ends the process without one.
static LogicalResult checkTemporaryFiles() {
  llvm::SmallString<128> path;
  std::error_code code =
      llvm::sys::fs::createTemporaryFile("prism-reduce", "mlir", path);
  if (!code) {
    llvm::sys::fs::remove(path);
    return success();
  }
  llvm::SmallString<128> folder;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
  return fail("cannot make a temporary file in '" + folder +
              "': " + code.message() + "; TMPDIR names another folder");
}

/// Whether the module shows the fault: what a reduction begins with.
static LogicalResult checkStart(ModuleOp module, const Arguments &arguments) {
  Tester tester(arguments.test, {});
  if (tester.isInteresting(module).first == Tester::Interestingness::True)
    return success();
  return fail("--test: '" + arguments.test + "' exits with 0 on '" +
              arguments.input +
              "': the module does not show the fault to begin with (1 says "
              "that it does)");
}

/// Reduces until nothing more goes: an input is unused only once the factor
/// that used it is gone.
static FailureOr<std::string> reduce(ModuleOp module, StringRef test) {
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) {});
  ReductionTreePassOptions options;
  options.testerName = test.str();
  std::string text, before;
  do {
    before = std::move(text);
    PassManager pm(module.getContext());
    pm.addPass(createReductionTreePass(options));
    if (failed(pm.run(module)))
      return failure();
    text.clear();
    llvm::raw_string_ostream(text) << module << "\n";
  } while (text != before);
  return text;
}

static LogicalResult reduceFile(MLIRContext &context, Arguments arguments) {
  if (arguments.input.empty())
    return fail("expected MODULE.mlir; --help shows an example");
  if (!llvm::sys::fs::can_execute(arguments.test))
    return fail("--test: '" + arguments.test +
                "' is no file that can be executed");
  llvm::SmallString<128> path(arguments.test);
  llvm::sys::fs::make_absolute(path);
  arguments.test = path.str().str();
  OwningOpRef<ModuleOp> module;
  {
    llvm::SourceMgr sources;
    SourceMgrDiagnosticHandler handler(sources, &context, llvm::errs());
    module = parseSourceFile<ModuleOp>(arguments.input, sources, &context);
  }
  if (!module || failed(checkStart(*module, arguments)))
    return failure();
  FailureOr<std::string> text = reduce(*module, arguments.test);
  if (failed(text))
    return fail("the reduction of '" + arguments.input +
                "' failed; does the script depend on more than its file?");
  if (arguments.output.empty() || arguments.output == "-") {
    llvm::outs() << *text;
    return success();
  }
  if (llvm::Error error = prism::writeFileAtomically(arguments.output, *text))
    return fail(llvm::toString(std::move(error)));
  return success();
}

int main(int argc, char **argv) {
  FailureOr<Arguments> arguments = readArguments(argc, argv);
  if (failed(arguments))
    return 1;
  if (arguments->help) {
    llvm::outs() << overview;
    return 0;
  }
  if (failed(checkTemporaryFiles()))
    return 1;
  DialectRegistry registry;
  prism::registerPrismDialects(registry);
  prism::registerReductions(registry);
  prism::registerPrismPasses();
  MLIRContext context(registry);
  return failed(arguments->upstream ? mlirReduceMain(argc, argv, context)
                                    : reduceFile(context, *arguments));
}
