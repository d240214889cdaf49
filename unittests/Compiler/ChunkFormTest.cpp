//===- ChunkFormTest.cpp - Does a wrong chunk formula show? ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The comparison with the float64 recurrence is worth what it would catch. Each
// test lowers a chain to its chunk form, then again with one sign flipped or
// one pair of operands swapped, for every op where that is possible: the right
// program passes, every mutant must be refused.
//
//===----------------------------------------------------------------------===//

#include "ProgramHarness.h"

using namespace mlir;
using namespace prism;

namespace {

/// One change that makes a program wrong; false where it does not apply.
using Mutation = std::function<bool(Operation *)>;

void replaceBinary(Operation *op, StringRef name) {
  OpBuilder builder(op);
  OperationState state(op->getLoc(), name, op->getOperands(),
                       op->getResultTypes());
  Operation *other = builder.create(state);
  op->replaceAllUsesWith(other->getResults());
  op->erase();
}

bool flipSign(Operation *op) {
  if (isa<arith::SubFOp>(op))
    replaceBinary(op, "arith.addf");
  else if (isa<arith::AddFOp>(op))
    replaceBinary(op, "arith.subf");
  else if (isa<arith::NegFOp>(op)) {
    op->replaceAllUsesWith(op->getOperands());
    op->erase();
  } else
    return false;
  return true;
}

/// acc + lhs rhs becomes acc - lhs rhs.
bool negateProduct(Operation *op) {
  auto dot = dyn_cast<tile::DotOp>(op);
  if (!dot)
    return false;
  OpBuilder builder(op);
  Value negated = arith::NegFOp::create(builder, op->getLoc(), dot.getLhs());
  dot.getLhsMutable().assign(negated);
  return true;
}

/// (I + A)^-1 becomes (I - A)^-1.
bool negateSystem(Operation *op) {
  auto solve = dyn_cast<tile::SolveOp>(op);
  if (!solve)
    return false;
  OpBuilder builder(op);
  Value negated =
      arith::NegFOp::create(builder, op->getLoc(), solve.getMatrix());
  solve.getMatrixMutable().assign(negated);
  return true;
}

/// A reader one place too early or too late in the chain.
bool moveReader(Operation *op) {
  auto decay = dyn_cast<tile::DecayMatrixOp>(op);
  if (!decay || decay.getRowOrder().size() != 1)
    return false;
  int64_t row = decay.getRowOrder()[0];
  int64_t column = *llvm::max_element(decay.getColumnOrder());
  decay.setRowOrder(
      {row > column ? *llvm::min_element(decay.getColumnOrder()) : column + 1});
  return true;
}

/// Does nothing but a solve, which sees neither its diagonal nor what is above,
/// read these products?
bool isOnlySolved(Operation *op) {
  return llvm::all_of(op->getUsers(), [](Operation *user) {
    return isa<tile::SolveOp>(user) ||
           (isa<tile::ScaleRowsOp>(user) && isOnlySolved(user));
  });
}

/// The same where each channel decays by itself.
bool moveDecayedReader(Operation *op) {
  auto scores = dyn_cast<tile::DecayedDotOp>(op);
  if (!scores || scores.getRowOrder().size() != 1 || isOnlySolved(op))
    return false;
  int64_t row = scores.getRowOrder()[0];
  int64_t column = *llvm::max_element(scores.getColumnOrder());
  scores.setRowOrder({row > column ? *llvm::min_element(scores.getColumnOrder())
                                   : column + 1});
  return true;
}

/// A decay at the chain's other end.
bool moveDecay(Operation *op) {
  auto scores = dyn_cast<tile::DecayedDotOp>(op);
  if (!scores)
    return false;
  SmallVector<int64_t> places(scores.getDecayOrder());
  int64_t first = *llvm::min_element(scores.getRowOrder());
  places.front() = places.front() < first ? 100 : -1;
  scores.setDecayOrder(places);
  return true;
}

/// What reaches to the chunk's start is taken for what reaches to its end.
bool turnProduct(Operation *op) {
  auto product = dyn_cast<tile::DecayProductOp>(op);
  if (!product)
    return false;
  product.setReverse(!product.getReverse());
  return true;
}

/// A product takes in the row itself, or leaves it out.
bool shiftProduct(Operation *op) {
  auto product = dyn_cast<tile::DecayProductOp>(op);
  if (!product)
    return false;
  product.setExclusive(!product.getExclusive());
  return true;
}

/// A factor is forgotten.
bool dropFactor(Operation *op) {
  if (!isa<arith::MulFOp, tile::ScaleRowsOp>(op))
    return false;
  op->getResult(0).replaceAllUsesWith(op->getOperand(0));
  op->erase();
  return true;
}

class Harness {
public:
  explicit Harness(const std::string &spec)
      : harness(spec, /*chunk=*/8, inputOptions()) {}

  /// Does the program, after mutating its index-th mutable op, still agree?
  /// Nothing if there is no such op.
  std::optional<bool> agrees(const Mutation &mutation, unsigned index) {
    OwningOpRef<ModuleOp> copy = harness.program();
    SmallVector<Operation *> ops;
    copy->walk([&](Operation *op) { ops.push_back(op); });
    unsigned applied = 0;
    bool done = !mutation;
    for (auto [place, op] : llvm::enumerate(ops)) {
      if (done)
        break;
      // Try on a scratch copy first, to count without changing.
      OwningOpRef<ModuleOp> scratch = copy->clone();
      SmallVector<Operation *> scratchOps;
      scratch->walk([&](Operation *other) { scratchOps.push_back(other); });
      if (!mutation(scratchOps[place]))
        continue;
      if (applied++ == index) {
        mutation(op);
        done = true;
      }
    }
    if (!done)
      return std::nullopt;
    bool good = true;
    for (const check::TensorError &error : harness.run(*copy, 1e-5))
      good &= error.passed;
    return good;
  }

private:
  static check::InputOptions inputOptions() {
    check::InputOptions options;
    options.steps = 21; // two full chunks and a tail
    options.batch = 1;
    return options;
  }

