//===- Families.cpp - Presets and what they stand for ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A family is inputs, lets and steps. Here it is written as the JSON a person
// would have written, put in the place of "family" and read like any spec. This
// is the only file of the compiler that knows a family's name.
//
// `inputs` beside a family replace the axes or the type of one of its inputs or
// add inputs; a `let` with the name of one of its inputs computes that input,
// so it is no longer asked for.
//
//===----------------------------------------------------------------------===//

#include "ModelBuilder.h"
#include <nlohmann/json.hpp>

using namespace prism::spec;
using nlohmann::ordered_json;

namespace {

/// The family's part of a spec, and what its options say.
struct Preset {
  ordered_json inputs = ordered_json::object();
  ordered_json lets = ordered_json::object();
  ordered_json steps = ordered_json::array();
  std::string q = "q", k = "k";
  ordered_json readScale;
  std::string activation = "gelu";
  int64_t rank = 0;
  bool tied = false;
  bool headFirst = false;
  std::string keyHeads = "H", valueHeads = "H";

  void input(const char *name, bool ofKeys, std::vector<std::string> features) {
    std::string heads = ofKeys ? keyHeads : valueHeads;
    std::vector<std::string> axes =
        headFirst ? std::vector<std::string>{"B", heads, "T"}
                  : std::vector<std::string>{"B", "T", heads};
    axes.insert(axes.end(), features.begin(), features.end());
    inputs[name] = axes;
  }
  void queriesKeysValues() {
    input("q", true, {"K"});
    input("k", true, {"K"});
    input("v", false, {"V"});
  }
  void decay(const char *gate) { steps.push_back({{"decay", gate}}); }
  void erase(const std::string &key, const char *strength) {
    steps.push_back({{"erase", {{"key", key}, {"strength", strength}}}});
  }
  void inject(const char *scale) {
    ordered_json step = {{"key", k}, {"value", "v"}};
    if (scale)
      step["scale"] = scale;
    steps.push_back({{"inject", std::move(step)}});
  }
  void read() {
    ordered_json step = {{"query", q}};
    if (!readScale.is_null())
      step["scale"] = readScale;
    steps.push_back({{"read", std::move(step)}});
  }
};

struct Family {
  llvm::StringLiteral name;
  /// Null: the name is known, the family is not built yet.
  void (*write)(Preset &);
};

} // namespace

static void writeLinearAttention(Preset &p) {
  p.queriesKeysValues();
  p.inject(nullptr);
  p.read();
}

static void writeRetnet(Preset &p) {
  p.queriesKeysValues();
  p.inputs["log_gamma"] = {p.valueHeads}; // constant in time
  p.decay("log_gamma");
  p.inject(nullptr);
  p.read();
}

static void writeDeltanet(Preset &p) {
  p.queriesKeysValues();
  p.input("beta", false, {});
  p.erase(p.k, "beta");
  p.inject("beta");
  p.read();
}

static void writeGatedDeltanet(Preset &p) {
  p.queriesKeysValues();
  p.input("log_alpha", false, {});
  p.input("beta", false, {});
  p.decay("log_alpha");
  p.erase(p.k, "beta");
  p.inject("beta");
  p.read();
}

/// v3: Gated DeltaNet plus L injections of refined values. v2: no base write,
/// and the erase takes key and strength of the first injection.
static void writePrism(Preset &p) {
  p.queriesKeysValues();
  p.input("log_alpha", false, {});
  if (!p.tied)
    p.input("beta", false, {});
  if (p.rank > 0) {
    p.input("u", false, {"V"});
    p.input("p", false, {"L", "V"});
    p.input("c", true, {"L", "K"});
    p.input("b", false, {"L"});
  }
  p.decay("log_alpha");
  if (p.tied) {
    p.inputs.erase("k");
    p.lets["erase_key"] = "row(c, 0)";
    p.lets["erase_strength"] = "row(b, 0)";
    p.erase("erase_key", "erase_strength");
  } else {
    p.erase(p.k, "beta");
    p.inject("beta");
  }
  if (p.rank > 0) {
    ordered_json refine = {{"anchor", "u"},
                           {"value", "v"},
                           {"gain", "p"},
                           {"activation", p.activation}};
    p.steps.push_back(
        {{"inject",
          {{"key", "c"}, {"scale", "b"}, {"refine", std::move(refine)}}}});
  }
  p.read();
}

