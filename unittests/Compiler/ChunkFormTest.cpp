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

#include "Prism/Check/Check.h"
#include "Prism/Compiler/Compiler.h"
#include "Prism/Target/CPU/CPU.h"
#include "Prism/TargetInfo/TargetInfo.h"
#include "TestEntry.h"
#include "prism-runtime/Cpu.h"

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

class Harness {
public:
  explicit Harness(const std::string &spec)
      : module(test::importText(spec, context.mlir)) {
    entry = *module->getOps<func::FuncOp>().begin();
    CompileOptions options;
    options.plans[""] = {scan::Schedule::chunk, 8, std::nullopt, std::nullopt};
    std::string error;
    auto target = targetinfo::parseTarget("cpu:x86-64-v3", error);
    auto units = buildUnits(entry, *target, options);
    EXPECT_TRUE(succeeded(units));
    unit = std::move(units->front());
    info = describeEntry(program(*unit->module), "forward");
    check::InputOptions inputOptions;
    inputOptions.steps = 21; // two full chunks and a tail
    inputOptions.batch = 1;
    inputs = check::makeInputs(entry, info, inputOptions);
    runtime::Result<runtime::Sizes> sizes =
        runtime::inferSizes(info, check::bindings(inputs, blank));
    EXPECT_TRUE(bool(sizes)) << sizes.error();
    blank = check::makeOutputs(info, *sizes);
    auto oracle = check::runOracle(entry, info, inputs, blank);
    EXPECT_TRUE(succeeded(oracle));
    references = *oracle;
  }

  /// Does the program, after mutating its index-th mutable op, still agree?
  /// Nothing if there is no such op.
  std::optional<bool> agrees(const Mutation &mutation, unsigned index) {
    OwningOpRef<ModuleOp> copy = unit->module.get().clone();
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
    return run(*copy);
  }

private:
  static tile::ProgramOp program(ModuleOp module) {
    return *module.getOps<tile::ProgramOp>().begin();
  }

  bool run(ModuleOp lowered) {
    int64_t valueBlocks = program(lowered).getValueBlocks();
    EXPECT_TRUE(
        succeeded(convertTileToCPU(lowered, *CPUOptions::forIsa("x86-64-v3"))));
    CPUKernelInfo kernel = getCPUKernels(lowered).front();
    FailureOr<JitKernel> jit = JitKernel::create(lowered, "x86-64-v3", kernel);
    if (failed(jit)) {
      ADD_FAILURE() << "no code";
      return false;
    }
    check::HostArrays outputs = blank;
    auto call = runtime::bindCall(info, check::bindings(inputs, outputs));
    EXPECT_TRUE(bool(call)) << call.error();
    runtime::CpuKernel cpu{jit->function(), valueBlocks, jit->workspaceBytes(),
                           nullptr};
    auto player = runtime::CpuPlayer::create(1);
    EXPECT_TRUE(bool((*player)->run(cpu, *call)));
    bool good = true;
    for (auto &[name, array] : outputs)
      array.decode();
    for (const check::TensorError &error :
         check::compare(info, outputs, references, 1e-5))
      good &= error.passed;
    return good;
  }

  test::Context context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp entry;
  std::optional<Unit> unit;
  runtime::EntryInfo info;
  check::HostArrays inputs, blank, references;
};

void expectAllCaught(const std::string &spec, unsigned atLeast) {
  Harness harness(spec);
  ASSERT_TRUE(*harness.agrees(nullptr, 0)) << "the right program must pass";
  unsigned mutants = 0;
  const std::pair<const char *, Mutation> kinds[] = {{"sign", flipSign},
                                                     {"product", negateProduct},
                                                     {"system", negateSystem},
                                                     {"place", moveReader}};
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

} // namespace