  test::ProgramHarness harness;
};

void expectAllCaught(const std::string &spec, unsigned atLeast) {
  Harness harness(spec);
  ASSERT_TRUE(*harness.agrees(nullptr, 0)) << "the right program must pass";
  unsigned mutants = 0;
  const std::pair<const char *, Mutation> kinds[] = {
      {"sign", flipSign},         {"product", negateProduct},
      {"system", negateSystem},   {"place", moveReader},
      {"row", moveDecayedReader}, {"decay", moveDecay},
      {"turned", turnProduct},    {"shifted", shiftProduct},
      {"factor", dropFactor}};
  for (const auto &[name, mutation] : kinds)
    for (unsigned i = 0;; ++i, ++mutants) {
      std::optional<bool> agrees = harness.agrees(mutation, i);
      if (!agrees)
        break;
      EXPECT_FALSE(*agrees) << name << " " << i << " was not caught";
    }
  EXPECT_GE(mutants, atLeast);
}

TEST(ChunkForm, MutantsOfTiedEraseAreCaught) {
  expectAllCaught(test::specText(test::gatedDelta, test::gatedDeltaInputs), 10);
}

TEST(ChunkForm, MutantsOfChainedErasesAreCaught) {
  expectAllCaught(test::specText(test::nameless, test::namelessInputs), 15);
}

TEST(ChunkForm, MutantsOfRankedInjectionAreCaught) {
  expectAllCaught(
      test::specText(
          R"({"decay": "g"}, {"erase": {"read": "k", "write": "q", "strength": "b"}},
 {"inject": {"key": "c", "scale": "s", "refine": {"anchor": "w", "value": "v", "gain": "p", "activation": "gelu"}}},
 {"read": {"query": "q", "scale": 0.5}})",
          std::string(test::gatedDeltaInputs) +
              R"(, "w": ["B","T","Hv","V"], "p": ["B","T","Hv","L","V"],
 "c": ["B","T","Hv","L","K"], "s": ["B","T","Hv","L"])"),
      15);
}

const char *const keyGates = R"(, "w": ["B","T","Hv","K"])";

TEST(ChunkForm, MutantsOfDecayPerKeyAreCaught) {
  expectAllCaught(
      test::specText(R"({"decay": {"gate": "w", "along": "key"}},
 {"inject": {"key": "k", "value": "v"}}, {"read": {"query": "q"}})",
                     R"("q": ["B","T","Hk","K"], "k": ["B","T","Hk","K"],
 "v": ["B","T","Hv","V"])" +
                         std::string(keyGates)),
      12);
}

TEST(ChunkForm, MutantsOfDecayPerKeyAndEraseAreCaught) {
  expectAllCaught(
      test::specText(R"({"decay": {"gate": "w", "along": "key"}},
 {"erase": {"key": "k", "strength": "b"}}, {"inject": {"key": "k", "value": "v", "scale": "b"}},
 {"read": {"query": "q"}})",
                     R"("q": ["B","T","Hk","K"], "k": ["B","T","Hk","K"],
 "v": ["B","T","Hv","V"], "b": ["B","T","Hv"])" +
                         std::string(keyGates)),
      18);
}

/// Decays per key and of the whole state, before and after erases with free
/// keys, one of which reads the state before all of them.
TEST(ChunkForm, MutantsOfFreeKeysAndSeveralDecaysAreCaught) {
  expectAllCaught(
      test::specText(R"({"decay": {"gate": "w", "along": "key"}},
 {"erase": {"read": "k", "write": "a", "strength": "b", "of": "previous"}},
 {"inject": {"key": "k", "value": "v"}}, {"read": {"query": "q"}}, {"decay": "g"},
 {"erase": {"read": "q", "write": "k", "strength": "b"}})",
                     R"("q": ["B","T","Hk","K"], "k": ["B","T","Hk","K"],
 "a": ["B","T","Hk","K"], "v": ["B","T","Hv","V"], "b": ["B","T","Hv"], "g": ["B","T","Hv"])" +
                         std::string(keyGates)),
      25);
}

/// Two states, a number that is stepped before them, and an output that is
/// computed from what is read of both.
TEST(ChunkForm, MutantsOfSeveralStatesAreCaught) {
  expectAllCaught(R"json({"prism_spec": 1, "name": "test",
 "dims": {"B": null, "T": null, "Hk": 1, "Hv": 2, "K": 5, "V": 3},
 "inputs": {"q": ["B","T","Hk","K"], "k": ["B","T","Hk","K"], "v": ["B","T","Hv","V"],
            "i": ["B","T","Hv"], "f": ["B","T","Hv"]},
 "states": {"C": ["K", "V"], "n": ["K"], "m": []},
 "let": {"next": "max(0.5 * m + f, i)", "keep": "min(m - next, 0)", "write": "exp(-abs(i - next))"},
 "steps": [{"decay": "keep"}, {"inject": {"key": "k", "value": "v", "scale": "write"}},
           {"decay": {"gate": "keep", "state": "n"}}, {"inject": {"key": "k", "scale": "write", "state": "n"}},
           {"set": {"state": "m", "value": "next"}}, {"read": {"query": "q", "output": "num"}},
           {"read": {"query": "q", "state": "n", "output": "den"}}],
 "outputs": {"o": "num / (exp(-m) + den)"}, "entries": ["forward"]
})json",
                  30);
}

} // namespace
