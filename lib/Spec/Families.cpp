//===- Families.cpp - A family put in its place -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A family is inputs, lets and steps (FamilyTable.cpp). They are put in the
// place of "family" and read like any spec.
//
// `inputs` beside a family replace the axes or the type of one of its inputs or
// add inputs; a `let` with the name of one of its inputs computes that input,
// so it is no longer asked for, and one with the name of one of its lets
// replaces that.
//
//===----------------------------------------------------------------------===//

#include "ModelBuilder.h"
#include "Preset.h"

using namespace prism;
using namespace prism::spec;
using nlohmann::ordered_json;

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
  bool readDims(const Family &family);
  bool readOptions(const Family &family);
  std::string gateType() const;
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
  std::vector<llvm::StringRef> names;
  for (const Family &family : getFamilyTable()) {
    if (family.name == node.string)
      return &family;
    names.push_back(family.name);
  }
  fail(node.loc,
       "unknown family '" + node.string + "', expected " + joinNames(names),
       nearestName(node.string, names));
  return nullptr;
}

bool FamilyExpander::checkKeys(const Family &family) {
  for (llvm::StringRef key :
       {"steps", "transition", "inject", "read", "states", "outputs"})
    if (const JsonNode *node = root.find(key))
      return fail(node->loc, "'" + key + "' beside the family '" + family.name +
                                 "', which says it already");
  return true;
}

bool FamilyExpander::readVariant(const Family &family) {
  if (const JsonNode *variant = root.find("variant")) {
    if (family.variants.empty())
      return fail(variant->loc,
                  "the family '" + family.name + "' has no variants");
    std::vector<llvm::StringRef> names(family.variants.begin(),
                                       family.variants.end());
    if (!llvm::is_contained(names, variant->string))
      return fail(variant->loc,
                  "unknown variant '" + variant->string + "', expected " +
                      joinNames(names),
                  nearestName(variant->string, names));
    preset.variant = variant->string;
  } else if (!family.variants.empty()) {
    preset.variant = family.variants.front();
  }
  return true;
}

bool FamilyExpander::readDims(const Family &family) {
  const JsonNode &dims = *root.find("dims");
  if (!family.neededDim.empty() && !dims.find(family.neededDim))
    return fail(dims.loc, "the family '" + family.name + "' needs the dim '" +
                              family.neededDim + "'");
  if (const JsonNode *rank = dims.find("L"))
    preset.rank = rank->integer();
  if (preset.variant == "v2" && preset.rank == 0)
    return fail(dims.find("L")->loc,
                "variant v2 has no L = 0, as its erase takes the key of the "
                "first injection; expected L of at least 1");
  const JsonNode *keys = dims.find("K");
  if (family.isElementwise && keys && keys->integer() != 1)
    return fail(keys->loc, "the family '" + family.name +
                               "' is elementwise: its state has K = 1, found " +
                               llvm::Twine(keys->integer()));
  if (!dims.find("H")) {
    preset.keyHeads = "Hk";
    preset.valueHeads = "Hv";
  }
  return true;
}

bool FamilyExpander::readOptions(const Family &family) {
  const JsonNode *options = root.find("options");
  if (!options)
    return true;
  if (const JsonNode *activation = options->find("activation")) {
    if (!family.hasActivation)
      return fail(activation->loc, "the family '" + family.name +
                                       "' has no option 'activation'");
    preset.activation = activation->string;
  }
  if (const JsonNode *scale = options->find("scale"))
    preset.readScale = toOrderedJson(*scale);
  if (const JsonNode *epsilon = options->find("l2norm")) {
    if (preset.variant == "v2")
      return fail(epsilon->loc, "variant v2 has no option 'l2norm'; it erases "
                                "with the first key of c");
    if (!family.hasNorm || preset.variant == "dplr")
      return fail(epsilon->loc,
                  "the family '" + family.name + "' has no option 'l2norm'" +
                      (family.hasNorm ? " in the variant dplr" : ""));
    const JsonNode *types = root.find("dtype"),
                   *io = types ? types->find("io") : nullptr;
    bool isF64 = io && io->string == "f64";
    if (std::string reason = whyNotEpsilon(
            epsilon->number, isF64 ? ElementType::F64 : ElementType::F32);
        !reason.empty())
      return fail(epsilon->loc, reason);
    preset.normEpsilon = toOrderedJson(*epsilon);
  }
  return true;
}

/// dtype.gate, or its default.
std::string FamilyExpander::gateType() const {
  const JsonNode *types = root.find("dtype");
  const JsonNode *gate = types ? types->find("gate") : nullptr,
                 *io = types ? types->find("io") : nullptr;
  if (gate)
    return gate->string;
  return io && io->string == "f64" ? "f64" : "f32";
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
  const JsonNode *layout = root.find("layout");
  preset.headFirst = layout && layout->string == "head_first";
  preset.gateType = gateType();
  const Family *found = findFamily(*family);
  if (!found || !checkKeys(*found) || !readVariant(*found) ||
      !readDims(*found) || !readOptions(*found))
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
  if (found->isElementwise && !root.find("dims")->find("K"))
    llvm::find_if(result.members, [](const JsonMember &member) {
      return member.key == "dims";
    })->value.members.push_back({"K", place, fromOrderedJson(1, place)});
  const JsonNode *inputs = root.find("inputs"), *lets = root.find("let");
  result.members.push_back(
      {"inputs", place,
       merge(inputs, preset.inputs, /*computed=*/lets, /*givenFirst=*/false)});
  result.members.push_back(
      {"let", place,
       merge(lets, preset.lets, /*computed=*/nullptr, /*givenFirst=*/true)});
  result.members.push_back(
      {"steps", place, fromOrderedJson(preset.steps, place)});
  for (auto [key, json] : {std::pair("states", &preset.states),
                           std::pair("outputs", &preset.outputs)})
    if (!json->empty())
      result.members.push_back({key, place, fromOrderedJson(*json, place)});
  return result;
}

llvm::FailureOr<JsonNode>
prism::spec::expandFamily(const JsonNode &root, SpecDiagnostic &diagnostic) {
  return FamilyExpander(root, diagnostic).expand();
}
