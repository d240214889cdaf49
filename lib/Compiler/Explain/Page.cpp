//===- Page.cpp - An explanation as one HTML page -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Pictures.h"
#include "Sections.h"
#include "Style.h"
#include "Words.h"

using namespace prism;
using namespace prism::explain;

/// What is recognised: in words, and each state's chain as a picture.
static void writeStep(Markup &page, const Entry &entry,
                      const std::string &anchor) {
  const Recurrence &recurrence = entry.recurrence;
  page.leaf("h3", "What was recognised");
  std::string states = statesInWords(recurrence);
  states.front() = llvm::toUpper(states.front());
  page.leaf("p", states + ".");
  page.open("p").leaf("strong", "Class").text(": " + recurrence.scanClass);
  page.close();
  page.open("div", {{"class", "side"}});
  for (auto [i, state] : llvm::enumerate(recurrence.states)) {
    std::string name = recurrence.states.size() > 1
                           ? "state " + std::to_string(i + 1)
                           : "the state";
    page.open("figure");
    if (state.isChain || !state.steps.empty())
      drawChain(page, state,
                "What a step of entry " + entry.name + " does to " + name,
                anchor + "-chain-" + std::to_string(i + 1));
    page.leaf("figcaption",
              "A step of " + name +
                  (state.isChain ? ", from top to bottom"
                                 : ": it is no chain of factors"));
    page.close();
  }
  page.open("ol");
  for (auto [i, state] : llvm::enumerate(recurrence.states))
    for (const Step &step : state.steps) {
      page.open("li");
      if (recurrence.states.size() > 1)
        page.text("state " + std::to_string(i + 1) + ", ");
      page.text(step.text);
      if (!step.formula.empty()) {
        page.text(": ").leaf("code", step.formula);
        llvm::StringRef separator = " with ";
        for (auto &[symbol, from] : step.symbols) {
          page.text(separator + symbol + " = ").leaf("code", from);
          separator = ", ";
        }
      }
      page.close();
    }
  page.close().close();
}

static std::string roleInWords(runtime::Role role) {
  std::string text = runtime::toString(role);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

static void writeSizes(Markup &page, const Entry &entry) {
  page.leaf("h3", "Sizes and work");
  page.leaf("p", "Per token and value head: " + workInWords(entry.recurrence) +
                     ". Multiply-adds count two.");
  openTable(page, "words",
            "Arguments; B sequences of T steps, N packed ones, are known at "
            "the call");
  page.open("thead").open("tr");
  for (const char *head : {"name", "role", "type", "shape"})
    page.leaf("th", {{"scope", "col"}}, head);
  page.close().close().open("tbody");
  for (const runtime::ArgumentInfo &argument : entry.arguments) {
    page.open("tr").open("th", {{"scope", "row"}});
    page.leaf("code", argument.name).close();
    page.leaf("td", roleInWords(argument.role) +
                        (argument.optional ? ", optional" : ""));
    page.leaf("td", runtime::toString(argument.dtype));
    page.leaf("td", runtime::toString(argument.shape)).close();
  }
  page.close().close().close();
}

static void writePrograms(Markup &page, const Entry &entry) {
  page.leaf("h3", "Tile programs");
  page.leaf("p", {{"class", "soft"}},
            "What one work item does, before it is lowered for its target.");
  for (const Target &target : entry.targets)
    for (auto [i, plan] : llvm::enumerate(target.plans)) {
      page.open("details");
      page.leaf("summary", "plan " + std::to_string(i + 1) + " on " +
                               target.name + ": " + planInWords(plan));
      page.open("pre", {{"tabindex", "0"}}).leaf("code", plan.program).close();
      page.close();
    }
}

static void writePrefix(Markup &page, const PrefixScan &prefix) {
  page.leaf("h3", "What was recognised");
  page.leaf("p", "A prefix scan, " + prefix.elements + ". An element is");
  page.open("ul");
  for (const std::string &component : prefix.components)
    page.open("li").leaf("code", component).close();
  page.close();
  page.open("p").leaf("strong", "Prefix").text(": " + prefix.prefix);
  page.close();
  page.open("p").leaf("strong", "Class").text(": " + prefix.scanClass);
  page.close();
  page.open("p").leaf("strong", "Note").text(": ");
  page.text(prefixesAreNotCompiled).close();
}

static void writeEntry(Markup &page, const Entry &entry,
                       const std::string &anchor) {
  page.open("section", {{"id", anchor}});
  page.leaf("h2", "Entry " + entry.name);
  for (const PrefixScan &prefix : entry.prefixes)
    writePrefix(page, prefix);
  if (!entry.prefixes.empty()) {
    page.close();
    return;
  }
  writeStep(page, entry, anchor);
  writeSizes(page, entry);
  for (auto [i, target] : llvm::enumerate(entry.targets))
    writeTarget(page, entry, target,
                anchor + "-target-" + std::to_string(i + 1));
  writePrograms(page, entry);
  page.close();
}

static void writeHead(Markup &page, const std::string &title) {
  page.verbatim("<!DOCTYPE html>\n");
  page.open("html", {{"lang", "en"}}).open("head");
  page.empty("meta", {{"charset", "utf-8"}});
  // Whatever a model's names hold: nothing is loaded, nothing runs.
  page.empty("meta", {{"http-equiv", "Content-Security-Policy"},
                      {"content", "default-src 'none'; style-src "
                                  "'unsafe-inline'"}});
  page.empty("meta", {{"name", "viewport"},
                      {"content", "width=device-width, initial-scale=1"}});
  page.leaf("title", title);
  page.open("style").verbatim(styleSheet).close();
  page.close();
}

std::string explain::printPage(llvm::StringRef model,
                               llvm::ArrayRef<Entry> entries) {
  Markup page;
  writeHead(page, model.str() + ": what Prism recognised and chose");
  page.open("body").open("header");
  page.leaf("h1", model + ": what was recognised and chosen");
  page.leaf("p", {{"class", "soft"}}, compilerVersion());
  page.open("nav", {{"aria-label", "Entries"}}).open("ul");
  for (auto [i, entry] : llvm::enumerate(entries))
    page.open("li")
        .leaf("a", {{"href", "#entry-" + std::to_string(i + 1)}},
              "Entry " + entry.name)
        .close();
  page.close().close().close().open("main");
  for (auto [i, entry] : llvm::enumerate(entries))
    writeEntry(page, entry, "entry-" + std::to_string(i + 1));
  page.close().close().close();
  return page.take();
}
