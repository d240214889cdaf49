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
static LogicalResult verifySelfContained(ModuleOp module, StringRef ptx) {
  size_t at = ptx.find(".extern .func");
  if (at == StringRef::npos)
    return success();
  return module.emitError(
             "the PTX calls an external function and could never load: ")
         << ptx.substr(at).take_until(
                [](char c) { return c == '\n' || c == ';'; });
}

FailureOr<std::string> prism::emitPTX(ModuleOp module,
                                      const targetinfo::GPUInfo &target) {
  std::string error;
  const llvm::Target *backEnd = findBackEnd(error);
  if (!backEnd)
    return module.emitError("this LLVM has no NVPTX back end: ") << error;
  std::string features = "+ptx" + std::to_string(target.ptxVersion);
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::unique_ptr<llvm::TargetMachine> machine(backEnd->createTargetMachine(
      triple, target.chip, features, llvm::TargetOptions(), std::nullopt,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context);
  if (!code)
    return module.emitError("cannot be translated to LLVM IR");
  code->setTargetTriple(triple);
  code->setDataLayout(machine->createDataLayout());
  std::function<llvm::Error(llvm::Module *)> optimise =
      makeOptimizingTransformer(3, 0, machine.get());
  if (llvm::Error failure = optimise(code.get()))
    return module.emitError("LLVM's optimiser failed: ")
           << llvm::toString(std::move(failure));
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, os, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile))
    return module.emitError("LLVM's NVPTX back end cannot emit PTX");
  passes.run(*code);
  if (failed(verifySelfContained(module, text)))
    return failure();
  return text.str().str();
}
