//===- Spec.h - A spec that has been read and understood --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The model of a spec: names resolved, shapes consistent, defaults filled in,
// families expanded. docs/Spec.md says what every part means.
//
//   SpecDiagnostic diagnostic;
//   FailureOr<Spec> spec = readSpec(text, "model.json", diagnostic);
//   if (failed(spec)) errs() << diagnostic.str();
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_SPEC_SPEC_H
#define PRISM_SPEC_SPEC_H

#include "Prism/Spec/Diagnostic.h"
#include "Prism/Spec/Expression.h"
#include "Prism/Support/PlanPlaces.h"
#include "llvm/Support/LogicalResult.h"
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <variant>

namespace prism::spec {

enum class ElementType { F64, F32, BF16, F16 };
llvm::StringRef stringify(ElementType type);

struct Dim {
  std::string name;
  /// Nothing: known at run time (B and T only).
  std::optional<int64_t> extent;
  /// Its letter in axes strings of the scan dialect; H, Hk, Hv share `h`.
  char letter = 0;
};

struct Input {
  std::string name;
  /// Names of dims in memory order.
  std::vector<std::string> axes;
  ElementType type = ElementType::F32;
  SourceLoc loc;
};

using Axes = std::vector<std::string>;

struct Let {
  std::string name;
  std::string text;
  Expr value;
  SourceLoc loc;
};

enum class RefineActivation { Identity, Gelu, Silu, Tanh, Relu };

/// An input that is convolved over time, channel by channel, before the steps
/// see it.
struct ShortConvolution {
  std::string input, weight;
  std::optional<std::string> bias;
  RefineActivation activation = RefineActivation::Identity;
  int64_t taps = 2;
  SourceLoc loc;

  std::string initialName() const { return "initial_" + input + "_window"; }
  std::string finalName() const { return "final_" + input + "_window"; }
};

/// What a step uses: an input or a let by name, or a number.
struct Operand {
  std::string name;
  std::optional<double> number;
  SourceLoc loc;
  /// Feature axes of the value.
  std::vector<std::string> axes;
};

/// A state of K x V; an axis that it does not have is 1.
struct State {
  std::string name;
  bool hasKeys = true, hasValues = true;
  SourceLoc loc;

  /// Lets see it, and a set changes it.
  bool isScalar() const { return !hasKeys && !hasValues; }
  std::string initialName() const { return "initial_" + name; }
  std::string finalName() const { return "final_" + name; }
};

enum class Along { Scalar, Key, Value, Element };
llvm::StringRef stringify(Along along);
llvm::StringRef stringify(RefineActivation activation);

struct DecayStep {
  Operand gate;
  Along along = Along::Scalar;
};
/// The next value of a scalar state.
struct SetStep {
  Operand value;
};
struct EraseStep {
  /// Which state it reads: as it is at this place, before the token's first
  /// step, or at the mini-batch's entry.
  enum class Of { Present, Previous, Entry };
  Operand read, write, strength;
  Of of = Of::Present;
  unsigned ofState = 0; // whose entry
};
struct Refine {
  Operand anchor, value, gain;
  RefineActivation activation = RefineActivation::Gelu;
};
struct InjectStep {
  Operand key;
  /// Exactly one of `value` and `refine`; of a state without V the value is 1.
  std::optional<Operand> value;
  std::optional<Refine> refine;
  std::optional<Operand> scale;
};
/// Adds another state, as it is at this place.
struct AddStep {
  unsigned from = 0;
  Operand scale;
};
struct ReadStep {
  Operand query;
  double scale = 1;
  /// Of the output, or of the value that the outputs' expressions see.
  std::string output;
  Axes axes; // [V], or none of a state without V
};
struct Step {
  std::variant<DecayStep, EraseStep, InjectStep, ReadStep, SetStep, AddStep>
      factor;
  SourceLoc loc;
  /// Which of the spec's states.
  unsigned state = 0;
};

struct Plan {
  bool chunked = false;
  int64_t chunk = 1; // 0: left to the compiler
  int64_t valueBlock = 0;
  int64_t stages = 1;
  int64_t segments = 0;
  std::optional<int64_t> prepareBlocks = std::nullopt;
  PlanPlaces places;
};

struct Entry {
  std::string name;
  /// Given in the spec; nothing leaves the choice to the compiler.
  std::optional<Plan> plan;
  SourceLoc loc;
};

struct Spec {
  std::string file;
  std::string name, description;
  std::vector<Dim> dims;
  ElementType io = ElementType::F32, gate = ElementType::F32,
              state = ElementType::F32;
  std::vector<Input> inputs;
  std::vector<ShortConvolution> convolutions;
  std::vector<State> states;
  std::vector<Let> lets;
  std::vector<Step> steps;
  /// Outputs computed from reads and lets; empty: the reads are the outputs.
  std::vector<Let> outputs;
  std::vector<Entry> entries;
  std::vector<std::string> targets;
  bool reverse = false, batchInvariant = false, headFirst = false;
  /// Step by step where there is no parallel form.
  bool serial = false;
  /// Steps of a mini-batch, whose entry erases may read.
  std::optional<int64_t> miniBatch;
  SourceLoc loc;

  const Dim *findDim(llvm::StringRef name) const;
  const Input *findInput(llvm::StringRef name) const;
  /// The convolution of an input, or null.
  const ShortConvolution *findConvolution(llvm::StringRef input) const;
  /// A convolution's weight or bias, which steps do not see.
  bool isConvolutionWeight(llvm::StringRef input) const;
  const Let *findLet(llvm::StringRef name) const;
  const State *findState(llvm::StringRef name) const;
  const ReadStep *findRead(llvm::StringRef name) const;
  /// Extent of a dim that is static.
  int64_t extent(llvm::StringRef name) const { return *findDim(name)->extent; }
  /// The type arithmetic is done in: f64 for f64 arrays, f32 for all others.
  ElementType computeType() const {
    return io == ElementType::F64 ? ElementType::F64 : ElementType::F32;
  }
};

/// Reads, checks and understands a spec. On failure `diagnostic` is the one
/// message.
llvm::FailureOr<Spec> readSpec(llvm::StringRef text, llvm::StringRef file,
                               SpecDiagnostic &diagnostic);

/// The spec written out: no family, no shorthand, all defaults in place.
/// Reading it gives the same spec, and expanding that the same text.
nlohmann::ordered_json expandSpec(const Spec &spec);

/// `json` as text: short lists and objects on one line, two spaces a level.
std::string printSpec(const nlohmann::ordered_json &json);

/// True for B, T, H, Hk and Hv: axes that a token's values don't have.
bool isOuterAxis(llvm::StringRef axis);

} // namespace prism::spec

#endif // PRISM_SPEC_SPEC_H
