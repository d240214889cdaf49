//===- Compiler.cpp - The compiler library's one entry point --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../CompilerInterface.h"
#include "Prism/Driver/Driver.h"
#include "Prism/Registration/Registration.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "prism-c/Compile.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace prism;
using namespace prism::capi;

namespace {

/// Tells a request's owner what the compiler has to say.
class Reporter {
public:
  explicit Reporter(const CompilerRequest &request) : request(request) {}

  void report(PrismKind kind, const TextDiagnostic &diagnostic) const;
  void report(Diagnostic &diagnostic) const;
  /// A message without a place, as the tools print theirs.
  void report(PrismSeverity severity, PrismKind kind, StringRef message) const;

private:
  const CompilerRequest &request;
};

} // namespace

void Reporter::report(PrismKind kind, const TextDiagnostic &diagnostic) const {
  std::string text = diagnostic.str();
  CompilerDiagnostic out;
  out.severity = PRISM_SEVERITY_ERROR;
  out.kind = kind;
  out.text = text.c_str();
  out.message = diagnostic.message.c_str();
  out.file = diagnostic.file.c_str();
  out.pointer = diagnostic.loc.pointer.c_str();
  out.nearest = diagnostic.nearest.c_str();
  out.line = diagnostic.loc.line;
  out.column = diagnostic.loc.column;
  request.diagnose(request.user, out);
}

/// The file position inside a location, or null.
static FileLineColLoc findPlace(Location location) {
  FileLineColLoc place;
  location->walk([&](Location inner) {
    place = llvm::dyn_cast<FileLineColLoc>(inner);
    return place ? WalkResult::interrupt() : WalkResult::advance();
  });
  return place;
}

static PrismSeverity severityOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return PRISM_SEVERITY_ERROR;
  case DiagnosticSeverity::Warning:
    return PRISM_SEVERITY_WARNING;
  case DiagnosticSeverity::Note:
    return PRISM_SEVERITY_NOTE;
  case DiagnosticSeverity::Remark:
    return PRISM_SEVERITY_REMARK;
  }
  llvm_unreachable("all severities are handled");
}

/// "model.mlir:3:5: error: ..." and a line for each note.
static void print(llvm::raw_ostream &os, const Diagnostic &diagnostic) {
  static constexpr const char *names[] = {"error", "warning", "note", "remark"};
  if (FileLineColLoc place = findPlace(diagnostic.getLocation())) {
    os << place.getFilename().getValue() << ':';
    if (place.getLine() > 0) // a module as a whole has none
      os << place.getLine() << ':' << place.getColumn() << ':';
    os << ' ';
  }
  os << names[severityOf(diagnostic.getSeverity())] << ": " << diagnostic;
  for (const Diagnostic &note : diagnostic.getNotes()) {
    os << '\n';
    print(os, note);
  }
}

/// The JSON pointer of a text's fault (emitTextError), or "".
static std::string findPointer(Location location) {
  auto named = dyn_cast<NameLoc>(location);
  bool isPointer = named && named.getName().strref().starts_with("/");
  return isPointer ? named.getName().str() : "";
}

void Reporter::report(Diagnostic &diagnostic) const {
  std::string text, message = diagnostic.str(), file,
                    pointer = findPointer(diagnostic.getLocation());
  llvm::raw_string_ostream stream(text);
  print(stream, diagnostic);
  CompilerDiagnostic out;
  out.severity = severityOf(diagnostic.getSeverity());
  out.kind = PRISM_KIND_COMPILE;
  out.text = text.c_str();
  if (!pointer.empty()) {
    StringRef rest = message;
    if (rest.consume_front(pointer + ": "))
      message = rest.str();
    out.pointer = pointer.c_str();
  }
  out.message = message.c_str();
  if (FileLineColLoc place = findPlace(diagnostic.getLocation())) {
    file = place.getFilename().str();
    out.file = file.c_str();
    out.line = place.getLine();
    out.column = place.getColumn();
  }
  request.diagnose(request.user, out);
}

void Reporter::report(PrismSeverity severity, PrismKind kind,
                      StringRef message) const {
  std::string sentence = message.str(),
              text = (severity == PRISM_SEVERITY_NOTE ? "note: " : "error: ") +
                     sentence;
  CompilerDiagnostic out;
  out.severity = severity;
  out.kind = kind;
  out.text = text.c_str();
  out.message = sentence.c_str();
  request.diagnose(request.user, out);
}

