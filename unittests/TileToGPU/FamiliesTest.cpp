//===- FamiliesTest.cpp - Kernels of every family, interpreted ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The step by step kernel that a GPU without tensor cores gets, of each family
// and variant, and chunks of several states, in the interpreter and against the
// float64 recurrence.
//
//===----------------------------------------------------------------------===//

#include "Prism/Spec/Families.h"
#include "KernelInterpreter.h"
#include "Prism/Check/Check.h"
#include "Prism/Compiler/Compiler.h"
#include "Prism/Conversion/TileToGPU/TileToGPU.h"
#include "Prism/Import/Import.h"
#include "Prism/Registration/Registration.h"
#include "Prism/Spec/Spec.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace prism;

namespace {

struct Preset {
  std::string family, variant;
};
void PrintTo(const Preset &preset, std::ostream *os) {
  *os << preset.family << " " << preset.variant;
}

std::vector<Preset> everyPreset() {
  std::vector<Preset> presets;
  for (const spec::FamilySummary &family : spec::listFamilies()) {
    if (family.variants.empty())
      presets.push_back({family.name.str(), ""});
    for (StringRef variant : family.variants)
      presets.push_back({family.name.str(), variant.str()});
  }
  return presets;
}

/// Keys are left out for a family of elementwise states.
std::string specOf(const Preset &preset, bool withKeys) {
  std::string variant =
      preset.variant.empty() ? "" : ", \"variant\": \"" + preset.variant + "\"";
  return "{ \"prism_spec\": 1, \"family\": \"" + preset.family + "\"" +
         variant + ", \"dims\": { \"Hk\": 1, \"Hv\": 2, " +
         (withKeys ? "\"K\": 20, " : "") +
         "\"V\": 36, \"L\": 2, \"M\": 2 }, \"entries\": [\"forward\"] }";
}

class FamilyKernels : public testing::TestWithParam<Preset> {
protected:
  FamilyKernels() : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
  }
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerPrismDialects(registry);
    return registry;
  }
  void expectAgreement(const PlanOverride &plan, int64_t steps);
  void expectAgreement(const spec::Spec &model, const PlanOverride &plan,
                       int64_t steps, bool withStates = true);

  MLIRContext context;
};

void FamilyKernels::expectAgreement(const PlanOverride &plan, int64_t steps) {
  spec::SpecDiagnostic diagnostic;
  auto model = spec::readSpec(specOf(GetParam(), true), "f.json", diagnostic);
  if (failed(model))
    model = spec::readSpec(specOf(GetParam(), false), "f.json", diagnostic);
  ASSERT_TRUE(succeeded(model)) << diagnostic.str();
  expectAgreement(*model, plan, steps);
}

void FamilyKernels::expectAgreement(const spec::Spec &model,
                                    const PlanOverride &plan, int64_t steps,
                                    bool withStates) {
  OwningOpRef<ModuleOp> module = spec::importSpec(model, &context);
  ASSERT_TRUE(module);
  func::FuncOp entry = *module->getOps<func::FuncOp>().begin();

  std::string error;
  auto target = targetinfo::parseTarget("cuda:sm_80", error);
  CompileOptions options;
  options.plans[""] = plan;
  auto units = buildUnits(entry, *target, options);
  ASSERT_TRUE(succeeded(units));
  ModuleOp kernels = *units->front().module;
  tile::ProgramOp program = *kernels.getOps<tile::ProgramOp>().begin();
  runtime::EntryInfo info = describeEntry(program, "forward");
  int64_t valueBlocks = program.getValueBlocks();
  tiletogpu::GPUOptions gpu;
  gpu.target = target->gpu();
  gpu.symbol = "kernel";
  auto made = tiletogpu::convertProgramToGPU(program, gpu);
  ASSERT_TRUE(succeeded(made) && succeeded(verify(kernels)));

  check::InputOptions sizes;
  sizes.batch = 2;
  sizes.steps = steps;
  sizes.initialState = withStates;
  check::HostArrays inputs = check::makeInputs(entry, info, sizes),
                    outputs = check::makeOutputs(info, check::sizesOf(sizes));
  auto references = check::runOracle(entry, info, inputs, outputs);
  ASSERT_TRUE(succeeded(references));
  auto call = runtime::bindCall(info, check::bindings(inputs, outputs));
  ASSERT_TRUE(bool(call)) << call.error();
  int64_t items = *runtime::workItems(*call, valueBlocks),
          blocks = llvm::divideCeil(items, made->itemsPerBlock);
  for (int64_t block = 0; block < blocks; ++block) {
    test::KernelInterpreter interpreter(
        kernels.lookupSymbol<LLVM::LLVMFuncOp>("kernel"), made->threads,
        made->sharedBytes);
    for (check::HostArrays *arrays : {&inputs, &outputs})
      for (auto &[name, array] : *arrays)
        interpreter.allow(array.bytes.data(), array.bytes.size());
    ASSERT_TRUE(interpreter.runBlock(block, call->words, blocks))
        << interpreter.error();
  }
  for (auto &[name, array] : outputs)
    array.decode();
  auto errors = check::compare(info, outputs, *references,
                               check::errorLimit(runtime::DType::F32));
  EXPECT_FALSE(errors.empty());
  for (const check::TensorError &one : errors)
    EXPECT_TRUE(one.passed) << one.name << ": " << one.ratio;
}

