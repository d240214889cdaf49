//===- OneStepTest.cpp - The version of a kernel for calls of one step ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Decode kernels of 64 value columns, of which a thread holds 64 elements, in
// the interpreter and against the float64 recurrence: calls of one step, which
// have a version of their own, and calls that must not enter it.
//
//===----------------------------------------------------------------------===//

#include "KernelInterpreter.h"
#include "Prism/Check/Check.h"
#include "Prism/Compiler/Compiler.h"
#include "Prism/Conversion/TileToGPU/TileToGPU.h"
#include "Prism/Import/Import.h"
#include "Prism/Registration/Registration.h"
#include "Prism/Spec/Spec.h"
#include "Prism/Target/GPU/GPU.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace prism;

namespace {

struct Types {
  std::string io, state;
  bool copies = false; ///< the kernel that copies its state in bulk
  std::string family = "gated_deltanet";
};
void PrintTo(const Types &types, std::ostream *os) {
  *os << types.family << " " << types.io << " " << types.state
      << (types.copies ? " copied" : "");
}

struct How {
  int64_t steps = 1;
  bool initialState = true, finalState = true, inPlace = false,
       isShifted = false;
  std::vector<int64_t> lengths = {}; ///< of packed sequences
};

class DecodeKernel {
public:
  explicit DecodeKernel(const Types &types, bool isPacked = false)
      : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
    spec::SpecDiagnostic diagnostic;
    auto model = spec::readSpec(
        "{ \"prism_spec\": 1, \"family\": \"" + types.family +
            "\", \"dims\": { " + (isPacked ? "\"B\": 1, " : "") +
            (types.family == "gated_deltanet" ? "\"Hk\": 1, \"Hv\": 2"
                                              : "\"H\": 2") +
            ", \"K\": 128, \"V\": 128 }, "
            "\"dtype\": { \"io\": \"" +
            types.io + "\", \"state\": \"" + types.state +
            "\" }, \"entries\": [\"decode\"] }",
        "d.json", diagnostic);
    EXPECT_TRUE(succeeded(model)) << diagnostic.str();
    module = spec::importSpec(*model, &context);
    entry = *module->getOps<func::FuncOp>().begin();
    std::string error;
    auto units =
        buildUnits(entry, *targetinfo::parseTarget("cuda:sm_90a", error), {});
    EXPECT_TRUE(succeeded(units));
    EXPECT_TRUE(!types.copies || units->back().copiesState);
    Unit &unit = types.copies ? units->back() : units->front();
    kernels = std::move(unit.module);
    tile::ProgramOp program = *kernels->getOps<tile::ProgramOp>().begin();
    info = describeEntry(program, "decode");
    valueBlocks = program.getValueBlocks();
    tiletogpu::GPUOptions options;
    options.target = unit.target.gpu();
    options.copiesState = unit.copiesState;
    options.symbol = "kernel";
    auto converted = tiletogpu::convertProgramToGPU(program, options);
    EXPECT_TRUE(succeeded(converted) && succeeded(verify(*kernels)));
    made = *converted;
  }

  /// The first fault, or "".
  std::string run(const How &how) {
    check::InputOptions sizes;
    sizes.batch = 2;
    sizes.steps = how.steps;
    sizes.lengths = how.lengths;
    sizes.initialState = how.initialState;
    check::HostArrays inputs = check::makeInputs(entry, info, sizes),
                      outputs = check::makeOutputs(info, check::sizesOf(sizes));
    auto references = check::runOracle(entry, info, inputs, outputs);
    if (failed(references))
      return "no reference";
    std::vector<char> shifted;
    runtime::Bindings bindings = check::bindings(inputs, outputs);
    for (auto &[name, array] : bindings)
      if (name == info.arguments.front().name && how.isShifted) {
        auto *first = static_cast<const char *>(array.data);
        size_t bytes = inputs[name].bytes.size();
        shifted.resize(8 + bytes); // half of an access
        std::copy_n(first, bytes, shifted.data() + 8);
        array.data = shifted.data() + 8;
      } else if (name == "final_state" && how.inPlace) {
        array.data = inputs["initial_state"].bytes.data();
      }
    if (!how.finalState)
      llvm::erase_if(bindings, [](const auto &binding) {
        return binding.name == "final_state";
      });
    auto call = runtime::bindCall(info, bindings);
    if (!call)
      return call.error();
    if (std::string fault = runBlocks(*call, inputs, outputs, shifted);
        !fault.empty())
      return fault;
    if (how.inPlace)
      outputs["final_state"].bytes = inputs["initial_state"].bytes;
    for (auto &[name, array] : outputs)
      array.decode();
    if (!how.finalState)
      outputs["final_state"].values = (*references)["final_state"].values;
    return faultsOf(outputs, *references);
  }

