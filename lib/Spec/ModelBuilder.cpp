//===- ModelBuilder.cpp - Names, dims, types, inputs, entries, plans ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ModelBuilder.h"
#include "Prism/Spec/Structure.h"

using namespace prism;
using namespace prism::spec;

//===----------------------------------------------------------------------===//
// Small things of the model
//===----------------------------------------------------------------------===//

llvm::StringRef prism::spec::stringify(ElementType type) {
  static constexpr llvm::StringLiteral kNames[] = {"f64", "f32", "bf16", "f16"};
  return kNames[static_cast<unsigned>(type)];
}
llvm::StringRef prism::spec::stringify(Along along) {
  static constexpr llvm::StringLiteral kNames[] = {"scalar", "key", "value",
                                                   "element"};
  return kNames[static_cast<unsigned>(along)];
}
llvm::StringRef prism::spec::stringify(RefineActivation activation) {
  static constexpr llvm::StringLiteral kNames[] = {"identity", "gelu", "silu",
                                                   "tanh", "relu"};
  return kNames[static_cast<unsigned>(activation)];
}

bool prism::spec::isOuterAxis(llvm::StringRef axis) {
  return axis == "B" || axis == "T" || axis == "H" || axis == "Hk" ||
         axis == "Hv";
}

std::string prism::spec::printAxes(llvm::ArrayRef<std::string> axes) {
  return "[" + llvm::join(axes, ", ") + "]";
}

template <typename Range>
static auto findNamed(const Range &range, llvm::StringRef name)
    -> decltype(&*range.begin()) {
  for (const auto &element : range)
    if (element.name == name)
      return &element;
  return nullptr;
}
const Dim *Spec::findDim(llvm::StringRef name) const {
  return findNamed(dims, name);
}
const Input *Spec::findInput(llvm::StringRef name) const {
  return findNamed(inputs, name);
}
const Let *Spec::findLet(llvm::StringRef name) const {
  return findNamed(lets, name);
}

const State *Spec::findState(llvm::StringRef name) const {
  return findNamed(states, name);
}
const ReadStep *Spec::findRead(llvm::StringRef name) const {
  for (const Step &step : steps)
    if (auto *read = std::get_if<ReadStep>(&step.factor);
        read && read->output == name)
      return read;
  return nullptr;
}

