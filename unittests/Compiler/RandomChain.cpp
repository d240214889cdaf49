//===- RandomChain.cpp - Specs of random chains ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RandomChain.h"
#include "llvm/Support/JSON.h"
#include <random>

using namespace llvm;

namespace {

class Chain {
public:
  explicit Chain(unsigned seed) : engine(seed) {}

  std::string spec(StringRef io, ArrayRef<int64_t> keySizes) {
    json::Array steps;
    for (unsigned i = 0, count = 1 + below(5); i < count; ++i)
      steps.push_back(factor());
    steps.push_back(inject());
    json::Value read = json::Object{
        {"read", json::Object{{"query", input("query", {"Hk", "K"})}}}};
    steps.insert(steps.begin() + below(steps.size() + 1), read);
    json::Object dims{{"B", nullptr},
                      {"T", nullptr},
                      {"Hk", 1},
                      {"Hv", 2},
                      {"K", anyOf(keySizes)},
                      {"V", anyOf({5, 16, 33, 48, 64})},
                      {"R", 2}};
    json::Object root{{"prism_spec", 1},
                      {"name", "chain"},
                      {"dims", std::move(dims)},
                      {"dtype", json::Object{{"io", io}}},
                      {"inputs", std::move(inputs)},
                      {"steps", std::move(steps)},
                      {"entries", json::Array{"forward"}}};
    std::string text;
    raw_string_ostream(text) << json::Value(std::move(root));
    return text;
  }

private:
  unsigned below(unsigned end) { return engine() % end; }
  int64_t anyOf(ArrayRef<int64_t> sizes) { return sizes[below(sizes.size())]; }

  std::string input(const std::string &stem,
                    std::initializer_list<const char *> axes) {
    std::string name = stem + std::to_string(inputs.size());
    json::Array all{"B", "T"};
    for (const char *axis : axes)
      all.push_back(axis);
    inputs[name] = std::move(all);
    return name;
  }
  std::string key() {
    if (!keys.empty() && below(2))
      return keys[below(keys.size())];
    keys.push_back(input("key", {below(2) ? "Hk" : "Hv", "K"}));
    return keys.back();
  }
  std::string strength() { return input("strength", {"Hv"}); }

  json::Value factor() {
    switch (below(5)) {
    case 0:
      return json::Object{{"decay", input("gate", {"Hv"})}};
    case 1:
    case 2:
      return erase();
    default:
      return inject();
    }
  }

  json::Value erase() {
    json::Object erase;
    switch (below(4)) {
    case 0:
      erase = json::Object{
          {"read", key()}, {"write", key()}, {"strength", strength()}};
      break;
    case 1:
      erase = json::Object{{"key", input("keys", {"Hv", "R", "K"})},
                           {"strength", input("strengths", {"Hv", "R"})}};
      break;
    default:
      erase = json::Object{{"key", key()}, {"strength", strength()}};
    }
    return json::Object{{"erase", std::move(erase)}};
  }

  json::Value inject() {
    json::Object inject;
    if (unsigned kind = below(4); kind < 2) {
      inject =
          json::Object{{"key", key()}, {"value", input("value", {"Hv", "V"})}};
      if (kind)
        inject["scale"] = strength();
    } else {
      inject = json::Object{{"key", input("keys", {"Hv", "R", "K"})},
                            {"scale", input("scales", {"Hv", "R"})}};
      if (kind == 2)
        inject["value"] = input("values", {"Hv", "R", "V"});
      else
        inject["refine"] =
            json::Object{{"anchor", input("anchor", {"Hv", "V"})},
                         {"value", input("value", {"Hv", "V"})},
                         {"gain", input("gain", {"Hv", "R", "V"})},
                         {"activation", "gelu"}};
    }
    return json::Object{{"inject", std::move(inject)}};
  }

  std::mt19937 engine;
  json::Object inputs;
  std::vector<std::string> keys;
};

} // namespace

std::string prism::test::randomChain(unsigned seed, StringRef io,
                                     ArrayRef<int64_t> keySizes) {
  return Chain(seed).spec(io, keySizes);
}