  /// The versions for one step: branches that say what remains, all of it where
  /// they are not entered.
  SmallVector<scf::IfOp> versionsOfOneStep() {
    SmallVector<scf::IfOp> versions;
    kernels->walk<WalkOrder::PreOrder>([&](scf::IfOp op) {
      if (op.getNumResults() != 1 || !op.getResult(0).getType().isInteger(1) ||
          !matchPattern(op.elseYield().getOperand(0), m_One()))
        return WalkResult::advance();
      versions.push_back(op);
      return WalkResult::skip();
    });
    return versions;
  }

  /// What ptxas makes of it.
  void expectNoSpills(int64_t mostRegisters) {
    ASSERT_TRUE(succeeded(lowerKernelToNVVM(*kernels)));
    auto ptx = emitPTX(*kernels, *targetinfo::lookupChip("sm_90a"));
    ASSERT_TRUE(succeeded(ptx));
    std::string error;
    FailureOr<Assembled> assembled = assemble(*ptx, "sm_90a", error);
    ASSERT_TRUE(succeeded(assembled)) << error;
    if (assembled->cubin.empty())
      GTEST_SKIP() << assembled->note;
    EXPECT_EQ(assembled->resources.spillStores, 0);
    EXPECT_EQ(assembled->resources.spillLoads, 0);
    EXPECT_LE(assembled->resources.registers, mostRegisters);
  }

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerPrismDialects(registry);
    return registry;
  }

  std::string runBlocks(const runtime::Call &call, check::HostArrays &inputs,
                        check::HostArrays &outputs,
                        const std::vector<char> &more) {
    int64_t items = *runtime::workItems(call, valueBlocks),
            blocks = llvm::divideCeil(items, made.itemsPerBlock);
    for (int64_t block = 0; block < blocks; ++block) {
      test::KernelInterpreter interpreter(
          kernels->lookupSymbol<LLVM::LLVMFuncOp>("kernel"), made.threads,
          made.sharedBytes);
      for (check::HostArrays *arrays : {&inputs, &outputs})
        for (auto &[name, array] : *arrays)
          interpreter.allow(array.bytes.data(), array.bytes.size());
      interpreter.allow(more.data(), more.size());
      if (!interpreter.runBlock(block, call.words, blocks))
        return "block " + std::to_string(block) + ": " + interpreter.error();
    }
    return "";
  }

  std::string faultsOf(const check::HostArrays &outputs,
                       const check::HostArrays &references) {
    std::string text;
    auto io = llvm::find_if(info.arguments, [](const auto &argument) {
                return argument.role == runtime::Role::Output;
              })->dtype;
    for (const check::TensorError &one :
         check::compare(info, outputs, references, check::errorLimit(io)))
      if (!one.passed)
        text += one.name + ": " + std::to_string(one.ratio) + " ";
    return text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module, kernels;
  func::FuncOp entry;
  runtime::EntryInfo info;
  tiletogpu::GPUKernelInfo made;
  int64_t valueBlocks;
};

class OneStep : public testing::TestWithParam<Types> {};

TEST_P(OneStep, AgreesWithTheRecurrence) {
  DecodeKernel kernel(GetParam());
  auto expectRight = [&](const How &how, const std::string &what) {
    EXPECT_EQ(kernel.run(how), "") << what;
  };
  for (int64_t steps : {0, 1, 3}) {
    std::string some = std::to_string(steps) + " steps ";
    expectRight({steps}, some);
    expectRight({steps, false}, some + "from nothing");
    expectRight({steps, true, false}, some + "without a final state");
    expectRight({steps, true, true, true}, some + "in place");
    expectRight({steps, true, true, true, true}, some + "off alignment");
  }
}

