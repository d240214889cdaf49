//===- AdmissionTest.cpp - What is taken for tensor cores is launched -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// canEmitRoles says no, with a reason, exactly where the conversion would fail.
//
//===----------------------------------------------------------------------===//

#include "Models.h"
#include "Prism/Compiler/Compiler.h"
#include "Prism/Conversion/TileToGPU/TileToGPU.h"
#include "Prism/Import/Import.h"
#include "Prism/Registration/Registration.h"
#include "Prism/Spec/Spec.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace prism;
using namespace prism::test;

namespace {

class Admission : public testing::Test {
protected:
  Admission() {
    DialectRegistry registry;
    registerPrismDialects(registry);
    context.appendDialectRegistry(registry);
    context.disableMultithreading();
    context.loadAllAvailableDialects();
  }

  /// The chunk form of a model for a chip with so much shared memory.
  Unit unitOf(const Model &model, int64_t kibibytes) {
    spec::SpecDiagnostic diagnostic;
    auto read = spec::readSpec(specOf(model), "test.json", diagnostic);
    EXPECT_TRUE(succeeded(read)) << diagnostic.str();
    module = spec::importSpec(*read, &context);
    std::string error;
    auto target = targetinfo::parseTarget(
        "cuda:sm_90a{smem=" + std::to_string(kibibytes) + "K}", error);
    EXPECT_TRUE(target) << error;
    CompileOptions options;
    options.plans[""] = {scan::Schedule::chunk, std::nullopt, std::nullopt,
                         std::nullopt, 1};
    auto units =
        buildUnits(*module->getOps<func::FuncOp>().begin(), *target, options);
    EXPECT_TRUE(succeeded(units));
    return std::move(units->front());
  }

  /// What canEmitRoles says against; the conversion must agree.
  std::string refusalOf(ModuleOp roles, const targetinfo::GPUInfo &gpu,
                        int64_t *sharedBytes = nullptr) {
    std::string whyNot;
    bool isTaken = tiletogpu::canEmitRoles(programOf(roles), gpu, whyNot);
    OwningOpRef<ModuleOp> copy = roles.clone();
    tiletogpu::GPUOptions options;
    options.target = gpu;
    std::string message;
    ScopedDiagnosticHandler handler(
        &context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
    auto made = tiletogpu::convertProgramToGPU(programOf(*copy), options);
    EXPECT_EQ(succeeded(made), isTaken) << whyNot << "; " << message;
    if (failed(made))
      EXPECT_EQ(message, "'tile.program' op cannot be launched: " + whyNot);
    else if (sharedBytes)
      *sharedBytes = made->sharedBytes;
    return isTaken ? "" : whyNot;
  }

  static tile::ProgramOp programOf(ModuleOp module) {
    return *module.getOps<tile::ProgramOp>().begin();
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
};

TEST_F(Admission, AtTheEdgeOfSharedMemory) {
  for (const char *io : {"bf16", "f16"}) {
    Model model;
    model.keys = model.values = 128;
    model.io = io;
    Unit unit = unitOf(model, 227);
    ASSERT_TRUE(unit.roles);
    targetinfo::GPUInfo gpu = unit.target.gpu();
    int64_t bytes = 0;
    EXPECT_EQ(refusalOf(*unit.roles, gpu, &bytes), "");
    gpu.sharedMemoryPerBlock = bytes;
    EXPECT_EQ(refusalOf(*unit.roles, gpu), "");
    gpu.sharedMemoryPerBlock = bytes - 1;
    EXPECT_EQ(refusalOf(*unit.roles, gpu),
              "its kernel needs " + std::to_string(bytes) +
                  " bytes of shared memory, and sm_90a offers " +
                  std::to_string(bytes - 1) + " a block");
  }
}

/// Of every size that a block may have, what is taken fits.
TEST_F(Admission, AtAnySizeOfSharedMemory) {
  int64_t taken = 0, refused = 0;
  for (const char *name : {"gated_deltanet", "prism_l1"})
    for (const char *io : {"bf16", "f16"})
      for (int64_t kibibytes = 64; kibibytes <= 227; kibibytes += 9) {
        Model model;
        model.name = name;
        model.keys = 128;
        model.values = 64;
        model.io = io;
        Unit unit = unitOf(model, kibibytes);
        if (unit.roles) {
          ++taken;
          EXPECT_EQ(refusalOf(*unit.roles, unit.target.gpu()), "");
          continue;
        }
        ++refused;
        // After plain plans that were too large.
        ASSERT_FALSE(unit.remarks.empty());
        const std::string &text = unit.remarks.back().text;
        EXPECT_EQ(text.rfind("no tensor cores: ", 0), 0u) << text;
        EXPECT_NE(text.find("bytes of shared memory"), std::string::npos)
            << text;
      }
  EXPECT_GT(taken, 8);
  EXPECT_GT(refused, 8);
}

/// A word for each array, one for each of its axes; 4096 bytes in all.
TEST_F(Admission, AtTheEdgeOfTheParameter) {
  Unit unit = unitOf(Model(), 227);
  ASSERT_TRUE(unit.roles);
  std::string text;
  llvm::raw_string_ostream(text) << *unit.roles;
  size_t place = text.find("%arg0");
  ASSERT_NE(place, std::string::npos);
  std::vector<std::string> refusals;
  std::string more;
  for (int64_t arrays = 0; arrays < 160; ++arrays) {
    more += "%more" + std::to_string(arrays) +
            ": !tile.view<?xf32> as <name = \"more" + std::to_string(arrays) +
            "\", axes = \"bt\", heads = 0, role = \"input\", optional = "
            "false>, ";
    if (arrays % 8 != 7 && (arrays < 130 || arrays > 142))
      continue;
    std::string longer = text;
    longer.insert(place, more);
    auto parsed = parseSourceString<ModuleOp>(longer, &context);
    ASSERT_TRUE(parsed);
    refusals.push_back(refusalOf(*parsed, unit.target.gpu()));
  }
  EXPECT_EQ(refusals.front(), "");
  auto first = llvm::find_if(
      refusals, [](const std::string &refusal) { return !refusal.empty(); });
  ASSERT_NE(first, refusals.end());
  EXPECT_EQ(llvm::count(refusals, ""), first - refusals.begin());
  EXPECT_NE(first->find("its kernel has a parameter of 4"), std::string::npos)
      << *first;
  EXPECT_NE(first->find(" bytes, and 4096 can be given"), std::string::npos);
}

} // namespace
