//===- Manifest.cpp - manifest.json and the C header ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Target/Bundle/Bundle.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <nlohmann/json.hpp>
#include <set>

using namespace mlir;
using namespace prism;
using Json = nlohmann::ordered_json;

static runtime::DType dtypeOf(Type element) {
  if (element.isF64())
    return runtime::DType::F64;
  if (element.isBF16())
    return runtime::DType::BF16;
  if (element.isF16())
    return runtime::DType::F16;
  if (element.isInteger(64))
    return runtime::DType::I64;
  return runtime::DType::F32;
}

static runtime::Role roleOf(StringRef role) {
  if (role == "initial_state")
    return runtime::Role::InitialState;
  if (role == "offsets")
    return runtime::Role::Offsets;
  if (role == "output")
    return runtime::Role::Output;
  if (role == "final_state")
    return runtime::Role::FinalState;
  if (role == "initial_window")
    return runtime::Role::InitialWindow;
  if (role == "final_window")
    return runtime::Role::FinalWindow;
  if (role == tile::kIntermediate)
    return runtime::Role::Intermediate;
  return runtime::Role::Input;
}

static std::vector<runtime::Dim> shapeOf(tile::ArgumentAttr argument,
                                         tile::ViewType view) {
  std::vector<runtime::Dim> shape;
  bool isIntermediate = argument.getRole().getValue() == tile::kIntermediate;
  size_t feature = view.hasTime() ? 1 : 0;
  for (char letter : argument.getAxes().getValue()) {
    switch (letter) {
    case 's':
      if (isIntermediate) {
        shape.push_back({runtime::Dim::S, 0});
        break;
      }
      shape.push_back({runtime::Dim::Number, view.getShape()[feature++]});
      break;
    case 'b':
      shape.push_back({runtime::Dim::B, 0});
      break;
    case 't':
      shape.push_back({runtime::Dim::T, 0});
      break;
    case 'n':
      shape.push_back({argument.getRole().getValue() == "offsets"
                           ? runtime::Dim::NPlus1
                           : runtime::Dim::N,
                       0});
      break;
    case 'h':
      shape.push_back({runtime::Dim::Number, argument.getHeads()});
      break;
    default:
      shape.push_back({runtime::Dim::Number, view.getShape()[feature++]});
    }
  }
  return shape;
}

static runtime::ArgumentInfo describeArgument(tile::ProgramOp program,
                                              BlockArgument argument) {
  tile::ArgumentAttr attr = program.getArgument_(argument.getArgNumber());
  auto view = cast<tile::ViewType>(argument.getType());
  runtime::ArgumentInfo info;
  info.name = attr.getName().str();
  info.role = roleOf(attr.getRole().getValue());
  info.dtype = dtypeOf(view.getElementType());
  info.axes = attr.getAxes().str();
  info.shape = shapeOf(attr, view);
  info.optional = attr.getOptional();
  return info;
}

/// The arguments that are, or are not, intermediate.
static std::vector<runtime::ArgumentInfo>
describeArguments(tile::ProgramOp program, bool intermediate) {
  std::vector<runtime::ArgumentInfo> arguments;
  for (BlockArgument argument : program.getBody().getArguments()) {
    runtime::ArgumentInfo info = describeArgument(program, argument);
    if ((info.role == runtime::Role::Intermediate) == intermediate)
      arguments.push_back(std::move(info));
  }
  return arguments;
}

runtime::EntryInfo prism::describeEntry(tile::ProgramOp program,
                                        StringRef entryName) {
  runtime::EntryInfo entry;
  entry.name = entryName.str();
  entry.valueHeads = program.getValueHeads();
  entry.reverse = program.getReverse();
  entry.arguments = describeArguments(program, /*intermediate=*/false);
  return entry;
}

std::vector<runtime::ArgumentInfo>
prism::describeIntermediates(tile::ProgramOp program) {
  return describeArguments(program, /*intermediate=*/true);
}