static constexpr Family kFamilies[] = {
    {"linear_attention", writeLinearAttention},
    {"retnet", writeRetnet},
    {"deltanet", writeDeltanet},
    {"gated_deltanet", writeGatedDeltanet},
    {"prism", writePrism},
    {"gla", nullptr},
    {"mamba", nullptr},
    {"mamba2", nullptr},
    {"gated_deltanet2", nullptr},
    {"kda", nullptr},
    {"gated_deltaproduct", nullptr},
    {"rwkv7", nullptr},
    {"mlstm", nullptr},
    {"gated_rfa", nullptr},
    {"hgrn", nullptr},
    {"mingru", nullptr},
    {"rg_lru", nullptr},
    {"first_order", nullptr}};

//===----------------------------------------------------------------------===//
// Expansion
//===----------------------------------------------------------------------===//

namespace {

class FamilyExpander {
public:
  FamilyExpander(const JsonNode &root, SpecDiagnostic &diagnostic)
      : root(root), diagnostic(diagnostic) {}
  llvm::FailureOr<JsonNode> expand();

private:
  const Family *findFamily(const JsonNode &node);
  bool checkKeys(const Family &family);
  bool readVariant(const Family &family);
  bool readOptions(const Family &family);
  JsonNode merge(const JsonNode *given, const ordered_json &own,
                 const JsonNode *computed, bool givenFirst);
  bool fail(const SourceLoc &loc, const llvm::Twine &message,
            llvm::StringRef nearest = "") {
    diagnostic.stage = Stage::Meaning;
    diagnostic.loc = loc;
    diagnostic.message = message.str();
    diagnostic.nearest = nearest.str();
    return false;
  }

  const JsonNode &root;
  SpecDiagnostic &diagnostic;
  Preset preset;
  SourceLoc place; // of "family"
};

} // namespace

const Family *FamilyExpander::findFamily(const JsonNode &node) {
  std::vector<llvm::StringRef> built, all;
  for (const Family &family : kFamilies) {
    all.push_back(family.name);
    if (family.write)
      built.push_back(family.name);
    if (family.name != node.string)
      continue;
    if (family.write)
      return &family;
    fail(node.loc, "the family '" + node.string +
                       "' is not built yet; its recurrence may be written out "
                       "under 'steps'");
    return nullptr;
  }
  fail(node.loc,
       "unknown family '" + node.string + "', expected " + joinNames(built),
       nearestName(node.string, all));
  return nullptr;
}

bool FamilyExpander::checkKeys(const Family &family) {
  for (llvm::StringRef key : {"steps", "transition", "inject", "read"})
    if (const JsonNode *node = root.find(key))
      return fail(node->loc, "'" + key + "' beside the family '" + family.name +
                                 "', which says it already");
  return true;
}

bool FamilyExpander::readVariant(const Family &family) {
  const JsonNode *variant = root.find("variant");
  if (family.write != writePrism)
    return !variant || fail(variant->loc,
                            "the family '" + family.name + "' has no variants");
  static constexpr llvm::StringRef kVariants[] = {"v2", "v3"};
  if (variant && !llvm::is_contained(kVariants, variant->string))
    return fail(variant->loc,
                "unknown variant '" + variant->string + "', expected v2 or v3",
                nearestName(variant->string, kVariants));
  preset.tied = variant && variant->string == "v2";
  const JsonNode *rank = root.find("dims")->find("L");
  if (!rank)
    return fail(root.find("dims")->loc,
                "the family '" + family.name + "' needs the dim 'L'");
  preset.rank = rank->integer();
  if (preset.tied && preset.rank == 0)
    return fail(rank->loc,
                "variant v2 has no L = 0, as its erase takes the key of the "
                "first injection; expected L of at least 1");
  return true;
}

