//===- LinkShared.cpp - From an object to a shared object -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prism/Target/CPU/CPU.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
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
  SmallString<128> log;
  if (std::error_code code =
          sys::fs::createTemporaryFile("prism-link", "txt", log)) {
    error = "cannot make a temporary file: " + code.message();
    return failure();
  }
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log),
                                          StringRef(log)};
  StringRef arguments[] = {*linker,           "-shared",  "-z", "now",
                           "--build-id=none", objectPath, "-o", sharedPath};
  std::string problem;
  int status = sys::ExecuteAndWait(*linker, arguments, std::nullopt, redirects,
                                   0, 0, &problem);
  if (status != 0) {
    error = *linker + " failed: " + problem;
    if (auto text = MemoryBuffer::getFile(log))
      error += (*text)->getBuffer().trim();
  }
  sys::fs::remove(log);
  return success(status == 0);
}
