//===- ElementwiseTest.cpp - Elementwise states, whole and in segments ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Families whose states have a factor for each element, with all launches of
// their kernels in the interpreter, against the float64 recurrence.
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
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace prism;
using namespace prism::test;
using check::GateSet;
using check::InputOptions;

namespace {

struct Shape {
  std::string family, type = "bf16", more = "";
  int64_t heads = 1, keys = 0, values = 128;
};
void PrintTo(const Shape &shape, std::ostream *os) {
  *os << shape.family << " " << shape.type;
}

std::string specOf(const Shape &shape) {
  std::string keys =
      shape.keys ? "\"K\": " + std::to_string(shape.keys) + ", " : "";
  return "{ \"prism_spec\": 1, \"family\": \"" + shape.family +
         "\", \"dims\": { \"H\": " + std::to_string(shape.heads) + ", " + keys +
         "\"V\": " + std::to_string(shape.values) +
         " }, \"dtype\": { \"io\": \"" + shape.type + "\" }, " + shape.more +
         "\"entries\": [\"forward\"] }";
}

/// S6 as it is called: the step sizes' bias, and their softplus, inside.
Shape mamba(int64_t values, const std::string &type = "bf16") {
  return {"mamba",
          type,
          R"json("inputs": {"x": ["B", "T", "V"], "dt": ["B", "T", "V"],
             "dt_bias": {"axes": ["V"], "dtype": "f32"},
             "A_log": {"axes": ["K", "V"], "dtype": "f32"},
             "B": ["B", "T", "K"], "C": ["B", "T", "K"]},
             "let": {"delta": "softplus(dt + dt_bias)"}, )json",
          1,
          16,
          values};
}

/// An entry's kernel that splits sequences, or does not, with its launches.
class Kernel {
public:
  Kernel(const Shape &shape, int64_t segments,
         const char *target = "cuda:sm_90a")
      : context(makeRegistry(), MLIRContext::Threading::DISABLED),
        segments(segments) {
    context.loadAllAvailableDialects();
    spec::SpecDiagnostic diagnostic;
    auto model = spec::readSpec(specOf(shape), "e.json", diagnostic);
    EXPECT_TRUE(succeeded(model)) << diagnostic.str();
    module = spec::importSpec(*model, &context);
    entry = *module->getOps<func::FuncOp>().begin();
    std::string error;
    CompileOptions options;
    options.plans[""].segments = segments;
    auto found =
        buildUnits(entry, *targetinfo::parseTarget(target, error), options);
    EXPECT_TRUE(succeeded(found));
    Unit &unit = found->front();
    EXPECT_EQ(unit.isSplit(), segments > 1);
    tile::ProgramOp program = programOf(unit);
    info = describeEntry(program, "forward");
    intermediates = describeIntermediates(program);
    for (Unit &before : unit.before)
      addLaunch(before);
    addLaunch(unit);
  }

  /// The first fault, or "".
  std::string run(const InputOptions &call,
                  const InterpreterOptions &how = InterpreterOptions()) {
    check::HostArrays inputs = check::makeInputs(entry, info, call),
                      outputs = check::makeOutputs(info, check::sizesOf(call));
    auto references = check::runOracle(entry, info, inputs, outputs);
    if (failed(references))
      return "no reference";
    auto bound = runtime::bindCall(info, check::bindings(inputs, outputs));
    if (!bound)
      return bound.error();
    // NaN where nothing was written.
    std::vector<uint8_t> workspace(
        *runtime::intermediateBytes(intermediates, bound->sizes, segments),
        0xff);
    if (segments > 1)
      *bound =
          runtime::splitCall(*bound, intermediates, segments, workspace.data());
    for (Launch &launch : launches)
      if (std::string fault =
              run(launch, *bound, how, {&inputs, &outputs}, workspace);
          !fault.empty())
        return fault;
    for (auto &[name, array] : outputs)
      array.decode();
    std::string text;
    auto type = llvm::find_if(info.arguments, [](const auto &argument) {
                  return argument.role == runtime::Role::Output;
                })->dtype;
    for (const check::TensorError &one :
         check::compare(info, outputs, *references, check::errorLimit(type)))
      if (!one.passed)
        text += one.name + ": " + std::to_string(one.ratio) + " ";
    return text;
  }

  /// What ptxas makes of a launch.
  void expectNoSpills() {
    for (Launch &launch : launches) {
      ASSERT_TRUE(succeeded(lowerKernelToNVVM(*launch.module)));
      FailureOr<std::string> ptx =
          emitPTX(*launch.module, *targetinfo::lookupChip("sm_90a"));
      ASSERT_TRUE(succeeded(ptx));
      std::string error;
      FailureOr<Assembled> assembled = assemble(*ptx, "sm_90a", error);
      ASSERT_TRUE(succeeded(assembled)) << error;
      if (assembled->cubin.empty())
        GTEST_SKIP() << assembled->note;
      EXPECT_EQ(assembled->resources.spillStores, 0);
      EXPECT_EQ(assembled->resources.spillLoads, 0);
    }
  }

