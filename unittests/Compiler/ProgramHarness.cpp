//===- ProgramHarness.cpp - A tile program against the recurrence ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ProgramHarness.h"
#include "Prism/Target/CPU/CPU.h"
#include "Prism/TargetInfo/TargetInfo.h"
#include "mlir/Parser/Parser.h"
#include "prism-runtime/Cpu.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace prism;
using namespace prism::test;

static constexpr const char *kIsa = "x86-64-v3";

std::string prism::test::exampleText(const std::string &name, StringRef io) {
  std::string path = PRISM_SOURCE_DIR "/examples/" + name + ".json";
  auto buffer = llvm::MemoryBuffer::getFile(path);
  EXPECT_TRUE(bool(buffer)) << path;
  auto spec = llvm::json::parse((*buffer)->getBuffer());
  EXPECT_TRUE(bool(spec));
  (*spec->getAsObject())["dtype"] = llvm::json::Object{{"io", io}};
  (*spec->getAsObject())["entries"] = llvm::json::Array{"forward"};
  std::string text;
  llvm::raw_string_ostream(text) << *spec;
  return text;
}

static tile::ProgramOp programOf(ModuleOp module) {
  return *module.getOps<tile::ProgramOp>().begin();
}

ProgramHarness::ProgramHarness(const std::string &text, int64_t chunk,
                               const check::InputOptions &inputOptions,
                               bool serial)
    : module(StringRef(text).starts_with("{")
                 ? importText(text, context.mlir)
                 : parseSourceString<ModuleOp>(text, &context.mlir)) {
  entry = *module->getOps<func::FuncOp>().begin();
  CompileOptions options;
  options.serial = serial;
  if (!serial)
    options.plans[""] = {scan::Schedule::chunk, chunk, std::nullopt,
                         std::nullopt};
  std::string error;
  auto target = targetinfo::parseTarget(std::string("cpu:") + kIsa, error);
  auto units = buildUnits(entry, *target, options);
  EXPECT_TRUE(succeeded(units)) << text;
  if (failed(units))
    return;
  unit = std::move(units->front());
  info = describeEntry(programOf(*unit->module), "forward");
  inputs = check::makeInputs(entry, info, inputOptions);
  runtime::Result<runtime::Sizes> sizes =
      runtime::inferSizes(info, check::bindings(inputs, blank));
  EXPECT_TRUE(bool(sizes)) << sizes.error();
  blank = check::makeOutputs(info, *sizes);
  auto oracle = check::runOracle(entry, info, inputs, blank);
  EXPECT_TRUE(succeeded(oracle));
  references = *oracle;
}

std::vector<check::TensorError> ProgramHarness::run(ModuleOp program,
                                                    double limit) {
  int64_t valueBlocks = programOf(program).getValueBlocks();
  if (failed(convertTileToCPU(program, *CPUOptions::forIsa(kIsa)))) {
    ADD_FAILURE() << "not lowered";
    return {};
  }
  CPUKernelInfo kernel = getCPUKernels(program).front();
  FailureOr<JitKernel> jit = JitKernel::create(program, kIsa, kernel);
  if (failed(jit)) {
    ADD_FAILURE() << "no code";
    return {};
  }
  check::HostArrays outputs = blank;
  auto call = runtime::bindCall(info, check::bindings(inputs, outputs));
  EXPECT_TRUE(bool(call)) << call.error();
  runtime::CpuKernel cpu{jit->function(), valueBlocks, jit->workspaceBytes(),
                         nullptr};
  auto player = runtime::CpuPlayer::create(1);
  EXPECT_TRUE(bool((*player)->run(cpu, *call)));
  for (auto &[name, array] : outputs)
    array.decode();
  return check::compare(info, outputs, references, limit);
}
