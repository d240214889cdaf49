//===- Kernels.cpp - Code of one unit -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Compiler/Compiler.h"
#include "Prism/Conversion/TileToCPU/TileToCPU.h"
#include "Prism/Conversion/TileToGPU/TileToGPU.h"
#include "Prism/Support/WriteFile.h"
#include "Prism/Target/CPU/CPU.h"
#include "Prism/Target/GPU/GPU.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace prism;

std::string prism::kernelSymbol(const Unit &unit) {
  return "prism_" + unit.entry + "_" +
         scan::stringifySchedule(unit.plan.getSchedule()).str() +
         (unit.variant.empty() ? "" : "_" + unit.variant);
}

/// A copy of the unit's module whose program has the kernel's symbol.
static OwningOpRef<ModuleOp>
copyForKernel(const Unit &unit, std::string &symbol, tile::ProgramOp &program) {
  // The lowerings are called as functions here, not as passes that would load
  // the dialects they build.
  unit.module.get().getContext()->loadAllAvailableDialects();
  const OwningOpRef<ModuleOp> &source = unit.roles ? unit.roles : unit.module;
  OwningOpRef<ModuleOp> copy = source.get().clone();
  program = *copy->getOps<tile::ProgramOp>().begin();
  symbol = kernelSymbol(unit);
  program.setSymName(symbol);
  return copy;
}

static runtime::KernelInfo describe(const Unit &unit, const std::string &symbol,
                                    tile::ProgramOp program) {
  runtime::KernelInfo info;
  info.symbol = symbol;
  info.plan.schedule = scan::stringifySchedule(unit.plan.getSchedule()).str();
  info.plan.chunk = program.getChunk();
  info.plan.valueBlock = program.getValueBlock();
  info.plan.stages = unit.plan.getStages();
  info.plan.prepareBlocks = unit.prepareBlocks();
  info.valueBlocks = program.getValueBlocks();
  info.matmul = !unit.roles                                 ? "ieee"
                : tiletogpu::operandTypeOf(program).isF16() ? "f16"
                                                            : "bf16";
  info.items = itemsOf(program);
  if (unit.isSplit())
    info.intermediates = describeIntermediates(program);
  return info;
}

static std::string linkObject(CPUCode &code, std::string &linked) {
  llvm::SmallString<128> folder;
  if (std::error_code code =
          llvm::sys::fs::createUniqueDirectory("prism-link", folder))
    return "cannot make a temporary folder: " + code.message();
  llvm::scope_exit cleanUp([&] { llvm::sys::fs::remove_directories(folder); });
  std::string object = (folder + "/kernel.o").str(),
              shared = (folder + "/kernel.so").str();
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream os(bytes);
  if (std::string error = code.emit(llvm::CodeGenFileType::ObjectFile, os);
      !error.empty())
    return error;
  if (llvm::Error error = writeFile(object, bytes))
    return llvm::toString(std::move(error));
  std::string error;
  if (failed(linkShared(object, shared, error)))
    return error;
  auto buffer = llvm::MemoryBuffer::getFile(shared);
  if (!buffer)
    return "cannot read '" + shared + "': " + buffer.getError().message();
  linked = (*buffer)->getBuffer().str();
  return "";
}

/// Converts a CPU unit for one level; `info` gets its symbol and workspace.
static LogicalResult convertForLevel(ModuleOp module, StringRef level,
                                     runtime::KernelInfo &info) {
  FailureOr<CPUOptions> options = CPUOptions::forIsa(level);
  if (failed(options))
    return module.emitError("no code for the level '") << level << "'";
  if (failed(convertTileToCPU(module, *options)))
    return failure();
  SmallVector<CPUKernelInfo> kernels = getCPUKernels(module);
  info.isa = level.str();
  info.workspace = kernels.front().workspaceBytes;
  return success();
}

