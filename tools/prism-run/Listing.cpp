//===- Listing.cpp - Prints what a bundle holds ----------------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Listing.h"

#include <algorithm>

namespace prism::run {

using namespace prism::runtime;

static std::string padded(const std::string &text, size_t width) {
  return text + std::string(width > text.size() ? width - text.size() : 0, ' ');
}

static std::string listArgument(const ArgumentInfo &argument, size_t width) {
  return std::string("    ") + (isWritten(argument.role) ? "out " : "in  ") +
         padded(argument.name, width) + "  " +
         padded(toString(argument.dtype), 4) + "  " +
         padded(toString(argument.shape), 18) + "  axes " +
         padded(argument.axes, 5) + (argument.optional ? "  optional" : "") +
         "\n";
}

static std::string preparing(int64_t blocks) {
  return blocks == 0 ? "" : ", prepare blocks " + std::to_string(blocks);
}

std::string describe(const KernelInfo &kernel) {
  const PlanInfo &plan = kernel.plan;
  bool cuda = kernel.target == Target::Cuda;
  std::string text = std::string(toString(kernel.target)) + " " +
                     (cuda ? kernel.chip : kernel.isa) + ", schedule " +
                     plan.schedule + " (chunk " + std::to_string(plan.chunk) +
                     ", value block " + std::to_string(plan.valueBlock) +
                     preparing(plan.prepareBlocks) + ", stages " +
                     std::to_string(plan.stages) + "), matmul " + kernel.matmul;
  if (kernel.isSplit())
    text += ", splits sequences in " +
            std::to_string(kernel.before.size() + 1) + " launches";
  if (kernel.workspace > 0)
    text += ", workspace " + std::to_string(kernel.workspace) +
            " bytes per work item";
  if (cuda)
    text += ", " + std::to_string(kernel.threads) + " threads, " +
            std::to_string(kernel.shared) + " bytes shared";
  if (cuda && !kernel.ptx.empty())
    text += ", PTX " + kernel.ptxVersion;
  if (cuda && !kernel.cubin.empty())
    text += ", cubin";
  return text;
}

static std::string listChoice(const EntryInfo &entry, Target target) {
  std::string text;
  for (const ChoiceRow &row : entry.choice) {
    if (row.target != target)
      continue;
    text += text.empty() ? std::string("    ") + toString(target) + ": " : ", ";
    if (!row.machine.empty())
      text += "on " + row.machine + " ";
    text += row.schedule;
    if (row.valueBlock != 0)
      text += " (value block " + std::to_string(row.valueBlock) +
              preparing(row.prepareBlocks) + ")";
    if (row.segments > 1)
      text += " in " + std::to_string(row.segments) + " segments";
    if (row.maxSteps != INT64_MAX)
      text += " up to " + std::to_string(row.maxSteps) + " steps";
    if (row.maxHeads != INT64_MAX)
      text += std::string(row.maxSteps != INT64_MAX ? " and" : " up to") + " " +
              std::to_string(row.maxHeads) + " sequences x value heads";
  }
  return text.empty() ? "" : text + "\n";
}

static std::string listEntry(const EntryInfo &entry) {
  std::string text = "entry " + entry.name + " (" +
                     std::to_string(entry.valueHeads) + " value heads" +
                     (entry.reverse ? ", reverse" : "") + ")\n";
  size_t width = 0;
  for (const ArgumentInfo &argument : entry.arguments)
    width = std::max(width, argument.name.size());
  text += "  arguments\n";
  for (const ArgumentInfo &argument : entry.arguments)
    text += listArgument(argument, width);
  text += "  kernels\n";
  for (const KernelInfo &kernel : entry.kernels)
    text += "    " + describe(kernel) + "\n";
  std::string choice =
      listChoice(entry, Target::Cpu) + listChoice(entry, Target::Cuda);
  return choice.empty() ? text
                        : text + "  choice by steps and heads\n" + choice;
}

std::string list(const Manifest &manifest, const EntryInfo *only) {
  std::string text =
      "bundle " + manifest.name + ", compiled by " + manifest.compiler + "\n";
  for (const EntryInfo &entry : manifest.entries)
    if (!only || &entry == only)
      text += listEntry(entry);
  return text;
}

} // namespace prism::run
