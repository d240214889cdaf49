//===- Models.cpp - Specs that tensor cores take --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Models.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace prism::test;

static std::string textOf(json::Value value) {
  std::string text;
  raw_string_ostream(text) << value;
  return text;
}

/// Mamba2 as a chain: its state decays, takes in and is read.
static void writeMamba2(json::Object &spec, const Model &model) {
  auto input = [&](const char *heads, std::initializer_list<const char *> of) {
    json::Array axes = model.headFirst ? json::Array{"B", heads, "T"}
                                       : json::Array{"B", "T", heads};
    for (const char *axis : of)
      axes.push_back(axis);
    return axes;
  };
  spec["inputs"] = json::Object{
      {"q", input("Hk", {"K"})}, {"k", input("Hk", {"K"})},
      {"v", input("Hv", {"V"})}, {"g", input("Hv", {})},
      {"dt", input("Hv", {})},
  };
  spec["steps"] =
      json::Array{json::Object{{"decay", "g"}},
                  json::Object{{"inject", json::Object{{"key", "k"},
                                                       {"value", "v"},
                                                       {"scale", "dt"}}}},
                  json::Object{{"read", json::Object{{"query", "q"}}}}};
  spec["name"] = "mamba2";
}

/// What Gated DeltaNet's layer computes its gates of.
static void writeGates(json::Object &spec, const Model &model) {
  auto ofToken = [&] {
    return model.headFirst ? json::Array{"B", "Hv", "T"}
                           : json::Array{"B", "T", "Hv"};
  };
  spec["inputs"] = json::Object{{"A_log", json::Array{"Hv"}},
                                {"dt", ofToken()},
                                {"dt_bias", json::Array{"Hv"}},
                                {"beta_logit", ofToken()}};
  spec["let"] =
      json::Object{{"log_alpha", "-exp(A_log) * softplus(dt + dt_bias)"},
                   {"beta", "sigmoid(beta_logit)"}};
}

std::string prism::test::specOf(const Model &model) {
  json::Object dims{{"B", nullptr},         {"T", nullptr},
                    {"Hk", model.keyHeads}, {"Hv", model.valueHeads},
                    {"K", model.keys},      {"V", model.values}};
  json::Object spec{
      {"prism_spec", 1},
      {"dtype", json::Object{{"io", model.io}, {"state", model.state}}},
      {"reverse", model.reverse},
      {"entries", json::Array{"forward"}}};
  if (model.headFirst)
    spec["layout"] = "head_first";
  StringRef name = model.name;
  bool hasGates = name.consume_front("gates_");
  if (hasGates)
    writeGates(spec, model);
  json::Object options;
  if (name.consume_front("normed_") || hasGates)
    options["l2norm"] = 1e-6;
  if (name == "mamba2") {
    writeMamba2(spec, model);
  } else if (name.consume_front("prism_l")) {
    spec["family"] = "prism";
    dims["L"] = name[0] - '0';
    if (!model.activation.empty())
      options["activation"] = model.activation;
  } else if (name.consume_front("deltaproduct_")) {
    spec["family"] = "gated_deltaproduct";
    dims["M"] = name[0] - '0';
  } else {
    spec["family"] = name;
  }
  if (!options.empty())
    spec["options"] = std::move(options);
  spec["dims"] = std::move(dims);
  return textOf(std::move(spec));
}

std::string prism::test::withSizes(const std::string &spec, int64_t keys,
                                   int64_t values) {
  json::Value root = cantFail(json::parse(spec));
  json::Object &dims = *root.getAsObject()->getObject("dims");
  dims["K"] = keys;
  dims["V"] = values;
  return textOf(std::move(root));
}
