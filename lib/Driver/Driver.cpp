//===- Driver.cpp - From a text to a bundle -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Driver/Driver.h"
#include "Prism/Compiler/PlanFile.h"
#include "Prism/Import/Import.h"
#include "Prism/Spec/Spec.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace prism;

std::optional<driver::Model>
driver::readSpec(StringRef text, StringRef file, MLIRContext &context,
                 spec::SpecDiagnostic &diagnostic) {
  llvm::FailureOr<spec::Spec> spec = spec::readSpec(text, file, diagnostic);
  if (failed(spec))
    return std::nullopt;
  Model model;
  model.name = spec->name;
  model.spec = spec::printSpec(spec::expandSpec(*spec));
  model.targets = spec->targets;
  model.module = spec::importSpec(*spec, &context);
  if (!model.module)
    return std::nullopt;
  return model;
}

std::optional<driver::Model> driver::readModule(llvm::SourceMgr &sources,
                                                StringRef file,
                                                MLIRContext &context) {
  Model model;
  model.name = llvm::sys::path::stem(file).str();
  model.targets = {"cpu"};
  model.module = parseSourceFile<ModuleOp>(sources, &context);
  if (!model.module)
    return std::nullopt;
  return model;
}

std::optional<std::string> driver::expand(StringRef text, StringRef file,
                                          spec::SpecDiagnostic &diagnostic) {
  llvm::FailureOr<spec::Spec> spec = spec::readSpec(text, file, diagnostic);
  if (failed(spec))
    return std::nullopt;
  std::string expanded = spec::printSpec(spec::expandSpec(*spec));
  return expanded + (StringRef(expanded).ends_with("\n") ? "" : "\n");
}

std::vector<std::string> driver::splitTargets(ArrayRef<std::string> given) {
  std::vector<std::string> split;
  for (StringRef text : given) {
    bool inside = false;
    split.emplace_back();
    for (char c : text) {
      inside = (inside || c == '{') && c != '}';
      if (c == ',' && !inside)
        split.emplace_back();
      else
        split.back() += c;
    }
  }
  return split;
}

std::optional<std::vector<std::string>>
driver::chooseTargets(ArrayRef<std::string> given, const Model &model,
                      std::string &error) {
  if (given.empty())
    return model.targets.empty() ? std::vector<std::string>{"cpu"}
                                 : model.targets;
  std::vector<std::string> split = splitTargets(given);
  for (const std::string &text : split)
    if (!targetinfo::parseTarget(text, error))
      return std::nullopt;
  return split;
}

FailureOr<std::map<std::string, PlanOverride>>
driver::readPlans(StringRef text, StringRef file, ModuleOp module,
                  TextDiagnostic &diagnostic) {
  SmallVector<StringRef> entries;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(scan::kEntryAttr))
      entries.push_back(function.getName());
  return readPlanFile(text, file, entries, diagnostic);
}

FailureOr<targetinfo::Calibration>
driver::readCalibration(StringRef text, StringRef file,
                        ArrayRef<std::string> targets, std::string &error,
                        TextDiagnostic &diagnostic) {
  if (llvm::any_of(targets,
                   [](StringRef target) { return target.starts_with("cpu"); }))
    return targetinfo::readCalibration(text, file, diagnostic);
  error =
      "expected a CPU among the targets, found " + llvm::join(targets, ", ");
  return failure();
}

FailureOr<CompileResult> driver::compileModel(const Model &model,
                                              const CompileOptions &options) {
  FailureOr<CompileResult> result = compileModule(*model.module, options);
  if (failed(result))
    return failure();
  result->bundle.manifest.name = model.name;
  result->bundle.spec = model.spec;
  return result;
}