  /// Instructions of a kind in the last launch.
  template <typename Op> int64_t count() {
    int64_t found = 0;
    launches.back().module->walk([&](Op) { ++found; });
    return found;
  }
  int64_t threadsPerItem() {
    return launches.back().threads / launches.back().itemsPerBlock;
  }

private:
  struct Launch {
    OwningOpRef<ModuleOp> module;
    int64_t valueBlocks, threads, itemsPerBlock, sharedBytes;
    runtime::Items items;
  };

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerPrismDialects(registry);
    return registry;
  }
  static tile::ProgramOp programOf(Unit &unit) {
    return *unit.module->getOps<tile::ProgramOp>().begin();
  }

  void addLaunch(Unit &unit) {
    tile::ProgramOp program = programOf(unit);
    Launch launch{{}, program.getValueBlocks(), 0, 0, 0, itemsOf(program)};
    tiletogpu::GPUOptions options;
    options.target = unit.target.gpu();
    options.symbol = "kernel";
    auto made = tiletogpu::convertProgramToGPU(program, options);
    ASSERT_TRUE(succeeded(made) && succeeded(verify(*unit.module)));
    EXPECT_EQ(made->strategy, tiletogpu::Strategy::Registers) << made->declined;
    launch.threads = made->threads;
    launch.itemsPerBlock = made->itemsPerBlock;
    launch.sharedBytes = made->sharedBytes;
    launch.module = std::move(unit.module);
    launches.push_back(std::move(launch));
  }

  static std::string run(Launch &launch, const runtime::Call &call,
                         const InterpreterOptions &how,
                         ArrayRef<check::HostArrays *> arrays,
                         std::vector<uint8_t> &workspace) {
    int64_t blocks = llvm::divideCeil(
        *runtime::workItems(call, launch.valueBlocks, launch.items),
        launch.itemsPerBlock);
    for (int64_t block = 0; block < blocks; ++block) {
      KernelInterpreter interpreter(
          launch.module->lookupSymbol<LLVM::LLVMFuncOp>("kernel"),
          launch.threads, launch.sharedBytes, how);
      for (check::HostArrays *some : arrays)
        for (auto &[name, array] : *some)
          interpreter.allow(array.bytes.data(), array.bytes.size());
      interpreter.allow(workspace.data(), workspace.size());
      if (!interpreter.runBlock(block, call.words, blocks))
        return "block " + std::to_string(block) + ": " + interpreter.error();
    }
    return "";
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp entry;
  runtime::EntryInfo info;
  std::vector<runtime::ArgumentInfo> intermediates;
  std::vector<Launch> launches;
  int64_t segments;
};

InputOptions callOf(int64_t steps, GateSet gates = GateSet::mild) {
  InputOptions call;
  call.batch = 1;
  call.steps = steps;
  call.gates = gates;
  call.initialState = steps % 2;
  return call;
}

class Elementwise : public testing::TestWithParam<Shape> {};

TEST_P(Elementwise, AgreesWithTheRecurrence) {
  for (int64_t segments : {1, 3, 8}) {
    Kernel kernel(GetParam(), segments);
    InterpreterOptions how;
    for (int64_t steps : {0, 1, 63, 64, 65}) {
      // Copies land at once, or as late as they may.
      how.copies = steps % 2 ? InterpreterOptions::Copies::Late
                             : InterpreterOptions::Copies::Early;
      EXPECT_EQ(kernel.run(callOf(steps), how), "")
          << steps << " steps in " << segments << " segments";
    }
    // Gates of 0 and -inf among others.
    EXPECT_EQ(kernel.run(callOf(66, GateSet::mixed)), "") << segments;
    EXPECT_EQ(kernel.run(callOf(67, GateSet::hard)), "") << segments;
    InputOptions packed = callOf(0, GateSet::mixed);
    packed.lengths = {17, 0, 40, 1};
    packed.initialState = true;
    EXPECT_EQ(kernel.run(packed), "") << segments;
  }
}

TEST_P(Elementwise, LongSequences) {
  Kernel kernel(GetParam(), 16);
  EXPECT_EQ(kernel.run(callOf(1000)), "");
}

TEST_P(Elementwise, AssemblesWithoutSpills) {
  for (int64_t segments : {1, 4})
    Kernel(GetParam(), segments).expectNoSpills();
}

INSTANTIATE_TEST_SUITE_P(
    Families, Elementwise,
    testing::Values(Shape{"hgrn"}, Shape{"hgrn", "f32", "", 2, 0, 64},
                    Shape{"mingru"}, Shape{"rg_lru"},
                    Shape{"first_order", "f32"},
                    // Rows that no wide access fits, a part of a block.
                    Shape{"first_order", "bf16", "", 1, 0, 33}, mamba(32),
                    mamba(64, "f32")),
    [](const testing::TestParamInfo<Shape> &info) {
      return info.param.family + "_" + info.param.type + "_" +
             std::to_string(info.param.values);
    });

TEST(ElementwiseStates, ReversedTime) {
  Shape shape{"hgrn"};
  shape.more = "\"reverse\": true, ";
  for (int64_t segments : {1, 3})
    EXPECT_EQ(Kernel(shape, segments).run(callOf(65, GateSet::mixed)), "");
}

// Each step's words of a thread are copies of their own: three slots' worth
// before the loop at least, and one step's in it.
TEST(ElementwiseStates, SeveralStepsAreOnTheirWay) {
  Kernel kernel({"hgrn"}, 4);
  EXPECT_GE(kernel.count<NVVM::CpAsyncOp>(), 2 * 4);
  EXPECT_EQ(kernel.count<NVVM::CpAsyncWaitGroupOp>(), 2);
}

// A column's keys in one lane, and no exchange: its softplus is computed once.
TEST(ElementwiseStates, FunctionsOfColumnsAreComputedOnce) {
  Kernel kernel(mamba(32), 2);
  EXPECT_EQ(kernel.count<NVVM::ShflOp>(), 0);
  EXPECT_EQ(kernel.threadsPerItem(), 32);
}

} // namespace