TEST_P(OneStep, AgreesOnPackedSequences) {
  DecodeKernel kernel(GetParam(), /*isPacked=*/true);
  How how;
  for (bool inPlace : {false, true}) {
    how.inPlace = inPlace;
    for (const std::vector<int64_t> &lengths :
         {std::vector<int64_t>{1, 3, 0, 1}, {1, 1}}) {
      how.lengths = lengths;
      EXPECT_EQ(kernel.run(how), "") << lengths.size() << " sequences";
    }
  }
}

// Without its stores, calls that have one step and all states have no results;
// the others are as right as before.
TEST_P(OneStep, IsEnteredForOneStepAlone) {
  DecodeKernel kernel(GetParam());
  SmallVector<scf::IfOp> versions = kernel.versionsOfOneStep();
  ASSERT_EQ(versions.size(), GetParam().copies ? 2u : 1u);
  for (scf::IfOp version : versions)
    version.getThenRegion().walk([](LLVM::StoreOp store) { store.erase(); });
  EXPECT_NE(kernel.run({1}), "");
  EXPECT_NE(kernel.run({1, true, true, true}), "");
  EXPECT_EQ(kernel.run({2}), "");
  EXPECT_EQ(kernel.run({1, false}), "");
  EXPECT_EQ(kernel.run({1, true, false}), "");
  EXPECT_EQ(kernel.run({1, true, true, false, true}), "");
}

// What orders copies and threads is missed where it is left out.
TEST_P(OneStep, OrdersItsCopies) {
  if (!GetParam().copies)
    GTEST_SKIP() << "no copies";
  auto isMissed = [&](auto isLeftOut) {
    for (bool isPacked : {false, true}) {
      DecodeKernel kernel(GetParam(), isPacked);
      SmallVector<Operation *> ops;
      for (scf::IfOp version : kernel.versionsOfOneStep())
        version.getThenRegion().walk([&](Operation *op) {
          if (isLeftOut(op))
            ops.push_back(op);
        });
      EXPECT_FALSE(ops.empty());
      for (Operation *op : ops)
        op->erase();
      How how{1};
      if (isPacked)
        how.lengths = {1, 1};
      EXPECT_NE(kernel.run(how), "") << (isPacked ? "packed" : "");
    }
  };
  isMissed([](Operation *op) { return isa<NVVM::FenceProxyOp>(op); });
  isMissed([](Operation *op) { return isa<NVVM::Barrier0Op>(op); });
  isMissed([](Operation *op) { return isa<NVVM::CpAsyncBulkWaitGroupOp>(op); });
  isMissed(
      [](Operation *op) { return isa<NVVM::MBarrierTryWaitParityOp>(op); });
}

/// Decays of keys: two blocks are resident, not three.
static bool hasManyInputs(const Types &types) {
  return types.family == "gla" || types.family == "kda" ||
         types.family == "rwkv7";
}

TEST_P(OneStep, AssemblesWithoutSpills) {
  DecodeKernel(GetParam())
      .expectNoSpills(!GetParam().copies          ? 168
                      : hasManyInputs(GetParam()) ? 128
                                                  : 80);
}

// State and inputs together would take too many registers.
TEST(OneStepVersion, IsLeftOutForMuchInput) {
  DecodeKernel kernel({"f32", "f32"});
  EXPECT_TRUE(kernel.versionsOfOneStep().empty());
  EXPECT_EQ(kernel.run({1}), "");
}

INSTANTIATE_TEST_SUITE_P(
    Types, OneStep,
    testing::Values(Types{"bf16", "f32"}, Types{"bf16", "bf16"},
                    Types{"f16", "f32"}, Types{"bf16", "bf16", true},
                    Types{"f16", "bf16", true},
                    Types{"bf16", "bf16", true, "gla"},
                    Types{"bf16", "bf16", true, "kda"},
                    Types{"bf16", "bf16", true, "rwkv7"},
                    Types{"bf16", "bf16", true, "linear_attention"}),
    [](const testing::TestParamInfo<Types> &info) {
      return info.param.family + "_" + info.param.io + "_" + info.param.state +
             (info.param.copies ? "_copied" : "");
    });

} // namespace
