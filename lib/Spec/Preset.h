//===- Preset.h - What a family writes down ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A family writes its inputs, lets and steps into a Preset, as the JSON a
// person would have written. FamilyTable.cpp holds the families, Families.cpp
// puts them in the place of "family".
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_SPEC_PRESET_H
#define PRISM_LIB_SPEC_PRESET_H

#include "Prism/Spec/Families.h"
#include <nlohmann/json.hpp>
#include <string>

namespace prism::spec {

/// The family's part of a spec, and what the spec says about it.
struct Preset {
  using Json = nlohmann::ordered_json;

  Json inputs = Json::object();
  Json states = Json::object(); // empty: one, K x V
  Json lets = Json::object();
  Json steps = Json::array();
  Json outputs = Json::object(); // empty: the reads

  // What the spec says.
  llvm::StringRef variant;
  int64_t rank = 0; // dim L
  std::string activation = "gelu";
  Json readScale, normEpsilon;
  bool headFirst = false;
  std::string keyHeads = "H", valueHeads = "H", gateType = "f32";

  /// An array of every token, on key heads or on value heads.
  void input(const char *name, bool ofKeys, std::vector<std::string> features);
  /// The same for all tokens and batch rows: a parameter of each value head, of
  /// the gates' type.
  void parameter(const char *name, std::vector<std::string> features);
  void queriesKeysValues();
  void let(const char *name, const std::string &expression);
  /// `name`, or a let of it normalised if the option l2norm is given.
  std::string normalised(const std::string &name);

  void decay(const char *gate);
  void erase(const std::string &key, Json strength);
  /// Reads along one key, writes along another; `ofPrevious`: what it reads is
  /// the state before the token's first step.
  void erase(const std::string &read, const std::string &write, Json strength,
             bool ofPrevious);
  void inject(const std::string &key, const std::string &value,
              const char *scale = nullptr);
  void read(const std::string &query);
  /// The last step, of the state `name`.
  void ofState(const char *name);
  /// Of a state of one row: no key, no query.
  void injectRow(const std::string &value);
  void readRow();
};

struct Family {
  llvm::StringLiteral name, summary;
  void (*write)(Preset &);
  llvm::ArrayRef<llvm::StringLiteral> variants;
  /// A dim of its own that it needs, or "".
  llvm::StringLiteral neededDim = "";
  bool hasActivation = false;
  bool hasNorm = true;
  /// The state is one row, K = 1.
  bool isElementwise = false;
};

llvm::ArrayRef<Family> getFamilyTable();

} // namespace prism::spec

#endif // PRISM_LIB_SPEC_PRESET_H