runtime::Items prism::itemsOf(tile::ProgramOp program) {
  switch (program.getSegmentItems()) {
  case tile::SegmentItems::All:
    return runtime::Items::Segments;
  case tile::SegmentItems::Inner:
    return runtime::Items::InnerSegments;
  case tile::SegmentItems::None:
  case tile::SegmentItems::Scan:
    return runtime::Items::Sequences;
  }
  llvm_unreachable("unknown items");
}

static Json toJson(const runtime::ArgumentInfo &argument) {
  Json shape = Json::array();
  for (const runtime::Dim &dim : argument.shape) {
    if (dim.kind == runtime::Dim::Number)
      shape.push_back(dim.number);
    else
      shape.push_back(toString(dim));
  }
  return {{"name", argument.name},
          {"role", toString(argument.role)},
          {"dtype", toString(argument.dtype)},
          {"axes", argument.axes},
          {"shape", shape},
          {"optional", argument.optional}};
}

static Json toJson(const runtime::KernelInfo &kernel) {
  Json json = {{"target", toString(kernel.target)}};
  if (kernel.target == runtime::Target::Cpu) {
    json["isa"] = kernel.isa;
    json["file"] = kernel.file;
  } else {
    json["chip"] = kernel.chip;
    json["ptx_version"] = kernel.ptxVersion;
    json["ptx"] = kernel.ptx;
    if (!kernel.cubin.empty())
      json["cubin"] = kernel.cubin;
  }
  json["symbol"] = kernel.symbol;
  json["plan"] = {{"schedule", kernel.plan.schedule},
                  {"chunk", kernel.plan.chunk},
                  {"value_block", kernel.plan.valueBlock},
                  {"stages", kernel.plan.stages}};
  if (kernel.plan.prepareBlocks != 0)
    json["plan"]["prepare_blocks"] = kernel.plan.prepareBlocks;
  json["value_blocks"] = kernel.valueBlocks;
  json["workspace"] = kernel.workspace;
  json["matmul"] = kernel.matmul;
  if (kernel.target == runtime::Target::Cuda) {
    json["threads"] = kernel.threads;
    json["shared"] = kernel.shared;
    json["items_per_block"] = kernel.itemsPerBlock;
    for (const runtime::TensorMapInfo &map : kernel.tensorMaps) {
      Json box = {{"argument", map.argument},
                  {"rows", map.rows},
                  {"columns", map.columns}};
      if (map.ranks > 1)
        box["ranks"] = map.ranks;
      json["tensor_maps"].push_back(box);
    }
  }
  if (kernel.items != runtime::Items::Sequences)
    json["items"] = toString(kernel.items);
  if (!kernel.isSplit())
    return json;
  for (const runtime::ArgumentInfo &array : kernel.intermediates)
    json["intermediates"].push_back(toJson(array));
  for (const runtime::KernelInfo &before : kernel.before)
    json["before"].push_back(toJson(before));
  return json;
}

/// The oldest version whose readers play the bundle.
static int64_t versionOf(const runtime::Manifest &manifest) {
  int64_t version = 1;
  for (const runtime::EntryInfo &entry : manifest.entries) {
    for (const runtime::ArgumentInfo &argument : entry.arguments)
      if (argument.role == runtime::Role::InitialWindow ||
          argument.role == runtime::Role::FinalWindow)
        return 3;
    for (const runtime::KernelInfo &kernel : entry.kernels)
      if (kernel.isSplit() || !kernel.tensorMaps.empty())
        version = 2;
  }
  return version;
}