static std::optional<driver::Model> readModel(const CompilerRequest &request,
                                              MLIRContext &context,
                                              const Reporter &reporter) {
  StringRef text(request.text.data, request.text.size);
  if (request.syntax == PRISM_SYNTAX_MLIR) {
    llvm::SourceMgr sources;
    // A copy, since the parser wants a zero byte after the text.
    sources.AddNewSourceBuffer(
        llvm::MemoryBuffer::getMemBufferCopy(text, request.file), SMLoc());
    return driver::readModule(sources, request.file, context);
  }
  spec::SpecDiagnostic diagnostic;
  auto model = driver::readSpec(text, request.file, context, diagnostic);
  if (!model && !diagnostic.message.empty())
    reporter.report(PRISM_KIND_SPEC, diagnostic);
  return model;
}

static bool readPlans(const CompilerRequest &request,
                      const driver::Model &model, const Reporter &reporter,
                      CompileOptions &options) {
  if (!request.plan.data)
    return true;
  TextDiagnostic diagnostic;
  auto plans = driver::readPlans({request.plan.data, request.plan.size},
                                 request.planFile, *model.module, diagnostic);
  if (failed(plans)) {
    reporter.report(PRISM_KIND_COMPILE, diagnostic);
    return false;
  }
  options.plans = std::move(*plans);
  return true;
}

static bool readCalibration(const CompilerRequest &request,
                            const Reporter &reporter, CompileOptions &options) {
  if (!request.calibration.data)
    return true;
  std::string error;
  TextDiagnostic diagnostic;
  auto costs = driver::readCalibration(
      {request.calibration.data, request.calibration.size},
      request.calibrationFile, options.targets, error, diagnostic);
  if (succeeded(costs)) {
    options.calibration = std::move(*costs);
    return true;
  }
  if (error.empty())
    reporter.report(PRISM_KIND_COMPILE, diagnostic);
  else
    reporter.report(PRISM_SEVERITY_ERROR, PRISM_KIND_COMPILE,
                    "calibration: " + error);
  return false;
}

/// The request's options, against the model; false after a report.
static bool readOptions(const CompilerRequest &request,
                        const driver::Model &model, const Reporter &reporter,
                        CompileOptions &options) {
  options.entries.assign(request.entries, request.entries + request.entryCount);
  options.assemble = request.assemble;
  if (request.progress)
    options.progress = [&request](StringRef what) {
      request.progress(request.user, what.str().c_str());
    };
  std::vector<std::string> given(request.targets,
                                 request.targets + request.targetCount);
  std::string error;
  auto targets = driver::chooseTargets(given, model, error);
  if (!targets) {
    reporter.report(PRISM_SEVERITY_ERROR, PRISM_KIND_COMPILE,
                    "target: " + error);
    return false;
  }
  options.targets = std::move(*targets);
  return readCalibration(request, reporter, options) &&
         readPlans(request, model, reporter, options);
}

static bool compile(const CompilerRequest &request) {
  Reporter reporter(request);
  DialectRegistry registry;
  registerPrismDialects(registry);
  // The host has threads of its own; a context's pool would be one more.
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    reporter.report(diagnostic);
    return success();
  });
  auto model = readModel(request, context, reporter);
  CompileOptions options;
  if (!model || !readOptions(request, *model, reporter, options))
    return false;
  FailureOr<CompileResult> result = driver::compileModel(*model, options);
  if (failed(result))
    return false;
  for (const std::string &note : result->notes)
    reporter.report(PRISM_SEVERITY_NOTE, PRISM_KIND_COMPILE, note);
  for (const auto &[name, contents] : bundleFiles(result->bundle))
    request.addFile(request.user, name.c_str(),
                    {contents.data(), contents.size()});
  request.result(request.user, {model->name.data(), model->name.size()});
  return true;
}

static bool expand(const CompilerRequest &request) {
  spec::SpecDiagnostic diagnostic;
  std::optional<std::string> text = driver::expand(
      {request.text.data, request.text.size}, request.file, diagnostic);
  if (!text) {
    Reporter(request).report(PRISM_KIND_SPEC, diagnostic);
    return false;
  }
  request.result(request.user, {text->data(), text->size()});
  return true;
}

extern "C" __attribute__((visibility("default"))) const CompilerInterface *
prismCompilerInterface() {
  static const std::string name = compilerVersion();
  static const CompilerInterface interface = {compilerInterfaceVersion,
                                              name.c_str(), compile, expand};
  return &interface;
}