bool FamilyExpander::readOptions(const Family &family) {
  const JsonNode *options = root.find("options");
  if (!options)
    return true;
  if (const JsonNode *activation = options->find("activation")) {
    if (family.write != writePrism)
      return fail(activation->loc, "the family '" + family.name +
                                       "' has no option 'activation'");
    preset.activation = activation->string;
  }
  if (const JsonNode *scale = options->find("scale"))
    preset.readScale = toOrderedJson(*scale);
  if (const JsonNode *epsilon = options->find("l2norm")) {
    if (preset.tied)
      return fail(epsilon->loc, "variant v2 has no option 'l2norm'; it erases "
                                "with the first key of c");
    std::string text = toOrderedJson(*epsilon).dump();
    preset.lets["q_unit"] = "l2norm(q, " + text + ")";
    preset.lets["k_unit"] = "l2norm(k, " + text + ")";
    preset.q = "q_unit";
    preset.k = "k_unit";
  }
  return true;
}

/// The family's own members with given ones of the same name in their place,
/// and the given ones that it does not have, before or after.
JsonNode FamilyExpander::merge(const JsonNode *given, const ordered_json &own,
                               const JsonNode *computed, bool givenFirst) {
  JsonNode merged =
      fromOrderedJson(ordered_json::object(), given ? given->loc : place);
  auto addGiven = [&] {
    if (given)
      for (const JsonMember &member : given->members)
        if (!own.contains(member.key))
          merged.members.push_back(member);
  };
  if (givenFirst)
    addGiven();
  for (const auto &[key, value] : own.items()) {
    if (const JsonMember *replacement =
            given ? given->findMember(key) : nullptr)
      merged.members.push_back(*replacement);
    else if (!computed || !computed->find(key))
      merged.members.push_back({key, place, fromOrderedJson(value, place)});
  }
  if (!givenFirst)
    addGiven();
  return merged;
}

llvm::FailureOr<JsonNode> FamilyExpander::expand() {
  const JsonNode *family = root.find("family");
  if (!family) {
    for (llvm::StringRef key : {"variant", "options"})
      if (const JsonNode *node = root.find(key)) {
        fail(node->loc, "'" + key + "' without 'family'");
        return llvm::failure();
      }
    return root;
  }
  place = family->loc;
  const JsonNode &dims = *root.find("dims");
  if (!dims.find("H")) {
    preset.keyHeads = "Hk";
    preset.valueHeads = "Hv";
  }
  const JsonNode *layout = root.find("layout");
  preset.headFirst = layout && layout->string == "head_first";
  const Family *found = findFamily(*family);
  if (!found || !checkKeys(*found) || !readVariant(*found) ||
      !readOptions(*found))
    return llvm::failure();
  found->write(preset);

  JsonNode result = fromOrderedJson(ordered_json::object(), root.loc);
  if (!root.find("name"))
    result.members.push_back({"name", place, *family});
  static constexpr llvm::StringRef kReplaced[] = {"family", "variant",
                                                  "options", "inputs", "let"};
  for (const JsonMember &member : root.members)
    if (!llvm::is_contained(kReplaced, member.key))
      result.members.push_back(member);
  const JsonNode *inputs = root.find("inputs"), *lets = root.find("let");
  result.members.push_back(
      {"inputs", place,
       merge(inputs, preset.inputs, /*computed=*/lets, /*givenFirst=*/false)});
  result.members.push_back(
      {"let", place,
       merge(lets, preset.lets, /*computed=*/nullptr, /*givenFirst=*/true)});
  result.members.push_back(
      {"steps", place, fromOrderedJson(preset.steps, place)});
  return result;
}

llvm::FailureOr<JsonNode>
prism::spec::expandFamily(const JsonNode &root, SpecDiagnostic &diagnostic) {
  return FamilyExpander(root, diagnostic).expand();
}
