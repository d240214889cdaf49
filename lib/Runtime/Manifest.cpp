//===- Manifest.cpp - Reads manifest.json ----------------------------===//===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Not Prism/Support/Json.h, which needs LLVM: the runtime builds without.
// Nobody writes manifests by hand, so a pointer without line and column says
// enough. Complaints travel as exceptions through the reader (as those of
// nlohmann/json do) and leave it as a Failure.
//
//===----------------------------------------------------------------------===//

#include "prism-runtime/Manifest.h"
#include "ManifestNames.h"
#include "ManifestNode.h"
#include "Support.h"

#include <algorithm>
#include <set>

namespace prism::runtime {

using nlohmann::json;

namespace {

constexpr int64_t maxBytes = int64_t(64) << 20; // of a manifest
constexpr size_t maxRank = 8;
constexpr int64_t maxExtent = int64_t(1) << 40;
constexpr int64_t maxSegments = 1 << 20; // of a sequence

std::string readIdentifier(const Node &node) {
  std::string name = node.text();
  if (!isIdentifier(name))
    node.fail("a name of letters, digits and _");
  return name;
}

/// Arrays of the workspace have an axis of segments, the caller's have not.
Dim readDim(const Node &node, bool isIntermediate) {
  Dim dim;
  if (node.isNumber()) {
    dim.number = node.integer(0, maxExtent);
    return dim;
  }
  std::vector<std::string> symbols = {"B", "T", "N", "N+1", "S"};
  if (!isIntermediate)
    symbols.pop_back();
  dim.kind = static_cast<Dim::Kind>(node.oneOf(symbols) + 1);
  return dim;
}

ArgumentInfo readArgument(const Node &node, bool isIntermediate = false) {
  ArgumentInfo argument;
  // The last name is theirs, the others the caller's.
  std::vector<std::string> roles = roleNames();
  size_t caller = roles.size() - 1;
  roles.erase(isIntermediate ? roles.begin() : roles.begin() + caller,
              isIntermediate ? roles.begin() + caller : roles.end());
  argument.name = readIdentifier(node.at("name", "a string"));
  size_t role = node.at("role", "a string").oneOf(roles);
  argument.role = static_cast<Role>(isIntermediate ? caller : role);
  argument.dtype =
      static_cast<DType>(node.at("dtype", "a string").oneOf(dtypeNames()));
  argument.optional = node.at("optional", "true or false").boolean();
  Node shape = node.at("shape", "an array");
  for (const Node &dim : shape.list())
    argument.shape.push_back(readDim(dim, isIntermediate));
  if (argument.shape.size() > maxRank)
    shape.fail("at most " + std::to_string(maxRank) + " dimensions");
  Node axes = node.at("axes", "a string");
  argument.axes = argument.shape.empty() && node.has("axes") ? "" : axes.text();
  bool letters = std::all_of(argument.axes.begin(), argument.axes.end(),
                             [](char c) { return c >= 'a' && c <= 'z'; });
  if (!letters || argument.axes.size() != argument.shape.size())
    axes.fail("one lower-case letter for each of the " +
              std::to_string(argument.shape.size()) + " dimensions");
  bool counts = argument.shape.size() == 1 &&
                argument.shape[0].kind == Dim::NPlus1 &&
                argument.dtype == DType::I64;
  if (argument.role == Role::Offsets && !counts)
    node.fail("offsets with dtype \"i64\" and shape [\"N+1\"]",
              std::string(toString(argument.dtype)) + " and " +
                  toString(argument.shape));
  return argument;
}

PlanInfo readPlan(const Node &node) {
  PlanInfo plan;
  plan.schedule = node.text("schedule");
  plan.chunk = node.integer("chunk", 1, 1 << 20);
  plan.valueBlock = node.integer("value_block", 1, 1 << 20);
  plan.stages = node.integer("stages", 1, 1024);
  if (node.has("prepare_blocks"))
    plan.prepareBlocks = node.integer("prepare_blocks", 0, 16);
  return plan;
}

std::string readPtxVersion(const Node &node) {
  std::string version = node.text();
  auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
  size_t dot = version.find('.');
  bool good = dot != std::string::npos && dot > 0 && dot <= 2 &&
              version.size() - dot == 2 && isDigit(version.back()) &&
              std::all_of(version.begin(), version.begin() + dot, isDigit);
  if (!good)
    node.fail("a PTX version such as \"8.0\"");
  return version;
}

void readCuda(const Node &node, KernelInfo &kernel) {
  Node chip = node.at("chip", "a string");
  kernel.chip = chip.text();
  const std::string &name = kernel.chip;
  size_t digits = name.find_first_not_of("0123456789", 3);
  bool suffix = digits == std::string::npos ||
                (digits == name.size() - 1 &&
                 (name[digits] == 'a' || name[digits] == 'f'));
  size_t count = (digits == std::string::npos ? name.size() : digits) - 3;
  if (name.compare(0, 3, "sm_") != 0 || !suffix || count < 2 || count > 3)
    chip.fail("a chip such as \"sm_90a\"");
  if (node.has("ptx")) {
    kernel.ptx = node.at("ptx", "a string").file();
    kernel.ptxVersion = readPtxVersion(node.at("ptx_version", "a string"));
  }
  if (node.has("cubin"))
    kernel.cubin = node.at("cubin", "a string").file();
  if (kernel.ptx.empty() && kernel.cubin.empty())
    node.fail("a key 'ptx' or 'cubin'", "neither");
  kernel.threads = node.integer("threads", 1, 1024);
  kernel.shared = node.integer("shared", 0, 1 << 24);
  if (node.has("items_per_block"))
    kernel.itemsPerBlock = node.integer("items_per_block", 1, 1 << 20);
}

/// Of a slab of the kernels' tiles and of a warp's columns: 128 and 32 bytes,
/// which a swizzle permutes.
constexpr int64_t slabColumns = 64, warpColumns = 16;
constexpr int64_t maxBoxRows = 256, maxTensorMaps = 16;

void readTensorMaps(const Node &node, const EntryInfo &entry,
                    size_t intermediates, KernelInfo &kernel) {
  if (!node.has("tensor_maps"))
    return;
  Node list = node.at("tensor_maps", "an array");
  for (const Node &item : list.list()) {
    TensorMapInfo map;
    Node name = item.at("argument", "a string");
    map.argument = name.text();
    map.rows = item.integer("rows", 1, maxBoxRows);
    map.columns = item.integer("columns", 1, slabColumns);
    if (map.columns != slabColumns && map.columns != warpColumns)
      item.at("columns", "").fail("16 or 64");
    if (item.has("ranks"))
      map.ranks = item.integer("ranks", 1, maxBoxRows / map.rows);
    if (!entry.locate(map, intermediates))
      name.fail("the name of an argument of bf16 or f16, of at most 5 axes, "
                "one of them t and the last none of b, t, h, n, nor the one "
                "before it where boxes have ranks");
    kernel.tensorMaps.push_back(std::move(map));
  }
  if (kernel.tensorMaps.size() > maxTensorMaps)
    list.fail("at most " + std::to_string(maxTensorMaps) + " tensor maps");
}

/// One launch: a kernel, or what goes before one.
KernelInfo readLaunch(const Node &node, const EntryInfo &entry,
                      size_t intermediates) {
  KernelInfo kernel;
  kernel.target =
      static_cast<Target>(node.at("target", "a string").oneOf(targetNames()));
  kernel.symbol = readIdentifier(node.at("symbol", "a string"));
  kernel.plan = readPlan(node.at("plan", "an object"));
  kernel.valueBlocks = node.integer("value_blocks", 1, 1 << 20);
  kernel.workspace = node.integer("workspace", 0, int64_t(1) << 40);
  kernel.matmul = node.text("matmul");
  if (kernel.target == Target::Cuda) {
    readCuda(node, kernel);
    readTensorMaps(node, entry, intermediates, kernel);
  } else {
    kernel.isa = node.text("isa");
    kernel.file = node.at("file", "a string").file();
  }
  if (node.has("items"))
    kernel.items =
        static_cast<Items>(node.at("items", "a string").oneOf(itemsNames()));
  return kernel;
}

KernelInfo readKernel(const Node &node, const EntryInfo &entry) {
  if (!node.has("intermediates")) {
    KernelInfo kernel = readLaunch(node, entry, 0);
    if (kernel.items != Items::Sequences)
      node.fail("a key 'intermediates' beside items " +
                    quote(toString(kernel.items)),
                "none");
    return kernel;
  }
  Node intermediates = node.at("intermediates", "an array");
  size_t count = intermediates.list().size();
  KernelInfo kernel = readLaunch(node, entry, count);
  for (const Node &array : intermediates.list())
    kernel.intermediates.push_back(
        readArgument(array, /*isIntermediate=*/true));
  if (kernel.intermediates.empty())
    intermediates.fail("at least one array");
  for (const Node &launch : node.at("before", "an array").list()) {
    kernel.before.push_back(readLaunch(launch, entry, count));
    if (kernel.before.back().target != kernel.target)
      launch.fail("the target of the kernel, " + quote(toString(kernel.target)),
                  quote(toString(kernel.before.back().target)));
  }
  return kernel;
}

ChoiceRow readChoice(const Node &node) {
  ChoiceRow row;
  row.target =
      static_cast<Target>(node.at("target", "a string").oneOf(targetNames()));
  if (node.has("max_steps"))
    row.maxSteps = node.integer("max_steps", 0, INT64_MAX);
  if (node.has("max_heads"))
    row.maxHeads = node.integer("max_heads", 0, INT64_MAX);
  row.schedule = node.text("schedule");
  if (node.has("value_block"))
    row.valueBlock = node.integer("value_block", 1, 1 << 20);
  if (node.has("prepare_blocks"))
    row.prepareBlocks = node.integer("prepare_blocks", 0, 16);
  if (node.has("segments"))
    row.segments = node.integer("segments", 1, maxSegments);
  const char *machine = row.target == Target::Cuda ? "chip" : "isa";
  if (node.has(machine))
    row.machine = node.text(machine);
  return row;
}

/// Each choice must name a schedule that its target has, if it has kernels, and
/// a value block of that schedule and a machine of the kernels, if it names
/// one.
void checkChoice(const EntryInfo &entry, const ChoiceRow &row,
                 const Node &node) {
  std::vector<std::string> schedules, blocks, machines;
  for (const KernelInfo &kernel : entry.kernels) {
    if (kernel.target != row.target)
      continue;
    schedules.push_back(kernel.plan.schedule);
    machines.push_back(kernel.machine());
    std::string block = std::to_string(kernel.plan.valueBlock);
    if (kernel.plan.schedule == row.schedule &&
        std::find(blocks.begin(), blocks.end(), block) == blocks.end())
      blocks.push_back(block);
  }
  if (schedules.empty())
    return;
  node.at("schedule", "a string").oneOf(schedules);
  if (!row.machine.empty())
    node.at(row.target == Target::Cuda ? "chip" : "isa", "a string")
        .oneOf(machines);
  std::string wanted = std::to_string(row.valueBlock);
  if (row.valueBlock != 0 &&
      std::find(blocks.begin(), blocks.end(), wanted) == blocks.end())
    node.at("value_block", "an integer").fail("one of " + join(blocks));
  auto prepares = [&](const KernelInfo &kernel) {
    return kernel.target == row.target &&
           kernel.plan.schedule == row.schedule &&
           kernel.plan.valueBlock == row.valueBlock &&
           kernel.plan.prepareBlocks == row.prepareBlocks;
  };
  if (row.prepareBlocks != 0 &&
      std::none_of(entry.kernels.begin(), entry.kernels.end(), prepares))
    node.at("prepare_blocks", "an integer")
        .fail("those of a kernel with the schedule and the value block");
  auto splits = [&](const KernelInfo &kernel) {
    return kernel.target == row.target && kernel.isSplit() &&
           kernel.plan.schedule == row.schedule;
  };
  if (row.segments > 1 &&
      std::none_of(entry.kernels.begin(), entry.kernels.end(), splits))
    node.at("segments", "an integer")
        .fail("1, as no kernel of the schedule splits sequences");
}

/// Names are keys: none may come twice.
template <typename Things>
void checkUnique(const Things &things, const Node &node) {
  std::set<std::string> names;
  for (const auto &thing : things)
    if (!names.insert(thing.name).second)
      node.fail("distinct names", quote(thing.name) + " twice");
}

EntryInfo readEntry(const Node &node) {
  EntryInfo entry;
  entry.name = readIdentifier(node.at("name", "a string"));
  entry.valueHeads = node.integer("value_heads", 1, 1 << 24);
  entry.reverse = node.at("reverse", "true or false").boolean();
  Node arguments = node.at("arguments", "an array");
  for (const Node &argument : arguments.list())
    entry.arguments.push_back(readArgument(argument));
  checkUnique(entry.arguments, arguments);
  if (std::count_if(entry.arguments.begin(), entry.arguments.end(),
                    [](const ArgumentInfo &argument) {
                      return argument.role == Role::Offsets;
                    }) > 1)
    arguments.fail("one argument with role \"offsets\"", "several");
  for (const Node &kernel : node.at("kernels", "an array").list())
    entry.kernels.push_back(readKernel(kernel, entry));
  for (const Node &row : node.at("choice", "an array").list()) {
    entry.choice.push_back(readChoice(row));
    checkChoice(entry, entry.choice.back(), row);
  }
  return entry;
}

Manifest readRoot(const Node &root) {
  int64_t version = root.integer("prism_manifest", 1, INT64_MAX);
  if (version > manifestVersion)
    root.at("prism_manifest", "")
        .fail("a manifest of version " + std::to_string(manifestVersion) +
                  " at most",
              "version " + std::to_string(version) +
                  "; a newer runtime is needed to play this bundle");
  Manifest manifest;
  manifest.compiler = root.text("compiler");
  manifest.name = root.text("name");
  Node entries = root.at("entries", "an array");
  for (const Node &entry : entries.list())
    manifest.entries.push_back(readEntry(entry));
  checkUnique(manifest.entries, entries);
  return manifest;
}

} // namespace

/// The parser takes a NUL byte for the text's end, and would not look at the
/// rest.
static void checkBytes(const std::string &text) {
  size_t nul = text.find('\0');
  if (nul != std::string::npos)
    throw Complaint{"expected JSON, found a NUL byte after " +
                    std::to_string(nul) + " bytes"};
}

Result<Manifest> parseManifest(const std::string &text,
                               const std::string &file) {
  try {
    checkBytes(text);
    json value = json::parse(text);
    return readRoot(Node(value, ""));
  } catch (const Complaint &complaint) {
    return Failure{file + ": " + complaint.message};
  } catch (const json::parse_error &error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    std::string what = error.what();
    size_t start = what.find("] ");
    return Failure{
        file + ": expected JSON, found a " +
        (start == std::string::npos ? what : what.substr(start + 2))};
  } catch (const std::exception &error) {
    return Failure{file + ": cannot read: " + error.what()};
  }
}

Result<std::string> readManifestText(const BundleFiles &files) {
  // A folder's file is read by its path: a link may lead out of the folder.
  return files.inMemory() ? files.read("manifest.json", maxBytes)
                          : readFile(files.show("manifest.json"), maxBytes);
}

Result<Manifest> readManifest(const BundleFiles &files) {
  Result<std::string> text = readManifestText(files);
  if (!text)
    return text.failure();
  return parseManifest(*text, files.show("manifest.json"));
}

} // namespace prism::runtime