static FailureOr<std::vector<CompiledKernel>> compileForCpu(const Unit &unit) {
  std::vector<CompiledKernel> kernels;
  for (const std::string &level : unit.target.levels()) {
    CompiledKernel kernel;
    std::string symbol;
    tile::ProgramOp program;
    OwningOpRef<ModuleOp> module = copyForKernel(unit, symbol, program);
    kernel.info = describe(unit, symbol, program);
    kernel.info.target = runtime::Target::Cpu;
    if (failed(convertForLevel(*module, level, kernel.info)))
      return failure();
    std::shared_ptr<CPUCode> code = CPUCode::create(*module, level);
    if (!code)
      return failure();
    kernel.makeCode = [code](CompiledKernel &made) {
      return linkObject(*code, made.object);
    };
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

static FailureOr<std::vector<CompiledKernel>> compileForCuda(const Unit &unit) {
  CompiledKernel kernel;
  std::string symbol;
  tile::ProgramOp program;
  OwningOpRef<ModuleOp> module = copyForKernel(unit, symbol, program);
  const targetinfo::GPUInfo &gpu = unit.target.gpu();
  // The conversion erases the program.
  const runtime::EntryInfo entry = describeEntry(program, unit.entry);
  const size_t intermediates = describeIntermediates(program).size();
  kernel.info = describe(unit, symbol, program);
  kernel.info.target = runtime::Target::Cuda;
  kernel.info.chip = gpu.chip;
  kernel.info.ptxVersion = targetinfo::formatPtxVersion(gpu.ptxVersion);
  tiletogpu::GPUOptions options;
  options.target = gpu;
  options.copiesState = unit.copiesState;
  FailureOr<tiletogpu::GPUKernelInfo> converted =
      tiletogpu::convertProgramToGPU(program, options);
  if (failed(converted) || failed(lowerKernelToNVVM(*module)))
    return failure();
  kernel.info.threads = converted->threads;
  kernel.info.shared = converted->sharedBytes;
  kernel.info.itemsPerBlock = converted->itemsPerBlock;
  kernel.info.valueBlocks = converted->blocksPerHead;
  for (const tiletogpu::TensorMapBox &box : converted->tensorMaps) {
    kernel.info.tensorMaps.push_back(
        {box.argument, box.rows, box.columns, box.ranks});
    [[maybe_unused]] bool isRows =
        entry.locate(kernel.info.tensorMaps.back(), intermediates);
    assert(isRows && "a tensor map of an argument that cannot have one");
  }
  if (!converted->declined.empty())
    kernel.notes.push_back(
        "entry '" + unit.entry +
        "': state in shared memory, not in registers: " + converted->declined);
  std::shared_ptr<GPUCode> code = GPUCode::create(*module, gpu);
  if (!code)
    return failure();
  kernel.makeCode = [code](CompiledKernel &made) {
    std::string error;
    FailureOr<std::string> ptx = code->emit(error);
    if (succeeded(ptx))
      made.ptx = std::move(*ptx);
    return error;
  };
  std::vector<CompiledKernel> kernels;
  kernels.push_back(std::move(kernel));
  return kernels;
}

FailureOr<std::vector<CompiledKernel>> prism::compileLaunch(const Unit &unit) {
  return unit.target.isCuda() ? compileForCuda(unit) : compileForCpu(unit);
}

FailureOr<std::vector<CompiledKernel>> prism::compileUnit(const Unit &unit) {
  auto kernels = compileLaunch(unit);
  for (const Unit &before : unit.before) {
    FailureOr<std::vector<CompiledKernel>> made = compileUnit(before);
    if (failed(kernels) || failed(made))
      return failure();
    for (auto [kernel, launch] : llvm::zip_equal(*kernels, *made))
      kernel.before.push_back(std::move(launch));
  }
  return kernels;
}

static std::string assembleKernel(CompiledKernel &kernel) {
  std::string error;
  FailureOr<Assembled> assembled =
      assemble(kernel.ptx, kernel.info.chip, error);
  if (failed(assembled))
    return error;
  kernel.cubin = std::move(assembled->cubin);
  if (!assembled->note.empty())
    kernel.notes.push_back(assembled->note);
  if (assembled->resources.spillStores > 0)
    kernel.notes.push_back(
        kernel.info.symbol + " for " + kernel.info.chip + ": spills " +
        std::to_string(assembled->resources.spillStores) + " bytes");
  return "";
}

std::string prism::finishKernel(CompiledKernel &kernel, bool assemble) {
  std::string error = kernel.makeCode(kernel);
  kernel.makeCode = nullptr; // frees what the code was made of
  if (error.empty() && assemble && !kernel.ptx.empty())
    error = assembleKernel(kernel);
  for (CompiledKernel &before : kernel.before)
    if (error.empty())
      error = finishKernel(before, assemble);
  return error;
}

FailureOr<std::string> prism::emitLLVMText(const Unit &unit) {
  runtime::KernelInfo info;
  std::string symbol;
  tile::ProgramOp program;
  OwningOpRef<ModuleOp> module = copyForKernel(unit, symbol, program);
  StringRef level = unit.target.levels().back();
  if (failed(convertForLevel(*module, level, info)))
    return failure();
  std::unique_ptr<CPUCode> code = CPUCode::create(*module, level);
  if (!code)
    return failure();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << code->optimize();
  return text;
}
