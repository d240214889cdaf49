//===- Compile.cpp - Compiling through the C API --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "LoadCompiler.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

using namespace prism;
using namespace prism::capi;

struct PrismCompileOptions {
  std::vector<std::string> targets, entries;
  std::optional<std::string> plan, calibration;
  std::string planFile = "plan", calibrationFile = "calibration", file;
  bool assemble = true;
  PrismSyntax syntax = PRISM_SYNTAX_JSON;
  PrismDiagnosticCallback diagnose = nullptr;
  void *diagnoseUser = nullptr;
  PrismProgressCallback progress = nullptr;
  void *progressUser = nullptr;
};

PrismCompileOptions *prismCompileOptionsCreate(void) {
  return guarded(nullptr, static_cast<PrismCompileOptions *>(nullptr),
                 [] { return new PrismCompileOptions; });
}

void prismCompileOptionsDestroy(PrismCompileOptions *options) {
  delete options;
}

void prismCompileOptionsAddTarget(PrismCompileOptions *options,
                                  const char *target) {
  if (options && target)
    options->targets.push_back(target);
}

void prismCompileOptionsAddEntry(PrismCompileOptions *options,
                                 const char *entry) {
  if (options && entry)
    options->entries.push_back(entry);
}

void prismCompileOptionsSetPlan(PrismCompileOptions *options, const char *json,
                                const char *file) {
  if (!options)
    return;
  options->plan = json ? std::optional<std::string>(json) : std::nullopt;
  options->planFile = file ? file : "plan";
}

void prismCompileOptionsSetCalibration(PrismCompileOptions *options,
                                       const char *json, const char *file) {
  if (!options)
    return;
  options->calibration = json ? std::optional<std::string>(json) : std::nullopt;
  options->calibrationFile = file ? file : "calibration";
}

void prismCompileOptionsSetFile(PrismCompileOptions *options,
                                const char *file) {
  if (options)
    options->file = file ? file : "";
}

void prismCompileOptionsSetAssemble(PrismCompileOptions *options,
                                    int assemble) {
  if (options)
    options->assemble = assemble;
}

void prismCompileOptionsSetSyntax(PrismCompileOptions *options,
                                  PrismSyntax syntax) {
  if (options)
    options->syntax = syntax;
}

void prismCompileOptionsSetDiagnosticCallback(PrismCompileOptions *options,
                                              PrismDiagnosticCallback diagnose,
                                              void *user) {
  if (!options)
    return;
  options->diagnose = diagnose;
  options->diagnoseUser = user;
}

void prismCompileOptionsSetProgressCallback(PrismCompileOptions *options,
                                            PrismProgressCallback progress,
                                            void *user) {
  if (!options)
    return;
  options->progress = progress;
  options->progressUser = user;
}

namespace {

/// What comes back from the compiler during one request.
struct Answer {
  const PrismCompileOptions *options;
  runtime::FileContents files;
  std::string result;
  std::optional<PrismDiagnostic> error; // the first

  static void diagnose(void *user, const CompilerDiagnostic &given);
  static void progress(void *user, const char *what);
  static void addFile(void *user, const char *name, Bytes contents);
  static void setResult(void *user, Bytes text);

  CompilerRequest request(const char *text, size_t length);
};

} // namespace

void Answer::diagnose(void *user, const CompilerDiagnostic &given) {
  auto &answer = *static_cast<Answer *>(user);
  PrismDiagnostic diagnostic;
  diagnostic.severity = PrismSeverity(given.severity);
  diagnostic.kind = PrismKind(given.kind);
  diagnostic.text = given.text;
  diagnostic.message = given.message;
  diagnostic.file = given.file;
  diagnostic.pointer = given.pointer;
  diagnostic.nearest = given.nearest;
  diagnostic.line = given.line;
  diagnostic.column = given.column;
  if (answer.options->diagnose)
    answer.options->diagnose(&diagnostic, answer.options->diagnoseUser);
  if (diagnostic.severity == PRISM_SEVERITY_ERROR && !answer.error)
    answer.error = std::move(diagnostic);
}

void Answer::progress(void *user, const char *what) {
  const PrismCompileOptions &options = *static_cast<Answer *>(user)->options;
  if (options.progress)
    options.progress(what, options.progressUser);
}

void Answer::addFile(void *user, const char *name, Bytes contents) {
  static_cast<Answer *>(user)->files[name].assign(contents.data, contents.size);
}

void Answer::setResult(void *user, Bytes text) {
  static_cast<Answer *>(user)->result.assign(text.data, text.size);
}

CompilerRequest Answer::request(const char *text, size_t length) {
  CompilerRequest request;
  request.text = {text, length};
  request.syntax = options->syntax;
  request.file = !options->file.empty()                 ? options->file.c_str()
                 : options->syntax == PRISM_SYNTAX_MLIR ? "module"
                                                        : "spec";
  request.assemble = options->assemble;
  if (options->plan)
    request.plan = {options->plan->data(), options->plan->size()};
  request.planFile = options->planFile.c_str();
  if (options->calibration)
    request.calibration = {options->calibration->data(),
                           options->calibration->size()};
  request.calibrationFile = options->calibrationFile.c_str();
  request.user = this;
  request.diagnose = diagnose;
  request.progress = progress;
  request.addFile = addFile;
  request.result = setResult;
  return request;
}

