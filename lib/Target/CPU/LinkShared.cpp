//===- LinkShared.cpp - From an object to a shared object -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Support/RunProgram.h"
#include "Prism/Target/CPU/CPU.h"
#include "llvm/Support/Program.h"

using namespace llvm;

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
  return success(error.empty());
}
