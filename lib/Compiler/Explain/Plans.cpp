//===- Plans.cpp - A target's plans on the explanation's page -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Pictures.h"
#include "Sections.h"
#include "Words.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace prism;
using namespace prism::explain;
using llvm::formatv;

static void writeFact(Markup &page, const std::string &name,
                      const llvm::Twine &text) {
  page.leaf("dt", name).leaf("dd", text);
}

void explain::openTable(Markup &page, const std::string &kind,
                        const std::string &caption) {
  // A reader without a mouse scrolls what has the focus.
  page.open("div", {{"class", "scroll"},
                    {"role", "region"},
                    {"aria-label", caption},
                    {"tabindex", "0"}});
  page.open("table", {{"class", kind}}).leaf("caption", caption);
}

/// Into how many segments, by steps and sequences x value heads. The bounds of
/// the rows differ; a column stands for all up to its bound.
static void writeSegments(Markup &page, const Split &split) {
  std::set<int64_t> bounds;
  for (const SegmentRange &range : split.ranges)
    for (auto [heads, segments] : range.segmentsUpTo)
      bounds.insert(heads);
  openTable(page, "numbers",
            "Segments of a sequence, by sequences x value heads (up to); – is "
            "whole, as it is for more");
  page.open("thead").open("tr").leaf("th", {{"scope", "col"}}, "steps");
  for (int64_t heads : bounds)
    page.leaf("th", {{"scope", "col"}, {"class", "number"}},
              std::to_string(heads));
  page.close().close().open("tbody");
  for (const SegmentRange &range : split.ranges) {
    page.open("tr").leaf("th", {{"scope", "row"}}, stepsInWords(range));
    for (int64_t heads : bounds) {
      auto found = llvm::find_if(range.segmentsUpTo, [&](const auto &upTo) {
        return heads <= upTo.first;
      });
      bool whole = found == range.segmentsUpTo.end() || found->second == 1;
      page.leaf("td", {{"class", "number"}},
                whole ? "–" : std::to_string(found->second));
    }
    page.close();
  }
  page.close().close().close();
}

static void writeSplit(Markup &page, const Split &split) {
  page.leaf("dt", "launches").open("dd").text(splitInWords(split));
  if (split.always)
    page.leaf("p", formatv("always {0} segments", *split.always).str());
  else
    writeSegments(page, split);
  page.close();
}

/// When a plan is taken rather than the others of its target.
static std::string whenTaken(const Target &target, const Plan &plan) {
  if (target.recurrentUpTo == 0)
    return target.plans.size() == 1 ? "always: it is the only plan" : "";
  bool always = target.recurrentUpTo == INT64_MAX;
  if (plan.schedule == "recurrent")
    return always ? "at any length"
                  : formatv("up to {0} steps", target.recurrentUpTo).str();
  if (always)
    return "where a call asks for it";
  bool hasSplit = llvm::any_of(
      target.plans, [](const Plan &other) { return bool(other.split); });
  return formatv("above {0} steps{1}", target.recurrentUpTo,
                 plan.split ? ", where the table below says a number"
                 : hasSplit ? ", where sequences stay whole"
                            : "");
}

static void writePlan(Markup &page, const Target &target, const Plan &plan,
                      size_t number) {
  page.open("article").open("h4");
  page.leaf("span", {{"class", "badge"}}, std::to_string(number));
  page.text(planInWords(plan)).close().open("dl");
  if (std::string when = whenTaken(target, plan); !when.empty())
    writeFact(page, "taken", when);
  writeFact(page, "work", costInWords(plan) + " (per token and value head)");
  writeFact(page, "products", plan.products);
  if (!plan.roles.empty())
    writeFact(page, "roles of a block", rolesInWords(plan));
  if (plan.split)
    writeSplit(page, *plan.split);
  for (const Limit &limit : plan.limits)
    writeFact(page, limitName(target, limit), limitInWords(target, limit));
  if (!plan.predicted.empty())
    writeFact(page, "predicted",
              shapeInWords(target.shape) + ": " + predictedInWords(plan));
  for (const Remark &remark : plan.remarks)
    if (remark.refused.empty())
      writeFact(page, "note", remark.text);
  page.close().close();
}

/// Alternatives; several plans may say the same of one.
static void writeRefused(Markup &page, const Target &target) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const Plan &plan : target.plans)
    for (const Remark &remark : plan.remarks) {
      if (remark.refused.empty() ||
          !seen.insert({remark.refused, remark.text}).second)
        continue;
      if (seen.size() == 1)
        page.leaf("h3", "Refused on " + target.name).open("dl");
      writeFact(page, remark.refused, remark.text);
    }
  if (!seen.empty())
    page.close();
}

static void writePointTable(Markup &page, const Target &target) {
  openTable(page, "numbers", "The points");
  page.open("thead").open("tr");
  page.leaf("th", {{"scope", "col"}}, "plan");
  page.leaf("th", {{"scope", "col"}}, "roof");
  page.leaf("th", {{"scope", "col"}, {"class", "number"}}, "FLOP per byte");
  page.leaf("th", {{"scope", "col"}, {"class", "number"}}, "at most");
  page.leaf("th", {{"scope", "col"}}, "set by");
  page.close().close().open("tbody");
  for (auto [i, plan] : llvm::enumerate(target.plans))
    for (const Limit &limit : plan.limits) {
      page.open("tr").leaf("th", {{"scope", "row"}}, std::to_string(i + 1));
      page.leaf("td", target.roofs[limit.roof].name);
      page.leaf("td", {{"class", "number"}},
                formatv("{0:F1}", plan.intensity).str());
      page.leaf("td", {{"class", "number"}},
                speedInWords(target, attainable(target, plan, limit)));
      page.leaf("td", limit.arithmetic > limit.memory ? "arithmetic" : "memory")
          .close();
    }
  page.close().close().close();
}

void explain::writeTarget(Markup &page, const Entry &entry,
                          const Target &target, const std::string &anchor) {
  page.leaf("h3", "Plans on " + target.name);
  if (std::string choice = choiceInWords(target); !choice.empty())
    page.leaf("p", "Taken: " + choice + ".");
  for (auto [i, plan] : llvm::enumerate(target.plans))
    writePlan(page, target, plan, i + 1);
  if (target.isGpu)
    page.leaf("p", "Predicted times: " + measuredInWords(target) + ".");
  writeRefused(page, target);
  page.leaf("h3", "Roofline of " + target.name);
  page.open("div", {{"class", "side"}}).open("figure");
  drawRoofline(page, target,
               "Roofline of " + target.name + " with the plans of entry " +
                   entry.name,
               anchor + "-roofline");
  page.leaf("figcaption",
            target.isGpu
                ? "Bounds, not measurements: no plan is faster than its "
                  "arithmetic at the peak nor than its bytes at the bandwidth. "
                  "Left of a ridge the memory is the limit."
                : "Bounds, not measurements: no plan is faster than its "
                  "arithmetic at the peak.");
  page.close();
  writePointTable(page, target);
  page.close();
}
