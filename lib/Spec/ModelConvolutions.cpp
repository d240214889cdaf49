//===- ModelConvolutions.cpp - Inputs that are convolved over time --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ModelBuilder.h"

using namespace prism;
using namespace prism::spec;

static constexpr int64_t kFewestTaps = 2, kMostTaps = 8;

const ShortConvolution *Spec::findConvolution(llvm::StringRef input) const {
  for (const ShortConvolution &convolution : convolutions)
    if (convolution.input == input)
      return &convolution;
  return nullptr;
}

bool Spec::isConvolutionWeight(llvm::StringRef input) const {
  return llvm::any_of(convolutions, [&](const ShortConvolution &convolution) {
    return convolution.weight == input || convolution.bias == input.str();
  });
}

std::string prism::spec::weightMessage(llvm::StringRef name) {
  return ("'" + name +
          "' is a weight of a short convolution, which no step sees; expected "
          "an input of its own or a let")
      .str();
}

/// The input of this name; null, with the message, if there is none.
const Input *ModelBuilder::findInput(const JsonNode &node,
                                     llvm::StringRef name) {
  if (const Input *input = spec.findInput(name))
    return input;
  std::vector<llvm::StringRef> names;
  for (const Input &input : spec.inputs)
    names.push_back(input.name);
  fail(node.loc, "unknown input '" + name + "', expected " + joinNames(names),
       nearestName(name, names));
  return nullptr;
}

/// A weight or bias whose first axes are given, by extent: H, Hk and Hv may
/// stand for each other.
const Input *ModelBuilder::findWeight(const JsonNode &node, const Axes &axes,
                                      llvm::StringRef what) {
  const Input *input = findInput(node, node.string);
  if (!input)
    return nullptr;
  size_t wanted = axes.size() + (what == "weight");
  bool fits = input->axes.size() == wanted && input->axes[0][0] == 'H' &&
              isOuterAxis(input->axes[0]) &&
              spec.extent(input->axes[0]) == spec.extent(axes[0]) &&
              input->axes[1] == axes[1];
  if (fits) {
    used.insert(input->name);
    return input;
  }
  std::string shape =
      "[" + axes[0] + ", " + axes[1] + (what == "weight" ? ", W]" : "]");
  fail(node.loc, "expected a " + what + " of axes " + shape +
                     (what == "weight" ? ", W of taps" : "") + "; '" +
                     input->name + "' has " + printAxes(input->axes));
  return nullptr;
}

bool ModelBuilder::readConvolution(const JsonMember &member) {
  const JsonNode &node = member.value;
  ShortConvolution convolution;
  convolution.input = member.key;
  convolution.loc = member.keyLoc;
  JsonNode name;
  name.loc = member.keyLoc;
  const Input *input = findInput(name, member.key);
  if (!input)
    return false;
  Axes features = featureAxes(*input), own;
  for (const std::string &axis : input->axes)
    if (axis[0] == 'H' && isOuterAxis(axis))
      own.push_back(axis);
  bool isOfState =
      features.size() == 1 && (features[0] == "K" || features[0] == "V");
  if (own.size() != 1 || !isOfState || input->axes.size() != 4)
    return fail(member.keyLoc,
                "expected an input of axes B, T, heads and K or V, such as "
                "[B, T, H, K]; '" +
                    member.key + "' has " + printAxes(input->axes));
  own.push_back(features[0]);
  const JsonNode &weight =
      node.is(JsonKind::String) ? node : *node.find("weight");
  const Input *taps = findWeight(weight, own, "weight");
  if (!taps)
    return false;
  convolution.weight = taps->name;
  convolution.taps = spec.extent(taps->axes[2]);
  if (convolution.taps < kFewestTaps || convolution.taps > kMostTaps)
    return fail(weight.loc, "expected " + llvm::Twine(kFewestTaps) + " to " +
                                llvm::Twine(kMostTaps) + " taps, found " +
                                llvm::Twine(convolution.taps) + " on axis '" +
                                taps->axes[2] + "' of '" + taps->name + "'");
  if (const JsonNode *bias = node.find("bias")) {
    const Input *found = findWeight(*bias, own, "bias");
    if (!found)
      return false;
    convolution.bias = found->name;
  }
  if (const JsonNode *activation = node.find("activation"))
    for (auto one : {RefineActivation::Identity, RefineActivation::Gelu,
                     RefineActivation::Silu, RefineActivation::Tanh,
                     RefineActivation::Relu})
      if (stringify(one) == activation->string)
        convolution.activation = one;
  for (const std::string &window :
       {convolution.initialName(), convolution.finalName()}) {
    if (const Input *taken = spec.findInput(window))
      return fail(taken->loc, "the name '" + window + "' is that of a window");
    for (const State &state : spec.states)
      if (window == "initial_" + state.name || window == "final_" + state.name)
        return fail(member.keyLoc, "the window of '" + member.key +
                                       "' and the state '" + state.name +
                                       "' would both be called '" + window +
                                       "'; give one of them another name");
  }
  spec.convolutions.push_back(std::move(convolution));
  return true;
}

bool ModelBuilder::readConvolutions() {
  const JsonNode *convolutions = root.find("short_convolution");
  if (!convolutions)
    return true;
  if (!llvm::all_of(convolutions->members, [&](const JsonMember &member) {
        return readConvolution(member);
      }))
    return false;
  // A weight is one convolution's, so that its array is named once.
  llvm::StringSet<> seen;
  for (const ShortConvolution &convolution : spec.convolutions)
    for (const std::string &weight :
         {convolution.weight, convolution.bias.value_or("")})
      if (!weight.empty() && !seen.insert(weight).second)
        return fail(convolution.loc, "'" + weight +
                                         "' is the weight of two short "
                                         "convolutions; give each its own");
  return true;
}
