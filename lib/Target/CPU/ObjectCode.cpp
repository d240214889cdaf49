//===- ObjectCode.cpp - LLVM IR, objects and assembly for x86-64 ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Conversion/TileToCPU/TileToCPU.h"
#include "Prism/Target/CPU/CPU.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
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

/// Of loops over scalars the innermost are made vector code before anything is
/// unrolled, which the default pipelines do first; then sums stay in registers.
static constexpr StringLiteral kLoopPasses =
    "function(sroa,simplifycfg,early-cse<memssa>,"
    "instcombine<no-verify-fixpoint>,loop-mssa(loop-rotate,licm),"
    "loop(indvars),loop-vectorize,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop(loop-unroll-full),sroa,early-cse<memssa>,loop-mssa(licm),gvn,"
    "instcombine<no-verify-fixpoint>,adce,simplifycfg)";

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
  bool hasLoops = llvm::any_of(module, [](const llvm::Function &function) {
    return function.hasFnAttribute(kLoopsAttr);
  });
  llvm::ModulePassManager passes;
  llvm::cantFail(
      builder.parsePassPipeline(passes, hasLoops ? kLoopPasses : kPasses));
  passes.run(module, modules);
}

CPUCode::CPUCode() = default;
CPUCode::~CPUCode() = default;

std::unique_ptr<CPUCode> CPUCode::create(ModuleOp module, StringRef isa) {
  std::unique_ptr<CPUCode> made(new CPUCode());
  made->machine = createMachine(module, isa);
  if (!made->machine)
    return nullptr;
  made->context = std::make_unique<llvm::LLVMContext>();
  made->code = translateModuleToLLVMIR(module, *made->context, "prism");
  if (!made->code) {
    emitError(module.getLoc(), "translation to LLVM IR failed");
    return nullptr;
  }
  made->code->setTargetTriple(made->machine->getTargetTriple());
  made->code->setDataLayout(made->machine->createDataLayout());
  for (llvm::Function &function : *made->code) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", made->machine->getTargetCPU());
    function.addFnAttr("target-features",
                       made->machine->getTargetFeatureString());
    function.addFnAttr("prefer-vector-width",
                       isa == "x86-64-v4" ? "512" : "256");
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  return made;
}

llvm::Module &CPUCode::optimize() {
  ::optimize(*code, *machine);
  return *code;
}

std::string CPUCode::emit(llvm::CodeGenFileType kind,
                          llvm::raw_pwrite_stream &out) {
  optimize();
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr, kind))
    return "the x86-64 target cannot write this kind of file";
  passes.run(*code);
  return "";
}

static LogicalResult emitCode(ModuleOp module, StringRef isa,
                              llvm::CodeGenFileType kind,
                              llvm::raw_pwrite_stream &out) {
  std::unique_ptr<CPUCode> code = CPUCode::create(module, isa);
  if (!code)
    return failure();
  if (std::string error = code->emit(kind, out); !error.empty())
    return emitError(module.getLoc(), error);
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
