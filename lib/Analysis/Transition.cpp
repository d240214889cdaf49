//===- Transition.cpp - What a step multiplies a state by -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Analysis/Transition.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace prism;
using namespace prism::analysis;

static const Atom *affineFactor(const Monomial &factors) {
  for (auto [atom, power] : factors)
    if (atom->dependence != Dependence::none)
      return atom;
  return nullptr;
}

namespace {
/// What a sum takes from a state.
struct Taken {
  const Atom *state = nullptr; // the leaf; null: not understood
  int64_t rank = 1;
};
} // namespace

/// Down from a sum to the state under it. The innermost sum reads the state by
/// a key; the sums around it run over ranks.
static Taken takenBy(const Atom *atom) {
  Taken taken;
  while (atom && atom->kind != AtomKind::leaf) {
    if (atom->kind == AtomKind::view || atom->kind == AtomKind::reshape) {
      atom = atom->operand;
      continue;
    }
    if (atom->kind != AtomKind::sum)
      return taken;
    const Atom *under = affineFactor(atom->product);
    const Atom *bare = under;
    while (bare && bare->kind == AtomKind::view)
      bare = bare->operand;
    if (bare && bare->kind != AtomKind::leaf)
      for (int64_t extent :
           ArrayRef(atom->inner).drop_front(atom->shape.size()))
        taken.rank *= extent;
    atom = under;
  }
  taken.state = atom;
  return taken;
}

Transition analysis::transitionOf(const StateFlow &flow, unsigned state) {
  Transition result;
  const Atom *self = onlyAtom(flow.states[state]->form);
  auto isState = [&](const Atom *atom) {
    auto holds = [&](const FlowNode *node) {
      return onlyAtom(node->form) == atom;
    };
    return llvm::any_of(flow.states, holds) ||
           llvm::any_of(flow.entries, holds);
  };
  for (const Term &term : flow.nextStates[state]->form.terms) {
    const Atom *affine = affineFactor(term.factors);
    if (!affine)
      continue;
    if (affine == self) {
      bool bare = term.factors.size() == 1 && term.coefficient == 1.0;
      bool keys = false, values = false;
      for (auto [atom, power] : term.factors) {
        keys |= atom != self && variesAlong(atom, 0);
        values |= atom != self && variesAlong(atom, 1);
      }
      auto kind = keys && values ? Transition::element
                  : keys         ? Transition::key
                  : values       ? Transition::value
                  : bare         ? Transition::identity
                                 : Transition::scalar;
      bool mixed =
          (result.diagonal == Transition::key && kind == Transition::value) ||
          (result.diagonal == Transition::value && kind == Transition::key);
      result.diagonal =
          mixed ? Transition::element : std::max(result.diagonal, kind);
      continue;
    }
    if (isState(affine)) {
      result.coupled = true;
      continue;
    }
    Taken taken = takenBy(affine);
    if (affine->kind == AtomKind::view && taken.state &&
        affine->operand->kind == AtomKind::leaf)
      taken.state = nullptr; // moved, not summed
    if (!taken.state || !isState(taken.state)) {
      result.dense = true;
      continue;
    }
    result.rank += taken.rank;
    result.coupled |= taken.state != self;
  }
  return result;
}

std::string analysis::describeTransition(const Transition &transition) {
  static const char *diagonals[] = {"nothing kept",    "identity",
                                    "scalar decay",    "decay per key",
                                    "decay per value", "decay per element"};
  std::string text = diagonals[transition.diagonal];
  if (transition.rank)
    text += ", rank " + std::to_string(transition.rank);
  if (transition.dense)
    text += ", dense";
  if (transition.coupled)
    text += ", coupled";
  return text;
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

ScanClass analysis::classOf(const StateFlow &flow) {
  ScanClass result;
  result.granularity = flow.granularity();
  if (result.granularity == Granularity::none)
    return result;
  result.kind = ScanClass::diagonal;
  for (unsigned i = 0; i < flow.states.size(); ++i) {
    if (flow.isGiven(i))
      continue;
    Transition transition = transitionOf(flow, i);
    if (transition.rank || transition.dense || transition.coupled)
      result.kind = ScanClass::affine;
    result.transitions.push_back(transition);
  }
  return result;
}

StringRef analysis::stringify(ScanClass::Kind kind) {
  return kind == ScanClass::diagonal ? "diagonal"
         : kind == ScanClass::affine ? "affine"
                                     : "serial";
}

std::string analysis::describeClass(const ScanClass &scanClass) {
  std::string text = stringify(scanClass.kind).str();
  if (scanClass.kind == ScanClass::serial)
    return text +
           ": not affine in all of its states together; work n, depth n, "
           "memory 1";
  text += scanClass.granularity == Granularity::token
              ? " in its states at token granularity ("
              : " in its states at mini-batch granularity (";
  llvm::interleave(
      scanClass.transitions,
      [&](const Transition &one) { text += describeTransition(one); },
      [&] { text += "; "; });
  return text + "): associative by proof, SPD-(n, 1): work n, depth log n, "
                "memory 1";
}
