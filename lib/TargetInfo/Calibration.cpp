//===- Calibration.cpp - Costs of a CPU from a file -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Support/JsonShape.h"
#include "Prism/TargetInfo/CPUCosts.h"
#include "Prism/TargetInfo/TargetInfo.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace prism;
using namespace prism::targetinfo;

/// In ns. No vector takes a second, and what is divided by takes some time;
/// within these bounds sums and quotients stay finite.
static constexpr double kLeastCost = 1e-9, kMostCost = 1e9;
/// A pebibyte.
static constexpr double kMostCacheBytes = 1125899906842624.0;

namespace {

/// The shapes of a calibration file's parts.
struct CalibrationShapes {
  CalibrationShapes() {
    version = Shape::between(kNumber, 1, 1);
    cacheBytes = Shape::between(kNumber, 0, kMostCacheBytes);
    anyCost = Shape::between(kNumber, 0, kMostCost);
    someCost = Shape::between(kNumber, kLeastCost, kMostCost);
    machine.open = true;
    level.types = levels.types = file.types = kObject;
    for (auto [i, name] : llvm::enumerate(cpuWorkNames())) {
      bool isDividedBy =
          CPUWork(i) == CPUWork::Product || CPUWork(i) == CPUWork::StepUpdate;
      // Files of before waits were told apart have none.
      bool isRequired = CPUWork(i) != CPUWork::StepWait;
      level.fields.push_back(
          {name, isDividedBy ? &someCost : &anyCost, isRequired});
    }
    for (StringRef name : cpuLevelNames())
      levels.fields.push_back({name, &level});
    levels.minProperties = 1;
    file.fields = {{"prism_calibration", &version, true},
                   {"machine", &machine},
                   {"cache_bytes", &cacheBytes, true},
                   {"levels", &levels, true}};
  }

  Shape version, cacheBytes, anyCost, someCost, machine, level, levels, file;
};

} // namespace

FailureOr<Calibration>
prism::targetinfo::readCalibration(StringRef text, StringRef file,
                                   TextDiagnostic &diagnostic) {
  FailureOr<JsonNode> document = parseJson(text, file, diagnostic);
  if (failed(document) ||
      failed(checkShape(*document, CalibrationShapes().file, diagnostic)))
    return failure();
  const JsonNode &levels = *document->find("levels");
  Calibration calibration;
  calibration.file = file.str();
  calibration.levelsLoc = levels.loc;
  for (const JsonMember &level : levels.members) {
    CPUCosts &costs = calibration.levels[level.key];
    costs.level = level.key;
    costs.cacheBytes = document->find("cache_bytes")->number;
    for (auto [i, name] : llvm::enumerate(cpuWorkNames()))
      if (const JsonNode *cost = level.value.find(name))
        costs.ns[i] = cost->number;
  }
  return calibration;
}
