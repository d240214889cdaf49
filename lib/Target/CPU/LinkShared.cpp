//===- LinkShared.cpp - From an object to a shared object -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Support/RunProgram.h"
#include "Prism/Target/CPU/CPU.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Program.h"

using namespace llvm;

/// What a program that loads the kernel has is the C library and its
/// mathematics. An error with the names of others, or empty.
static std::string checkSymbols(StringRef sharedPath) {
  auto opened = object::ObjectFile::createObjectFile(sharedPath);
  if (!opened)
    return toString(opened.takeError());
  auto *elf = dyn_cast<object::ELFObjectFileBase>(opened->getBinary());
  if (!elf)
    return ("'" + sharedPath + "' is no ELF file").str();
  TargetLibraryInfoImpl functions(Triple("x86_64-unknown-linux-gnu"));
  TargetLibraryInfo library(functions);
  std::string unknown;
  for (const object::ELFSymbolRef &symbol : elf->getDynamicSymbolIterators()) {
    Expected<uint32_t> flags = symbol.getFlags();
    Expected<StringRef> name = symbol.getName();
    if (!flags || !name)
      return toString(joinErrors(flags.takeError(), name.takeError()));
    LibFunc function;
    bool isKnown = library.getLibFunc(*name, function) && library.has(function);
    // LLVM has no optimizations for this one, and does not know it.
    isKnown |= *name == "erfc";
    if ((*flags & object::SymbolRef::SF_Undefined) && !isKnown)
      unknown += (unknown.empty() ? "'" : ", '") + name->str() + "'";
  }
  if (unknown.empty())
    return "";
  return "the code calls " + unknown +
         ", which kernels are not linked with; expected functions of the C "
         "library alone";
}

LogicalResult prism::linkShared(StringRef objectPath, StringRef sharedPath,
                                std::string &error) {
  ErrorOr<std::string> linker =
      sys::findProgramByName("ld.lld", {PRISM_LLVM_TOOLS_DIR});
  if (!linker)
    linker = sys::findProgramByName("ld.lld");
  if (!linker) {
    error = "no linker: ld.lld is neither in " PRISM_LLVM_TOOLS_DIR
            " nor in PATH (package lld-22)";
    return failure();
  }
  // One small object: what takes a minute will not end, and one thread does.
  constexpr unsigned limit = 60;
  std::string said;
  error = runProgram(*linker,
                     {"-shared", "--threads=1", "-z", "now", "--build-id=none",
                      objectPath, "-o", sharedPath},
                     limit, said);
  if (!error.empty() && !StringRef(said).trim().empty())
    error += ": " + StringRef(said).trim().str();
  if (error.empty())
    error = checkSymbols(sharedPath);
  return success(error.empty());
}
