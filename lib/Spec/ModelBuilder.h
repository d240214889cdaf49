//===- ModelBuilder.h - From a JSON tree to a model -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The meaning stage. It relies on checkStructure: keys exist and have the right
// JSON types. Every check that fails writes the one diagnostic and returns
// false. Families are expanded before (Families.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_SPEC_MODELBUILDER_H
#define PRISM_LIB_SPEC_MODELBUILDER_H

#include "Prism/Spec/Spec.h"
#include "Prism/Support/Json.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"

namespace prism::spec {

class ModelBuilder {
public:
  ModelBuilder(const JsonNode &root, Spec &spec, SpecDiagnostic &diagnostic)
      : root(root), spec(spec), diagnostic(diagnostic) {}

  bool build();

private:
  // ModelBuilder.cpp: everything but the step.
  bool refuseUnbuilt();
  bool readNames();
  bool readDims();
  bool readStates();
  bool addHeadDims(const JsonNode &dims);
  bool readTypes();
  bool readInputs();
  bool checkInputAxes(const Input &input, const JsonNode &axes);
  bool checkNewName(llvm::StringRef name, const SourceLoc &loc);
  bool readEntries();
  bool readPlans();
  bool readPlan(const JsonNode &node, Plan &plan);
  bool readTargets();

  // ModelConvolutions.cpp.
  bool readConvolutions();
  bool readConvolution(const JsonMember &member);
  const Input *findInput(const JsonNode &node, llvm::StringRef name);
  const Input *findWeight(const JsonNode &node, const Axes &axes,
                          llvm::StringRef what);

  // ModelLets.cpp.
  bool readLets();
  bool readExpression(const JsonNode &text, Expr &expr);
  bool resolve(Expr &expr, const JsonNode &text);
  bool resolveCall(Expr &expr, const JsonNode &text);
  bool combine(Expr &expr, const JsonNode &text, llvm::StringRef parts);

  // ModelSteps.cpp: steps, uses.
  bool readSteps();
  bool readShorthand();
  bool readStep(const JsonNode &step);
  bool readDecay(const JsonNode &node);
  bool readErase(const JsonNode &node);
  bool readInject(const JsonNode &node);
  bool readRefine(const JsonNode &node, InjectStep &inject);
  bool readRead(const JsonNode &node);
  bool readRepeat(const JsonNode &node);
  bool readSet(const JsonNode &node);
  bool readAdd(const JsonNode &node);
  bool readOf(const JsonNode &node, EraseStep &erase);
  const State *findState(const JsonNode &name);
  bool readOutputs();
  bool chooseState(const JsonNode &node, llvm::StringRef step);
  bool checkRead(const ReadStep &read, const SourceLoc &loc);
  void addStep(decltype(Step::factor) factor, const SourceLoc &loc) {
    spec.steps.push_back({std::move(factor), loc, current});
  }
  const State &state() const { return spec.states[current]; }
  bool readOperand(const JsonNode &node, Operand &operand);
  bool takeMicroStep(Operand &operand);
  bool readKey(const JsonNode *node, const JsonNode &step, llvm::StringRef what,
               Operand &operand);
  bool expectAxes(const Operand &operand, llvm::StringRef role,
                  llvm::StringRef last);
  bool expectRank(const Operand &operand, llvm::StringRef role,
                  const Axes &vector);
  bool checkUses();
  bool finishTypes();

  bool fail(const SourceLoc &loc, const llvm::Twine &message,
            llvm::StringRef nearest = "") {
    diagnostic.stage = Stage::Meaning;
    diagnostic.loc = loc;
    diagnostic.message = message.str();
    diagnostic.nearest = nearest.str();
    return false;
  }
  /// Fails with the place of byte `offset` of a string value.
  bool failInText(const JsonNode &text, size_t offset,
                  const llvm::Twine &message, llvm::StringRef nearest = "") {
    SourceLoc loc = text.loc;
    if (text.verbatim)
      loc.column += offset + 1;
    return fail(loc, message, nearest);
  }

  const JsonNode &root;
  Spec &spec;
  SpecDiagnostic &diagnostic;
  llvm::StringSet<> used, decayGates;
  /// Inside a repeat: its axis, and which micro-step is being read.
  struct MicroStep {
    std::string axis;
    int64_t index;
  };
  std::optional<MicroStep> repeated;
  /// The state of the step that is being read.
  unsigned current = 0;
  /// Reads have been read and expressions may name them.
  bool readsAreValues = false;
};

/// Why a step cannot take a convolution's weight.
std::string weightMessage(llvm::StringRef name);
/// The axes of one token's value of an input.
Axes featureAxes(const Input &input);
/// Names of all inputs and lets so far.
std::vector<llvm::StringRef> valueNames(const Spec &spec);
/// Why a norm that is computed in this type cannot have this epsilon; "" if it
/// can.
std::string whyNotEpsilon(double epsilon, ElementType type);

/// Replaces a family by what it stands for; a spec without family comes back as
/// it is.
llvm::FailureOr<JsonNode> expandFamily(const JsonNode &root,
                                       SpecDiagnostic &diagnostic);

/// `[B, T, K]`.
std::string printAxes(llvm::ArrayRef<std::string> axes);

} // namespace prism::spec

#endif // PRISM_LIB_SPEC_MODELBUILDER_H
