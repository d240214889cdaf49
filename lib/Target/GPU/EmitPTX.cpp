//===- EmitPTX.cpp - LLVM's NVPTX back end, in process --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Target/GPU/GPU.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

using namespace mlir;
using namespace prism;

static const llvm::Target *findBackEnd(std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  return llvm::TargetRegistry::lookupTarget(llvm::Triple("nvptx64-nvidia-cuda"),
                                            error);
}

/// A function that the driver would have to find somewhere: there is none.
static std::string externalCall(StringRef ptx) {
  size_t at = ptx.find(".extern .func");
  if (at == StringRef::npos)
    return "";
  return "the PTX calls an external function and could never load: " +
         ptx.substr(at)
             .take_until([](char c) { return c == '\n' || c == ';'; })
             .str();
}

GPUCode::GPUCode() = default;
GPUCode::~GPUCode() = default;

std::unique_ptr<GPUCode> GPUCode::create(ModuleOp module,
                                         const targetinfo::GPUInfo &target) {
  std::string error;
  const llvm::Target *backEnd = findBackEnd(error);
  if (!backEnd) {
    module.emitError("this LLVM has no NVPTX back end: ") << error;
    return nullptr;
  }
  std::string features = "+ptx" + std::to_string(target.ptxVersion);
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::unique_ptr<GPUCode> made(new GPUCode());
  made->machine.reset(backEnd->createTargetMachine(
      triple, target.chip, features, llvm::TargetOptions(), std::nullopt,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  made->context = std::make_unique<llvm::LLVMContext>();
  made->code = translateModuleToLLVMIR(module, *made->context);
  if (!made->code) {
    module.emitError("cannot be translated to LLVM IR");
    return nullptr;
  }
  made->code->setTargetTriple(triple);
  made->code->setDataLayout(made->machine->createDataLayout());
  return made;
}

FailureOr<std::string> GPUCode::emit(std::string &error) {
  std::function<llvm::Error(llvm::Module *)> optimise =
      makeOptimizingTransformer(3, 0, machine.get());
  if (llvm::Error wrong = optimise(code.get())) {
    error = "LLVM's optimiser failed: " + llvm::toString(std::move(wrong));
    return failure();
  }
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, os, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile)) {
    error = "LLVM's NVPTX back end cannot emit PTX";
    return failure();
  }
  passes.run(*code);
  if (error = externalCall(text); !error.empty())
    return failure();
  return text.str().str();
}

FailureOr<std::string> prism::emitPTX(ModuleOp module,
                                      const targetinfo::GPUInfo &target) {
  std::unique_ptr<GPUCode> code = GPUCode::create(module, target);
  if (!code)
    return failure();
  std::string error;
  FailureOr<std::string> ptx = code->emit(error);
  if (failed(ptx))
    return module.emitError(error);
  return ptx;
}
