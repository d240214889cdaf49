//===- PlanFile.cpp - Plans given by hand ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Compiler/PlanFile.h"
#include "Prism/Support/JsonShape.h"
#include "Prism/Support/PlanLimits.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace prism;

namespace {

/// The shapes of a plan, and of a file with plans by entry.
struct PlanShapes {
  explicit PlanShapes(ArrayRef<StringRef> entries) {
    schedule.types = kString;
    schedule.choices = {"chunk", "recurrent"};
    chunk = Shape::between(kInteger, 1, kMostChunkSteps);
    valueBlock = Shape::between(kInteger, 0, kMostValueBlock);
    stages = Shape::between(kInteger, 1, kMostStages);
    segments = Shape::between(kInteger, 0, kMostSegments);
    prepareBlocks = Shape::between(kInteger, 0, kMostPrepareBlocks);
    batchInvariant.types = kBoolean;
    plan.types = byEntry.types = kObject;
    plan.fields = {{"schedule", &schedule},
                   {"chunk", &chunk},
                   {"value_block", &valueBlock},
                   {"stages", &stages},
                   {"segments", &segments},
                   {"prepare_blocks", &prepareBlocks},
                   {"batch_invariant", &batchInvariant}};
    for (StringRef entry : entries)
      byEntry.fields.push_back({entry, &plan});
  }

  Shape schedule, chunk, valueBlock, stages, segments, prepareBlocks,
      batchInvariant, plan, byEntry;
};

} // namespace

/// Of an object with the shape of a plan.
static LogicalResult readPlan(const JsonNode &node, PlanOverride &plan,
                              TextDiagnostic &diagnostic) {
  plan.places = placesOfKeys(diagnostic.file, node);
  if (const JsonNode *schedule = node.find("schedule"))
    plan.schedule = scan::symbolizeSchedule(schedule->string);
  auto read = [&](StringRef key, std::optional<int64_t> &number) {
    if (const JsonNode *value = node.find(key))
      number = value->integer();
  };
  read("chunk", plan.chunk);
  read("value_block", plan.valueBlock);
  read("stages", plan.stages);
  read("segments", plan.segments);
  if (plan.segments == 0) // as the decision table says
    plan.segments = std::nullopt;
  read("prepare_blocks", plan.prepareBlocks);
  if (const JsonNode *value = node.find("batch_invariant"))
    plan.batchInvariant = value->boolean;
  if (plan.schedule != scan::Schedule::recurrent || plan.chunk.value_or(1) == 1)
    return success();
  const JsonNode &chunk = *node.find("chunk");
  diagnostic.loc = chunk.loc;
  diagnostic.message =
      "expected 1, the chunk of the recurrent schedule, found " +
      describe(chunk);
  return failure();
}

FailureOr<std::map<std::string, PlanOverride>>
prism::readPlanFile(StringRef text, StringRef file, ArrayRef<StringRef> entries,
                    TextDiagnostic &diagnostic) {
  FailureOr<JsonNode> document = parseJson(text, file, diagnostic);
  if (failed(document))
    return failure();
  PlanShapes shapes(entries);
  bool isByEntry = llvm::any_of(document->members, [&](const JsonMember &m) {
    return m.value.is(JsonKind::Object) || llvm::is_contained(entries, m.key);
  });
  if (isByEntry && entries.empty()) {
    const JsonMember &named =
        *llvm::find_if(document->members, [](const JsonMember &m) {
          return m.value.is(JsonKind::Object);
        });
    diagnostic.loc = named.keyLoc;
    diagnostic.message =
        "the model has no entries, found a plan for entry '" + named.key + "'";
    return failure();
  }
  if (failed(checkShape(*document, isByEntry ? shapes.byEntry : shapes.plan,
                        diagnostic)))
    return failure();
  std::map<std::string, PlanOverride> plans;
  if (!isByEntry) {
    if (failed(readPlan(*document, plans[""], diagnostic)))
      return failure();
    return plans;
  }
  for (const JsonMember &member : document->members)
    if (failed(readPlan(member.value, plans[member.key], diagnostic)))
      return failure();
  return plans;
}