TEST_P(FamilyKernels, StepLikeTheRecurrence) {
  expectAgreement(
      {scan::Schedule::recurrent, std::nullopt, std::nullopt, std::nullopt}, 4);
}

/// Keys and values through convolutions of so many taps.
class Convolutions : public FamilyKernels {
protected:
  void expectConvolved(const std::string &taps, const PlanOverride &plan,
                       int64_t steps, bool withWindows) {
    spec::SpecDiagnostic diagnostic;
    auto model = spec::readSpec(
        R"({ "prism_spec": 1, "family": "gated_deltanet",
  "dims": { "Hk": 1, "Hv": 2, "K": 20, "V": 36, "W": )" +
            taps + R"( },
  "inputs": { "k_taps": ["Hk", "K", "W"], "k_bias": ["Hk", "K"], "v_taps": ["Hv", "V", "W"] },
  "short_convolution": { "k": { "weight": "k_taps", "bias": "k_bias", "activation": "silu" }, "v": "v_taps" },
  "entries": ["forward"] })",
        "f.json", diagnostic);
    ASSERT_TRUE(succeeded(model)) << diagnostic.str();
    expectAgreement(*model, plan, steps, withWindows);
  }
};

TEST_F(Convolutions, StepLikeTheRecurrence) {
  for (bool withWindows : {false, true})
    for (auto [taps, steps] : {std::pair("4", 2), {"4", 6}, {"2", 3}})
      expectConvolved(
          taps,
          {scan::Schedule::recurrent, std::nullopt, std::nullopt, std::nullopt},
          steps, withWindows);
}

TEST_F(Convolutions, GoInChunksLikeTheRecurrence) {
  for (bool withWindows : {false, true})
    for (auto [taps, steps] : {std::pair("4", 2), {"4", 11}, {"2", 4}})
      expectConvolved(taps, {scan::Schedule::chunk, 4, 12, std::nullopt}, steps,
                      withWindows);
}

class SeveralStates : public FamilyKernels {};

TEST_P(SeveralStates, GoInChunksLikeTheRecurrence) {
  expectAgreement({scan::Schedule::chunk, 4, std::nullopt, std::nullopt}, 6);
}

INSTANTIATE_TEST_SUITE_P(Families, SeveralStates,
                         testing::Values(Preset{"mlstm", ""},
                                         Preset{"gated_rfa", ""}),
                         [](const testing::TestParamInfo<Preset> &info) {
                           return info.param.family;
                         });

INSTANTIATE_TEST_SUITE_P(Every, FamilyKernels, testing::ValuesIn(everyPreset()),
                         [](const testing::TestParamInfo<Preset> &info) {
                           return info.param.family +
                                  (info.param.variant.empty()
                                       ? ""
                                       : "_" + info.param.variant);
                         });

} // namespace