std::string prism::printManifest(const Bundle &bundle) {
  Json entries = Json::array();
  for (const runtime::EntryInfo &entry : bundle.manifest.entries) {
    Json arguments = Json::array(), kernels = Json::array(),
         choice = Json::array();
    for (const runtime::ArgumentInfo &argument : entry.arguments)
      arguments.push_back(toJson(argument));
    for (const runtime::KernelInfo &kernel : entry.kernels)
      kernels.push_back(toJson(kernel));
    for (const runtime::ChoiceRow &row : entry.choice) {
      Json json = {{"target", toString(row.target)}};
      if (!row.machine.empty())
        json[row.target == runtime::Target::Cuda ? "chip" : "isa"] =
            row.machine;
      if (row.maxSteps != INT64_MAX)
        json["max_steps"] = row.maxSteps;
      if (row.maxHeads != INT64_MAX)
        json["max_heads"] = row.maxHeads;
      json["schedule"] = row.schedule;
      if (row.valueBlock != 0)
        json["value_block"] = row.valueBlock;
      if (row.prepareBlocks != 0)
        json["prepare_blocks"] = row.prepareBlocks;
      if (row.segments > 1)
        json["segments"] = row.segments;
      choice.push_back(json);
    }
    entries.push_back({{"name", entry.name},
                       {"value_heads", entry.valueHeads},
                       {"reverse", entry.reverse},
                       {"arguments", arguments},
                       {"kernels", kernels},
                       {"choice", choice}});
  }
  Json manifest = {{"prism_manifest", versionOf(bundle.manifest)},
                   {"compiler", bundle.manifest.compiler},
                   {"name", bundle.manifest.name}};
  if (!bundle.spec.empty())
    manifest["spec"] =
        Json::parse(bundle.spec, nullptr, /*allow_exceptions=*/false);
  manifest["entries"] = entries;
  return manifest.dump(2) + "\n";
}

/// A CPU kernel's declaration, once.
static void declare(raw_ostream &os, const runtime::KernelInfo &kernel,
                    std::set<std::string> &declared) {
  if (kernel.target != runtime::Target::Cpu ||
      !declared.insert(kernel.symbol).second)
    return;
  os << "int32_t " << kernel.symbol
     << "(const uint64_t *words, void *workspace, int64_t begin, int64_t end);"
     << " /* value_blocks " << kernel.valueBlocks << ", workspace "
     << kernel.workspace << " bytes in " << kernel.file << " */\n";
}

std::string prism::printHeader(const Bundle &bundle) {
  std::string text;
  llvm::raw_string_ostream os(text);
  std::string guard =
      "PRISM_BUNDLE_" + StringRef(bundle.manifest.name).upper() + "_H";
  for (char &c : guard)
    if (!llvm::isAlnum(c))
      c = '_';
  os << "/* CPU kernels of the bundle '" << bundle.manifest.name
     << "', written by " << bundle.manifest.compiler << ".\n"
     << " * The ABI is described in Prism's docs/Bundle.md: `words` holds the "
        "data pointers of the\n"
     << " * arguments below, in this order, then N and T, then every "
        "argument's strides in elements. */\n"
     << "#ifndef " << guard << "\n#define " << guard
     << "\n#include <stdint.h>\n"
     << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  std::set<std::string> declared;
  for (const runtime::EntryInfo &entry : bundle.manifest.entries) {
    os << "\n/* entry '" << entry.name << "': work items N * "
       << entry.valueHeads << " * value_blocks\n";
    for (const auto &[i, argument] : llvm::enumerate(entry.arguments))
      os << " *   words[" << i << "] " << argument.name << ": "
         << toString(argument.dtype) << " " << toString(argument.shape)
         << (argument.optional ? ", optional" : "") << " ("
         << toString(argument.role) << ")\n";
    os << " */\n";
    // Levels share a symbol, and so do entries whose programs are equal.
    for (const runtime::KernelInfo &kernel : entry.kernels) {
      for (const runtime::KernelInfo &before : kernel.before)
        declare(os, before, declared);
      declare(os, kernel, declared);
    }
  }
  os << "\n#ifdef __cplusplus\n}\n#endif\n#endif /* " << guard << " */\n";
  return text;
}