static std::vector<const char *>
pointers(const std::vector<std::string> &texts) {
  std::vector<const char *> result;
  for (const std::string &text : texts)
    result.push_back(text.c_str());
  return result;
}

/// Hands out the first error of an answer that has one.
static void giveError(Answer &answer, PrismDiagnostic **error) {
  if (!error)
    return;
  *error = answer.error ? new PrismDiagnostic(std::move(*answer.error))
                        : new PrismDiagnostic;
  if (!answer.error)
    (*error)->text = (*error)->message = "the compiler failed without a reason";
}

static PrismProgram *compile(const char *text, size_t length,
                             const PrismCompileOptions &options,
                             PrismDiagnostic **error) {
  if (options.syntax != PRISM_SYNTAX_JSON &&
      options.syntax != PRISM_SYNTAX_MLIR) {
    setError(error, PRISM_KIND_USAGE,
             {"expected a PrismSyntax, found " +
              std::to_string(int(options.syntax))});
    return nullptr;
  }
  auto compiler = loadCompiler(nullptr);
  if (!compiler) {
    setError(error, PRISM_KIND_COMPILER, compiler.failure());
    return nullptr;
  }
  Answer answer{&options, {}, {}, {}};
  CompilerRequest request = answer.request(text, length);
  std::vector<const char *> targets = pointers(options.targets),
                            entries = pointers(options.entries);
  request.targets = targets.data();
  request.targetCount = targets.size();
  request.entries = entries.data();
  request.entryCount = entries.size();
  if (!(*compiler)->compile(request)) {
    giveError(answer, error);
    return nullptr;
  }
  return makeProgram(runtime::Program::load(runtime::BundleFiles(
                         std::move(answer.files), answer.result)),
                     error);
}

PrismProgram *prismCompile(const char *text, size_t length,
                           const PrismCompileOptions *options,
                           PrismDiagnostic **error) {
  return guarded(
      error, static_cast<PrismProgram *>(nullptr), [&]() -> PrismProgram * {
        if (text)
          return compile(text, length,
                         options ? *options : PrismCompileOptions(), error);
        setError(error, PRISM_KIND_USAGE, {"expected a text, found null"});
        return nullptr;
      });
}

/// A file's text, or why there is none.
static runtime::Result<std::string> readText(const std::string &path) {
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  if (stream)
    text << stream.rdbuf();
  // Of an empty file nothing can be inserted, which is no fault of the file.
  if (!stream || errno)
    return runtime::Failure{"cannot read '" + path +
                            "': " + std::strerror(errno ? errno : EIO)};
  return text.str();
}

static bool endsIn(const std::string &text, const std::string &end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

PrismProgram *prismCompileFile(const char *path,
                               const PrismCompileOptions *options,
                               PrismDiagnostic **error) {
  return guarded(
      error, static_cast<PrismProgram *>(nullptr), [&]() -> PrismProgram * {
        if (!path) {
          setError(error, PRISM_KIND_USAGE, {"expected a path, found null"});
          return nullptr;
        }
        auto text = readText(path);
        if (!text) {
          setError(error, PRISM_KIND_SPEC, text.failure());
          return nullptr;
        }
        PrismCompileOptions own = options ? *options : PrismCompileOptions();
        if (own.file.empty())
          own.file = path;
        if (endsIn(path, ".mlir"))
          own.syntax = PRISM_SYNTAX_MLIR;
        return compile(text->data(), text->size(), own, error);
      });
}

char *prismExpand(const char *text, size_t length, const char *file,
                  PrismDiagnostic **error) {
  return guarded(error, static_cast<char *>(nullptr), [&]() -> char * {
    if (!text) {
      setError(error, PRISM_KIND_USAGE, {"expected a text, found null"});
      return nullptr;
    }
    auto compiler = loadCompiler(nullptr);
    if (!compiler) {
      setError(error, PRISM_KIND_COMPILER, compiler.failure());
      return nullptr;
    }
    PrismCompileOptions options;
    prismCompileOptionsSetFile(&options, file);
    Answer answer{&options, {}, {}, {}};
    if (!(*compiler)->expand(answer.request(text, length))) {
      giveError(answer, error);
      return nullptr;
    }
    return strdup(answer.result.c_str());
  });
}

void prismStringDestroy(char *text) { free(text); }

PrismStatus prismLoadCompiler(const char *path, PrismDiagnostic **error) {
  return guarded(error, PRISM_FAILURE, [&] {
    auto compiler = loadCompiler(path);
    if (compiler)
      return PRISM_SUCCESS;
    setError(error, PRISM_KIND_COMPILER, compiler.failure());
    return PRISM_FAILURE;
  });
}

const char *prismCompilerVersion(PrismDiagnostic **error) {
  return guarded(error, static_cast<const char *>(nullptr),
                 [&]() -> const char * {
                   auto compiler = loadCompiler(nullptr);
                   if (compiler)
                     return (*compiler)->name;
                   setError(error, PRISM_KIND_COMPILER, compiler.failure());
                   return nullptr;
                 });
}
