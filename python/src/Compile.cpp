//===- Compile.cpp - Compiling, saving, loading ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Native.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <vector>

namespace nb = nanobind;
using namespace prism::python;

namespace {

/// Python's callbacks of one compilation. What they raise is kept, since it
/// must not pass through the compiler.
struct Callbacks {
  nb::object diagnose, progress;
  std::optional<nb::python_error> raised;

  template <typename Make> void call(nb::object &callback, Make argument) {
    nb::gil_scoped_acquire lock;
    if (raised)
      return;
    try {
      callback(argument());
    } catch (nb::python_error &error) {
      raised.emplace(error);
    }
  }
  static void onDiagnostic(const PrismDiagnostic *diagnostic, void *user) {
    auto &self = *static_cast<Callbacks *>(user);
    self.call(self.diagnose, [&] { return toPython(diagnostic); });
  }
  static void onProgress(const char *what, void *user) {
    auto &self = *static_cast<Callbacks *>(user);
    self.call(self.progress, [&] { return nb::str(what); });
  }
};

} // namespace

static Program own(PrismProgram *program) {
  return {std::shared_ptr<PrismProgram>(program, prismProgramDestroy)};
}

static Program compile(nb::bytes text, const std::string &file, bool isModule,
                       const std::vector<std::string> &targets,
                       const std::vector<std::string> &entries,
                       const std::optional<std::string> &plan,
                       const std::string &planFile,
                       const std::optional<std::string> &calibration,
                       const std::string &calibrationFile, bool assemble,
                       nb::object diagnose, nb::object progress) {
  std::unique_ptr<PrismCompileOptions, void (*)(PrismCompileOptions *)> owned(
      prismCompileOptionsCreate(), prismCompileOptionsDestroy);
  PrismCompileOptions *options = owned.get();
  for (const std::string &target : targets)
    prismCompileOptionsAddTarget(options, target.c_str());
  for (const std::string &entry : entries)
    prismCompileOptionsAddEntry(options, entry.c_str());
  if (plan)
    prismCompileOptionsSetPlan(options, plan->c_str(), planFile.c_str());
  if (calibration)
    prismCompileOptionsSetCalibration(options, calibration->c_str(),
                                      calibrationFile.c_str());
  prismCompileOptionsSetFile(options, file.c_str());
  prismCompileOptionsSetAssemble(options, assemble);
  prismCompileOptionsSetSyntax(options, isModule ? PRISM_SYNTAX_MLIR
                                                 : PRISM_SYNTAX_JSON);
  Callbacks callbacks{std::move(diagnose), std::move(progress), {}};
  if (!callbacks.diagnose.is_none())
    prismCompileOptionsSetDiagnosticCallback(options, Callbacks::onDiagnostic,
                                             &callbacks);
  if (!callbacks.progress.is_none())
    prismCompileOptionsSetProgressCallback(options, Callbacks::onProgress,
                                           &callbacks);
  PrismDiagnostic *error = nullptr;
  PrismProgram *program = nullptr;
  {
    nb::gil_scoped_release unlocked;
    program = prismCompile(text.c_str(), text.size(), options, &error);
  }
  Program made = own(program);
  if (callbacks.raised) {
    prismDiagnosticDestroy(error);
    throw std::move(*callbacks.raised);
  }
  if (!program)
    raise(error);
  return made;
}

static std::string expand(nb::bytes text, const std::string &file) {
  PrismDiagnostic *error = nullptr;
  std::unique_ptr<char, void (*)(char *)> expanded(
      prismExpand(text.c_str(), text.size(), file.c_str(), &error),
      prismStringDestroy);
  if (!expanded)
    raise(error);
  return expanded.get();
}

static Program load(const std::string &folder) {
  PrismDiagnostic *error = nullptr;
  PrismProgram *program = prismProgramLoad(folder.c_str(), &error);
  if (!program)
    raise(error);
  return own(program);
}

static void save(const Program &program, const std::string &folder) {
  PrismDiagnostic *error = nullptr;
  PrismStatus status;
  {
    nb::gil_scoped_release unlocked;
    status = prismProgramSave(program.handle.get(), folder.c_str(), &error);
  }
  if (status != PRISM_SUCCESS)
    raise(error);
}

static std::string compilerVersion() {
  PrismDiagnostic *error = nullptr;
  const char *version = prismCompilerVersion(&error);
  if (!version)
    raise(error);
  return version;
}

void prism::python::defineCompile(nb::module_ &module) {
  nb::class_<Program>(module, "Program")
      .def_prop_ro(
          "name",
          [](const Program &p) { return prismProgramName(p.handle.get()); })
      .def_prop_ro(
          "compiler",
          [](const Program &p) { return prismProgramCompiler(p.handle.get()); })
      .def_prop_ro("manifest", [](const Program &p) {
        return prismProgramManifest(p.handle.get());
      });
  module.def("compile", compile, nb::arg("text"), nb::arg("file"),
             nb::arg("is_module"), nb::arg("targets"), nb::arg("entries"),
             nb::arg("plan").none(), nb::arg("plan_file"),
             nb::arg("calibration").none(), nb::arg("calibration_file"),
             nb::arg("assemble"), nb::arg("diagnose").none(),
             nb::arg("progress").none());
  module.def("expand", expand, nb::arg("text"), nb::arg("file"));
  module.def("load", load, nb::arg("folder"));
  module.def("save", save, nb::arg("program"), nb::arg("folder"));
  module.def("version", prismVersion);
  module.def("compiler_version", compilerVersion);
}
