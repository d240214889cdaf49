//===- ObjectCode.cpp - LLVM IR, objects and assembly for x86-64 ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Target/CPU/CPU.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include <mutex>

using namespace mlir;
using namespace prism;

namespace {
/// An instruction set by its features, never by the name of a processor: the
/// name of the host's is wrong on masked virtual machines.
struct Isa {
  StringRef name, features;
  StringRef vectorWidth;
};
constexpr StringLiteral kV3Features = "+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+"
                                      "cx16,+sahf,+avx,+avx2,+bmi,+bmi2,+f16c,"
                                      "+fma,+lzcnt,+movbe,+xsave";
constexpr StringLiteral kV4Extra =
    ",+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl,+evex512";
} // namespace

ArrayRef<StringRef> prism::getCPUIsas() {
  static constexpr StringRef isas[] = {"x86-64-v3", "x86-64-v4"};
  return isas;
}

StringRef prism::getHostCPUIsa() {
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  auto has = [&](std::initializer_list<StringRef> features) {
    return llvm::all_of(
        features, [&](StringRef feature) { return host.lookup(feature); });
  };
  if (!has({"avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe"}))
    return "";
  return has({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})
             ? "x86-64-v4"
             : "x86-64-v3";
}

void prism::registerCPUTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

static void initializeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

/// A target machine for x86-64 Linux, or null after a diagnostic.
static std::unique_ptr<llvm::TargetMachine> createMachine(ModuleOp module,
                                                          StringRef isa) {
  if (!llvm::is_contained(getCPUIsas(), isa)) {
    emitError(module.getLoc(), "unknown instruction set '")
        << isa << "', expected x86-64-v3 or x86-64-v4";
    return nullptr;
  }
  initializeTarget();
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string error, features = kV3Features.str();
  if (isa == "x86-64-v4")
    features += kV4Extra;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    emitError(module.getLoc(), "this build of LLVM has no x86-64 target: ")
        << error;
    return nullptr;
  }
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, "x86-64", features, llvm::TargetOptions(), llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

/// What this code gains from: it is vector code, unrolled and without calls, so
/// of O3 only the clean-up of addresses and of loop-invariant and repeated
/// loads is left. The default pipelines take three times as long for code of
/// the same speed, most of it looking for loops to unroll.
static constexpr StringLiteral kPasses =
    "function(simplifycfg,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
    "loop-mssa(loop-rotate,licm),gvn,instcombine<no-verify-fixpoint>,adce,"
    "simplifycfg)";

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  llvm::ModulePassManager passes;
  llvm::cantFail(builder.parsePassPipeline(passes, kPasses));
  passes.run(module, modules);
}

static std::unique_ptr<llvm::Module> translate(ModuleOp module, StringRef isa,
                                               llvm::TargetMachine &machine,
                                               llvm::LLVMContext &context) {
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(module, context, "prism");
  if (!code) {
    emitError(module.getLoc(), "translation to LLVM IR failed");
    return nullptr;
  }
  code->setTargetTriple(machine.getTargetTriple());
  code->setDataLayout(machine.createDataLayout());
  for (llvm::Function &function : *code) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    function.addFnAttr("prefer-vector-width",
                       isa == "x86-64-v4" ? "512" : "256");
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  optimize(*code, machine);
  return code;
}

std::unique_ptr<llvm::Module>
prism::translateToOptimizedLLVM(ModuleOp module, StringRef isa,
                                llvm::LLVMContext &context) {
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(module, isa);
  return machine ? translate(module, isa, *machine, context) : nullptr;
}

static LogicalResult emitCode(ModuleOp module, StringRef isa,
                              llvm::CodeGenFileType kind,
                              llvm::raw_pwrite_stream &out) {
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(module, isa);
  if (!machine)
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code =
      translate(module, isa, *machine, context);
  if (!code)
    return failure();
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr, kind))
    return emitError(module.getLoc(),
                     "the x86-64 target cannot write this kind of file");
  passes.run(*code);
  return success();
}

LogicalResult prism::emitObject(ModuleOp module, StringRef isa,
                                llvm::raw_pwrite_stream &out) {
  return emitCode(module, isa, llvm::CodeGenFileType::ObjectFile, out);
}

LogicalResult prism::emitAssembly(ModuleOp module, StringRef isa,
                                  llvm::raw_pwrite_stream &out) {
  return emitCode(module, isa, llvm::CodeGenFileType::AssemblyFile, out);
}