template <typename Range>
static std::vector<llvm::StringRef> namesOf(const Range &range) {
  std::vector<llvm::StringRef> names;
  for (const auto &element : range)
    names.push_back(element.name);
  return names;
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

llvm::FailureOr<Spec> prism::spec::readSpec(llvm::StringRef text,
                                            llvm::StringRef file,
                                            SpecDiagnostic &diagnostic) {
  diagnostic.stage = Stage::Text;
  llvm::FailureOr<JsonNode> document = parseJson(text, file, diagnostic);
  if (failed(document) || failed(checkStructure(*document, diagnostic)))
    return llvm::failure();
  llvm::FailureOr<JsonNode> expanded = expandFamily(*document, diagnostic);
  if (failed(expanded))
    return llvm::failure();
  Spec spec;
  spec.file = file.str();
  if (!ModelBuilder(*expanded, spec, diagnostic).build())
    return llvm::failure();
  return spec;
}

bool ModelBuilder::build() {
  return refuseUnbuilt() && readNames() && readDims() && readStates() &&
         readTypes() && readInputs() && readConvolutions() && readLets() &&
         readSteps() && readOutputs() && finishTypes() && checkUses() &&
         readEntries() && readPlans() && readTargets();
}

/// What the format has and the compiler does not: a sentence each.
bool ModelBuilder::refuseUnbuilt() {
  if (const JsonNode *psm = root.find("psm"))
    return fail(psm->loc, "general prefix-scannable models are not built yet");
  const JsonNode *matmul = root.find("matmul");
  if (matmul && matmul->string != "ieee")
    return fail(matmul->loc, "matmul '" + matmul->string +
                                 "' is not built yet, expected ieee");
  return true;
}

bool ModelBuilder::readNames() {
  spec.loc = root.loc;
  const JsonNode *name = root.find("name");
  if (!name)
    return fail(root.loc, "missing key 'name'");
  spec.name = name->string;
  if (const JsonNode *description = root.find("description"))
    spec.description = description->string;
  if (const JsonNode *reverse = root.find("reverse"))
    spec.reverse = reverse->boolean;
  if (const JsonNode *invariant = root.find("batch_invariant"))
    spec.batchInvariant = invariant->boolean;
  if (const JsonNode *layout = root.find("layout"))
    spec.headFirst = layout->string == "head_first";
  if (const JsonNode *serial = root.find("serial"))
    spec.serial = serial->boolean;
  if (const JsonNode *granularity = root.find("granularity"))
    if (const JsonNode *steps = granularity->find("mini_batch"))
      spec.miniBatch = steps->integer();
  return true;
}

//===----------------------------------------------------------------------===//
// Dims and types
//===----------------------------------------------------------------------===//

bool ModelBuilder::addHeadDims(const JsonNode &dims) {
  const JsonNode *both = dims.find("H"), *key = dims.find("Hk"),
                 *value = dims.find("Hv");
  if (both && (key || value))
    return fail(
        (key ? key : value)->loc,
        "'H' sets Hk and Hv already; expected either H or both Hk and Hv");
  if (!both && !(key && value))
    return fail(dims.loc, "expected the dim 'H' or both 'Hk' and 'Hv'");
  if (both)
    spec.dims.push_back({"H", both->integer(), 'h'});
  const JsonNode *keyHeads = both ? both : key,
                 *valueHeads = both ? both : value;
  spec.dims.push_back({"Hk", keyHeads->integer(), 'h'});
  spec.dims.push_back({"Hv", valueHeads->integer(), 'h'});
  if (valueHeads->integer() % keyHeads->integer() != 0)
    return fail(valueHeads->loc, "expected Hv to be a multiple of Hk = " +
                                     llvm::Twine(keyHeads->integer()) +
                                     ", found " +
                                     llvm::Twine(valueHeads->integer()));
  return true;
}

bool ModelBuilder::readDims() {
  const JsonNode &dims = *root.find("dims");
  for (const char *name : {"B", "T"}) {
    const JsonNode *node = dims.find(name);
    Dim dim{name, std::nullopt, name[0] == 'B' ? 'b' : 't'};
    if (node && !node->is(JsonKind::Null))
      dim.extent = node->integer();
    spec.dims.push_back(dim);
  }
  if (!addHeadDims(dims))
    return false;
  if (!dims.find("K"))
    return fail(dims.loc, "missing key 'K'");
  spec.dims.push_back({"K", dims.find("K")->integer(), 'k'});
  spec.dims.push_back({"V", dims.find("V")->integer(), 'v'});
  if (const JsonNode *rank = dims.find("L"))
    spec.dims.push_back({"L", rank->integer(), 'l'});

  // Other dims take a letter of their own, their first one if it is free.
  std::string taken = "bthnkvl";
  for (const JsonMember &member : dims.members) {
    if (spec.findDim(member.key))
      continue;
    if (member.key == "N")
      return fail(member.keyLoc, "'N' is the number of sequences, which a call "
                                 "decides; expected another name");
    char letter = llvm::toLower(member.key[0]);
    for (char c = 'a'; llvm::is_contained(taken, letter) && c <= 'z'; ++c)
      letter = c;
    taken += letter;
    spec.dims.push_back({member.key, member.value.integer(), letter});
  }
  return true;
}

static ElementType parseType(llvm::StringRef name) {
  for (ElementType type :
       {ElementType::F64, ElementType::F32, ElementType::BF16})
    if (stringify(type) == name)
      return type;
  return ElementType::F16; // the structural stage admits no fifth name
}

bool ModelBuilder::readTypes() {
  const JsonNode *types = root.find("dtype");
  auto typeOf = [&](llvm::StringRef key) {
    return types ? types->find(key) : nullptr;
  };
  if (const JsonNode *io = typeOf("io"))
    spec.io = parseType(io->string);
  spec.gate = spec.state = spec.computeType();
  if (const JsonNode *gate = typeOf("gate")) {
    spec.gate = parseType(gate->string);
    if (spec.gate == ElementType::F64 && spec.io != ElementType::F64)
      return fail(gate->loc, "gates of f64 need dtype.io f64, found " +
                                 stringify(spec.io));
  }
  if (const JsonNode *state = typeOf("state")) {
    spec.state = parseType(state->string);
    if ((spec.state == ElementType::F64) != (spec.io == ElementType::F64))
      return fail(
          state->loc,
          "expected " +
              llvm::Twine(spec.io == ElementType::F64 ? "f64" : "f32 or bf16") +
              " states with dtype.io " + stringify(spec.io) + ", found " +
              state->string);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

bool ModelBuilder::checkNewName(llvm::StringRef name, const SourceLoc &loc) {
  auto reserved = [&](const State &state) {
    return name == state.initialName() || name == state.finalName();
  };
  auto isWindow = [&](const ShortConvolution &convolution) {
    return name == convolution.initialName() || name == convolution.finalName();
  };
  if (llvm::any_of(spec.convolutions, isWindow))
    return fail(loc, "the name '" + name + "' is that of a window");
  if (name == "offsets" || llvm::any_of(spec.states, reserved))
    return fail(loc, "the name '" + name + "' is reserved; every model has it");
  if (spec.states.size() > 1 && spec.findState(name))
    return fail(loc, "the name '" + name + "' is that of a state");
  for (const auto &function : getFunctions())
    if (name == function.first)
      return fail(loc, "the name '" + name + "' is a function of let");
  return true;
}

bool ModelBuilder::checkInputAxes(const Input &input, const JsonNode &axes) {
  bool head = false, feature = false;
  unsigned features = 0;
  llvm::StringSet<> seen;
  for (const JsonNode &axis : axes.items) {
    llvm::StringRef name = axis.string;
    if (!spec.findDim(name)) {
      auto names = namesOf(spec.dims);
      llvm::StringRef nearest = nearestName(name, names);
      return fail(axis.loc,
                  "unknown axis '" + name + "' of input '" + input.name +
                      "', expected " + joinNames(names),
                  nearest);
    }
    if (!seen.insert(name).second)
      return fail(axis.loc,
                  "axis '" + name + "' twice in input '" + input.name + "'");
    bool isHead = name.starts_with("H") && isOuterAxis(name);
    if (isHead && head)
      return fail(axis.loc, "second head axis '" + name + "' of input '" +
                                input.name + "'");
    if (isOuterAxis(name) && feature)
      return fail(axis.loc, "axis '" + name + "' of input '" + input.name +
                                "' after one of a token's own axes; B, T and "
                                "the head axis come first, in any order");
    head |= isHead;
    feature |= !isOuterAxis(name);
    features += !isOuterAxis(name);
    if (features > 2)
      return fail(
          axis.loc,
          "input '" + input.name +
              "' has more than two axes besides B, T and the head axis");
  }
  return true;
}

bool ModelBuilder::readInputs() {
  const JsonNode *inputs = root.find("inputs");
  if (!inputs || inputs->members.empty())
    return fail(inputs ? inputs->loc : root.loc,
                "expected at least one input under 'inputs'");
  bool hasBatch = false, hasTime = false;
  for (const JsonMember &member : inputs->members) {
    if (!checkNewName(member.key, member.keyLoc))
      return false;
    const JsonNode &axes = member.value.is(JsonKind::Array)
                               ? member.value
                               : *member.value.find("axes");
    Input input;
    input.name = member.key;
    input.loc = member.keyLoc;
    for (const JsonNode &axis : axes.items)
      input.axes.push_back(axis.string);
    if (!checkInputAxes(input, axes))
      return false;
    hasBatch |= llvm::is_contained(input.axes, "B");
    hasTime |= llvm::is_contained(input.axes, "T");
    spec.inputs.push_back(std::move(input));
  }
  if (!hasTime)
    return fail(inputs->loc, "no input has the axis 'T'; a recurrence needs "
                             "one that changes with time");
  if (!hasBatch)
    return fail(inputs->loc, "no input has the axis 'B'; the outputs have it");
  return true;
}

/// Inputs without K and V axes and log-gates are gates; the rest is io.
bool ModelBuilder::finishTypes() {
  const JsonNode &inputs = *root.find("inputs");
  for (auto [input, member] : llvm::zip_equal(spec.inputs, inputs.members)) {
    bool wide = llvm::is_contained(input.axes, "K") ||
                llvm::is_contained(input.axes, "V");
    input.type = !wide || decayGates.contains(input.name) ? spec.gate : spec.io;
    const JsonNode *type = member.value.find("dtype");
    if (!type)
      continue;
    input.type = parseType(type->string);
    if (input.type == ElementType::F64 && spec.io != ElementType::F64)
      return fail(type->loc, "an f64 input needs dtype.io f64, found " +
                                 stringify(spec.io));
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Entries, plans, targets
//===----------------------------------------------------------------------===//

bool ModelBuilder::readEntries() {
  const JsonNode *entries = root.find("entries");
  if (!entries) {
    spec.entries = {{"forward", std::nullopt, root.loc}};
    if (!spec.miniBatch)
      spec.entries.push_back({"decode", std::nullopt, root.loc});
    return true;
  }
  static constexpr llvm::StringRef kEntries[] = {"forward", "decode",
                                                 "backward"};
  for (const JsonNode &entry : entries->items) {
    llvm::StringRef name = entry.string;
    if (!llvm::is_contained(kEntries, name))
      return fail(entry.loc,
                  "unknown entry '" + name + "', expected forward or decode",
                  nearestName(name, kEntries));
    if (name == "backward")
      return fail(
          entry.loc,
          "the entry 'backward' comes later; expected forward or decode");
    if (name == "decode" && spec.miniBatch)
      return fail(
          entry.loc,
          "a decode takes one token a call, and no argument holds the "
          "state at its mini-batch's entry; call the forward with whole "
          "mini-batches");
    for (const Entry &earlier : spec.entries)
      if (earlier.name == name)
        return fail(entry.loc, "entry '" + name + "' twice");
    spec.entries.push_back({name.str(), std::nullopt, entry.loc});
  }
  return true;
}

bool ModelBuilder::readPlan(const JsonNode &node, Plan &plan) {
  plan.places = placesOfKeys(spec.file, node);
  const JsonNode *schedule = node.find("schedule");
  if (!schedule)
    return fail(node.loc, "missing key 'schedule'");
  plan.chunked = schedule->string == "chunk";
  plan.chunk = plan.chunked ? 0 : 1;
  if (const JsonNode *chunk = node.find("chunk")) {
    plan.chunk = chunk->integer();
    if (!plan.chunked && plan.chunk != 1)
      return fail(chunk->loc,
                  "the recurrent schedule has chunks of 1 step, found " +
                      llvm::Twine(plan.chunk));
  }
  if (const JsonNode *block = node.find("value_block")) {
    plan.valueBlock = block->integer();
    if (plan.valueBlock > spec.extent("V"))
      return fail(block->loc, "expected a value_block of at most V = " +
                                  llvm::Twine(spec.extent("V")) + ", found " +
                                  llvm::Twine(plan.valueBlock));
  }
  if (const JsonNode *stages = node.find("stages"))
    plan.stages = stages->integer();
  if (const JsonNode *segments = node.find("segments")) {
    plan.segments = segments->integer();
    auto isStepped = [](const Step &step) {
      auto *decay = std::get_if<DecayStep>(&step.factor);
      return decay &&
             (decay->along == Along::Value || decay->along == Along::Element);
    };
    if (!plan.chunked && plan.segments > 1 &&
        llvm::none_of(spec.steps, isStepped))
      return fail(segments->loc,
                  "the recurrent schedule splits sequences only where a decay "
                  "along value or element leaves no chunk form, found " +
                      llvm::Twine(plan.segments) + " segments");
  }
  if (const JsonNode *blocks = node.find("prepare_blocks")) {
    plan.prepareBlocks = blocks->integer();
    if (!plan.chunked && *plan.prepareBlocks > 0)
      return fail(blocks->loc,
                  "the recurrent schedule prepares nothing, found " +
                      llvm::Twine(*plan.prepareBlocks) + " prepare_blocks");
  }
  return true;
}

bool ModelBuilder::readPlans() {
  const JsonNode *plan = root.find("plan");
  if (!plan)
    return true;
  auto isEntry = [](llvm::StringRef key) {
    return key == "forward" || key == "decode" || key == "backward";
  };
  const JsonMember *byEntry = nullptr, *direct = nullptr;
  for (const JsonMember &member : plan->members)
    (isEntry(member.key) ? byEntry : direct) = &member;
  if (byEntry && direct)
    return fail(direct->keyLoc,
                "'" + direct->key + "' beside the plan of entry '" +
                    byEntry->key +
                    "'; expected either one plan or a plan by entry");
  if (!byEntry) { // one plan is that of the forward; decode stays recurrent
    Plan read;
    if (!readPlan(*plan, read))
      return false;
    for (Entry &entry : spec.entries)
      if (entry.name == "forward")
        entry.plan = read;
    return true;
  }
  for (const JsonMember &member : plan->members) {
    auto entry = llvm::find_if(
        spec.entries, [&](const Entry &e) { return e.name == member.key; });
    if (entry == spec.entries.end())
      return fail(member.keyLoc, "a plan of entry '" + member.key +
                                     "', which 'entries' does not name");
    if (!readPlan(member.value, entry->plan.emplace()))
      return false;
  }
  return true;
}

bool ModelBuilder::readTargets() {
  const JsonNode *targets = root.find("target");
  if (!targets) {
    spec.targets = {"cpu"};
    return true;
  }
  static constexpr llvm::StringRef kKinds[] = {"cpu", "cuda"};
  for (const JsonNode &target : targets->items) {
    llvm::StringRef kind = llvm::StringRef(target.string).split(':').first;
    if (!llvm::is_contained(kKinds, kind))
      return fail(target.loc,
                  "unknown target '" + target.string +
                      "', expected one like cpu, cpu:x86-64-v4 or cuda:sm_90a",
                  nearestName(kind, kKinds));
    if (llvm::is_contained(spec.targets, target.string))
      return fail(target.loc, "target '" + target.string + "' twice");
    spec.targets.push_back(target.string);
  }
  return true;
}
