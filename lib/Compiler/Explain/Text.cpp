//===- Text.cpp - An explanation for a terminal ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Words.h"
#include "llvm/Support/raw_ostream.h"

using namespace prism;
using namespace prism::explain;

static void printRecurrence(llvm::raw_ostream &os,
                            const Recurrence &recurrence) {
  os << "  recognised: " << statesInWords(recurrence) << "; a step is\n";
  for (auto [i, state] : llvm::enumerate(recurrence.states)) {
    if (i > 0)
      os << "   state " << i + 1
         << (state.isChain               ? "\n"
             : state.shape == "a scalar" ? ": a computed scalar\n"
                                         : ": no chain of factors\n");
    for (const Step &step : state.steps)
      os << "    " << step.text << "\n";
  }
  os << "  class: " << recurrence.scanClass << "\n";
  os << "  work per token and value head: " << workInWords(recurrence) << "\n";
}

static void printSplit(llvm::raw_ostream &os, const Split &split) {
  os << "    " << splitInWords(split) << "\n";
  if (split.always)
    os << "      always " << *split.always << " segments\n";
  for (const SegmentRange &range : split.ranges) {
    os << "      " << stepsInWords(range);
    for (auto [heads, segments] : range.segmentsUpTo) {
      os << ", ";
      if (segments > 1)
        os << segments << " segments";
      else
        os << "whole";
      os << " up to " << heads << " sequences x value heads";
    }
    os << (range.segmentsUpTo.empty() ? ": whole\n" : "\n");
  }
}

static void printPlan(llvm::raw_ostream &os, const Target &target,
                      const Plan &plan) {
  os << "  on " << target.name << ": " << planInWords(plan) << "; "
     << costInWords(plan) << "; products " << plan.products << "\n";
  if (!plan.roles.empty())
    os << "    roles of a block: " << rolesInWords(plan) << "\n";
  if (plan.split)
    printSplit(os, *plan.split);
  for (const Limit &limit : plan.limits)
    os << "    " << limitName(target, limit) << ": "
       << limitInWords(target, limit) << "\n";
  if (!plan.predicted.empty())
    os << "    predicted for " << shapeInWords(target.shape) << ": "
       << predictedInWords(plan) << "\n";
  for (const Remark &remark : plan.remarks)
    os << "    note: " << remark.text << "\n";
}

static void printPrefix(llvm::raw_ostream &os, const PrefixScan &prefix) {
  os << "  recognised: a prefix scan, " << prefix.elements
     << "; an element is\n";
  for (const std::string &component : prefix.components)
    os << "    " << component << "\n";
  os << "  prefix: " << prefix.prefix << "\n  class: " << prefix.scanClass
     << "\n  note: " << prefixesAreNotCompiled << "\n";
}

void explain::printText(llvm::raw_ostream &os, const Entry &entry) {
  os << "entry '" << entry.name << "'\n";
  for (const PrefixScan &prefix : entry.prefixes)
    printPrefix(os, prefix);
  if (!entry.prefixes.empty())
    return;
  printRecurrence(os, entry.recurrence);
  for (const Target &target : entry.targets)
    for (const Plan &plan : target.plans)
      printPlan(os, target, plan);
  for (const Target &target : entry.targets)
    if (std::string choice = choiceInWords(target); !choice.empty())
      os << "  taken on " << target.name << ": " << choice << "\n";
  for (const Target &target : entry.targets)
    if (target.isGpu)
      os << "  predicted times on " << target.name << ": "
         << measuredInWords(target) << "\n";
}
